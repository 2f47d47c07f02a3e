"""Making a rule list shorter without changing what it predicts, or at a stated cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plurule.errors import ModelError
from plurule.inspection.data import match, match_weights
from plurule.inspection.diff import SCORES, ModelDiff, diff
from plurule.learning.shortening import Dropped, shorten
from plurule.metrics import get_metric
from plurule.model import RuleList


@dataclass(frozen=True, repr=False)
class Simplified:
    """A shorter rule list, and what was dropped to get it.

    Examples
    --------
    >>> from plurule.model import Attribute, RuleList
    >>> from plurule.inspection import parse_rules
    >>> names = (Attribute("stripes"),), ("red", "white")
    >>> rules = RuleList(parse_rules("red, white <- stripes > 2\\nwhite <- red", *names), *names)
    >>> simpler = rules.simplify([[1.0], [3.0]])
    >>> [str(dropped) for dropped in simpler.dropped], len(simpler.rule_list), simpler.diff.same_predictions
    (['rule 2: white ← red'], 1, True)
    """

    rule_list: RuleList
    """What is left."""
    dropped: tuple[Dropped, ...]
    """Rules and conditions that are gone, in the order they were dropped."""
    diff: ModelDiff
    """What differs from the longer list."""

    def __str__(self) -> str:
        rules = sum(d.what == "rule" for d in self.dropped)
        conditions = len(self.dropped) - rules
        lines = [f"dropped {rules} rules and {conditions} conditions", *(f"  {d}" for d in self.dropped)]
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
        Their true labels; needed to allow a cost, and to count the rules anew.
    tolerance
        How much the score may fall in all. With 0 no prediction changes.
    measure
        The score: the name of a measure of `plurule.metrics`, or a function of true and predicted labels (and of
        `sample_weight`, where instances have weights).
    sample_weight
        Weight of each instance in scores and counts; that of the data set, unless given.

    Examples
    --------
    >>> from plurule.model import Attribute, RuleList
    >>> from plurule.inspection import parse_rules
    >>> names = (Attribute("area"), Attribute("bars")), ("red",)
    >>> rules = RuleList(parse_rules("red <- area > 2 and bars > 0\\nred <- area > 4", *names), *names)
    >>> print(simplify(rules, [[1.0, 1.0], [3.0, 1.0], [5.0, 1.0]]))
    dropped 1 rules and 1 conditions
      rule 2: red ← area > 4
      rule 1 without bars > 0
    the same labels for all 3 instances
    """
    if tolerance < 0:
        raise ModelError(f"tolerance must be at least 0, got {tolerance}")
    table, truth = match(rule_list, X, Y)
    if tolerance > 0 and truth is None:
        raise ModelError("to allow a cost the true labels are needed; give Y, or a data set instead of X")
    weights = match_weights(X, sample_weight, len(table), len(rule_list.labels))
    score = get_metric(measure) if isinstance(measure, str) else measure
    shorter, dropped = shorten(rule_list, table, truth, score, tolerance, weights)
    return Simplified(shorter, dropped, diff(rule_list, shorter, table, truth, weights))
