"""What every prefix of a rule list scores, in one pass over the rules.

The first n rules of a decision list are a decision list, so one list is as many models as it has rules. A rule changes
few predictions: those of the labels it decides to be present, on the rows it covers first. The counts that the measures
are made of are kept up to date with these changes, so that the scores of 900 prefixes cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.metrics import METRICS
from plurule.model import RuleList
from plurule.prediction import Decisions, replay
from plurule.table import Table

Values = NDArray[np.float64]


class Tally:
    """Right and wrong predictions per label and per row, while predictions of presence come in."""

    def __init__(self, Y: NDArray[Any], weights: Values | None = None):
        self.truth = np.asarray(Y) == 1
        self.weights = np.ones(len(self.truth)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.total = float(self.weights.sum())
        self.positives: Values = self.weights @ self.truth
        self.tp = np.zeros(self.truth.shape[1])
        self.fp = np.zeros(self.truth.shape[1])
        self.present_of_row = self.truth.sum(axis=1)
        self.right_of_row = np.zeros(len(self.truth), dtype=np.int64)
        self.predicted_of_row = np.zeros(len(self.truth), dtype=np.int64)

    def predict_present(self, rows: NDArray[np.intp], label: int) -> None:
        """A label, absent so far on these rows, is predicted as present there."""
        right = self.truth[rows, label]
        weights = self.weights[rows]
        self.tp[label] += weights[right].sum()
        self.fp[label] += weights[~right].sum()
        self.right_of_row[rows] += right
        self.predicted_of_row[rows] += 1

    def hamming_accuracy(self) -> float:
        wrong = float((self.fp + self.positives - self.tp).sum())
        pairs = self.total * len(self.tp)
        return _ratio(pairs - wrong, pairs)

    def subset_accuracy(self) -> float:
        all_right = (self.right_of_row == self.predicted_of_row) & (self.right_of_row == self.present_of_row)
        return _ratio(float(self.weights @ all_right), self.total)

    def micro_f1(self) -> float:
        return _ratio(2 * float(self.tp.sum()), float((self.tp + self.fp + self.positives).sum()))

    def macro_f1(self) -> float:
        return float(_ratios(2 * self.tp, self.tp + self.fp + self.positives).mean())

    def macro_f1_empty_is_1(self) -> float:
        return float(_ratios(2 * self.tp, self.tp + self.fp + self.positives, empty=1.0).mean())

    def example_f1(self) -> float:
        of_rows = _ratios((2.0 * self.right_of_row).astype(np.float64), self.predicted_of_row + self.present_of_row)
        return _ratio(float(self.weights @ of_rows), self.total)

    def precision(self) -> float:
        return _ratio(float(self.tp.sum()), float((self.tp + self.fp).sum()))

    def recall(self) -> float:
        return _ratio(float(self.tp.sum()), float(self.positives.sum()))


COUNTED: dict[str, Callable[[Tally], float]] = {name: getattr(Tally, name) for name in METRICS if hasattr(Tally, name)}
"""The measures of `plurule.metrics` that are made of counts kept up to date."""


def staged_decisions(rule_list: RuleList, table: Table) -> Iterator[Decisions]:
    """What the first rule decides, the first two, and so on; one object, changed in place."""
    for step in replay(rule_list, table):
        yield step.decisions


def staged_measures(
    rule_list: RuleList,
    table: Table,
    Y: NDArray[Any],
    measures: Iterable[str],
    weights: Values | None = None,
    labels: Sequence[int] | NDArray[np.intp] | None = None,
) -> dict[str, Values]:
    """Per measure of `plurule.metrics`, the score of the first rule, of the first two rules, and so on.

    Parameters
    ----------
    rule_list
        The rules.
    table
        The instances, encoded with the attributes of the rule list.
    Y
        Their true labels, 0/1.
    measures
        Names of measures.
    weights
        Weight of each instance.
    labels
        The labels to look at; all, unless given.
    """
    looked_at = np.arange(len(rule_list.labels)) if labels is None else np.asarray(labels, dtype=np.intp)
    place = np.full(len(rule_list.labels), -1)
    place[looked_at] = np.arange(len(looked_at))
    truth = np.asarray(Y)[:, looked_at]
    tally = Tally(truth, weights)
    scores = {measure: np.zeros(len(rule_list)) for measure in measures}
    for step in replay(rule_list, table):
        decisions = step.decisions
        for assignment in rule_list[step.rule].head:
            if assignment.present and place[assignment.index] >= 0:
                rows = np.flatnonzero(decisions.decided_by[:, assignment.index] == step.rule)
                tally.predict_present(rows, int(place[assignment.index]))
        for measure, values in scores.items():
            if measure in COUNTED:
                values[step.rule] = COUNTED[measure](tally)
            else:
                predicted = decisions.labels()[:, looked_at]
                values[step.rule] = METRICS[measure](truth, predicted, sample_weight=tally.weights)
    return scores


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


def _ratios(numerator: Values, denominator: NDArray[Any], empty: float = 0.0) -> Values:
    return np.divide(numerator, denominator, out=np.full(len(denominator), empty), where=denominator != 0)
