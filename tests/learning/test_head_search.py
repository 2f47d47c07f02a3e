"""The head searches: the paper's example step by step, ties, and agreement with the exhaustive search."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.problems import make_options, make_problem, random_problem, random_state, ranks_of, start_state
from plurule._learning.counting import Candidates, State, Unrefined, refinements
from plurule._learning.head_search import (
    BestHeads,
    Heads,
    best_first,
    evaluation,
    find_heads,
    head_labels,
    labels_alone,
)
from plurule._learning.problem import MinPrecision, Options
from plurule._learning.refinement import forbidden_heads
from plurule._prediction.apply import OPEN
from plurule.heuristics import (
    FMeasure,
    HammingAccuracy,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    Recall,
    SubsetAccuracy,
    WeightedRelativeAccuracy,
)
from plurule.lifts import KLN, Peak
from plurule.model import LabelCondition

randoms = st.randoms(use_true_random=False)


def heads_of(state: State, candidates: Candidates, options: Options, excluded: tuple[int, ...] = ()) -> Heads:
    confusion = state.open_pairs().confusion(candidates)
    body = [LabelCondition(state.problem.labels[label], label, True) for label in excluded]
    return find_heads(
        state, candidates, confusion, options, forbidden_heads(state, candidates, len(confusion.tp), body)
    )


def head_text(heads: Heads, candidate: int = 0) -> str:
    """`+`, `-` or `.` per label: present, absent, not in the head."""
    return "".join({1: "+", 0: "-", -1: "."}[int(sign)] for sign in heads.signs[candidate])


def whole(state: State) -> Unrefined:
    return Unrefined(state.in_training)


# The paper's worked example --------------------------------------------------------------------------------

COVERED_VECTORS = [[0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
UNCOVERED_VECTORS = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0]]


@pytest.fixture
def example() -> State:
    return start_state(make_problem({}, COVERED_VECTORS + UNCOVERED_VECTORS))


COVERED = Unrefined(np.array([True, True, True, False, False, False]))


def test_in_the_papers_example_the_single_heads_have_the_papers_precision(example: State):
    confusion = example.open_pairs().confusion(COVERED)
    assert Precision().evaluate(*confusion)[0] == pytest.approx([2 / 3, 2 / 3, 1 / 3, 0])


def test_in_the_papers_example_labels_are_sorted_by_value_and_one_without_true_positive_is_left_out(example: State):
    confusion = example.open_pairs().confusion(COVERED)
    options = make_options(example.problem, heuristic=Precision(), averaging="micro")
    evaluate = evaluation(example, COVERED, confusion, options)
    alone = labels_alone(evaluate, confusion, head_labels(example), options)
    assert best_first(alone.h, alone.confusion.tp)[0].tolist() == [0, 1, 2, 3]
    assert alone.h[0, 3] == -np.inf


def test_in_the_papers_example_the_lifted_values_by_length_are_the_papers(example: State):
    rho = [1, 1.09704, 1.153806]
    lifted = []
    for length in (1, 2, 3):
        # A lift that makes any other length worthless shows the value at this one.
        only_this = [1 if other == 1 else 1e-9 for other in (1, 2, 3, 4)]
        only_this[length - 1] = rho[length - 1] if length == 1 else 10 * rho[length - 1]
        options = make_options(example.problem, lift=lambda n, t=only_this: t[n - 1], heuristic=Precision())
        lifted.append(heads_of(example, COVERED, options).value[0] / (1 if length == 1 else 10))
    assert lifted == pytest.approx([2 / 3, 0.7314, 0.6410], abs=1e-4)


def test_in_the_papers_example_the_head_is_the_first_two_labels(example: State):
    heads = heads_of(example, COVERED, make_options(example.problem, KLN(k=0.14), heuristic=Precision()))
    assert head_text(heads) == "++.."
    assert heads.value[0] == pytest.approx(0.7314, abs=1e-4)
    assert (heads.tp[0], heads.fp[0]) == (4, 2)


def test_in_the_papers_example_the_search_is_cut_after_length_three():
    # The most that a fourth label could reach is below the best, the most that a third could is not.
    to_reach = KLN(k=0.14).at_length(4, 4)
    assert 5 / 9 * to_reach < 0.7314 < 2 / 3 * to_reach


class BestAtThree(Heuristic):
    """1 for one true positive, 1/2 for two, 2 for three."""

    def evaluate(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
        return np.select([tp == 1, tp == 2, tp == 3], [1.0, 0.5, 2.0])


def test_the_relaxed_search_looks_no_further_once_the_bound_falls_below_the_best():
    state = start_state(make_problem({}, [[1, 1, 1]]))
    options = make_options(state.problem, heuristic=BestAtThree())
    assert head_text(heads_of(state, whole(state), options)) == "+.."
    # A later lift of 2 keeps the bound at 1/2 · 2, which is not below the best.
    lifted = make_options(state.problem, lift=lambda n: 2 if n == 3 else 1, heuristic=BestAtThree())
    heads = heads_of(state, whole(state), lifted)
    assert head_text(heads) == "+++"
    assert heads.value[0] == 4


def test_the_decomposable_search_takes_all_labels_that_reach_the_best_value(example: State):
    options = make_options(example.problem, head_search="decomposable", heuristic=Precision())
    heads = heads_of(example, COVERED, options)
    assert head_text(heads) == "++.."
    assert heads.value[0] == pytest.approx(2 / 3)


def test_the_single_search_takes_the_first_of_equally_good_labels(example: State):
    heads = heads_of(example, COVERED, make_options(example.problem, head_search="single", heuristic=Precision()))
    assert head_text(heads) == "+..."


# Details ---------------------------------------------------------------------------------------------------


def test_presence_wins_a_tie_with_absence():
    state = start_state(make_problem({}, [[1], [0]]))
    heads = heads_of(state, whole(state), make_options(state.problem, heuristic=Precision(), predict_absence=True))
    assert head_text(heads) == "+"


def test_absence_is_predicted_where_it_is_better_and_only_if_wanted():
    state = start_state(make_problem({}, [[1, 1], [0, 1], [0, 1]]))
    with_absence = make_options(state.problem, heuristic=HammingAccuracy(), predict_absence=True, lift=KLN(k=1))
    without = replace(with_absence, predict_absence=False)
    assert head_text(heads_of(state, whole(state), with_absence)) == "-+"
    assert head_text(heads_of(state, whole(state), without)) == "++"


def test_labels_of_equal_value_are_sorted_by_true_positives_and_then_by_label():
    h = np.array([[0.5, 0.5, 0.9, 0.5 * (1 + 1e-14)]])
    tp = np.array([[1.0, 3.0, 1.0, 1.0]])
    assert best_first(h, tp)[0].tolist() == [2, 1, 0, 3]


def test_values_equal_in_exact_arithmetic_are_sorted_as_equal_despite_rounding():
    # F0.5 of (3, 1) and of (6, 2) with matching FN are the same fraction.
    tp, fp, fn = np.array([[3.0, 6.0]]), np.array([[1.0, 2.0]]), np.array([[7.0, 14.0]])
    h = FMeasure(beta=0.1).evaluate(tp, fp, 0 * tp, fn)
    assert best_first(h, tp)[0].tolist() == [1, 0]


def test_a_longer_head_wins_a_tie_of_lifted_values():
    # One label at 1, the next at 1/2: the mean 3/4 times a lift of 4/3 is 1 again.
    state = start_state(make_problem({}, [[1, 1], [1, 0]]))
    options = make_options(
        state.problem, lift=lambda n: 4 / 3 if n == 2 else 1, heuristic=Precision(), averaging="macro"
    )
    assert head_text(heads_of(state, whole(state), options)) == "++"


def test_a_head_with_more_wrong_than_right_is_rejected():
    state = start_state(make_problem({}, [[1], [0], [0]]))
    assert heads_of(state, whole(state), make_options(state.problem)).value[0] == -np.inf
    balanced = start_state(make_problem({}, [[1], [0]]))
    assert heads_of(balanced, whole(balanced), make_options(balanced.problem)).value[0] > 0


def test_a_long_head_is_rejected_as_a_whole_even_if_a_shorter_one_were_right():
    state = start_state(make_problem({}, [[1, 1], [1, 0], [0, 0], [0, 0]]))
    options = make_options(state.problem, lift=lambda n: 5 if n == 2 else 1, heuristic=Precision())
    assert heads_of(state, whole(state), options).value[0] == -np.inf


@pytest.mark.parametrize("search", ["relaxed", "exhaustive"])
def test_with_the_constraint_on_labels_only_labels_more_right_than_wrong_make_a_head(search):
    # As in the test before, but the label that is more wrong than right cannot drag the head down.
    state = start_state(make_problem({}, [[1, 1], [1, 0], [0, 0], [0, 0]]))
    lift = {"lift": lambda n: 5 if n == 2 else 1}
    options = make_options(
        state.problem,
        **lift,
        heuristic=Precision(),
        head_search=search,
        min_precision=MinPrecision(of="label", when="growing"),
    )
    assert head_text(heads_of(state, whole(state), options)) == "+."


def test_tested_labels_are_never_in_the_head():
    state = start_state(make_problem({}, [[1, 1, 1], [1, 1, 1]]))
    for search in ("single", "decomposable", "relaxed", "anti_monotone", "exhaustive"):
        heads = heads_of(state, whole(state), make_options(state.problem, head_search=search), excluded=(0, 2))
        assert head_text(heads) == ".+."


@pytest.mark.parametrize("search", ["single", "decomposable", "relaxed", "anti_monotone", "exhaustive"])
def test_there_is_no_head_where_nothing_is_open(search):
    state = start_state(make_problem({}, [[1, 1], [1, 1]]))
    state.predicted[:] = 1
    for absence in (False, True):
        options = make_options(state.problem, head_search=search, predict_absence=absence)
        assert heads_of(state, whole(state), options).value[0] == -np.inf


def test_micro_and_macro_averaging_differ_where_labels_have_different_counts():
    # Label A: 3 right of 4 open; label B: its only open pair is right.
    state = start_state(make_problem({}, [[1, 1], [1, 1], [1, 1], [0, 1]]))
    state.predicted[:3, 1] = 1
    options = make_options(state.problem, lift=lambda n: 2 if n == 2 else 1, heuristic=Precision())
    micro = heads_of(state, whole(state), options)
    macro = heads_of(state, whole(state), replace(options, averaging="macro"))
    assert micro.value[0] == pytest.approx(2 * 4 / 5)
    assert macro.value[0] == pytest.approx(2 * (3 / 4 + 1) / 2)


def test_hamming_accuracy_is_the_mean_over_labels_under_both_averagings():
    state = start_state(make_problem({}, [[1, 1], [1, 1], [1, 1], [0, 1]]))
    state.predicted[:3, 1] = 1
    options = make_options(state.problem, lift=lambda n: 2 if n == 2 else 1, heuristic=HammingAccuracy())
    for averaging in ("micro", "macro"):
        heads = heads_of(state, whole(state), replace(options, averaging=averaging))
        assert heads.value[0] == pytest.approx(2 * (3 / 4 + 1) / 2)


def test_the_anti_monotone_search_cuts_everything_that_contains_a_worse_head():
    # Laplace, micro: A 14/20, B and C 2/3 each. AB (15/21) and BC (3/4) are better, but contain what was cut.
    state = start_state(make_problem({}, [[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]], weights=[13, 5, 1, 1]))
    state.predicted[:] = 0
    state.predicted[[0, 1, 2, 3], [0, 0, 1, 2]] = OPEN
    options = make_options(state.problem, head_search="anti_monotone", heuristic=Laplace())
    assert head_text(heads_of(state, whole(state), options)) == "+.."
    assert head_text(heads_of(state, whole(state), replace(options, head_search="exhaustive"))) == ".++"


# Against the exhaustive search -----------------------------------------------------------------------------


def compare(first: Heads, second: Heads, heads_too: bool = True) -> None:
    if not heads_too:
        # Of two heads of equal value one can be precise enough and the other not.
        both = np.isfinite(first.value) & np.isfinite(second.value)
        assert first.value[both] == pytest.approx(second.value[both], rel=1e-11)
    else:
        assert first.value == pytest.approx(second.value, rel=1e-11)
        found = np.isfinite(first.value)
        assert first.signs[found].tolist() == second.signs[found].tolist()
        assert first.tp[found].tolist() == second.tp[found].tolist()
        assert first.fp[found].tolist() == second.fp[found].tolist()


def every_block(state: State) -> list[Candidates]:
    ranks = ranks_of(state.problem)
    return [whole(state), *refinements(state, ranks, state.in_training, label_conditions=False)]


def random_lift(rng: random.Random, n_labels: int) -> Any:
    if rng.random() < 0.3:
        factors = [1.0, *(rng.choice((0.9, 1.0, 1.05, 1.1, 1.25, 2)) for _ in range(n_labels))]
        return lambda length: factors[length - 1]
    return rng.choice((KLN(k=rng.choice((0, 0.05, 0.14, 0.5))), Peak(rng.randint(1, n_labels), 1.2, 2), None))


@given(randoms, st.booleans())
@settings(max_examples=150)
def test_relaxed_finds_the_best_head_for_macro_measures_and_hamming_accuracy(rng: random.Random, absence: bool):
    state = random_state(rng, most_labels=5)
    heuristic = rng.choice(
        (FMeasure(0.5), FMeasure(2), Precision(), Recall(), Laplace(), MEstimate(2), HammingAccuracy())
    )
    averaging = "micro" if isinstance(heuristic, HammingAccuracy) and rng.random() < 0.5 else "macro"
    options = make_options(
        state.problem,
        random_lift(rng, state.problem.n_labels),
        heuristic=heuristic,
        averaging=averaging,
        predict_absence=absence,
    )
    for block in every_block(state):
        compare(
            heads_of(state, block, options),
            heads_of(state, block, replace(options, head_search="exhaustive")),
            # Where every positive is covered, recall is 1 whichever the sign: presence, or the sign with more TP.
            heads_too=not (absence and isinstance(heuristic, Recall)),
        )


@given(randoms)
@settings(max_examples=50)
def test_relaxed_finds_the_best_head_for_a_measure_that_can_be_negative(rng: random.Random):
    state = random_state(rng)
    options = make_options(state.problem, KLN(0.2), heuristic=WeightedRelativeAccuracy(), averaging="macro")
    for block in every_block(state):
        compare(heads_of(state, block, options), heads_of(state, block, replace(options, head_search="exhaustive")))


DECOMPOSABLE = [
    (FMeasure(0.5), "micro"),
    (FMeasure(0.5), "macro"),
    (FMeasure(0), "micro"),
    (Precision(), "micro"),
    (HammingAccuracy(), "micro"),
    (Laplace(), "macro"),
]


@given(randoms, st.sampled_from(DECOMPOSABLE), st.booleans())
@settings(max_examples=100)
def test_without_lift_all_searches_agree_on_decomposable_heuristics(rng: random.Random, measure: Any, absence: bool):
    state = random_state(rng)
    heuristic, averaging = measure
    options = make_options(state.problem, heuristic=heuristic, averaging=averaging, predict_absence=absence)
    for block in every_block(state):
        best = heads_of(state, block, replace(options, head_search="exhaustive"))
        compare(heads_of(state, block, replace(options, head_search="decomposable")), best)
        compare(heads_of(state, block, replace(options, head_search="anti_monotone")), best)
        compare(heads_of(state, block, options), best)
        single = heads_of(state, block, replace(options, head_search="single"))
        found = np.isfinite(single.value) & np.isfinite(best.value)
        assert single.value[found] == pytest.approx(best.value[found], rel=1e-11)


@given(randoms, st.booleans())
@settings(max_examples=60)
def test_for_recall_the_decomposable_search_reaches_the_best_value(rng: random.Random, absence: bool):
    state = random_state(rng)
    options = make_options(state.problem, heuristic=Recall(), predict_absence=absence, head_search="decomposable")
    for block in every_block(state):
        searched = best_label_alone(state, block, options)
        best = heads_of(state, block, replace(options, head_search="exhaustive"))
        assert np.where(best.value > -np.inf, best.value, searched) == pytest.approx(searched, rel=1e-11)


def best_label_alone(state: State, block: Candidates, options: Options) -> Any:
    """Value of the best single label, rejected or not."""
    confusion = state.open_pairs().confusion(block)
    evaluate = evaluation(state, block, confusion, options)
    return labels_alone(evaluate, confusion, head_labels(state), options).h.max(axis=1)


@given(randoms, st.booleans())
@settings(max_examples=60)
def test_the_anti_monotone_search_is_exhaustive_for_subset_accuracy_while_all_is_open(
    rng: random.Random, absence: bool
):
    state = start_state(random_problem(rng))
    options = make_options(state.problem, heuristic=SubsetAccuracy(), predict_absence=absence)
    for block in every_block(state):
        compare(
            heads_of(state, block, replace(options, head_search="anti_monotone")),
            heads_of(state, block, replace(options, head_search="exhaustive")),
        )


@given(randoms)
@settings(max_examples=60)
def test_relaxed_is_at_most_as_good_as_exhaustive_for_micro_measures(rng: random.Random):
    state = random_state(rng)
    options = make_options(state.problem, random_lift(rng, state.problem.n_labels), heuristic=FMeasure(0.5))
    for block in every_block(state):
        found = heads_of(state, block, options)
        confusion = state.open_pairs().confusion(block)
        evaluate = evaluation(state, block, confusion, replace(options, averaging="micro"))
        best = heads_of(state, block, replace(options, head_search="exhaustive"))
        for candidate in np.flatnonzero(np.isfinite(found.value)):
            labels = tuple(np.flatnonzero(found.signs[candidate] == 1).tolist())
            h, tp, fp = evaluate(labels, (1,) * len(labels))
            assert found.value[candidate] == pytest.approx(h[candidate] * options.lift[len(labels) - 1])
            assert (found.tp[candidate], found.fp[candidate]) == (tp[candidate], fp[candidate])
            if np.isfinite(best.value[candidate]):
                assert found.value[candidate] <= best.value[candidate] * (1 + 1e-12)


def test_a_head_whose_value_is_0_is_better_than_none():
    best = BestHeads(1, 2)
    best.add(np.array([-0.5]), np.array([3.0]), np.array([1.0]), (1,), (1,))
    best.add(np.array([0.0]), np.array([2.0]), np.array([2.0]), (0,), (1,))
    found = best.heads()
    assert (found.value.tolist(), found.signs.tolist()) == ([0.0], [[1, -1]])


@pytest.mark.parametrize("search", ["exhaustive", "anti_monotone"])
def test_a_label_that_is_not_precise_under_one_body_may_be_in_the_head_of_another(search):
    state = start_state(make_problem({"a": [0, 0, 1, 1]}, [[1], [1], [0], [1]]))
    least = MinPrecision(0.9, of="label", when="growing")
    options = make_options(state.problem, heuristic=Precision(), head_search=search, min_precision=least)
    (candidates,) = state.refinements(np.ones(state.problem.n_instances, np.bool_), label_conditions=False)
    assert np.isfinite(heads_of(state, candidates, options).value).tolist() == [True, False]
