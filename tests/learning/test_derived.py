"""Sets of categories, negation and missing values: learned alike by both engines, exact where that is said."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers import learning as engine
from helpers.campaigns import numbers
from helpers.native_problems import constrained, random_constraints, random_options, random_problem
from helpers.problems import make_options, make_problem
from plurule import Constraints, RelaxedPruningClassifier, RuleListClassifier
from plurule._learning import covering, native
from plurule._learning.derived import CONDITION_KINDS, MOST_NEGATED, MOST_ORDERS, derive
from plurule._learning.finish import readable
from plurule._learning.problem import UNBOUND, Problem
from plurule._prediction.apply import ColumnCache, predict_labels
from plurule.data import Dataset
from plurule.data.dataset import SparseColumns, Table
from plurule.data.inputs import encode
from plurule.errors import ParameterError
from plurule.heuristics import FMeasure, Heuristic, Precision
from plurule.model import (
    Attribute,
    Condition,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
    RuleList,
)

THREADS = (1, 2)
COLOURS = ("blue", "green", "grey", "red", "white", "yellow")


def with_categories(rng: np.random.Generator, **limits: int) -> Problem:
    """A random problem, of which one more attribute has many categories, some without rows, and gaps."""
    problem = random_problem(rng, **limits)
    categories = tuple(f"c{i}" for i in range(rng.integers(3, 9)))
    codes = rng.integers(-1, len(categories), problem.n_instances).astype(np.int32)
    table = problem.table
    columns = [*table.columns, codes]
    return replace(problem, table=Table([*table.attributes, Attribute("many", categories)], columns, len(table)))


def some_kinds(rng: np.random.Generator) -> tuple[str, ...]:
    return tuple(kind for kind in CONDITION_KINDS if rng.random() < 0.7)


@pytest.mark.parametrize("batch", numbers(2, 60))
def test_both_engines_learn_the_same_list_with_all_kinds_of_conditions(batch: int) -> None:
    for seed in range(batch * 40, (batch + 1) * 40):
        rng = np.random.default_rng([31, seed])
        problem = with_categories(rng)
        if rng.random() < 0.3:
            problem = constrained(problem, random_constraints(rng, problem))
        options = random_options(rng, problem)
        derived = problem.with_conditions(some_kinds(rng))
        expected = covering.learn(derived, options)
        for n_jobs in THREADS:
            assert repr(native.learn(derived, options, n_jobs)) == repr(expected), f"seed {seed}"
        assert expected.attributes == problem.table.attributes


@pytest.mark.parametrize("seed", range(40))
def test_translated_condition_covers_what_the_derived_column_covers(seed: int) -> None:
    problem = with_categories(np.random.default_rng([33, seed]))
    derived = problem.with_conditions(CONDITION_KINDS)
    nothing = np.zeros((problem.n_instances, 0), np.int8)
    covered, said = ColumnCache(derived.table), ColumnCache(problem.table)
    for index in range(len(problem.table.attributes), len(derived.table.attributes)):
        attribute = derived.table.attributes[index]
        conditions: list[Condition] = [OneOfCondition(attribute.name, index, (c,)) for c in attribute.categories or ()]
        if attribute.categories is None:
            most = int(np.nanmax(derived.table.column(index)))
            cuts = [{bound: place + 0.5} for bound in ("at_most", "above") for place in range(most)]
            conditions = [RangeCondition(attribute.name, index, **cut) for cut in cuts]
        for condition in conditions:
            found = said.mask(derived.translate(condition), nothing)
            np.testing.assert_array_equal(found, covered.mask(condition, nothing))


def best_set(problem: Problem, heuristic: Heuristic) -> float:
    """The highest value of a set of categories, by trying all of them."""
    codes, present = problem.table.column(0), problem.Y[:, 0] == 1
    n_categories = len(problem.table.attributes[0].categories or ())
    sets = chain.from_iterable(combinations(range(n_categories), size) for size in range(1, n_categories + 1))
    values = []
    for some in sets:
        covered = np.isin(codes, some)
        counts = (
            problem.weights[rows].sum()
            for rows in (covered & present, covered & ~present, ~covered & ~present, ~covered & present)
        )
        values.append(float(heuristic.evaluate(*(np.array([count]) for count in counts))[0]))
    return max(values)


@pytest.mark.parametrize("seed", range(60))
def test_the_first_condition_of_a_rule_for_one_label_is_the_best_of_all_sets(seed: int) -> None:
    rng = np.random.default_rng([37, seed])
    n_rows = int(rng.integers(8, 40))
    labels = (rng.random((n_rows, 1)) < 0.5).astype(int).tolist()
    colours = [str(rng.choice(COLOURS)) for _ in labels]
    weights = rng.integers(1, 4, n_rows).tolist()
    problem = make_problem({"colour": colours}, labels, weights)
    if len(set(colours)) < 3 or not any(map(any, labels)):
        pytest.skip("fewer than three colours, or no positive")
    for heuristic in (FMeasure(0.5), FMeasure(1), FMeasure(2), Precision()):
        options = make_options(
            problem, heuristic=heuristic, head_search="single", max_conditions=1, n_rules=1, min_precision=UNBOUND
        )
        (rule,) = engine.learn(problem, replace(options, conditions=("sets",)), "native")
        without_body = rule.value if not rule.body else 0.0
        assert rule.value == pytest.approx(max(best_set(problem, heuristic), without_body))


def kinds_in(rule_list: RuleList) -> set[str]:
    """Kinds of conditions that the paper's learner does not know."""
    conditions = {condition for rule in rule_list for condition in rule.body}
    sets = {"sets" for c in conditions if isinstance(c, OneOfCondition) and (c.negated or len(c.categories) > 1)}
    return sets | {"missing" for c in conditions if isinstance(c, MissingCondition)}


def colours_and_sizes(rng: np.random.Generator, n_rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """Labels that follow from a set of colours, any other colour, and a missing size."""
    colour = rng.choice(COLOURS, n_rows)
    size = np.where(rng.random(n_rows) < 0.4, np.nan, rng.random(n_rows))
    Y = np.column_stack([np.isin(colour, ["red", "white"]), colour != "grey", np.isnan(size)]).astype(int)
    return pd.DataFrame({"colour": colour, "size": size}), Y


@pytest.mark.parametrize("seed", range(3))
def test_each_kind_is_learned_where_it_is_what_there_is_to_learn(seed: int) -> None:
    X, Y = colours_and_sizes(np.random.default_rng(seed))
    classifier = RelaxedPruningClassifier(conditions="all").fit(X, Y)
    said = {rule.to_text() for rule in readable(classifier.rule_list_, encode(X))}
    assert "y0 ← colour in {red, white}" in said or "y0, y1 ← colour in {red, white}" in said
    assert any("colour ≠ grey" in text for text in said)
    assert "y2 ← size is missing" in said
    np.testing.assert_array_equal(classifier.predict(X), Y)


@pytest.mark.parametrize(
    ("conditions", "allowed"),
    [
        ("paper", set()),
        (("sets",), {"sets"}),
        ("negation", {"sets"}),
        (["missing"], {"missing"}),
        ("missing, sets", {"sets", "missing"}),
        ("all", {"sets", "missing"}),
    ],
)
def test_only_the_kinds_asked_for_are_learned(conditions: Any, allowed: set[str]) -> None:
    X, Y = colours_and_sizes(np.random.default_rng(5))
    learner = RelaxedPruningClassifier(conditions=conditions)
    found = kinds_in(learner.fit(X, Y).rule_list_)
    assert found == allowed
    negated = {c.negated for r in learner.rule_list_ for c in r.body if isinstance(c, OneOfCondition)}
    assert negated - {False} == {"paper": set(), "missing, sets": set()}.get(str(conditions), negated - {False})


def test_the_published_learner_has_the_conditions_of_the_paper() -> None:
    X, Y = colours_and_sizes(np.random.default_rng(6))
    assert not kinds_in(RelaxedPruningClassifier().fit(X, Y).rule_list_)


@pytest.mark.parametrize("wrong", ["set", ["sets", "none"], 3, None, "sets;missing"])
def test_an_unknown_kind_is_refused_by_name(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"conditions .*'sets', 'negation', 'missing'"):
        RuleListClassifier(conditions=wrong).fit([[1.0], [2.0]], [[1], [0]])


def test_constraints_on_an_attribute_bind_all_conditions_on_it() -> None:
    X, Y = colours_and_sizes(np.random.default_rng(7))
    without_colour = Constraints(forbidden_attributes=["colour"])
    forbidden = RelaxedPruningClassifier(conditions="all", constraints=without_colour).fit(X, Y).rule_list_
    assert {forbidden.attributes[i].name for i in forbidden.tested_attributes()} == {"size"}


def test_a_table_without_categories_and_gaps_stays_as_it_is() -> None:
    rng = np.random.default_rng(8)
    problem = make_problem({"a": rng.random(9).tolist(), "b": list("xyxyxyxyx")}, [[1], [0], [1]] * 3)
    assert problem.with_conditions(CONDITION_KINDS) is problem
    matrix = SparseColumns(sp.csc_array(np.eye(9)), np.zeros(9, dtype=bool), np.arange(9))
    wide = replace(problem, table=Table([Attribute(f"a{i}") for i in range(9)], matrix))
    assert wide.with_conditions(CONDITION_KINDS) is wide


def test_a_missing_value_of_a_sparse_matrix_is_found() -> None:
    dense = np.array([[0.0, 1.0], [np.nan, 0.0], [np.nan, 2.0], [3.0, 0.0]])
    Y = np.isnan(dense[:, :1]).astype(int)
    learner = RelaxedPruningClassifier(min_coverage=0, conditions="missing")
    for X in (dense, sp.csr_array(dense), sp.csc_matrix(dense), pd.DataFrame(dense, columns=["x0", "x1"])):
        assert [rule.to_text() for rule in learner.fit(X, Y).rule_list_] == ["y0 ← x0 is missing"]
        np.testing.assert_array_equal(learner.predict(X), Y)


def test_orders_and_negated_categories_are_limited() -> None:
    rng = np.random.default_rng(9)
    categories = tuple(f"c{i:02}" for i in range(60))
    codes = rng.integers(0, 60, 400).astype(np.int32)
    Y = (rng.random((400, 30)) < 0.3).astype(np.uint8)
    problem = Problem(Table([Attribute("a", categories)], [codes]), tuple(map(str, range(30))), Y, np.ones(400))
    assert len(problem.with_conditions(("sets",)).derived) == MOST_ORDERS
    assert len(problem.with_conditions(("negation",)).derived) == MOST_NEGATED


@pytest.mark.parametrize("seed", range(20))
def test_readable_conditions_say_the_same_of_training_rows(seed: int) -> None:
    rng = np.random.default_rng([41, seed])
    problem = with_categories(rng, most_rows=80, most_columns=3, most_labels=4)
    options = make_options(problem, conditions=CONDITION_KINDS)
    learned = engine.learn(problem, options)
    said = readable(learned, problem.table)
    np.testing.assert_array_equal(predict_labels(said, problem.table), predict_labels(learned, problem.table))
    for rule in said:
        nominal = [c.index for c in rule.body if isinstance(c, OneOfCondition)]
        assert len(nominal) == len(set(nominal))


def test_an_unseen_category_is_as_good_as_a_missing_value() -> None:
    X, Y = colours_and_sizes(np.random.default_rng(11))
    learner = RelaxedPruningClassifier(conditions="all").fit(X, Y)
    new = pd.DataFrame({"colour": ["pink", None], "size": [0.5, 0.5]})
    with pytest.warns(UserWarning, match="colour"):
        present = learner.predict(new)
    np.testing.assert_array_equal(present[0], present[1])
    data = Dataset(learner._encode(new.iloc[1:]), np.zeros((1, 3), np.uint8), ("y0", "y1", "y2"))
    np.testing.assert_array_equal(learner.predict(data), present[1:])


def derived_of(colours: list[str | None], Y: list[list[int]], *kinds: str) -> list[tuple[str, ...]]:
    """The categories of the columns that are made of one attribute of all colours."""
    codes = np.array([-1 if colour is None else COLOURS.index(colour) for colour in colours], dtype=np.int32)
    table = Table([Attribute("colour", COLOURS)], [codes])
    truth = np.array(Y, dtype=np.uint8)
    return [column.categories for column in derive(table, truth, np.ones(len(truth)), kinds)[1]]


def test_categories_are_in_the_order_of_the_share_of_a_label_and_those_without_rows_in_none() -> None:
    colours = ["red", "red", "blue", "blue", "blue", "white", "white", None]
    Y = [[1], [1], [0], [1], [0], [1], [0], [1]]
    assert derived_of(colours, Y, "sets") == [("blue", "white", "red")]
    assert derived_of(colours, Y, "negation") == [("blue",), ("red",), ("white",)]


def test_a_label_that_says_the_same_backwards_and_one_that_says_nothing_give_no_order_of_their_own() -> None:
    colours = ["red", "red", "blue", "blue", "white", "white"]
    Y = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert derived_of(colours, Y, "sets") == [("blue", "white", "red")]


def test_of_many_categories_the_most_frequent_are_negated() -> None:
    categories = tuple(f"c{i:02}" for i in range(MOST_NEGATED + 3))
    codes = np.repeat(np.arange(len(categories), dtype=np.int32), 1 + np.arange(len(categories)))
    table = Table([Attribute("many", categories)], [codes])
    made = derive(table, np.ones((len(codes), 1), np.uint8), np.ones(len(codes)), ["negation"])[1]
    assert [column.categories for column in made] == [(name,) for name in categories[3:]]


def test_a_missing_category_of_a_sparse_matrix_is_found_and_a_negative_number_is_none() -> None:
    matrix = sp.csc_array(np.array([[-1.0, -1.0], [1.0, 2.0], [0.0, 0.0]]))
    columns = SparseColumns(matrix, np.array([True, False]), np.arange(2))
    table = Table([Attribute("colour", ("x", "y")), Attribute("size")], columns, 3)
    made = derive(table, np.ones((3, 1), np.uint8), np.ones(3), ["missing"])[1]
    assert [column.source for column in made] == [0]
