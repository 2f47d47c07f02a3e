"""Rule lists: ordered decision lists over named attributes and labels, and why they are as long as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import overload

from plurule._attached import RuleListMethods
from plurule.errors import ModelError, first_repeated
from plurule.model.condition import Attribute, LabelCondition
from plurule.model.dictionary import Dictionary, meanings
from plurule.model.head import Groups, Hierarchy
from plurule.model.naming import amount, excerpt
from plurule.model.rule import Rule
from plurule.model.text import parse, parse_rules


@dataclass(frozen=True, slots=True, repr=False)
class LengthChoice:
    """What lists cut after 1, 2, … rules scored on validation data, and where the list was cut.

    Parameters
    ----------
    measure
        Name of the score.
    mean
        Mean score per length.
    standard_error
        Its standard error per length.
    chosen
        The length that was chosen.
    how
        How the list was made, where that was chosen, too.
    constant
        What the best constant label set scores on the same data, if it was tried.
    expected
        Where the best of much was chosen, what such a choice scores on data that had no say in it, and the standard
        error: `mean` at the chosen length is a little too good then.

    Examples
    --------
    >>> choice = LengthChoice("micro_f1", (0.4, 0.6, 0.7, 0.5), (0.1, 0.1, 0.1, 0.1), chosen=2)
    >>> choice.best
    3
    >>> choice
    LengthChoice: 2 rules, micro_f1 0.6 ± 0.1; the best of 1 to 4 is 3, 0.7 ± 0.1
    """

    measure: str
    mean: tuple[float, ...]
    standard_error: tuple[float, ...]
    chosen: int
    how: str = ""
    constant: float | None = None
    expected: tuple[float, float] | None = None

    def __repr__(self) -> str:
        chosen, best = (f"{self.mean[n - 1]:.3g} ± {self.standard_error[n - 1]:.2g}" for n in (self.chosen, self.best))
        return (
            f"LengthChoice: {self.chosen} rules, {self.measure} {chosen}; "
            f"the best of 1 to {len(self.mean)} is {self.best}, {best}"
        )

    @property
    def score(self) -> tuple[float, float]:
        """What lists chosen so score on new data, and its standard error."""
        return self.expected or (self.mean[self.chosen - 1], self.standard_error[self.chosen - 1])

    @property
    def best(self) -> int:
        """The length of the highest mean score; the shortest, if there are several."""
        return max(range(len(self.mean)), key=lambda i: (round(self.mean[i], 12), -i)) + 1


@dataclass(frozen=True, slots=True, repr=False)
class RuleList(RuleListMethods, Sequence[Rule]):
    """An ordered decision list: a sequence of rules, with the names it speaks about.

    Parameters
    ----------
    rules
        In the order they are applied.
    attributes
        The columns of the data, in order.
    labels
        Names of the labels, in order.
    undecided
        Per label: absent and present among the training pairs that no rule decided.
    length_choice
        The validation scores by length that the list was cut by, where it was. Lists with the same rules are equal
        whatever led to them.
    groups
        Places of labels of which exactly one is present, as the classes of a column are. A head that says which is
        present says that the others are absent, though that is not shown.
    hierarchy
        Pairs of the place of a label and of the one above it, which it implies. A head that has the one has the other,
        though that is not shown.
    trained_on
        Fingerprints of the rows it was learned from (`plurule.data.fingerprint`); None where they are not known.
    dictionary
        Units and descriptions of attributes and labels, by name; see `describe`.

    A slice of a rule list is a rule list; the first n rules are what training with `n_rules=n` gives.

    Examples
    --------
    >>> from plurule import RuleListClassifier
    >>> from plurule.datasets import load_canteen_dishes
    >>> rules = RuleListClassifier(heuristic="f_measure", n_rules=3).fit(load_canteen_dishes()).rule_list_
    >>> print(rules[:2])
    peanuts ← topping = peanuts   (TP 196, FP 4)
    crustaceans ← main_ingredient = prawns   (TP 173, FP 2)
    >>> rules[0].precision, rules[0].body[0].category
    (0.98, 'peanuts')
    """

    rules: tuple[Rule, ...]
    attributes: Sequence[Attribute]
    labels: tuple[str, ...]
    undecided: tuple[tuple[float, float], ...] = ()
    length_choice: LengthChoice | None = field(default=None, compare=False)
    trained_on: bytes | None = field(default=None, compare=False)
    groups: Groups = ()
    dictionary: Dictionary = field(default_factory=dict, compare=False)
    hierarchy: Hierarchy = ()

    def __post_init__(self) -> None:
        if self.groups or self.hierarchy:
            object.__setattr__(self, "rules", tuple(map(self._completed, self.rules)))

    @classmethod
    def from_text(cls, text: str, attributes: Iterable[str | Attribute], labels: Iterable[str]) -> RuleList:
        """The rules that a text says, one per line, about some attributes (a numeric one may be a name) and labels.

        >>> print(RuleList.from_text("red <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"]))
        red ← stripes > 2   (TP 0, FP 0)
        white ← red   (TP 0, FP 0)
        """
        for what, given in (("attributes", attributes), ("labels", labels)):
            if isinstance(given, str):
                raise ModelError(f"{what} must be a list of names, got the text {given!r}; write [{given!r}]")
        known = tuple(a if isinstance(a, Attribute) else Attribute(str(a)) for a in attributes)
        names = tuple(map(str, labels))
        for what, given in (("attributes", [a.name for a in known]), ("labels", names)):
            if (twice := first_repeated(given)) is not None:
                raise ModelError(f"two {what} are named {twice!r}")
        return cls(parse_rules(text, known, names), known, names)

    def save(self, path: str | Path) -> None:
        """Write it to a model file, whole or not at all."""
        from plurule.model import file

        file.save(self, path)

    @staticmethod
    def load(path: str | Path) -> RuleList:
        """Read the rule list of a model file."""
        from plurule.model import file

        return file.load(path)

    def _completed(self, rule: Rule) -> Rule:
        head = rule.head.completed(self.groups, self.labels, self.hierarchy)
        # What was counted is per label of the head, in order.
        return replace(rule, head=head, decided=rule.decided if len(head) == len(rule.head) else ())

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> RuleList: ...
    def __getitem__(self, index: int | slice) -> Rule | RuleList:
        if isinstance(index, slice):
            rules = self.rules[index]
            is_prefix = rules == self.rules[: len(rules)]
            undecided = self._undecided_after(len(rules)) if is_prefix else self.undecided
            choice = self.length_choice if len(rules) == len(self) else None
            return replace(self, rules=rules, undecided=undecided, length_choice=choice)
        return self.rules[index]

    def _undecided_after(self, count: int) -> tuple[tuple[float, float], ...]:
        """What the first rules leave undecided: what all of them do, and what the others decided."""
        left = [[absent, present] for absent, present in self.undecided]
        for rule in self.rules[count:] if left else ():
            # A rule written by hand has decided no training pair.
            for assignment, (right, wrong) in zip(rule.head, rule.decided, strict=False):
                left[assignment.index][assignment.present] += right
                left[assignment.index][not assignment.present] += wrong
        return tuple((absent, present) for absent, present in left)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __str__(self) -> str:
        return "\n".join(str(rule) for rule in self.rules) or "(no rules: every label is absent)"

    def __repr__(self) -> str:
        counts = {"rule": len(self), "label": len(self.labels), "attribute": len(self.attributes)}
        title = "RuleList: " + ", ".join(amount(number, noun) for noun, number in counts.items())
        numbered = (f"{number:>4}  {rule}" for number, rule in enumerate(self, start=1))
        return excerpt(title, numbered, len(self), "rules")

    def characteristics(self) -> dict[str, float]:
        """Counts that describe the model, as the paper's Table 2 lists them."""
        multi = [len(rule.head.stated) for rule in self if len(rule.head.stated) > 1]
        return {
            "rules": len(self),
            "conditions": sum(len(rule.body) for rule in self),
            "label_conditions": sum(len(rule.label_conditions) for rule in self),
            "multi_label_heads": len(multi),
            "labels_per_multi_label_head": sum(multi) / len(multi) if multi else 0.0,
            "stop_rules": sum(rule.stop for rule in self),
        }

    def meanings(self) -> list[str]:
        """A line for each tested attribute and each label that is described: `area (km²): land, without lakes`."""
        tested = (self.attributes[index].name for index in self.tested_attributes())
        return meanings(self.dictionary, (*tested, *self.labels))

    def tested_attributes(self) -> list[int]:
        """Places of the attributes that some rule tests, in order."""
        return sorted({c.index for rule in self for c in rule.body if not isinstance(c, LabelCondition)})

    def head_sizes(self) -> dict[int, int]:
        """How many rules have a head of each length."""
        return dict(sorted(Counter(len(rule.head.stated) for rule in self).items()))

    def parse(self, text: str) -> Rule:
        """The rule that a text says about these attributes and labels; see `plurule.model.text`."""
        return self._completed(parse(text, self.attributes, self.labels))
