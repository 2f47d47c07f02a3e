"""The score curve of the report: what lists of each length scored, and where the list was cut."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plurule.classifier import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.model import LengthChoice, RuleList
from plurule.report.charts import draw_length, score_steps

CHOICE = LengthChoice("micro_f1", (0.4, 0.6, 0.7, 0.65), (0.1, 0.05, 0.1, 0.1), chosen=2)


@pytest.fixture(scope="module")
def rule_list() -> RuleList:
    flags = load_world_flags()
    return RuleListClassifier().fit(flags).rule_list_


def test_the_page_says_where_the_list_was_cut_and_why(rule_list: RuleList) -> None:
    page = rule_list.to_html()
    choice = rule_list.length_choice
    assert choice is not None
    assert f"Why {choice.chosen} rules: micro F1 of lists of each length" in page
    assert f"Cut after {choice.chosen} rules" in page
    page = replace(rule_list, length_choice=CHOICE).to_html()
    assert "Why up to 2 rules: " in page
    other = f"this list has {len(rule_list)}."
    assert f"Cut after 2 rules (0.600); the best score, 0.700, has the list of 3; {other}" in page
    page = replace(rule_list, length_choice=replace(CHOICE, chosen=3)).to_html()
    assert f"Cut after 3 rules (0.700), the best length; {other}" in page


def test_a_list_that_was_not_cut_on_validation_data_has_no_such_curve(rule_list: RuleList) -> None:
    assert 'id="length"' not in replace(rule_list, length_choice=None).to_html()
    assert draw_length(None) is None


def test_the_name_of_a_measure_is_escaped(rule_list: RuleList) -> None:
    page = replace(rule_list, length_choice=replace(CHOICE, measure="<script>alert()</script>")).to_html()
    assert "<script>alert" not in page


def test_higher_scores_are_drawn_higher_and_the_cut_lies_on_the_curve() -> None:
    drawing = draw_length(CHOICE)
    assert drawing is not None
    points = [tuple(map(float, point.split(","))) for point in drawing.path[1:].split(" ")]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert sorted(range(4), key=lambda i: -points[i][1]) == sorted(range(4), key=lambda i: CHOICE.mean[i])
    assert drawing.cut == points[1]
    assert all(drawing.frame.top <= y <= drawing.frame.bottom for _, y in points)
    assert (drawing.choice.chosen, drawing.choice.best) == (2, 3)
    assert (2, "0.600", "0.050") in drawing.samples


@pytest.mark.parametrize("mean", [(0.5,), (0.0, 0.0), (-3.0, -2.0, -2.5), (1e-9, 2e-9)])
def test_odd_scores_can_be_drawn(mean: tuple[float, ...]) -> None:
    drawing = draw_length(LengthChoice("neg_log_loss", mean, (0.0,) * len(mean), chosen=1))
    assert drawing is not None
    assert drawing.frame.y_ticks


def test_a_slice_and_an_edited_list_do_not_claim_to_have_been_chosen(rule_list: RuleList) -> None:
    assert rule_list[:].length_choice == rule_list.length_choice
    assert rule_list[:3].length_choice is None
    assert rule_list.edit().remove(1).rule_list.length_choice is None


def test_steps_are_round_and_within() -> None:
    assert score_steps(0.31, 0.78) == [0.4, 0.5, 0.6, 0.7]
    assert score_steps(-3.1, -1.9) == [-3.0, -2.5, -2.0]
