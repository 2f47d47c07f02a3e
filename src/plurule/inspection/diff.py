"""Differences between two rule lists: their rules, their predictions and their scores."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule._prediction.apply import decide
from plurule.inspection.data import Records, match
from plurule.metrics import MEASURE_TITLES, METRICS, SHORT_MEASURES
from plurule.model import Condition, Rule, RuleList
from plurule.model.naming import quoted

Change: TypeAlias = Literal["added", "removed", "replaced", "moved", "marked"]
SCORES = {name: MEASURE_TITLES[name] for name in SHORT_MEASURES}
"""The measures that are compared, and what they are called in text."""


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A rule that is not the same, or not at the same place, in both lists. Numbers count from 1."""

    change: Change
    number_before: int | None
    number_after: int | None
    before: Rule | None
    after: Rule | None

    def __str__(self) -> str:
        before, after = (rule.to_text() if rule else "" for rule in (self.before, self.after))
        return {
            "added": f"+ rule {self.number_after}: {after}",
            "removed": f"- rule {self.number_before}: {before}",
            "replaced": f"~ rule {self.number_before}: {before}\n    now rule {self.number_after}: {after}",
            "moved": f"> rule {self.number_before} is now rule {self.number_after}: {after}",
            "marked": f"~ rule {self.number_after} is now marked {_marks(self.after)}: {after}",
        }[self.change]


@dataclass(frozen=True)
class PredictionDiff:
    """How the predictions for some instances differ."""

    instances: int
    rows: NDArray[np.intp]
    """Rows of the instances that get other labels, from 0."""
    labels: dict[str, tuple[int, int]]
    """The labels that are predicted otherwise somewhere: for how many instances in addition, and no longer."""

    def __str__(self) -> str:
        if not len(self.rows):
            return f"the same labels for all {self.instances} instances"
        lines = [f"other labels for {len(self.rows)} of {self.instances} instances:"]
        lines += [f"  {quoted(label)}: +{gained} −{lost}" for label, (gained, lost) in self.labels.items()]
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class ModelDiff(Records):
    """Differences between two rule lists.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> changed = diff(rules, rules[:1], [[1.0], [3.0]])
    >>> changed.same_rules, changed.same_predictions
    (False, True)
    >>> print(changed)
    - rule 2: white ← red
    the same labels for all 2 instances
    """

    rules: tuple[RuleChange, ...]
    """Rules that were added, removed, replaced, moved or marked."""
    labels_before_only: tuple[str, ...] = ()
    """Labels that the second list does not have."""
    labels_after_only: tuple[str, ...] = ()
    """Labels that the first list does not have."""
    predictions: PredictionDiff | None = None
    """Which instances get other labels; None without data."""
    scores: dict[str, tuple[float, float]] | None = None
    """By name of the measure: before and after; None without the true labels."""

    @property
    def same_rules(self) -> bool:
        """Whether the lists have the same rules in the same order."""
        return not self.rules

    @property
    def same_predictions(self) -> bool | None:
        """Whether the predictions are the same; None without data."""
        return None if self.predictions is None else not len(self.predictions.rows)

    def __str__(self) -> str:
        lines = [str(change) for change in self.rules] or ["the same rules in the same order"]
        for names, which in ((self.labels_before_only, "first"), (self.labels_after_only, "second")):
            if names:
                lines.append(f"labels of the {which} list only: {', '.join(map(quoted, names))}")
        if self.predictions is not None:
            lines.append(str(self.predictions))
        for name, (before, after) in (self.scores or {}).items():
            lines.append(f"{SCORES[name]}: {before:.4f} → {after:.4f} ({after - before:+.4f})")
        return "\n".join(lines)

    __repr__ = __str__

    def to_records(self) -> list[dict[str, Any]]:
        """Return one row per rule that changed, as dictionaries; numbers are 0 where a list does not have the rule."""
        return [
            {
                "change": change.change,
                "number_before": change.number_before or 0,
                "number_after": change.number_after or 0,
                "before": change.before.to_text() if change.before else "",
                "after": change.after.to_text() if change.after else "",
            }
            for change in self.rules
        ]


def diff(before: RuleList, after: RuleList, X: Any = None, Y: Any = None, sample_weight: Any = None) -> ModelDiff:
    """Compare two rule lists.

    Parameters
    ----------
    before, after
        The rule lists. They may be about different attributes and labels; predictions are compared for the labels that
        both have.
    X, Y
        Instances to compare predictions on, and their true labels to compare scores; or a data set as `X`.
    sample_weight
        Weight of each instance in the scores; that of the data set, unless given.

    Examples
    --------
    >>> from plurule import RuleList
    >>> lists = [RuleList.from_text(text, ["area"], ["red"]) for text in ("red <- area > 2", "red <- area > 3")]
    >>> print(diff(*lists, np.array([[1.0], [2.5]]), [[0], [0]]))
    ~ rule 1: red ← area > 2
        now rule 1: red ← area > 3
    other labels for 1 of 2 instances:
      red: +0 −1
    Hamming accuracy: 0.5000 → 1.0000 (+0.5000)
    micro F1: 0.0000 → 0.0000 (+0.0000)
    macro F1: 0.0000 → 0.0000 (+0.0000)
    subset accuracy: 0.5000 → 1.0000 (+0.5000)
    """
    changes = rule_changes(before, after)
    before_only = tuple(label for label in before.labels if label not in after.labels)
    after_only = tuple(label for label in after.labels if label not in before.labels)
    if X is None:
        return ModelDiff(changes, before_only, after_only)
    common = [label for label in before.labels if label in set(after.labels)]
    old, truth, weights = _predictions(before, X, Y, sample_weight, common)
    new, _, _ = _predictions(after, X, Y, sample_weight, common)
    scores = None
    if truth is not None and common:
        measures = {name: partial(METRICS[name], truth, sample_weight=weights) for name in SCORES}
        scores = {name: (measure(old), measure(new)) for name, measure in measures.items()}
    return ModelDiff(changes, before_only, after_only, prediction_diff(old, new, common), scores)


def _predictions(rule_list: RuleList, X: Any, Y: Any, sample_weight: Any, labels: list[str]) -> tuple[Any, Any, Any]:
    """Predicted and true values of some labels, and the weights of the rows."""
    table, truth, weights = match(rule_list, X, Y, sample_weight)
    columns = [rule_list.labels.index(label) for label in labels]
    return decide(rule_list, table).labels()[:, columns], None if truth is None else truth[:, columns], weights


def prediction_diff(before: NDArray[Any], after: NDArray[Any], labels: list[str]) -> PredictionDiff:
    """Compare two matrices of predicted labels."""
    gained, lost = (after > before), (after < before)
    counts = zip(gained.sum(axis=0).tolist(), lost.sum(axis=0).tolist(), strict=True)
    changed = {label: pair for label, pair in zip(labels, counts, strict=True) if any(pair)}
    return PredictionDiff(len(before), np.flatnonzero((gained | lost).any(axis=1)), changed)


def rule_changes(before: RuleList, after: RuleList) -> tuple[RuleChange, ...]:
    """Return the rules that are not the same at the same place in the order; counts do not matter."""
    keys_before, keys_after = [_key(rule) for rule in before], [_key(rule) for rule in after]
    matcher = SequenceMatcher(None, keys_before, keys_after, autojunk=False)
    changes, removed, added = [], [], []
    for tag, i0, i1, j0, j1 in matcher.get_opcodes():
        if tag == "equal":
            for i, j in zip(range(i0, i1), range(j0, j1), strict=True):
                if _marks(before[i]) != _marks(after[j]):
                    changes.append(RuleChange("marked", i + 1, j + 1, before[i], after[j]))
            continue
        removed += list(range(i0, i1))
        added += list(range(j0, j1))
    # What is taken out at one place and put in at another was moved.
    elsewhere = Counter(keys_after[j] for j in added)
    for i in list(removed):
        if elsewhere[keys_before[i]]:
            elsewhere[keys_before[i]] -= 1
            j = next(j for j in added if keys_after[j] == keys_before[i])
            changes.append(RuleChange("moved", i + 1, j + 1, before[i], after[j]))
            removed.remove(i)
            added.remove(j)
    for i in sorted({*removed} & {*added}):
        if _is_similar(before[i], after[i]):
            changes.append(RuleChange("replaced", i + 1, i + 1, before[i], after[i]))
            removed.remove(i)
            added.remove(i)
    changes += [RuleChange("removed", i + 1, None, before[i], None) for i in removed]
    changes += [RuleChange("added", None, j + 1, None, after[j]) for j in added]
    return tuple(sorted(changes, key=lambda c: (c.number_before or c.number_after or 0, c.number_before is None)))


def _key(rule: Rule) -> tuple[frozenset[tuple[str, bool]], frozenset[Condition]]:
    """Return head and body of a rule without positions: two models may have the same columns at different ones."""
    return frozenset((a.name, a.present) for a in rule.head.stated), frozenset(replace(c, index=0) for c in rule.body)


def _is_similar(first: Rule, second: Rule) -> bool:
    heads, bodies = zip(_key(first), _key(second), strict=True)
    return heads[0] == heads[1] or bodies[0] == bodies[1] or bool(heads[0] & heads[1] and bodies[0] & bodies[1])


def _marks(rule: Rule | None) -> str:
    return " and ".join(rule.marks if rule is not None else ()) or "neither stop nor locked"
