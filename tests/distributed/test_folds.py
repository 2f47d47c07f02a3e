"""Rows in parts, as choosing sees them: what is known of them is what would be known in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from plurule import RelaxedPruningClassifier, RuleListClassifier, scan
from plurule.data.dataset import Dataset
from plurule.datasets import load_world_flags
from plurule.distributed.folds import BlockFolds
from plurule.errors import DataError, PluruleError
from plurule.learning.problem import Options, Problem
from plurule.lifts import as_table
from plurule.selection.folds import Folds, problem_of

N_PARTS = 3


@pytest.fixture(scope="module")
def data() -> Dataset:
    flags = load_world_flags()
    weights = np.random.default_rng(3).integers(1, 3, len(flags)).astype(float)
    return Dataset(**(vars(flags) | {"weights": weights}))


@pytest.fixture(scope="module")
def options(data: Dataset) -> Options:
    return Options(as_table(None, len(data.label_names)), n_rules=6, max_bins=16)


@pytest.fixture(scope="module")
def folds(data: Dataset) -> Folds:
    return Folds(problem_of(data), ()).split(N_PARTS)


@pytest.fixture(scope="module")
def blocks(data: Dataset, options: Options) -> Iterator[BlockFolds]:
    cut = [data[rows] for rows in np.array_split(np.arange(len(data)), 4)]
    with scan(cut).training_data(options, (), None, 1) as found:
        yield found.split(N_PARTS)


def label_sets(problem: Problem) -> Counter[bytes]:
    """What each label set weighs."""
    found: Counter[bytes] = Counter()
    for labels, weight in zip(problem.Y, problem.weights.tolist(), strict=True):
        found[labels.tobytes()] += weight
    return found


def test_label_sets_and_numbers_of_rows_are_those_of_the_parts_in_memory(folds: Folds, blocks: BlockFolds) -> None:
    assert blocks.n_parts == folds.n_parts == N_PARTS
    pairs = [(blocks.problem, folds.problem)]
    pairs += [(blocks.training(part), folds.training(part)) for part in range(N_PARTS)]
    pairs += [(blocks.held_out(part)[0], folds.held_out(part)[0]) for part in range(N_PARTS)]
    for elsewhere, here in pairs:
        assert elsewhere.n_instances == here.n_instances
        assert label_sets(elsewhere) == label_sets(here)
        assert len(elsewhere.Y) < len(here.Y)
    assert (blocks.everything().n_parts, blocks.everything().training(0).n_instances) == (1, len(folds.problem.Y))


def test_lists_of_parts_are_those_in_memory(folds: Folds, blocks: BlockFolds, options: Options) -> None:
    for part in range(N_PARTS):
        assert blocks.learn(part, options) == folds.learn(part, options)


def test_values_around_the_thresholds_of_a_list_make_it_as_short_as_all_values_do(
    folds: Folds, blocks: BlockFolds, options: Options
) -> None:
    assert blocks.learn_one(options) == folds.learn_one(options)


def test_no_rows_are_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="the source holds no rows"):
        RuleListClassifier().fit(scan((np.zeros((0, 2)), np.zeros((0, 2), int))))


def test_a_frame_with_a_column_of_that_name_is_no_data_in_parts() -> None:
    frame = pd.DataFrame({"training_data": np.arange(8.0), "columns": 1.0, "label": [0] * 4 + [1] * 4})
    learner = RelaxedPruningClassifier(max_rules=2)
    again = learner.fit(frame[["training_data", "columns"]], frame["label"])
    assert again.n_features_in_ == 2


@pytest.mark.parametrize("in_parts", [False, True])
def test_an_initial_rule_that_names_two_of_several_classes_is_refused(in_parts: bool) -> None:
    X, y = np.arange(30.0).reshape(-1, 1), np.repeat(["a", "b", "c"], 10)
    given = (scan([(X[:15], y[:15]), (X[15:], y[15:])]), None) if in_parts else (X, y)
    with pytest.raises(PluruleError, match="a, b"):
        RelaxedPruningClassifier().fit(*given, initial_rules="a, b <- x0 > 3")
