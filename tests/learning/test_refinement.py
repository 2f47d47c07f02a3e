"""Growing one rule: which is better, what is refined against what, and where it ends."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.campaigns import numbers
from helpers.problems import (
    as_check,
    make_options,
    make_problem,
    options_of,
    oracle_at,
    random_settings,
    random_state,
    ranks_of,
    start_state,
)
from plurule._learning.counting import State, refinements
from plurule._learning.refinement import Candidate, best_index, best_rule, head_weights, score_fixed
from plurule._prediction.apply import OPEN
from plurule.heuristics import FMeasure, HammingAccuracy, Precision
from plurule.model import LabelCondition

randoms = st.randoms(use_true_random=False)


def grow(state: State, lift: Any = None, **changes: Any) -> Candidate | None:
    options = make_options(state.problem, lift, **changes)
    return best_rule(state, options)


def text(state: State, rule: Candidate | None) -> str:
    """`A B ← a > 1 ∧ C`, with `-` before a label that is predicted absent."""
    assert rule is not None
    named = zip(state.problem.labels, rule.signs.tolist(), strict=True)
    head = " ".join(f"-{label}" if sign == 0 else label for label, sign in named if sign >= 0)
    return f"{head} ← {' ∧ '.join(map(str, rule.body))}".rstrip()


# Which is better -------------------------------------------------------------------------------------------


def pick(*rules: tuple[float, float, int]) -> int:
    """Position of the best of some (value, TP, conditions)."""
    value, tp, conditions = zip(*rules, strict=True)
    return best_index(np.array(value, dtype=float), np.array(tp, dtype=float), np.array(conditions))


def test_better_is_a_higher_value_then_more_tp_then_fewer_conditions_then_the_first():
    assert pick((0.5, 9, 0), (0.6, 1, 2)) == 1
    assert pick((0.6, 1, 0), (0.6, 2, 2)) == 1
    assert pick((0.6, 2, 2), (0.6, 2, 1)) == 1
    assert pick((0.6, 2, 1), (0.6, 2, 1)) == 0


def test_values_that_differ_by_rounding_only_are_equal():
    assert pick((0.6 * (1 + 1e-14), 1, 0), (0.6, 2, 0)) == 1
    assert pick((0.6 * (1 + 1e-11), 1, 0), (0.6, 2, 0)) == 0


def test_the_first_of_equally_good_candidates_wins():
    state = start_state(make_problem({"a": [0, 0, 1, 1], "b": [1, 1, 0, 0]}, [[1], [1], [0], [0]]))
    assert text(state, grow(state)) == "A ← a <= 0.5"


def test_the_empty_body_wins_against_a_condition_that_changes_nothing():
    state = start_state(make_problem({"a": ["x", "x"]}, [[1], [1]]))
    assert text(state, grow(state)) == "A ←"


def test_a_condition_that_holds_for_fewer_but_is_as_precise_loses_to_more_true_positives():
    state = start_state(make_problem({"a": [1, 2, 3]}, [[1], [1], [1]]))
    assert text(state, grow(state, heuristic=Precision())) == "A ←"


# Growing ---------------------------------------------------------------------------------------------------

BOTH = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}


def test_conditions_are_added_until_none_makes_the_rule_better():
    state = start_state(make_problem(BOTH, [[0], [0], [0], [1]]))
    rule = grow(state, heuristic=Precision())
    assert text(state, rule) == "A ← a > 0.5 ∧ b > 0.5"
    assert rule is not None
    assert (rule.value, rule.tp, rule.fp) == (1, 1, 0)
    assert rule.covered.tolist() == [False, False, False, True]


def test_split_points_of_a_later_condition_lie_between_values_the_body_still_covers():
    columns = {"a": [0, 0, 1, 1, 1, 1], "b": [9, 9, 0, 1, 4, 4]}
    state = start_state(make_problem(columns, [[0], [0], [0], [0], [1], [1]]))
    rule = grow(state, heuristic=FMeasure(0.5), max_conditions=2, min_coverage=1)
    assert text(state, rule) == "A ← a > 0.5 ∧ b > 2.5"


def test_there_is_no_rule_where_every_head_is_more_wrong_than_right():
    state = start_state(make_problem({"a": [1, 1, 1]}, [[1], [0], [0]]))
    assert grow(state) is None


def test_there_is_no_rule_where_nothing_is_present_unless_absence_may_be_predicted():
    state = start_state(make_problem({"a": [1, 2]}, [[0], [0]]))
    assert grow(state) is None
    assert text(state, grow(state, predict_absence=True)) == "-A ←"


@pytest.mark.parametrize("columns", [{}, {"a": [5, 5, 5]}, {"a": [None, None, None]}, {"a": ["x", "x", "x"]}])
def test_data_without_a_split_point_give_a_rule_without_conditions(columns):
    state = start_state(make_problem(columns, [[1], [1], [0]]))
    assert text(state, grow(state)) == "A ←"


def test_a_missing_value_is_covered_by_no_condition():
    state = start_state(make_problem({"a": [1, 2, None]}, [[1], [0], [1]]))
    rule = grow(state, heuristic=Precision())
    assert text(state, rule) == "A ← a <= 1.5"
    assert rule is not None
    assert rule.covered.tolist() == [True, False, False]


# Label conditions ------------------------------------------------------------------------------------------


def test_a_label_predicted_before_can_be_a_condition_but_then_not_in_the_head():
    state = start_state(make_problem({}, [[1, 1], [1, 1], [0, 0], [0, 0]]))
    state.predicted[:, 0] = [1, 1, OPEN, 0]
    state.head_labels[0] = True
    assert text(state, grow(state, heuristic=Precision())) == "B ← A"
    assert text(state, grow(state, heuristic=Precision(), label_conditions=False)) == "B ←"


def test_an_open_label_satisfies_neither_its_presence_nor_its_absence():
    state = start_state(make_problem({}, [[0, 1], [0, 0], [0, 1]]))
    state.predicted[:, 0] = [0, 1, OPEN]
    state.head_labels[0] = True
    rule = grow(state, heuristic=Precision())
    assert text(state, rule) == "B ← ¬A"
    assert rule is not None
    assert rule.covered.tolist() == [True, False, False]


@given(randoms)
@settings(max_examples=100)
def test_a_label_tested_in_the_body_is_never_in_the_head(rng: random.Random):
    state = random_state(rng)
    options = options_of(random_settings(rng, state.problem.n_labels))
    rule = best_rule(state, options)
    if rule is not None:
        tested = [condition.index for condition in rule.body if isinstance(condition, LabelCondition)]
        assert (rule.signs[tested] == -1).all()


# As published, or not --------------------------------------------------------------------------------------


def half_right() -> State:
    """Where `a > 0.5`: A and B right in three of four; where `b > 0.5` too, in all."""
    return start_state(
        make_problem(
            {"a": [0, 0, 0, 1, 1, 1, 1], "b": [1, 1, 1, 0, 1, 1, 1]},
            [[0, 0], [0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [1, 1]],
        )
    )


def test_as_published_a_refined_rule_must_beat_the_lifted_value_with_its_plain_one():
    state = half_right()
    # 3/4 · 1.5 is more than any plain precision can be.
    rule = grow(state, lift=lambda n: 1.5 if n == 2 else 1, heuristic=Precision())
    assert text(state, rule) == "A B ← a > 0.5"
    assert rule is not None
    assert rule.value == pytest.approx(3 / 4 * 1.5)


def test_with_a_lift_small_enough_the_rule_is_refined_as_published_too():
    state = half_right()
    rule = grow(state, lift=lambda n: 1.2 if n == 2 else 1, heuristic=Precision())
    assert text(state, rule) == "A B ← a > 0.5 ∧ b > 0.5"
    assert rule is not None
    assert rule.value == 1


def test_a_fixed_head_counts_whole_instances_as_published():
    columns = {"a": [0, 0, 1, 1, 1], "b": [0, 1, 0, 1, 1]}
    state = start_state(make_problem(columns, [[0, 0], [0, 0], [0, 0], [1, 1], [1, 1]]))
    state.predicted[3, 0] = 1
    rule = grow(state, lift=lambda n: 1.2 if n == 2 else 1, heuristic=Precision())
    assert text(state, rule) == "A B ← a > 0.5 ∧ b > 0.5"
    assert rule is not None
    assert (rule.tp, rule.fp) == (4, 0)


def test_with_a_fixed_head_only_the_body_grows():
    state = start_state(make_problem({"a": [0, 1, 0, 0], "b": [0, 1, 1, 0]}, [[0, 0], [0, 0], [1, 1], [1, 0]]))
    assert text(state, grow(state, heuristic=Precision())) == "A ← a <= 0.5 ∧ b > 0.5"
    assert text(state, grow(state, heuristic=Precision(), fix_head=False)) == "A B ← a <= 0.5 ∧ b > 0.5"


def test_a_fixed_head_is_rejected_on_a_body_where_it_is_never_right_or_more_often_wrong():
    state = start_state(make_problem({"a": [1, 2, 3, 4]}, [[1], [0], [0], [1]]))
    options = make_options(state.problem, heuristic=HammingAccuracy())
    rule = Candidate((), state.in_training, np.array([1], dtype=np.int8), 0.5, 2, 2)
    (block,) = refinements(state, ranks_of(state.problem), rule.covered, label_conditions=False)
    heads = score_fixed(state, block, head_weights(state, rule), rule, options)
    kept = {str(block.condition(i)) for i in np.flatnonzero(np.isfinite(heads.value))}
    assert kept == {"a <= 1.5", "a <= 2.5", "a > 2.5", "a > 3.5"}


def test_a_fixed_head_is_rejected_with_a_condition_on_one_of_its_labels():
    # By whole instances A would count as right where it was predicted before.
    state = start_state(make_problem({}, [[1, 1], [1, 1], [0, 0]]))
    state.predicted[:, 0] = [1, 1, OPEN]
    state.head_labels[0] = True
    options = make_options(state.problem)
    rule = Candidate((), state.in_training, np.array([1, 1], dtype=np.int8), 0.5, 2, 2)
    (block,) = refinements(state, {}, rule.covered, label_conditions=True)
    assert (score_fixed(state, block, head_weights(state, rule), rule, options).value == -np.inf).all()


# Limits and beams ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "conditions"), [(0, 0), (1, 1), (2, 2), (3, 2), (None, 2)])
def test_a_body_has_at_most_max_conditions(limit, conditions):
    state = start_state(make_problem(BOTH, [[1], [0], [0], [1]]))
    state.in_training[0] = False
    rule = grow(state, heuristic=HammingAccuracy(), max_conditions=limit)
    if limit == 0:
        assert rule is None
    else:
        assert rule is not None
        assert len(rule.body) == conditions


def test_without_conditions_only_the_empty_body_is_left():
    state = start_state(make_problem(BOTH, [[1], [0], [1], [1]]))
    assert text(state, grow(state, max_conditions=0)) == "A ←"


@pytest.mark.parametrize("width", [1, 2, 5])
def test_a_wide_beam_keeps_to_max_conditions(width):
    state = start_state(make_problem(BOTH, [[1], [0], [0], [1]]))
    rule = grow(state, beam_width=width, max_conditions=1)
    assert rule is not None
    assert len(rule.body) <= 1


def test_a_rule_covers_at_least_min_coverage():
    problem = make_problem({"a": [1, 2, 3, 4]}, [[1], [0], [1], [1]])
    state = start_state(problem)
    assert text(state, grow(state, heuristic=Precision(), min_coverage=2)) == "A ← a > 2.5"
    assert text(state, grow(state, heuristic=Precision(), min_coverage=3)) == "A ←"
    assert grow(state, min_coverage=5) is None


def test_min_coverage_is_a_weight():
    state = start_state(make_problem({"a": [1, 2, 3]}, [[1], [0], [1]], weights=[3, 1, 1]))
    assert text(state, grow(state, heuristic=Precision(), min_coverage=3)) == "A ← a <= 1.5"


def test_a_wider_beam_finds_what_no_single_condition_hints_at():
    # A is present where a and b are equal: each alone is as good as nothing.
    state = start_state(make_problem(BOTH, [[1], [0], [0], [1]]))
    assert text(state, grow(state)) == "A ←"
    assert text(state, grow(state, beam_width=2)) == "A ← a <= 0.5 ∧ b <= 0.5"


@pytest.mark.parametrize("block", numbers(2, 10))
def test_in_the_middle_of_training_the_best_rule_is_that_of_a_naive_learner(block):
    for seed in range(100 * block, 100 * (block + 1)):
        rng = random.Random(seed)
        state = random_state(rng, most_rows=14)
        chosen = random_settings(rng, state.problem.n_labels)
        expected = oracle_at(state, chosen).best_rule()
        rule = best_rule(state, options_of(chosen))
        if rule is None or expected is None:
            assert rule is expected, f"seed {seed}"
            continue
        head = tuple((label, sign) for label, sign in enumerate(rule.signs.tolist()) if sign >= 0)
        body = tuple(as_check(condition) for condition in rule.body)
        found = (head, body, rule.tp, rule.fp)
        assert found == (expected.head, expected.body, expected.tp, expected.fp), f"seed {seed}"
        assert rule.value == pytest.approx(float(expected.value), rel=1e-12), f"seed {seed}"


@given(randoms)
@settings(max_examples=60)
def test_the_best_rule_is_right_at_least_once_and_closes_an_open_pair(rng: random.Random):
    state = random_state(rng)
    rule = best_rule(state, options_of(random_settings(rng, state.problem.n_labels)))
    if rule is not None:
        assert rule.tp > 0
        assert not (rule.covered & ~state.in_training).any()
        assert (state.predicted[rule.covered][:, rule.signs >= 0] == OPEN).any()


def test_a_least_coverage_of_less_than_one_instance_is_kept_to():
    state = start_state(make_problem({"a": [1, 2, 3]}, [[1], [0], [1]], weights=[0.25, 0.75, 0.5]))
    assert text(state, grow(state, heuristic=Precision(), min_coverage=0)) == "A ← a > 2.5"
    assert text(state, grow(state, heuristic=Precision(), min_coverage=0.5)) == "A ← a > 2.5"
    assert text(state, grow(state, heuristic=Precision(), min_coverage=0.75)) == "A ←"
