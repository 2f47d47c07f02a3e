"""What candidate bodies cover, and the confusion matrices that come of it."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers.problems import as_check, make_problem, oracle_at, random_settings, random_state, ranks_of, start_state
from plurule._learning.counting import (
    Candidates,
    Confusion,
    LabelCandidates,
    NominalCandidates,
    NumericCandidates,
    State,
    Unrefined,
    refinements,
)
from plurule._prediction.apply import OPEN

randoms = st.randoms(use_true_random=False)


def all_candidates(state: State) -> list[Candidates]:
    return [
        Unrefined(state.in_training),
        *refinements(state, ranks_of(state.problem), state.in_training, label_conditions=True),
    ]


ALL_ROWS = np.ones(4, dtype=bool)


def texts(candidates: Candidates) -> list[str]:
    count = len(candidates.sums(np.zeros((len(ALL_ROWS), 1))))
    return [str(candidates.condition(i)) for i in range(count)]


def matrices(confusion: Confusion, candidate: int) -> list[list[float]]:
    """TP, FP, TN, FN per label."""
    return np.stack(confusion)[:, candidate].T.tolist()


# Candidates ------------------------------------------------------------------------------------------------


def test_numeric_candidates_ascend_through_the_midpoints_with_at_most_first():
    problem = make_problem({"a": [3, 1, 1, 6]}, [[0], [0], [0], [0]])
    candidates = NumericCandidates(problem.table.attributes[0], 0, ranks_of(problem)[0], ALL_ROWS)
    assert texts(candidates) == ["a <= 2", "a > 2", "a <= 4.5", "a > 4.5"]
    assert candidates.sums(np.ones((4, 1))).ravel().tolist() == [2, 2, 3, 1]


def test_split_points_lie_between_values_of_covered_instances_only():
    problem = make_problem({"a": [3, 1, 2, 6]}, [[0], [0], [0], [0]])
    covered = np.array([True, True, False, True])
    candidates = NumericCandidates(problem.table.attributes[0], 0, ranks_of(problem)[0], covered)
    assert texts(candidates) == ["a <= 2", "a > 2", "a <= 4.5", "a > 4.5"]
    assert candidates.sums(np.ones((4, 1))).ravel().tolist() == [1, 2, 2, 1]


def test_a_constant_column_has_no_candidates():
    problem = make_problem({"a": [3, 3, None, 3]}, [[0], [0], [0], [0]])
    candidates = NumericCandidates(problem.table.attributes[0], 0, ranks_of(problem)[0], ALL_ROWS)
    assert texts(candidates) == []


def test_a_missing_number_satisfies_no_candidate():
    problem = make_problem({"a": [3, 1, None, 6]}, [[0], [0], [0], [0]])
    candidates = NumericCandidates(problem.table.attributes[0], 0, ranks_of(problem)[0], ALL_ROWS)
    assert candidates.sums(np.ones((4, 1))).ravel().tolist() == [1, 2, 2, 1]


def test_nominal_candidates_follow_the_categories_and_skip_missing_values():
    problem = make_problem({"a": ["y", "x", None, "y"]}, [[0], [0], [0], [0]])
    candidates = NominalCandidates(problem.table.attributes[0], 0, problem.table.column(0), ALL_ROWS)
    assert texts(candidates) == ["a = x", "a = y"]
    assert candidates.sums(np.ones((4, 1))).ravel().tolist() == [1, 2]


def test_label_candidates_are_absent_then_present_and_an_open_pair_satisfies_neither():
    candidates = LabelCandidates("A", 0, np.array([1, OPEN, 0, 1], dtype=np.int8), ALL_ROWS)
    assert texts(candidates) == ["¬A", "A"]
    assert candidates.sums(np.ones((4, 1))).ravel().tolist() == [1, 2]
    np.testing.assert_array_equal(candidates.tested, [0, 0])


def test_candidates_come_in_column_order_and_then_label_order():
    problem = make_problem({"b": ["x", "x", "y", "y"], "a": [1, 2, 2, 2]}, [[0, 1, 0]] * 4)
    state = start_state(problem)
    state.head_labels[:] = [True, False, True]
    blocks = list(refinements(state, ranks_of(problem), ALL_ROWS, label_conditions=True))
    assert [text for block in blocks for text in texts(block)] == [
        "b = x", "b = y", "a <= 1.5", "a > 1.5", "¬A", "A", "¬C", "C",
    ]  # fmt: skip


def test_labels_are_no_candidates_before_a_rule_predicts_them_or_if_not_wanted():
    problem = make_problem({}, [[0, 1]] * 4)
    state = start_state(problem)
    assert list(refinements(state, {}, ALL_ROWS, label_conditions=True)) == []
    state.head_labels[:] = True
    assert list(refinements(state, {}, ALL_ROWS, label_conditions=False)) == []


# Confusion matrices ----------------------------------------------------------------------------------------


def test_open_and_closed_and_uncovered_pairs_count_as_described():
    #         covered, open      covered, closed    uncovered, open or not
    problem = make_problem({"in": [1, 1, 1, 1, 0, 0, 0, 0, 0]}, [[1], [0], [1], [0], [1], [1], [0], [0], [0]])
    state = start_state(problem)
    state.predicted[:, 0] = [OPEN, OPEN, 1, 1, OPEN, 0, OPEN, 0, OPEN]
    state.in_training[8] = False
    confusion = state.open_pairs().confusion(Unrefined(problem.table.column(0) == 1))
    assert matrices(confusion, 0) == [[1, 1, 2, 2]]


def test_weights_multiply_every_count():
    problem = make_problem({"in": [1, 1, 0, 0]}, [[1], [0], [1], [0]], weights=[2, 3, 5, 7])
    confusion = start_state(problem).open_pairs().confusion(Unrefined(problem.table.column(0) == 1))
    assert matrices(confusion, 0) == [[2, 3, 7, 5]]


def closed_in_part() -> State:
    """Two labels: the first instance is open, the second half open, the third closed; the last is not covered."""
    state = start_state(make_problem({}, [[1, 1], [1, 0], [1, 1], [1, 0]]))
    state.predicted[:] = [[OPEN, OPEN], [1, OPEN], [1, 0], [OPEN, OPEN]]
    return state


COVERS_THREE = Unrefined(np.array([True, True, True, False]))


def test_with_a_fixed_head_an_instance_with_one_open_head_label_counts_with_all():
    weights = closed_in_part().head_pairs(np.array([0, 1]), np.array([1, 1], dtype=np.int8), whole=True)
    assert matrices(weights.confusion(COVERS_THREE), 0) == [[2, 0, 0, 1], [1, 1, 1, 0]]


def test_with_a_fixed_head_counted_by_pairs_only_open_pairs_count():
    weights = closed_in_part().head_pairs(np.array([0, 1]), np.array([1, 1], dtype=np.int8), whole=False)
    assert matrices(weights.confusion(COVERS_THREE), 0) == [[1, 0, 0, 1], [1, 1, 1, 0]]


def test_a_right_absence_is_a_true_positive_and_leaves_the_uncovered_counts_alone():
    weights = closed_in_part().head_pairs(np.array([1]), np.array([0], dtype=np.int8), whole=False)
    assert matrices(weights.confusion(COVERS_THREE), 0) == [[1, 1, 1, 0]]


def test_an_instance_is_right_as_a_whole_or_not_at_all_and_left_out_if_nothing_is_open():
    state = start_state(make_problem({}, [[1, 1], [1, 0], [1, 1], [0, 0], [0, 1], [0, 0]]))
    state.predicted[2] = [0, 1]
    state.predicted[5] = [0, 0]
    state.predicted[4] = [0, OPEN]
    weights = state.whole_instances(np.array([0, 1]), np.array([1, 1], dtype=np.int8))
    covered = Unrefined(np.array([True, True, True, False, False, False]))
    assert matrices(weights.confusion(covered), 0) == [[1, 1, 1, 1]]


@given(randoms)
def test_counts_of_every_candidate_are_those_of_a_loop_over_all_pairs(rng: random.Random):
    state = random_state(rng)
    settings = replace(random_settings(rng, state.problem.n_labels), label_conditions=True)
    oracle = oracle_at(state, settings)
    weights = state.open_pairs()
    checks = []
    for block in all_candidates(state):
        confusion = weights.confusion(block)
        for candidate in range(len(confusion.tp)):
            condition = block.condition(candidate)
            body = () if condition is None else (as_check(condition),)
            checks += body
            expected = [oracle.matrix(body, label, 1) for label in range(state.problem.n_labels)]
            assert matrices(confusion, candidate) == [list(map(float, row)) for row in expected]
    assert checks == list(oracle.checks(()))


@given(randoms, st.booleans())
def test_counts_of_a_fixed_head_are_those_of_a_loop_over_all_pairs(rng: random.Random, whole: bool):
    state = random_state(rng)
    oracle = oracle_at(state, random_settings(rng, state.problem.n_labels))
    labels = sorted(rng.sample(range(state.problem.n_labels), rng.randint(1, state.problem.n_labels)))
    signs = [rng.choice((0, 1)) for _ in labels]
    head = tuple(zip(labels, signs, strict=True))
    also = [i for i in oracle.training if any(oracle.predicted[i][l] is None for l in labels)] if whole else []
    weights = state.head_pairs(np.array(labels), np.array(signs, dtype=np.int8), whole)
    expected = [list(map(float, oracle.matrix((), label, sign, also))) for label, sign in head]
    assert matrices(weights.confusion(Unrefined(state.in_training)), 0) == expected


@given(randoms)
def test_subset_accuracy_counts_are_those_of_a_loop_over_instances(rng: random.Random):
    state = random_state(rng)
    oracle = oracle_at(state, random_settings(rng, state.problem.n_labels))
    labels = sorted(rng.sample(range(state.problem.n_labels), rng.randint(1, state.problem.n_labels)))
    signs = [rng.choice((0, 1)) for _ in labels]
    weights = state.whole_instances(np.array(labels), np.array(signs, dtype=np.int8))
    for block in all_candidates(state):
        confusion = weights.confusion(block)
        for candidate in range(len(confusion.tp)):
            condition = block.condition(candidate)
            body = () if condition is None else (as_check(condition),)
            ((tp, fp, tn, fn),) = matrices(confusion, candidate)
            share = Fraction(tp + tn) / Fraction(tp + fp + tn + fn) if tp + fp + tn + fn else 0
            assert share == oracle.subset_accuracy(body, tuple(zip(labels, signs, strict=True)))
