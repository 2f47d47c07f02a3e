"""The native engine gives the same rule lists as the reference engine, counts and values included."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.campaigns import numbers
from helpers.native_problems import (
    HEURISTICS,
    constrained,
    random_constraints,
    random_labels,
    random_min_precision,
    random_options,
    random_problem,
    random_sparse_problem,
)
from helpers.problems import make_options
from helpers.requirements import data_set
from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule._learning import covering, native
from plurule._learning.problem import MinPrecision, Options, Problem
from plurule.data import read
from plurule.data.inputs import encode
from plurule.errors import ParameterError
from plurule.heuristics import (
    BUILT_IN,
    FMeasure,
    Gain,
    HammingAccuracy,
    Heuristic,
    Laplace,
    Precision,
    WeightedRelativeAccuracy,
)
from plurule.lifts import KLN, NoLift, as_table
from plurule.model import RuleList

BATCH = 100
THREADS = (1, 2, 3)


def assert_same(expected: RuleList, found: RuleList, what: str) -> None:
    """Equal in everything; otherwise show the first rule that differs."""
    if expected == found:
        return
    for position, (rule, other) in enumerate(zip(expected, found, strict=False)):
        assert repr(rule) == repr(other), f"{what}, rule {position}"
    assert len(expected) == len(found), what
    assert expected.undecided == found.undecided, what
    raise AssertionError(f"{what}: rule lists differ")


def assert_engines_agree(problem: Problem, options: Options, what: str) -> None:
    """The same list, or the same refusal."""
    try:
        expected = covering.learn(problem, options)
    except ParameterError as refused:
        for n_jobs in THREADS:
            with pytest.raises(ParameterError, match=re.escape(str(refused))):
                native.learn(problem, options, n_jobs)
        return
    for n_jobs in THREADS:
        assert_same(expected, native.learn(problem, options, n_jobs), f"{what}, {n_jobs} threads, {options}")


# At random -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", numbers(4, 32))
def test_on_random_small_problems_both_engines_learn_the_identical_rule_list(batch: int):
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        rng = np.random.default_rng([1, seed])
        problem = random_problem(rng)
        assert_engines_agree(problem, random_options(rng, problem), f"seed {seed}")


@pytest.mark.parametrize("bits", [16, 17, 24, 31, 32])
@pytest.mark.parametrize("seed", numbers(4, 40))
def test_weights_whose_sums_are_at_the_limits_of_whole_numbers_give_the_identical_rule_list(seed: int, bits: int):
    rng = np.random.default_rng([13, seed, bits])
    problem = random_problem(rng, most_rows=40, most_labels=12)
    weights = np.ones(problem.n_instances)
    weights[rng.integers(len(weights))] += 2.0**bits - len(weights) - rng.integers(0, 2)
    if seed % 2:  # many large weights, not one
        weights = np.floor(weights.sum() * rng.dirichlet(np.ones(len(weights))))
    problem = replace(problem, weights=weights)
    options = random_options(rng, problem, head_search=("relaxed", "single")[seed % 4 == 3])
    assert_engines_agree(problem, options, f"seed {seed}")


def test_heads_of_more_labels_than_16_bits_count_are_refined():
    X = np.array([[0.0, 1], [1, 0], [2, 1], [3, 0], [4, 1], [5, 0]])
    Y = ((X[:, :1] > 1) & (X[:, 1:] > 0)).astype(np.uint8)
    bodies = []
    for n_labels in (5, 2**16):
        problem = Problem(encode(X), tuple(map(str, range(n_labels))), np.repeat(Y, n_labels, axis=1), np.ones(len(X)))
        (rule,) = native.learn(problem, Options(as_table(KLN(1e-3), n_labels), FMeasure(), label_conditions=False))
        assert (len(rule.head), rule.tp, rule.fp) == (n_labels, 2 * n_labels, 0)
        bodies.append(rule.body)
    assert bodies[0] == bodies[1]


def many_rows(rng: np.random.Generator) -> Problem:
    return random_problem(rng, most_rows=400, most_columns=8, most_labels=12)


def many_labels(rng: np.random.Generator) -> Problem:
    return random_problem(rng, most_rows=80, most_columns=3, most_labels=70)


@pytest.mark.parametrize("batch", numbers(2, 8))
@pytest.mark.parametrize("make", [many_rows, many_labels])
def test_on_larger_random_problems_both_engines_learn_the_identical_rule_list(make: Any, batch: int):
    for seed in range(batch * 5, (batch + 1) * 5):
        rng = np.random.default_rng([2, seed])
        problem = make(rng)
        options = random_options(rng, problem, head_search=rng.choice(["relaxed", "relaxed", "single"]), n_rules=8)
        assert_engines_agree(problem, options, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(8, 24))
def test_what_is_remembered_of_candidates_from_rule_to_rule_changes_no_rule(seed: int):
    # Long lists over many labels, with many ties: labels fall and rise, rows leave training.
    rng = np.random.default_rng([7, seed])
    problem = random_problem(rng, most_rows=40, most_columns=3, most_labels=90 if seed % 8 == 4 else 24)
    options = random_options(
        rng,
        problem,
        heuristic=[FMeasure(0.5), HammingAccuracy(), FMeasure(1), Laplace()][seed % 4],
        head_search=["relaxed", "relaxed", "relaxed", "decomposable"][rng.integers(4)],
        beam_width=1,
        n_rules=None,
        min_coverage=0,
        remaining=0,
    )
    assert_engines_agree(problem, options, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(4, 24))
def test_a_candidate_that_was_the_best_and_is_none_any_more_changes_no_rule(seed: int):
    # Every rule takes its rows out of training, and with them values between which the last best condition split.
    rng = np.random.default_rng([19, seed])
    problem = random_problem(rng, most_rows=40, most_columns=3, most_labels=6)
    chosen = {"beam_width": 1, "n_rules": None, "min_coverage": 0, "remaining": 0, "stop_threshold": 1.0}
    options = random_options(rng, problem, heuristic=FMeasure(0.5), head_search="relaxed", **chosen)
    assert_engines_agree(problem, options, f"seed {seed}")


@pytest.mark.parametrize("batch", numbers(3, 40))
def test_on_sparse_problems_both_engines_learn_the_identical_rule_list(batch: int):
    # Rows are walked by what they list, and values that no row in training has any more keep their slots.
    for seed in range(batch * 10, (batch + 1) * 10):
        rng = np.random.default_rng([11, seed])
        problem = random_sparse_problem(rng)
        if rng.random() < 0.3:
            problem = constrained(problem, random_constraints(rng, problem))
        search = ["relaxed", "relaxed", "single", "decomposable"][rng.integers(4)]
        options = random_options(rng, problem, head_search=search, remaining=0, n_rules=12)
        assert_engines_agree(problem, options, f"seed {seed}")


@pytest.mark.parametrize("batch", numbers(2, 10))
def test_what_is_remembered_of_attributes_from_condition_to_condition_changes_no_rule(batch: int):
    # Bodies of many conditions under fixed heads: among others, a condition that covers all rows but counts them again.
    for seed in range(batch * 20, (batch + 1) * 20):
        rng = np.random.default_rng([9, seed])
        problem = random_problem(rng, most_rows=160, most_columns=7, most_labels=4)
        options = random_options(
            rng,
            problem,
            heuristic=[HammingAccuracy(), HammingAccuracy(), FMeasure(0.5), Precision(), Laplace()][seed % 5],
            head_search="relaxed",
            fix_head=True,
            beam_width=1,
            n_rules=40,
            max_conditions=None,
        )
        assert_engines_agree(problem, options, f"seed {seed}")


@pytest.mark.parametrize("batch", numbers(2, 40))
def test_values_that_hardly_repeat_give_the_identical_rule_list(batch: int):
    # Few rows change many slots of the histogram.
    for seed in range(batch * 5, (batch + 1) * 5):
        rng = np.random.default_rng([13, seed])
        n_rows, n_labels = int(rng.integers(70, 140)), int(rng.integers(1, 40))
        X = rng.normal(size=(n_rows, 3)).round(3)
        X[:, 2] = rng.integers(0, 4, n_rows)
        Y = random_labels(rng, list(X.T), n_rows, n_labels)
        problem = Problem(encode(X), tuple(f"l{i}" for i in range(n_labels)), Y, np.ones(n_rows))
        options = random_options(
            rng,
            problem,
            heuristic=[HammingAccuracy(), HammingAccuracy(), FMeasure(0.5), FMeasure(2), Precision()][seed % 5],
            head_search="relaxed" if seed % 4 else "single",
            min_precision=random_min_precision(rng, (0, 0.3, 0.5, 0.5, 0.5, 0.8)),
            predict_absence=seed % 7 == 6,
            beam_width=1,
            n_rules=15,
            max_bins=None,
        )
        assert_engines_agree(problem, options, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(4, 12))
def test_the_model_does_not_depend_on_the_number_of_threads(seed: int):
    # Large enough for the work to be shared out.
    rng = np.random.default_rng([3, seed])
    n_rows, n_labels = 3000, int(rng.integers(3, 40))
    X = rng.normal(size=(n_rows, 20)).round(2)
    Y = (X[:, rng.integers(0, 20, n_labels)] + rng.normal(size=(n_rows, n_labels)) > 1).astype(np.uint8)
    weights = rng.integers(1, 4, n_rows).astype(float) if seed % 4 == 0 else np.ones(n_rows)
    problem = Problem(encode(X), tuple(f"l{i}" for i in range(n_labels)), Y, weights)
    options = random_options(
        rng,
        problem,
        heuristic=[FMeasure(), HammingAccuracy(), WeightedRelativeAccuracy()][seed % 3],
        head_search="relaxed",
        n_rules=8,
        max_bins=None if seed % 2 else 16,
    )
    one = native.learn(problem, options, 1)
    for n_jobs in (2, 3, 7):
        assert_same(one, native.learn(problem, options, n_jobs), f"{n_jobs} threads, {options}")


def test_the_random_problems_vary_every_option_and_every_heuristic():
    rng = np.random.default_rng(0)
    problem = random_problem(rng, most_labels=3)
    drawn = [random_options(rng, problem) for _ in range(2000)]
    # More kinds of conditions are more columns: tests/learning/test_derived.py is about them.
    # The engine is what tests compare.
    for field in (field for field in fields(Options) if field.name not in ("conditions", "engine")):
        assert len({repr(getattr(options, field.name)) for options in drawn}) > 1, field.name
    # The gain is learned by the reference engine alone.
    assert {type(heuristic) for heuristic in HEURISTICS} > set(BUILT_IN) - {Gain}


@pytest.mark.parametrize("seed", numbers(36, 240))
def test_any_minimum_precision_and_the_gain_give_the_rules_of_the_reference_engine(seed: int):
    rng = np.random.default_rng([12, seed])
    problem = random_problem(rng, most_rows=50, most_columns=4, most_labels=12)
    threshold = float(rng.choice([0, 0.1, 1 / 3, 0.5, 0.6, 0.9, 1]))
    of, when = [("label", "finished"), ("label", "growing"), ("head", "finished"), ("head", "growing")][seed % 4]
    changes: dict[str, Any] = {"min_precision": MinPrecision(threshold, of, when)}
    if seed % 3 == 0:
        changes |= {
            "heuristic": Gain(float(rng.choice([0.2, 0.5, 0.7]))),
            "averaging": "micro",
            "head_search": "relaxed",
        }
        changes |= {"lift": as_table(NoLift(), problem.n_labels)}
    assert_engines_agree(problem, replace(random_options(rng, problem), **changes), f"seed {seed}")


# Lengths ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_a_list_of_fewer_rules_is_the_beginning_of_the_whole_list(seed: int):
    rng = np.random.default_rng([10, seed])
    problem = random_problem(rng, most_rows=60)
    options = random_options(rng, problem, n_rules=None)
    whole = native.learn(problem, options)
    for n_rules in (0, 1, 2, 5):
        part = native.learn(problem, replace(options, n_rules=n_rules), n_jobs=1 + seed % 2)
        assert tuple(part) == tuple(whole)[: len(part)]
        assert len(part) == min(n_rules, len(whole)) or problem.initial_rules


# Columns ---------------------------------------------------------------------------------------------------


def test_columns_prepared_once_serve_any_number_of_fits():
    rng = np.random.default_rng(5)
    problem = random_problem(rng, most_rows=60)
    columns = native.prepare(problem, make_options(problem))
    for _ in range(20):
        options = random_options(rng, problem, max_bins=None)
        assert_same(native.learn(problem, options), native.learn(problem, options, columns=columns), f"{options}")


def test_a_sparse_matrix_gives_the_model_of_its_dense_form():
    rng = np.random.default_rng(6)
    X = np.where(rng.random((200, 30)) < 0.9, 0, rng.integers(-2, 5, (200, 30))).astype(float)
    Y = (X[:, :5] > 0) | (rng.random((200, 5)) < 0.1)
    dense = RelaxedPruningClassifier(remaining=0).fit(X, Y.astype(int))
    sparse = RelaxedPruningClassifier(remaining=0).fit(sp.csc_array(X), Y.astype(int))
    assert len(dense.rule_list_) > 5
    assert dense.rule_list_ == sparse.rule_list_


def test_columns_of_a_frame_in_any_memory_layout_give_the_same_model():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(100, 4))
    Y = (X[:, :2] > 0.3).astype(int)
    expected = RuleListClassifier().fit(X, Y).rule_list_
    assert RuleListClassifier().fit(np.asfortranarray(X), Y).rule_list_ == expected
    assert RuleListClassifier().fit(np.repeat(X, 2, axis=1)[:, ::2], Y).rule_list_ == expected
    assert RuleListClassifier().fit(X[::-1][::-1], Y).rule_list_ == expected


# Real data -------------------------------------------------------------------------------------------------

OBJECTIVES: dict[str, tuple[Heuristic, Any, bool]] = {
    "MicF+": (FMeasure(), "micro", False),
    "MicF+-": (FMeasure(), "micro", True),
    "MacF+": (FMeasure(), "macro", False),
    "MacF+-": (FMeasure(), "macro", True),
    "HA+": (HammingAccuracy(), "micro", False),
    "HA+-": (HammingAccuracy(), "micro", True),
}


def assert_engines_agree_on(
    folder: Path, name: str, objective: str, lift: Any, n_rules: int | None = None, n_rows: int | None = None
) -> None:
    data = read(data_set(folder, name))[:n_rows]
    problem = Problem(data.X, data.label_names, np.asarray(data.Y, dtype=np.uint8), np.ones(len(data)))
    heuristic, averaging, absence = OBJECTIVES[objective]
    options = Options(as_table(lift, problem.n_labels), heuristic, averaging, predict_absence=absence, n_rules=n_rules)
    assert_engines_agree(problem, options, name)


EVERY_OBJECTIVE = pytest.mark.parametrize("objective", OBJECTIVES)
PRUNINGS = {"normal": NoLift(), "relaxed": KLN.at(labels=3, lift=1.08)}


@EVERY_OBJECTIVE
@pytest.mark.parametrize(
    ("name", "n_rules", "n_rows", "pruning"),
    [
        *(("flags", 6, None, "normal"), ("flags", 6, None, "relaxed")),
        *(("emotions", 3, 120, "normal"), ("birds", 2, 60, "relaxed")),
    ],
)
@pytest.mark.slow
def test_on_real_data_both_engines_learn_the_same_rules(
    shared_data: Path, name: str, n_rules: int | None, n_rows: int | None, objective: str, pruning: str
):
    assert_engines_agree_on(shared_data, name, objective, PRUNINGS[pruning], n_rules, n_rows)


@EVERY_OBJECTIVE
@pytest.mark.parametrize("pruning", PRUNINGS)
@pytest.mark.parametrize("name", ["flags", "emotions", "birds"])
@pytest.mark.long
def test_on_real_data_both_engines_learn_the_identical_model(
    shared_data: Path, name: str, objective: str, pruning: str
):
    # The reference engine needs a quarter of an hour for all twelve models of birds.
    assert_engines_agree_on(shared_data, name, objective, PRUNINGS[pruning])
