"""Blocks of pools: together they count, take and score what all rows in memory do."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from plurule.data.dataset import Dataset
from plurule.data.table import Table
from plurule.distributed.folds import PooledBlock, Pools, score_selections
from plurule.distributed.parts import RowMetadata
from plurule.distributed.pieces import LocalPieces, Piece
from plurule.learning.problem import Problem
from plurule.model import Assignment, Attribute, Head, RangeCondition, Rule
from plurule.prediction.staged import Stages
from plurule.selection.folds import rows_of
from plurule.selection.pool import (
    Choice,
    CoverUpdate,
    SelectionCriterion,
    SelectionLimits,
    initial_decisions,
    pool_of,
    satisfied,
    select_here,
    staged_selection,
)

ATTRIBUTES = (Attribute("x0"), Attribute("x1"))
LABELS = ("a", "b", "c")
GIVEN = (Rule(Head((Assignment("b", 1, True),)), (RangeCondition("x0", 0, at_most=1.5),)),)
TESTS = [RangeCondition(f"x{i}", i, at_most=t) for i in range(2) for t in (0.5, 1.5, 2.5, 3.5, 4.5)]
BODIES = [(), *((test,) for test in TESTS), *((TESTS[1], other) for other in TESTS[5:])]


def made(weighted: bool, given: tuple[Rule, ...], n_blocks: int = 3) -> tuple[Problem, np.ndarray, Any]:
    """A problem, the roles of its rows in two parts, and the blocks of these."""
    rng = np.random.default_rng(5)
    values, Y = rng.integers(0, 6, (90, 2)).astype(float), (rng.random((90, 3)) < 0.4).astype(np.uint8)
    Y[:, 0] |= values[:, 1] <= 1
    weights = rng.integers(1, 4, 90).astype(float) if weighted else np.ones(90)
    problem = Problem(Table(ATTRIBUTES, list(values.T), 90), LABELS, Y, weights, given)
    roles = rng.integers(0, 3, (2, 90)).astype(np.int8)
    pieces, kept = [], []
    for rows in np.array_split(np.arange(90), n_blocks):
        part = Dataset(problem.table[rows], Y[rows].astype(np.int8), LABELS)
        pieces.append(Piece("", lambda part=part: part))
        own = weights[rows] if weighted else None
        kept.append(RowMetadata(weights=own, roles=np.ascontiguousarray(roles[:, rows])))
    pools = Pools(ATTRIBUTES, LABELS, given, None, [BODIES, BODIES[:5]])
    return problem, roles, LocalPieces(lambda: pieces).make(PooledBlock.make, pools, each=kept)[0]


@pytest.mark.parametrize("given", [(), GIVEN], ids=["from nothing", "after a rule"])
@pytest.mark.parametrize("weighted", [False, True], ids=["alike", "weighted"])
def test_counts_of_blocks_add_up_to_those_of_all_rows(weighted: bool, given: tuple[Rule, ...]) -> None:
    problem, roles, blocks = made(weighted, given)
    asked = [
        (0, [CoverUpdate(3, 0, ()), CoverUpdate(7, 2, (1, 12))]),
        (1, [CoverUpdate(2, 1, (0,))]),
    ]
    counts = blocks.total(PooledBlock.counts)
    covered = blocks.total(PooledBlock.covered, asked)
    for part, bodies in enumerate((BODIES, BODIES[:5])):
        pool = pool_of(bodies, rows_of(problem, np.flatnonzero(roles[part] == 0)))
        assert np.array_equal(counts[part], pool.counts())
        assert np.array_equal(covered[part], pool.covered(asked[part][1]))


@pytest.mark.parametrize("given", [(), GIVEN], ids=["from nothing", "after a rule"])
def test_score_selections_in_blocks_equals_scores_in_memory(given: tuple[Rule, ...]) -> None:
    problem, roles, blocks = made(True, given)
    criteria = [SelectionCriterion(0.3), SelectionCriterion(0.4, exceptions=True)]
    chosen: list[list[list[Choice]]] = []
    for part, bodies in enumerate((BODIES, BODIES[:5])):
        training = rows_of(problem, np.flatnonzero(roles[part] == 0))
        chosen.append(select_here(bodies, training, criteria, SelectionLimits(4)))
    kept = np.array([0, 2])

    def stages(part: int, group: int, one: list[Choice]) -> Stages:
        rows = rows_of(problem, np.flatnonzero(roles[part] == group + 1))
        holds = satisfied(BODIES, rows.table)
        return staged_selection(holds, one, rows.Y == 1, rows.weights, kept, initial_decisions(rows))

    for measure in ("micro_f1", "example_f1"):
        found = score_selections(blocks, chosen, [2, 2], kept, measure)
        for part, selections in enumerate(found):
            assert [selection.choices for selection in selections] == chosen[part]
            for selection in selections:
                expected = [stages(part, group, selection.choices).scores(measure)[1:] for group in range(2)]
                assert all(s == pytest.approx(e.tolist()) for s, e in zip(selection.scores, expected, strict=True))


def test_a_block_takes_a_bit_for_a_body_in_a_row_and_travels() -> None:
    *_, blocks = made(False, GIVEN, 1)
    (block,) = (piece.read() for piece in blocks.pieces())
    assert len(block) == 90
    assert block.held.shape == (90, 2 + 1)  # of 16 and 5 bodies
    again = pickle.loads(pickle.dumps(block))
    assert all(np.array_equal(a, b) for a, b in zip(again.counts()[1], block.counts()[1], strict=True))
