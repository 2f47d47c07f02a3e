"""`plurule.scan`: data that are never in memory as a whole."""

from __future__ import annotations

import contextlib
import glob
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

from plurule._files import temporary_folder
from plurule._rows.parts import Columns, Part, PartSchema, each_part, labelled_part, spool
from plurule._rows.rows import InitialRules, MemoryRows, Rows
from plurule.constraints import Constraints
from plurule.data.dataset import Dataset
from plurule.data.labels import Labels
from plurule.data.reading import COMPRESSIONS, Reader, suffix_of
from plurule.data.tabular import count_groups
from plurule.data.targets import TargetForm
from plurule.errors import DataError, ParameterError
from plurule.model import Attribute
from plurule.model.rule import Hierarchy

CHUNK = 1 << 26
"""Bytes of a text file that are read as one part."""
ROWS = 1 << 20
"""Rows of an array that are read as one part."""


class ScannedData(ABC):
    """Data with labels, names and weights of their own that are not in memory: parts that can be read again."""

    @cached_property
    def columns(self) -> Columns:
        """Columns of all parts, after each of them was read once."""
        return Columns.united(self.schemas())

    @abstractmethod
    def schemas(self) -> list[tuple[str, PartSchema]]:
        """Return the name and the columns of each part."""

    @abstractmethod
    def rows(
        self, initial_rules: InitialRules, constraints: Constraints | None, n_jobs: int
    ) -> AbstractContextManager[Rows]:
        """Return the rows, ready to learn from; what that takes is given back at the end."""

    @property
    def attributes(self) -> Sequence[Attribute]:
        """Names and kinds of the columns that are no labels."""
        return self.columns.attributes

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return self.columns.labels

    @property
    def form(self) -> TargetForm:
        """The form of the labels."""
        return self.columns.form

    @property
    def hierarchy(self) -> Hierarchy:
        """Labels with those above them."""
        return self.columns.hierarchy

    def __len__(self) -> int:
        return self.columns.n_rows

    def expect_rows(self) -> None:
        """Raise an error if there are no rows."""
        if not len(self):
            raise DataError("the source holds no rows (Found array with 0 sample(s)); there is nothing to learn from")


def refuse_checkpoint(checkpoint: Any) -> None:
    """Raise an error if a checkpoint is asked for, which earlier versions had."""
    if checkpoint is not None:
        raise ParameterError(
            "checkpoint",
            checkpoint,
            "is no longer there: a fit of many rows is short now, since rules are learned from columns that are mapped "
            "to memory; leave it out, and fit again after an interruption",
        )


def scan(
    source: Any,
    labels: Labels | None = None,
    *,
    nominal: Sequence[str] = (),
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    chunk: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    checkpoint: Any = None,
) -> Scan:
    """Data to learn from that are never in memory as a whole.

    The source is read twice: for its columns, and to write them to files that are mapped to memory. The model is the
    same, bit by bit, as from memory.

    Parameters
    ----------
    source
        A file, a pattern such as `"data/*.parquet"`, or a list of files (Parquet, CSV, TSV, ARFF); a tuple (X, Y) of
        arrays, which may be mapped to memory; a list of frames or of (X, Y); or a function without parameters that
        gives an iterator of such parts, the same ones each time it is called. That they are the same is checked.
    labels, nominal, drop, delimiter, decimal
        As for `plurule.read`.
    chunk
        How much is read at once: bytes of a text file (64 MB, unless given), rows of an array (a million). Of a Parquet
        file it is a group of rows, which whoever wrote the file has chosen.
    folder
        Where the columns are kept while a list is learned, 4 or 8 bytes per value; the folder for temporary files,
        unless given. What is written is removed at the end, or by the next fit if the program was killed.
    checkpoint
        Refused: earlier versions kept rules there. A fit that was interrupted begins again.

    Examples
    --------
    >>> import numpy as np
    >>> from plurule import RuleListClassifier
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> Y = np.column_stack([X < 30, X < 30, X >= 30]).astype(int)
    >>> data = scan((X, Y), chunk=20)
    >>> print(RuleListClassifier().fit(data).rule_list_)
    y0, y1 ← x0 <= 29   (TP 60, FP 0; y0 30/0, y1 30/0)
    y2 ← x0 >= 30   (TP 30, FP 0)
    """
    refuse_checkpoint(checkpoint)
    if isinstance(source, Iterator):
        raise DataError("an iterator can be read only once; give a list, or a function that returns an iterator")
    reader = Reader(labels, tuple(nominal), tuple(drop), delimiter, decimal)
    return Scan(partial(_parts, source, reader, chunk), folder)


# Parts -------------------------------------------------------------------------------------------------------------


def _parts(source: Any, reader: Reader, chunk: int | None) -> Iterator[Part]:
    """The parts of a source, in order."""
    if callable(source):
        source = source()
    if isinstance(source, str | os.PathLike):
        for path in _files(os.fspath(source)):
            yield from _parts_of_file(path, reader, chunk)
    elif isinstance(source, tuple):
        yield from _slices(source[0], source[1], chunk or ROWS)
    else:
        for number, one in enumerate(source):
            if isinstance(one, str | os.PathLike):
                yield from _parts_of_file(Path(one), reader, chunk)
            else:
                yield Part(f"part {number}", partial(labelled_part, one, reader))


def _files(pattern: str) -> list[Path]:
    if Path(pattern).is_file():
        return [Path(pattern)]
    found = sorted(path for path in map(Path, glob.glob(pattern)) if path.is_file())
    if not found:
        raise DataError(f"{pattern}: there is no such file, nor files of such names")
    return found


def _slices(X: Any, Y: Any, rows: int) -> Iterator[Part]:
    """Rows of arrays."""
    if len(X) != len(Y):
        raise DataError(f"X has {len(X)} rows, Y has {len(Y)}; give the labels of every row")
    # At least one part, so that arrays without rows still have columns.
    for start in range(0, max(1, len(X)), rows):
        end = min(start + rows, len(X))
        yield Part(f"rows {start} to {end - 1}", partial(_slice, X, Y, start, end))


def _slice(X: Any, Y: Any, start: int, end: int) -> Dataset:
    return labelled_part((X[start:end], Y[start:end]))


def _parts_of_file(path: Path, reader: Reader, chunk: int | None) -> Iterator[Part]:
    """Groups of rows of a Parquet file, or lines of a text file after its header."""
    if path.suffix.lower() in COMPRESSIONS:
        raise DataError(f"{path}: compressed, so it cannot be read in parts; unpack it, or use plurule.read")
    if suffix_of(path) in (".parquet", ".pq"):
        groups = count_groups(path)
        for group in range(groups):
            name = f"{path.name}, group {group}" if groups > 1 else path.name
            yield Part(name, partial(_read_part, reader, path, group=group))
        return
    with open(path, "rb") as file:
        header, spans = _spans(file, suffix_of(path) == ".arff", chunk or CHUNK)
    for start, end in spans:
        name = f"{path.name}, bytes {start} to {end}" if len(spans) > 1 else path.name
        yield Part(name, partial(_read_part, reader, path, (header, start, end)))


def _read_part(
    reader: Reader, path: Path, span: tuple[int, int, int] | None = None, group: int | None = None
) -> Dataset:
    """Read a group of rows of a Parquet file, or the header and some lines of a text file."""
    content = None
    if span is not None:
        header, start, end = span
        # The header and these lines as a file of their own: readers need the names of the columns.
        with open(path, "rb") as file:
            content = file.read(header)
            file.seek(start)
            content += file.read(end - start)
    data, source = reader.columns(path, content, group)
    return reader.split(data, source, path)


def _spans(file: BinaryIO, is_arff: bool, size: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the end of the header of a text file, and parts of the rows that follow, split between rows.

    In a CSV file a line break between quotes ends no row.
    """
    # The header ends after `@data`, or after the first line in which all quotes are closed.
    line = file.readline()
    while line and (line.strip().lower() != b"@data" if is_arff else line.count(b'"') % 2):
        more = file.readline()
        line = more if is_arff or not more else line + more
    header = file.tell()
    spans = []
    while content := file.read(size):
        start = file.tell() - len(content)
        # A part goes on to the end of a line. An odd number of quotes means that a quoted value goes on: quotes within
        # a value are doubled, so they do not matter.
        quotes = content.count(b'"')
        last = content[-1:]
        while (last != b"\n" or (not is_arff and quotes % 2)) and (line := file.readline()):
            quotes += line.count(b'"')
            last = line[-1:]
        spans.append((start, file.tell()))
    return header, spans or [(header, header)]


class Scan(ScannedData):
    """Data in parts that are read when they are needed; `scan` makes one."""

    def __init__(self, parts: Callable[[], Iterable[Part]], folder: str | os.PathLike[str] | None = None):
        self.parts = parts
        self.folder = folder

    def __repr__(self) -> str:
        return f"Scan({len(self)} instances in {len(self.columns.contents)} parts, {len(self.label_names)} labels)"

    def schemas(self) -> list[tuple[str, PartSchema]]:
        return list(each_part(self.parts(), PartSchema.of))

    @contextlib.contextmanager
    def rows(self, initial_rules: InitialRules, constraints: Constraints | None, n_jobs: int) -> Iterator[Rows]:
        """Return the rows in columns that are mapped to memory, in a temporary folder."""
        self.expect_rows()
        if self.folder is not None and not Path(self.folder).is_dir():
            raise DataError(f"{self.folder}: there is no such folder")
        with temporary_folder("plurule-", self.folder) as folder:
            with ThreadPoolExecutor(n_jobs) as executor:
                data = spool(self.parts(), self.columns, folder, executor, max(2, n_jobs))
            yield MemoryRows.of(data, initial_rules, constraints, folder=folder)
