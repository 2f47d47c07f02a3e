"""Rows in memory or in columns that are mapped to memory: what a fit asks of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from helpers.parts import cut_at, spooled
from helpers.rows import INITIAL, random_bodies, random_roles, random_rows
from helpers.scans import learner
from plurule import Constraints, DataError, RuleListClassifier, scan
from plurule._learning.problem import Problem
from plurule._prediction.apply import recount
from plurule._rows.rows import CoverBlock, MemoryRows, Roles, drawn
from plurule.data import Dataset
from plurule.data.inputs import labelled_data
from plurule.model.file import dumps


@pytest.fixture(scope="module")
def data() -> Dataset:
    """Rows of which rules predict much more than a constant."""
    return as_data(random_rows(np.random.default_rng(2), n_rows=400))


def as_data(problem: Problem) -> Dataset:
    return Dataset(problem.table, problem.Y.astype(np.int8), problem.labels, problem.weights)


# Rows to grow lists on -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [None, 10, 11])
def test_drawn_gives_all_rows_up_to_a_limit(most: int | None) -> None:
    assert drawn(10, most).tolist() == list(range(10))


def test_drawn_gives_so_many_different_rows_in_order() -> None:
    places = drawn(1000, 300)
    assert len(places) == 300
    assert (np.diff(places) > 0).all()
    assert places[-1] < 1000


def test_drawn_depends_on_nothing_but_numbers() -> None:
    assert drawn(1000, 300).tolist() == drawn(1000, 300).tolist()


def test_take_of_all_rows_copies_nothing() -> None:
    problem = random_rows(np.random.default_rng(0))
    sample = MemoryRows(problem).take(None)
    assert sample.problem is problem
    assert sample.places.tolist() == list(range(problem.n_instances))


def test_take_of_some_rows_gives_them_with_their_numbers() -> None:
    problem = random_rows(np.random.default_rng(0), weighted=True)
    sample = MemoryRows(problem).take(40)
    assert len(sample.places) == sample.problem.n_instances == 40
    assert np.array_equal(sample.problem.Y, problem.Y[sample.places])
    assert np.array_equal(sample.problem.weights, problem.weights[sample.places])


# What is known about rows --------------------------------------------------------------------------------------------


def test_memory_rows_of_leaves_out_rows_without_weight() -> None:
    data = as_data(random_rows(np.random.default_rng(0), n_rows=6))
    rows = MemoryRows.of(Dataset(data.X, data.Y, data.label_names, np.array([1, 0, 2, 0, 0, 1.0])))
    assert rows.n_rows == 3
    assert rows.positions is not None
    assert rows.positions.tolist() == [0, 2, 5]
    assert rows.problem.weights.tolist() == [1, 2, 1]


def test_memory_rows_of_refuses_groups_of_another_number_of_rows() -> None:
    with pytest.raises(DataError, match="groups has 3 rows, expected one for each of the 20 rows of X"):
        MemoryRows.of(as_data(random_rows(np.random.default_rng(0), n_rows=20)), groups=[1, 2, 3])


def test_memory_rows_of_refuses_rows_that_go_against_constraints() -> None:
    data = as_data(random_rows(np.random.default_rng(0), n_rows=20))
    with pytest.raises(DataError, match=r"row \d+ has the label 'b' without 'a'"):
        MemoryRows.of(data, constraints=Constraints(hierarchy={"b": "a"}))


# Splitting -----------------------------------------------------------------------------------------------------------


def test_split_holds_out_the_rows_of_a_group_together() -> None:
    groups = np.random.default_rng(1).integers(0, 30, 150)
    rows = MemoryRows.of(as_data(random_rows(np.random.default_rng(0))), groups=groups)
    for role in rows.split(4).of_rows:
        assert not set(groups[role == 1]) & set(groups[role == 0])


def test_split_holds_out_copies_together_with_a_warning() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), (rng.random((60, 2)) < 0.4).astype(np.int8)
    twice = np.tile(np.arange(60), 2)
    data, _ = labelled_data(X[twice], Y[twice])
    with pytest.warns(UserWarning, match="60 of 120 rows are copies of others, .* are held out together"):
        roles = MemoryRows.of(data).split(5)
    assert np.array_equal(roles.of_rows[:, :60], roles.of_rows[:, 60:])


def test_split_does_not_warn_of_groups_that_nobody_gave(recwarn: pytest.WarningsRecorder) -> None:
    MemoryRows.of(as_data(random_rows(np.random.default_rng(0)))).split(KFold(3))
    assert not [one for one in recwarn if "groups" in str(one.message)]


def test_split_warns_of_groups_that_a_splitter_ignores() -> None:
    rows = MemoryRows.of(as_data(random_rows(np.random.default_rng(0))), groups=np.arange(150) // 2)
    with pytest.warns(UserWarning, match="The groups parameter is ignored by KFold"):
        rows.split(KFold(3))


# Growing -------------------------------------------------------------------------------------------------------------


def test_grow_learns_from_the_training_rows_of_each_fold_and_last_from_all() -> None:
    problem = random_rows(np.random.default_rng(0))
    rows = MemoryRows(problem)
    rows.take(None)
    roles = random_roles(np.random.default_rng(1), problem.n_instances)
    *folds, last = rows.grow(lambda one: one.Y, roles, lambda share: None)
    for fold, Y in enumerate(folds):
        assert np.array_equal(Y, problem.Y[roles.of_rows[fold] == 0])
    assert np.array_equal(last, problem.Y)


def test_grow_of_a_sample_learns_from_the_sampled_training_rows() -> None:
    problem = random_rows(np.random.default_rng(0))
    rows = MemoryRows(problem)
    places = rows.take(50).places
    roles = random_roles(np.random.default_rng(1), problem.n_instances)
    first, *_, last = rows.grow(lambda one: one.Y, roles, lambda share: None)
    assert np.array_equal(first, problem.Y[places[roles.of_rows[0, places] == 0]])
    assert np.array_equal(last, problem.Y[places])


def test_grow_calls_progress_with_the_share_that_is_done() -> None:
    rows = MemoryRows(random_rows(np.random.default_rng(0)))
    rows.take(None)
    shares: list[float] = []
    rows.grow(lambda one: None, random_roles(np.random.default_rng(1), 150, n_folds=3), shares.append)
    assert shares[:3] == [0.25, 0.5, 0.75]
    assert set(shares[3:]) <= {1.0}


# Counting ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_rows", [None, 1, 16, 149])
def test_count_gives_the_counts_of_all_rows_whatever_the_blocks(block_rows: int | None) -> None:
    problem = random_rows(np.random.default_rng(0), weighted=True)
    rules = problem.listed(INITIAL)
    found = MemoryRows(problem, block_rows=block_rows).count(rules)
    expected = recount(rules, problem.table, problem.Y, problem.weights)
    assert found == expected


def test_count_keeps_a_value_or_not_whatever_the_blocks() -> None:
    problem = random_rows(np.random.default_rng(0))
    (one, *_) = recount(problem.listed(INITIAL), problem.table, problem.Y)
    valued = problem.listed([replace(one, value=0.5)])
    values = [MemoryRows(problem, block_rows=size).count(valued)[0].value for size in (None, 40)]
    assert values[0] == values[1]


# Blocks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_rows", [1, 7, 8, 150, 1000])
def test_cover_divides_rows_into_blocks_of_that_size(block_rows: int) -> None:
    problem = random_rows(np.random.default_rng(0))
    roles = random_roles(np.random.default_rng(1), problem.n_instances)
    covers = MemoryRows(problem, block_rows=block_rows).cover([[()]], roles)
    assert len(covers.blocks) == -(-150 // block_rows)  # type: ignore[attr-defined]
    assert covers.total(CoverBlock.label_sums, None)[-1] == 150


GIVEN: list[dict[str, Any]] = [
    {"cv": 3, "max_rules": 8},
    {"cv": 0.3, "max_rules": 6, "scoring": "macro_f1"},
    {"cv": 2, "max_rules": 6, "scoring": "subset_accuracy"},
    {"cv": 2, "max_rules": 6, "scoring": "roc_auc", "lift": None},
    {"cv": 2, "max_rules": 6, "max_grown_rows": 120, "conditions": "all"},
    {"max_rules": 6},
    {"max_rules": 6, "max_grown_rows": 120},
    {"max_grown_rows": 399, "max_conditions": 3},
]


@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("block_rows", [17, 200])
def test_block_sizes_never_change_a_model(
    given: dict[str, Any], block_rows: int, data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = learner(**given).fit(data)
    assert any(rule.body for rule in expected.rule_list_)
    monkeypatch.setattr("plurule._rows.rows.BLOCK_ROWS", block_rows)
    found = learner(**given).fit(scan([data[:50], data[50:]]))
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    assert getattr(found, "chosen_", None) == getattr(expected, "chosen_", None)


def test_block_sizes_never_change_a_model_with_weights_and_initial_rules(
    data: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = np.random.default_rng(0).choice([0, 0.5, 1, 2.5], len(data))
    weighted = Dataset(data.X, data.Y, data.label_names, weights)
    given = {"cv": 2, "max_rules": 6, "lift": None}
    expected = RuleListClassifier(**given).fit(weighted, initial_rules="a <- x0 <= 1.5")
    monkeypatch.setattr("plurule._rows.rows.BLOCK_ROWS", 60)
    found = RuleListClassifier(**given).fit(scan([weighted[:50], weighted[50:]]), initial_rules="a <- x0 <= 1.5")
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    assert found.chosen_ == expected.chosen_


def test_rows_of_columns_in_files_are_those_in_memory(tmp_path: Path) -> None:
    problem = random_rows(np.random.default_rng(0), weighted=True)
    rows = MemoryRows.of(spooled(cut_at(problem, [40, 40, 99]), tmp_path), folder=tmp_path)
    bodies = random_bodies(np.random.default_rng(1), 12)
    roles = Roles.make(3, problem.Y, np.arange(problem.n_instances))
    asked = CoverBlock.label_sums, 1
    assert np.array_equal(rows.problem.Y, problem.Y)
    assert np.array_equal(
        rows.cover([bodies], roles).total(*asked), MemoryRows(problem).cover([bodies], roles).total(*asked)
    )
