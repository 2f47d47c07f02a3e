"""Constraints on the rules that are learned; initial rules may do anything.

All names are those of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import expect_exactly_one, expect_implied
from plurule.errors import ModelError, first_repeated, nearest
from plurule.model import (
    Attribute,
    Condition,
    Head,
    OneOfCondition,
    RangeCondition,
    Rule,
    RuleList,
)
from plurule.model.condition import YES
from plurule.model.naming import quoted
from plurule.model.rule import Hierarchy, ancestors, relate

_SHAPES: dict[str, tuple[int, float, bool, str]] = {
    "forbidden_attributes": (1, 1, False, "be a list of names"),
    "forbidden_label_pairs": (2, 2, True, "be a list of pairs of different labels"),
    "exclusive_labels": (2, np.inf, True, "be a list of groups of different labels"),
    "increasing": (1, 2, False, "be a list of attributes, or pairs of an attribute and a label"),
    "decreasing": (1, 2, False, "be a list of attributes, or pairs of an attribute and a label"),
    "hierarchy": (2, 2, False, "map labels to those above them, such as {'jazz': 'music'}"),
}
"""Shape of each parameter: fewest and most names of an item, whether they must differ, and a description."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints on rules, by name: `RuleListClassifier(constraints=Constraints(...))` learns such rules only.

    Parameters
    ----------
    forbidden_attributes
        No rule tests them.
    forbidden_label_pairs
        No rule relates the two labels of a pair: it has not both in its head, and tests not one to predict the other.
    exclusive_labels
        Groups of labels of which exactly one is present in every row: heads say so, and predictions keep to it.
    increasing, decreasing
        Attributes of which more never speaks against a label, or never for it: names, for all labels, or pairs of an
        attribute and a label. A rule that predicts the label as present tests an increasing attribute from a value on
        only (`age >= 60`), one that predicts it as absent up to a value only; a decreasing one the other way round.
        Attributes are numeric, or have two categories such as `no` and `yes`.
    hierarchy
        Labels that imply others, each with the one above it, or several: `{"jazz": "music"}`. A rule that predicts a
        label predicts those above it, and predictions keep to it.

    Examples
    --------
    >>> constraints = Constraints(forbidden_attributes=["population"], forbidden_label_pairs=[("red", "blue")])
    >>> text = "red <- area > 2 and population > 1\\nblue <- red"
    >>> rules = RuleList.from_text(text, ["area", "population"], ["red", "blue"])
    >>> for violation in constraints.violations(rules):
    ...     print(violation)
    rule 1 (red ← area > 2 ∧ population > 1) tests population, which is forbidden
    rule 2 (blue ← red) relates red and blue, which is forbidden
    """

    forbidden_attributes: Iterable[str] = ()
    forbidden_label_pairs: Iterable[Sequence[str]] = ()
    exclusive_labels: Iterable[Sequence[str]] = ()
    increasing: Iterable[str | Sequence[str]] = ()
    decreasing: Iterable[str | Sequence[str]] = ()
    hierarchy: Mapping[str, str | Iterable[str]] | Iterable[Sequence[str]] = ()

    def __post_init__(self) -> None:
        for parameter, (least, most, different, what) in _SHAPES.items():
            given = getattr(self, parameter)
            if parameter == "hierarchy" and isinstance(given, Mapping):
                given = [(label, name) for label, names in given.items() for name in _names(names)]
            if isinstance(given, str):
                write = f"; write [{given!r}]" if least == 1 else ""
                raise ModelError(f"{parameter} must {what}, got the text {given!r}{write}")
            given = list(given)
            found = [_names(one) for one in given]
            for one, names in zip(given, found, strict=True):
                few = len(names) < least or (len(names) < 2 and not _is_one(one))
                if few or len(names) > most or (different and len(set(names)) < len(names)):
                    raise ModelError(f"{parameter} must {what}, got {one!r}")
            object.__setattr__(self, parameter, tuple(names if len(names) > 1 else names[0] for names in found))
        twice = first_repeated(label for group in self.exclusive_labels for label in group)
        if twice is not None:
            raise ModelError(f"exclusive_labels: {twice!r} is in two groups; give each label one")

    def resolve(self, attributes: Sequence[Attribute], labels: Sequence[str]) -> ResolvedConstraints:
        """The same by the places of the attributes and labels of some data; unknown names are an error."""
        columns = {attribute.name: i for i, attribute in enumerate(attributes)}
        places = {label: i for i, label in enumerate(labels)}
        allowed = np.ones(len(columns), dtype=bool)
        for name in self.forbidden_attributes:
            allowed[_place(name, columns, "forbidden_attributes", "attribute")] = False
        must_differ = np.zeros((len(labels), len(labels)), dtype=bool)
        for pair in self.forbidden_label_pairs:
            first, second = (_place(name, places, "forbidden_label_pairs", "label") for name in pair)
            must_differ[first, second] = must_differ[second, first] = True
        directions = self._directions(attributes, columns, places)
        resolved = ResolvedConstraints(allowed, must_differ, directions=directions)
        members = [[_place(name, places, "exclusive_labels", "label") for name in g] for g in self.exclusive_labels]
        pairs = [tuple(_place(name, places, "hierarchy", "label") for name in pair) for pair in self.hierarchy]
        return resolved.with_exclusive(members, labels).with_hierarchy(pairs, labels)

    def _directions(
        self, attributes: Sequence[Attribute], columns: dict[str, int], places: dict[str, int]
    ) -> NDArray[np.int8]:
        """Per attribute and label: 1 increasing, -1 decreasing, 0 neither."""
        found = np.zeros((len(attributes), len(places)), dtype=np.int8)
        for parameter, sign in (("increasing", 1), ("decreasing", -1)):
            for one in getattr(self, parameter):
                name, *label = (one,) if isinstance(one, str) else one
                column = _place(name, columns, parameter, "attribute")
                if attributes[column].is_nominal and not attributes[column].is_binary:
                    what = "its categories have no order; give a numeric attribute, or one of no and yes"
                    raise ModelError(f"{parameter}: attribute {name!r} is nominal, and {what}")
                among = [_place(other, places, parameter, "label") for other in label] or list(places.values())
                other_way = next((i for i in among if found[column, i] == -sign), None)
                if other_way is not None:
                    problem = f"both increasing and decreasing for label {list(places)[other_way]!r}"
                    raise ModelError(f"attribute {name!r} is {problem}; leave out one")
                found[column, among] = sign
        return found

    def violations(self, rule_list: RuleList) -> tuple[str, ...]:
        """Return how rules violate the constraints, as texts; locked rules may do anything."""
        resolved = self.resolve(rule_list.attributes, rule_list.labels)
        found = []
        for number, rule in enumerate(rule_list, start=1):
            if not rule.locked:
                found += [
                    f"rule {number} ({rule.to_text()}) {objection}"
                    for objection in resolved.objections(rule, rule_list.labels)
                ]
        return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedConstraints:
    """Constraints as arrays over the attributes and labels of some data."""

    allowed_attributes: NDArray[np.bool_]
    """Per attribute: whether rules may test it."""
    must_differ: NDArray[np.bool_]
    """Per pair of labels: whether no rule may relate them. Symmetric, False on the diagonal."""
    exclusive: tuple[tuple[int, ...], ...] = ()
    """Labels of which exactly one is present: no rule ends an instance before it is known which."""
    directions: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int8))
    """Per attribute and label: 1 where more never speaks against it, -1 where never for it, 0 where anything goes."""
    hierarchy: Hierarchy = ()
    """Labels with those above them, which they imply."""

    @property
    def directed(self) -> bool:
        """Whether any attribute may be tested on one side only."""
        return bool(self.directions.any())

    def forbidden_heads(self, conditions: Iterable[Condition | None]) -> NDArray[np.bool_]:
        """Per condition, label and sign (absent, present): whether a rule with the condition may not predict so."""
        tested = [[] if c is None else [(c.index, int(rises)) for rises in tested_directions(c)] for c in conditions]
        found = np.zeros((len(tested), len(self.must_differ), 2), dtype=bool)
        for one, index, rises in ((one, *test) for one, tests in zip(found, tested, strict=True) for test in tests):
            one |= forbidden_directions(self)[index, rises]
        return found

    def with_exclusive(self, groups: Sequence[Sequence[int]], labels: Sequence[str]) -> ResolvedConstraints:
        """The same, and of each group of labels exactly one is present."""
        twice = first_repeated(labels[i] for members in (*groups, *self.exclusive) for i in members)
        if twice is not None:
            raise ModelError(f"label {twice!r} is in two groups of which exactly one is present; leave out one")
        exclusive = _pairs_within(groups, len(labels))
        return replace(self, must_differ=self.must_differ | exclusive, exclusive=(*map(tuple, groups), *self.exclusive))

    def with_hierarchy(self, pairs: Sequence[Sequence[int]], labels: Sequence[str]) -> ResolvedConstraints:
        """The same, and of each pair of labels the first implies the second."""
        hierarchy: Hierarchy = tuple(dict.fromkeys([(below, above) for below, above in (*self.hierarchy, *pairs)]))
        every = ancestors(hierarchy)
        itself = next((below for below, above in every if below == above), None)
        if itself is not None:
            circle = ", ".join(repr(labels[i]) for i in sorted({b for b, a in every if (a, b) in every}))
            raise ModelError(f"hierarchy: {labels[itself]!r} implies itself (see {circle}); leave out one of the pairs")
        above = np.zeros_like(self.must_differ)
        for pair in every:
            above[pair] = True
        message = "hierarchy: {} implies {}, but they must not go together; leave out one"
        _refuse(self.must_differ & above, labels, message)
        # What implies labels of which only one can be present cannot go together either.
        implied = above | np.eye(len(labels), dtype=bool)
        exclusive = _pairs_within(self.exclusive, len(labels))
        must_differ = self.must_differ
        if self.exclusive and hierarchy:
            # Of floats, since the product of matrices of bools is slow.
            must_differ = must_differ | (implied.astype(np.float32) @ exclusive @ implied.T > 0)
        message = "hierarchy: where {} is present, labels are implied of which only one can be present"
        _refuse(must_differ & np.eye(len(labels), dtype=bool), labels, message)
        return replace(self, hierarchy=hierarchy, must_differ=must_differ)

    def of_columns(self, sources: NDArray[np.intp]) -> ResolvedConstraints:
        """The same for columns of which it is known of which attribute each is made."""
        allowed = self.allowed_attributes[sources]
        # Columns that are made of others have no order, or another one.
        directions = np.zeros((len(sources), len(self.must_differ)), dtype=np.int8)
        directions[: len(self.directions)] = self.directions
        return replace(self, allowed_attributes=allowed, directions=directions)

    def decides_exclusive(self, head: Head) -> bool:
        """Whether a head says of every group of exclusive labels which of them is present."""
        present = {a.index for a in head if a.present}
        return all(present.intersection(members) for members in self.exclusive)

    def objections(self, rule: Rule, labels: Sequence[str]) -> Iterator[str]:
        """Yield the constraints that a rule violates, as texts."""
        tested = rule.attribute_conditions
        for condition in tested:
            if not self.allowed_attributes[condition.index]:
                yield f"tests {quoted(condition.name)}, which is forbidden"
            yield from self.misdirections(rule, condition)
        head = [a.index for a in rule.head.stated]
        body = [c.index for c in rule.label_conditions]
        related = [(a, b) for i, b in enumerate(head) for a in (*head[:i], *body)]
        for first, second in related:
            if self.must_differ[first, second]:
                yield f"relates {quoted(labels[first])} and {quoted(labels[second])}, which is forbidden"

    def misdirections(self, rule: Rule, condition: Condition) -> Iterator[str]:
        """Yield the directions that a condition of a rule violates, as texts."""
        for assignment in rule.head.stated if self.directed else ():
            if self.forbidden_heads([condition])[0, assignment.index, int(assignment.present)]:
                way = {1: "increasing for it", -1: "decreasing for it", 0: "directed for a label that it implies"}
                reason = f"{quoted(condition.name)} is {way[int(self.directions[condition.index, assignment.index])]}"
                yield f"tests {condition} to predict {assignment}, but {reason}"

    def expect_directed(self, initial_rules: Iterable[Rule]) -> None:
        """Raise an error if initial rules go against a direction."""
        for number, rule in enumerate(initial_rules, start=1):
            for objection in (text for c in rule.body for text in self.misdirections(rule, c)):
                raise ModelError(
                    f"initial rule {number} ({rule.to_text()}) {objection}; change the rule or the direction"
                )

    def expect_kept_by(self, Y: Any, labels: Sequence[str]) -> None:
        """Raise an error if rows go against groups or hierarchy."""
        expect_implied(Y, self.hierarchy, labels)
        for group in self.exclusive:
            expect_exactly_one(Y, group, labels)


@lru_cache(maxsize=16)
def forbidden_directions(constraints: ResolvedConstraints) -> NDArray[np.bool_]:
    """Heads that directions forbid, with implied ones: attributes × (up to a value, from one on) × labels × signs."""
    directions = constraints.directions
    found = np.zeros((len(directions), 2, directions.shape[1], 2), dtype=bool)
    found[:, 0, :, 0], found[:, 1, :, 0] = directions == -1, directions == 1
    found[:, 0, :, 1], found[:, 1, :, 1] = directions == 1, directions == -1
    relations = relate(constraints.exclusive, constraints.hierarchy)
    pairs = [(label, sign) for label in range(directions.shape[1]) for sign in (False, True)]
    while True:
        before = found.copy()
        for label, sign in pairs:
            for other, its_sign in relations.implied(label, sign):
                found[:, :, label, int(sign)] |= found[:, :, other, int(its_sign)]
        if (before == found).all():
            return found


def tested_directions(condition: Condition) -> tuple[bool, ...]:
    """Sides of an ordered attribute that a condition tests: True from a value on, False up to one.

    >>> tested_directions(RangeCondition("age", 0, above=60.0)), tested_directions(OneOfCondition("smoker", 0, ("no",)))
    ((True,), (False,))
    """
    if isinstance(condition, RangeCondition):
        return tuple(way for way, bound in ((True, condition.above), (False, condition.at_most)) if bound is not None)
    if not isinstance(condition, OneOfCondition):
        return ()
    values = {YES.get(category.lower()) for category in condition.categories}
    return tuple(way != condition.negated for way in values if way is not None and len(values) == 1)


def _place(name: str, places: dict[str, int], parameter: str, what: str) -> int:
    if name not in places:
        raise ModelError(f"{parameter}: there is no {what} {name!r}{nearest(name, places)}")
    return places[name]


def _is_one(given: Any) -> bool:
    """Whether what was given for names is one name."""
    return isinstance(given, str | bytes) or not isinstance(given, Iterable)


def _names(given: Any) -> tuple[str, ...]:
    """Names, or one name, as texts."""
    return (str(given),) if _is_one(given) else tuple(map(str, given))


def _pairs_within(groups: Iterable[Sequence[int]], n_labels: int) -> NDArray[np.bool_]:
    """Per pair of labels: whether they are different ones of the same group."""
    found = np.zeros((n_labels, n_labels), dtype=bool)
    for members in groups:
        found[np.ix_(members, members)] = ~np.eye(len(members), dtype=bool)
    return found


def _refuse(pairs: NDArray[np.bool_], labels: Sequence[str], message: str) -> None:
    """Raise an error that names the first of some pairs of labels, if there is one."""
    for pair in np.argwhere(pairs)[:1]:
        raise ModelError(message.format(*(repr(labels[i]) for i in pair)))
