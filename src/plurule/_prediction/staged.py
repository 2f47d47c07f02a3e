"""Scores of every prefix of a rule list, in one pass over the rules.

The first n rules of a decision list are a decision list, so one list is as many models as it has rules. A rule changes
few predictions: those of the labels it decides to be present, on the rows it covers first. The counts that the measures
are made of are sums of these changes, so that the scores of 900 prefixes cost little more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from plurule._prediction.apply import Decisions, decide, nothing_decided, probabilities, replay
from plurule.data.dataset import Table
from plurule.data.targets import TargetForm
from plurule.metrics import MEASURES, Counts, Measure, Scorer, count
from plurule.model import RuleList

Values = NDArray[np.float64]


# Three rows with labels A and B; rule 1 predicts A for rows 0 and 1, rule 2 predicts B for row 2:
#
#     row  truth    change (stage, row, label)   sign   right        stage     0  1  2
#     0    A        (0, 0, A)                     +1    yes          tp of A   0  1  1
#     1    B        (0, 1, A)                     +1    no           fp of A   0  1  1
#     2    B        (1, 2, B)                     +1    yes          tp of B   0  0  1
#
# Sign +1: the label is predicted as present from that stage on. Sign -1: it was, and no longer is; its weight is taken
# away from tp or fp again. A change of stage s is in the counts from s + 1 on: counts 0 are those without any.
class Stages:
    """Counts while predictions of presence are added: without any, after the first stage, …

    Given are, per change of a prediction, its stage, row and label, and whether the label is predicted as present from
    then on, or was up to then.
    """

    def __init__(
        self,
        truth: NDArray[np.bool_],
        weights: Values | None,
        n_stages: int,
        changes: tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]],
        present: NDArray[np.bool_] | bool = True,
    ):
        # positives: float64[labels]; present: labels per row; stage, row, label, sign, right: one value per change.
        self.weights = np.ones(len(truth)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.positives, self.present = self.weights @ truth, truth.sum(axis=1)
        self.shape = n_stages, truth.shape[1]
        self.stage, self.row, label = changes
        self.sign = np.where(present, 1, -1) * np.ones(len(label), np.int64)
        self.right = truth[self.row, label]
        # `place` is (stage, label) in a flattened array; tp and fp are float64[stages + 1, labels].
        place, weighs = self.stage * self.shape[1] + label, self.sign * self.weights[self.row]
        self.tp, self.fp = (self._summed(place, weighs * right) for right in (self.right, ~self.right))

    def _summed(self, place: NDArray[np.intp], weighs: Values) -> Values:
        """Stages × labels: the weight of what was changed up to then."""
        changed = np.bincount(place, weighs, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)
        return np.concatenate([np.zeros((1, self.shape[1])), changed.cumsum(axis=0)])

    def scores(self, measure: str) -> Values:
        """Return the score of each stage."""
        known = MEASURES[measure]
        if known.is_of_rows:
            return np.array([known.of_counts(counts) for counts in self.by_stage()])
        nothing = np.zeros(0)
        return known.of_counts(Counts(self.tp, self.fp, self.positives, nothing, nothing, nothing, self.weights))

    def by_stage(self) -> Iterator[Counts]:
        """Return the counts of each stage, those of rows updated in place."""
        # Per row, how many labels are predicted rightly as present, and how many are predicted as present.
        right, predicted = np.zeros((2, len(self.weights)), np.int64)
        order = np.argsort(self.stage, kind="stable")
        # Split where each stage begins: an empty list of changes for counts 0, then one for each stage.
        changes = np.split(order, np.searchsorted(self.stage[order], np.arange(self.shape[0])))
        for tp, fp, changed in zip(self.tp, self.fp, changes, strict=True):
            # add.at, since a row may occur several times, once for each of its labels.
            np.add.at(right, self.row[changed], self.sign[changed] * self.right[changed])
            np.add.at(predicted, self.row[changed], self.sign[changed])
            yield Counts(tp, fp, self.positives, right, predicted, self.present, self.weights)


class PrecomputedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A fitted classifier that knows what it predicts for one set of instances.

    Scorers are given this instead of a classifier for every length of a list, which would decide everything again.
    """

    def __init__(
        self,
        form: TargetForm,
        present: NDArray[Any],
        probabilities: Callable[[], Values],
        rules: Callable[[], RuleList] | None = None,
    ):
        self.form, self.present, self.probabilities, self.rules = form, present, probabilities, rules
        self.classes_ = form.class_names(present.shape[1])

    @property
    def rule_list_(self) -> RuleList:
        """The rules that it predicts with."""
        if self.rules is None:
            raise AttributeError("it predicts with several rule lists")
        return self.rules()

    def predict(self, X: Any) -> Any:
        """Return the labels of the instances that it knows."""
        return self.form.labels(self.present)

    def predict_proba(self, X: Any) -> Values:
        """Return the probabilities of the labels of the instances that it knows."""
        return self.form.probabilities(self.probabilities(), self.present)

    def score_by(self, scorer: Scorer, X: Any, Y: NDArray[Any], weights: Values | None) -> float:
        """Return the score of a scorer on the instances that it knows."""
        weighted = {} if weights is None else {"sample_weight": weights}
        return scorer(self, X, self.form.labels(np.asarray(Y)), **weighted)


def staged_scores(
    rule_list: RuleList,
    table: Table,
    Y: NDArray[Any],
    scoring: Measure,
    form: TargetForm,
    weights: Values | None = None,
    kept: NDArray[np.intp] | None = None,
) -> Values:
    """Return the score of no rule, of the first rule, of the first two, and so on, by a measure or any scorer.

    `table` is encoded with the attributes of the rule list, `form` is that of the labels that a scorer expects, and
    `kept` are the labels to look at; all, unless given.
    """
    if scoring.scorer is None:
        return staged_measures(rule_list, table, Y, [scoring.name], weights, kept)[scoring.name]

    def score(decisions: Decisions, length: int) -> float:
        return _scores(rule_list[:length], decisions, table, Y, [scoring], form, weights, kept)[scoring.name]

    scores = [score(nothing_decided(len(table), len(rule_list.labels)), 0)]
    scores += [score(step.decisions, step.rule + 1) for step in replay(rule_list, table)]
    return np.array(scores, dtype=np.float64)


def score_list(
    rule_list: RuleList,
    table: Table,
    Y: NDArray[Any],
    measures: Sequence[Measure],
    form: TargetForm,
    weights: Values | None = None,
    kept: NDArray[np.intp] | None = None,
) -> dict[str, float]:
    """Return the scores of a list, by measure, for some labels or all; NaN where one is not defined."""
    scores = _scores(rule_list, decide(rule_list, table), table, Y, measures, form, weights, kept)
    return {name: score if np.isfinite(score) else np.nan for name, score in scores.items()}


def _scores(
    rule_list: RuleList,
    decisions: Decisions,
    table: Table,
    Y: NDArray[Any],
    measures: Sequence[Measure],
    form: TargetForm,
    weights: Values | None,
    kept: NDArray[np.intp] | None,
) -> dict[str, float]:
    """Return the scores of what a list decides."""
    labels = np.arange(len(rule_list.labels)) if kept is None else kept
    if len(labels) < len(rule_list.labels):
        # Without some of their labels, classes are none.
        form = TargetForm()
    truth = np.asarray(Y)[:, labels]
    predicted = decisions.labels()[:, labels]
    known = PrecomputedClassifier(
        form, predicted, lambda: probabilities(rule_list, decisions)[:, labels], lambda: rule_list
    )
    scores = {}
    for measure in measures:
        if measure.scorer is None:
            scores[measure.name] = float(measure.of_counts(count(truth, predicted, weights)))
        else:
            scores[measure.name] = float(known.score_by(measure.scorer, table, truth, weights))
    return scores


def staged_measures(
    rule_list: RuleList,
    table: Table,
    Y: NDArray[Any],
    measures: Iterable[str],
    weights: Values | None = None,
    kept: Sequence[int] | NDArray[np.intp] | None = None,
) -> dict[str, Values]:
    """Return the same for several measures of `plurule.metrics` at once, by name."""
    stages = stages_of(rule_list, table, Y, weights, kept)
    return {measure: stages.scores(measure) for measure in measures}


def stages_of(
    rule_list: RuleList,
    table: Table,
    Y: NDArray[Any],
    weights: Values | None = None,
    kept: Sequence[int] | NDArray[np.intp] | None = None,
) -> Stages:
    """Return the counts without rules, after the first rule, after the first two, …, for some labels or all."""
    shown = slice(None) if kept is None else np.asarray(kept, dtype=np.intp)
    decisions = decide(rule_list, table)
    # A pair is decided once, so no prediction is taken back: every sign is +1, and its stage is the rule that decides.
    row, label = np.nonzero(decisions.predicted[:, shown] == 1)
    stage = decisions.decided_by[:, shown][row, label].astype(np.intp)
    return Stages(np.asarray(Y)[:, shown] == 1, weights, len(rule_list), (stage, row, label))
