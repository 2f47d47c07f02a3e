"""Blocks of bits: sums over blocks are those of all rows, counted in plain numpy."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from helpers.rows import CHOICES, DEFAULT, INITIAL, Expected, random_bodies, random_roles, random_rows
from plurule import _core, metrics
from plurule._learning.problem import Problem
from plurule._rows.rows import (
    CoverBlock,
    Covers,
    MappedBits,
    MemoryRows,
    PooledChoices,
    Roles,
    added_up,
    covered_bits,
    pack,
    select_in_steps,
    unpack,
)
from plurule.metrics import MEASURES

UPDATES = [_core.CoverUpdate(*one) for one in ((0, 1, ()), (7, 1, (3, 5)), (4, 3, (1,)), (7, 2, ()), (7, 2, ()))]
FOLDS = [(None, 0), (0, 0), (1, 0), (1, 2)]
EVERYTHING = [_core.CoverUpdate(0, label, ()) for label in range(4)]
"""The empty body covers all rows, so what it shares with others is all that they cover."""
ALL_LABELS = np.arange(4)


class Case(NamedTuple):
    """Rows with two pools, and blocks of them."""

    problem: Problem
    pools: list[Any]
    roles: Roles
    covers: Covers

    def expected(self, pool: int, with_initial: bool = True) -> Expected:
        return Expected.of(self.problem, self.pools[pool], with_initial)

    def rows(self, fold: int | None, role: int = 0) -> np.ndarray:
        return np.ones(self.problem.n_instances, bool) if fold is None else self.roles.of_rows[fold] == role


def make_case(weighted: bool = False, initial: bool = False, block_rows: int | None = None, **more: Any) -> Case:
    rng = np.random.default_rng([weighted, initial])
    problem = random_rows(rng, weighted=weighted, initial_rules=INITIAL if initial else ())
    pools = [random_bodies(rng, 20), random_bodies(rng, 9)]
    roles = random_roles(rng, problem.n_instances)
    return Case(problem, pools, roles, MemoryRows(problem, block_rows=block_rows, **more).cover(pools, roles))


@pytest.fixture(
    scope="module",
    params=[(False, False, None), (True, False, 37), (False, True, 8), (True, True, None), (True, True, 64)],
    ids=["one block", "weighted blocks", "initial rules", "one weighted block", "weighted blocks with initial rules"],
)
def case(request: pytest.FixtureRequest) -> Case:
    return make_case(*request.param)


# Bits ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 100])
def test_unpack_gives_the_marks_that_were_packed(n_rows: int) -> None:
    marks = np.random.default_rng(n_rows).random((3, n_rows)) < 0.5
    assert np.array_equal(unpack(pack(marks), n_rows), marks)


def test_pack_puts_row_r_into_bit_r_of_byte_r_by_eight() -> None:
    assert pack(np.arange(10) == 9).tolist() == [0, 2]


def test_covered_bits_are_the_masks_of_bodies() -> None:
    rng = np.random.default_rng(0)
    problem, bodies = random_rows(rng), random_bodies(rng, 30)
    (bits,) = covered_bits([bodies], problem.table)
    assert np.array_equal(unpack(bits, problem.n_instances), Expected.of(problem, bodies).holds)


def test_mapped_bits_are_those_that_were_given(tmp_path: Path) -> None:
    pools = [np.arange(12, dtype=np.uint8).reshape(3, 4), np.ones((1, 4), np.uint8)]
    mapped = MappedBits(tmp_path, "rows-0", pools)
    assert len(mapped) == 2
    assert all(np.array_equal(mapped[number], bits) for number, bits in enumerate(pools))


def test_mapped_bits_are_let_go_with_the_array(tmp_path: Path) -> None:
    mapped = MappedBits(tmp_path, "rows-0", [np.ones((2, 4), np.uint8)])
    with pytest.raises(ValueError, match="read-only"):
        mapped[0][0, 0] = 3
    assert mapped[0] is not mapped[0]


def test_cover_with_a_folder_keeps_bits_in_files(tmp_path: Path) -> None:
    case = make_case(block_rows=64, folder=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3 * 2
    for pool in range(2):
        asked = CoverBlock.cover_updates, pool, None, EVERYTHING
        assert np.array_equal(case.covers.total(*asked), make_case().covers.total(*asked))


def test_cover_block_travels(case: Case) -> None:
    problem, pools, roles, covers = case
    block = CoverBlock.of(problem, pools, roles, slice(0, problem.n_instances))
    again = pickle.loads(pickle.dumps(block))
    expected = covers.total(CoverBlock.cover_updates, 0, 1, UPDATES)
    assert np.array_equal(again.cover_updates(0, 1, UPDATES), expected)


def test_cover_block_of_a_slice_is_that_of_these_rows_alone() -> None:
    problem, pools, roles, _ = make_case(True, True)
    block = CoverBlock.of(problem, pools, roles, slice(30, 90))
    own = Roles(roles.of_rows[:, 30:90], roles.n_groups, roles.jackknife[30:90], roles.n_jackknife)
    alone = CoverBlock.of(problem.take(np.arange(30, 90)), pools, own, slice(0, 60))
    assert np.array_equal(block.cover_updates(0, 0, UPDATES), alone.cover_updates(0, 0, UPDATES))


# Questions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fold", "role"), FOLDS)
def test_label_sums_are_the_weights_of_labels_and_of_all_rows(case: Case, fold: int | None, role: int) -> None:
    weights = case.problem.weights * case.rows(fold, role)
    expected = [*(weights @ case.problem.Y), weights.sum()]
    assert case.covers.total(CoverBlock.label_sums, fold, role).tolist() == expected


@pytest.mark.parametrize("pool", [0, 1])
@pytest.mark.parametrize("fold", [None, 0, 1])
def test_cover_updates_are_the_weights_of_pairs_covered_first(case: Case, pool: int, fold: int | None) -> None:
    known = case.expected(pool)
    asked = [*EVERYTHING, *UPDATES]
    found = case.covers.total(CoverBlock.cover_updates, pool, fold, asked)
    expected = [known.covered(one.body, case.rows(fold), one.label, one.before) for one in asked]
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("with_initial", [True, False])
@pytest.mark.parametrize("measure", MEASURES.values(), ids=lambda measure: measure.name)
def test_prefix_counts_score_every_beginning_of_a_selection(case: Case, measure: Any, with_initial: bool) -> None:
    selections = [CHOICES, [DEFAULT, *CHOICES[1:]], []]
    labels = np.array([0, 2, 3])
    asked = selections, labels, measure.is_of_rows, with_initial
    rows, known = case.rows(1, 2), case.expected(0, with_initial)
    counts = case.covers.total(CoverBlock.prefix_counts, 0, 1, 2, *asked)
    for choices, found in zip(selections, counts, strict=True):
        scores = []
        for length in range(len(choices) + 1):
            predicted = known.after(choices[:length])[0][rows][:, labels]
            truth, weights = case.problem.Y[rows][:, labels], case.problem.weights[rows]
            scores.append(metrics.METRICS[measure.name](truth, predicted, sample_weight=weights))
        assert found.scores(measure) == pytest.approx(scores, rel=1e-12)


def test_decided_by_names_what_decides_each_pair(case: Case) -> None:
    one = PooledChoices(0, [*CHOICES, DEFAULT], True, len(case.problem.initial_rules))
    found = case.covers.gather(CoverBlock.decided_by, one, 1, 2)
    assert np.array_equal(found, case.expected(0).after(one.choices)[1][case.rows(1, 2)])


def test_decided_by_without_initial_rules_ignores_them(case: Case) -> None:
    one = PooledChoices(0, CHOICES, False)
    found = case.covers.gather(CoverBlock.decided_by, one, None)
    expected = case.expected(0, with_initial=False).after(CHOICES)[1]
    n_initial = len(case.problem.initial_rules)
    assert np.array_equal(found, np.where(expected >= n_initial, expected - n_initial, expected))


@pytest.mark.parametrize("fold", [None, 0])
def test_rule_counts_are_the_absent_and_present_pairs_of_each_rule(case: Case, fold: int | None) -> None:
    n_initial = len(case.problem.initial_rules)
    one = PooledChoices(0, [*CHOICES, DEFAULT], True, n_initial)
    found = case.covers.total(CoverBlock.rule_counts, one, fold)
    decided_by, rows = case.expected(0).after(one.choices)[1], case.rows(fold)
    for rule in range(-1, n_initial + len(one.choices)):
        for label in range(4):
            pairs = rows & (decided_by[:, label] == rule)
            present = case.problem.Y[:, label] == 1
            expected = [case.problem.weights[pairs & ~present].sum(), case.problem.weights[pairs & present].sum()]
            assert found[rule, label].tolist() == expected


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("n_groups", [1, 3, 5])
def test_jackknife_counts_are_those_of_the_rows_of_each_group(case: Case, n_groups: int, by_row: bool) -> None:
    lists = [PooledChoices(0, CHOICES), PooledChoices(1, [DEFAULT, *CHOICES[:2]])]
    measure = MEASURES["example_f1" if by_row else "micro_f1"]
    counts = case.covers.total(CoverBlock.jackknife_counts, lists, n_groups, ALL_LABELS, by_row)
    groups = case.roles.jackknife % n_groups
    for group, score in enumerate(counts.scores(measure).tolist()):
        truth, predicted, weights = [], [], []
        for fold, one in enumerate(lists):
            rows = (case.roles.of_rows[fold] > 0) & (groups == group)
            truth.append(case.problem.Y[rows])
            predicted.append(case.expected(one.pool).after(one.choices)[0][rows])
            weights.append(case.problem.weights[rows])
        given = np.concatenate(truth), np.concatenate(predicted)
        expected = metrics.METRICS[measure.name](*given, sample_weight=np.concatenate(weights))
        assert score == pytest.approx(expected, rel=1e-12)


def test_labels_are_those_of_the_rows_in_a_role(case: Case) -> None:
    assert np.array_equal(case.covers.gather(CoverBlock.labels, 0, 1), case.problem.Y[case.rows(0, 1)])


def test_row_facts_are_weights_and_jackknife_groups_in_order(case: Case) -> None:
    found = case.covers.gather(CoverBlock.row_facts, 0, 1)
    rows = case.rows(0, 1)
    assert np.array_equal(found, np.column_stack([case.problem.weights, case.roles.jackknife])[rows])


# Blocks --------------------------------------------------------------------------------------------------------------


def test_added_up_adds_lists_member_by_member() -> None:
    total = added_up([[1, np.array([1.0, 2.0])], [10, np.array([3.0, 4.0])]])
    assert total[0] == 11
    assert total[1].tolist() == [4, 6]


def make_selection(case: Case, fold: int | None) -> _core.PoolSelection:
    n_bodies = len(case.pools[0])
    sums = case.covers.total(CoverBlock.cover_updates, 0, fold, EVERYTHING).swapaxes(0, 1)
    return _core.PoolSelection(
        n_conditions=np.array([len(body) for body in case.pools[0]], float),
        sums=np.ascontiguousarray(sums),
        label_weights=np.ones(4),
        min_precision=0.0,
        forbidden=np.zeros((2, 4, n_bodies), np.uint8),
        excludes=[],
        groups=[],
        hierarchy=[],
        criteria=[_core.Criterion(lam, 0.05, lam > 0.3, [1.0, 1.1, 1.2, 1.3], []) for lam in (0.2, 0.3, 0.4)],
        max_rules=8,
        cache_size=100,
    )


@pytest.mark.parametrize("fold", [None, 1])
def test_select_in_steps_chooses_what_the_core_chooses_by_itself(case: Case, fold: int | None) -> None:
    whole = make_selection(case, fold)
    block = CoverBlock.of(case.problem, case.pools, case.roles, slice(0, case.problem.n_instances))
    block.rows(0, fold).select(whole)
    in_steps = make_selection(case, fold)
    select_in_steps(case.covers, in_steps, 0, fold)
    assert in_steps.chosen() == whole.chosen()
    assert any(whole.chosen())


@pytest.mark.parametrize("block_rows", [None, 16])
def test_covers_select_by_the_rows_that_a_fold_trains_on(block_rows: int | None) -> None:
    case = make_case(True, True, block_rows)
    selection = make_selection(case, 1)
    case.covers.select(selection, 0, 1)
    expected = make_selection(case, 1)
    select_in_steps(make_case(True, True).covers, expected, 0, 1)
    assert selection.chosen() == expected.chosen()
