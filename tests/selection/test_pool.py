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

from helpers.rows import Expected
from plurule import _core
from plurule._learning.problem import Problem
from plurule._prediction.apply import decide
from plurule._rows.rows import Body, CoverBlock, MemoryRows, Roles
from plurule._selection.pool import (
    SelectionCriterion,
    bodies_of,
    gain_of,
    merged_choices,
    related_labels,
    rules_of,
    select_rules,
)
from plurule.constraints import Constraints
from plurule.data.dataset import Table
from plurule.lifts import KLN, Peak, as_table
from plurule.metrics import MEASURES, METRICS
from plurule.model import Assignment, Attribute, Head, LabelCondition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.rule import ancestors

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
def limits(draw: Any) -> dict[str, Any]:
    """What criteria of a selection share."""
    return {
        "max_rules": draw(st.integers(1, 6)),
        "min_precision": draw(st.sampled_from([0.0, 0.5, 0.75])),
        "weighs_labels_equally": draw(st.booleans()),
    }


@st.composite
def criteria(draw: Any, problem: Problem, common: dict[str, Any]) -> SelectionCriterion:
    is_bound = bool(problem.groups or problem.hierarchy)
    return SelectionCriterion(
        draw(st.sampled_from([0.25, 0.375, 0.5])),
        draw(st.sampled_from([0.0, 0.125, 0.5])),
        draw(LIFTS),
        draw(st.booleans()) and not is_bound,
        tuple(draw(st.sampled_from(group)) for group in problem.groups),
        **common,
    )


@st.composite
def tasks(draw: Any, max_rules: int | None = None, **kinds: Any) -> tuple[Problem, SelectionCriterion]:
    problem = draw(problems(**kinds))
    common = draw(limits()) if max_rules is None else {"max_rules": max_rules}
    return problem, draw(criteria(problem, common))


def select_from(
    bodies: Sequence[Body], problem: Problem, several: Sequence[SelectionCriterion], block_rows: int | None = None
) -> list[list[_core.Choice]]:
    """Select from a pool by all rows of a problem."""
    n_rows = problem.n_instances
    nothing = Roles(np.zeros((0, n_rows), np.int8), (), np.zeros(n_rows, np.uint8), 0)
    covers = MemoryRows(problem, block_rows=block_rows).cover([bodies], nothing)
    return select_rules(covers, bodies, 0, None, several, problem)


def by_hand(
    problem: Problem, criterion: SelectionCriterion, bodies: Sequence[Body] = BODIES
) -> list[tuple[int, list[int]]]:
    """Every gain counted again from all open pairs, every prefix of the labels tried."""
    n_labels = problem.n_labels
    known = Expected.of(problem, bodies)
    holds, left = known.holds, known.is_open.copy()
    weights = problem.weights[:, None]
    constraints = problem.constraints
    apart = np.zeros((n_labels, n_labels), bool) if constraints is None else constraints.must_differ
    directed = constraints is not None and constraints.directed
    positives = (weights * left * problem.Y).sum(axis=0)
    totals = (weights * left).sum(axis=0)
    shares = np.divide(positives, totals, out=np.zeros(n_labels), where=totals > 0)
    label_weights = np.ones(n_labels)
    if criterion.weighs_labels_equally:
        label_weights = np.divide(positives.mean(), positives, out=np.zeros(n_labels), where=positives > 0)
    lift = as_table(criterion.lift, n_labels)
    group_of = {label: group for group in problem.groups for label in group}
    usual = list(criterion.default_labels)
    usual_of = {label: usual[problem.groups.index(group)] for label, group in group_of.items()}
    if criterion.predict_absence:
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
        if correct <= 0 or correct < criterion.min_precision * total or label_weights[label] == 0:
            return None
        if label in group_of:
            return right - max(counts(body, usual_of[label])[0], criterion.lam * total) - LEAST_GAIN
        if not is_absent:
            return right - criterion.lam * total - LEAST_GAIN
        shrunk = total * (right + SHRINKAGE * shares[label]) / (total + SHRINKAGE)
        return criterion.lam * total - shrunk - LEAST_GAIN

    while len(chosen) < criterion.max_rules:
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


def plain(choices: Sequence[_core.Choice]) -> list[tuple[int, list[int]]]:
    return [(choice.body, list(choice.head)) for choice in choices]


@settings(max_examples=200, deadline=None)
@given(tasks(), st.sampled_from([None, 1, 3, 8]))
def test_select_rules_chooses_what_counting_by_hand_chooses(
    task: tuple[Problem, SelectionCriterion], block_rows: int | None
) -> None:
    problem, criterion = task
    (choices,) = select_from(BODIES, problem, [criterion], block_rows)
    assert plain(choices) == by_hand(problem, criterion)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("min_precision", [0.0, 0.5])
def test_select_rules_of_many_labels_chooses_what_counting_by_hand_chooses(seed: int, min_precision: float) -> None:
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
    common = {"max_rules": 15, "min_precision": min_precision}
    several = [SelectionCriterion(lam, 0.05, KLN(0.6), seed % 2 == 1, **common) for lam in (0.3, 0.45)]
    for criterion, choices in zip(several, select_from(bodies, problem, several), strict=True):
        assert plain(choices) == by_hand(problem, criterion, bodies)


@settings(max_examples=60, deadline=None)
@given(st.data(), problems(), limits(), st.integers(1, 60))
def test_select_rules_by_several_criteria_chooses_as_by_each_alone(
    data: Any, problem: Problem, common: dict[str, Any], cached: int
) -> None:
    several = data.draw(st.lists(criteria(problem, common), min_size=2, max_size=6))
    alone = [plain(select_from(BODIES, problem, [criterion])[0]) for criterion in several]
    assert [plain(choices) for choices in select_from(BODIES, problem, several)] == alone
    with mock.patch("plurule._selection.pool.CACHED_SUMS", cached):
        assert [plain(choices) for choices in select_from(BODIES, problem, several)] == alone


@pytest.mark.parametrize("fold", [0, 1])
def test_select_rules_of_a_fold_sees_only_the_rows_that_it_trains_on(fold: int) -> None:
    rng = np.random.default_rng(0)
    problem = one_label(rng.integers(0, 4, 60).astype(float).tolist(), rng.integers(0, 2, 60).tolist())
    bodies = [(), *((condition(0, t, o),) for t in (0.5, 1.5, 2.5) for o in ("<=", ">"))]
    of_rows = np.stack([np.arange(60) % 2, 1 - np.arange(60) % 2]).astype(np.int8)
    roles = Roles(of_rows, (1, 1), np.zeros(60, np.uint8), 1)
    criterion = SelectionCriterion(0.3)
    covers = MemoryRows(problem).cover([[()], bodies], roles)
    (found,) = select_rules(covers, bodies, 1, fold, [criterion], problem)
    alone = problem.take(np.flatnonzero(of_rows[fold] == 0))
    assert found == select_from(bodies, alone, [criterion])[0]


@settings(max_examples=100, deadline=None)
@given(tasks(max_rules=5), st.sets(st.integers(0, 3), min_size=1))
def test_prefix_counts_score_the_rules_of_each_beginning(
    task: tuple[Problem, SelectionCriterion], some: set[int]
) -> None:
    problem, criterion = task
    kept = np.array(sorted(some), np.intp)
    roles = Roles(np.ones((1, problem.n_instances), np.int8), (1,), np.zeros(problem.n_instances, np.uint8), 1)
    (choices,) = select_from(BODIES, problem, [criterion])
    covers = MemoryRows(problem, block_rows=5).cover([BODIES], roles)
    (counts,) = covers.total(CoverBlock.prefix_counts, 0, 0, 1, [choices], kept, True)
    for length in range(len(choices) + 1):
        listed = problem.listed((*problem.initial_rules, *rules_of(BODIES, choices[:length], problem)))
        predicted = decide(listed, problem.table).labels()[:, kept]
        for name in ("micro_f1", "subset_accuracy"):
            expected = METRICS[name](problem.Y[:, kept], predicted, sample_weight=problem.weights)
            assert counts.scores(MEASURES[name])[length] == pytest.approx(expected)


@settings(max_examples=150, deadline=None)
@given(tasks(6, kinds=("none", "apart", "hierarchy", "directions"), initial=False), st.randoms(use_true_random=False))
def test_rules_of_a_selection_predict_the_same_in_any_order(
    task: tuple[Problem, SelectionCriterion], random: Any
) -> None:
    problem, criterion = task
    (choices,) = select_from(BODIES, problem, [criterion])
    listed = problem.listed(rules_of(BODIES, choices, problem))
    assert not listed.order_matters
    n_defaults = sum(choice.is_default for choice in choices)
    shuffled = list(listed)[: len(listed) - n_defaults]
    random.shuffle(shuffled)
    rules = (*shuffled, *listed.rules[len(shuffled) :])
    expected = decide(listed, problem.table).labels()
    assert np.array_equal(decide(replace(listed, rules=rules), problem.table).labels(), expected)


@settings(max_examples=100, deadline=None)
@given(tasks(6, initial=False))
def test_rules_of_a_selection_keep_to_the_constraints(task: tuple[Problem, SelectionCriterion]) -> None:
    problem, criterion = task
    (choices,) = select_from(BODIES, problem, [criterion])
    for rule in rules_of(BODIES, choices, problem):
        if problem.constraints is not None:
            assert not list(problem.constraints.objections(rule, LABELS))


def test_bodies_of_lists_are_every_beginning_once_without_label_conditions() -> None:
    x, y, label = condition(0, 0.5), condition(1, 1.5), LabelCondition("a", 0, True)
    head = Head((Assignment("b", 1, True),))
    lists = [RuleList((Rule(head, (x, label, y)), Rule(head, (y, x))), ATTRIBUTES, LABELS)]
    opposites = [(condition(0, 0.5, ">"),), (condition(1, 1.5, ">"),)]
    assert bodies_of(lists) == [(), (x,), (x, y), (y,), *opposites]


def one_label(values: list[float], labels: list[int]) -> Problem:
    table = Table([Attribute("x0")], [np.array(values)], len(values))
    return Problem(table, ("a",), np.array(labels, np.uint8)[:, None], np.ones(len(values)))


def gains(rules: Sequence[Rule], problem: Problem, lam: float) -> list[tuple[Rule, float]]:
    """Return rules with their counts on all rows, and their gains."""
    counted = MemoryRows(problem).count(problem.listed(rules))
    return [(rule, gain_of(rule, lam)) for rule in counted]


def test_gain_of_a_rule_is_what_it_has_right_beyond_the_criterion() -> None:
    problem = one_label([0.0, 0.0, 0.0, 1.0], [1, 1, 0, 0])
    bodies = [(), (condition(0, 0.5),)]
    (choices,) = select_from(bodies, problem, [SelectionCriterion(0.25, max_rules=3)])
    ((rule, gain),) = gains(rules_of(bodies, choices, problem), problem, 0.25)
    assert (rule.tp, rule.fp, rule.coverage, gain) == (2, 1, 3, 1.25)


def test_gain_of_an_exception_is_what_the_default_rule_would_lose() -> None:
    problem = one_label([0.0] * 40 + [1.0] * 60, [0] * 30 + [1] * 70)
    bodies = [(), (condition(0, 0.5),)]
    (choices,) = select_from(bodies, problem, [SelectionCriterion(0.5, predict_absence=True, max_rules=3)])
    (absent, gain), (default, rest) = gains(rules_of(bodies, choices, problem), problem, 0.5)
    assert (str(absent.head), absent.tp, absent.fp, gain) == ("¬a", 30, 10, 10.0)
    assert (str(default.head), default.tp, default.fp, rest) == ("a", 60, 0, 30.0)


def test_rules_of_one_body_that_must_not_be_related_stay_apart() -> None:
    constraints = CONSTRAINTS["apart"].resolve(ATTRIBUTES, LABELS)
    table = Table(list(ATTRIBUTES), [np.ones(8), np.ones(8)], 8)
    problem = Problem(table, LABELS, np.ones((8, 4), np.uint8), np.ones(8), (), constraints)
    (choices,) = select_from(BODIES, problem, [SelectionCriterion(0.25, max_rules=5)])
    assert [str(rule.head) for rule in rules_of(BODIES, choices, problem)] == ["a, c, d", "b"]


def test_body_that_only_tests_the_absence_of_rare_attributes_is_not_selected() -> None:
    rng = np.random.default_rng(0)
    words = [(rng.random(200) < 0.03).astype(float) for _ in range(2)]
    table = Table(list(ATTRIBUTES), words, 200)
    problem = Problem(table, ("a",), np.ones((200, 1), np.uint8), np.ones(200))
    absent = (condition(0, 0.5), condition(1, 0.5))
    (choices,) = select_from([(), absent], problem, [SelectionCriterion(0.25, max_rules=3)])
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


def test_merged_choices_put_the_default_rule_last() -> None:
    problem = one_label([0.0, 1.0], [1, 0])
    default = _core.Choice(0, [0], [True], [0], True)
    other = _core.Choice(1, [0], [False], [0], False)
    assert merged_choices([default, other], problem) == [other, default]


def test_merged_choices_join_the_labels_of_one_body() -> None:
    table = Table(list(ATTRIBUTES), [np.ones(8), np.ones(8)], 8)
    problem = Problem(table, LABELS, np.ones((8, 4), np.uint8), np.ones(8))
    choices = [_core.Choice(body, [label], [True], [label], False) for body, label in ((1, 2), (2, 0), (1, 3))]
    assert [(one.body, one.head) for one in merged_choices(choices, problem)] == [(1, (2, 3)), (2, (0,))]


def test_related_labels_take_as_many_heads_as_constraints_ask_for() -> None:
    constraints = CONSTRAINTS["apart"].resolve(ATTRIBUTES, LABELS)
    table = Table(list(ATTRIBUTES), [np.ones(8), np.ones(8)], 8)
    problem = Problem(table, LABELS, np.ones((8, 4), np.uint8), np.ones(8), (), constraints)
    assert related_labels([0, 1, 2, 3], problem) == [[0, 2, 3], [1]]
    assert related_labels([0, 1], replace(problem, constraints=None)) == [[0, 1]]
    assert related_labels([], problem) == []
