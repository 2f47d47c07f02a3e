"""Rules counted on data: the same numbers as counting pair by pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.rule_lists import make_rules, random_rule_list
from plurule import RelaxedPruningClassifier
from plurule._prediction.apply import decide, recount, replay
from plurule.data.inputs import encode
from plurule.model import Assignment, Head


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_the_pairs_that_each_rule_decides(seed: int) -> None:
    rule_list, table = random_rule_list(seed)
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, size=(len(table), len(rule_list.labels)), dtype=np.uint8)
    weights = rng.integers(1, 5, size=len(table)).astype(np.float64)
    decisions = decide(rule_list, table)
    counted = recount(rule_list, table, truth, weights)
    for step, rule in zip(replay(rule_list, table), counted, strict=True):
        expected = []
        for assignment in rule.head:
            rows = [i for i in range(len(table)) if decisions.decided_by[i, assignment.index] == step.rule]
            right = sum(weights[i] for i in rows if truth[i, assignment.index] == assignment.present)
            expected.append((right, sum(weights[rows]) - right))
        assert rule.decided == tuple(expected)
        assert (rule.tp, rule.fp) == tuple(map(sum, zip(*expected, strict=True)))
        assert rule.coverage == weights[step.reached & step.holds].sum()
    left = decisions.predicted == -1
    assert counted.undecided == tuple(
        tuple(weights[left[:, label] & (truth[:, label] == value)].sum() for value in (0, 1))
        for label in range(len(rule_list.labels))
    )


def test_learning_counts_as_recounting_does() -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    Y = np.stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0], axis=1).astype(np.uint8)
    learned = RelaxedPruningClassifier(max_rules=5, predict_absence=True).fit(X, Y)
    rules = learned.rule_list_
    recounted = recount(rules, learned._encode(X), Y)
    assert [rule.decided for rule in recounted] == [rule.decided for rule in rules]
    assert recounted.undecided == rules.undecided


def test_a_rule_that_does_something_else_on_the_data_loses_the_value_it_was_chosen_by() -> None:
    rules = make_rules("a <- x > 1", {"x": None}, ("a",))
    data = [[2.0], [0.0]], [[1], [0]]
    counted = rules.edit(*data).rule_list
    valued = replace(counted, rules=(replace(counted[0], value=0.5),))
    assert valued.edit(*data).rule_list[0].value == 0.5
    assert valued.edit([[2.0], [3.0]], [[1], [1]]).rule_list[0].value == 0.0


def test_what_a_head_only_implies_is_decided_but_does_not_count_for_the_rule() -> None:
    (rule,) = make_rules("a <- x > 1", {"x": None}, ("a", "b"))
    head = Head((Assignment("a", 0, True), Assignment("b", 1, False, implied=True)))
    rules = replace(make_rules("", {"x": None}, ("a", "b")), rules=(replace(rule, head=head),), groups=((0, 1),))
    truth = np.array([[1, 0], [1, 1], [0, 1], [0, 1]], dtype=np.uint8)
    (counted,) = recount(rules, encode([[2.0], [3.0], [4.0], [0.0]], rules.attributes), truth)
    assert counted.decided == ((2, 1), (1, 2))
    assert (counted.tp, counted.fp) == (2, 1)
