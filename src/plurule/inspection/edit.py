"""Editing a rule list by hand: every edit gives a new list, counted again, with its differences from the original.

Rules are numbered from 1, as everywhere people see them.

An edit script is a list of edits as JSON, which a report saves and `plurule edit --script` applies. It names the rules
it was made for by a digest of their text, so that it is not applied to others:
`{"rules": "0f3a…", "edits": [{"do": "remove", "numbers": [3]}, {"do": "add", "rule": "red <- blue", "at": 1}]}`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule._files import digest
from plurule._prediction.apply import Labels, recount
from plurule.data.dataset import Table
from plurule.errors import ModelError, nearest
from plurule.inspection.check import check
from plurule.inspection.data import match
from plurule.inspection.diff import ModelDiff, diff
from plurule.model import Condition, Head, Rule, RuleList
from plurule.model.text import Names, RuleTextError, write_rules


@dataclass(frozen=True, repr=False)
class Edit:
    """A rule list under edit: the original, the current rules, and notes about them.

    Attributes
    ----------
    rule_list
        The rules now, with their counts on the data if there are any.
    original
        The rules before the first edit.
    notes
        Unintended effects of the last edit: rules that contradict themselves, that no instance
        reaches, or that decide nothing on the data.
    table, truth, weights
        The data, if there are any: instances, their labels and weights.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- stripes > 2", ["stripes"], ["red", "white"])
    >>> edit = rules.edit().add("white <- red").add("red <- stripes > 4")
    >>> len(edit.rule_list)
    3
    >>> edit.notes
    ('rule 3 (red ← stripes > 4) is unreachable: rule 1 decides red first',)
    """

    rule_list: RuleList
    original: RuleList
    notes: tuple[str, ...] = ()
    table: Table | None = None
    truth: Labels | None = None
    weights: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, rule_list: RuleList, X: Any = None, Y: Any = None, sample_weight: Any = None) -> Edit:
        """Start to edit a rule list, with data (or a data set as `X`) on which rules are counted and compared.

        Counts are in units of weight as those of training are: the greatest number of which all weights are whole
        multiples, or else the mean weight.
        """
        if X is None:
            return cls(rule_list, rule_list)
        table, truth, weights = match(rule_list, X, Y, sample_weight)
        counted = rule_list if truth is None else recount(rule_list, table, truth, weights)
        return cls(counted, rule_list, (), table, truth, weights)

    def add(self, rule: Rule | str, at: int | None = None) -> Edit:
        """Put in a rule, or the text of one, as rule number `at` (at the end by default)."""
        rules = list(self.rule_list)
        position = len(rules) if at is None else self._position(at, len(rules) + 1)
        rules.insert(position, self._rule(rule))
        return self._now(rules)

    def remove(self, *numbers: int) -> Edit:
        """Take out rules."""
        positions = [self._unlocked(number, "remove") for number in numbers]
        return self._now([rule for position, rule in enumerate(self.rule_list) if position not in positions])

    def replace(self, number: int, rule: Rule | str) -> Edit:
        """Put a rule, or the text of one, in the place of another."""
        rules = list(self.rule_list)
        rules[self._unlocked(number, "replace")] = self._rule(rule)
        return self._now(rules)

    def move(self, number: int, to: int) -> Edit:
        """Move a rule so that it becomes rule number `to`."""
        rules = list(self.rule_list)
        moved = rules.pop(self._unlocked(number, "move"))
        rules.insert(self._position(to), moved)
        return self._now(rules)

    def replace_all(self, rules: Iterable[Rule]) -> Edit:
        """Put other rules in the place of all; those that are locked must be among them, perhaps unlocked."""
        others = list(rules)
        left = Counter(_statement(rule) for rule in others)
        for number, rule in enumerate(self.rule_list, start=1):
            left[_statement(rule)] -= 1
            if rule.locked and left[_statement(rule)] < 0:
                raise ModelError(
                    f"cannot remove or change rule {number}, it is locked: {rule.to_text()}. Unlock it first"
                )
        return self._now(others)

    def lock(self, *numbers: int) -> Edit:
        """Keep rules as they are: later edits refuse to change them, simplification and learning keep them."""
        return self._mark(numbers, True)

    def unlock(self, *numbers: int) -> Edit:
        """Unlock rules."""
        return self._mark(numbers, False)

    def diff(self) -> ModelDiff:
        """Compare with the original: rules, predictions and scores on the data."""
        return diff(self.original, self.rule_list, self.table, self.truth, self.weights)

    def __str__(self) -> str:
        return "\n".join([str(self.diff()), *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _rule(self, rule: Rule | str) -> Rule:
        if isinstance(rule, str):
            return self.rule_list.parse(rule)
        return Names(self.rule_list.attributes, self.rule_list.labels).adopt(rule)

    def _position(self, number: int, most: int | None = None) -> int:
        most = len(self.rule_list) if most is None else most
        if not 1 <= number <= most:
            raise ModelError(f"there is no rule {number}; rules are numbered from 1 to {most} here")
        return number - 1

    def _unlocked(self, number: int, verb: str) -> int:
        position = self._position(number)
        if self.rule_list[position].locked:
            raise ModelError(
                f"cannot {verb} rule {number}, it is locked: {self.rule_list[position].to_text()}. Unlock it first"
            )
        return position

    def _mark(self, numbers: Iterable[int], locked: bool) -> Edit:
        positions = {self._position(number) for number in numbers}
        rules = [replace(r, locked=locked) if p in positions else r for p, r in enumerate(self.rule_list)]
        return self._now(rules)

    def _now(self, rules: Sequence[Rule]) -> Edit:
        edited = replace(self.rule_list, rules=tuple(rules), length_choice=None)
        if self.table is not None and self.truth is not None:
            edited = recount(edited, self.table, self.truth, self.weights)
        return replace(self, rule_list=edited, notes=_notes(self.rule_list, edited, self.truth is not None))


def _notes(before: RuleList, after: RuleList, has_data: bool) -> tuple[str, ...]:
    """Return the problems that an edit caused; those that were there before are left out."""
    before_edit = {(finding.problem, _statement(finding.rule)) for finding in check(before)}
    findings = [f for f in check(after) if (f.problem, _statement(f.rule)) not in before_edit]
    notes = [str(finding) for finding in findings]
    noted = {finding.number for finding in findings}
    idle_before = Counter(_statement(rule) for rule in before if not rule.tp + rule.fp)
    for number, rule in enumerate(after if has_data else (), start=1):
        if not rule.tp + rule.fp and number not in noted:
            idle_before[_statement(rule)] -= 1
            if idle_before[_statement(rule)] < 0:
                notes.append(f"rule {number} ({rule.to_text()}) decides nothing on the data")
    return tuple(notes)


def _statement(rule: Rule) -> tuple[Head, tuple[Condition, ...]]:
    return rule.head, rule.body


# Edit scripts --------------------------------------------------------------------------------------------------------

MEMBERS: dict[str, dict[str, Any]] = {
    "add": {"rule": str, "at": int},
    "remove": {"numbers": list},
    "replace": {"number": int, "rule": str},
    "move": {"number": int, "to": int},
    "lock": {"numbers": list},
    "unlock": {"numbers": list},
}
"""Edits and the types of their members; each is a method of `Edit`."""


def rules_digest(rule_list: RuleList) -> str:
    """Return a short text that differs if the rules do, whatever their counts."""
    return digest(write_rules(rule_list))


def apply_script(edit: Edit, text: str | bytes, source: str = "the edit script") -> Edit:
    """Return a rule list under edit after the edits of a script; `source` is named in errors.

    >>> rules = RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"])
    >>> script = {"rules": rules_digest(rules), "edits": [{"do": "lock", "numbers": [1]}]}
    >>> print(apply_script(rules.edit(), json.dumps(script)).rule_list)
    red ← stripes > 2   (TP 0, FP 0, locked)
    """
    try:
        script = json.loads(text)
    except ValueError as error:
        raise ModelError(f"{source}: is no JSON ({error}); save the edits in a report again") from None
    edits = script.get("edits") if isinstance(script, dict) else None
    if not isinstance(edits, list):
        raise ModelError(f"{source}: expected an object with a list of edits; save the edits in a report again")
    if script.get("rules") != rules_digest(edit.original):
        raise ModelError(f"{source}: was made for other rules than those of this model; make a new report of the model")
    for number, step in enumerate(edits, start=1):
        place = f"{source}, edit {number}"
        arguments = _arguments(step, place)
        numbers = arguments.pop("numbers", [])
        try:
            edit = getattr(edit, step["do"])(*numbers, **arguments)
        except RuleTextError as error:
            raise error.within(place) from None
        except ModelError as error:
            raise ModelError(f"{place}: {error}") from None
    return edit


def _arguments(step: Any, place: str) -> dict[str, Any]:
    """Return the members of an edit, each of the right type."""
    kind = step.get("do") if isinstance(step, dict) else None
    if not isinstance(kind, str) or kind not in MEMBERS:
        raise ModelError(f"{place}: there is no edit {kind!r}{nearest(str(kind), MEMBERS)}")
    arguments = {name: value for name, value in step.items() if name != "do"}
    for name, expected in MEMBERS[kind].items():
        value = arguments.get(name)
        items = value if isinstance(value, list) else []
        if type(value) is not expected or any(type(item) is not int for item in items):
            kinds = {str: "the text of a rule", int: "a number", list: "a list of numbers"}
            raise ModelError(f"{place}: expected {kinds[expected]} as {name!r}, found {value!r}")
    if set(arguments) - set(MEMBERS[kind]):
        raise ModelError(f"{place}: {kind} takes {', '.join(MEMBERS[kind])} only, found {', '.join(arguments)}")
    return arguments
