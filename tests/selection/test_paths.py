"""Scores by length: means, what is left out, and drawing."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from plurule.selection.paths import LengthCurve, extended


def curve(*scores: list[float]) -> LengthCurve:
    return LengthCurve("micro_f1", np.array(scores), np.arange(1.0, len(scores[0]) + 1))


def test_curve_knows_the_mean_and_its_standard_error() -> None:
    scores = curve([0.50, 0.58, 0.60, 0.64, 0.60], [0.50, 0.60, 0.64, 0.64, 0.60], [0.50, 0.62, 0.65, 0.70, 0.60])
    assert scores.best == 4
    assert scores.standard_error[3] == pytest.approx(0.02)
    assert scores.mean[2] == pytest.approx(0.63)


def test_the_first_of_equally_good_lengths_is_the_best() -> None:
    assert curve([0.5, 0.7, 0.6, 0.7]).best == 2


def test_a_single_part_knows_no_error() -> None:
    found = curve([0.5, 0.7, 0.6])
    assert found.standard_error.tolist() == [0, 0, 0]


def test_extended_keeps_the_last_value_of_a_shorter_curve() -> None:
    assert extended([np.array([0.1, 0.2]), np.array([0.3])]).tolist() == [[0.1, 0.2], [0.3, 0.3]]


def test_score_of_a_longer_list_is_that_of_the_last_length() -> None:
    assert curve([0.1, 0.2], [0.3, 0.4]).score(99) == pytest.approx(0.3)


def test_curve_without_a_choice_shows_the_best_length() -> None:
    assert repr(curve([0.1, 0.2])) == "LengthCurve: micro_f1 of 1 to 2 rules on 1 folds; best 0.200 with 2"
    assert repr(curve([np.nan, 0.2])).endswith("not defined on any")


def test_plot_draws_the_curve_and_the_chosen_length() -> None:
    mpl.use("Agg")
    axes = curve([0.5, 0.6, 0.7], [0.4, 0.7, 0.7]).cut_after(1).plot()
    assert axes.get_xlabel() == "rules"
    assert axes.get_ylabel() == "micro f1"
    assert "chosen: 1 rule" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_part_on_which_the_score_is_not_defined_is_left_out() -> None:
    nan = float("nan")
    found = curve([0.5, 0.7, 0.6], [nan, nan, nan], [0.7, 0.9, 0.8], [0.1, nan, 0.9])
    assert found.mean.tolist() == pytest.approx([0.6, 0.8, 0.7])
    assert found.standard_error.tolist() == pytest.approx([0.1, 0.1, 0.1])
    assert found.best == 2


def test_a_cut_list_keeps_the_curve_unless_no_score_is_defined() -> None:
    curve = LengthCurve("micro_f1", np.array([[0.4, 0.6], [0.5, 0.8]]), np.array([1.0, 2.0]))
    choice = curve.choice(1)
    assert choice is not None
    assert (choice.mean, choice.chosen, choice.best) == ((0.45, 0.7), 1, 2)
    assert curve.choice(3) is None
    assert LengthCurve("roc_auc", np.array([[np.nan, 0.6]]), np.array([1.0, 2.0])).choice(1) is None
