"""Blocks: their state is a function of their rows and the rules so far, their counts are those of a naive loop."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from plurule import _core
from plurule.distributed.block import OPEN_ABSENT, OPEN_PRESENT, PRESENT, Block, CodedRule, LearningState, code_type

RULES = (
    CodedRule(((0, 1, 2),), ((0, 1), (2, 0)), stop=False),
    CodedRule(((6, 1, 1), (1, 0, 0), (4, 1, 3)), ((1, 1),), stop=True),
    CodedRule((), ((3, 1),), stop=False),
)


def random_block(rng: np.random.Generator, weighted: bool = False, n_labels: int = 5) -> Block:
    n_rows = int(rng.integers(0, 60))
    columns = [rng.integers(0, 5, n_rows).astype(np.uint8), rng.integers(0, 3, n_rows).astype(np.uint16)]
    columns.append(rng.integers(0, 2, n_rows).astype(np.uint8))
    columns += [np.where(rng.random(n_rows) < 0.04, rng.integers(0, 4, n_rows), k).astype(np.uint8) for k in range(3)]
    Y = rng.integers(0, 2, (n_rows, n_labels)).astype(np.uint8)
    return Block.make(columns, [4, 2, 1, 3, 3, 3], Y, rng.integers(1, 4, n_rows) / 4 if weighted else None)


def same_state(one: Block, other: Block) -> bool:
    names = ("states", "predicted", "in_training")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def counted_naively(block: Block, rows: np.ndarray, labels: list[int], whole: bool) -> np.ndarray:
    """One row after the other, one column after the other."""
    columns = [(block._column(i), n + 1) for i, n in enumerate(block.n_values.tolist())]
    columns += [(c, 3) for c in block.predicted] + [(np.zeros(len(block.states), int), 1)]
    sums = np.zeros((sum(slots for _, slots in columns), 3 * len(labels) + 1))
    for row in rows.tolist():
        open_bits = [int(block.states[row, label]) & 3 for label in labels]
        start, weight = 0, 1.0 if block.weights is None else block.weights[row]
        for codes, slots in columns:
            to = sums[start + int(codes[row])]
            for i, label in enumerate(labels):
                present = bool(block.states[row, label] & PRESENT)
                is_open = any(open_bits) if whole else open_bits[i] > 0
                to[i] += weight * (is_open and present)
                to[len(labels) + i] += weight * (is_open and not present)
                to[2 * len(labels) + i] += weight * present
            to[-1] += weight
            start += slots
    return sums


@pytest.mark.parametrize("seed", range(40))
def test_the_core_counts_as_a_naive_loop_does(seed: int):
    rng = np.random.default_rng(seed)
    block = random_block(rng, weighted=seed % 3 == 0, n_labels=int(rng.integers(4, 20)))
    labels = None if seed % 2 else sorted(rng.choice(4, rng.integers(1, 4), replace=False).tolist())
    whole = labels is not None and seed % 4 == 0
    found, *_ = block.count(LearningState(RULES[: seed % 4]), ((0, 0, 2),), labels, whole)
    shown, rows = list(range(len(block.predicted))) if labels is None else labels, block.covered(((0, 0, 2),))
    assert np.array_equal(found, counted_naively(block, rows, shown, whole))


def test_counts_beyond_what_a_word_holds_are_right():
    Y = np.ones((200_000, 1), np.uint8)
    block = Block.make([np.zeros(200_000, np.uint8)], [1], Y, None)
    assert block.count(LearningState(), (), None, False)[0][0].tolist() == [200_000, 0, 200_000, 200_000]


@pytest.mark.parametrize("seed", range(10))
def test_a_block_that_lost_its_state_or_is_behind_catches_up(seed: int):
    expected, behind = (random_block(np.random.default_rng(seed)) for _ in range(2))
    for length in range(1, 4):
        expected.catch_up(LearningState(RULES[:length]))
    behind.catch_up(LearningState(RULES))
    assert same_state(behind, expected)
    behind.seen[0] = -1  # ended while it changed
    behind.catch_up(LearningState(RULES))
    assert same_state(behind, expected)


@pytest.mark.parametrize("seed", range(20))
def test_what_a_rule_would_decide_is_what_it_decides(seed: int):
    rng = np.random.default_rng(seed)
    block = random_block(rng, weighted=seed % 2 == 0)
    *before, rule = RULES[: 1 + seed % 3]
    labels = [label for label, _ in rule.head]
    told = block.count(LearningState(tuple(before)), rule.body, labels, whole=True)
    pairs, (unfinished, present, moved, closed) = told[-4], (*told[-3], *told[-2:])
    rows, weights = block.covered(rule.body), block.weights if block.weights is not None else np.ones(len(block))
    newly = [rows[block.predicted[label, rows] == 2] for label in labels]
    was_open = counted_naively(block, rows, labels, False)
    assert np.array_equal(pairs[:, : 2 * len(labels)], was_open[:, : 2 * len(labels)])
    block.catch_up(LearningState((*before, rule._replace(stop=False))))
    left = block.states[rows][:, :5] & (OPEN_PRESENT | OPEN_ABSENT)
    assert unfinished == weights[rows[(left > 0).any(axis=1)]].sum()
    assert present == weights[rows[(left & OPEN_PRESENT > 0).any(axis=1)]].sum()
    assert np.array_equal(moved, [counted_naively(block, one, list(range(5)), False)[-1] for one in newly])
    assert closed == sum(map(len, newly))


@pytest.mark.parametrize("seed", range(10))
def test_count_is_the_same_when_asked_again(seed: int):
    block, body = random_block(np.random.default_rng(seed)), ((0, 0, 3), (1, 1, 2), (4, 1, 3))
    for length in (1, 2, 3, 2):
        asked = LearningState(RULES[: seed % 4]), body[:length], [0, 2], seed % 2 == 0
        first, again = (block.count(*asked) for _ in range(2))
        assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


def test_rules_of_another_list_begin_anew():
    block, fresh = (random_block(np.random.default_rng(7)) for _ in range(2))
    block.catch_up(LearningState(RULES))
    told = (one.begin(LearningState(run=1)) for one in (block, fresh))
    assert all(np.array_equal(a, b) for a, b in zip(*told, strict=True))
    assert same_state(block, fresh)
    assert set(np.unique(block.states[:, :5]).tolist()) <= {OPEN_ABSENT, OPEN_PRESENT | PRESENT}


@pytest.mark.parametrize("seed", range(5))
def test_a_column_of_which_nearly_all_rows_are_alike_is_listed_and_read_as_any_other(seed: int):
    rng = np.random.default_rng(seed)
    columns = [np.where(rng.random(500) < share, 2, 0).astype(np.uint8) for share in (0.01, 0.5, 0.0, 1.0)]
    block = Block.make(columns, [2] * 4, np.ones((500, 1), np.uint8), None)
    assert [column is None for column in block.columns] == [True, False, True, True]
    again = pickle.loads(pickle.dumps(block))
    assert len(again.listed) == (columns[0] == 2).sum()
    assert all(np.array_equal(again._column(i), column) for i, column in enumerate(columns))


def test_codes_take_one_byte_up_to_255_values_and_a_missing_one():
    assert [code_type(n).itemsize for n in (0, 255, 256, 65_535)] == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"rows": np.array([9], np.uint32)}, "a row is beyond its block"),
        ({"slots": [2], "sums": np.zeros((2, 4))}, "a code beyond its slots"),
        ({"slots": [2**63], "sums": np.zeros((2, 4))}, "more slots than sums"),
        ({"labels": np.array([8], np.int32)}, "a label is beyond the states"),
        ({"columns": [np.zeros(2, np.int32)]}, "uint8 or uint16"),
        ({"columns": [np.zeros(3, np.uint8)]}, "3 values, 2 expected"),
        ({"weights": np.ones(3)}, "the weights"),
        ({"listed": np.array([9], np.uint32), "row_starts": np.array([0, 0, 1])}, "a code beyond its slots"),
        ({"listed": np.array([0], np.uint32), "row_starts": np.array([0, 0, 2])}, "a row lists more than there is"),
        ({"listed": np.array([0], np.uint32), "row_starts": np.array([0, 1])}, "2 values, 3 expected"),
        ({"sums": np.zeros((3, 3))}, "the numbers of a sum"),
    ],
)
def test_what_does_not_fit_together_is_refused_by_the_core(change: dict[str, Any], problem: str):
    given: dict[str, Any] = {
        "columns": [np.array([0, 2], np.uint8)],
        "slots": [3],
        "rows": np.array([0, 1], np.uint32),
        "states": np.zeros((2, 8), np.uint8),
        "labels": np.array([0], np.int32),
        "whole": False,
        "weights": None,
        "listed": None,
        "row_starts": None,
        "sums": np.zeros((3, 4)),
    }
    with pytest.raises(ValueError, match=problem):
        _core.count_block(**(given | change))
