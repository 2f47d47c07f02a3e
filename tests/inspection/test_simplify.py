"""Shorter lists that predict the same, or cost no more than was allowed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.rule_lists import learned, make_rules, random_rule_list
from plurule._prediction.apply import decide, recount
from plurule.data.dataset import Table
from plurule.errors import ModelError
from plurule.inspection.simplify import simplify
from plurule.metrics import hamming_accuracy
from plurule.model import RuleList
from plurule.model.condition import split_intervals


def predicted(rule_list: RuleList, table: Table) -> np.ndarray:  # type: ignore[type-arg]
    return decide(rule_list, table).labels()


@pytest.mark.parametrize("seed", range(20))
def test_predictions_stay_the_same_and_nothing_more_can_be_dropped(seed: int) -> None:
    rule_list, table = random_rule_list(seed, n_rules=12)
    simplified = simplify(rule_list, table)
    shorter = simplified.rule_list
    np.testing.assert_array_equal(predicted(shorter, table), predicted(rule_list, table))
    assert simplified.diff.same_predictions
    for position, rule in enumerate(shorter):
        rest = replace(shorter, rules=shorter.rules[:position] + shorter.rules[position + 1 :])
        assert (predicted(rest, table) != predicted(shorter, table)).any()
        for condition in rule.body:
            looser = replace(rule, body=tuple(c for c in rule.body if c != condition))
            changed = replace(shorter, rules=(*shorter.rules[:position], looser, *shorter.rules[position + 1 :]))
            assert (predicted(changed, table) != predicted(shorter, table)).any()


@pytest.mark.parametrize("seed", range(5))
def test_what_was_dropped_is_what_is_missing(seed: int) -> None:
    rule_list, table = random_rule_list(seed, n_rules=12)
    simplified = simplify(rule_list, table)
    dropped_rules = {d.number for d in simplified.dropped if d.what == "rule"}
    assert len(simplified.rule_list) == len(rule_list) - len(dropped_rules)
    kept = [(n, rule) for n, rule in enumerate(rule_list, start=1) if n not in dropped_rules]
    for (number, before), after in zip(kept, simplified.rule_list, strict=True):
        gone = {d.text for d in simplified.dropped if d.what == "condition" and d.number == number}
        # Of an interval one end may be dropped.
        was, now = ([str(c) for c in split_intervals(rule.body)] for rule in (before, after))
        assert sorted(set(was) - gone) == sorted(set(now))
    assert all(d.pairs == 0 for d in simplified.dropped)


@pytest.mark.parametrize("tolerance", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_the_score_falls_by_no_more_than_allowed(seed: int, tolerance: float) -> None:
    rule_list, table = random_rule_list(seed, n_rules=12)
    Y = predicted(rule_list, table) ^ (np.random.default_rng(seed).random((len(table), 5)) < 0.1)
    before = hamming_accuracy(Y, predicted(rule_list, table))
    simplified = simplify(rule_list, table, Y, tolerance=tolerance)
    after = hamming_accuracy(Y, predicted(simplified.rule_list, table))
    assert after >= before - tolerance
    assert simplified.diff.scores is not None
    assert simplified.diff.scores["hamming_accuracy"] == (before, after)
    lossless = simplify(rule_list, table)
    assert len(simplified.dropped) >= len(lossless.dropped)


def test_locked_rules_stay_as_they_are() -> None:
    rule_list = make_rules(
        "red <- x > 2 [locked]\nred <- x > 3 and x > 2.5 [locked]\nred <- x > 4", {"x": None}, ("red",)
    )
    simplified = simplify(rule_list, [[1.0], [5.0]])
    assert [str(rule.body) for rule in simplified.rule_list] == [str(rule.body) for rule in rule_list[:2]]
    assert [str(d) for d in simplified.dropped] == ["rule 3: red ← x > 4"]


def test_counts_are_made_anew_with_labels() -> None:
    rule_list = make_rules("red <- x > 2 and x > 1\nred <- x > 2", {"x": None}, ("red",))
    X, Y = np.array([[3.0], [4.0]]), np.array([[1], [0]])
    simplified = simplify(rule_list, X, Y)
    assert [str(rule) for rule in simplified.rule_list] == ["red ←   (TP 1, FP 1)"]
    assert simplified.rule_list.undecided == ((0, 0),)


def test_any_measure_can_be_the_cost() -> None:
    rule_list = make_rules("red <- x > 2\nblue <- x > 3", {"x": None}, ("red", "blue"))
    X, Y = np.array([[1.0], [2.5], [4.0]]), np.array([[0, 0], [1, 0], [1, 1]])
    assert len(simplify(rule_list, X, Y, tolerance=0.4, measure="subset_accuracy").rule_list) < 2
    assert (
        len(
            simplify(
                rule_list, X, Y, tolerance=0.4, measure=lambda truth, labels: float((truth == labels).all())
            ).rule_list
        )
        == 2
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"tolerance": -0.1}, "tolerance must be at least 0"), ({"tolerance": 0.1}, "the true labels are needed")],
)
def test_wrong_use_is_said(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        simplify(make_rules("red <-", {"x": None}, ("red",)), [[1.0]], **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["birds", "emotions", "medical"])
def test_learned_lists_are_simplified(shared_data: Path, name: str) -> None:
    rule_list, test = learned(shared_data, name)
    simplified = simplify(rule_list, test)
    assert simplified.diff.same_predictions
    assert simplified.rule_list == recount(simplified.rule_list, test.X, np.asarray(test.Y, dtype=np.uint8))


def test_weights_count_as_repeated_instances() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rule_list, table = random_rule_list(seed)
        Y = (rng.random((len(table), len(rule_list.labels))) < 0.5).astype(np.uint8)
        weights = rng.integers(1, 4, len(table))
        rows = np.repeat(np.arange(len(table)), weights)
        weighted = simplify(rule_list, table, Y, tolerance=0.1, sample_weight=weights)
        repeated = simplify(rule_list, table[rows], Y[rows], tolerance=0.1)
        assert weighted.rule_list == repeated.rule_list
        assert weighted.diff.scores is not None
        assert repeated.diff.scores is not None
        for name, scores in weighted.diff.scores.items():
            assert scores == pytest.approx(repeated.diff.scores[name])


def test_a_rule_that_lost_a_condition_is_no_longer_the_one_that_was_chosen_by_its_value() -> None:
    rules = make_rules("red <- area > 2 and bars > 0\nblue <- bars > 5", {"area": None, "bars": None}, ("red", "blue"))
    rules = replace(rules, rules=tuple(replace(rule, value=0.75) for rule in rules))
    shorter = simplify(rules, [[1.0, 1.0], [3.0, 1.0], [3.0, 7.0]]).rule_list
    assert [(rule.to_text(), rule.value) for rule in shorter] == [("red ← area > 2", 0.0), ("blue ← bars > 5", 0.75)]
