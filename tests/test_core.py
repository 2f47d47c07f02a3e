"""The compiled core trusts nothing it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.core import TRUTH, VALUES, ints, learn, one_sparse, some_columns
from helpers.native_problems import random_problem
from helpers.problems import make_options
from plurule import _core
from plurule._learning import covering, native
from plurule._learning.problem import Problem
from plurule._prediction.apply import recount
from plurule.data.dataset import Table
from plurule.heuristics import Counts, Heuristic, ratio
from plurule.model import Attribute, Rule, RuleList


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"columns": None}, TypeError),
        ({"truth": np.zeros((5, 3), dtype=np.uint8)}, ValueError),
        ({"truth": np.zeros((6, 2), dtype=np.uint8)}, ValueError),
        ({"truth": np.zeros((6, 0), dtype=np.uint8), "lift": []}, ValueError),
        ({"truth": np.full((6, 3), 2, dtype=np.uint8)}, ValueError),
        ({"truth": np.zeros(6, dtype=np.uint8)}, TypeError),
        ({"truth": "labels"}, TypeError),
        ({"truth": np.asfortranarray(TRUTH)}, TypeError),
        ({"weights": np.ones(5)}, ValueError),
        ({"weights": np.full(6, np.nan)}, ValueError),
        ({"weights": np.full(6, np.inf)}, ValueError),
        ({"weights": np.array([1, 1, 1, 1, 1, -1.0])}, ValueError),
        ({"heuristic": (99,)}, TypeError),
        ({"head_search": 99}, TypeError),
        ({"lift": [1.0, 1.0]}, ValueError),
        ({"lift": [np.nan] * 3}, ValueError),
        ({"lift": [np.inf] * 3}, ValueError),
        ({"lift": [-1.0] * 3}, ValueError),
        ({"allowed_attributes": [1, 1]}, ValueError),
        ({"allowed_attributes": [256]}, TypeError),
        ({"labels_apart": (np.zeros((3, 2), dtype=np.uint8),)}, ValueError),
        ({"labels_apart": (np.zeros((2, 2), dtype=np.uint8),)}, ValueError),
        ({"predict_absence": "yes"}, TypeError),
        ({"heuristic": (_core.Formula.f_measure, np.nan)}, ValueError),
        ({"heuristic": (_core.Formula.custom,)}, ValueError),
        ({"min_precision": (np.nan, True, True)}, ValueError),
        ({"min_precision": (-0.1, True, True)}, ValueError),
        ({"min_precision": (1.1, False, False)}, ValueError),
        ({"remaining": np.nan}, ValueError),
        ({"stop_threshold": np.nan}, ValueError),
        ({"min_coverage": np.nan}, ValueError),
        ({"beam_width": 0}, ValueError),
        ({"beam_width": 10**9}, ValueError),
        ({"beam_width": -1}, TypeError),
        ({"n_rules": -1}, TypeError),
        ({"max_conditions": -1}, TypeError),
        ({"n_threads": -1}, TypeError),
        ({"custom_heuristic": (None,)}, TypeError),
        ({"custom_heuristic": (3,)}, TypeError),
        ({"custom_heuristic": (lambda tp, fp, tn, fn: tp[:1],)}, ValueError),
        ({"custom_heuristic": (lambda tp, fp, tn, fn: "high",)}, Exception),
        ({"custom_heuristic": (lambda tp, fp, tn, fn: None,)}, Exception),
        ({"custom_heuristic": (lambda: None,)}, TypeError),
        ({"progress": 3}, TypeError),
    ],
)
def test_wrong_arguments_of_learn_are_refused(changes: dict[str, Any], error: type[Exception]):
    with pytest.raises(error):
        learn(**changes)
    assert len(learn()[0]) > 0


EVERY_SEARCH = pytest.mark.parametrize(
    "search",
    [pytest.param({"head_search": search}, id=search.name) for search in _core.HeadSearch],
)


@pytest.mark.parametrize(
    ("changes", "plain"),
    [
        ({"n_threads": 0}, {}),
        ({"n_threads": 10**9}, {}),
        ({"weights": np.ones(6)}, {}),
        ({"remaining": -5.0}, {"remaining": 0.0}),
        ({"min_coverage": -1.0}, {"min_coverage": 0.0}),
        ({"n_rules": 10**9, "max_conditions": 10**9}, {}),
        ({"beam_width": 1000}, {"beam_width": 50}),
    ],
)
@EVERY_SEARCH
def test_arguments_beyond_what_makes_a_difference_change_nothing(
    changes: dict[str, Any], plain: dict[str, Any], search: dict[str, Any]
):
    assert learn(**search | changes) == learn(**search | plain)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_rules": 0},
        {"weights": np.zeros(6)},
        {"heuristic": (_core.Formula.f_measure, np.inf)},
        {"custom_heuristic": (lambda tp, fp, tn, fn: tp * np.nan,)},
        {"custom_heuristic": (lambda tp, fp, tn, fn: np.full(len(tp), np.inf),)},
        {"custom_heuristic": (lambda tp, fp, tn, fn: np.full(len(tp), -np.inf),)},
    ],
)
@EVERY_SEARCH
def test_where_no_rule_can_be_good_none_is_learned(changes: dict[str, Any], search: dict[str, Any]):
    rules, undecided = learn(**search | changes)
    weights = changes.get("weights", np.ones(6))
    assert rules == []
    assert undecided == list(zip(weights @ (1 - TRUTH), weights @ TRUTH, strict=True))


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({"max_conditions": 0}, lambda rule: not rule.body),
        ({"allowed_attributes": [0]}, lambda rule: set(rule.body) == set(rule.label_conditions)),
        ({"labels_apart": (np.full((3, 3), 255, dtype=np.uint8),)}, None),  # apart from itself
        ({"weights": np.array([0.1, 0.2, 0.3, 0.7, 0.1, 0.9])}, None),  # not on a grid where sums are exact
        ({"weights": np.full(6, 1e300)}, None),
        ({"weights": np.full(6, 5e-324)}, None),
        ({"lift": [0.0] * 3}, None),
        ({"heuristic": (_core.Formula.f_measure, -3.0)}, None),
        ({"stop_threshold": 5.0}, None),
    ],
)
@EVERY_SEARCH
def test_odd_arguments_of_learn_give_rules_that_do_what_they_say(
    changes: dict[str, Any], holds: Callable[[Rule], object] | None, search: dict[str, Any]
):
    weights = changes.get("weights", np.ones(6))
    problem = Problem(Table([Attribute("a")], [VALUES]), ("A", "B", "C"), TRUTH, weights)
    rules, undecided = learn(**search | changes)
    learned = RuleList(tuple(native._rule(problem, rule) for rule in rules), problem.table.attributes, problem.labels)
    assert len(learned) > 0
    assert all(holds(rule) for rule in learned if holds)
    counted = recount(learned, problem.table, TRUTH, weights)
    np.testing.assert_allclose(undecided, counted.undecided)
    for rule, again in zip(learned, counted, strict=True):
        np.testing.assert_allclose(rule.decided, again.decided)
        np.testing.assert_allclose((rule.tp, rule.fp), (again.tp, again.fp))
        assert rule.tp + rule.fp > 0


def test_without_columns_or_rows_there_is_little_to_learn():
    rules, _ = learn(columns=_core.Columns(6, 0, None))
    assert [rule.body for rule in rules] == [()]
    rules, undecided = learn(columns=_core.Columns(0, 0, None), truth=TRUTH[:0])
    assert (rules, undecided) == ([], [(0, 0)] * 3)


def test_a_heuristic_may_rule_candidates_out_with_minus_infinity():
    class Sparing(Heuristic):
        """Will not be wrong even once."""

        def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
            return np.where(fp > 0, -np.inf, ratio(tp, tp + fn))

    rng = np.random.default_rng(8)
    for _ in range(50):
        problem = random_problem(rng)
        options = make_options(problem, heuristic=Sparing(), averaging="macro", predict_absence=bool(rng.integers(2)))
        rule_list = native.learn(problem, options)
        assert all(rule.fp == 0 for rule in rule_list)
        assert rule_list == covering.learn(problem, options)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: _core.Columns(-1, 0, None), TypeError),
        (lambda: _core.Columns(2**40, 0, None), ValueError),
        (lambda: _core.Columns(6, 1, None), ValueError),
        (lambda: _core.Columns(6, -1, None), ValueError),
        (lambda: _core.Columns(6, 3, np.ones(5)), ValueError),
        (lambda: _core.Columns(6, 3, np.full(6, np.nan)), ValueError),
    ],
)
def test_columns_of_wrong_shape_are_refused(make: Callable[[], Any], error: type[Exception]):
    with pytest.raises(error):
        make()


BAD_COLUMNS: list[tuple[str, tuple[Any, ...]]] = [
    ("add_dense", ([np.arange(5.0)], ints(-1))),
    ("add_dense", ([np.zeros((6, 1))], ints(-1))),
    ("add_dense", ([np.array([1, 2, 3, 4, 5, np.inf])], ints(-1))),
    ("add_dense", ([np.array([1, 2, 3, 4, 5, -np.inf])], ints(-1))),
    ("add_dense", ([np.arange(6)], ints(-1))),
    ("add_dense", ([np.arange(6).astype(np.float16)], ints(-1))),
    ("add_dense", ([np.arange(6).astype(complex)], ints(-1))),
    ("add_dense", ([np.arange(6).astype(">f8")], ints(-1))),
    ("add_dense", ([np.array(["a"] * 6)], ints(-1))),
    ("add_dense", ([[1.0] * 6], ints(-1))),
    ("add_dense", ([None], ints(-1))),
    ("add_dense", ([ints(0, 1, 2, 3, 0, 0)], ints(3))),
    ("add_dense", ([ints(0, 1, 2, -2, 0, 0)], ints(3))),
    ("add_dense", ([ints(0, 0, 0)], ints(3))),
    ("add_dense", ([np.zeros(6, dtype=np.int32)], ints(-1))),
    ("add_dense", ([np.zeros(6, dtype=np.int32)], ints(0))),
    ("add_dense", ([np.array([None] * 6)], ints(3))),
    ("add_sparse", one_sparse(ints(0, 6), np.ones(2))),
    ("add_sparse", one_sparse(ints(-1, 2), np.ones(2))),
    ("add_sparse", one_sparse(ints(3, 2), np.ones(2))),
    ("add_sparse", one_sparse(ints(2, 2), np.ones(2))),
    ("add_sparse", one_sparse(ints(2), np.ones(2))),
    ("add_sparse", one_sparse(ints(2), np.array([np.inf]))),
    ("add_sparse", one_sparse(ints(1, 2), ints(1, 3).astype(float), 3)),
    ("add_sparse", one_sparse(ints(1, 2), ints(1, -2).astype(float), 3)),
    ("add_sparse", one_sparse(ints(1, 2), ints(1).astype(float), 3)),
    ("add_sparse", one_sparse(ints(9), ints(1).astype(float), 3)),
    ("add_sparse", one_sparse(ints(2), ints(0).astype(float), 0)),
    ("add_dense", ([np.arange(6.0), np.full(6, np.inf)], ints(-1, -1))),
    ("add_dense", ([np.arange(6.0)], ints(-1, -1))),
]


@pytest.mark.parametrize(("method", "arguments"), BAD_COLUMNS)
def test_a_wrong_column_is_refused_and_changes_nothing(method: str, arguments: tuple[Any, ...]):
    columns = some_columns()
    with pytest.raises((ValueError, TypeError)):
        getattr(columns, method)(*arguments)
    assert learn(columns=columns) == learn()


@pytest.mark.parametrize(
    "column",
    [
        np.arange(12.0)[::-2],
        np.arange(12, dtype=np.float32)[::2],
        np.broadcast_to(np.float64(3), 6),
        np.full(6, np.nan),
    ],
)
def test_columns_may_lie_in_memory_as_they_like(column: Any):
    strided, plain = some_columns(), some_columns()
    strided.add_dense([column], ints(-1))
    plain.add_dense([np.ascontiguousarray(column)], ints(-1))
    assert learn(columns=strided) == learn(columns=plain)


def test_columns_that_were_learned_from_cannot_be_added_to():
    columns = some_columns()
    with pytest.raises(RuntimeError, match="were learned from"):
        learn(columns=columns, progress=lambda rules, share: columns.add_dense([np.arange(6.0)], ints(-1)))
    with pytest.raises(RuntimeError, match="were learned from"):
        columns.add_dense([np.arange(6.0)], ints(-1))
    assert len(learn(columns=columns)[0]) > 0
