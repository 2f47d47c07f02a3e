"""Dropping rules and conditions: what is left is counted again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.rule_lists import make_rules
from plurule.data.inputs import encode
from plurule.inspection.simplify import shorten
from plurule.metrics import METRICS


def test_a_rule_that_lost_a_condition_is_no_longer_the_one_whose_stability_was_measured() -> None:
    rules = make_rules("a <- x > 1 and x > 0\na <- y > 1", {"x": None, "y": None}, ("a",))
    measured = replace(rules, rules=tuple(replace(rule, stability=0.75, value=0.5) for rule in rules))
    table = encode([[2.0, 0.0], [0.5, 0.0], [0.0, 2.0]], rules.attributes)
    shorter, dropped = shorten(measured, table, None, METRICS["micro_f1"], 0.0)
    assert [str(one) for one in dropped] == ["rule 1 without x > 0"]
    assert [(rule.stability, rule.value) for rule in shorter] == [(None, 0.0), (0.75, 0.5)]


def test_what_a_dropped_rule_decided_counts_for_the_rule_that_decides_it_now() -> None:
    rules = make_rules("a <- x > 1\na <- x > 0", {"x": None}, ("a",))
    table = encode([[2.0]] * 10 + [[0.5], [0.0]], rules.attributes)
    truth = np.array([[1]] * 11 + [[0]], dtype=np.uint8)
    shorter, dropped = shorten(rules, table, truth, METRICS["micro_f1"], tolerance=0.2)
    assert [rule.to_text() for rule in shorter] == ["a ←"]
    assert [(one.what, one.number, one.pairs) for one in dropped] == [("rule", 1, 0), ("condition", 2, 1)]
