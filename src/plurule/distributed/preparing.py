"""From parts of the data to blocks: what the columns are, exact bins, codes.

Each step is a function of one part; what the parts say is put together by the driver.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.encoding import encode
from plurule.data.fingerprint import fingerprints
from plurule.data.table import Table
from plurule.distributed.block import LARGEST_CODES, Block
from plurule.distributed.counts import Blocks, Values
from plurule.distributed.exact_bins import Sorted, Survey, add_weighed, cut, gaps_to_open, merge, survey
from plurule.errors import DataError
from plurule.label_matrix import dense
from plurule.learning.initial_rules import Start, start
from plurule.learning.problem import Problem
from plurule.learning.weights import check_weights
from plurule.model import Attribute, Rule

Floats = NDArray[np.float64]

FEW = 1024
"""Columns with at most so many values in all are cut by those, without a sample."""
MOST_VALUES = max(LARGEST_CODES.values())


class Partitions(ABC):
    """Parts of the data, somewhere: functions of a part are called where the parts are."""

    names: Sequence[str]
    """What complaints call the parts."""

    @abstractmethod
    def map(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> list[Any]:
        """`function(part, shared, one of each)` for every part, in order."""

    @abstractmethod
    def blocks(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        """The same for a function that gives a block, which stays where it is, and something else."""


@dataclass(frozen=True)
class Columns:
    """What the columns of all parts are, and how many rows there are."""

    attributes: tuple[Attribute, ...]
    labels: tuple[str, ...]
    rows: tuple[int, ...]
    """Of each part."""
    weights: tuple[Floats, ...] | None
    """Of each part, as given; None if there are none."""


class Look(NamedTuple):
    """What the columns of one part are."""

    attributes: tuple[Attribute, ...]
    all_missing: tuple[bool, ...]
    labels: tuple[str, ...]
    n_rows: int
    weights: Floats | None
    has_classes: bool


def look(part: Dataset, shared: Any, each: Any) -> Look:
    """What the columns of a part are."""
    missing = tuple(
        bool((part.X.column(i) < 0).all() if a.is_nominal else np.isnan(part.X.column(i)).all())
        for i, a in enumerate(part.attributes)
    )
    return Look(part.attributes, missing, part.label_names, len(part), part.weights, bool(part.groups))


def columns_of(partitions: Partitions) -> Columns:
    """What all parts agree on; a part that does not is named."""
    looks: list[Look] = partitions.map(look, None, [None] * len(partitions.names))
    if not looks:
        raise DataError("the source has no parts; there is nothing to learn from")
    first = looks[0]
    for name, other in zip(partitions.names, looks, strict=True):
        if other.has_classes:
            what = "a column of more than two classes needs all rows in memory; give one 0/1 column per class"
            raise DataError(f"{name}: {what}")
        for what, ours, theirs in (
            ("attributes", [a.name for a in first.attributes], [a.name for a in other.attributes]),
            ("labels", list(first.labels), list(other.labels)),
        ):
            if ours != theirs:
                odd = next((n for n in (*ours, *theirs) if (n in ours) != (n in theirs)), None)
                detail = f"column {odd!r} is in one of them only" if odd is not None else "their order differs"
                raise DataError(f"{name}: other {what} than {partitions.names[0]}: {detail}")
    attributes = tuple(_united(index, looks, partitions.names) for index in range(len(first.attributes)))
    weights = None
    if any(one.weights is not None for one in looks):
        weights = tuple(np.ones(one.n_rows) if one.weights is None else one.weights for one in looks)
    return Columns(attributes, first.labels, tuple(one.n_rows for one in looks), weights)


def _united(index: int, looks: Sequence[Look], names: Sequence[str]) -> Attribute:
    """One attribute of all parts, with the categories of all of them in the order that one reader would give."""
    told = [(name, one.attributes[index]) for name, one in zip(names, looks, strict=True) if not one.all_missing[index]]
    if not told:
        return looks[0].attributes[index]
    first_name, first = told[0]
    odd = next(((name, one) for name, one in told if one.is_nominal != first.is_nominal), None)
    if odd is not None:
        kinds = ("nominal", "numeric") if odd[1].is_nominal else ("numeric", "nominal")
        raise DataError(f"{odd[0]}: column {first.name!r} is {kinds[0]}, in {first_name} it is {kinds[1]}")
    listed = [one.categories or () for _, one in told]
    if not first.is_nominal or all(categories == listed[0] for categories in listed):
        return first
    united = tuple(dict.fromkeys(category for categories in listed for category in categories))
    in_order = all(list(categories) == sorted(categories) for categories in listed)
    return Attribute(first.name, tuple(sorted(united)) if in_order else united)


class Plan(NamedTuple):
    """How rows become codes."""

    attributes: tuple[Attribute, ...]
    values: tuple[Values, ...]
    labels: tuple[str, ...]
    given: tuple[Rule, ...]
    remember_rows: bool


class Side(NamedTuple):
    """What a part says besides its block."""

    given: tuple[Rule, ...]
    present: Floats
    """Per label, the weight of the instances that have it."""
    rows: NDArray[np.uint32] | None
    """Fingerprints."""


def exact_weights_of(columns: Columns) -> list[Floats | None]:
    """The weights of each part, in units in which they add up exactly."""
    if columns.weights is None:
        return [None] * len(columns.rows)
    everything = check_weights(np.concatenate(columns.weights), sum(columns.rows), len(columns.labels))
    if np.all(everything == 1.0):
        return [None] * len(columns.rows)
    return list(np.split(everything, np.cumsum(columns.rows)[:-1]))


def values_of(
    partitions: Partitions, columns: Columns, weights: Sequence[Floats | None], max_bins: int | None
) -> tuple[Values, ...]:
    """The codes of all attributes: the ranks that the whole columns would have."""
    numeric = [i for i, attribute in enumerate(columns.attributes) if not attribute.is_nominal]
    most = MOST_VALUES if max_bins is None else max(FEW, max_bins)
    attributes = columns.attributes
    surveys = partitions.map(survey_part, (attributes, numeric, most), weights)
    merged = {i: merge([one[i] for one in surveys], most) for i in numeric}
    found: dict[int, Values] = {}
    for i, attribute in enumerate(attributes):
        if attribute.categories is not None:
            found[i] = Values(np.zeros(0), np.zeros(0), len(attribute.categories))
        elif max_bins is None and merged[i].distinct is None:
            raise DataError(f"column {attribute.name!r} has more than {most} values: give max_bins")
    pivots: dict[int, Floats] = {}
    for i, one in merged.items():
        if one.distinct is not None and (max_bins is None or len(one.distinct) <= max_bins):
            found[i] = Values(one.distinct, one.distinct, len(one.distinct), one.fraction)
        else:
            pivots[i] = one.sample
    if pivots and max_bins is not None:
        counted = partitions.map(count_part, (attributes, pivots), weights)
        counts = {i: _sum([one[i] for one in counted]) for i in pivots}
        gaps = {i: gaps_to_open(counts[i], max_bins) for i in pivots}
        opened = partitions.map(open_part, (attributes, pivots, gaps), weights)
        for i in pivots:
            ends = cut(counts[i], pivots[i], add_weighed([one[i] for one in opened]), gaps[i], max_bins)
            found[i] = Values(ends.lowest, ends.highest, len(ends.lowest), merged[i].fraction)
    return tuple(found[i] for i in range(len(attributes)))


def _sum(parts: Sequence[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _numbers(part: Dataset, weights: Floats | None, attribute: int, attributes: Sequence[Attribute]) -> Any:
    """The known values of a numeric column that count, with their weights."""
    column = part.X.column(attribute)
    # A column of missing values may have been taken for a nominal one.
    numbers = np.full(len(part), np.nan) if part.attributes[attribute].is_nominal else column.astype(np.float64)
    counts = ~np.isnan(numbers) if weights is None else ~np.isnan(numbers) & (weights > 0)
    return numbers[counts] + 0.0, None if weights is None else weights[counts]


def survey_part(part: Dataset, shared: Any, weights: Floats | None) -> dict[int, Survey]:
    """A first look at the numeric columns of a part."""
    attributes, numeric, most = shared
    return {i: survey(_numbers(part, weights, i, attributes)[0], most) for i in numeric}


def count_part(part: Dataset, shared: Any, weights: Floats | None) -> dict[int, Any]:
    """What a part has at pivots and between them."""
    attributes, pivots = shared
    return {i: Sorted.of(*_numbers(part, weights, i, attributes)).count(at) for i, at in pivots.items()}


def open_part(part: Dataset, shared: Any, weights: Floats | None) -> dict[int, Any]:
    """The values of a part in some gaps."""
    attributes, pivots, gaps = shared
    return {i: Sorted.of(*_numbers(part, weights, i, attributes)).inside(pivots[i], gaps[i]) for i in pivots}


def build(part: Dataset, plan: Plan, weights: Floats | None) -> tuple[Block, Side]:
    """The block of a part."""
    table, Y = encode(part.X, plan.attributes), dense(part.Y).view(np.uint8)
    if weights is not None:
        kept = np.flatnonzero(weights > 0)
        table, Y, weights = table[kept], Y[kept], weights[kept]
    columns = [values.codes(table.column(i)) for i, values in enumerate(plan.values)]
    ones = np.ones(len(table)) if weights is None else weights
    begin: Start | None = None
    if plan.given:
        begin = start(Problem(table, plan.labels, Y, ones, plan.given))
    block = Block.make(columns, [values.n_values for values in plan.values], Y, weights, begin)
    rows = np.unique(fingerprints(table)) if plan.remember_rows else None
    return block, Side(() if begin is None else begin.rules, ones @ Y, rows)


def summed_rules(parts: Sequence[tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """Rules that were counted part by part, with the counts of all parts."""
    rules = []
    for same in zip(*parts, strict=True):
        decided = tuple(map(tuple, np.sum([rule.decided for rule in same], axis=0).tolist()))
        tp, fp, coverage = (sum(getattr(rule, name) for rule in same) for name in ("tp", "fp", "coverage"))
        rules.append(replace(same[0], tp=tp, fp=fp, coverage=coverage, decided=decided))
    return tuple(rules)


def around(part: Dataset, shared: Any, weights: Floats | None) -> list[tuple[float, float]]:
    """For thresholds of attributes: the highest value up to each, and the lowest beyond it."""
    attributes, asked = shared
    found = []
    for index, threshold in asked:
        numbers = _numbers(part, weights, index, attributes)[0]
        below, above = numbers[numbers <= threshold], numbers[numbers > threshold]
        found.append((below.max(initial=-np.inf), above.min(initial=np.inf)))
    return found


def table_of(attributes: Sequence[Attribute], numbers: Mapping[int, Floats]) -> Table:
    """A table of a few values of some attributes; all else is missing."""
    n_rows = max((len(values) for values in numbers.values()), default=0)
    columns: list[NDArray[Any]] = []
    for i, attribute in enumerate(attributes):
        known = numbers.get(i, np.zeros(0))
        column = np.pad(known, (0, n_rows - len(known)), constant_values=np.nan)
        columns.append(np.full(n_rows, -1, np.int32) if attribute.is_nominal else column)
    return Table(attributes, columns, n_rows)
