"""Applying a rule list: order, stop rules, label conditions, missing values and unknown categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.problems import make_table
from helpers.rule_lists import make_rules, random_rule_list
from plurule import _core
from plurule._prediction.apply import NO_RULE, OPEN, decide, nothing_decided, predict_labels, replay
from plurule.data.dataset import SparseColumn, Table
from plurule.data.inputs import encode
from plurule.model import (
    Assignment,
    Attribute,
    Condition,
    Head,
    LabelCondition,
    OneOfCondition,
    RangeCondition,
    Rule,
    RuleList,
)

LABELS = ("A", "B", "C")


def rule(head: str, *body: Condition, stop: bool = False) -> Rule:
    """`"A -C"` predicts A present and C absent."""
    assignments = [Assignment(part[-1], LABELS.index(part[-1]), not part.startswith("-")) for part in head.split()]
    return Rule(Head(tuple(assignments)), body, stop=stop)


def label(text: str) -> LabelCondition:
    return LabelCondition(text[-1], LABELS.index(text[-1]), not text.startswith("-"))


AT_MOST_2 = RangeCondition("a", 0, at_most=2.0)
ABOVE_2 = RangeCondition("a", 0, above=2.0)


def decided(rules: list[Rule], columns: dict[str, list[Any]]) -> Any:
    table = make_table(columns)
    return decide(RuleList(tuple(rules), table.attributes, LABELS), table)


def test_undecided_labels_are_absent():
    decisions = decided([rule("B")], {"a": [1]})
    assert decisions.predicted.tolist() == [[OPEN, 1, OPEN]]
    assert decisions.decided_by.tolist() == [[NO_RULE, 0, NO_RULE]]
    assert decisions.labels().tolist() == [[0, 1, 0]]


def test_the_first_rule_that_covers_an_instance_decides_a_label():
    decisions = decided([rule("-A", AT_MOST_2), rule("A B"), rule("-B C")], {"a": [1, 3]})
    assert decisions.predicted.tolist() == [[0, 1, 1], [1, 1, 1]]
    assert decisions.decided_by.tolist() == [[0, 1, 2], [1, 1, 2]]


def test_every_condition_of_a_body_must_hold():
    both = rule("A", AT_MOST_2, RangeCondition("a", 0, above=0.5))
    assert decided([both], {"a": [0, 1, 3]}).labels()[:, 0].tolist() == [0, 1, 0]


def test_a_threshold_itself_is_at_most_the_threshold():
    assert decided([rule("A", AT_MOST_2), rule("B", ABOVE_2)], {"a": [2]}).labels().tolist() == [[1, 0, 0]]


def test_a_stop_rule_that_set_a_label_ends_the_instance():
    assert decided([rule("A", AT_MOST_2, stop=True), rule("B")], {"a": [1, 3]}).labels().tolist() == [
        [1, 0, 0],
        [0, 1, 0],
    ]


def test_a_stop_rule_that_set_nothing_lets_the_instance_go_on():
    rules = [rule("A"), rule("A", AT_MOST_2, stop=True), rule("B")]
    assert decided(rules, {"a": [1]}).labels().tolist() == [[1, 1, 0]]


def test_a_stop_rule_that_set_only_some_of_its_labels_ends_the_instance():
    rules = [rule("A"), rule("-A B", stop=True), rule("C")]
    assert decided(rules, {"a": [1]}).labels().tolist() == [[1, 1, 0]]


def test_a_rule_without_stop_mark_ends_nothing():
    assert decided([rule("A"), rule("B"), rule("C")], {"a": [1]}).labels().tolist() == [[1, 1, 1]]


def test_label_conditions_test_what_earlier_rules_predicted():
    rules = [rule("A", AT_MOST_2), rule("-A", ABOVE_2), rule("B", label("A")), rule("C", label("-A"))]
    assert decided(rules, {"a": [1, 3]}).labels().tolist() == [[1, 1, 0], [0, 0, 1]]


def test_a_label_not_yet_predicted_satisfies_neither_presence_nor_absence():
    rules = [rule("B", label("A")), rule("C", label("-A")), rule("A")]
    assert decided(rules, {"a": [1]}).labels().tolist() == [[1, 0, 0]]


def test_a_label_condition_sees_the_prediction_and_not_the_default():
    # A is absent by default for both, but only predicted absent for the first.
    rules = [rule("-A", AT_MOST_2), rule("C", label("-A"))]
    assert decided(rules, {"a": [1, 3]}).labels().tolist() == [[0, 0, 1], [0, 0, 0]]


def test_a_missing_number_satisfies_no_condition():
    assert decided([rule("A", AT_MOST_2), rule("B", ABOVE_2), rule("C")], {"a": [None]}).labels().tolist() == [
        [0, 0, 1]
    ]


def test_a_missing_category_satisfies_no_condition():
    is_x = OneOfCondition("a", 0, ("x",))
    assert decided([rule("A", is_x)], {"a": ["x", None, "y"]}).labels()[:, 0].tolist() == [1, 0, 0]


def test_a_category_unseen_in_training_satisfies_no_condition():
    rules = RuleList((rule("A", OneOfCondition("a", 0, ("x",))),), (Attribute("a", ("x", "y")),), LABELS)
    table = encode(make_table({"a": ["z", "x", "w"]}), rules.attributes)
    assert decide(rules, table).labels()[:, 0].tolist() == [0, 1, 0]


def test_a_condition_on_a_category_the_table_does_not_know_is_never_satisfied():
    assert decided([rule("A", OneOfCondition("a", 0, ("q",)))], {"a": ["x", "y"]}).labels()[:, 0].tolist() == [0, 0]


def test_sparse_columns_are_read_with_their_zeros():
    column = SparseColumn(np.array([1], dtype=np.int32), np.array([5.0]), 3)
    rules = RuleList((rule("A", AT_MOST_2),), (Attribute("a"),), LABELS)
    assert decide(rules, Table(rules.attributes, [column])).labels()[:, 0].tolist() == [1, 0, 1]


def test_no_rules_decide_nothing():
    decisions = decided([], {"a": [1, 2]})
    assert decisions.labels().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert decisions.decided_by.tolist() == [[NO_RULE] * 3] * 2


def test_no_instances_need_no_decision():
    assert decided([rule("A", AT_MOST_2)], {"a": []}).labels().shape == (0, 3)


def test_replay_shows_what_each_rule_covers_while_instances_go_on():
    table = make_table({"a": [1, 3]})
    rules = RuleList((rule("A", AT_MOST_2, stop=True), rule("B")), table.attributes, LABELS)
    assert [(step.reached & step.holds).tolist() for step in replay(rules, table)] == [[True, False], [False, True]]


@pytest.mark.parametrize("first", [0, 1])
def test_the_order_of_the_rules_matters(first):
    rules = [rule("A", stop=True), rule("B", stop=True)]
    ordered = [rules[first], rules[1 - first]]
    assert decided(ordered, {"a": [1]}).labels()[0].argmax() == first


def in_another_form(column: Any, form: str) -> Any:
    """The same column (but for rounding to 32 bits) as the core may be given it."""
    if form == "sparse":
        rows = np.flatnonzero(column != 0).astype(np.int32)
        return SparseColumn(rows, column[rows], len(column))
    if form == "strided":
        return np.stack([column, column[::-1]], axis=1)[:, 0]
    if form == "32 bits" and column.dtype == np.float64:
        return column.astype(np.float32)
    return column


@pytest.mark.parametrize("form", ["dense", "32 bits", "strided", "sparse"])
@pytest.mark.parametrize("seed", range(40))
@np.errstate(over="ignore")
def test_the_core_decides_what_replaying_the_rules_does(seed, form):
    rule_list, small = random_rule_list(seed, n_rules=25)
    rows = np.random.default_rng(seed).integers(len(small), size=[0, 1, 63, 511, 512, 513, 1100, 2048][seed % 8])
    columns = [in_another_form(column[rows], form) for column in small.columns]
    table = Table(rule_list.attributes, columns, n_rows=len(rows))
    expected = nothing_decided(len(rows), len(rule_list.labels))
    for step in replay(rule_list, table):
        expected = step.decisions
    for n_threads in (1, 3):
        decisions = decide(rule_list, table, n_threads)
        np.testing.assert_array_equal(decisions.predicted, expected.predicted)
        np.testing.assert_array_equal(decisions.decided_by, expected.decided_by)
        np.testing.assert_array_equal(decisions.active, expected.active)
        np.testing.assert_array_equal(predict_labels(rule_list, table, n_threads), expected.labels())


GOOD: dict[str, Any] = {
    "n_rows": 2,
    "columns": [np.zeros(2)],
    "conditions": [(0, 0, 1.0)],
    "rules": [([0], [(0, True)], False)],
    "predicted": np.empty((2, 1), np.int8),
    "decided_by": None,
    "going_on": None,
    "n_threads": 1,
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_rows": 3},
        {"columns": [np.zeros(3)]},
        {"columns": [np.zeros(2, np.int64)]},
        {"columns": [(np.array([1, 0], np.int32), np.ones(2))]},
        {"columns": [(np.array([2], np.int32), np.ones(1))]},
        {"conditions": [(0, 1, 1.0)]},
        {"conditions": [(2, 0, 1.0)]},
        {"conditions": [(4, 1, 1.0)]},
        {"conditions": [(9, 0, 1.0)]},
        {"conditions": [(2, 0, np.inf)], "columns": [np.zeros(2, np.int32)]},
        {"rules": [([1], [(0, True)], False)]},
        {"rules": [([0], [(1, True)], False)]},
        {"decided_by": np.empty((2, 2), np.int32)},
        {"going_on": np.empty(3, np.bool_)},
    ],
)
def test_the_core_refuses_what_does_not_fit_together(wrong):
    _core.decide(**GOOD)
    with pytest.raises(ValueError, match=r"column|condition|label|rows|shape"):
        _core.decide(**GOOD | wrong)


@pytest.mark.parametrize("kind", [np.float32, np.int64, np.uint8, np.float16])
def test_columns_of_any_kind_of_number_are_read_as_they_are(kind: Any) -> None:
    rules = make_rules("red <- a > 2", {"a": None}, ("red",))
    dense = np.array([1, 3, 5]).astype(kind)
    sparse = SparseColumn(np.array([1, 2], dtype=np.int32), dense[1:], 3)
    for column in (dense, sparse):
        assert predict_labels(rules, Table(rules.attributes, [column])).ravel().tolist() == [0, 1, 1]


def test_a_category_that_the_data_lack_is_satisfied_by_no_row() -> None:
    rules = make_rules("red <- colour = z\nblue <- colour = x", {"colour": ("x", "y", "z")}, ("red", "blue"))
    table = make_table({"colour": ["x", "y", None]})
    *_, last = replay(rules, table)
    assert last.decisions.labels().tolist() == predict_labels(rules, table).tolist() == [[0, 1], [0, 0], [0, 0]]
