"""What every prefix of a rule list scores, in one pass over the rules.

The first n rules of a decision list are a decision list, so one list is as many models as it has rules. A rule changes
few predictions: those of the labels it decides to be present, on the rows it covers first. The counts that the measures
are made of are kept up to date with these changes, so that the scores of 900 prefixes cost little more than one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from plurule.data.table import Table
from plurule.data.targets import TargetForm
from plurule.metrics import Counts
from plurule.model import RuleList
from plurule.prediction.decide import Decisions, nothing_decided, replay
from plurule.prediction.probability import probabilities
from plurule.prediction.scoring import Scoring

Values = NDArray[np.float64]

OF_ROWS = ("subset_accuracy", "example_f1")
"""Measures of the rows one by one; all others are made of sums per label."""


class Tally(Counts):
    """What is right and wrong, while predictions of presence come in."""

    def __init__(self, Y: NDArray[Any], weights: Values | None = None):
        self.truth = np.asarray(Y) == 1
        weights = np.ones(len(self.truth)) if weights is None else np.asarray(weights, dtype=np.float64)
        tp, fp = np.zeros((2, self.truth.shape[1]))
        right, predicted = np.zeros((2, len(self.truth)), dtype=np.int64)
        super().__init__(tp, fp, weights @ self.truth, right, predicted, self.truth.sum(axis=1), weights)

    def predict(self, rows: NDArray[np.intp], label: int, present: bool = True) -> None:
        """A label, absent so far on these rows, is predicted as present there; or the other way round."""
        right, weights, sign = self.truth[rows, label], self.weights[rows], 1 if present else -1
        self.tp[label] += sign * weights[right].sum()
        self.fp[label] += sign * weights[~right].sum()
        self.right[rows] += sign * right
        self.predicted[rows] += sign


class Stage(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """The first rules of a list as a fitted classifier that knows what it predicts for one set of instances.

    Scorers are given this instead of a classifier for every length that would decide everything anew.
    """

    def __init__(self, rule_list: RuleList, form: TargetForm, kept: NDArray[np.intp], decisions: Decisions):
        self.rule_list, self.form, self.kept, self.decisions = rule_list, form, kept, decisions
        self.classes_ = form.class_names(len(kept))
        self.length = 0

    @property
    def rule_list_(self) -> RuleList:
        """The first rules."""
        return self.rule_list[: self.length]

    def predict(self, X: Any) -> Any:
        """The labels of the instances that it knows."""
        return self.form.labels(self.decisions.labels()[:, self.kept])

    def predict_proba(self, X: Any) -> Values:
        """The probabilities of the labels of the instances that it knows."""
        return self.form.probabilities(probabilities(self.rule_list_, self.decisions)[:, self.kept])


def staged_scores(
    rule_list: RuleList,
    table: Table,
    Y: NDArray[Any],
    scoring: Scoring,
    form: TargetForm,
    weights: Values | None = None,
    kept: NDArray[np.intp] | None = None,
) -> Values:
    """The score of no rule, of the first rule, of the first two, and so on, by a measure or any scorer.

    `table` is encoded with the attributes of the rule list, `form` is that of the labels that a scorer expects, and
    `kept` are the labels to look at; all, unless given.
    """
    if scoring.scorer is None:
        return staged_measures(rule_list, table, Y, [scoring.name], weights, kept)[scoring.name]
    kept = np.arange(len(rule_list.labels)) if kept is None else kept
    if len(kept) < len(rule_list.labels):
        # Without some of their labels, classes are none.
        form = TargetForm()
    truth = form.labels(np.asarray(Y)[:, kept])
    weighted = {} if weights is None else {"sample_weight": weights}
    stage = Stage(rule_list, form, kept, nothing_decided(len(table), len(rule_list.labels)))
    scores = [scoring.scorer(stage, table, truth, **weighted)]
    for step in replay(rule_list, table):
        stage.decisions, stage.length = step.decisions, step.rule + 1
        scores.append(scoring.scorer(stage, table, truth, **weighted))
    return np.array(scores, dtype=np.float64)


def staged_measures(
    rule_list: RuleList,
    table: Table,
    Y: NDArray[Any],
    measures: Iterable[str],
    weights: Values | None = None,
    kept: Sequence[int] | NDArray[np.intp] | None = None,
) -> dict[str, Values]:
    """The same for several measures of `plurule.metrics` at once, by name."""
    scores: dict[str, list[float]] = {measure: [] for measure in measures}
    for tally in tallied(rule_list, table, Y, weights, kept):
        for measure, values in scores.items():
            values.append(getattr(tally, measure)())
    return {measure: np.array(values) for measure, values in scores.items()}


def tallied(
    rule_list: RuleList,
    table: Table,
    Y: NDArray[Any],
    weights: Values | None = None,
    kept: Sequence[int] | NDArray[np.intp] | None = None,
) -> Iterator[Tally]:
    """What is right and wrong without rules, after the first rule, after the first two, …; always the same object."""
    kept = np.arange(len(rule_list.labels)) if kept is None else np.asarray(kept, dtype=np.intp)
    place = np.full(len(rule_list.labels), -1)
    place[kept] = np.arange(len(kept))
    tally = Tally(np.asarray(Y)[:, kept], weights)
    yield tally
    for step in replay(rule_list, table):
        for assignment, newly in zip(rule_list[step.rule].head, step.decided, strict=True):
            if assignment.present and place[assignment.index] >= 0:
                tally.predict(np.flatnonzero(newly), int(place[assignment.index]))
        yield tally


@dataclass(frozen=True)
class Summed:
    """Tallies of some rows, stage by stage, in a form that adds up over parts of the rows."""

    tp: Values
    fp: Values
    """Stages × labels."""
    positives: Values
    weight: float
    rows: tuple[Mapping[tuple[int, int, int], float], ...]
    """Per stage, what rows of the same counts (right, predicted, present) weigh; empty for measures of labels."""

    @classmethod
    def of(cls, tallies: Iterable[Tally], measure: str) -> Summed:
        """What a measure needs of tallies."""
        tp, fp, rows = [], [], []
        for tally in tallies:
            tp.append(tally.tp.copy())
            fp.append(tally.fp.copy())
            if measure in OF_ROWS:
                counts, which = np.unique(
                    np.stack([tally.right, tally.predicted, tally.present]), axis=1, return_inverse=True
                )
                weights = np.bincount(which.ravel(), tally.weights, counts.shape[1])
                rows.append(dict(zip(map(tuple, counts.T.tolist()), weights.tolist(), strict=True)))
        return cls(np.array(tp), np.array(fp), tally.positives, float(tally.weights.sum()), tuple(rows))

    def __add__(self, other: Summed) -> Summed:
        rows = tuple(
            {key: one.get(key, 0.0) + another.get(key, 0.0) for key in {**one, **another}}
            for one, another in zip(self.rows, other.rows, strict=True)
        )
        sums = self.tp + other.tp, self.fp + other.fp, self.positives + other.positives, self.weight + other.weight
        return Summed(*sums, rows)

    def scores(self, measure: str) -> Values:
        """The score of each stage."""
        scores = []
        for stage, (tp, fp) in enumerate(zip(self.tp, self.fp, strict=True)):
            rows = dict(sorted(self.rows[stage].items())) if self.rows else {(0, 0, 0): self.weight}
            right, predicted, present = np.array(list(rows)).reshape(-1, 3).T
            counts = Counts(tp, fp, self.positives, right, predicted, present, np.array(list(rows.values())))
            scores.append(getattr(counts, measure)())
        return np.array(scores)
