"""Pieces: functions are called on each, results add up, and blocks in a folder are what was written."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plurule.distributed.block import Block, CodedRule, LearningState
from plurule.distributed.pieces import LocalPieces, Piece, Stored, added_up, itself
from plurule.errors import DataError

RULES = (CodedRule(((0, 1, 2),), ((1, 1),), False), CodedRule((), ((0, 0), (2, 1)), True))


def some_block(n_rows: int = 30) -> Block:
    rng = np.random.default_rng(n_rows)
    columns = [rng.integers(0, 3, n_rows).astype(np.uint8), rng.integers(0, 400, n_rows).astype(np.uint16)]
    return Block.make(columns, [3, 400], rng.integers(0, 2, (n_rows, 3)).astype(np.uint8), None)


def numbers(*given: Any) -> list[Piece]:
    return [Piece(f"part {i}", lambda one=one: one) for i, one in enumerate(given)]


def test_results_add_up_member_by_member() -> None:
    total = added_up([{"a": [1, (2.0, np.array([1, 2]))]}, {"a": [10, (0.5, np.array([3, 4]))]}])
    assert total["a"][0] == 11
    assert total["a"][1][0] == 2.5
    assert total["a"][1][1].tolist() == [4, 6]


@pytest.mark.parametrize("width", [0, 1, 3])
def test_results_come_in_order_and_only_so_many_pieces_are_under_way(width: int) -> None:
    under_way, most = 0, 0

    def parts() -> Iterator[Piece]:
        nonlocal under_way, most
        for one in numbers(*range(10)):
            under_way += 1
            most = max(most, under_way)
            yield one

    def squared(one: int, factor: int, given: int) -> int:
        nonlocal under_way
        under_way -= 1
        return one * one * factor + given

    with ThreadPoolExecutor(1) as executor:
        pieces = LocalPieces(parts, executor if width else None, width)
        assert pieces.map(squared, 10, each=range(10)) == [10 * n * n + n for n in range(10)]
        assert most <= max(1, width)
        assert pieces.total(squared, 10, each=range(10)) == sum(10 * n * n + n for n in range(10))
    assert pieces.names == [f"part {n}" for n in range(10)]


def test_what_is_wrong_with_a_piece_is_said_with_its_name_once() -> None:
    def complain(one: str) -> None:
        raise DataError(one)

    for text, said in (("no rows", "part 0: no rows"), ("part 0: no rows", "part 0: no rows")):
        with pytest.raises(DataError) as error:
            LocalPieces(lambda text=text: numbers(text)).map(complain)
        assert str(error.value) == said


def test_a_block_of_a_file_is_the_block_and_its_state_stays_there(tmp_path: Path) -> None:
    block = some_block()
    stored = Stored.write(block, tmp_path / "blocks" / "one")
    block.catch_up(LearningState(RULES))
    assert stored.load().seen.tolist() == [-1, -1]
    stored.load().catch_up(LearningState(RULES))
    again = stored.load()
    assert again.seen.tolist() == [2, 0]
    for name in ("states", "predicted", "in_training", "listed", "row_starts", "n_values", "usual"):
        assert np.array_equal(getattr(again, name), getattr(block, name)), name
    assert all(np.array_equal(a, b) for a, b in zip(again.columns, block.columns, strict=True))
    assert again.states.ctypes.data % 64 == 0


def test_blocks_in_a_folder_and_in_memory_count_alike_and_one_without_rows_is_not_written(tmp_path: Path) -> None:
    def make(n_rows: int, _: None) -> tuple[Block, int]:
        return some_block(n_rows), n_rows

    def rows(block: Block) -> int:
        return len(block)

    told = []
    for folder in (tmp_path, None):
        blocks, sides = LocalPieces(lambda: numbers(20, 0, 7), folder=folder).make(make, each=[None] * 3)
        assert sides == [20, 0, 7]
        told.append([blocks.total(rows), *blocks.total(Block.begin, LearningState())])
    assert all(np.array_equal(a, b) for a, b in zip(*told, strict=True))
    assert [path.name for path in sorted(tmp_path.glob("*/*"))] == ["block-000000", "block-000002"]
    assert itself(3) == 3
