"""What experts know: rules to start with, and what rules must and must not use.

All names are those of the data. Constraints bind the rules that are learned; what an expert gives is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from plurule.errors import ModelError, first_repeated, nearest
from plurule.model import Attribute, Head, LabelCondition, Rule, RuleList
from plurule.model.names import Names
from plurule.model.naming import quoted
from plurule.model.text import RuleTextError, parse, parse_rules


@dataclass(frozen=True, slots=True)
class Constraints:
    """What rules must and must not use, by name: `fit(..., constraints=Constraints(...))` learns such rules only.

    Parameters
    ----------
    forbidden_attributes
        No rule tests them.
    required_attributes
        Every rule tests at least one of them; a rule without conditions is therefore not learned either.
    forbidden_label_pairs
        No rule relates the two labels of a pair: it has not both in its head, and tests not one to predict the other.
    exclusive_labels
        Groups of labels of which exactly one is present in every row: heads say so, and predictions keep to it.
    required_label_pairs
        A rule that predicts one label of a pair predicts the other as well (as present or absent). Pairs that share a
        label chain: with (A, B) and (B, C) the three go together.

    Examples
    --------
    >>> constraints = Constraints(forbidden_attributes=["population"], forbidden_label_pairs=[("red", "blue")])
    >>> from plurule.inspection import parse_rules
    >>> names = (Attribute("area"), Attribute("population")), ("red", "blue")
    >>> rules = RuleList(parse_rules("red <- area > 2 and population > 1\\nblue <- red", *names), *names)
    >>> for violation in constraints.violations(rules):
    ...     print(violation)
    rule 1 (red ← area > 2 ∧ population > 1) tests population, which is forbidden
    rule 2 (blue ← red) relates red and blue, which is forbidden
    """

    forbidden_attributes: Iterable[str] = ()
    required_attributes: Iterable[str] = ()
    forbidden_label_pairs: Iterable[Sequence[str]] = ()
    required_label_pairs: Iterable[Sequence[str]] = ()
    exclusive_labels: Iterable[Sequence[str]] = ()

    def __post_init__(self) -> None:
        for parameter in ("forbidden_attributes", "required_attributes"):
            names = getattr(self, parameter)
            if isinstance(names, str):
                raise ModelError(f"{parameter} must be a list of names, got the text {names!r}; write [{names!r}]")
            object.__setattr__(self, parameter, tuple(names))
        for parameter in ("forbidden_label_pairs", "required_label_pairs"):
            pairs = tuple(pair if isinstance(pair, str) else tuple(pair) for pair in getattr(self, parameter))
            odd = next((pair for pair in pairs if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]), None)
            if odd is not None:
                raise ModelError(f"{parameter} must be a list of pairs of different labels, got {odd!r}")
            object.__setattr__(self, parameter, pairs)

        groups = tuple(group if isinstance(group, str) else tuple(group) for group in self.exclusive_labels)
        odd = next((g for g in groups if isinstance(g, str) or len(set(g)) < max(len(g), 2)), None)
        if odd is not None:
            raise ModelError(f"exclusive_labels must be a list of groups of different labels, got {odd!r}")
        twice = first_repeated(label for group in groups for label in group)
        if twice is not None:
            raise ModelError(f"exclusive_labels: {twice!r} is in two groups; give each label one")
        object.__setattr__(self, "exclusive_labels", groups)

    def resolve(self, attributes: Sequence[Attribute], labels: Sequence[str]) -> ResolvedConstraints:
        """The same by the places of the attributes and labels of some data; names that it lacks are an error."""
        columns = {attribute.name: i for i, attribute in enumerate(attributes)}
        places = {label: i for i, label in enumerate(labels)}
        forbidden = _mask(self.forbidden_attributes, columns, "forbidden_attributes")
        required = _mask(self.required_attributes, columns, "required_attributes")
        both = np.flatnonzero(forbidden & required)
        if len(both):
            raise ModelError(f"attribute {attributes[both[0]].name!r} is both required and forbidden; leave out one")
        apart = np.zeros((len(labels), len(labels)), dtype=bool)
        for pair in self.forbidden_label_pairs:
            first, second = (_place(name, places, "forbidden_label_pairs", "label") for name in pair)
            apart[first, second] = apart[second, first] = True
        group = np.arange(len(labels))
        for pair in self.required_label_pairs:
            first, second = (_place(name, places, "required_label_pairs", "label") for name in pair)
            group[group == group[second]] = group[first]
        clash = np.argwhere(apart & (group[:, None] == group[None, :]))
        if len(clash):
            first, second = (labels[i] for i in clash[0])
            raise ModelError(
                f"labels {first!r} and {second!r} must go together and must not; leave out one of the pairs"
            )
        resolved = ResolvedConstraints(~forbidden, required, apart, group)
        members = [[_place(name, places, "exclusive_labels", "label") for name in g] for g in self.exclusive_labels]
        return resolved.with_exclusive(members, labels)

    def violations(self, rule_list: RuleList) -> tuple[str, ...]:
        """What the rules of a list do that is not allowed; locked rules may do anything."""
        resolved = self.resolve(rule_list.attributes, rule_list.labels)
        found = []
        for number, rule in enumerate(rule_list, start=1):
            if not rule.locked:
                found += [
                    f"rule {number} ({rule.to_text()}) {said}" for said in resolved.objections(rule, rule_list.labels)
                ]
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedConstraints:
    """Constraints as arrays over the attributes and labels of some data."""

    allowed_attributes: NDArray[np.bool_]
    """Per attribute: whether rules may test it."""
    required_attributes: NDArray[np.bool_]
    """Per attribute: whether it is among those of which every rule tests one; all False if nothing is required."""
    apart: NDArray[np.bool_]
    """Per pair of labels: whether no rule may relate them. Symmetric, False on the diagonal."""
    group: NDArray[np.intp]
    """Per label: labels with the same number go together in heads; a label with a number of its own is free."""
    exclusive: tuple[tuple[int, ...], ...] = ()
    """Labels of which exactly one is present: they are apart, and no rule ends an instance before that is known."""

    @property
    def asks(self) -> bool:
        """Whether anything is asked of rules beyond what exclusive labels ask."""
        apart = self.apart.copy()
        for members in self.exclusive:
            apart[np.ix_(members, members)] = False
        return not self.allowed_attributes.all() or self.requires_attribute or replace(self, apart=apart).binds_labels

    @property
    def requires_attribute(self) -> bool:
        """Whether every rule must test one of some attributes."""
        return bool(self.required_attributes.any())

    @property
    def binds_labels(self) -> bool:
        """Whether some labels must, or must not, go together."""
        return bool(self.apart.any()) or len(np.unique(self.group)) < len(self.group)

    def with_exclusive(self, groups: Sequence[Sequence[int]], labels: Sequence[str]) -> ResolvedConstraints:
        """The same, and of each group of labels exactly one is present."""
        apart = self.apart.copy()
        twice = first_repeated(labels[i] for members in (*groups, *self.exclusive) for i in members)
        if twice is not None:
            raise ModelError(f"label {twice!r} is in two groups of which exactly one is present; leave out one")
        for members in groups:
            together = next(
                (pair for pair in combinations(members, 2) if self.group[pair[0]] == self.group[pair[1]]), None
            )
            if together is not None:
                first, second = (labels[i] for i in together)
                raise ModelError(
                    f"labels {first!r} and {second!r} must go together, but only one of them can be present"
                )
            apart[np.ix_(members, members)] = ~np.eye(len(members), dtype=bool)
        return replace(self, apart=apart, exclusive=(*map(tuple, groups), *self.exclusive))

    def of_columns(self, sources: NDArray[np.intp]) -> ResolvedConstraints:
        """The same for columns of which it is known of which attribute each is made."""
        allowed, required = self.allowed_attributes[sources], self.required_attributes[sources]
        return replace(self, allowed_attributes=allowed, required_attributes=required)

    def decides_exclusive(self, head: Head) -> bool:
        """Whether a head says of every group of exclusive labels which of them is present."""
        present = {a.index for a in head if a.present}
        return all(present.intersection(members) for members in self.exclusive)

    def units(self) -> tuple[tuple[int, ...], ...]:
        """What enters a head as one: the labels that go together, and every other label by itself; in label order."""
        found: dict[int, list[int]] = {}
        for label, number in enumerate(self.group.tolist()):
            found.setdefault(number, []).append(label)
        return tuple(tuple(labels) for labels in found.values())

    def allows(self, rule: Rule) -> bool:
        """Whether a rule may be learned."""
        return next(self.objections(rule, ()), None) is None

    def objections(self, rule: Rule, labels: Sequence[str]) -> Iterator[str]:
        """What can be said against a rule."""
        tested = [c for c in rule.body if not isinstance(c, LabelCondition)]
        for condition in tested:
            if not self.allowed_attributes[condition.index]:
                yield f"tests {quoted(condition.name)}, which is forbidden"
        if self.requires_attribute and not any(self.required_attributes[c.index] for c in tested):
            yield "tests none of the attributes of which one is required"
        head = [a.index for a in rule.head.stated]
        body = [c.index for c in rule.label_conditions]
        related = [(a, b) for i, b in enumerate(head) for a in (*head[:i], *body)]
        for first, second in related:
            if self.apart[first, second]:
                names = f"{quoted(labels[first])} and {quoted(labels[second])}" if labels else "two labels"
                yield f"relates {names}, which is forbidden"
        for label in head:
            for other in np.flatnonzero(self.group == self.group[label]).tolist():
                if other not in head:
                    names = f"{quoted(labels[label])} without {quoted(labels[other])}" if labels else "half of a pair"
                    yield f"predicts {names}, which is required"


def as_initial_rules(
    rules: RuleList | str | Iterable[Rule | str], attributes: Sequence[Attribute], labels: Sequence[str]
) -> tuple[Rule, ...]:
    """Rules that learning starts with: they stay first, as they are, and what they decide is not learned again.

    Parameters
    ----------
    rules
        A rule list, rules or texts of rules, or one text with a rule per line.
    attributes, labels
        Of the training data. Rules are matched to them by name.

    Returns
    -------
    tuple of Rule
        The rules, locked.

    Examples
    --------
    >>> rules = as_initial_rules("red <- area > 2\\nblue <- red [stop]", [Attribute("area")], ["red", "blue"])
    >>> [str(rule) for rule in rules]
    ['red ← area > 2   (TP 0, FP 0, locked)', 'blue ← red   (TP 0, FP 0, stop, locked)']
    """
    if isinstance(rules, str):
        return tuple(replace(rule, locked=True) for rule in parse_rules(rules, attributes, labels))
    initial, names = [], Names(attributes, labels)
    for number, rule in enumerate(rules, start=1):
        try:
            known = parse(rule, attributes, labels) if isinstance(rule, str) else names.adopt(rule)
        except RuleTextError as error:
            raise error.within(f"initial rule {number}") from None
        except ModelError as error:
            raise ModelError(f"initial rule {number}: {error}") from None
        initial.append(replace(known, locked=True))
    return tuple(initial)


def _place(name: str, places: dict[str, int], parameter: str, what: str) -> int:
    if name not in places:
        raise ModelError(f"{parameter}: there is no {what} {name!r}{nearest(name, places)}")
    return places[name]


def _mask(names: Iterable[str], places: dict[str, int], parameter: str) -> NDArray[np.bool_]:
    mask = np.zeros(len(places), dtype=bool)
    for name in names:
        mask[_place(name, places, parameter, "attribute")] = True
    return mask
