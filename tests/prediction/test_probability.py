"""How sure a rule list is: shares of right decisions in training, on the side that it predicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.rule_lists import make_rules, random_rule_list
from plurule.data.encoding import encode
from plurule.prediction.decide import decide
from plurule.prediction.probability import MARGIN, SMALLEST, by_rule, is_counted, on_its_side, probabilities


def test_what_a_rule_decides_has_its_share_in_training_and_the_rest_that_of_the_undecided() -> None:
    rules = make_rules("a, ¬b <- x > 1\nb <- x > 0", {"x": None}, ("a", "b"))
    first, second = rules
    counted = (replace(first, decided=((3, 1), (5, 0))), replace(second, decided=((0, 2),)))
    rules = replace(rules, rules=counted, undecided=((6, 2), (1, 0)))
    found = by_rule(rules)
    assert found[0].tolist() == [4 / 6, 1 / 7]
    assert found[1, 1] == 1 / 4
    assert found[-1].tolist() == [3 / 10, 1 / 3]
    table = encode([[2.0], [0.5], [-1.0]], rules.attributes)
    said = probabilities(rules, decide(rules, table))
    # What is predicted stays on its side of one half, however often it was wrong.
    assert said == pytest.approx(np.array([[4 / 6, 1 / 7], [3 / 10, 0.5 + MARGIN], [3 / 10, 1 / 3]]))


def test_a_rule_that_was_written_by_hand_has_the_counts_of_the_whole_rule() -> None:
    (rule,) = make_rules("a, b <-", {}, ("a", "b"))
    assert not is_counted(rule)
    rules = make_rules("a, b <-", {}, ("a", "b"))
    assert by_rule(rules)[0].tolist() == [0.5, 0.5]
    rules = replace(rules, rules=(replace(rule, tp=2, fp=0),))
    assert is_counted(rules[0])
    assert by_rule(rules)[0].tolist() == [0.75, 0.75]
    # Nothing is known of the pairs that it leaves undecided.
    assert by_rule(rules)[-1].tolist() == [0.5, 0.5]


def test_a_rule_is_counted_if_it_was_ever_only_wrong_or_decided_nothing() -> None:
    (rule,) = make_rules("a <-", {}, ("a",))
    assert is_counted(replace(rule, fp=2))
    assert is_counted(replace(rule, decided=((0, 0),)))


def test_nothing_is_certain_nor_undecided() -> None:
    sided = on_its_side(np.array([0.0, 0.5, 1.0, 0.5]), np.array([False, False, True, True]))
    assert sided.tolist() == [SMALLEST, 0.5 - MARGIN, 1 - SMALLEST, 0.5 + MARGIN]


@pytest.mark.parametrize("seed", range(5))
def test_probabilities_say_what_is_predicted(seed: int) -> None:
    rules, table = random_rule_list(seed)
    decisions = decide(rules, table)
    assert ((probabilities(rules, decisions) > 0.5) == (decisions.labels() == 1)).all()
