"""Comparing lifts by the scores of whole lists, as the paper does.

The best mean score wins; ties go to the higher Hamming accuracy, then to the higher subset accuracy, then to the higher
lift, then to the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule.data.targets import TargetForm
from plurule.learning.problem import Options
from plurule.lifts import KLN_GIVEN_AT, AnyLift, Lift, Peak, as_table
from plurule.metrics import MEASURES, Measure
from plurule.prediction.staged import score_list
from plurule.selection.training_data import TrainingData

TIE_BREAKERS = ("hamming_accuracy", "subset_accuracy")


def height(lift: AnyLift, n_labels: int) -> float:
    """Return how high a lift is, to break ties: a peak at its top, any other function at three labels."""
    if isinstance(lift, Peak):
        return float(lift.lift)
    if isinstance(lift, Lift):
        return float(lift.at_length(KLN_GIVEN_AT, max(n_labels, KLN_GIVEN_AT)))
    return float(as_table(lift, n_labels)[min(KLN_GIVEN_AT, n_labels) - 1])


class Result(NamedTuple):
    """Scores and size of a list."""

    scores: dict[str, float]
    rules: int
    conditions: int


def learn_and_score(data: TrainingData, part: int, options: Options, scoring: Measure, form: TargetForm) -> Result:
    """Learn a list from one part, and score it on the rows that the part holds out, by all measures."""
    groups = data.held_out(part)
    if len(groups) != 1:
        many = f"whole lists are scored on one group of rows, not on {len(groups)}"
        raise ValueError(f"{many}; give folds or splits")
    rule_list = data.learn(part, options)
    (rows,) = groups
    measures = list(({scoring.name: scoring} | MEASURES).values())
    scores = score_list(rule_list, rows.table, rows.Y, measures, form, rows.sample_weight)
    return Result(scores, len(rule_list), sum(len(rule.body) for rule in rule_list))


@dataclass(frozen=True, eq=False)
class LiftScores:
    """The scores of lists that differ in the lift."""

    lifts: Sequence[AnyLift]
    results: Sequence[Sequence[Result]]
    """Per lift, those of all parts."""
    measure: str
    heights: Sequence[float]
    """How high each lift is."""

    def scores(self, measure: str) -> NDArray[np.float64]:
        """Return the scores by a measure: lifts × parts."""
        return np.array([[result.scores[measure] for result in of_lift] for of_lift in self.results])

    def means(self, measure: str) -> list[float]:
        """Return the mean score of each lift; parts on which it is not defined are left out."""
        defined = [row[np.isfinite(row)] for row in self.scores(measure)]
        return [float(row.mean()) if len(row) else np.nan for row in defined]

    @cached_property
    def order(self) -> list[int]:
        """Positions of the lifts, best first. Means that differ by rounding only, or are not defined, are ties."""
        values = np.array([*map(self.means, (self.measure, *TIE_BREAKERS)), self.heights])
        ranked = np.where(np.isnan(values), np.inf, -values.round(12))
        return np.lexsort(ranked[::-1]).tolist()

    def tabulate(self) -> dict[str, Any]:
        """Return the results in the form of scikit-learn's searches."""
        lifts = np.empty(len(self.lifts), dtype=object)
        lifts[:] = self.lifts
        table: dict[str, Any] = {"params": [{"lift": lift} for lift in lifts], "param_lift": np.ma.MaskedArray(lifts)}
        for measure in self.results[0][0].scores:
            scores = self.scores(measure)
            for part, column in enumerate(scores.T):
                table[f"split{part}_test_{measure}"] = column
            table[f"mean_test_{measure}"] = np.array(self.means(measure))
            defined = [row[np.isfinite(row)] for row in scores]
            table[f"std_test_{measure}"] = np.array([row.std() if len(row) else np.nan for row in defined])
        for size in ("rules", "conditions"):
            table[f"mean_{size}"] = np.array([np.mean([getattr(one, size) for one in row]) for row in self.results])
        table["rank_test_score"] = np.empty(len(self.lifts), dtype=np.int32)
        table["rank_test_score"][self.order] = np.arange(1, len(self.lifts) + 1)
        return table
