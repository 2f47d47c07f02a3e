"""Rows cut into parts, and lists learned from parts in files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from plurule._learning import native
from plurule._learning.problem import Options, Problem, check_weights
from plurule._rows.parts import Columns, Part, PartSchema, each_part, spool
from plurule._rows.rows import MemoryRows
from plurule.data import Dataset
from plurule.model import RuleList


def as_fitted(problem: Problem) -> Problem:
    """Return the problem as an estimator has it: weights in their units, without the rows that weigh nothing."""
    weights = None if np.all(problem.weights == 1.0) else problem.weights
    checked = check_weights(weights, problem.n_instances, problem.n_labels)
    return replace(problem, weights=checked).take(np.flatnonzero(checked > 0))


def cut_at(problem: Problem, places: Sequence[int]) -> list[Dataset]:
    """Return the rows of a problem as data sets, cut at some places; parts may be empty."""
    weights = None if np.all(problem.weights == 1.0) else problem.weights
    data = Dataset(problem.table, problem.Y, problem.labels, weights)
    ends = [0, *sorted(places), problem.n_instances]
    return [data[start:end] for start, end in itertools.pairwise(ends)]


def named(parts: Sequence[Dataset]) -> list[Part]:
    """Return data sets as parts of a source."""
    return [Part(f"part {number}", lambda part=part: part) for number, part in enumerate(parts)]


def spooled(parts: Sequence[Dataset], folder: Path) -> Dataset:
    """Return parts as columns in the files of a folder."""
    columns = Columns.united(list(each_part(named(parts), PartSchema.of)))
    return spool(named(parts), columns, folder)


def learn_in_parts(parts: Sequence[Dataset], problem: Problem, options: Options, folder: Path) -> RuleList:
    """Return the list that is learned from columns in files."""
    rows = MemoryRows.of(spooled(parts, folder), folder=folder).problem
    known = replace(rows, initial_rules=problem.initial_rules, constraints=problem.constraints)
    return native.learn_list(known, options)
