"""Data in parts, wherever they are, as an estimator is given them: parts become blocks, and blocks are counted."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plurule.data.fingerprint import PACKED
from plurule.data.table import Table
from plurule.data.targets import TargetForm
from plurule.distributed.counts import BlockCounts
from plurule.distributed.preparing import (
    Columns,
    Partitions,
    Plan,
    around,
    build,
    columns_of,
    exact_weights_of,
    summed_rules,
    table_of,
    values_of,
)
from plurule.errors import DataError, ParameterError
from plurule.learning.constraints import ResolvedConstraints
from plurule.learning.counted import Counted, CountedData
from plurule.learning.problem import Options, Problem
from plurule.model import Attribute, NumericCondition, Rule, RuleList


class PartitionedData(CountedData):
    """Data of which the parts, and the blocks that are made of them, are somewhere."""

    form = TargetForm()

    @abstractmethod
    def partitions(self, n_jobs: int) -> AbstractContextManager[Partitions]:
        """The parts, and a place for blocks, which is given back at the end."""

    @cached_property
    def columns(self) -> Columns:
        """What the parts agree on, after a look at each of them."""
        with self.partitions(1) as partitions:
            return columns_of(partitions)

    @property
    def attributes(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        """Names and kinds of the columns that are no labels."""
        return self.columns.attributes

    @property
    def label_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the labels."""
        return self.columns.labels

    def __len__(self) -> int:
        return sum(self.columns.rows)

    @contextlib.contextmanager
    def counted(
        self,
        options: Options,
        given: tuple[Rule, ...],
        constraints: ResolvedConstraints | None,
        n_jobs: int,
        remember_rows: bool,
    ) -> Iterator[Counted]:
        with self.partitions(n_jobs) as partitions:
            yield counted_from(partitions, self.columns, options, given, constraints, remember_rows)


@dataclass(frozen=True)
class RemoteProblem(Problem):
    """A problem whose rows are elsewhere; what is known of them are sums."""

    sums: tuple[float, NDArray[np.float64]] = (0.0, np.zeros(0))
    """The weight of all instances, and of those with each label."""

    @property
    def total_weight(self) -> float:
        return self.sums[0]

    @property
    def label_weights(self) -> NDArray[np.float64]:
        return self.sums[1]


def counted_from(
    partitions: Partitions,
    columns: Columns,
    options: Options,
    given: tuple[Rule, ...],
    constraints: ResolvedConstraints | None,
    remember_rows: bool,
) -> Counted:
    """Bin the columns and make blocks, and have them ready to be counted."""
    if not sum(columns.rows):
        raise DataError("the source holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
    if options.heuristic.example_based:
        what = "judges instances as a whole, which is not counted in blocks; use another one, or data in memory"
        raise ParameterError("heuristic", options.heuristic, f"{options.heuristic!r} {what}")
    weights = exact_weights_of(columns)
    values = values_of(partitions, columns, weights, options.max_bins)
    plan = Plan(columns.attributes, values, columns.labels, given, remember_rows)
    blocks, sides = partitions.blocks(build, plan, weights)
    total, _, _ = blocks.total("size")
    present = np.sum([side.present for side in sides], axis=0)
    nothing = np.zeros((0, len(columns.labels)), np.uint8)
    rules = summed_rules([side.given for side in sides])
    table = table_of(columns.attributes, {})
    problem = RemoteProblem(table, columns.labels, nothing, np.zeros(0), rules, constraints, (float(total), present))
    trained_on = None
    if remember_rows:
        seen = np.unique(np.concatenate([side.rows for side in sides if side.rows is not None]))
        trained_on = seen.astype(PACKED).tobytes()

    def values_for(rule_list: RuleList) -> Table:
        """The ends of ranks, a fraction, and what is around thresholds; the parts are asked where that is in a rank."""
        tests = [c for rule in rule_list[len(given) :] for c in rule.body if isinstance(c, NumericCondition)]
        asked = list(dict.fromkeys((test.index, test.threshold) for test in tests))
        unknown = [(index, t) for index, t in asked if values[index].cuts_rank(t)]
        told = (
            np.array(partitions.map(around, (columns.attributes, unknown), weights)) if unknown else np.zeros((1, 0, 2))
        )
        ends = np.column_stack([told[:, :, 0].max(axis=0), told[:, :, 1].min(axis=0)])
        known = {}
        for index in rule_list.tested_attributes():
            inside = ends[[place for place, (other, _) in enumerate(unknown) if other == index]].ravel()
            one = values[index]
            found = np.unique(np.concatenate([one.lowest, one.highest, inside, [one.fraction]]))
            known[index] = found[np.isfinite(found)]
        return table_of(columns.attributes, known)

    return Counted(BlockCounts(blocks, problem, values, rules), rules, values_for, trained_on)
