"""Learning under constraints: hand cases, brute force, and both engines on random problems."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.campaigns import numbers
from helpers.native_problems import constrained, random_constraints, random_options, random_problem
from helpers.problems import make_options, make_problem, random_state, start_state
from plurule._learning import covering, native
from plurule._learning.counting import State, Unrefined
from plurule._learning.head_search import Heads, find_heads, tie_threshold
from plurule._learning.problem import HEAD_SEARCHES, UNBOUND, MinPrecision, Options, Problem
from plurule._learning.refinement import forbidden_heads
from plurule._prediction.apply import OPEN
from plurule.constraints import Constraints, ResolvedConstraints
from plurule.errors import ModelError, ParameterError
from plurule.heuristics import FMeasure, Gain, HammingAccuracy, Heuristic, Laplace, Precision, SubsetAccuracy
from plurule.lifts import KLN
from plurule.model import Assignment, Head, LabelCondition, Rule, RuleList

randoms = st.randoms(use_true_random=False)

# Heads by hand: the paper's example -------------------------------------------------------------------------

COVERED_VECTORS = [[0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
UNCOVERED_VECTORS = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0]]
COVERED = Unrefined(np.array([True, True, True, False, False, False]))


@pytest.fixture
def example() -> State:
    return start_state(make_problem({}, COVERED_VECTORS + UNCOVERED_VECTORS))


EACH_LABEL = MinPrecision(of="label", when="growing")


def heads_of_body(state: State, candidates: Unrefined, tested: Sequence[int], options: Options) -> Heads:
    """The heads of bodies that test these labels."""
    body = [LabelCondition(state.problem.labels[label], label, True) for label in tested]
    confusion = state.open_pairs().confusion(candidates)
    return find_heads(
        state, candidates, confusion, options, forbidden_heads(state, candidates, len(confusion.tp), body)
    )


def found(state: State, lift: Any = None, tested: Sequence[int] = (), wishes: Any = None, **options: Any) -> str:
    """The head of the covered instances by precision, as `+`, `-` or `.` per label, with its value."""
    chosen = make_options(state.problem, lift, **({"heuristic": Precision()} | options))
    state = replace(state, problem=constrained(state.problem, Constraints(**(wishes or {}))))
    heads = heads_of_body(state, COVERED, tested, chosen)
    if not np.isfinite(heads.value[0]):
        return "none"
    return "".join({1: "+", 0: "-", -1: "."}[int(sign)] for sign in heads.signs[0]) + f" {heads.value[0]:.4f}"


def test_a_label_that_clashes_with_one_taken_before_is_passed_over(example: State):
    apart = {"forbidden_label_pairs": [("A", "B")]}
    assert found(example, KLN(0.14)) == "++.. 0.7314"
    assert found(example, KLN(0.14), wishes=apart) == "+... 0.6667"
    assert found(example, KLN(2), wishes=apart) == "+.+. 1.1931"
    assert found(example, head_search="decomposable") == "++.. 0.6667"
    assert found(example, head_search="decomposable", wishes=apart) == "+... 0.6667"


def test_a_label_that_clashes_with_a_tested_one_is_in_no_head(example: State):
    apart = {"forbidden_label_pairs": [("A", "B")]}
    for search in ("single", "decomposable", "relaxed", "exhaustive"):
        assert found(example, tested=[1], wishes=apart, head_search=search, min_precision=UNBOUND) == "..+. 0.3333"


def test_a_label_set_aside_does_not_forbid_those_it_must_not_go_with(example: State):
    example.set_aside[0] = True
    for search in ("single", "decomposable", "relaxed", "exhaustive"):
        assert found(example, wishes={"forbidden_label_pairs": [("A", "B")]}, head_search=search) == ".+.. 0.6667"


def test_there_is_no_head_where_every_label_is_forbidden(example: State):
    everything = {"forbidden_label_pairs": [("A", "D"), ("B", "D"), ("C", "D")]}
    for search in HEAD_SEARCHES:
        heuristic = SubsetAccuracy() if search == "anti_monotone" else Precision()
        assert found(example, tested=[3], wishes=everything, head_search=search, heuristic=heuristic) == "none"


# Brute force ------------------------------------------------------------------------------------------------


def allowed_heads(n_labels: int, absence: bool, tested: list[int], resolved: ResolvedConstraints) -> list[Any]:
    """Every head that the constraints have nothing against, by asking them about a rule."""
    heads, names = [], [f"l{i}" for i in range(n_labels)]
    for length in range(1, n_labels + 1):
        for labels in combinations(range(n_labels), length):
            for signs in product((1, 0) if absence else (1,), repeat=length):
                head = Head(tuple(Assignment(f"l{i}", i, bool(s)) for i, s in zip(labels, signs, strict=True)))
                rule = Rule(head, tuple(LabelCondition(f"l{i}", i, True) for i in tested))
                if set(labels).isdisjoint(tested) and not [*resolved.objections(rule, names)]:
                    heads.append((labels, signs))
    return heads


def count(state: State, covered: Any, label: int, sign: int) -> list[float]:
    """TP, FP, TN, FN of one label, instance by instance."""
    tp = fp = tn = fn = 0.0
    for i in np.flatnonzero(state.in_training):
        weight, truth = float(state.problem.weights[i]), int(state.problem.Y[i, label])
        if not covered[i]:
            tn, fn = tn + weight * (truth == 0), fn + weight * (truth == 1)
        elif state.predicted[i, label] == OPEN:
            tp, fp = tp + weight * (truth == sign), fp + weight * (truth != sign)
    return [tp, fp, tn, fn]


def whole_count(state: State, covered: Any, labels: tuple[int, ...], signs: tuple[int, ...]) -> list[float]:
    """The same for instances judged as a whole."""
    counts = [0.0] * 4
    for i in np.flatnonzero(state.in_training):
        truth = [int(state.problem.Y[i, label]) for label in labels]
        if any(state.predicted[i, label] == OPEN for label in labels):
            place = (0 if truth == list(signs) else 1) if covered[i] else (3 if any(truth) else 2)
            counts[place] += float(state.problem.weights[i])
    return counts


def value_of(heuristic: Heuristic, matrix: list[float]) -> float:
    return float(heuristic.evaluate(*(np.array([counted]) for counted in matrix))[0])


def best_by_brute_force(
    state: State, covered: Any, tested: list[int], options: Options, resolved: ResolvedConstraints
) -> tuple[float, tuple[int, ...]] | None:
    """Value and signs of the best allowed head: value, then length, then TP, then the first."""
    rated = []
    for labels, signs in allowed_heads(state.problem.n_labels, options.predict_absence, tested, resolved):
        parts = [count(state, covered, label, sign) for label, sign in zip(labels, signs, strict=True)]
        if min(part[0] for part in parts) <= 0:
            continue
        if options.min_precision.of == "label" and any(part[0] < part[1] for part in parts):
            continue
        total = [sum(part[k] for part in parts) for k in range(4)]
        if options.heuristic.example_based:
            h = value_of(options.heuristic, whole_count(state, covered, labels, signs))
        elif options.heuristic.averages_labels(options.averaging):
            h = sum(value_of(options.heuristic, part) for part in parts) / len(parts)
        else:
            h = value_of(options.heuristic, total)
        signed = np.full(state.problem.n_labels, -1)
        signed[list(labels)] = signs
        rated.append((h * options.lift[len(labels) - 1], len(labels), total[0], total[1], tuple(signed.tolist())))
    if not rated:
        return None
    floor = tie_threshold(np.array(max(rated)[0]))
    best = max((r for r in rated if r[0] >= floor), key=lambda r: (r[1], r[2]))
    return (best[0], best[4]) if best[2] >= best[3] else None


def constrained_state(rng: random.Random) -> tuple[State, ResolvedConstraints]:
    state = random_state(rng, most_labels=4)
    wishes = random_constraints(np.random.default_rng(rng.randrange(2**32)), state.problem)
    pairs = Constraints(forbidden_label_pairs=wishes.forbidden_label_pairs)
    problem = constrained(state.problem, pairs)
    assert problem.constraints is not None
    return replace(state, problem=problem), problem.constraints


@given(
    randoms,
    st.sampled_from([FMeasure(), HammingAccuracy(), Precision(), Laplace(), SubsetAccuracy()]),
    st.booleans(),
    st.sampled_from(["micro", "macro"]),
    st.sampled_from(["head", "label"]),
)
@settings(max_examples=150)
def test_the_exhaustive_search_finds_the_best_of_all_allowed_heads(
    rng: random.Random, heuristic: Heuristic, absence: bool, averaging: Any, of: Any
):
    state, resolved = constrained_state(rng)
    options = make_options(
        state.problem,
        KLN(rng.choice((0, 0.1, 0.5))),
        heuristic=heuristic,
        averaging=averaging,
        head_search="exhaustive",
        predict_absence=absence,
        min_precision=MinPrecision(of=of, when="growing"),
    )
    covered = np.array([rng.random() < 0.6 for _ in range(state.problem.n_instances)])
    tested = [label for label in range(state.problem.n_labels) if rng.random() < 0.15]
    heads = heads_of_body(state, Unrefined(covered & state.in_training), tested, options)
    expected = best_by_brute_force(state, covered, tested, options, resolved)
    if expected is None:
        assert heads.value[0] == -np.inf
    else:
        assert heads.value[0] == pytest.approx(expected[0], rel=1e-12)
        assert tuple(heads.signs[0].tolist()) == expected[1]


@given(randoms, st.booleans())
@settings(max_examples=100)
def test_for_subset_accuracy_the_anti_monotone_search_finds_what_the_exhaustive_one_does(
    rng: random.Random, absence: bool
):
    state, _ = constrained_state(rng)
    state.predicted[:] = OPEN
    options = make_options(state.problem, heuristic=SubsetAccuracy(), head_search="exhaustive", predict_absence=absence)
    candidates = Unrefined(state.in_training & (state.problem.Y[:, 0] == 1))
    confusion = state.open_pairs().confusion(candidates)
    first, second = (
        find_heads(state, candidates, confusion, chosen)
        for chosen in (options, replace(options, head_search="anti_monotone"))
    )
    assert_same_heads(first, second)


def assert_same_heads(first: Heads, second: Heads) -> None:
    np.testing.assert_array_equal(first.value, second.value)
    reached = np.isfinite(first.value)
    for name in ("tp", "fp", "signs"):
        np.testing.assert_array_equal(getattr(first, name)[reached], getattr(second, name)[reached])


def equal_labels(count: int) -> State:
    """As many labels that are equal everywhere: every set of them is as good as any other."""
    problem = make_problem({}, [[1] * 4, [1] * 4, [0] * 4])
    Y = np.repeat(problem.Y[:, :1], count, axis=1)
    return start_state(replace(problem, Y=Y, labels=tuple(f"l{i}" for i in range(count))))


@pytest.mark.parametrize("heuristic", [SubsetAccuracy(), HammingAccuracy()])
def test_the_anti_monotone_search_gives_up_where_too_many_heads_are_equally_good(heuristic: Heuristic):
    for count in (12, 40):
        state = equal_labels(count)
        covered = Unrefined(state.problem.Y[:, 0] == 1)
        options = make_options(state.problem, heuristic=heuristic, head_search="anti_monotone")
        confusion = state.open_pairs().confusion(covered)
        if count == 12:
            assert (find_heads(state, covered, confusion, options).signs == 1).all()
            continue
        with pytest.raises(ParameterError, match="more than 1024 heads of one length") as error:
            find_heads(state, covered, confusion, options)
        assert (error.value.parameter, error.value.value) == ("head_search", "anti_monotone")


@given(randoms, st.booleans(), st.sampled_from(["head", "label"]))
@settings(max_examples=150)
def test_the_best_head_by_gain_is_every_label_with_a_positive_term_and_no_other_head_is_better(
    rng: random.Random, absence: bool, of: Any
):
    state = random_state(rng, most_labels=5)
    lam = rng.choice((0.2, 0.4, 0.5, 0.55))
    options = make_options(
        state.problem,
        heuristic=Gain(lam),
        averaging=rng.choice(("micro", "macro")),
        predict_absence=absence,
        min_precision=MinPrecision(rng.choice((0.0, 0.3, 0.5)), of=of, when="growing"),
    )
    covered = np.array([rng.random() < 0.6 for _ in range(state.problem.n_instances)]) & state.in_training
    confusion = state.open_pairs().confusion(Unrefined(covered))
    relaxed, exhaustive = (
        find_heads(state, Unrefined(covered), confusion, replace(options, head_search=search))
        for search in ("relaxed", "exhaustive")
    )
    assert_same_heads(relaxed, exhaustive)
    counts = [[count(state, covered, label, sign)[:2] for sign in (0, 1)] for label in range(state.problem.n_labels)]
    terms = [[tp - Fraction(str(lam)) * (Fraction(tp) + Fraction(fp)) for tp, fp in both] for both in counts]
    if of == "head":
        heads = product((None, 1, 0) if absence else (None, 1), repeat=len(terms))
        best = max(sum(terms[l][s] for l, s in enumerate(head) if s is not None) for head in heads)
        assert relaxed.value[0] in (-np.inf, pytest.approx(float(best), rel=1e-12))
        assert best > 0 or relaxed.value[0] == -np.inf
    if np.isfinite(relaxed.value[0]):
        for label, sign in enumerate(relaxed.signs[0]):
            usable = [
                s
                for s in ((1, 0) if absence else (1,))
                if terms[label][s] > 0
                and (of == "head" or options.min_precision.reached(*(np.array(c) for c in counts[label][s])))
            ]
            best_sign = max(usable, key=lambda s: terms[label][s], default=-1)
            assert sign == best_sign


# Rule lists -------------------------------------------------------------------------------------------------

X = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": [1, 1, 2, 1, 2, 2, 1, 2], "z": [1, 1, 1, 1, 2, 2, 2, 2]}
Y = [[1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 1]]


def learn_both(problem: Problem, options: Options) -> RuleList:
    learned = covering.learn(problem, options)
    assert native.learn(problem, options) == learned
    return learned


def rules_under(options: dict[str, Any] | None = None, **wishes: Any) -> list[str]:
    problem = constrained(make_problem(X, Y), Constraints(**wishes))
    chosen = make_options(problem, **({"remaining": 0.0} | (options or {})))
    return [rule.to_text() for rule in learn_both(problem, chosen)]


def test_forbidden_attributes_are_not_tested():
    assert rules_under()[0] == "A, B ← x <= 4.5"
    assert rules_under(forbidden_attributes=["x"])[0] == "A, B ← z <= 1.5"
    assert all("←" in rule and rule.endswith("←") for rule in rules_under(forbidden_attributes=["x", "y", "z"]))


def test_labels_of_a_forbidden_pair_are_learned_apart():
    rules = rules_under(forbidden_label_pairs=[("A", "B")])
    assert rules[:2] == ["A ← x <= 4.5", "B ← x <= 4.5"]


def test_a_label_is_not_tested_to_predict_the_other_of_a_forbidden_pair():
    options = {"label_conditions": True, "head_search": "single"}
    copied = make_problem({"x": [1, 2, 3, 4], "w": [1, 1, 1, 1]}, [[1, 1], [1, 1], [0, 0], [0, 0]])
    given = covering.learn(copied, make_options(copied, remaining=0.0, head_search="single"))[:1]
    guided = replace(copied, initial_rules=tuple(replace(rule, stop=False, locked=True) for rule in given))
    free = constrained(guided, Constraints(["x"]))
    chosen = make_options(copied, remaining=0.0, **options)
    assert [rule.to_text() for rule in learn_both(free, chosen)] == ["A ← x <= 2.5", "B ← A"]
    bound = constrained(guided, Constraints(["x"], forbidden_label_pairs=[("A", "B")]))
    assert [rule.to_text() for rule in learn_both(bound, chosen)] == ["A ← x <= 2.5", "B ←"]


# At random --------------------------------------------------------------------------------------------------


def is_consistent(rule: Rule, problem: Problem) -> bool:
    """Whether a head predicts nothing that groups and hierarchy of labels rule out."""
    try:
        rule.head.completed(problem.groups, problem.labels, problem.hierarchy)
    except ModelError:
        return False
    return True


@pytest.mark.parametrize("batch", numbers(3, 10))
def test_on_random_problems_both_engines_keep_to_the_constraints_and_learn_the_identical_list(batch: int):
    for seed in range(batch * 60, (batch + 1) * 60):
        rng = np.random.default_rng([9, seed])
        problem = random_problem(rng)
        options, wishes = random_options(rng, problem), random_constraints(rng, problem)
        bound = constrained(problem, wishes)
        if seed % 4 == 0:
            given = [rule for rule in native.learn(problem, options) if is_consistent(rule, bound)][-2:]
            locked = tuple(replace(rule, stop=bool(rng.integers(2)), locked=True) for rule in given)
            bound = replace(bound, initial_rules=locked)
        learned = covering.learn(bound, options)
        assert wishes.violations(learned) == (), f"seed {seed}"
        for n_jobs in (1, 3):
            assert native.learn(bound, options, n_jobs) == learned, f"seed {seed}, {wishes}, {options}"


@pytest.mark.parametrize("seed", numbers(6, 20))
def test_on_larger_random_problems_both_engines_learn_the_identical_list(seed: int):
    rng = np.random.default_rng([10, seed])
    problem = random_problem(rng, most_rows=120, most_columns=6, most_labels=12)
    search = rng.choice(["relaxed", "relaxed", "single"])
    options = random_options(rng, problem, head_search=search, n_rules=6)
    wishes = random_constraints(rng, problem)
    bound = constrained(problem, wishes)
    learned = learn_both(bound, options)
    assert wishes.violations(learned) == ()


@pytest.mark.parametrize("seed", range(30))
def test_constraints_that_ask_for_nothing_change_nothing(seed: int):
    rng = np.random.default_rng([11, seed])
    problem = random_problem(rng)
    options = random_options(rng, problem)
    assert learn_both(constrained(problem, Constraints()), options) == native.learn(problem, options)


def test_the_random_constraints_are_of_every_kind():
    rng = np.random.default_rng(0)
    drawn = [random_constraints(rng, random_problem(rng)) for _ in range(100)]
    for kind in (field.name for field in fields(Constraints)):
        assert 10 < sum(bool(getattr(wishes, kind)) for wishes in drawn) < 90, kind
