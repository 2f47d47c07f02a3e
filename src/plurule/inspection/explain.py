"""Why an instance gets its labels: the rule that decided each, and the rules that came too late.

Rules are numbered from 1, as everywhere people see them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from plurule._attached import ExplanationsMethods
from plurule.data.inputs import row_ids
from plurule.data.table import Table
from plurule.inspection.data import match
from plurule.model import (
    Condition,
    IntervalCondition,
    LabelCondition,
    MissingCondition,
    NumericCondition,
    Rule,
    RuleList,
    SetCondition,
)
from plurule.model.condition import format_count, format_number
from plurule.model.dictionary import unit_of
from plurule.model.frame import Backend, to_frame, to_records
from plurule.model.naming import and_more, excerpt, quoted, visible
from plurule.prediction.decide import NO_RULE, Columns, Decisions, decide, replay
from plurule.prediction.probability import is_counted, right_and_wrong

DEFAULT = "no rule: absent by default"


@dataclass(frozen=True, slots=True)
class Reason:
    """A condition of the rule that decided, with what the instance has.

    Examples
    --------
    >>> from plurule.model import NumericCondition
    >>> print(Reason(NumericCondition("area", 0, ">", 2.0), 3.5, " km²"))
    area = 3.5 km² > 2
    """

    condition: Condition
    """The condition."""
    value: float | str | int
    """A number or a category; for a label condition, the number of the rule that predicted the label."""
    unit: str = ""
    """Of the value, with a space before it."""

    def __str__(self) -> str:
        if isinstance(self.condition, LabelCondition):
            return f"{self.condition} (by rule {self.value})"
        before, after = self.condition.parts()
        if isinstance(self.condition, SetCondition):
            return f"{quoted(self.condition.name)} = {quoted(str(self.value))} ({' '.join(after)})"
        if not isinstance(self.condition, NumericCondition | IntervalCondition) or not after:
            return str(self.condition)
        return " ".join(
            (*before, quoted(self.condition.name), "=", format_number(float(self.value)) + self.unit, *after)
        )


@dataclass(frozen=True, slots=True)
class LabelDecision:
    """What is predicted for one label of one instance, and why.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> decision = rules.explain([[3.0]])[0]["white"]
    >>> decision.present, decision.number, decision.agreed
    (True, 1, (2,))
    >>> print(decision)
    white: present by rule 1, since stripes = 3 > 2; agreed: rule 2
    """

    label: str
    """Its name."""
    present: bool
    """Whether it is predicted as present."""
    number: int | None
    """Number of the rule that decided; None if none did, and the label is absent by default."""
    rule: Rule | None
    """The rule that decided."""
    reasons: tuple[Reason, ...]
    """Its conditions, with what the instance has."""
    agreed: tuple[int, ...]
    """Numbers of the later rules whose body holds as well and that say the same."""
    preempted: tuple[int, ...]
    """Numbers of the later rules whose body holds as well but that say otherwise."""

    right: float | None
    """Weight of the training instances for which the rule decided this label rightly; None if not counted."""
    decided: float | None
    """Weight of the training instances for which the rule decided this label; None if not counted."""

    @property
    def precision(self) -> float | None:
        """Share of its training decisions on this label that were right; None if there were none."""
        return self.right / self.decided if self.right is not None and self.decided else None

    def __str__(self) -> str:
        text = f"{quoted(self.label)}: "
        if self.rule is None:
            text += DEFAULT
        else:
            because = " and ".join(map(str, self.reasons)) or "its body is empty"
            text += f"{'present' if self.present else 'absent'} by rule {self.number}, since {because}"
            if self.right is not None and self.decided is not None:
                counts = f"right in {format_count(self.right)} of the {format_count(self.decided)} it decided"
                text += f" ({counts if self.decided else 'it decided none in training'})"
        if self.agreed:
            text += f"; agreed: {_numbers(self.agreed)}"
        if self.preempted:
            text += f"; pre-empted: {_numbers(self.preempted)}"
        return text


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Why one instance gets its labels.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> explanation = rules.explain([[3.0]])[0]
    >>> explanation.labels, explanation.fired, explanation["red"].number
    (('red', 'white'), (1,), 1)
    """

    instance: Any
    """What the instance is called: by its data, or by its row, from 0."""
    decisions: tuple[LabelDecision, ...]
    """One for each label, in label order."""
    fired: tuple[int, ...]
    """Numbers of the rules that decided something, in order."""
    stopped_by: int | None
    """Number of the stop rule that ended the instance, if one did."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels that are predicted as present."""
        return tuple(d.label for d in self.decisions if d.present)

    def __getitem__(self, label: str) -> LabelDecision:
        return {decision.label: decision for decision in self.decisions}[label]

    @property
    def title(self) -> str:
        """The labels that are predicted as present, in a line."""
        predicted = ", ".join(quoted(name) for name in self.labels) or "no label"
        ended = f" (ended by rule {self.stopped_by})" if self.stopped_by else ""
        return f"instance {visible(str(self.instance))}: {predicted}{ended}"

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {decision}" for decision in self.decisions)])

    def __repr__(self) -> str:
        return excerpt(self.title, (f"  {decision}" for decision in self.decisions), len(self.decisions), "labels")


def explain(rule_list: RuleList, X: Any, *, ids: Sequence[Any] | None = None) -> Explanations:
    """Explain the predictions of a rule list for some instances.

    Parameters
    ----------
    rule_list
        The rules.
    X
        The instances, or a data set.
    ids
        What the instances are called; unless given, as in the index of a pandas frame, or the row names of a data set.

    Examples
    --------
    >>> from plurule import RuleList
    >>> text = "red <- stripes > 2\\nwhite <- red\\nwhite <-"
    >>> rules = RuleList.from_text(text, ["stripes"], ["red", "white"])
    >>> explanations = explain(rules, np.array([[3.0], [np.nan]]))
    >>> print(explanations)
    instance 0: red, white
      red: present by rule 1, since stripes = 3 > 2
      white: present by rule 2, since red (by rule 1); agreed: rule 3
    instance 1: white
      red: no rule: absent by default
      white: present by rule 3, since its body is empty
    >>> explanations[0]["white"].number
    2

    A rule that was counted on data says how often it was right where it decided the label:

    >>> counted = rules.edit([[3.0], [4.0], [1.0]], [[1, 0], [0, 1], [0, 0]]).rule_list
    >>> print(counted.explain([[5.0]])[0]["red"])
    red: present by rule 1, since stripes = 5 > 2 (right in 1 of the 2 it decided)
    """
    table, _, _ = match(rule_list, X)
    return Explanations(rule_list, table, decide(rule_list, table), row_ids(X, len(table), ids))


class Explanations(ExplanationsMethods, Sequence[Explanation]):
    """The explanations of some instances; each is made when it is asked for.

    Parameters
    ----------
    rule_list
        The rules.
    table
        The instances, with the columns of the rule list.
    decisions
        What the rule list decides for them.
    ids
        What they are called.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> explanations = rules.explain([[3.0], [1.0]])
    >>> [explanation.labels for explanation in explanations]
    [('red', 'white'), ()]
    >>> explanations.to_frame()[["instance", "label", "predicted", "rule"]]
       instance  label  predicted  rule
    0         0    red          1     1
    1         0  white          1     1
    2         1    red          0     0
    3         1  white          0     0
    """

    def __init__(self, rule_list: RuleList, table: Table, decisions: Decisions, ids: Sequence[Any]):
        self.rule_list = rule_list
        self.table = table
        self.decisions = decisions
        self.ids = ids
        self._columns = Columns(table)

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Explanation, ...]: ...
    def __getitem__(self, index: int | slice) -> Explanation | tuple[Explanation, ...]:
        if isinstance(index, slice):
            return tuple(self._explain(i) for i in range(len(self))[index])
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)} instances")
        return self._explain(index % len(self))

    def __iter__(self) -> Iterator[Explanation]:
        return (self._explain(i) for i in range(len(self)))

    def __str__(self) -> str:
        return self.to_text(limit=10)

    def __repr__(self) -> str:
        title = f"Explanations: {len(self)} instances, {len(self.rule_list)} rules; print one to see why"
        return excerpt(title, (explanation.title for explanation in self), len(self), "instances")

    def to_text(self, limit: int | None = None) -> str:
        """One paragraph per instance, for at most `limit` instances."""
        return "\n".join(and_more([str(explanation) for explanation in self[:limit]], len(self), "instances"))

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row per instance and label.

        The columns: `instance`, `label`, `predicted` (0 or 1), `rule` (number of the rule that decided, 0 if none did),
        `text` of the rule, `because` (its conditions with the instance's values), for how many training instances it
        `decided` the label and was `right`, its `precision` there, and the numbers of the later rules that `agreed` or
        were `preempted`.
        """
        return to_frame(self._columns_of_frame(), backend)

    def to_records(self) -> list[dict[str, Any]]:
        """The rows of `to_frame` as dictionaries."""
        return to_records({n: v if isinstance(v, list) else v.tolist() for n, v in self._columns_of_frame().items()})

    def _columns_of_frame(self) -> dict[str, Any]:
        n_labels = len(self.rule_list.labels)
        positions = self.decisions.decided_by.ravel()
        texts = np.array([*(rule.to_text() for rule in self.rule_list), DEFAULT], dtype=object)
        agreed, preempted = self._later_texts()
        right, decided = self._training_counts[:, positions, np.tile(np.arange(n_labels), len(self))]
        return {
            "instance": [name for name in self.ids for _ in range(n_labels)],
            "label": np.tile(np.array(self.rule_list.labels, dtype=object), len(self)).tolist(),
            "predicted": self.decisions.labels().ravel().astype(np.int64),
            "rule": positions.astype(np.int64) + 1,
            "text": texts[positions].tolist(),
            "because": self._because_texts().ravel().tolist(),
            "right": right,
            "decided": decided,
            "precision": np.divide(right, decided, out=np.full(len(right), np.nan), where=decided > 0),
            "agreed": agreed,
            "preempted": preempted,
        }

    # One instance ----------------------------------------------------------------------------------------------------

    def _explain(self, row: int) -> Explanation:
        decided_by = self.decisions.decided_by[row].tolist()
        predicted = np.maximum(self.decisions.predicted[row], 0).tolist()
        holding = np.flatnonzero((self._holding[:, row >> 3] >> (7 - (row & 7))) & 1).tolist()
        later: dict[int, tuple[list[int], list[int]]] = {}
        for position in holding:
            for label, present in self._heads[position]:
                if decided_by[label] != position:
                    # A rule can hold and yet not decide only if an earlier one did, or if the instance was ended.
                    agreed, preempted = later.setdefault(label, ([], []))
                    (agreed if predicted[label] == present else preempted).append(position + 1)
        reasons = {
            position: tuple(
                Reason(c, self._values(c, [row]).item(), self._unit(c)) for c in self.rule_list.rules[position].body
            )
            for position in {*decided_by} - {NO_RULE}
        }
        decisions = []
        for label, (name, position) in enumerate(zip(self.rule_list.labels, decided_by, strict=True)):
            agreed, preempted = later.get(label, ([], []))
            number, rule = (None, None) if position == NO_RULE else (position + 1, self.rule_list.rules[position])
            counts = self._training_counts[:, position, label].tolist()
            right, decided = (None if np.isnan(count) else count for count in counts)
            lists = reasons.get(position, ()), tuple(agreed), tuple(preempted)
            decisions.append(LabelDecision(name, predicted[label] == 1, number, rule, *lists, right, decided))
        last = max(decided_by, default=NO_RULE)
        stopped = last != NO_RULE and self.rule_list[last].stop
        fired = tuple(sorted(position + 1 for position in reasons))
        return Explanation(self.ids[row], tuple(decisions), fired, last + 1 if stopped else None)

    def _values(self, condition: Condition, rows: NDArray[np.intp] | list[int]) -> NDArray[Any]:
        """What instances have that a condition holds for."""
        if isinstance(condition, LabelCondition):
            return self.decisions.decided_by[rows, condition.index] + 1
        categories = self.table.attributes[condition.index].categories
        if isinstance(condition, MissingCondition):
            return np.full(len(rows), condition.parts()[1][1], dtype=object)
        found = self._columns[condition.index][rows]
        return found if categories is None else np.array(categories, dtype=object)[found]

    def _unit(self, condition: Condition) -> str:
        return unit_of(self.rule_list.dictionary, condition.name)

    @cached_property
    def _heads(self) -> list[list[tuple[int, int]]]:
        return [[(a.index, int(a.present)) for a in rule.head] for rule in self.rule_list]

    # All instances at once -------------------------------------------------------------------------------------------

    @cached_property
    def _holding(self) -> NDArray[np.uint8]:
        """Per rule, one bit per instance: whether its body holds, also where a stop rule ended the instance before."""
        packed = [np.packbits(step.holds) for step in replay(self.rule_list, self.table)]
        return np.array(packed, dtype=np.uint8).reshape(len(packed), (len(self) + 7) // 8)

    @cached_property
    def _training_counts(self) -> NDArray[np.float64]:
        """Right and all decisions in training, per rule (and none, the last) and label; NaN where not counted."""
        counts = np.full((2, len(self.rule_list) + 1, len(self.rule_list.labels)), np.nan)
        for position, rule in enumerate(self.rule_list):
            if is_counted(rule):
                for a, (right, wrong) in zip(rule.head, right_and_wrong(rule), strict=True):
                    counts[:, position, a.index] = right, right + wrong
        return counts

    def _later_texts(self) -> tuple[list[str], list[str]]:
        """Per instance and label: numbers of the later rules that agreed, and of those that were pre-empted."""
        texts = tuple(np.full(self.decisions.decided_by.shape, "", dtype=object) for _ in range(2))
        predicted = self.decisions.labels()
        for position, head in enumerate(self._heads):
            holds = np.unpackbits(self._holding[position], count=len(self)).astype(bool)
            for label, present in head:
                later = holds & (self.decisions.decided_by[:, label] != position)
                agrees = predicted[:, label] == present
                for text, rows in zip(texts, (later & agrees, later & ~agrees), strict=True):
                    text[rows, label] += f"{position + 1}, "
        agreed, preempted = ([text[:-2] for text in part.ravel().tolist()] for part in texts)
        return agreed, preempted

    def _because_texts(self) -> NDArray[Any]:
        """Per instance and label: the conditions of the rule that decided, with the instance's values."""
        texts = np.full(self.decisions.decided_by.shape, "", dtype=object)
        for position, rule in enumerate(self.rule_list):
            labels = [a.index for a in rule.head]
            decided = self.decisions.decided_by[:, labels] == position
            rows = np.flatnonzero(decided.any(axis=1))
            if not len(rows) or not rule.body:
                continue
            parts = [self._reason_texts(condition, rows) for condition in rule.body]
            because = parts[0]
            for part in parts[1:]:
                because = because + " and " + part
            for label, its_decided in zip(labels, decided[rows].T, strict=True):
                texts[rows[its_decided], label] = because[its_decided]
        return texts

    def _reason_texts(self, condition: Condition, rows: NDArray[np.intp]) -> NDArray[Any]:
        distinct, inverse = np.unique(self._values(condition, rows), return_inverse=True)
        return np.array(
            [str(Reason(condition, value, self._unit(condition))) for value in distinct.tolist()], dtype=object
        )[inverse]


def _numbers(numbers: Iterable[int]) -> str:
    listed = [str(number) for number in numbers]
    return ("rule " if len(listed) == 1 else "rules ") + ", ".join(listed)
