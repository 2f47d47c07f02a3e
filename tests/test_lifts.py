"""The lift functions: their tables, their ends, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from plurule.classifier import RuleListClassifier
from plurule.errors import ParameterError
from plurule.lifts import KLN, NoLift, Peak, as_table, find_lift, paper_lifts
from plurule.relaxed_pruning import RelaxedPruningClassifier


def test_the_lift_table_of_each_function_is_the_one_computed_by_hand():
    assert as_table(KLN(k=0.14), 4) == pytest.approx([1, 1.0970406, 1.1538057, 1.1940812])
    assert as_table(Peak(labels=3, lift=1.08, curvature=2), 7) == pytest.approx(
        [1, 1 + 0.08 * math.sqrt(1 / 2), 1.08, 1 + 0.08 * math.sqrt(3 / 4), 1 + 0.08 * math.sqrt(2 / 4), 1.04, 1]
    )
    assert as_table(Peak(labels=2, lift=1.5, curvature=1), 4) == pytest.approx([1, 1.5, 1.25, 1])
    assert as_table(NoLift(), 3).tolist() == [1, 1, 1]
    assert as_table(None, 3).tolist() == [1, 1, 1]


@given(st.integers(2, 20), st.sampled_from((1.02, 1.04, 1.08, 1.12, 1.16, 1.20, 1.24)))
def test_kln_given_at_a_length_has_that_lift_there(labels, lift):
    assert as_table(KLN.at(labels, lift), labels)[-1] == pytest.approx(lift, rel=1e-15)


def test_kln_at_three_labels_has_the_k_of_the_definition():
    assert KLN.at(labels=3, lift=1.08).k == pytest.approx(0.08 / math.log(3))
    assert KLN.at(labels=3, lift=1).k == 0


def test_kln_cannot_be_given_at_a_single_label():
    with pytest.raises(ValueError, match=r"labels must be at least 2 .* got 1"):
        KLN.at(labels=1, lift=1.08)


def test_a_peak_at_one_label_never_lifts_that_label_and_falls_from_the_second_on():
    assert as_table(Peak(labels=1, lift=1.2, curvature=1), 5) == pytest.approx([1, 1.15, 1.10, 1.05, 1])


def test_a_peak_at_all_labels_only_rises():
    assert as_table(Peak(labels=5, lift=1.2, curvature=1), 5) == pytest.approx([1, 1.05, 1.10, 1.15, 1.2])


@pytest.mark.parametrize(("labels", "n_labels"), [(1, 1), (1, 2), (2, 2)])
def test_a_peak_is_defined_where_there_are_hardly_any_labels(labels, n_labels):
    table = as_table(Peak(labels=labels, lift=1.2), n_labels)
    assert table[0] == 1
    assert table[-1] == (1.2 if labels == n_labels == 2 else 1)


@given(st.integers(1, 12), st.integers(0, 8), st.floats(1, 2), st.floats(0.2, 5))
def test_a_peak_is_highest_at_its_label_count_and_never_below_one(labels, further, lift, curvature):
    table = as_table(Peak(labels, lift, curvature), labels + further)
    assert table.min() >= 1
    assert table.max() <= lift * (1 + 1e-12)
    if labels > 1:
        assert table[labels - 1] == pytest.approx(lift)


def test_any_function_of_the_number_of_labels_is_a_lift():
    assert as_table(lambda labels: 1 + (labels - 1) / 10, 3) == pytest.approx([1, 1.1, 1.2])


@pytest.mark.parametrize(
    ("lift", "message"),
    [
        (KLN(k=-0.1), "KLN: k must be a finite number of at least 0, got -0.1"),
        (KLN(k=float("inf")), "KLN: k must be a finite number of at least 0, got inf"),
        (KLN(k="big"), "KLN: k must be a finite number of at least 0, got 'big'"),
        (Peak(labels=5), "Peak: labels must be at most the number of labels in the data, 4, got 5"),
        (Peak(labels=0), "Peak: labels must be a finite number of at least 1, got 0"),
        (Peak(lift=0.9), "Peak: lift must be a finite number of at least 1, got 0.9"),
        (Peak(curvature=0), "Peak: curvature must be a finite number above 0, got 0"),
        ("kln 3", "lift 'kln 3' is unknown: give 'none', 'kln', 'peak'"),
        (lambda labels: labels * 1.1, "must be 1 for a single label, got 1.1"),
        (lambda labels: 2 - labels, "must be a positive number at every length, got 0.0 at 2"),
    ],
)
def test_a_lift_that_makes_no_sense_is_refused_with_the_reason(lift, message):
    with pytest.raises(ValueError, match=message):
        as_table(lift, 4)


def test_lifts_are_equal_by_parameters_and_can_be_cloned():
    assert KLN(k=0.1) == KLN()
    assert KLN(k=0.1) != KLN(k=0.2)
    assert clone(Peak(labels=2)).set_params(lift=1.2) == Peak(labels=2, lift=1.2)
    assert repr(KLN(k=0.2)) == "KLN(k=0.2)"


def test_plot_draws_the_function_and_its_values_at_whole_lengths():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, given_axes = plt.subplots()
    axes = Peak(labels=3, lift=1.08).plot(n_labels=7, ax=given_axes)
    curve, points = axes.lines
    assert axes is given_axes
    assert points.get_xdata().tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert points.get_ydata() == pytest.approx(as_table(Peak(labels=3, lift=1.08), 7))
    assert max(curve.get_ydata()) <= 1.08
    plt.close("all")


# Lifts by name ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "lift"),
    [("none", NoLift()), ("kln", KLN.at(3, 1.08)), ("peak", Peak(3, 1.08))],
)
def test_find_lift_knows_the_functions_by_name(name: str, lift: object):
    assert find_lift(name) == lift


@pytest.mark.parametrize("name", ["", "klm", "peak 3: 1.1"])
def test_find_lift_refuses_other_texts_with_what_to_write(name: str):
    with pytest.raises(ParameterError, match=r"lift .* is unknown.*such as KLN.at\(labels=3, lift=1.08\)"):
        find_lift(name)


def test_the_papers_lifts_are_peaks_at_2_3_and_5_labels_and_kln_given_at_3():
    heights = (1.02, 1.04, 1.08, 1.12, 1.16, 1.20, 1.24)
    expected = [Peak(labels, height, 2.0) for labels in (2, 3, 5) for height in heights]
    assert paper_lifts(n_labels=5) == [*expected, *(KLN.at(3, height) for height in heights)]


def test_a_classifier_takes_a_lift_by_name() -> None:
    X, Y = np.arange(8.0)[:, None], np.repeat([[1, 1], [0, 1]], 4, axis=0)
    by_name = RelaxedPruningClassifier(lift="kln").fit(X, Y).rule_list_
    assert by_name == RelaxedPruningClassifier(lift=KLN.at(3, 1.08)).fit(X, Y).rule_list_
    with pytest.raises(ParameterError, match=r"lift must be 'auto', 'none', 'kln', .* got 'klm'"):
        RuleListClassifier(lift="klm").fit(X, Y)
