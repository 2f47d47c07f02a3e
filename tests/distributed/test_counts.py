"""Rules that are decided on the sums of blocks are those of the engines that see all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.campaigns import numbers
from helpers.native_problems import constrained, random_constraints, random_options, random_problem
from helpers.native_problems import random_sparse_problem as sparse_problem
from helpers.parts import as_fitted, cut_at, learn_in_parts
from plurule.heuristics import FMeasure, Gain
from plurule.learning import engine
from plurule.learning.initial_rules import as_initial_rules
from plurule.learning.problem import MinPrecision, Options, Problem

BATCH = 25


def cuts(rng: np.random.Generator, problem: Problem) -> list[int]:
    return rng.integers(0, problem.n_instances + 1, rng.integers(0, 8)).tolist()


def assert_same_in_parts(rng: np.random.Generator, problem: Problem, options: Options, what: str) -> None:
    expected = engine.learn(as_fitted(problem), options, "native")
    found = learn_in_parts(cut_at(problem, cuts(rng, problem)), problem, options)
    assert [repr(rule) for rule in found] == [repr(rule) for rule in expected], f"{what}: {options}"
    assert found == expected, what


@pytest.mark.parametrize("batch", numbers(4, 60))
def test_whatever_the_parts_and_options_the_list_is_that_of_the_native_engine(batch: int):
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        rng = np.random.default_rng([15, seed])
        problem = random_problem(rng)
        options = random_options(rng, problem)
        if not options.heuristic.example_based:  # which is refused for data in parts
            assert_same_in_parts(rng, problem, options, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(3, 30))
def test_larger_data_with_more_labels_and_bins_give_the_same_list(seed: int):
    rng = np.random.default_rng([16, seed])
    problem = random_problem(rng, most_rows=400, most_columns=8, most_labels=20)
    options = random_options(rng, problem, head_search="relaxed", n_rules=8, max_bins=(2, 5, 32)[seed % 3])
    assert_same_in_parts(rng, problem, options, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(12, 100))
def test_constraints_are_kept_as_by_the_native_engine(seed: int):
    rng = np.random.default_rng([17, seed])
    problem = random_problem(rng)
    problem = constrained(problem, random_constraints(rng, problem))
    assert_same_in_parts(rng, problem, random_options(rng, problem, head_search="relaxed"), f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(8, 60))
def test_sparse_columns_and_the_gain_give_the_same_list(seed: int):
    rng = np.random.default_rng([18, seed])
    problem = sparse_problem(rng)
    heuristic = (Gain(0.3), FMeasure(1))[seed % 2]
    bar = MinPrecision(0.4, of=("label", "head")[seed % 2], when="finished")
    options = random_options(rng, problem, heuristic=heuristic, min_precision=bar, head_search="relaxed")
    assert_same_in_parts(rng, problem, options, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(8, 60))
def test_initial_rules_come_first_with_the_counts_of_all_parts(seed: int):
    rng = np.random.default_rng([19, seed])
    problem = random_problem(rng, most_rows=60)
    text = "l0 <-" if problem.n_labels == 1 else f"l0 <- l{problem.n_labels - 1}\nl1 <-\nl0 <- l1"
    if any(not attribute.is_nominal for attribute in problem.table.attributes):
        name = next(attribute.name for attribute in problem.table.attributes if not attribute.is_nominal)
        text = f"l0 <- {name} > 0.35 [stop]\n{text}"
    rules = as_initial_rules(text, problem.table.attributes, problem.labels)
    problem = replace(problem, initial_rules=rules)
    assert_same_in_parts(rng, problem, random_options(rng, problem, head_search="relaxed"), f"seed {seed}")
