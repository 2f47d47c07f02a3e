"""Values of the heuristics by hand, and the properties they claim."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from plurule.heuristics import (
    BUILT_IN,
    FMeasure,
    HammingAccuracy,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    Recall,
    SubsetAccuracy,
    WeightedRelativeAccuracy,
    ratio,
)


def value(heuristic: Heuristic, tp: float, fp: float, tn: float, fn: float) -> float:
    return float(heuristic.evaluate(*(np.array([float(count)]) for count in (tp, fp, tn, fn)))[0])


@pytest.mark.parametrize(
    ("heuristic", "expected"),
    [
        (HammingAccuracy(), (6 + 8) / 20),
        (Precision(), 6 / 8),
        (Recall(), 6 / 10),
        (FMeasure(beta=1), 12 / (12 + 4 + 2)),
        (FMeasure(beta=0.5), 1.25 * 6 / (1.25 * 6 + 0.25 * 4 + 2)),
        (Laplace(), 7 / 10),
        (MEstimate(m=2), (6 + 2 * 0.5) / (8 + 2)),
        (WeightedRelativeAccuracy(), 8 / 20 * (6 / 8 - 10 / 20)),
        (SubsetAccuracy(), (6 + 8) / 20),
    ],
    ids=repr,
)
def test_the_value_of_a_confusion_matrix_is_the_one_computed_by_hand(heuristic, expected):
    assert value(heuristic, tp=6, fp=2, tn=8, fn=4) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("kind", BUILT_IN)
def test_nothing_counted_is_worth_nothing_and_never_a_nan(kind):
    result = value(kind(), 0, 0, 0, 0)
    assert result == (0.5 if kind is Laplace else 0)


@pytest.mark.parametrize("kind", BUILT_IN)
def test_arrays_of_any_shape_keep_it(kind):
    counts = np.arange(24.0).reshape(4, 2, 3)
    result = kind().evaluate(*counts)
    assert result.shape == (2, 3)
    assert result[1, 2] == value(kind(), *counts[:, 1, 2])


def test_f_with_beta_zero_is_precision_and_with_infinite_beta_recall():
    counts = (6, 2, 8, 4)
    assert value(FMeasure(beta=0), *counts) == value(Precision(), *counts)
    assert value(FMeasure(beta=np.inf), *counts) == value(Recall(), *counts)


def test_f_with_a_beta_whose_square_overflows_is_recall():
    assert value(FMeasure(beta=1e200), 6, 2, 8, 4) == value(Recall(), 6, 2, 8, 4)
    assert value(FMeasure(beta=1e100), 6, 2, 8, 4) == pytest.approx(0.6)


def test_the_m_estimate_without_a_prior_is_precision():
    assert value(MEstimate(m=0), 6, 2, 8, 4) == value(Precision(), 6, 2, 8, 4)


def test_the_ratio_of_nothing_to_nothing_is_zero():
    assert ratio(np.array([3.0, 0.0]), np.array([4.0, 0.0])).tolist() == [0.75, 0.0]


# What they claim -------------------------------------------------------------------------------------------


def test_each_heuristic_states_its_properties_for_each_averaging():
    decomposable = {
        kind.__name__: (kind().is_decomposable("micro"), kind().is_decomposable("macro")) for kind in BUILT_IN
    }
    assert decomposable == {
        "FMeasure": (True, True),
        "HammingAccuracy": (True, True),
        "Precision": (True, True),
        "Recall": (True, True),
        "Laplace": (False, True),
        "MEstimate": (False, True),
        "WeightedRelativeAccuracy": (False, True),
        "Gain": (False, False),
        "SubsetAccuracy": (False, False),
    }
    for kind in BUILT_IN:
        for averaging in ("micro", "macro"):
            claimed = kind().is_decomposable(averaging) or kind is SubsetAccuracy
            assert kind().is_anti_monotone(averaging) == claimed


count = st.integers(0, 30)
matrix = st.tuples(st.integers(1, 30), count, count, count)


@given(matrix, matrix, st.sampled_from((FMeasure(0.5), FMeasure(2), FMeasure(0), Precision(), Recall())))
def test_counts_summed_over_labels_are_best_only_if_each_label_is(first, second, heuristic):
    one, other = value(heuristic, *first), value(heuristic, *second)
    both = value(heuristic, *np.add(first, second))
    assert min(one, other) <= both * (1 + 1e-12)
    assert both <= max(one, other) * (1 + 1e-12)
    if abs(one - other) > 1e-9 and heuristic.is_decomposable("micro"):
        assert both < max(one, other)


@pytest.mark.parametrize(
    ("heuristic", "label", "better"),
    [
        (Laplace(), (1, 0, 12, 5), (13, 5, 0, 0)),
        (MEstimate(m=5), (2, 0, 18, 0), (3, 4, 7, 6)),
    ],
    ids=repr,
)
def test_summed_counts_can_beat_a_better_single_label_where_decomposability_is_denied(heuristic, label, better):
    single = value(heuristic, *label)
    twice = value(heuristic, *np.add(label, label))
    assert single < value(heuristic, *better) < twice
    assert not heuristic.is_anti_monotone("micro")


# As objects ------------------------------------------------------------------------------------------------


def test_heuristics_are_equal_if_their_class_and_parameters_are():
    assert FMeasure(beta=0.5) == FMeasure()
    assert hash(FMeasure(beta=0.5)) == hash(FMeasure())
    assert FMeasure(beta=1) != FMeasure()
    assert Precision() != Recall()
    assert repr(MEstimate(m=2)) == "MEstimate(m=2)"


def test_heuristics_can_be_cloned_and_searched_over():
    heuristic = clone(FMeasure(beta=2)).set_params(beta=3)
    assert heuristic == FMeasure(beta=3)


@pytest.mark.parametrize(
    ("heuristic", "message"),
    [
        (FMeasure(beta=-1), "FMeasure: beta must be a number of at least 0, got -1"),
        (FMeasure(beta=float("nan")), "FMeasure: beta must be a number of at least 0, got nan"),
        (FMeasure(beta="big"), "FMeasure: beta must be a number of at least 0, got 'big'"),
        (MEstimate(m=-0.5), "MEstimate: m must be a finite number of at least 0, got -0.5"),
        (MEstimate(m=float("inf")), "MEstimate: m must be a finite number of at least 0, got inf"),
    ],
)
def test_a_parameter_out_of_range_is_named_with_its_value(heuristic, message):
    with pytest.raises(ValueError, match=message):
        heuristic.check()


def test_a_heuristic_of_ones_own_is_decomposable_when_macro_averaged_and_claims_nothing_else():
    class Odds(Heuristic):
        def evaluate(self, tp, fp, tn, fn):
            return ratio(tp, fp + 1)

    assert value(Odds(), 6, 1, 0, 0) == 3
    assert Odds().is_decomposable("macro")
    assert not Odds().is_decomposable("micro")
    assert not Odds().is_anti_monotone("micro")
