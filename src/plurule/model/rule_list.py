"""Rule lists: ordered decision lists over named attributes and labels, and why they are as long as they are.

A rule list has a method for everything that can be done with it. The methods import what they call when they run, since
predictions, explanations, exports and reports build on the model, not the other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from plurule.errors import ModelError, amount, first_repeated
from plurule.model.condition import Attribute
from plurule.model.naming import Dictionary, excerpt, meanings
from plurule.model.rule import Groups, Hierarchy, Rule, bottom_up
from plurule.model.text import parse, parse_rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from plurule.inspection import Dependencies, Edit, Evidence, Explanations, Finding, ModelDiff, Simplified

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
"""A library whose frames are returned."""


@dataclass(frozen=True, slots=True, repr=False)
class LengthChoice:
    """Validation scores of lists cut after 1, 2, … rules, and where the list was cut.

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
        What the best constant prediction scores on the same data, if it was tried.
    expected
        The score and its standard error by nested cross-validation: `mean` at the chosen length is a little too good,
        since it is the best of many.

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
            f"LengthChoice: {amount(self.chosen, 'rule')}, {self.measure} {chosen}; "
            f"the best of 1 to {len(self.mean)} is {self.best}, {best}"
        )

    @property
    def score(self) -> tuple[float, float]:
        """The score on held-out data, and its standard error."""
        return self.expected or (self.mean[self.chosen - 1], self.standard_error[self.chosen - 1])

    @property
    def best(self) -> int:
        """The length of the highest mean score; the shortest, if there are several."""
        return max(range(len(self.mean)), key=lambda i: (round(self.mean[i], 12), -i)) + 1


@dataclass(frozen=True, slots=True, repr=False)
class RuleList(Sequence[Rule]):
    """An ordered decision list: a sequence of rules, with the names of its attributes and labels.

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
    dictionary
        Units and descriptions of attributes and labels, by name; see `with_dictionary`.

    A slice of a rule list is a rule list; the first n rules are what training with `max_rules=n` gives.

    Examples
    --------
    >>> from plurule import RelaxedPruningClassifier
    >>> from plurule.datasets import load_canteen_dishes
    >>> rules = RelaxedPruningClassifier(max_rules=3).fit(load_canteen_dishes()).rule_list_
    >>> print(rules[:2])
    peanuts ← topping = peanuts   (TP 196, FP 4)
    crustaceans ← main_ingredient = prawns   (TP 173, FP 2)
    >>> rules[0].precision, rules[0].body[0].categories
    (0.98, ('peanuts',))
    """

    rules: tuple[Rule, ...]
    attributes: Sequence[Attribute]
    labels: tuple[str, ...]
    undecided: tuple[tuple[float, float], ...] = ()
    length_choice: LengthChoice | None = field(default=None, compare=False)
    groups: Groups = ()
    dictionary: Dictionary = field(default_factory=dict, compare=False)
    hierarchy: Hierarchy = ()

    def __post_init__(self) -> None:
        bottom_up(self.hierarchy)  # refuses labels that imply each other
        if self.groups or self.hierarchy:
            object.__setattr__(self, "rules", tuple(map(self._completed, self.rules)))

    @classmethod
    def from_text(cls, text: str, attributes: Iterable[str | Attribute], labels: Iterable[str]) -> RuleList:
        """Return the rules of a text, one per line, about some attributes (a numeric one may be a name) and labels.

        >>> print(RuleList.from_text("red <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"]))
        red ← stripes > 2   (TP 0, FP 0)
        white ← red   (TP 0, FP 0)
        """
        for what, names in (("attributes", attributes), ("labels", labels)):
            if isinstance(names, str):
                raise ModelError(f"{what} must be a list of names, got the text {names!r}; write [{names!r}]")
        declared = tuple(a if isinstance(a, Attribute) else Attribute(str(a)) for a in attributes)
        label_names = tuple(map(str, labels))
        for what, listed in (("attributes", [a.name for a in declared]), ("labels", label_names)):
            if (twice := first_repeated(listed)) is not None:
                raise ModelError(f"two {what} are named {twice!r}")
        return cls(parse_rules(text, declared, label_names), declared, label_names)

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
        """Return the pairs that the first rules leave undecided: those of all rules, and those the others decided."""
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
        """Return counts that describe the model, as the paper's Table 2 lists them."""
        multi = [len(rule.head.stated) for rule in self if len(rule.head.stated) > 1]
        return {
            "rules": len(self),
            "conditions": sum(len(rule.body) for rule in self),
            "label_conditions": sum(len(rule.label_conditions) for rule in self),
            "multi_label_heads": len(multi),
            "labels_per_multi_label_head": sum(multi) / len(multi) if multi else 0.0,
            "stop_rules": sum(rule.stop for rule in self),
        }

    @property
    def order_matters(self) -> bool:
        """Whether predictions depend on the order of the rules; if not, each rule can be read on its own.

        It does not matter if no rule contradicts another, tests a label or ends an instance, and labels do not exclude
        each other. Default rules, which have no conditions, stay last.

        >>> text = "red <- stripes > 2\\nnot blue <- stars > 9\\nblue <-"
        >>> RuleList.from_text(text, ["stripes", "stars"], ["red", "blue"]).order_matters
        False
        """
        rules = list(self.rules)
        while rules and not rules[-1].body:
            rules.pop()
        predicted = {(assignment.index, assignment.present) for rule in rules for assignment in rule.head}
        if any((label, not present) in predicted for label, present in predicted):
            return True
        return bool(self.groups) or any(rule.stop or rule.label_conditions for rule in self.rules)

    def meanings(self) -> list[str]:
        """Return a line for each described attribute (if tested) and label: `area (km²): land, without lakes`."""
        tested = (self.attributes[index].name for index in self.tested_attributes())
        return meanings(self.dictionary, (*tested, *self.labels))

    def tested_attributes(self) -> list[int]:
        """Return places of the attributes that some rule tests, in order."""
        return sorted({c.index for rule in self for c in rule.attribute_conditions})

    def head_sizes(self) -> dict[int, int]:
        """Return how many rules have a head of each length."""
        return dict(sorted(Counter(len(rule.head.stated) for rule in self).items()))

    def parse(self, text: str) -> Rule:
        """Return the rule that a text says about these attributes and labels; see `plurule.model.text`."""
        return self._completed(parse(text, self.attributes, self.labels))

    # Files -----------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the rule list to a model file, whole or not at all; see `plurule.model.file`.

        >>> from tempfile import TemporaryDirectory
        >>> rules = RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"])
        >>> with TemporaryDirectory() as folder:
        ...     rules.save(f"{folder}/model.json")
        ...     RuleList.load(f"{folder}/model.json").predict([[1.0], [3.0]]).tolist()
        [[0], [1]]
        """
        from plurule.model import file

        file.save(self, path)

    @staticmethod
    def load(path: str | Path) -> RuleList:
        """Read the rule list of a model file.

        >>> RuleList.load("nowhere.json")
        Traceback (most recent call last):
        plurule.errors.ModelError: nowhere.json: there is no such file
        """
        from plurule.model import file

        return file.load(path)

    # Predictions -----------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return the predicted labels of some instances: a matrix of 0 and 1, with a column per label.

        Parameters
        ----------
        X
            A frame or data set, whose columns are matched by name; an array, sparse matrix or table, by position.
        """
        from plurule._prediction.apply import predict_labels, to_table

        return predict_labels(self, to_table(self, X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each label for some instances; `predict` is no threshold of it."""
        from plurule._prediction.apply import decide, probabilities, to_table

        return probabilities(self, decide(self, to_table(self, X)))

    # Inspection ------------------------------------------------------------------------------------------------------

    def explain(self, X: Any, *, ids: Sequence[Any] | None = None) -> Explanations:
        """Explain the predictions for some instances; see `plurule.inspection.explain.explain`."""
        from plurule.inspection.explain import explain

        return explain(self, X, ids=ids)

    def dependencies(self, X: Any = None, Y: Any = None, *, joint_absence: bool = False) -> Dependencies:
        """Return what the rules state about pairs of labels; see `plurule.inspection.dependencies.dependencies`."""
        from plurule.inspection.dependencies import dependencies

        return dependencies(self, X, Y, joint_absence=joint_absence)

    def evidence(self, X: Any, Y: Any = None) -> tuple[Evidence, ...]:
        """Count how often each rule is right on data; see `plurule.inspection.evidence.evidence`."""
        from plurule.inspection.evidence import evidence

        return evidence(self, X, Y)

    def stability(self, X: Any, Y: Any = None, **options: Any) -> RuleList:
        """Return the rules with the share of resamples that hold each; see `plurule.inspection.evidence.stability`."""
        from plurule.inspection.evidence import stability

        return stability(self, X, Y, **options)

    def check(self) -> tuple[Finding, ...]:
        """Find rules that can never do anything; see `plurule.inspection.check.check`."""
        from plurule.inspection.check import check

        return check(self)

    def diff(self, other: RuleList, X: Any = None, Y: Any = None, sample_weight: Any = None) -> ModelDiff:
        """Compare the list with a later one; see `plurule.inspection.diff.diff`."""
        from plurule.inspection.diff import diff

        return diff(self, other, X, Y, sample_weight)

    def edit(self, X: Any = None, Y: Any = None, sample_weight: Any = None) -> Edit:
        """Start to edit the rules, counted on data if there are any; see `plurule.inspection.Edit`."""
        from plurule.inspection.edit import Edit

        return Edit.of(self, X, Y, sample_weight)

    def simplify(self, X: Any, Y: Any = None, **options: Any) -> Simplified:
        """Drop rules and conditions that change nothing, or little; see `plurule.inspection.simplify.simplify`."""
        from plurule.inspection.simplify import simplify

        return simplify(self, X, Y, **options)

    def with_dictionary(self, dictionary: Any, *, ignore: Iterable[str] = ()) -> RuleList:
        """Return the rules with units and descriptions of a data dictionary; see `plurule.data.dictionary`."""
        from plurule.data.dictionary import apply_dictionary

        return apply_dictionary(self, dictionary, ignore=tuple(ignore))

    # Exports ---------------------------------------------------------------------------------------------------------

    def to_frame(self, backend: Backend = "pandas", X: Any = None, Y: Any = None) -> Any:
        """Return a frame with one row per rule; see `plurule.inspection.evidence.to_frame`."""
        from plurule.inspection.evidence import to_frame

        return to_frame(self, backend, X, Y)

    def to_sql(
        self, table: str | Sequence[str] = "instances", dialect: str = "sqlite", keys: Sequence[str] = ()
    ) -> str:
        """Return a query that predicts the labels of the rows of a table.

        Parameters
        ----------
        table
            Name of the table, or its parts: `("schema", "table")`. Its columns have the names of the attributes.
        dialect
            `"sqlite"`, `"duckdb"` or `"postgresql"`.
        keys
            Columns of the table to return before the labels, to know which row is which.
        """
        from plurule.export.sql import to_sql

        return to_sql(self, table, dialect, keys)

    def to_python(self, function: str = "predict") -> str:
        """Return a Python module that needs nothing but Python.

        Parameters
        ----------
        function
            Name of the function, which takes a mapping from attribute names to values and returns a dictionary from
            label names to 0 and 1.
        """
        from plurule.export.python import to_python

        return to_python(self, function)

    def to_jdm(self) -> str:
        """Return decision tables for the engine GoRules ZEN, as JSON."""
        from plurule.export.jdm import to_jdm

        return to_jdm(self)

    def to_onnx(self) -> bytes:
        """Return a model for onnxruntime, with an input per attribute that rules test (needs onnx)."""
        from plurule.export.onnx import to_onnx

        return to_onnx(self)

    def export(self, to: str, **options: Any) -> str | bytes:
        """Return the rules in any export format, by name; see `plurule.export.export`."""
        from plurule.export.formats import export

        return export(self, to, **options)

    def to_markdown(self) -> str:
        """Return a table in Markdown, with a row per rule."""
        from plurule.export.text import to_markdown

        return to_markdown(self)

    def to_latex(self, caption: str | None = None, label: str | None = None) -> str:
        """Return a table in LaTeX, for a document that uses `booktabs`, `longtable` and `textcomp`."""
        from plurule.export.text import to_latex

        return to_latex(self, caption, label)

    def to_html(self, X: Any = None, Y: Any = None, **options: Any) -> str:
        """Return a report as one HTML page; see `plurule.report.to_html`."""
        from plurule.report import to_html

        return to_html(self, X, Y, **options)

    def _repr_html_(self) -> str:
        from plurule.report import rules_in_notebook

        return rules_in_notebook(self)
