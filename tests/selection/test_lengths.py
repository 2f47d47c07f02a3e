"""The shortest list within one standard error of the best is chosen."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from plurule.selection.lengths import LengthCurve, curve_of


def curve(*scores: list[float]) -> LengthCurve:
    return LengthCurve("micro_f1", np.array(scores), np.arange(1.0, len(scores[0]) + 1))


def test_the_shortest_list_within_one_standard_error_of_the_best_is_chosen() -> None:
    found = curve([0.50, 0.58, 0.60, 0.64, 0.60], [0.50, 0.60, 0.64, 0.64, 0.60], [0.50, 0.62, 0.65, 0.70, 0.60])
    assert found.best == 4
    # Scores 0.64, 0.64, 0.70: standard error 0.02, which reaches down to 0.64.
    assert found.standard_error[3] == pytest.approx(0.02)
    assert found.mean[2] == pytest.approx(0.63)
    assert found.chosen == 4
    assert found.shortest_within(0.031) == 3
    assert found.shortest_within(1.0) == 1


def test_scores_that_all_parts_agree_on_leave_no_room() -> None:
    found = curve([0.5, 0.6, 0.7], [0.5, 0.6, 0.7])
    assert found.best == found.chosen == 3


def test_the_first_of_equally_good_lengths_is_the_best() -> None:
    assert curve([0.5, 0.7, 0.6, 0.7]).best == 2


def test_a_single_part_knows_no_error() -> None:
    found = curve([0.5, 0.7, 0.6])
    assert found.standard_error.tolist() == [0, 0, 0]
    assert found.chosen == 2


def test_lists_that_ended_go_on_as_they_ended() -> None:
    found = curve_of("recall", [np.array([0.1, 0.2]), np.array([0.3])], [np.array([1.0, 2.0]), np.array([4.0])], ["a"])
    assert found.scores.tolist() == [[0.1, 0.2], [0.3, 0.3]]
    assert found.conditions.tolist() == [2.5, 3.0]
    assert found.left_out == ("a",)
    assert found.score(1) == pytest.approx(0.2)
    assert found.score(99) == pytest.approx(0.25)


def test_the_curve_is_drawn_with_its_cut() -> None:
    mpl.use("Agg")
    axes = curve([0.5, 0.6, 0.7], [0.4, 0.7, 0.7]).plot()
    assert axes.get_xlabel() == "rules"
    assert axes.get_ylabel() == "micro f1"
    assert cut_of(axes) == "cut after 3 rules"
    assert cut_of(curve([0.5, 0.6, 0.7], [0.4, 0.7, 0.7]).cut_after(1).plot()) == "cut after 1 rule"


def cut_of(axes: Any) -> str:
    (label,) = [text.get_text() for text in axes.get_legend().get_texts() if "cut" in text.get_text()]
    return str(label)


def test_a_part_on_which_the_score_is_not_defined_is_left_out() -> None:
    nan = float("nan")
    found = curve([0.5, 0.7, 0.6], [nan, nan, nan], [0.7, 0.9, 0.8], [0.1, nan, 0.9])
    assert found.mean.tolist() == pytest.approx([0.6, 0.8, 0.7])
    assert found.standard_error.tolist() == pytest.approx([0.1, 0.1, 0.1])
    assert (found.best, found.chosen) == (2, 2)


def test_a_cut_list_keeps_the_curve_unless_no_score_is_defined() -> None:
    curve = LengthCurve("micro_f1", np.array([[0.4, 0.6], [0.5, 0.8]]), np.array([1.0, 2.0]))
    choice = curve.choice(1)
    assert choice is not None
    assert (choice.mean, choice.chosen, choice.best) == ((0.45, 0.7), 1, 2)
    assert curve.choice(3) is None
    assert LengthCurve("roc_auc", np.array([[np.nan, 0.6]]), np.array([1.0, 2.0])).choice(1) is None
