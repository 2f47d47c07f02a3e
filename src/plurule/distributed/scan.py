"""`plurule.scan`: data that are never in memory as a whole."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from plurule.data.dataset import Dataset
from plurule.data.fingerprint import digest
from plurule.data.labels import Labels
from plurule.data.place import Source
from plurule.data.readers.arff import read_arff
from plurule.data.readers.csv import read_csv
from plurule.data.readers.parquet import count_groups, read_parquet
from plurule.data.readers.reading import as_data_set, read
from plurule.data.readers.text import COMPRESSIONS, decoded, suffix_of
from plurule.distributed.cache import CachedPieces, cache_folder
from plurule.distributed.part import labelled_part
from plurule.distributed.partitioned import PartitionedData
from plurule.distributed.pieces import LocalPieces, Piece, Pieces
from plurule.errors import DataError
from plurule.files import temporary_folder

CHUNK = 1 << 26
"""Bytes of a text file that are read as one part."""
ROWS = 1 << 20
"""Rows of an array that are read as one part."""


def scan(
    source: Any,
    labels: Labels | None = None,
    *,
    text: str = "drop",
    nominal: Sequence[str] = (),
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    chunk: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Scan:
    """Data to learn from that are never in memory as a whole.

    The model is the same, bit by bit, as if they were.

    Parameters
    ----------
    source
        A file, a pattern such as `"data/*.parquet"`, or a list of files (Parquet, CSV, TSV, ARFF); a tuple (X, Y) of
        arrays, which may be mapped to memory; a list of frames or of (X, Y); or a function without parameters that
        gives an iterator of such parts, the same ones each time it is called.
    labels, text, nominal, drop, delimiter, decimal
        As for `plurule.read`.
    chunk
        How much is read at once: bytes of a text file (64 MB, unless given), rows of an array (a million). Of a Parquet
        file it is a group of rows, which whoever wrote the file has chosen.
    folder
        Where the binned columns are kept while a list is learned, one byte per value or two; the folder for temporary
        files, unless given. What is written is removed at the end.
    cache
        A folder of its own in which the binned columns of files stay. The next fit with the same bins reads them, not
        the files, unless one of these was changed or plurule was: then they are made anew.
    executor
        What reads and counts, instead of threads: a pool of processes, for example, in which the parts must be files.
    checkpoint
        A file in which every rule is kept as soon as it is learned: a fit that was ended, by whatever, goes on from
        there with the same model. The file of another fit, of other data or another version is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from plurule import RuleListClassifier
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    >>> data = scan((X, Y), chunk=4)
    >>> print(RuleListClassifier().fit(data).rule_list_)
    y0 ← x0 <= 3   (TP 3, FP 0, stop)
    y1 ←   (TP 3, FP 0, stop)
    """
    texts = {"nominal": tuple(nominal), "delimiter": delimiter, "decimal": decimal}
    reading = Reading(labels, tuple(drop), text, texts)
    identity = partial(_identity, source, reading, chunk)
    return Scan(partial(_parts, source, reading, chunk), folder, executor, checkpoint, cache, identity)


@dataclass(frozen=True)
class Reading:
    """How parts of files become data sets."""

    labels: Labels | None
    drop: tuple[str, ...]
    text: Any
    csv: dict[str, Any]

    def table(self, X: Any) -> Dataset:
        """A frame or an array, of which some columns are labels."""
        if isinstance(X, Dataset):
            return X
        if isinstance(X, tuple):
            return labelled_part(X[0], X[1])
        return read(X, self.labels, drop=self.drop)

    def group(self, path: Path, group: int) -> Dataset:
        """A group of rows of a Parquet file."""
        return self._split(path, *read_parquet(path, group))

    def lines(self, path: Path, header: int, start: int, end: int) -> Dataset:
        """Some lines of a text file, after its header."""
        with open(path, "rb") as file:
            head = file.read(header)
            file.seek(start)
            content = decoded(head + file.read(end - start), path)
        if suffix_of(path) == ".arff":
            return self._split(path, *read_arff(path, text=self.text, content=content))
        return self._split(path, *read_csv(path, content=content, **self.csv))

    def _split(self, path: Path, data: Dataset, source: Source) -> Dataset:
        return as_data_set(path, data, source, self.labels, self.drop)


# Parts -------------------------------------------------------------------------------------------------------------


def _parts(source: Any, reading: Reading, chunk: int | None) -> Iterator[Piece]:
    """The parts of a source, in order."""
    if callable(source):
        source = source()
    if isinstance(source, str | os.PathLike):
        yield from _parts_of_files(_files(os.fspath(source)), reading, chunk)
    elif isinstance(source, tuple):
        yield from _slices(source[0], source[1], chunk or ROWS)
    else:
        for number, one in enumerate(source):
            if isinstance(one, str | os.PathLike):
                yield from _parts_of_files([Path(one)], reading, chunk)
            else:
                yield Piece(f"part {number}", partial(reading.table, one))


def _identity(source: Any, reading: Reading, chunk: int | None) -> str:
    """What tells the parts of files from others: names, sizes and times of the last change, and how they are read."""
    listed = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(listed, list) or not all(isinstance(one, str | os.PathLike) for one in listed):
        raise DataError("a cache is for files, which tell whether they were changed; leave it out for other sources")
    paths = [path for one in listed for path in _files(os.fspath(one))]
    files = [(os.fspath(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    return digest(files, reading, chunk)


def _files(pattern: str) -> list[Path]:
    if Path(pattern).is_file():
        return [Path(pattern)]
    found = sorted(path for path in map(Path, glob.glob(pattern)) if path.is_file())
    if not found:
        raise DataError(f"{pattern}: there is no such file, nor files of such names")
    return found


def _slices(X: Any, Y: Any, rows: int) -> Iterator[Piece]:
    """Rows of arrays."""
    if len(X) != len(Y):
        raise DataError(f"X has {len(X)} rows, Y has {len(Y)}; give the labels of every row")
    for start in range(0, max(1, len(X)), rows):
        end = min(start + rows, len(X))
        yield Piece(f"rows {start} to {end - 1}", partial(_slice, X, Y, start, end))


def _slice(X: Any, Y: Any, start: int, end: int) -> Dataset:
    return labelled_part(X[start:end], Y[start:end])


def _parts_of_files(paths: Iterable[Path], reading: Reading, chunk: int | None) -> Iterator[Piece]:
    for path in paths:
        if path.suffix.lower() in COMPRESSIONS:
            raise DataError(f"{path}: compressed, so it cannot be read in parts; unpack it, or use plurule.read")
        if suffix_of(path) in (".parquet", ".pq"):
            groups = count_groups(path)
            for group in range(groups):
                name = f"{path.name}, group {group}" if groups > 1 else path.name
                yield Piece(name, partial(reading.group, path, group))
        else:
            with open(path, "rb") as file:
                header, spans = _spans(file, suffix_of(path) == ".arff", chunk or CHUNK)
            for start, end in spans:
                name = f"{path.name}, bytes {start} to {end}" if len(spans) > 1 else path.name
                yield Piece(name, partial(reading.lines, path, header, start, end))


def _spans(file: BinaryIO, is_arff: bool, size: int) -> tuple[int, list[tuple[int, int]]]:
    """Where the header of a text file ends, and the parts of the rows that follow it, cut between rows.

    In a CSV file a line break between quotes ends no row.
    """
    line = file.readline()
    while line and (line.strip().lower() != b"@data" if is_arff else line.count(b'"') % 2):
        more = file.readline()
        line = more if is_arff or not more else line + more
    header, spans = file.tell(), []
    while content := file.read(size):
        start, quotes = file.tell() - len(content), content.count(b'"')
        last = content[-1:]
        while (last != b"\n" or (not is_arff and quotes % 2)) and (line := file.readline()):
            quotes, last = quotes + line.count(b'"'), line[-1:]
        spans.append((start, file.tell()))
    return header, spans or [(header, header)]


class Scan(PartitionedData):
    """Data in parts that are read when they are needed; `scan` makes one."""

    def __init__(
        self,
        parts: Callable[[], Iterable[Piece]],
        folder: str | os.PathLike[str] | None = None,
        executor: Executor | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        cache: str | os.PathLike[str] | None = None,
        identity: Callable[[], str] = str,
    ):
        self.parts, self.folder, self.executor, self.checkpoint = parts, folder, executor, checkpoint
        self.cache, self.identity = cache, identity

    def __repr__(self) -> str:
        return f"Scan({len(self)} instances in {len(self.columns.rows)} parts, {len(self.label_names)} labels)"

    @contextlib.contextmanager
    def partitions(self, n_jobs: int) -> Iterator[Pieces]:
        """The parts, with a temporary folder for blocks."""
        if self.folder is not None and not Path(self.folder).is_dir():
            raise DataError(f"{self.folder}: there is no such folder")
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(temporary_folder("plurule-", self.folder))
            executor = self.executor or stack.enter_context(ThreadPoolExecutor(n_jobs))
            given = self.parts, executor, max(2, n_jobs), folder
            if self.cache is None:
                yield LocalPieces(*given)
            else:
                yield CachedPieces(*given, stack.enter_context(cache_folder(self.cache, self.identity())))
