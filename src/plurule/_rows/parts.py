"""Parts of data that are never together: what they have in common, and how their rows become columns in files.

    read 1   every part → PartSchema     names, kinds and categories of the columns, classes, weights, a checksum
             united → Columns            attributes of all parts
    read 2   every part → rows of files  one file per column, of float64 (float32 where all parts have that) or int32
                                         codes, and one of labels, mapped to memory from then on

Sparse columns stay in memory: they are as large as what they list.
"""

from __future__ import annotations

import functools
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Column, Dataset, SparseColumn, SparseColumns, Table
from plurule.data.inputs import disambiguate, encode, labelled_data
from plurule.data.reading import Reader
from plurule.data.targets import TargetForm, dense, merge_forms
from plurule.errors import DataError, PluruleError
from plurule.model import Attribute
from plurule.model.rule import Hierarchy

Floats = NDArray[np.float64]
Function = Callable[..., Any]


# Parts ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LabelledPart(Dataset):
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
        return LabelledPart(encode(X), np.zeros((0, 0), np.int8), (), *weights)
    # The form has the classes of this part only; `merge_forms` joins those of all parts.
    data, form = labelled_data(X, y, *weights, allow_empty=True)
    return LabelledPart(**vars(data), form=form)


class Part(NamedTuple):
    """Some rows of a source."""

    name: str
    read: Callable[[], Dataset]

    def call(self, function: Function, arguments: Sequence[Any], contents: Contents | None = None) -> Any:
        """Call a function of the rows, where they are; an error names the part."""
        try:
            rows = self.read()
            if contents is not None and Contents.of(rows) != contents:
                raise DataError("has other rows than before; do not change the source while a model is learned")
            return function(rows, *arguments)
        except DataError as error:
            raise error if str(error).startswith(self.name) else DataError(f"{self.name}: {error}") from None


class Contents(NamedTuple):
    """Number of rows and checksum of a part."""

    n_rows: int
    checksum: int

    @classmethod
    def of(cls, part: Dataset) -> Contents:
        """Return the contents of a part."""
        arrays: list[Any] = [dense(part.Y)]
        for column in part.X.columns:
            arrays += [column.rows, column.values] if isinstance(column, SparseColumn) else [column]
        return cls(len(part), functools.reduce(_add_checksum, arrays, 0))


def _add_checksum(checksum: int, array: Any) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data.cast("B") if array.size else b"", checksum)


def each_part(
    parts: Iterable[Part],
    function: Function,
    arguments: Callable[[int], Sequence[Any]] = lambda number: (),
    contents: Sequence[Contents] | None = None,
    executor: Executor | None = None,
    width: int = 1,
) -> Iterator[tuple[str, Any]]:
    """Yield the name of each part and what a function gives of it, in order; at most `width` parts are read at once.

    With the `contents` of the parts when they were read before, parts that have changed are an error.
    """
    # A queue of at most `width` futures, oldest first, so that results come in the order of the parts.
    waiting: deque[tuple[str, Future[Any]]] = deque()
    number = -1
    try:
        for number, part in enumerate(parts):
            if contents is not None and number == len(contents):
                raise _changed("more", contents)
            call = functools.partial(
                part.call, function, arguments(number), None if contents is None else contents[number]
            )
            if executor is None:
                yield part.name, call()
                continue
            waiting.append((part.name, executor.submit(call)))
            if len(waiting) >= width:
                name, future = waiting.popleft()
                yield name, future.result()
        # `number` is that of the last part, or -1 if there was none.
        if contents is not None and number + 1 < len(contents):
            raise _changed("fewer", contents)
        while waiting:
            name, future = waiting.popleft()
            yield name, future.result()
    finally:
        # After an error nobody goes on writing what is to be removed.
        wait([future for _, future in waiting if not future.cancel()])
        release_memory()


def release_memory() -> None:
    """Give back what the readers of files have kept for the next part."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None:
        pyarrow.default_memory_pool().release_unused()


def _changed(how: str, contents: Sequence[Contents]) -> DataError:
    return DataError(
        f"the source has {how} parts than the {len(contents)} that were read first; do not change it while a model is "
        "learned, and give a function that begins again each time it is called instead of an iterator"
    )


# Read 1: the columns of all parts ------------------------------------------------------------------------------------


class PartSchema(NamedTuple):
    """Columns of one part."""

    attributes: Sequence[Attribute]
    # Per attribute: a column without values has no kind, and takes that of the other parts.
    all_missing: tuple[bool, ...]
    is_narrow: tuple[bool, ...]
    """Whether the numbers of a column have 32 bits."""
    is_sparse: bool
    labels: tuple[str, ...]
    contents: Contents
    weights: Floats | None
    has_classes: bool
    """Whether a column of a file or frame was taken for classes, of which other parts may have others."""
    hierarchy: Hierarchy
    form: TargetForm | None
    """None if there are no rows that would have one."""

    @classmethod
    def of(cls, part: Dataset) -> PartSchema:
        """Return the columns of a part."""
        # Codes are int32 with -1 for missing, numbers float32 or float64 with NaN for missing.
        values = [_different(column) for column in part.X.columns]
        missing = (
            bool((one < 0).all() if a.is_nominal else np.isnan(one).all())
            for a, one in zip(part.attributes, values, strict=True)
        )
        form = part.form if isinstance(part, LabelledPart) else TargetForm()
        return cls(
            attributes=part.attributes,
            all_missing=tuple(missing),
            is_narrow=tuple(one.dtype == np.float32 for one in values),
            is_sparse=isinstance(part.X.columns, SparseColumns),
            labels=part.label_names,
            contents=Contents.of(part),
            weights=part.weights,
            has_classes=bool(part.groups) and form.classes is None,
            hierarchy=part.hierarchy,
            form=form if len(part) or part.label_names else None,
        )

    def in_form(self, form: TargetForm) -> PartSchema:
        """Return the same with the labels that the classes of all parts make."""
        if form.classes is None or (self.form is not None and self.form.classes is None):
            return self
        names = {attribute.name for attribute in self.attributes}
        return self._replace(labels=disambiguate(form.label_names(), names.__contains__, named=False))


def _different(column: Column) -> NDArray[Any]:
    """Values of a column, each at least once; of a sparse one those that are listed, and a zero if there are some."""
    if not isinstance(column, SparseColumn):
        return column
    # A zero of the same dtype: it must not make float64 of float32.
    return column.values if len(column.values) == len(column) else np.append(column.values, column.values.dtype.type(0))


@dataclass(frozen=True)
class Columns:
    """Columns of all parts, and the contents of each part."""

    attributes: Sequence[Attribute]
    is_narrow: tuple[bool, ...]
    is_sparse: bool
    labels: tuple[str, ...]
    contents: tuple[Contents, ...]
    """Number of rows and checksum of each part."""
    weights: Floats | None
    """Weights of all rows, as given; None if there are none."""
    hierarchy: Hierarchy
    """Labels that imply others, as the files that name the labels have it."""
    form: TargetForm
    """With the classes of all parts."""

    @property
    def n_rows(self) -> int:
        """The number of rows of all parts."""
        return sum(part.n_rows for part in self.contents)

    def without_contents(self) -> Columns:
        """Return only what is needed to read a part."""
        return replace(self, contents=(), weights=None)

    @property
    def starts(self) -> list[int]:
        """The number of the first row of each part, and last that of all rows."""
        return np.cumsum([0, *(part.n_rows for part in self.contents)]).tolist()

    @classmethod
    def united(cls, named: Sequence[tuple[str, PartSchema]]) -> Columns:
        """Return the columns that all parts have; an error names a part with others."""
        if not named:
            raise DataError("the source has no parts; there is nothing to learn from")
        names = [name for name, _ in named]
        form = merge_forms([one.form for _, one in named if one.form is not None])
        schemas = [one.in_form(form) for _, one in named]
        first = schemas[0]
        for name, other in zip(names, schemas, strict=True):
            if other.has_classes:
                advice = (
                    "give X and y apart, or name the classes (labels=['kind: a', 'kind: b', …]) with exclusive_labels"
                )
                raise DataError(f"{name}: a column of classes needs all rows in memory; {advice}")
            for what, ours, theirs in (
                ("attributes", [a.name for a in first.attributes], [a.name for a in other.attributes]),
                ("labels", list(first.labels), list(other.labels)),
            ):
                if ours != theirs:
                    odd = next((n for n in (*ours, *theirs) if (n in ours) != (n in theirs)), None)
                    detail = f"column {odd!r} is in one of them only" if odd is not None else "their order differs"
                    raise DataError(f"{name}: other {what} than {names[0]}: {detail}")
        places = range(len(first.attributes))
        # float64[rows of all parts], in the order of the parts; parts without weights weigh 1.
        weights = None
        if any(one.weights is not None for one in schemas):
            ones = (np.ones(one.contents.n_rows) if one.weights is None else one.weights for one in schemas)
            weights = np.concatenate(list(ones))
        return cls(
            attributes=tuple(_united(index, schemas, names) for index in places),
            is_narrow=tuple(all(one.is_narrow[i] or one.all_missing[i] for one in schemas) for i in places),
            is_sparse=all(one.is_sparse for one in schemas),
            labels=first.labels,
            contents=tuple(one.contents for one in schemas),
            weights=weights,
            hierarchy=first.hierarchy,
            form=form,
        )

    def rows(self, part: Dataset) -> tuple[Table, NDArray[np.int8]]:
        """Return the rows of a part as those of all parts, and their labels: rows × labels."""
        # Codes of a part number its own categories: they become those of all parts.
        table = encode(part.X, self.attributes)
        if self.form.classes is None:
            return table, dense(part.Y)
        if not len(part):
            return table, np.zeros((0, len(self.labels)), np.int8)
        assert isinstance(part, LabelledPart)
        # By the classes themselves, since a part has labels only for those that occur in it.
        return table, self.form.encode(part.form.decode(dense(part.Y)))

    def data_set(self, table: Table, Y: Any) -> Dataset:
        """Return all rows as a data set."""
        return Dataset(table, Y, self.labels, self.weights, groups=self.form.groups, hierarchy=self.hierarchy)


def _united(index: int, schemas: Sequence[PartSchema], names: Sequence[str]) -> Attribute:
    """Return one attribute of all parts, with the categories of all of them in the order that one reader would give."""
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
    # A reader that sorts categories would have sorted those of all rows; another one lists them as they occur.
    in_order = all(list(categories) == sorted(categories) for categories in listed)
    return replace(first, categories=tuple(sorted(united)) if in_order else united)


# Read 2: columns in files --------------------------------------------------------------------------------------------


class SpooledColumns(Sequence[NDArray[Any]]):
    """Columns in files, each mapped to memory when it is asked for, and let go with the array.

    Parameters
    ----------
    folder
        Where the files are.
    dtypes
        Of each column.
    n_rows
        How many rows the files have.
    picked
        The rows that the columns have, of those in the files; None for all.
    """

    def __init__(
        self, folder: Path, dtypes: Sequence[Any], n_rows: int, picked: NDArray[np.intp] | slice | None = None
    ):
        # One file per column, `column-0`, `column-1`, …: n_rows values of its dtype, without a header.
        self.folder = folder
        self.dtypes = dtypes
        self.n_file_rows = n_rows
        self.picked = picked
        self.n_rows = n_rows if picked is None else len(range(n_rows)[picked] if isinstance(picked, slice) else picked)

    def __len__(self) -> int:
        return len(self.dtypes)

    @overload
    def __getitem__(self, index: int) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[NDArray[Any], ...]: ...
    def __getitem__(self, index: int | slice) -> NDArray[Any] | tuple[NDArray[Any], ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        if not 0 <= index < len(self):
            raise IndexError(index)
        mapped = _mapped(self.folder / f"column-{index}", self.dtypes[index], (self.n_file_rows,))
        # A slice is a view of the file; an array of numbers copies these rows into memory, one column at a time.
        return mapped if self.picked is None else mapped[self.picked]

    def take(self, rows: NDArray[np.intp]) -> SpooledColumns:
        """Return some of the rows, in order."""
        picked = rows
        if isinstance(self.picked, slice):
            picked = rows + self.picked.start
        elif self.picked is not None:
            picked = self.picked[rows]
        # Neighbours (of ascending rows) as a slice: nothing is copied when such a block is read.
        if len(picked) and picked[-1] - picked[0] == len(picked) - 1:
            return SpooledColumns(
                self.folder, self.dtypes, self.n_file_rows, slice(int(picked[0]), int(picked[-1]) + 1)
            )
        return SpooledColumns(self.folder, self.dtypes, self.n_file_rows, picked)


def _mapped(path: Path, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a file mapped to memory, as a plain array."""
    # A file of no bytes cannot be mapped.
    return np.memmap(path, dtype, "r", shape=shape).view(np.ndarray) if all(shape) else np.zeros(shape, dtype)


def spool(
    parts: Iterable[Part], columns: Columns, folder: Path, executor: Executor | None = None, width: int = 1
) -> Dataset:
    """Write the rows of all parts to files, and return them as a data set that is mapped to memory."""
    n_rows, starts = columns.n_rows, columns.starts
    narrow = zip(columns.attributes, columns.is_narrow, strict=True)
    # 4 or 8 bytes per value; labels are int8, rows × labels, in one file.
    dtypes = [np.dtype("i4" if a.is_nominal else "f4" if is_narrow else "f8") for a, is_narrow in narrow]
    shape = n_rows, len(columns.labels)
    for name in ["labels", *(f"column-{i}" for i in range(len(dtypes)))]:
        # Parts are written by several threads, in any order: the files must be there, and each part has its own place.
        (folder / name).touch()

    def write(part: Dataset, start: int) -> Any:
        table, Y = columns.rows(part)
        try:
            _write_at(folder / "labels", start * shape[1], np.ascontiguousarray(Y, np.int8))
            if columns.is_sparse:
                return table.columns
            for index, dtype in enumerate(dtypes):
                values = np.ascontiguousarray(table.column(index), dtype)
                _write_at(folder / f"column-{index}", start * dtype.itemsize, values)
        except OSError as error:
            raise PluruleError(f"{folder}: the columns could not be written ({error.strerror})") from error
        return None

    written = each_part(parts, write, lambda number: (starts[number],), columns.contents, executor, width)
    kept = [sparse for _, sparse in written]
    listed = SparseColumns.joined(kept) if columns.is_sparse else SpooledColumns(folder, dtypes, n_rows)
    return columns.data_set(Table(columns.attributes, listed, n_rows), _mapped(folder / "labels", np.int8, shape))


def _write_at(path: Path, place: int, values: NDArray[Any]) -> None:
    with open(path, "r+b") as file:
        file.seek(place)
        file.write(values.data)
