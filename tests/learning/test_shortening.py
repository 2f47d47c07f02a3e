"""Lists that are simplified once they are learned: shorter, at no more than the cost that was allowed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.rule_lists import make_rules
from plurule import Constraints, RuleListClassifier
from plurule.data.encoding import encode
from plurule.datasets import load_world_flags
from plurule.errors import ParameterError
from plurule.heuristics import FMeasure
from plurule.label_matrix import dense
from plurule.learning.shortening import shorten
from plurule.metrics import METRICS


def learner(simplify: float | None, **parameters: object) -> RuleListClassifier:
    return RuleListClassifier(heuristic=FMeasure(0.5), n_rules=25, simplify=simplify, **parameters)  # type: ignore[arg-type]


def size(classifier: RuleListClassifier) -> int:
    return len(classifier.rule_list_) + sum(len(rule.body) for rule in classifier.rule_list_)


def test_what_changes_nothing_is_dropped_and_more_at_a_cost_that_is_kept() -> None:
    flags = load_world_flags()
    truth = dense(flags.Y)
    whole, free, cheap = (learner(tolerance).fit(flags) for tolerance in (None, 0.0, 0.02))
    np.testing.assert_array_equal(free.predict(flags), whole.predict(flags))
    before, after = (METRICS["micro_f1"](truth, one.predict(flags)) for one in (whole, cheap))
    assert after >= before - 0.02 - 1e-12
    assert size(cheap) < size(free) <= size(whole)


def test_it_is_what_simplifying_the_list_gives() -> None:
    flags = load_world_flags()
    plain = learner(None, readable=False).fit(flags)
    expected = plain.rule_list_.simplify(flags, tolerance=0.01, measure="micro_f1").rule_list
    assert learner(0.01, readable=False).fit(flags).rule_list_.rules == expected.rules


def test_given_rules_stay_and_every_class_is_predicted() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 3)), rng.choice(["a", "b", "c"], 90)
    fitted = learner(0.05).fit(X, y, initial_rules="a <- x0 > 0.1 and x1 > 0.1 and x2 > 0.1")
    assert fitted.rule_list_[0].to_text() == "a ← x0 > 0.1 ∧ x1 > 0.1 ∧ x2 > 0.1"
    assert (fitted.decide(X).labels().sum(axis=1) == 1).all()


def test_what_cannot_be_simplified_is_said() -> None:
    flags = load_world_flags()
    with pytest.raises(ParameterError, match="simplify"):
        learner(-0.1).fit(flags)
    with pytest.raises(ParameterError, match="needs scoring by the name"):
        learner(0.1, scoring=lambda estimator, X, y: 0.0).fit(flags)
    with pytest.raises(ValueError, match="constraints may ask for"):
        learner(0.1).fit(flags, constraints=Constraints(required_attributes=["continent"]))


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
