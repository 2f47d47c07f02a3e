"""Data in parts, learned from as they are and in one piece."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from plurule.data import Dataset
from plurule.distributed.folds import BlockFolds
from plurule.distributed.parts import columns_of
from plurule.distributed.pieces import LocalPieces, Piece, Pieces
from plurule.learning.problem import Options, Problem, check_weights
from plurule.model import RuleList
from plurule.selection.folds import rows_of


def as_fitted(problem: Problem) -> Problem:
    """The problem as an estimator has it: weights in their units, without the rows that weigh nothing."""
    given = None if np.all(problem.weights == 1.0) else problem.weights
    weights = check_weights(given, problem.n_instances, problem.n_labels)
    return rows_of(replace(problem, weights=weights), np.flatnonzero(weights > 0))


def cut_at(problem: Problem, places: Sequence[int]) -> list[Dataset]:
    """The rows of a problem as data sets, cut at some places; parts may be empty."""
    weights = None if np.all(problem.weights == 1.0) else problem.weights
    data = Dataset(problem.table, problem.Y, problem.labels, weights)
    ends = [0, *sorted(places), problem.n_instances]
    return [data[start:end] for start, end in itertools.pairwise(ends)]


def learn_in_parts(
    parts: Pieces | Sequence[Dataset], problem: Problem, options: Options, folder: Path | None = None
) -> RuleList:
    """The list that blocks give."""
    given = parts if isinstance(parts, Pieces) else LocalPieces(lambda: _named(parts), folder=folder)
    asked = options.max_bins, problem.initial_rules, problem.constraints
    return BlockFolds(given, columns_of(given), *asked).learn_one(options)


def _named(parts: Sequence[Dataset]) -> list[Piece]:
    return [Piece(f"part {i}", lambda part=part: part) for i, part in enumerate(parts)]
