"""From parts of the data to blocks: what the columns are, exact bins, codes.

Each step is a function of one part; what the parts say is put together by the driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule.constraints import ResolvedConstraints
from plurule.data.dataset import Dataset
from plurule.data.encoding import encode
from plurule.data.inputs import disambiguate, labelled_data
from plurule.data.readers.reading import Reader
from plurule.data.table import Column, SparseColumn, Table
from plurule.data.targets import TargetForm, merge_forms
from plurule.distributed.bins import (
    NOTHING,
    Counts,
    Sorted,
    Survey,
    Weighed,
    add_weighed,
    cut,
    gaps_to_open,
    in_order,
    merge,
    survey,
)
from plurule.distributed.block import LARGEST_CODES, Block
from plurule.distributed.counts import Values
from plurule.distributed.pieces import Contents, Pieces
from plurule.errors import DataError
from plurule.label_matrix import dense
from plurule.learning.initial_rules import InitialState, apply_initial_rules
from plurule.learning.problem import Problem, check_weights
from plurule.model import Attribute, Rule
from plurule.model.head import Hierarchy

Floats = NDArray[np.float64]

FEW = 1024
"""Columns with at most so many values in all are cut by those, without a sample."""
MOST_VALUES = max(LARGEST_CODES.values())


@dataclass(frozen=True)
class Part(Dataset):
    """Some rows, of which the labels were made of those classes that are there."""

    form: TargetForm = field(default_factory=TargetForm)


def labelled_part(part: Any, reader: Reader | None = None) -> Dataset:
    """Return rows as a data set: X and y, with weights or without, or a frame of which some columns are labels."""
    if isinstance(part, Dataset):
        return part
    if not isinstance(part, list | tuple):
        return (reader or Reader()).frame(part)
    X, y, *weights = part
    if len(getattr(y, "shape", ())) == 1 and not len(y):
        # Without rows there are no classes: other parts say what the labels are.
        return Part(encode(X), np.zeros((0, 0), np.int8), (), *weights)
    data, form = labelled_data(X, y, *weights, allow_empty=True)
    return Part(**vars(data), form=form)


def with_classes_of_all(part: Part, form: TargetForm, labels: tuple[str, ...]) -> Dataset:
    """A part with the labels that the classes of all parts make."""
    Y = form.encode(part.form.decode(dense(part.Y))) if len(part) else np.zeros((0, len(labels)), np.int8)
    return replace(part, Y=Y, label_names=labels, groups=())


@dataclass(frozen=True)
class Columns:
    """Columns of all parts, and the contents of each part."""

    attributes: Sequence[Attribute]
    labels: tuple[str, ...]
    contents: tuple[Contents, ...]
    """Number of rows and checksum of each part."""
    weights: tuple[Floats, ...] | None
    """Weights of the rows of each part, as given; None if there are none."""
    hierarchy: Hierarchy = ()
    """Labels that imply others, as the files that name the labels have it."""
    form: TargetForm = field(default_factory=TargetForm)
    """With the classes of all parts."""

    @property
    def n_rows(self) -> int:
        """The number of rows of all parts."""
        return sum(part.n_rows for part in self.contents)


class PartSchema(NamedTuple):
    """Columns of one part."""

    attributes: Sequence[Attribute]
    all_missing: tuple[bool, ...]
    labels: tuple[str, ...]
    contents: Contents
    weights: Floats | None
    has_classes: bool
    """Whether a column of a file or frame was taken for classes, of which other parts may have others."""
    hierarchy: Hierarchy
    form: TargetForm | None
    """None if there are no rows that would have one."""


def look(part: Dataset) -> PartSchema:
    """Return the columns of a part."""
    values = (_different(column) for column in part.X.columns)
    missing = tuple(
        bool((one < 0).all() if a.is_nominal else np.isnan(one).all())
        for a, one in zip(part.attributes, values, strict=True)
    )
    form = part.form if isinstance(part, Part) else TargetForm()
    return PartSchema(
        attributes=part.attributes,
        all_missing=missing,
        labels=part.label_names,
        contents=Contents.of(part),
        weights=part.weights,
        has_classes=bool(part.groups) and form.classes is None,
        hierarchy=part.hierarchy,
        form=form if len(part) or part.label_names else None,
    )


def _different(column: Column) -> NDArray[Any]:
    """Values of a column, each at least once; of a sparse one those that are listed, and a zero if there are some."""
    if not isinstance(column, SparseColumn):
        return column
    return column.values if len(column.values) == len(column) else np.append(column.values, column.values.dtype.type(0))


def columns_of(partitions: Pieces) -> Columns:
    """Return the columns that all parts have; an error names a part with others."""
    schemas: list[PartSchema] = partitions.map(look)
    if not schemas:
        raise DataError("the source has no parts; there is nothing to learn from")
    form = merge_forms([one.form for one in schemas if one.form is not None])
    schemas = [_in_form(one, form) for one in schemas]
    first = schemas[0]
    for name, other in zip(partitions.names, schemas, strict=True):
        if other.has_classes:
            advice = "give X and y apart, or name the classes (labels=['kind: a', 'kind: b', …]) with exclusive_labels"
            raise DataError(f"{name}: a column of classes needs all rows in memory; {advice}")
        for what, ours, theirs in (
            ("attributes", [a.name for a in first.attributes], [a.name for a in other.attributes]),
            ("labels", list(first.labels), list(other.labels)),
        ):
            if ours != theirs:
                odd = next((n for n in (*ours, *theirs) if (n in ours) != (n in theirs)), None)
                detail = f"column {odd!r} is in one of them only" if odd is not None else "their order differs"
                raise DataError(f"{name}: other {what} than {partitions.names[0]}: {detail}")
    attributes = tuple(_united(index, schemas, partitions.names) for index in range(len(first.attributes)))
    contents = tuple(one.contents for one in schemas)
    weights = None
    if any(one.weights is not None for one in schemas):
        weights = tuple(np.ones(one.contents.n_rows) if one.weights is None else one.weights for one in schemas)
    return Columns(attributes, first.labels, contents, weights, first.hierarchy, form)


def _in_form(one: PartSchema, form: TargetForm) -> PartSchema:
    """Return the columns of a part, with the labels that the classes of all parts make."""
    if form.classes is None or (one.form is not None and one.form.classes is None):
        return one
    names = {attribute.name for attribute in one.attributes}
    return one._replace(labels=disambiguate(form.label_names(), names.__contains__, named=False))


def _united(index: int, schemas: Sequence[PartSchema], names: Sequence[str]) -> Attribute:
    """One attribute of all parts, with the categories of all of them in the order that one reader would give."""
    named = zip(names, schemas, strict=True)
    known = [(name, one.attributes[index]) for name, one in named if not one.all_missing[index]]
    if not known:
        return schemas[0].attributes[index]
    first_name, first = known[0]
    odd = next(((name, one) for name, one in known if one.kind != first.kind), None)
    if odd is not None:
        raise DataError(f"{odd[0]}: column {first.name!r} is {odd[1].kind}, in {first_name} it is {first.kind}")
    listed = [one.categories or () for _, one in known]
    if not first.is_nominal or all(categories == listed[0] for categories in listed):
        return first
    united = tuple(dict.fromkeys(category for categories in listed for category in categories))
    in_order = all(list(categories) == sorted(categories) for categories in listed)
    return replace(first, categories=tuple(sorted(united)) if in_order else united)


class Plan(NamedTuple):
    """How rows become codes."""

    attributes: Sequence[Attribute]
    values: tuple[Values, ...]
    labels: tuple[str, ...]
    given: tuple[Rule, ...]


class RowMetadata(NamedTuple):
    """Which rows of a part are looked at, and what is known of them beside what is in them."""

    places: NDArray[np.intp] | slice = slice(None)
    """Those of all its rows that are not left out."""
    weights: Floats | None = None
    """Their weights; None if all weigh 1."""
    roles: NDArray[np.int8] | None = None
    """Folds × rows: 0 where a fold trains on a row, 1, 2, … in its groups of held-out rows, -1 elsewhere."""

    def roles_in(self, fold: int) -> NDArray[np.int8]:
        """The roles of the rows in a fold."""
        if self.roles is None:
            raise ValueError("the rows have no roles before they are split")
        return self.roles[fold]

    def in_role(self, fold: int, role: int) -> NDArray[np.bool_]:
        """Which of the rows have a role in a fold."""
        return self.roles_in(fold) == role

    def training(self, fold: int) -> RowMetadata:
        """The rows that a fold trains on."""
        rows = np.flatnonzero(self.in_role(fold, 0))
        places = rows if isinstance(self.places, slice) else self.places[rows]
        return RowMetadata(places, None if self.weights is None else self.weights[rows])

    def ones(self, n_rows: int) -> Floats:
        """The weight of each row."""
        return np.ones(n_rows) if self.weights is None else self.weights


def metadata_of(columns: Columns) -> list[RowMetadata]:
    """The rows of each part that weigh something, with weights in units in which they add up exactly."""
    if columns.weights is None:
        return [RowMetadata()] * len(columns.contents)
    everything = check_weights(np.concatenate(columns.weights), columns.n_rows, len(columns.labels))
    if np.all(everything == 1.0):
        return [RowMetadata()] * len(columns.contents)
    metadata = []
    for weights in np.split(everything, np.cumsum([part.n_rows for part in columns.contents])[:-1]):
        places = np.flatnonzero(weights > 0)
        metadata.append(RowMetadata(places, weights[places]))
    return metadata


def sum_label_sets(partitions: Pieces, kept: Sequence[RowMetadata]) -> dict[bytes, NDArray[np.float64]]:
    """Weight and number of rows of each label set, which is packed to bits."""
    sets: dict[bytes, NDArray[np.float64]] = {}
    for listed, sums in partitions.map(label_set_sums, each=kept):
        for packed, more in zip(listed, sums, strict=True):
            sets[packed] = sets[packed] + more if packed in sets else more
    return sets


def most_values(max_bins: int | None) -> int:
    """So many different values of a column are listed in a survey."""
    return MOST_VALUES if max_bins is None else max(FEW, max_bins)


def values_of(
    partitions: Pieces, columns: Columns, kept: Sequence[RowMetadata], max_bins: int | None
) -> tuple[Values, ...]:
    """The ranks that whole columns of the rows would have."""
    values = [Values(np.zeros(0), np.zeros(0), len(a.categories or ())) for a in columns.attributes]
    pivots: dict[int, Floats] = {}
    surveys = surveyed(partitions, columns, kept, most_values(max_bins))
    for i, one in surveys.items():
        if max_bins is None and one.distinct is None:
            raise DataError(f"column {columns.attributes[i].name!r} has more than {MOST_VALUES} values: give max_bins")
        if one.distinct is not None and (max_bins is None or len(one.distinct) <= max_bins):
            values[i] = Values(one.distinct, one.distinct, len(one.distinct), one.fraction)
        else:
            pivots[i] = one.sample
    if pivots:
        counts: dict[int, Counts] = partitions.total(count_part, pivots, each=kept)
        gaps = {i: gaps_to_open(counts[i], max_bins) for i in pivots}
        opened: list[dict[int, Weighed]] = []
        if any(map(len, gaps.values())):
            opened = partitions.map(open_part, pivots, gaps, each=kept)
        for i, at in pivots.items():
            inside = add_weighed([NOTHING, *(one[i] for one in opened)])
            ends = cut(counts[i], at, inside, gaps[i], max_bins)
            values[i] = Values(ends.lowest, ends.highest, len(ends.lowest), surveys[i].fraction)
    return tuple(values)


def surveyed(partitions: Pieces, columns: Columns, kept: Sequence[RowMetadata], most: int) -> dict[int, Survey]:
    """A first look at the numeric columns of all parts together."""
    numeric = [i for i, attribute in enumerate(columns.attributes) if not attribute.is_nominal]
    surveys = partitions.map(survey_part, numeric, most, each=kept) if numeric else []
    return {i: merge([one[i] for one in surveys], most, columns.n_rows) for i in numeric}


def _numbers(part: Dataset, attribute: int, kept: RowMetadata) -> Floats:
    """A numeric column of the rows that are not left out."""
    # A column of missing values may have been taken for a nominal one.
    if part.attributes[attribute].is_nominal:
        return np.full(len(part), np.nan)[kept.places]
    return part.X.column(attribute).astype(np.float64)[kept.places] + 0.0


def _known(part: Dataset, attribute: int, kept: RowMetadata) -> Floats:
    """Values of a numeric column, each at least once."""
    if isinstance(kept.places, slice) and not part.attributes[attribute].is_nominal:
        numbers = _different(part.X.columns[attribute]).astype(np.float64) + 0.0
    else:
        numbers = _numbers(part, attribute, kept)
    return numbers[~np.isnan(numbers)]


def expect_kept_by(part: Dataset, constraints: ResolvedConstraints) -> None:
    """Raise an error if rows of a part go against constraints."""
    constraints.expect_kept_by(part.Y, part.label_names)


def survey_part(part: Dataset, numeric: Sequence[int], most: int, kept: RowMetadata) -> dict[int, Survey]:
    """A first look at the numeric columns of a part."""
    return {i: survey(_known(part, i, kept), most) for i in numeric}


def label_set_sums(part: Dataset, kept: RowMetadata) -> tuple[list[bytes], NDArray[np.float64]]:
    """The label sets of a part, and the weight and number of rows of each."""
    sets, which = label_sets(part, kept)
    weights = np.bincount(which, kept.ones(len(which)), len(sets))
    return sets, np.column_stack([weights, np.bincount(which, None, len(sets))])


def label_sets(part: Dataset, kept: RowMetadata) -> tuple[list[bytes], NDArray[np.uint32]]:
    """The label sets of a part, as bits, and which of them each row has."""
    packed = np.packbits(dense(part.Y)[kept.places].astype(np.bool_), axis=1)
    rows = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    sets, which = np.unique(rows, return_inverse=True)
    return [one.tobytes() for one in sets], which.ravel().astype(np.uint32)


def _in_order(part: Dataset, attribute: int, kept: RowMetadata) -> Sorted:
    return in_order(_numbers(part, attribute, kept), kept.weights)


def count_part(part: Dataset, pivots: Mapping[int, Floats], kept: RowMetadata) -> dict[int, Counts]:
    """Count the values of a part at pivots and between them."""
    return {i: _in_order(part, i, kept).count(at) for i, at in pivots.items()}


def open_part(part: Dataset, pivots: Mapping[int, Floats], gaps: Any, kept: RowMetadata) -> dict[int, Weighed]:
    """The values of a part in some gaps."""
    return {i: _in_order(part, i, kept).inside(at, gaps[i]) for i, at in pivots.items()}


def rows_of(
    part: Dataset, attributes: Sequence[Attribute], kept: RowMetadata
) -> tuple[Table, NDArray[np.uint8], Floats]:
    """The rows of a part that are not left out, their labels, and their weights."""
    table, Y = encode(part.X, attributes), dense(part.Y).view(np.uint8)
    if not isinstance(kept.places, slice):
        table, Y = table[kept.places], Y[kept.places]
    return table, Y, kept.ones(len(table))


def build(part: Dataset, plan: Plan, kept: RowMetadata) -> tuple[Block, tuple[Rule, ...]]:
    """The block of a part, and the initial rules with the counts there."""
    table, Y, ones = rows_of(part, plan.attributes, kept)
    columns = (values.codes(column) for values, column in zip(plan.values, table.columns, strict=True))
    begin: InitialState | None = None
    if plan.given:
        begin = apply_initial_rules(Problem(table, plan.labels, Y, ones, plan.given))
    weights = None if kept.weights is None else ones
    n_values = [values.n_values for values in plan.values]
    block = Block.make(columns, n_values, Y, weights, begin)
    return block, () if begin is None else begin.rules


def summed_rules(parts: Sequence[tuple[Rule, ...]]) -> tuple[Rule, ...]:
    """Rules that were counted part by part, with the counts of all parts."""
    rules = []
    for same in zip(*parts, strict=True):
        decided = tuple(map(tuple, np.sum([rule.decided for rule in same], axis=0).tolist()))
        tp, fp, coverage = (sum(getattr(rule, name) for rule in same) for name in ("tp", "fp", "coverage"))
        rules.append(replace(same[0], tp=tp, fp=fp, coverage=coverage, decided=decided))
    return tuple(rules)


def around(part: Dataset, asked: Sequence[tuple[int, float]], kept: RowMetadata) -> list[tuple[float, float]]:
    """For thresholds of attributes: the highest value up to each, and the lowest beyond it."""
    found = []
    for index, threshold in asked:
        numbers = _known(part, index, kept)
        below, above = numbers[numbers <= threshold], numbers[numbers > threshold]
        found.append((below.max(initial=-np.inf), above.min(initial=np.inf)))
    return found


def table_of(attributes: Sequence[Attribute], numbers: Mapping[int, Floats], n_rows: int = 0) -> Table:
    """A table of a few values of some attributes; all else is missing."""
    n_rows = max((len(values) for values in numbers.values()), default=n_rows)
    columns: list[NDArray[Any]] = []
    for i, attribute in enumerate(attributes):
        known = numbers.get(i, np.zeros(0))
        column = np.pad(known, (0, n_rows - len(known)), constant_values=np.nan)
        columns.append(np.full(n_rows, -1, np.int32) if attribute.is_nominal else column)
    return Table(attributes, columns, n_rows)
