"""What a report shows: counts on data, and those of training."""

from __future__ import annotations

import pytest

from helpers.rule_lists import labels_for, make_rules, random_rule_list
from plurule.inspection.explain import explain
from plurule.report.charts import draw_curves
from plurule.report.summary import summarise


def test_what_is_counted_on_data_adds_up() -> None:
    rule_list, table = random_rule_list(3, n_rules=20)
    truth = labels_for(table, rule_list)
    summary = summarise(rule_list, table, truth)
    explanations = list(explain(rule_list, table))
    for number, (rule, counted) in enumerate(zip(rule_list, summary.on_data, strict=True), start=1):
        ended = sum(e.stopped_by is not None and e.stopped_by < number for e in explanations)
        assert counted.reached == len(table) - ended
        for assignment, (decided, right) in zip(rule.head, counted.decided, strict=True):
            mine = [e.instance for e in explanations if e[assignment.name].number == number]
            assert decided == len(mine)
            assert right == sum(truth[i, assignment.index] == assignment.present for i in mine)
    assert summary.curves["pairs of instance and label decided"][-1] == pytest.approx(
        sum(d.number is not None for e in explanations for d in e.decisions) / truth.size
    )
    f1 = summary.curves["micro F1 of the rules so far"]
    assert f1[-1] == pytest.approx(summary.scores["micro F1"].score)


def test_passing_counts_shrink_from_condition_to_condition() -> None:
    rule_list = make_rules("a <- x > 1 and x <= 3\nb <- a and x > 2", {"x": None}, ("a", "b"))
    summary = summarise(rule_list, [[0.0], [2.0], [3.0], [4.0]])
    assert [(c.reached, c.passing) for c in summary.on_data] == [(4, (3, 2)), (4, (2, 1))]


def test_curves_without_data_are_those_of_training() -> None:
    rule_list = make_rules("a <- x > 1\nb <-", {"x": None}, ("a", "b")).edit([[0.0], [2.0]], [[0, 1], [1, 1]]).rule_list
    assert list(summarise(rule_list).curves.values()) == [[0.0, 0.25, 0.75]]
    assert draw_curves({}) is None
