"""Selecting from a pool by lifted gain: against counting by hand, and what its lists predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurule.constraints import Constraints
from plurule.data.table import Table
from plurule.learning.problem import Problem
from plurule.lifts import KLN, Peak, as_table
from plurule.metrics import micro_f1, subset_accuracy
from plurule.model import Assignment, Attribute, Head, LabelCondition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.head import ancestors
from plurule.prediction.apply import OPEN, decide
from plurule.selection.pool import (
    Body,
    Choice,
    CoverUpdate,
    Pool,
    SelectionCriterion,
    SelectionLimits,
    bodies_of,
    counted,
    initial_decisions,
    rules_of,
    satisfied,
    select_here,
    staged_selection,
)

LABELS = ("a", "b", "c", "d")
ATTRIBUTES = (Attribute("x0"), Attribute("x1"))
LEAST_GAIN = 0.5
SHRINKAGE = 10.0
CONSTRAINTS = {
    "none": None,
    "apart": Constraints(forbidden_label_pairs=[("a", "b"), ("b", "c")]),
    "classes": Constraints(exclusive_labels=[LABELS]),
    "a group": Constraints(exclusive_labels=[("a", "b")]),
    "hierarchy": Constraints(hierarchy={"b": "a", "d": "c"}),
    "directions": Constraints(increasing=["x0"], decreasing=[("x1", "c")]),
}


def condition(index: int, threshold: float, operator: Any = "<=") -> RangeCondition:
    return RangeCondition(f"x{index}", index, **{"at_most" if operator == "<=" else "above": threshold})


BODIES = [(), *((condition(i, t, o),) for i in range(2) for t in (1.5, 2.5) for o in ("<=", ">"))]
BODIES += [(condition(0, 1.5), condition(1, 2.5)), (condition(0, 1.5, ">"), condition(1, 1.5))]
INITIAL = (
    Rule(Head((Assignment("b", 1, True),)), (condition(0, 1.5),)),
    Rule(Head((Assignment("d", 3, False),)), (condition(1, 2.5, ">"),), stop=True),
)
LIFTS = st.sampled_from([None, KLN(0.1), KLN(0.6), Peak(2, 1.5), lambda n: 1.0 + 0.5 * (n == 3)])


@st.composite
def problems(draw: Any, kinds: Sequence[str] = tuple(CONSTRAINTS), initial: bool = True) -> Problem:
    n_rows = draw(st.integers(1, 16))
    values = draw(st.lists(st.tuples(*[st.integers(1, 3)] * 2), min_size=n_rows, max_size=n_rows))
    Y = np.array(draw(st.lists(st.tuples(*[st.integers(0, 1)] * 4), min_size=n_rows, max_size=n_rows)), np.uint8)
    weights = draw(st.one_of(st.just([1.0] * n_rows), st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=n_rows)))
    columns = [np.array([row[i] for row in values], dtype=float) for i in range(2)]
    table = Table(list(ATTRIBUTES), columns, n_rows)
    kind = draw(st.sampled_from(kinds))
    constraints = CONSTRAINTS[kind]
    resolved = None if constraints is None else constraints.resolve(ATTRIBUTES, LABELS)
    for group in () if resolved is None else resolved.exclusive:
        one = draw(st.lists(st.sampled_from(group), min_size=n_rows, max_size=n_rows))
        Y[:, group] = 0
        Y[np.arange(n_rows), one] = 1
    for below, above in () if resolved is None else ancestors(resolved.hierarchy):
        Y[:, above] |= Y[:, below]
    given = draw(st.sampled_from([(), INITIAL])) if initial and kind == "none" else ()
    return Problem(table, LABELS, Y, np.array(weights[:n_rows]), given, resolved)


@st.composite
def criteria(draw: Any, problem: Problem) -> SelectionCriterion:
    is_bound = bool(problem.groups or problem.hierarchy)
    return SelectionCriterion(
        draw(st.sampled_from([0.25, 0.375, 0.5])),
        draw(st.sampled_from([0.0, 0.125, 0.5])),
        draw(LIFTS),
        draw(st.booleans()) and not is_bound,
        tuple(draw(st.sampled_from(group)) for group in problem.groups),
    )


@st.composite
def tasks(draw: Any, **kinds: Any) -> tuple[Problem, SelectionCriterion]:
    problem = draw(problems(**kinds))
    return problem, draw(criteria(problem))


LIMITS = st.builds(SelectionLimits, st.integers(1, 6), st.sampled_from([0.0, 0.5, 0.75]), st.booleans())


def by_hand(
    problem: Problem, criterion: SelectionCriterion, limits: SelectionLimits, bodies: Sequence[Body] = BODIES
) -> list[tuple[int, list[int]]]:
    """Every gain counted again from all open pairs, every prefix of the labels tried."""
    n_labels = problem.n_labels
    holds = satisfied(bodies, problem.table)
    left = np.ones(problem.Y.shape, bool)
    decided = initial_decisions(problem)
    if decided is not None:
        left = decided == OPEN
    weights = problem.weights[:, None]
    constraints = problem.constraints
    apart = np.zeros((n_labels, n_labels), bool) if constraints is None else constraints.apart
    directed = constraints is not None and constraints.directed
    positives = (weights * left * problem.Y).sum(axis=0)
    totals = (weights * left).sum(axis=0)
    shares = np.divide(positives, totals, out=np.zeros(n_labels), where=totals > 0)
    label_weights = np.ones(n_labels)
    if limits.labels_alike:
        label_weights = np.divide(positives.mean(), positives, out=np.zeros(n_labels), where=positives > 0)
    lift = as_table(criterion.lift, n_labels)
    group_of = {label: group for group in problem.groups for label in group}
    usual = list(criterion.usual)
    usual_of = {label: usual[problem.groups.index(group)] for label, group in group_of.items()}
    if criterion.exceptions:
        gains = positives - criterion.lam * totals - LEAST_GAIN
        usual += [label for label in range(n_labels) if label not in group_of and gains[label] > 0]
    chosen = [(0, usual)] if usual else []

    def counts(body: int, label: int) -> tuple[float, float]:
        covered = problem.weights * holds[body] * left[:, label]
        return float((covered * problem.Y[:, label]).sum()), float(covered.sum())

    def gain(body: int, label: int) -> float | None:
        right, total = counts(body, label)
        is_absent = label in usual and label not in group_of
        if label in group_of and label in usual:
            return None
        if directed and constraints.forbidden_heads(bodies[body])[:, label, int(not is_absent)].any():
            return None
        correct = total - right if is_absent else right
        if correct <= 0 or correct < limits.min_precision * total or label_weights[label] == 0:
            return None
        if label in group_of:
            return right - max(counts(body, usual_of[label])[0], criterion.lam * total) - LEAST_GAIN
        if not is_absent:
            return right - criterion.lam * total - LEAST_GAIN
        shrunk = total * (right + SHRINKAGE * shares[label]) / (total + SHRINKAGE)
        return criterion.lam * total - shrunk - LEAST_GAIN

    while len(chosen) < limits.max_rules:
        best_value = 0.0
        best: tuple[int, list[int]] | None = None
        for body in range(len(bodies)):
            gains = {label: gain(body, label) for label in range(n_labels)}
            ranked = sorted((-g * label_weights[label], label) for label, g in gains.items() if g is not None)
            labels: list[int] = []
            total = 0.0
            for loss, label in ranked:
                if apart[label, labels].any():
                    continue
                labels = [*labels, label]
                total -= loss
                price = max(0.0, 1 - criterion.condition_price * len(bodies[body]))
                value = total * lift[len(labels) - 1] * price
                if round(value, 9) > round(best_value, 9):
                    best_value = value
                    best = body, labels
        if best is None:
            break
        head = set(best[1]) | {above for below, above in ancestors(problem.hierarchy) if below in best[1]}
        chosen.append((best[0], sorted(head)))
        for label in head:
            for other in group_of.get(label, (label,)):
                left[holds[best[0]], other] = False
    return chosen


def plain(choices: Sequence[Choice]) -> list[tuple[int, list[int]]]:
    return [(choice.body, choice.head.tolist()) for choice in choices]


@settings(max_examples=300, deadline=None)
@given(tasks(), LIMITS)
def test_select_rules_equals_counting_by_hand(
    task: tuple[Problem, SelectionCriterion], limits: SelectionLimits
) -> None:
    problem, criterion = task
    (choices,) = select_here(BODIES, problem, [criterion], limits)
    assert plain(choices) == by_hand(problem, criterion, limits)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("min_precision", [0.0, 0.5])
def test_select_rules_of_many_labels_equals_counting_by_hand(seed: int, min_precision: float) -> None:
    """Labels that lose little, which the lift makes up for, join and leave heads from rule to rule."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 7, (150, 3)).astype(float)
    chances = 0.25 + 0.4 * (X[:, rng.integers(0, 3, 12)] > rng.integers(2, 6, 12)) * rng.random(12)
    Y = (rng.random(chances.shape) < chances).astype(np.uint8)
    conditions = [condition(i, t + 0.5, o) for i in range(3) for t in range(1, 6) for o in ("<=", ">")]
    pairs = [(one, other) for one, other in combinations(conditions, 2) if one.index != other.index]
    bodies = [(), *((one,) for one in conditions), *pairs[:: 7 + seed]]
    table = Table([Attribute(f"x{i}") for i in range(3)], list(X.T), len(X))
    problem = Problem(table, tuple(f"y{i}" for i in range(12)), Y, np.ones(len(X)))
    limits = SelectionLimits(25, min_precision)
    several = [SelectionCriterion(lam, 0.05, KLN(0.6), seed % 2 == 1) for lam in (0.3, 0.45)]
    for criterion, choices in zip(several, select_here(bodies, problem, several, limits), strict=True):
        assert plain(choices) == by_hand(problem, criterion, limits, bodies)


@settings(max_examples=60, deadline=None)
@given(st.data(), problems(), LIMITS, st.integers(1, 60))
def test_select_rules_by_several_criteria_chooses_as_by_each_alone(
    data: Any, problem: Problem, limits: SelectionLimits, cached: int
) -> None:
    several = data.draw(st.lists(criteria(problem), min_size=2, max_size=6))
    alone = [plain(select_here(BODIES, problem, [criterion], limits)[0]) for criterion in several]
    assert [plain(choices) for choices in select_here(BODIES, problem, several, limits)] == alone
    with mock.patch("plurule.selection.pool.CACHED_SUMS", cached):
        assert [plain(choices) for choices in select_here(BODIES, problem, several, limits)] == alone


@settings(max_examples=150, deadline=None)
@given(tasks(), st.sets(st.integers(0, 3), min_size=1))
def test_staged_selection_scores_the_list_of_each_prefix(
    task: tuple[Problem, SelectionCriterion], some: set[int]
) -> None:
    problem, criterion = task
    kept = sorted(some)
    (choices,) = select_here(BODIES, problem, [criterion], SelectionLimits(5))
    stages = staged_selection(
        satisfied(BODIES, problem.table),
        choices,
        problem.Y == 1,
        problem.weights,
        np.array(kept, np.intp),
        initial_decisions(problem),
    )
    for length in range(len(choices) + 1):
        listed = problem.listed((*problem.initial_rules, *rules_of(BODIES, choices[:length], problem)))
        predicted = decide(listed, problem.table).labels()[:, kept]
        for measure in (micro_f1, subset_accuracy):
            expected = measure(problem.Y[:, kept], predicted, sample_weight=problem.weights)
            assert stages.scores(measure.__name__)[length + 1] == pytest.approx(expected)


@settings(max_examples=150, deadline=None)
@given(tasks(kinds=("none", "apart", "hierarchy", "directions"), initial=False), st.randoms(use_true_random=False))
def test_rules_of_a_selection_predict_the_same_in_any_order(
    task: tuple[Problem, SelectionCriterion], random: Any
) -> None:
    problem, criterion = task
    (choices,) = select_here(BODIES, problem, [criterion], SelectionLimits(6))
    listed = problem.listed(rules_of(BODIES, choices, problem))
    assert not listed.order_matters
    n_defaults = sum(choice.is_default for choice in choices)
    shuffled = list(listed)[: len(listed) - n_defaults]
    random.shuffle(shuffled)
    rules = (*shuffled, *listed.rules[len(shuffled) :])
    expected = decide(listed, problem.table).labels()
    assert np.array_equal(decide(replace(listed, rules=rules), problem.table).labels(), expected)


@settings(max_examples=100, deadline=None)
@given(tasks(initial=False))
def test_rules_of_a_selection_keep_to_the_constraints(task: tuple[Problem, SelectionCriterion]) -> None:
    problem, criterion = task
    (choices,) = select_here(BODIES, problem, [criterion], SelectionLimits(6))
    for rule in rules_of(BODIES, choices, problem):
        if problem.constraints is not None:
            assert not list(problem.constraints.objections(rule, LABELS))


@pytest.mark.parametrize("weights", [None, [1.0, 3.0], "all different"], ids=str)
def test_pool_counts_many_rows_and_bodies_as_a_product_does(weights: Any) -> None:
    rng = np.random.default_rng(3)
    n_rows = 700
    holds = rng.random((150, n_rows)) < 0.6
    left, present = rng.random((2, 4, n_rows)) < 0.6
    holds[0] = True
    if weights is not None:
        weights = np.arange(1.0, n_rows + 1) if weights == "all different" else rng.choice(weights, n_rows)
    pool = Pool(holds, left, present, weights)
    row_weights = np.ones(n_rows) if weights is None else weights
    updates = [CoverUpdate(*update) for update in ((0, 1, ()), (7, 1, (3, 5)), (149, 3, (0,)), (7, 2, ()), (7, 2, ()))]
    for update, sums in zip(updates, pool.covered(updates), strict=True):
        rows = holds[update.body] & left[update.label] & ~holds[list(update.before)].any(axis=0)
        right = rows & present[update.label]
        assert np.array_equal(sums, [holds @ (row_weights * right), holds @ (row_weights * rows)])
    right = left & present
    assert np.array_equal(pool.counts(), [(right * row_weights) @ holds.T, (left * row_weights) @ holds.T])


def test_bodies_of_lists_are_every_beginning_once_without_label_conditions() -> None:
    x, y, label = condition(0, 0.5), condition(1, 1.5), LabelCondition("a", 0, True)
    head = Head((Assignment("b", 1, True),))
    lists = [RuleList((Rule(head, (x, label, y)), Rule(head, (y, x))), ATTRIBUTES, LABELS)]
    opposites = [(condition(0, 0.5, ">"),), (condition(1, 1.5, ">"),)]
    assert bodies_of(lists) == [(), (x,), (x, y), (y,), *opposites]


def one_label(values: list[float], labels: list[int]) -> Problem:
    table = Table([Attribute("x0")], [np.array(values)], len(values))
    return Problem(table, ("a",), np.array(labels, np.uint8)[:, None], np.ones(len(values)))


def test_counted_gives_a_rule_its_gain_as_value() -> None:
    problem = one_label([0.0, 0.0, 0.0, 1.0], [1, 1, 0, 0])
    bodies = [(), (condition(0, 0.5),)]
    (choices,) = select_here(bodies, problem, [SelectionCriterion(0.25)], SelectionLimits(3))
    (rule,) = counted(rules_of(bodies, choices, problem), problem, 0.25)
    assert (rule.tp, rule.fp, rule.coverage, rule.value) == (2, 1, 3, 1.25)


def test_exception_gains_what_the_default_rule_would_lose() -> None:
    problem = one_label([0.0] * 40 + [1.0] * 60, [0] * 30 + [1] * 70)
    bodies = [(), (condition(0, 0.5),)]
    (choices,) = select_here(bodies, problem, [SelectionCriterion(0.5, exceptions=True)], SelectionLimits(3))
    absent, usual = counted(rules_of(bodies, choices, problem), problem, 0.5)
    assert (str(absent.head), absent.tp, absent.fp, absent.value) == ("¬a", 30, 10, 10.0)
    assert (str(usual.head), usual.tp, usual.fp, usual.value) == ("a", 60, 0, 30.0)


def test_rules_of_one_body_that_must_not_be_related_stay_apart() -> None:
    constraints = CONSTRAINTS["apart"].resolve(ATTRIBUTES, LABELS)
    table = Table(list(ATTRIBUTES), [np.ones(8), np.ones(8)], 8)
    problem = Problem(table, LABELS, np.ones((8, 4), np.uint8), np.ones(8), (), constraints)
    (choices,) = select_here(BODIES, problem, [SelectionCriterion(0.25)], SelectionLimits(5))
    assert [str(rule.head) for rule in rules_of(BODIES, choices, problem)] == ["a, c, d", "b"]


def test_body_that_only_tests_the_absence_of_rare_attributes_is_not_selected() -> None:
    rng = np.random.default_rng(0)
    words = [(rng.random(200) < 0.03).astype(float) for _ in range(2)]
    table = Table(list(ATTRIBUTES), words, 200)
    problem = Problem(table, ("a",), np.ones((200, 1), np.uint8), np.ones(200))
    absent = (condition(0, 0.5), condition(1, 0.5))
    (choices,) = select_here([(), absent], problem, [SelectionCriterion(0.25)], SelectionLimits(3))
    assert plain(choices) == [(0, [0])]


@pytest.mark.parametrize(
    ("tested", "expected"),
    [
        (RangeCondition("x", 0, at_most=0.5), True),
        (RangeCondition("x", 0, above=0.5), False),
        (OneOfCondition("x", 0, ("no",)), True),
        (OneOfCondition("x", 0, ("yes",)), False),
    ],
)
def test_condition_tests_absence(tested: Any, expected: bool) -> None:
    assert tested.tests_absence is expected
