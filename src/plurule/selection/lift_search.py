"""Choosing the lift as the paper does: every candidate is trained once per fold and scored, the best mean wins.

Ties go to the higher Hamming accuracy, then to the higher subset accuracy, then to the higher lift, then to the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from plurule.data.table import Table
from plurule.lifts import KLN_GIVEN_AT, Lift, Peak, as_table
from plurule.metrics import METRICS
from plurule.prediction.scoring import Scorer
from plurule.selection.search import Parameters

if TYPE_CHECKING:
    from plurule.classifier import RuleListClassifier

AnyLift = Lift | Callable[[int], float] | None
Scores = dict[str, float]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]

TIE_BREAKERS = ("hamming_accuracy", "subset_accuracy")


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
class LiftSearch:
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

    def run(self, candidates: list[Parameters], splits: list[Split], n_jobs: int | None) -> list[list[Scores]]:
        """Scores per candidate and fold; in processes."""
        from joblib import Parallel, delayed

        jobs = [(parameters, *split) for parameters in candidates for split in splits]
        flat = Parallel(n_jobs=n_jobs)(delayed(self.scores)(*job) for job in jobs)
        return [flat[i : i + len(splits)] for i in range(0, len(flat), len(splits))]


def tabulate(
    candidates: list[Parameters], results: list[list[Scores]], search: LiftSearch, n_labels: int
) -> dict[str, Any]:
    """The results in the form that scikit-learn's searches give them."""
    table: dict[str, Any] = {"params": candidates, "param_lift": np.empty(len(candidates), dtype=object)}
    table["param_lift"][:] = [c["lift"] for c in candidates]
    for measure in search.measures:
        values = np.array([[fold[measure] for fold in folds] for folds in results])
        for i, column in enumerate(values.T):
            table[f"split{i}_test_{measure}"] = column
        defined = values[:, np.isfinite(values).all(axis=0)]
        unknown = np.full(len(candidates), np.nan)
        table[f"mean_test_{measure}"] = defined.mean(axis=1) if defined.size else unknown
        table[f"std_test_{measure}"] = defined.std(axis=1) if defined.size else unknown
        if defined.shape != values.shape:
            _say_undefined(measure, values.shape[1] - defined.shape[1], values.shape[1])
    for size in ("rules", "conditions"):
        table[f"mean_{size}"] = np.array([np.mean([fold[size] for fold in folds]) for folds in results])
    # Means that differ by rounding only are ties.
    best_first = [-table[f"mean_test_{measure}"].round(12) for measure in (search.target, *TIE_BREAKERS)]
    best_first.append(-np.array([height(c["lift"], n_labels) for c in candidates]).round(12))
    order = np.lexsort(best_first[::-1])
    table["rank_test_score"] = np.empty(len(candidates), dtype=np.int32)
    table["rank_test_score"][order] = np.arange(1, len(candidates) + 1)
    return table


def _say_undefined(measure: str, undefined: int, folds: int) -> None:
    outcome = "they are left out of the choice" if undefined < folds else "ties are broken by Hamming accuracy"
    warnings.warn(
        f"RuleListClassifierCV: {measure} is not defined on {undefined} of {folds} folds; {outcome}", stacklevel=2
    )
