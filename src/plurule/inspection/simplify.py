"""Making a rule list shorter: without changing its predictions, or at a stated cost.

Rules and conditions are dropped one at a time, and the shorter list predicts again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule._prediction.apply import Labels, predict_labels, recount
from plurule.data.dataset import Table
from plurule.errors import ModelError, amount
from plurule.inspection.data import match
from plurule.inspection.diff import SCORES, ModelDiff, diff
from plurule.metrics import get_metric
from plurule.model import Condition, Rule, RuleList
from plurule.model.condition import join_intervals, split_intervals


@dataclass(frozen=True, slots=True)
class Dropped:
    """A rule, or a condition of a rule, that was left out."""

    what: Literal["rule", "condition"]
    number: int
    """Number of the rule in the original list, counted from 1."""
    text: str
    pairs: int
    """How many predictions (pairs of instance and label) dropping it changed."""

    def __str__(self) -> str:
        what = f"rule {self.number}: {self.text}" if self.what == "rule" else f"rule {self.number} without {self.text}"
        return what + (f" (changes {self.pairs} predictions)" if self.pairs else "")


@dataclass(frozen=True, repr=False)
class Simplified:
    """A shorter rule list, and what was dropped to get it.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> simpler = rules.simplify([[1.0], [3.0]])
    >>> [str(dropped) for dropped in simpler.dropped], len(simpler.rule_list), simpler.diff.same_predictions
    (['rule 2: white ← red'], 1, True)
    """

    rule_list: RuleList
    """The shorter list."""
    dropped: tuple[Dropped, ...]
    """Rules and conditions that are gone, in the order they were dropped."""
    diff: ModelDiff
    """Differences from the longer list."""

    def __str__(self) -> str:
        rules = sum(d.what == "rule" for d in self.dropped)
        conditions = len(self.dropped) - rules
        title = f"dropped {amount(rules, 'rule')} and {amount(conditions, 'condition')}"
        lines = [title, *(f"  {d}" for d in self.dropped)]
        lines += [str(self.diff.predictions)]
        for name, (before, after) in (self.diff.scores or {}).items():
            lines.append(f"{SCORES[name]}: {before:.4f} → {after:.4f}")
        return "\n".join(lines)

    __repr__ = __str__


def simplify(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    tolerance: float = 0.0,
    measure: str | Callable[..., float] = "hamming_accuracy",
    sample_weight: Any = None,
) -> Simplified:
    """Drop the rules and conditions that change no prediction on the data, or cost next to nothing.

    Parameters
    ----------
    rule_list
        The rules; locked ones stay as they are.
    X
        The instances, or a data set.
    Y
        Their true labels; needed to allow a cost, and to count the rules again.
    tolerance
        How much the score may fall in all. With 0 no prediction changes.
    measure
        The score: the name of a measure of `plurule.metrics`, or a function of true and predicted labels (and of
        `sample_weight`, where instances have weights).
    sample_weight
        Weight of each instance in scores and counts; that of the data set, unless given.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- area > 2 and bars > 0\\nred <- area > 4", ["area", "bars"], ["red"])
    >>> print(simplify(rules, [[1.0, 1.0], [3.0, 1.0], [5.0, 1.0]]))
    dropped 1 rule and 1 condition
      rule 2: red ← area > 4
      rule 1 without bars > 0
    the same labels for all 3 instances
    """
    if tolerance < 0:
        raise ModelError(f"tolerance must be at least 0, got {tolerance}")
    table, truth, weights = match(rule_list, X, Y, sample_weight)
    if tolerance > 0 and truth is None:
        raise ModelError("to allow a cost the true labels are needed; give Y, or a data set instead of X")
    score = get_metric(measure) if isinstance(measure, str) else measure
    shorter, dropped = shorten(rule_list, table, truth, score, tolerance, weights)
    return Simplified(shorter, dropped, diff(rule_list, shorter, table, truth, weights))


def shorten(
    rule_list: RuleList,
    table: Table,
    truth: Labels | None,
    score: Callable[..., float],
    tolerance: float,
    weights: NDArray[np.float64] | None = None,
) -> tuple[RuleList, tuple[Dropped, ...]]:
    """Return the shorter list, counted again where the true labels are known, and the rules and conditions dropped.

    With a tolerance of 0 no prediction on the table changes; otherwise the score may fall by it in all.
    """
    search = _Search(rule_list, table)
    search.drop_without_effect()
    if tolerance > 0 and truth is not None:
        weighted = score if weights is None else partial(score, sample_weight=weights)
        search.drop_cheapest(partial(weighted, truth), tolerance)
        search.drop_without_effect()
    shorter = replace(rule_list, rules=search.rules_left(), length_choice=None)
    if truth is not None:
        shorter = recount(shorter, table, truth, weights)
    return shorter, tuple(search.dropped)


class _Trial(NamedTuple):
    """A rule, or a condition of a rule, to drop."""

    position: int
    condition: Condition | None
    rest: Rule | None
    """The rest of the rule; None if the whole rule is dropped."""
    predicted: NDArray[np.int8]
    """The labels that are predicted without it."""


class _Search:
    """The rules that are left (None where dropped, so that positions stay the same) and what they predict."""

    def __init__(self, rule_list: RuleList, table: Table):
        self.rule_list = rule_list
        self.table = table
        self.rules: list[Rule | None] = [replace(rule, body=split_intervals(rule.body)) for rule in rule_list]
        self.predicted = predict_labels(rule_list, table)
        self.dropped: list[Dropped] = []

    def rules_left(self) -> tuple[Rule, ...]:
        """Return the rules that are left; bounds that were an interval are one again, if both are left."""
        rules = []
        for rule, original in zip(self.rules, self.rule_list, strict=True):
            if rule is not None:
                had_interval = split_intervals(original.body) != original.body
                rules.append(replace(rule, body=join_intervals(rule.body)) if had_interval else rule)
        return tuple(rules)

    def candidates(self) -> Iterator[tuple[int, Condition | None]]:
        """Yield what may be dropped: rules, the last first, then conditions, the last of each rule first."""
        free = [position for position, rule in enumerate(self.rules) if rule is not None and not rule.locked]
        for position in reversed(free):
            yield position, None
        for position in free:
            rule = self.rules[position]
            for condition in reversed(rule.body if rule is not None else ()):
                yield position, condition

    def attempt(self, position: int, condition: Condition | None) -> _Trial | None:
        """Predict without a rule or condition; None if it is not there any more."""
        rule = self.rules[position]
        if rule is None or (condition is not None and condition not in rule.body):
            return None
        rest = None
        if condition is not None:
            # No longer the rule that was chosen by its value.
            rest = replace(rule, body=tuple(c for c in rule.body if c != condition), value=0.0, stability=None)
        rules = [rest if i == position else other for i, other in enumerate(self.rules)]
        shorter = replace(self.rule_list, rules=tuple(rule for rule in rules if rule is not None))
        return _Trial(position, condition, rest, predict_labels(shorter, self.table))

    def accept(self, trial: _Trial) -> None:
        """Drop it."""
        rule = self.rules[trial.position]
        assert rule is not None
        what: Literal["rule", "condition"] = "rule" if trial.condition is None else "condition"
        text = rule.to_text() if trial.condition is None else str(trial.condition)
        n_changed = int((trial.predicted != self.predicted).sum())
        self.dropped.append(Dropped(what, trial.position + 1, text, n_changed))
        self.rules[trial.position] = trial.rest
        self.predicted = trial.predicted

    def drop_without_effect(self) -> None:
        """Drop until nothing more can be dropped without changing a prediction."""
        before = -1
        while before < len(self.dropped):
            before = len(self.dropped)
            for candidate in self.candidates():
                trial = self.attempt(*candidate)
                if trial is not None and np.array_equal(trial.predicted, self.predicted):
                    self.accept(trial)

    def drop_cheapest(self, score: Callable[[NDArray[np.int8]], float], tolerance: float) -> None:
        """Drop the cheapest first while the score stays within the tolerance of what it was."""
        least = score(self.predicted) - tolerance
        before = -1
        while before < len(self.dropped):
            before = len(self.dropped)
            scored = []
            for candidate in self.candidates():
                trial = self.attempt(*candidate)
                if trial is not None:
                    scored.append((score(trial.predicted), candidate))
            # Stable, so that equal costs keep the order of the candidates.
            for alone, candidate in sorted(scored, key=lambda pair: -pair[0]):
                if alone < least:
                    break
                again = self.attempt(*candidate)
                if again is not None and score(again.predicted) >= least:
                    self.accept(again)
