"""`BaggedRuleLists`: the votes of rule lists that were learned from resampled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from plurule.classifier import RuleListClassifier, problem_for
from plurule.data.table import Table
from plurule.data.targets import TargetForm, settled
from plurule.errors import ParameterError
from plurule.heuristics import FMeasure
from plurule.learning.options import check_engine, check_options
from plurule.learning.problem import Problem
from plurule.model import RuleList
from plurule.model.frame import Backend
from plurule.model.head import Groups
from plurule.parameters import Allowed, check_jobs, check_parameters, whole
from plurule.prediction.decide import decide
from plurule.prediction.predictor import LabelPredictor
from plurule.prediction.probability import MARGIN, precisions, raised
from plurule.prediction.recurrence import Recurrence
from plurule.prediction.scoring import Scorer, Scoring, check_scoring
from plurule.prediction.staged import Known, Stages
from plurule.selection.folds import draw, learn_from_samples

Votes = NDArray[np.float64]

ALLOWED: Allowed = {"n_estimators": [whole(1)], "random_state": [None, int, np.integer, np.random.RandomState]}
BETAS = (0.6, 1.0)
"""Lists of more and of less precise rules take turns, unless told otherwise."""
MOST_RULES = 60
THRESHOLDS = np.linspace(0.98, 0.02, 49)


@dataclass(repr=False, eq=False)
class BaggedRuleLists(LabelPredictor):
    """Votes of rule lists, each learned from rows drawn with replacement: more accurate than one list, harder to read.

    Parameters
    ----------
    estimator
        A `RuleListClassifier` with a fixed number of rules, whose parameters all lists are learned with, or a list of
        some, which take turns. `None` is two with at most 60 rules: by F-measure with β = 0.6, and with β = 1. Nothing
        is chosen for each list: `heuristic="auto"` is the one it starts from.
    n_estimators
        How many lists.
    scoring
        What the share of votes that a label needs is chosen by, on the rows that were not drawn: a measure of
        `plurule.metrics` by name, or a scorer of scikit-learn.
    random_state
        Seed of the drawing. The same model every time, unless it is None.
    n_jobs
        Threads to learn in; -1 for all cores. The model does not depend on it.

    Attributes
    ----------
    rule_lists_ : tuple of RuleList
        What votes.
    threshold_ : float
        The share of votes from which on a label is predicted.
    oob_score_ : float
        The score of that on the rows that were not drawn, each by the lists that have not seen it. The threshold was
        chosen by it, so it is a little too good.
    oob_votes_ : ndarray
        Per training row and label, the votes of the lists that have not seen the row; NaN where all have, or the row
        weighs nothing.
    rules_ : RuleList
        All distinct rules, those that most lists hold first, with that share as `stability`; not to be predicted with.
    label_names_, classes_, n_features_in_, feature_names_in_
        As of `RuleListClassifier`.

    Notes
    -----
    A list votes with a number from 0 to 1 for each label: the smoothed precision that the rule which decides had on the
    training pairs it decided, as `RuleListClassifier.predict_proba`, but on either side of one half. The votes of all
    lists are averaged.

    Examples
    --------
    >>> from plurule.datasets import load_world_flags
    >>> flags = load_world_flags()
    >>> votes = BaggedRuleLists(n_estimators=10).fit(flags)
    >>> votes.predict(flags.X[:2])
    array([[1, 1, 0, 0, 1, 0, 0],
           [1, 1, 1, 1, 1, 0, 0]])
    >>> print(votes.rules_[0], votes.rules_[0].stability)
    red, white ←   (TP 293, FP 93) 0.6
    """

    estimator: RuleListClassifier | Sequence[RuleListClassifier] | None = None
    n_estimators: int = 50
    _: KW_ONLY
    scoring: str | Scorer = "micro_f1"
    random_state: Any = 0
    n_jobs: int | None = None

    rule_lists_: tuple[RuleList, ...] = field(init=False, repr=False, compare=False)
    threshold_: float = field(init=False, repr=False, compare=False)
    oob_score_: float = field(init=False, repr=False, compare=False)
    oob_votes_: Votes = field(init=False, repr=False, compare=False)
    rules_: RuleList = field(init=False, repr=False, compare=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
    ) -> Self:
        """Learn the lists, and choose the share of votes that a label needs.

        Parameters
        ----------
        X, y, sample_weight, label_names
            As for `RuleListClassifier.fit`.
        """
        check_parameters(ALLOWED, self.get_params(deep=False))
        scoring, n_jobs = check_scoring(self.scoring), check_jobs(self.n_jobs)
        learners = self._learners()
        problem, counts = problem_for(self, learners[0].head_search, X, y, sample_weight, label_names)
        options = [check_options(learner.get_params(deep=False), problem.n_labels) for learner in learners]
        samples = draw(problem.n_instances, int(self.n_estimators), self.random_state)
        lists = learn_from_samples(problem, options, samples, check_engine(learners[0].engine), n_jobs)
        self.rule_lists_ = tuple(lists)
        self._count_votes(problem, counts, samples == 0, scoring)
        self._note_rules(problem.table)
        return self

    def _learners(self) -> list[RuleListClassifier]:
        """The learners that take turns."""
        if self.estimator is None:
            return [
                RuleListClassifier(heuristic=FMeasure(beta), min_precision=0.5, n_rules=MOST_RULES) for beta in BETAS
            ]
        given: Any = self.estimator
        learners: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
        if not learners or not all(isinstance(learner, RuleListClassifier) for learner in learners):
            raise ParameterError.expected("estimator", self.estimator, "a RuleListClassifier, a list of some, or None")
        if any(learner.n_rules == "auto" for learner in learners):
            what = "needs n_rules as a number or None: lists that vote are not cut"
            raise ParameterError("estimator", self.estimator, what)
        return learners

    def _count_votes(
        self, problem: Problem, counts: NDArray[np.bool_], unseen: NDArray[np.bool_], scoring: Scoring
    ) -> None:
        """Score the votes on rows that were not drawn, and choose the threshold by it."""
        total, voters = np.zeros(problem.Y.shape), unseen.sum(axis=0)
        for rule_list, is_new in zip(self.rule_lists_, unseen, strict=True):
            total[is_new] += _vote(rule_list, problem.table[np.flatnonzero(is_new)])
        self.oob_votes_ = np.full((len(counts), problem.n_labels), np.nan)
        known = np.flatnonzero(voters)
        votes = total[known] / voters[known, None]
        self.oob_votes_[np.flatnonzero(counts)[known]] = votes
        scores = _scores(votes, problem, known, scoring, self._form)
        defined = np.flatnonzero(~np.isnan(scores))
        # Of equally good ones, that next to one half.
        best = max(defined, key=lambda i: (scores[i], -abs(THRESHOLDS[i] - 0.5)), default=len(THRESHOLDS) // 2)
        self.threshold_, self.oob_score_ = float(THRESHOLDS[best]), float(scores[best])

    def _note_rules(self, table: Table) -> None:
        """All rules once, with how many lists hold them."""
        recurrence = Recurrence(table)
        distinct = recurrence.distinct(rule for rule_list in self.rule_lists_ for rule in rule_list)
        shares = recurrence.shares(distinct, self.rule_lists_)
        found = [replace(rule, stability=share) for rule, share in zip(distinct, shares, strict=True)]
        found.sort(key=lambda rule: -(rule.stability or 0.0))
        self.rules_ = replace(self.rule_lists_[0], rules=tuple(found), undecided=())

    @property
    def _rules(self) -> RuleList:
        return self.rules_

    def votes(self, X: Any) -> Votes:
        """Per row and label, the mean of what the lists vote, from 0 to 1."""
        check_is_fitted(self)
        return self._votes(self._encode(X))

    def _votes(self, table: Table) -> Votes:
        n_jobs = check_jobs(self.n_jobs)
        return np.asarray(sum(_vote(rule_list, table, n_jobs) for rule_list in self.rule_lists_)) / len(
            self.rule_lists_
        )

    def _present(self, table: Table) -> NDArray[Any]:
        return _above(self._votes(table), self.threshold_, self.rules_.groups)

    def _probabilities(self, table: Table) -> Votes:
        # With the threshold moved to one half, so that what is predicted is on the upper side of it.
        return _centred(self._votes(table), self.threshold_)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """All distinct rules, with the share of the lists that hold each (`stability`)."""
        check_is_fitted(self)
        return self.rules_.to_frame(backend)


def _vote(rule_list: RuleList, table: Table, n_threads: int = 1) -> Votes:
    return raised(precisions(rule_list, decide(rule_list, table, n_threads)), rule_list.hierarchy)


def _above(votes: Votes, threshold: float, groups: Groups) -> NDArray[np.int8]:
    """What is predicted: labels with enough votes, of each group the one with most."""
    return settled((votes >= threshold).astype(np.int8), votes, groups)


def _centred(votes: Votes, threshold: float) -> Votes:
    """Votes stretched on both sides of the threshold, so that it comes to be one half."""
    below, above = 0.5 * votes / threshold, 0.5 + 0.5 * (votes - threshold) / (1 - threshold)
    return np.where(votes >= threshold, np.maximum(above, 0.5 + MARGIN), np.minimum(below, 0.5 - MARGIN))


def _scores(
    votes: Votes, problem: Problem, known: NDArray[np.intp], scoring: Scoring, form: TargetForm
) -> NDArray[np.float64]:
    """The score of each threshold, the highest first, on the rows that have votes."""
    if not len(known):
        return np.full(len(THRESHOLDS), np.nan)
    truth, weights = problem.Y[known], problem.weights[known]
    if scoring.scorer is not None:
        score, table, weighted = scoring.scorer, problem.table[known], None if np.all(weights == 1) else weights
        at = (Known(form, _above(votes, t, form.groups), partial(_centred, votes, t)) for t in THRESHOLDS.tolist())
        return np.array([one.score_by(score, table, truth, weighted) for one in at])
    row, label = np.nonzero(votes >= THRESHOLDS[-1])
    stage = np.searchsorted(-THRESHOLDS, -votes[row, label])  # of the highest threshold that is reached
    return Stages(truth == 1, weights, len(THRESHOLDS), (stage, row, label)).scores(scoring.name)[1:]
