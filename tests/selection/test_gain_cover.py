"""Selecting from a pool by gain: against counting by hand, and what its lists predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurule.data.table import Table
from plurule.learning.problem import Problem
from plurule.metrics import micro_f1, subset_accuracy
from plurule.model import Assignment, Attribute, Head, LabelCondition, NumericCondition, Rule, RuleList
from plurule.prediction.decide import decide
from plurule.prediction.staged import Stages, staged_measures
from plurule.selection.gain_cover import (
    Choice,
    Pool,
    Price,
    Taking,
    bodies_of,
    counted,
    rules_of,
    satisfied,
    select_here,
    staged_selection,
)

LABELS = ("a", "b", "c")
LEAST_GAIN = 0.5
"""What a label must gain beyond nothing to be in a head."""


def condition(index: int, threshold: float, operator: Any = "<=") -> NumericCondition:
    return NumericCondition(f"x{index}", index, operator, threshold)


BODIES = [(), *((condition(i, t, o),) for i in range(2) for t in (0.5, 1.5) for o in ("<=", ">"))]
BODIES += [(condition(0, 0.5), condition(1, 1.5)), (condition(0, 0.5, ">"), condition(1, 0.5))]


PRICES = st.builds(
    Price,
    st.sampled_from([0.25, 0.375, 0.5]),
    st.sampled_from([0.0, 1.0]),
    st.booleans(),
    st.sampled_from([0.0, 0.75]),
    st.sampled_from([1.0, 0.5]),
)
EXCEPTIONS = st.builds(
    Price,
    st.sampled_from([0.25, 0.375, 0.5]),
    st.sampled_from([0.0, 1.0]),
    st.booleans(),
    further=st.sampled_from([1.0, 0.5]),
    last=st.just(True),
    shrink=st.sampled_from([0.0, 2.0]),
)


@st.composite
def problems(draw: Any) -> Problem:
    n_rows = draw(st.integers(1, 12))
    values = draw(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=n_rows, max_size=n_rows))
    labels = draw(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=n_rows, max_size=n_rows))
    weights = draw(st.one_of(st.just([1.0] * n_rows), st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=n_rows)))
    columns = [np.array([row[i] for row in values], dtype=float) for i in range(2)]
    table = Table([Attribute("x0"), Attribute("x1")], columns, n_rows)
    given = draw(st.sampled_from([(), (Rule(Head((Assignment("b", 1, True),)), (condition(0, 0.5),)),)]))
    return Problem(table, LABELS, np.array(labels, dtype=np.uint8), np.array(weights[:n_rows]), given)


def holds(body: Any, problem: Problem, row: int) -> bool:
    values = [problem.table.column(i)[row] for i in range(2)]
    return all((values[c.index] <= c.threshold) == (c.operator == "<=") for c in body)


Told = tuple[int, list[int], bool]


def by_hand(problem: Problem, price: Price, n_rules: int) -> list[Told]:
    """Every gain counted anew from all pairs that are open."""
    rows = range(problem.n_instances)

    def counts(body: Any, label: int) -> tuple[float, float]:
        covered = [r for r in rows if holds(body, problem, r) and (r, label) not in taken]
        return sum(problem.weights[r] for r in covered if problem.Y[r, label]), sum(problem.weights[r] for r in covered)

    taken = {(r, 1) for r in rows for rule in problem.initial_rules if holds(rule.body, problem, r)}
    positives = [
        sum(problem.weights[r] for r in rows if problem.Y[r, i] and (r, i) not in taken) for i in range(len(LABELS))
    ]
    every = [counts((), label) for label in range(len(LABELS))]
    usual = [i for i, (right, total) in enumerate(every) if price.last and right - price.lam * total - LEAST_GAIN > 0]
    chosen: list[Told] = [(0, usual, True)] if usual else []
    while len(chosen) < n_rules:
        best, best_value = None, 1e-9
        for position, body in enumerate(BODIES):
            head, value = [], -price.per_condition * len(body)
            for label in range(len(LABELS)):
                (right, total), (all_right, all_) = counts(body, label), counts((), label)
                if price.shrink and all_:
                    right = total * (right + price.shrink * all_right / all_) / (total + price.shrink)
                sign = -1 if label in usual else 1
                gain = sign * (right - price.lam * total) - LEAST_GAIN
                weighs = np.mean(positives) / positives[label] if price.labels_alike and positives[label] else 1.0
                precise = right >= price.least_precision * total and (positives[label] or not price.labels_alike)
                further = 1.0 if label in usual else price.further
                if precise and sign * (right - price.lam * further * total) - LEAST_GAIN > 0:
                    head.append(label)
                if precise and gain > 0:
                    value += gain * weighs
            if value > best_value + 5e-10:
                best, best_value = (position, head, False), value
        if best is None:
            break
        chosen.append(best)
        taken |= {(r, label) for r in rows if holds(BODIES[best[0]], problem, r) for label in best[1]}
    return chosen


def staged(problem: Problem, chosen: Sequence[Choice], kept: Any = (0, 1, 2)) -> Stages:
    return staged_selection(
        satisfied(BODIES, problem.table), chosen, problem.Y == 1, problem.weights, np.array(kept, np.intp)
    )


@settings(max_examples=60)
@given(problems(), st.one_of(PRICES, EXCEPTIONS))
def test_what_is_selected_gains_most_again_and_again(problem: Problem, price: Price) -> None:
    chosen = [
        (choice.body, choice.head.tolist(), choice.last) for choice in select_here(BODIES, problem, [price], 4)[0]
    ]
    assert chosen == by_hand(problem, price, 4)
    assert [(c.body, c.head.tolist(), c.last) for c in select_here(BODIES, problem, [price], 2)[0]] == chosen[:2]


@pytest.mark.parametrize("weights", [None, [1.0, 3.0], "all different"], ids=str)
def test_sums_of_many_rows_and_bodies_are_those_of_a_product(weights: Any) -> None:
    rng, n_rows, n_bodies, n_labels = np.random.default_rng(3), 700, 150, 4
    holds, left, present = (rng.random((n, n_rows)) < 0.6 for n in (n_bodies, n_labels, n_labels))
    holds[0] = True
    if weights is not None:
        weights = np.arange(1.0, n_rows + 1) if weights == "all different" else rng.choice(weights, n_rows)
    pool, weighs = Pool(holds, left, present, weights), np.ones(n_rows) if weights is None else weights
    asked = [Taking(0, 1, ()), Taking(7, 1, (3, 5)), Taking(149, 3, (0,)), Taking(7, 2, ()), Taking(7, 2, ())]
    for taking, found in zip(asked, pool.taken(asked), strict=True):
        rows = holds[taking.body] & left[taking.label] & ~holds[list(taking.before)].any(axis=0)
        right = rows & present[taking.label]
        assert np.array_equal(found, [holds @ (weighs * right), holds @ (weighs * rows)])
    right = left & present
    assert np.array_equal(pool.counts(), [(right * weighs) @ holds.T, (left * weighs) @ holds.T])


@settings(max_examples=40)
@given(problems(), st.lists(st.one_of(PRICES, EXCEPTIONS), min_size=2, max_size=6), st.integers(1, 60))
def test_prices_side_by_side_choose_as_each_alone(problem: Problem, prices: list[Price], most: int) -> None:
    def told(selections: Any) -> Any:
        return [[(c.body, c.head.tolist(), c.last) for c in chosen] for chosen in selections]

    alone = [told(select_here(BODIES, problem, [price], 5))[0] for price in prices]
    assert told(select_here(BODIES, problem, prices, 5)) == alone
    with mock.patch("plurule.selection.gain_cover.MOST_VALUES", most):
        assert told(select_here(BODIES, problem, prices, 5)) == alone


@settings(max_examples=40)
@given(problems(), EXCEPTIONS, st.sets(st.integers(0, 2), min_size=1))
def test_scores_of_some_labels_are_those_of_a_problem_that_has_no_others(
    problem: Problem, price: Price, some: set[int]
) -> None:
    problem, kept = replace(problem, initial_rules=()), sorted(some)
    (chosen,) = select_here(BODIES, problem, [price], 5)
    stages = staged(problem, chosen, kept)
    for n_rules in range(len(chosen) + 1):
        made = RuleList(rules_of(BODIES, chosen[:n_rules], problem), problem.table.attributes, LABELS)
        predicted = decide(made, problem.table).labels()[:, kept]
        for measure in (micro_f1, subset_accuracy):
            expected = measure(problem.Y[:, kept], predicted, sample_weight=problem.weights)
            assert stages.scores(measure.__name__)[n_rules] == pytest.approx(expected)


@settings(max_examples=40)
@given(problems(), st.randoms(use_true_random=False))
def test_predictions_depend_on_no_order_and_are_scored_as_those_of_a_list(problem: Problem, shuffle: Any) -> None:
    problem = replace(problem, initial_rules=())
    (chosen,) = select_here(BODIES, problem, [Price(0.3)], 5)
    made = counted(rules_of(BODIES, chosen, problem), problem, 0.3)
    rules = list(made)
    shuffle.shuffle(rules)
    expected = decide(made, problem.table).labels()
    assert np.array_equal(decide(replace(made, rules=tuple(rules)), problem.table).labels(), expected)
    assert len({rule.body for rule in made}) == len(made)
    steps = tuple(Rule(Head(tuple(Assignment(LABELS[i], int(i), True) for i in h)), BODIES[b]) for b, h, _ in chosen)
    unmerged = RuleList(steps, problem.table.attributes, LABELS)
    for measure, scores in staged_measures(
        unmerged, problem.table, problem.Y, ["micro_f1", "subset_accuracy"], problem.weights
    ).items():
        assert staged(problem, chosen).scores(measure) == pytest.approx(scores)


@settings(max_examples=40)
@given(problems(), EXCEPTIONS, st.randoms(use_true_random=False))
def test_exceptions_to_a_last_rule_depend_on_no_order_and_are_scored_as_those_of_a_list(
    problem: Problem, price: Price, shuffle: Any
) -> None:
    problem = replace(problem, initial_rules=())
    (chosen,) = select_here(BODIES, problem, [price], 5)
    stages = staged(problem, chosen)
    scores = list(zip(stages.scores("micro_f1"), stages.scores("subset_accuracy"), strict=True))
    for n_rules in range(len(chosen) + 1):
        rules = list(rules_of(BODIES, chosen[:n_rules], problem))
        if chosen and chosen[0].last and n_rules:
            assert not rules[-1].body
            assert [a.index for a in rules[-1].head if a.present] == chosen[0].head.tolist()
            exceptions, last = rules[:-1], rules[-1:]
            shuffle.shuffle(exceptions)
            rules = exceptions + last
        made = RuleList(tuple(rules), problem.table.attributes, LABELS)
        predicted = decide(made, problem.table).labels()
        expected = [m(problem.Y, predicted, sample_weight=problem.weights) for m in (micro_f1, subset_accuracy)]
        assert scores[n_rules] == pytest.approx(tuple(expected))


def test_a_pool_holds_every_beginning_once_and_no_label_condition() -> None:
    x, y, label = condition(0, 0.5), condition(1, 1.5), LabelCondition("a", 0, True)
    head = Head((Assignment("b", 1, True),))
    lists = [RuleList((Rule(head, (x, label, y)), Rule(head, (y, x))), (Attribute("x0"), Attribute("x1")), LABELS)]
    assert bodies_of(lists) == [(), (x,), (x, y), (y,)]


def test_the_value_of_a_selected_rule_is_what_it_gains() -> None:
    table = Table([Attribute("x0")], [np.array([0.0, 0.0, 0.0, 1.0])], 4)
    problem = Problem(table, ("a",), np.array([[1], [1], [0], [0]], dtype=np.uint8), np.ones(4))
    bodies = [(), (condition(0, 0.5),)]
    (chosen,) = select_here(bodies, problem, [Price(0.25)], 3)
    (rule,) = counted(rules_of(bodies, chosen, problem), problem, 0.25)
    assert (rule.tp, rule.fp, rule.coverage, rule.value) == (2, 1, 3, 1.25)


def test_an_exception_gains_what_the_last_rule_would_lose() -> None:
    table = Table([Attribute("x0")], [np.array([0.0] * 4 + [1.0] * 6)], 10)
    Y = np.array([[0]] * 3 + [[1]] * 7, dtype=np.uint8)
    problem = Problem(table, ("a",), Y, np.ones(10))
    bodies = [(), (condition(0, 0.5),)]
    (chosen,) = select_here(bodies, problem, [Price(0.5, last=True)], 3)
    absent, usual = counted(rules_of(bodies, chosen, problem), problem, 0.5)
    assert (str(absent.head), absent.tp, absent.fp, absent.value) == ("¬a", 3, 1, 1.0)
    assert (str(usual.head), usual.tp, usual.fp, usual.value) == ("a", 6, 0, 3.0)
