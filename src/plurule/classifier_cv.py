"""`RuleListClassifierCV`: chooses the lift by cross-validation, then trains on everything.

The paper's protocol: candidates are 28 lifts, each scored by 5-fold cross-validation on the training data. The best
mean of the target measure wins; ties go to the higher Hamming accuracy, then to the higher subset accuracy, then to the
higher lift, then to the first in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from plurule.classifier import RuleListClassifier
from plurule.constraints import Constraints, as_initial_rules
from plurule.errors import DataError, nearest
from plurule.lifts import KLN, Lift, Peak, as_table
from plurule.metrics import METRICS
from plurule.model import Rule, RuleList
from plurule.table import Table, encode
from plurule.validation import LIFTED_SEARCHES, check_target, check_weights

AnyLift = Lift | Callable[[int], float] | None
Parameters = dict[str, Any]
Scores = dict[str, float]
Scorer = Callable[..., float]
"""As scikit-learn has them: a function of a fitted classifier, X and Y."""

PAPER_LIFTS = (1.02, 1.04, 1.08, 1.12, 1.16, 1.20, 1.24)
PAPER_PEAKS = (2, 3, 5)
KLN_GIVEN_AT = 3
TIE_BREAKERS = ("hamming_accuracy", "subset_accuracy")


def paper_lifts(n_labels: int) -> list[Lift]:
    """The paper's candidates: Peak at 2, 3 and 5 labels and KLN given at 3, each with seven lifts.

    Peaks beyond the number of labels are left out.

    >>> len(paper_lifts(n_labels=7)), len(paper_lifts(n_labels=4))
    (28, 21)
    """
    lifts: list[Lift] = [Peak(labels, lift, curvature=2.0) for labels in PAPER_PEAKS for lift in PAPER_LIFTS]
    lifts += [KLN.at(KLN_GIVEN_AT, lift) for lift in PAPER_LIFTS]
    return [lift for lift in lifts if _peaks_within(lift, n_labels)]


def _peaks_within(lift: AnyLift, n_labels: int) -> bool:
    return not isinstance(lift, Peak) or lift.labels <= n_labels


def height(lift: AnyLift, n_labels: int) -> float:
    """How high a lift is, to break ties: a peak at its top, any other function at three labels.

    >>> height(Peak(5, 1.2), n_labels=7), height(KLN.at(3, 1.08), n_labels=7), height(None, n_labels=7)
    (1.2, 1.08, 1.0)
    """
    if isinstance(lift, Peak):
        return float(lift.lift)
    if isinstance(lift, Lift):
        return float(lift.at_length(KLN_GIVEN_AT, max(n_labels, KLN_GIVEN_AT)))
    return float(as_table(lift, n_labels)[min(KLN_GIVEN_AT, n_labels) - 1])


@dataclass(frozen=True)
class Search:
    """What every candidate is trained and scored on."""

    estimator: RuleListClassifier
    table: Table
    Y: NDArray[np.uint8]
    weights: NDArray[np.float64] | None
    target: str
    """Name of the measure to choose by."""
    scorer: Scorer | None
    """What computes it, unless it is a measure of `plurule.metrics`."""
    known: Parameters = field(default_factory=dict)
    """What `fit` is told beside the data: names of the labels, and what experts know."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of all that is measured: what to choose by, then what breaks ties."""
        return tuple(dict.fromkeys((self.target, *TIE_BREAKERS)))

    def scores(self, parameters: Parameters, train: NDArray[np.intp], test: NDArray[np.intp]) -> Scores:
        """Train one candidate on one fold and score it, beside the size of what it learned."""
        classifier = clone(self.estimator).set_params(**parameters)
        weights = None if self.weights is None else self.weights[train]
        classifier.fit(self.table[train], self.Y[train], weights, **self.known)
        table, truth = self.table[test], self.Y[test]
        weighted = {} if self.weights is None else {"sample_weight": self.weights[test]}
        predicted = classifier.predict(table)
        result = {m: METRICS[m](truth, predicted, **weighted) for m in self.measures if m in METRICS}
        if self.scorer is not None:
            result[self.target] = float(self.scorer(classifier, table, truth, **weighted))
        size = classifier.rule_list_.characteristics()
        return result | {"rules": size["rules"], "conditions": size["conditions"]}


class RuleListClassifierCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A `RuleListClassifier` whose lift is chosen by cross-validation.

    Parameters
    ----------
    estimator
        The classifier whose lift is chosen, with all its other parameters; `None` for `RuleListClassifier()`.
    lifts
        The candidates: lifts, functions of the number of labels, or `None`; `"paper"` for the 28 of the paper. A
        `Peak` beyond the number of labels is left out.
    scoring
        The measure to choose by: a name in `plurule.metrics` such as `"hamming_accuracy"`, `"micro_f1"` or
        `"macro_f1"`, or what scikit-learn knows as a scorer, by name or as a function of classifier, X and Y.
    cv
        Number of folds, or a scikit-learn splitter, or the splits themselves.
    random_state
        Decides which rows make up which fold if `cv` is a number.
    n_jobs
        Processes to train in; -1 for all cores. The choice does not depend on it.

    Attributes
    ----------
    best_lift_ : Lift
        The lift that was chosen.
    best_score_ : float
        Its mean score over the folds.
    best_index_ : int
        Its position in `cv_results_`.
    best_estimator_ : RuleListClassifier
        The classifier with that lift, trained on all the data.
    cv_results_ : dict of str to array
        What was tried (`params`, `param_lift`) and, for every measure, the score on each fold
        (`split0_test_hamming_accuracy`, …), `mean_test_…` and `std_test_…`; the mean size of the models (`mean_rules`,
        `mean_conditions`); `rank_test_score` after ties were broken.
    rule_list_, label_names_, classes_, n_features_in_, feature_names_in_
        Those of the best classifier.

    Examples
    --------
    >>> from plurule.lifts import KLN, NoLift
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> Y = [[1, 1], [1, 1], [1, 1], [0, 1], [0, 1], [0, 0]]
    >>> search = RuleListClassifierCV(lifts=[NoLift(), KLN(k=0.1), KLN(k=1.0)], scoring="micro_f1", cv=3).fit(X, Y)
    >>> search.best_lift_
    KLN(k=1.0)
    """

    best_lift_: Any
    best_score_: float
    best_index_: int
    best_estimator_: RuleListClassifier
    cv_results_: dict[str, Any]

    def __init__(
        self,
        estimator: RuleListClassifier | None = None,
        *,
        lifts: Sequence[AnyLift] | str = "paper",
        scoring: str | Scorer = "hamming_accuracy",
        cv: Any = 5,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.lifts = lifts
        self.scoring = scoring
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        initial_rules: RuleList | str | Iterable[Rule | str] = (),
        constraints: Constraints | None = None,
    ) -> Self:
        """Choose the lift, then train on everything; the arguments are those of `RuleListClassifier.fit`."""
        estimator = RuleListClassifier() if self.estimator is None else self.estimator
        if not isinstance(estimator, RuleListClassifier):
            raise ValueError(f"estimator must be a RuleListClassifier or None, got {estimator!r}")
        table = encode(X)
        target = check_target(y, label_names).beside(table.names)
        if len(table) != len(target.Y):
            raise DataError(f"X has {len(table)} rows, Y has {len(target.Y)}; give the labels of every row")
        n_labels = target.Y.shape[1]
        weights = None if sample_weight is None else check_weights(sample_weight, len(table), n_labels)
        given = as_initial_rules(initial_rules, table.attributes, target.labels) if initial_rules else ()
        experts: Parameters = {"initial_rules": given, "constraints": constraints}
        search = Search(
            estimator, table, target.Y, weights, *self._measure(), known={"label_names": target.labels} | experts
        )
        candidates = self._candidates(estimator, n_labels)
        results = self._run(search, candidates, self._splits(search, stratify=target.classes is not None))
        self.cv_results_ = _tabulate(candidates, results, search, n_labels)
        self.best_index_ = int(np.argmin(self.cv_results_["rank_test_score"]))
        self.best_lift_ = candidates[self.best_index_]["lift"]
        self.best_score_ = float(self.cv_results_[f"mean_test_{search.target}"][self.best_index_])
        self.best_estimator_ = clone(estimator).set_params(**candidates[self.best_index_])
        self.best_estimator_.fit(X, y, sample_weight, label_names=label_names, **experts)
        for name in ("rule_list_", "label_names_", "classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def predict(self, X: Any) -> Any:
        """The labels of each row, by the best classifier."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each label of each row, by the best classifier."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(RuleListClassifier() if self.estimator is None else self.estimator)
        tags.input_tags, tags.target_tags, tags.classifier_tags = (
            inner.input_tags,
            inner.target_tags,
            inner.classifier_tags,
        )
        return tags

    def _measure(self) -> tuple[str, Scorer | None]:
        """Name of the measure to choose by, and the scorer that computes it if it is not one of ours."""
        if not isinstance(self.scoring, str):
            if not callable(self.scoring):
                raise ValueError(f"scoring must be the name of a measure or a scorer, got {self.scoring!r}")
            return "score", self.scoring
        if self.scoring in METRICS:
            return self.scoring, None
        from sklearn.metrics import get_scorer, get_scorer_names

        if self.scoring not in get_scorer_names():
            names = ", ".join(repr(name) for name in METRICS)
            raise ValueError(
                f"unknown scoring {self.scoring!r}{nearest(self.scoring, [*METRICS, *get_scorer_names()])} "
                f"(our own: {names}; all that scikit-learn knows work too)"
            )
        return self.scoring, get_scorer(self.scoring)

    def _candidates(self, estimator: RuleListClassifier, n_labels: int) -> list[Parameters]:
        if estimator.head_search not in LIFTED_SEARCHES:
            raise ValueError(
                f"head_search={estimator.head_search!r} has no lift to choose; use head_search='relaxed', "
                "or RuleListClassifier without cross-validation"
            )
        if isinstance(self.lifts, str):
            if self.lifts != "paper":
                raise ValueError(f"lifts must be 'paper' or a list of lifts, got {self.lifts!r}")
            lifts: Sequence[AnyLift] = paper_lifts(n_labels)
        else:
            lifts = [lift for lift in self.lifts if _peaks_within(lift, n_labels)]
        for lift in lifts:
            as_table(lift, n_labels)
        if not lifts:
            raise ValueError(f"lifts holds no lift that fits {n_labels} labels, got {self.lifts!r}")
        return [{"lift": lift} for lift in lifts]

    def _splits(self, search: Search, stratify: bool) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        from sklearn.model_selection import KFold, StratifiedKFold, check_cv

        truth = search.Y[:, 0] if stratify else search.Y
        if not isinstance(self.cv, Integral):
            return list(check_cv(self.cv, truth, classifier=True).split(search.table, truth))
        # A row of weight 0 must not decide where the others go.
        rows = np.arange(len(search.Y)) if search.weights is None else np.flatnonzero(search.weights)
        kind = StratifiedKFold if stratify else KFold
        splitter = kind(int(self.cv), shuffle=True, random_state=self.random_state)
        return [(rows[train], rows[test]) for train, test in splitter.split(rows, truth[rows])]

    def _run(
        self, search: Search, candidates: list[Parameters], splits: list[tuple[NDArray[np.intp], NDArray[np.intp]]]
    ) -> list[list[Scores]]:
        """Scores per candidate and fold."""
        from joblib import Parallel, delayed

        jobs = [(parameters, *split) for parameters in candidates for split in splits]
        flat = Parallel(n_jobs=self.n_jobs)(delayed(search.scores)(*job) for job in jobs)
        return [flat[i : i + len(splits)] for i in range(0, len(flat), len(splits))]


def _tabulate(
    candidates: list[Parameters], results: list[list[Scores]], search: Search, n_labels: int
) -> dict[str, Any]:
    """The results in the form that scikit-learn's searches give them."""
    table: dict[str, Any] = {"params": candidates, "param_lift": np.empty(len(candidates), dtype=object)}
    table["param_lift"][:] = [c["lift"] for c in candidates]
    for measure in search.measures:
        values = np.array([[fold[measure] for fold in folds] for folds in results])
        for i, column in enumerate(values.T):
            table[f"split{i}_test_{measure}"] = column
        table[f"mean_test_{measure}"] = values.mean(axis=1)
        table[f"std_test_{measure}"] = values.std(axis=1)
    for size in ("rules", "conditions"):
        table[f"mean_{size}"] = np.array([np.mean([fold[size] for fold in folds]) for folds in results])
    # Means that differ by rounding only are ties.
    best_first = [-table[f"mean_test_{measure}"].round(12) for measure in (search.target, *TIE_BREAKERS)]
    best_first.append(-np.array([height(c["lift"], n_labels) for c in candidates]).round(12))
    order = np.lexsort(best_first[::-1])
    table["rank_test_score"] = np.empty(len(candidates), dtype=np.int32)
    table["rank_test_score"][order] = np.arange(1, len(candidates) + 1)
    return table
