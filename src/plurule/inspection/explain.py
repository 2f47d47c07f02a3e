"""Why an instance gets its labels: the rule that decided each, and the rules that came too late.

Rules are numbered from 1, as everywhere people see them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from plurule._prediction.apply import NO_RULE, ColumnCache, Decisions, decide, is_counted, replay, right_and_wrong
from plurule.data.dataset import Table
from plurule.data.inputs import row_ids
from plurule.errors import amount
from plurule.inspection.data import Records, match
from plurule.model import Condition, MissingCondition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.condition import format_count
from plurule.model.naming import and_more, excerpt, quoted, unit_of, visible

DEFAULT = "no rule: absent by default"


@dataclass(frozen=True, slots=True)
class Reason:
    """A condition of the rule that decided, with the value of the instance.

    Examples
    --------
    >>> from plurule.model import RangeCondition
    >>> print(Reason(RangeCondition("area", 0, above=2.0), 3.5, " km²"))
    area = 3.5 km² > 2
    """

    condition: Condition
    """The condition."""
    value: float | str | int
    """A number or a category; for a label condition, the number of the rule that predicted the label."""
    unit: str = ""
    """Unit of the value, with a space before it."""

    def __str__(self) -> str:
        if self.condition.on_label:
            return f"{self.condition} (by rule {self.value})"
        if self.condition.determines_value:
            return str(self.condition)
        before, after = self.condition.parts()
        name = quoted(self.condition.name)
        if isinstance(self.condition, OneOfCondition):
            return f"{name} = {quoted(str(self.value))} ({' '.join(after)})"
        assert isinstance(self.condition, RangeCondition)
        value = self.condition.format_value(float(self.value))
        return " ".join((*before, name, "=", value + self.unit, *after))


@dataclass(frozen=True, slots=True)
class LabelDecision:
    """Prediction of one label of one instance, and the reason.

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
    """Name of the instance in its data, or its row, from 0."""
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

    def _repr_html_(self) -> str:
        from plurule.report import explanations_in_notebook

        return explanations_in_notebook([self])


def explain(rule_list: RuleList, X: Any, *, ids: Sequence[Any] | None = None) -> Explanations:
    """Explain the predictions of a rule list for some instances.

    Parameters
    ----------
    rule_list
        The rules.
    X
        The instances, or a data set.
    ids
        Names of the instances; unless given, as in the index of a pandas frame, or the row names of a data set.

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


class Explanations(Records, Sequence[Explanation]):
    """The explanations of some instances; each is made when it is asked for.

    Parameters
    ----------
    rule_list
        The rules.
    table
        The instances, with the columns of the rule list.
    decisions
        Decisions of the rule list for them.
    ids
        Names of the instances.

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
        self._columns = ColumnCache(table)

    def __len__(self) -> int:
        return len(self.table)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Explanation, ...]: ...
    def __getitem__(self, index: int | slice) -> Explanation | tuple[Explanation, ...]:
        rows = range(len(self))[index]
        return self._explain(rows) if isinstance(rows, int) else tuple(map(self._explain, rows))

    def __str__(self) -> str:
        return self.to_text(limit=10)

    def __repr__(self) -> str:
        counts = f"{amount(len(self), 'instance')}, {amount(len(self.rule_list), 'rule')}"
        title = f"Explanations: {counts}; print one to see why"
        return excerpt(title, (explanation.title for explanation in self), len(self), "instances")

    def to_text(self, limit: int | None = None) -> str:
        """Return one paragraph per instance, for at most `limit` instances."""
        return "\n".join(and_more([str(explanation) for explanation in self[:limit]], len(self), "instances"))

    def to_records(self) -> list[dict[str, Any]]:
        """Return one row per instance and label, as dictionaries.

        They have: `instance`, `label`, `predicted` (0 or 1), `rule` (number of the rule that decided, 0 if none did),
        `text` of the rule, `because` (its conditions with the instance's values), for how many training instances it
        `decided` the label and was `right`, its `precision` there, and the numbers of the later rules that `agreed` or
        were `preempted`.
        """
        texts = [DEFAULT, *(rule.to_text() for rule in self.rule_list)]
        return [
            {
                "instance": explanation.instance,
                "label": decision.label,
                "predicted": int(decision.present),
                "rule": decision.number or 0,
                "text": texts[decision.number or 0],
                "because": " and ".join(map(str, decision.reasons)),
                "right": math.nan if decision.right is None else float(decision.right),
                "decided": math.nan if decision.decided is None else float(decision.decided),
                "precision": math.nan if decision.precision is None else decision.precision,
                "agreed": ", ".join(map(str, decision.agreed)),
                "preempted": ", ".join(map(str, decision.preempted)),
            }
            for explanation in self
            for decision in explanation.decisions
        ]

    def to_html(self, limit: int | None = None) -> str:
        """Return a piece of HTML with one table per instance; see `plurule.report.explanations_to_html`."""
        from plurule.report import explanations_to_html

        return explanations_to_html(self, limit)

    def _repr_html_(self) -> str:
        from plurule.report import explanations_in_notebook

        return explanations_in_notebook(self)

    def _explain(self, row: int) -> Explanation:
        decided_by = self.decisions.decided_by[row].tolist()
        predicted = np.maximum(self.decisions.predicted[row], 0).tolist()
        agreed: dict[int, list[int]] = defaultdict(list)
        preempted: dict[int, list[int]] = defaultdict(list)
        for position in np.flatnonzero(self._holding[row]).tolist():
            for assignment in self.rule_list.rules[position].head:
                label = assignment.index
                # A rule can hold and yet not decide only if an earlier one did, or if the instance was ended.
                if decided_by[label] != position:
                    numbers = agreed if predicted[label] == assignment.present else preempted
                    numbers[label].append(position + 1)
        fired = sorted({*decided_by} - {NO_RULE})
        reasons = {position: self._reasons(self.rule_list.rules[position], row) for position in fired}
        decisions = []
        for label, position in enumerate(decided_by):
            rule = None if position == NO_RULE else self.rule_list.rules[position]
            right, wrong = self._training_counts[position].get(label, (None, None))
            decision = LabelDecision(
                label=self.rule_list.labels[label],
                present=predicted[label] == 1,
                number=None if rule is None else position + 1,
                rule=rule,
                reasons=reasons.get(position, ()),
                agreed=tuple(agreed[label]),
                preempted=tuple(preempted[label]),
                right=right,
                decided=None if right is None or wrong is None else right + wrong,
            )
            decisions.append(decision)
        is_stopped = bool(fired) and self.rule_list.rules[fired[-1]].stop
        numbers_fired = tuple(position + 1 for position in fired)
        return Explanation(self.ids[row], tuple(decisions), numbers_fired, numbers_fired[-1] if is_stopped else None)

    def _reasons(self, rule: Rule, row: int) -> tuple[Reason, ...]:
        """Return the conditions of a rule with the values of an instance that satisfies them."""
        dictionary = self.rule_list.dictionary
        return tuple(Reason(c, self._value(c, row), unit_of(dictionary, c.name)) for c in rule.body)

    def _value(self, condition: Condition, row: int) -> Any:
        if condition.on_label:
            return int(self.decisions.decided_by[row, condition.index]) + 1
        if isinstance(condition, MissingCondition):
            return "missing" if condition.missing else "known"
        value = self._columns[condition.index][row].item()
        categories = self.table.attributes[condition.index].categories
        return value if categories is None else categories[value]

    @cached_property
    def _holding(self) -> NDArray[np.bool_]:
        """Per instance and rule: whether its body holds, also where a stop rule ended the instance before."""
        holding = np.zeros((len(self), len(self.rule_list)), dtype=bool)
        for step in replay(self.rule_list, self.table):
            holding[:, step.rule] = step.holds
        return holding

    @cached_property
    def _training_counts(self) -> list[dict[int, tuple[float, float]]]:
        """Per rule (and none, the last) and label: right and wrong decisions in training, where they were counted."""
        counts: list[dict[int, tuple[float, float]]] = []
        for rule in self.rule_list:
            pairs = right_and_wrong(rule) if is_counted(rule) else ()
            counts.append({a.index: pair for a, pair in zip(rule.head, pairs, strict=False)})
        return [*counts, {}]


def _numbers(numbers: Iterable[int]) -> str:
    listed = [str(number) for number in numbers]
    return ("rule " if len(listed) == 1 else "rules ") + ", ".join(listed)
