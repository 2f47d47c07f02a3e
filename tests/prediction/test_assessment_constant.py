"""The best constant prediction, beside all label sets there are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score, make_scorer

from plurule._prediction.assessment import best_constant
from plurule.data.targets import TargetForm
from plurule.metrics import METRICS, SCORERS

EXACT = [name for name in METRICS if name != "example_f1"]


@pytest.mark.parametrize("measure", EXACT)
@settings(max_examples=25)
@given(Y=arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 3)), elements=st.integers(0, 1)), data=st.data())
def test_no_label_set_is_better_than_the_best_constant(measure: str, Y: np.ndarray, data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(Y), max_size=len(Y)))
    best = best_constant(Y, measure, weights)

    def score(labels: Iterable[int]) -> float:
        return METRICS[measure](Y, np.tile(np.array(labels, dtype=np.int8), (len(Y), 1)), sample_weight=weights)

    assert best.score == pytest.approx(score(best.labels))
    assert best.score == pytest.approx(max(map(score, product([0, 1], repeat=Y.shape[1]))))


@pytest.mark.parametrize("measure", METRICS)
def test_a_measure_and_its_scorer_have_the_same_best_constant(measure: str) -> None:
    Y = (np.random.default_rng(3).random((40, 6)) < np.linspace(0.1, 0.8, 6)).astype(int)
    by_name, by_scorer = best_constant(Y, measure), best_constant(Y, SCORERS[measure])
    assert by_name.labels.tolist() == by_scorer.labels.tolist()
    assert by_name.score == pytest.approx(by_scorer.score)


def test_a_scorer_is_asked_few_times_about_many_labels() -> None:
    Y = (np.random.default_rng(3).random((30, 400)) < 0.5).astype(int)
    asked = []

    def scorer(classifier: object, X: object, truth: np.ndarray) -> float:
        asked.append(truth)
        return float(-len(asked))

    best_constant(Y, scorer)
    assert len(asked) < 100


def test_a_single_label_keeps_the_form_that_scorers_expect() -> None:
    y = np.array([1, 1, 0, 1])
    form = TargetForm(classes=np.array(["no", "yes"]))
    best = best_constant(y, make_scorer(f1_score, pos_label="yes"), form=form)
    assert best.labels.tolist() == [True]
    assert best.score == pytest.approx(6 / 7)


def test_labels_that_never_occur_are_not_predicted() -> None:
    assert best_constant([[1, 0], [1, 0]], "recall").labels.tolist() == [True, False]


def test_the_most_frequent_label_set_may_leave_out_a_label_that_is_more_frequent_than_its_own() -> None:
    Y = [[1, 0, 1]] * 3 + [[0, 1, 0]] * 2 + [[1, 1, 0]] * 2
    best = best_constant(Y, "subset_accuracy")
    assert best.labels.tolist() == [True, False, True]
    assert best.score == pytest.approx(3 / 7)


def test_of_label_sets_that_score_the_same_the_smallest_is_taken() -> None:
    best = best_constant([[1, 0], [0, 1]], "hamming_accuracy")
    assert best.labels.tolist() == [False, False]
    assert best.score == 0.5


def test_of_equally_frequent_labels_the_first_comes_first() -> None:
    def ten_labels_are_best(classifier: Any, X: object, truth: np.ndarray) -> float:
        return -abs(float(classifier.predict(X).sum(axis=1).max()) - 10)

    every_second_twice = np.repeat(np.eye(100, dtype=int), np.tile([1, 2], 50), axis=0)
    best = best_constant(every_second_twice, ten_labels_are_best)
    assert np.flatnonzero(best.labels).tolist() == list(range(1, 20, 2))


def test_a_measure_is_asked_about_every_number_of_labels() -> None:
    Y = np.zeros((10, 40), dtype=int)
    Y[:, :19] = 1
    Y[0] = 1
    best = best_constant(Y, "hamming_accuracy")
    assert best.labels.tolist() == [True] * 19 + [False] * 21


def test_a_scorer_is_told_how_frequent_labels_are() -> None:
    told = []

    def scorer(classifier: Any, X: object, truth: np.ndarray) -> float:
        told.append(classifier.predict_proba(X)[0])
        return 0.0

    best_constant([[1, 0], [1, 1], [0, 0], [1, 0]], scorer)
    nothing, the_first, both, *_ = told
    # One right and one wrong are added to the counts of each label, whatever is predicted.
    assert nothing == pytest.approx([4 / 6, 2 / 6])
    assert the_first == pytest.approx([4 / 6, 2 / 6])
    assert both == pytest.approx([4 / 6, 2 / 6])
