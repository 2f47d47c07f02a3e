"""Measures of predictions."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics as sk

from plurule import metrics
from plurule.errors import DataError

TRUTH = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]])
PREDICTED = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]])


def label_matrices(columns: int = 4) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.int8, (9, columns), elements=st.integers(0, 1))


def test_the_measures_of_a_small_example_are_those_computed_by_hand() -> None:
    # Pairs: TP 3, FP 1, FN 1, TN 7. Labels: F1 4/5, 2/3, 0/0.
    assert metrics.hamming_accuracy(TRUTH, PREDICTED) == pytest.approx(10 / 12)
    assert metrics.micro_f1(TRUTH, PREDICTED) == pytest.approx(6 / 8)
    assert metrics.macro_f1(TRUTH, PREDICTED) == pytest.approx((4 / 5 + 2 / 3 + 0) / 3)
    assert metrics.macro_f1(TRUTH, PREDICTED, empty=1) == pytest.approx((4 / 5 + 2 / 3 + 1) / 3)
    assert metrics.subset_accuracy(TRUTH, PREDICTED) == pytest.approx(2 / 4)
    assert metrics.example_f1(TRUTH, PREDICTED) == pytest.approx((1 + 2 / 3 + 2 / 3 + 0) / 4)
    assert metrics.example_f1(TRUTH, PREDICTED, empty=1) == pytest.approx((1 + 2 / 3 + 2 / 3 + 1) / 4)
    assert metrics.precision(TRUTH, PREDICTED) == pytest.approx(3 / 4)
    assert metrics.recall(TRUTH, PREDICTED) == pytest.approx(3 / 4)


@given(label_matrices(), label_matrices(), hnp.arrays(np.float64, 9, elements=st.integers(1, 5)))
def test_the_measures_agree_with_scikit_learn(truth: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> None:
    def f1(average: str, empty: float) -> float:
        return sk.f1_score(truth, predicted, average=average, zero_division=empty, sample_weight=weight)

    ours = metrics.scores(truth, predicted, sample_weight=weight)
    assert ours["hamming_accuracy"] == pytest.approx(1 - sk.hamming_loss(truth, predicted, sample_weight=weight))
    assert ours["subset_accuracy"] == pytest.approx(sk.accuracy_score(truth, predicted, sample_weight=weight))
    assert ours["micro_f1"] == pytest.approx(f1("micro", 0.0))
    assert ours["macro_f1"] == pytest.approx(f1("macro", 0.0))
    assert metrics.macro_f1(truth, predicted, sample_weight=weight, empty=1) == pytest.approx(f1("macro", 1.0))
    assert ours["example_f1"] == pytest.approx(f1("samples", 0.0))
    arguments = {"average": "micro", "zero_division": 0.0, "sample_weight": weight}
    assert ours["precision"] == pytest.approx(sk.precision_score(truth, predicted, **arguments))
    assert ours["recall"] == pytest.approx(sk.recall_score(truth, predicted, **arguments))


@pytest.mark.parametrize("name", metrics.METRICS)
def test_sparse_matrices_and_frames_score_as_arrays_do(name: str) -> None:
    pd = pytest.importorskip("pandas")
    expected = metrics.METRICS[name](TRUTH, PREDICTED)
    assert metrics.METRICS[name](sp.csr_array(TRUTH), sp.csc_matrix(PREDICTED)) == expected
    assert metrics.METRICS[name](pd.DataFrame(TRUTH).astype(bool), PREDICTED.astype(float)) == expected


def test_a_single_label_is_scored_as_a_label_not_as_two_classes() -> None:
    assert metrics.micro_f1([1, 1, 0, 0], [1, 0, 0, 0]) == pytest.approx(2 / 3)
    assert metrics.macro_f1([[1], [1], [0], [0]], [[1], [0], [0], [0]]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", metrics.METRICS)
def test_a_weight_of_two_counts_as_two_rows(name: str) -> None:
    twice = np.array([0, 1, 1, 2])
    weighted = metrics.METRICS[name](TRUTH[:3], PREDICTED[:3], sample_weight=[1, 2, 1])
    assert weighted == pytest.approx(metrics.METRICS[name](TRUTH[twice], PREDICTED[twice]))


def test_every_measure_is_a_scorer_for_scikit_learn() -> None:
    from sklearn.model_selection import cross_validate
    from sklearn.tree import DecisionTreeClassifier

    X = np.arange(12.0).reshape(-1, 1)
    Y = np.tile([[1, 0], [0, 1]], (6, 1))
    result = cross_validate(DecisionTreeClassifier(), X, Y, cv=2, scoring=metrics.SCORERS)
    assert {f"test_{name}" for name in metrics.METRICS} <= set(result)


@pytest.mark.parametrize(
    ("truth", "predicted", "weight", "message"),
    [
        ([[1, 0]], [[1, 0], [0, 0]], None, "1 rows and 2 labels, Y_pred has 2 rows"),
        ([[1, 2]], [[1, 0]], None, "label 'y1', row 0: Y_true contains 2, expected 0 or 1"),
        ([[1, 0]], [[1, np.nan]], None, "label 'y1', row 0: Y_pred contains NaN, expected 0 or 1"),
        ([[1, 0]], [["a", "b"]], None, "label 'y0', row 0: Y_pred contains 'a'"),
        ([[[1]]], [[1]], None, "shape \\(1, 1, 1\\)"),
        ([[1, 0]], [[1, 0]], [1, 2], "sample_weight has shape"),
    ],
)
def test_what_cannot_be_scored_is_said(truth: object, predicted: object, weight: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        metrics.scores(truth, predicted, sample_weight=weight)  # type: ignore[arg-type]


def test_an_unknown_measure_gets_the_nearest_names() -> None:
    with pytest.raises(ValueError, match="did you mean 'micro_f1'"):
        metrics.get_metric("mirco_f1")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_two_frames_are_compared_by_name(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame
    truth = frame({"red": [1, 0, 1], "blue": [0, 0, 1]})
    assert metrics.scores(truth, truth[["blue", "red"]])["subset_accuracy"] == 1
    with pytest.raises(DataError, match="only one of them has 'blue'"):
        metrics.scores(truth, frame({"red": [1, 0, 1], "green": [0, 0, 1]}))


# Counts that add up --------------------------------------------------------------------------------------------------

N_GROUPS = 4


class Rows(NamedTuple):
    """Rows with what they have and are predicted to have, their weights and groups."""

    truth: np.ndarray
    predicted: np.ndarray
    weights: np.ndarray
    groups: np.ndarray

    def some(self, chosen: np.ndarray) -> Rows:
        return Rows(*(array[chosen] for array in self))

    def counts(self, by_row: bool, n_groups: int = N_GROUPS) -> metrics.PredictionCounts:
        marks = self.truth.T == 1, self.predicted.T == 1
        groups = self.groups % n_groups
        return metrics.PredictionCounts.by_group(*marks, self.weights, groups, n_groups, by_row)

    def score(self, name: str) -> float:
        return metrics.METRICS[name](self.truth, self.predicted, sample_weight=self.weights)


@pytest.fixture(scope="module", params=[False, True], ids=["alike", "weighted"])
def rows(request: pytest.FixtureRequest) -> Rows:
    rng = np.random.default_rng(0)
    truth, predicted = (rng.random((2, 60, 3)) < 0.4).astype(int)
    weights = rng.integers(1, 5, 60).astype(float) if request.param else np.ones(60)
    return Rows(truth, predicted, weights, rng.integers(0, N_GROUPS, 60).astype(np.uint8))


@pytest.mark.parametrize("measure", metrics.MEASURES.values(), ids=lambda measure: measure.name)
def test_prediction_counts_of_one_group_score_as_the_metric_does(rows: Rows, measure: metrics.Measure) -> None:
    (score,) = rows.counts(measure.is_of_rows, n_groups=1).scores(measure)
    assert score == pytest.approx(rows.score(measure.name))


@pytest.mark.parametrize("measure", metrics.MEASURES.values(), ids=lambda measure: measure.name)
def test_prediction_counts_by_group_score_the_rows_of_each(rows: Rows, measure: metrics.Measure) -> None:
    expected = [rows.some(rows.groups == group).score(measure.name) for group in range(N_GROUPS)]
    assert rows.counts(measure.is_of_rows).scores(measure) == pytest.approx(expected)


@pytest.mark.parametrize("measure", metrics.MEASURES.values(), ids=lambda measure: measure.name)
def test_prediction_counts_without_each_group_score_the_others(rows: Rows, measure: metrics.Measure) -> None:
    expected = [rows.some(rows.groups != group).score(measure.name) for group in range(-1, N_GROUPS)]
    assert rows.counts(measure.is_of_rows).without_each().scores(measure) == pytest.approx(expected)


@pytest.mark.parametrize("measure", metrics.MEASURES.values(), ids=lambda measure: measure.name)
def test_prediction_counts_of_parts_add_up(rows: Rows, measure: metrics.Measure) -> None:
    first, second, third = (rows.some(np.arange(a, b)).counts(measure.is_of_rows) for a, b in ((0, 7), (7, 7), (7, 60)))
    added, whole = first + second + third, rows.counts(measure.is_of_rows)
    for name in ("tp", "fp", "positives", "total"):
        assert np.array_equal(getattr(added, name), getattr(whole, name))
    assert np.array_equal(added.scores(measure), whole.scores(measure))


def test_prediction_counts_of_rows_are_merged_and_sorted(rows: Rows) -> None:
    for of_group in rows.counts(by_row=True).rows:
        counts = [tuple(line) for line in of_group[:, :3].tolist()]
        assert counts == sorted(set(counts))


def test_prediction_counts_of_a_group_without_rows_are_zero(rows: Rows) -> None:
    counts = rows.some(rows.groups > 0).counts(by_row=True)
    assert counts.total[0] == counts.tp[0].sum() == len(counts.rows[0]) == 0


@pytest.mark.parametrize("name", ["micro_f1", "macro_f1", "hamming_accuracy", "precision", "recall"])
def test_best_label_set_scores_best_of_all_label_sets(rows: Rows, name: str) -> None:
    frequency, total = rows.weights @ rows.truth, float(rows.weights.sum())
    chosen, score = metrics.best_label_set(frequency, total, metrics.MEASURES[name])
    sets = np.array(list(itertools.product([0, 1], repeat=3)))
    scores = [rows._replace(predicted=np.tile(one, (60, 1))).score(name) for one in sets]
    assert score == pytest.approx(max(scores))
    assert rows._replace(predicted=np.tile(chosen.astype(int), (60, 1))).score(name) == pytest.approx(score)
