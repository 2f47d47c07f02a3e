"""Pruning on held-out data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plurule.classifier import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.errors import DataError
from plurule.heuristics import Recall
from plurule.inspection import prune
from plurule.model import Attribute, RuleList
from plurule.model.text import parse_rules
from plurule.prediction.counts import recount

NAMES = (Attribute("area"), Attribute("bars")), ("red", "blue")
X = np.array([[1.0, 1], [2.0, 0], [3.0, 1], [4.0, 0], [5.0, 1], [6.0, 0]])
Y = np.array([[0, 1], [0, 1], [0, 0], [1, 0], [1, 0], [1, 0]])


def listed(text: str) -> RuleList:
    return RuleList(parse_rules(text, *NAMES), *NAMES)


def bodies(rule_list: RuleList) -> list[str]:
    return [rule.to_text() for rule in rule_list]


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


def test_conditions_that_held_out_data_do_not_support_are_dropped_from_the_end() -> None:
    pruned = prune(listed("red <- area > 3.5 and bars > 0.5"), X, Y)
    assert bodies(pruned) == bodies(listed("red <- area > 3.5"))
    assert (pruned[0].tp, pruned[0].fp) == (3, 0)
    assert bodies(prune(listed("red <- area > 3.5"), X, Y)) == bodies(listed("red <- area > 3.5"))


def test_a_rule_that_is_wrong_more_often_than_right_or_decides_nothing_is_dropped() -> None:
    text = "red <- area > 3.5\nblue <- area > 2.5\nred <- area > 4.5\nblue <- area > 9"
    assert bodies(prune(listed(text), X, Y)) == bodies(listed("red <- area > 3.5"))


def test_a_rule_is_judged_by_what_earlier_rules_left_open() -> None:
    # Alone the second rule would be right for three of four; the first one leaves it the row it is wrong about.
    text = "red <- area > 3.5\nred <- area > 2.5"
    assert len(prune(listed(text), X, Y)) == 1
    assert len(prune(listed("red <- area > 2.5"), X, Y)) == 1


def test_all_labels_of_a_head_count() -> None:
    pruned = prune(listed("red, ¬blue <- area > 3.5 and bars > 0.5"), X, Y)
    assert [rule.to_text() for rule in pruned] == [listed("red, ¬blue <- area > 3.5")[0].to_text()]
    assert (pruned[0].tp, pruned[0].fp) == (6, 0)


def test_after_a_stop_rule_an_instance_is_finished() -> None:
    from dataclasses import replace

    first, second = listed("red <- area > 3.5\n¬blue <- area > 3.5")
    stopping = RuleList((replace(first, stop=True), second), *NAMES)
    assert len(prune(stopping, X, Y)) == 1
    assert len(prune(RuleList((first, second), *NAMES), X, Y)) == 2


def test_locked_rules_stay_as_they_are() -> None:
    locked = listed("red <- area > 3.5 and bars > 0.5\nred <- area <= 1").edit().lock(1, 2).rule_list
    assert bodies(prune(locked, X, Y)) == bodies(locked)


def test_weights_and_the_heuristic_decide() -> None:
    rules = listed("red <- area > 2.5 and bars <= 0.5")
    assert len(prune(rules, X, Y, heuristic=Recall())[0].body) == 0
    heavy = np.array([1, 1, 9, 1, 1, 1])
    assert len(prune(rules, X, Y, sample_weight=heavy)[0].body) == 2


def test_what_is_left_predicts_at_least_as_well_on_the_held_out_rows_per_rule(flags: Any) -> None:
    fitted = RuleListClassifier(n_rules=None).fit(flags.X[:120], flags.Y[:120], label_names=flags.label_names)
    pruned = fitted.rule_list_.prune(flags.X[120:], flags.Y[120:])
    assert 0 < len(pruned) <= len(fitted.rule_list_)
    assert all(rule.tp >= rule.fp and rule.tp > 0 for rule in pruned)
    assert pruned == recount(pruned, fitted._encode(flags.X[120:]), flags.Y[120:])
    assert pruned.length_choice is None


def test_the_true_labels_are_needed() -> None:
    with pytest.raises(DataError, match="true labels"):
        prune(listed("red <- area > 3.5"), X)
