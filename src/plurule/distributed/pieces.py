"""Pieces of the data, parts or blocks of them, wherever they are: a function is called on each, and results add up.

Here threads call it; in `dask` the workers of a cluster do.
"""

from __future__ import annotations

import functools
import itertools
import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurule.data.dataset import Dataset
from plurule.data.table import SparseColumn
from plurule.distributed.storage import Stored
from plurule.errors import DataError
from plurule.label_matrix import dense

Function = Callable[..., Any]


class Blocks(ABC):
    """Blocks of rows, none of which need be in this process."""

    @abstractmethod
    def total(self, function: Function, *shared: Any) -> Any:
        """`function(block, *shared)` of every block, added up, in whichever order."""


class Pieces(ABC):
    """Parts of the data, none of which need be in this process."""

    names: Sequence[str]
    """Names of the parts in error messages."""
    prepare: Function | None = None
    """A function that every part goes through when it was read."""
    contents: Sequence[Contents] | None = None
    """Contents of the parts when they were read first; None before that."""

    @abstractmethod
    def map(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """`function(part, *shared)` of every part, in order; with one of `each` at the end, if that is given."""

    @abstractmethod
    def total(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> Any:
        """The same, with the results added up, in whichever order."""

    @abstractmethod
    def make(self, function: Function, *shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        """The same for a function that gives a block, which stays where it is, and something else."""


class Contents(NamedTuple):
    """Number of rows and checksum of a part."""

    n_rows: int
    checksum: int

    @classmethod
    def of(cls, part: Dataset) -> Contents:
        """The contents of a part."""
        arrays: list[Any] = [dense(part.Y)]
        for column in part.X.columns:
            arrays += [column.rows, column.values] if isinstance(column, SparseColumn) else [column]
        return cls(len(part), functools.reduce(_add_checksum, arrays, 0))


def _add_checksum(checksum: int, array: Any) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data.cast("B") if array.size else b"", checksum)


class Piece(NamedTuple):
    """Some rows of a source, or a block."""

    name: str
    read: Callable[[], Any]

    def call(
        self,
        function: Function,
        arguments: Sequence[Any],
        prepare: Function | None = None,
        contents: Contents | None = None,
    ) -> Any:
        """Call a function of the piece, where it is; an error names the piece."""
        try:
            piece = self.read()
            if contents is not None and Contents.of(piece) != contents:
                raise DataError("has other rows than before; do not change the source while a model is learned")
            return function(piece if prepare is None else prepare(piece), *arguments)
        except DataError as error:
            raise error if str(error).startswith(self.name) else DataError(f"{self.name}: {error}") from None


def added_up(results: Iterable[Any]) -> Any:
    """Results, the members of which are added up where they are lists, tuples or mappings."""
    return functools.reduce(_added, results)


def _added(one: Any, other: Any) -> Any:
    if isinstance(one, dict):
        return {key: _added(value, other[key]) for key, value in one.items()}
    if type(one) in (list, tuple):
        return [_added(a, b) for a, b in zip(one, other, strict=True)]
    return one + other


class LocalPieces(Pieces, Blocks):
    """Pieces that are read when they are needed.

    Parameters
    ----------
    pieces
        Gives the pieces, as often as it is called.
    executor, width
        The threads that read and count, and how many pieces at a time; None for this thread.
    folder
        Where blocks are written; None keeps them in memory.
    """

    def __init__(
        self,
        pieces: Callable[[], Iterable[Piece]],
        executor: Executor | None = None,
        width: int = 1,
        folder: Path | None = None,
    ):
        self.pieces = pieces
        self.executor = executor
        self.width = width
        self.folder = folder
        self.names: list[str] = []

    def map(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> list[Any]:
        return list(self._run(function, shared, each))

    def total(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> Any:
        return added_up(self._run(function, shared, each))

    def make(self, function: Function, *shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        folder = None if self.folder is None else self.folder / f"blocks-{next(_numbers)}"
        made = list(self._run(partial(_keep_block, function, folder), shared, list(enumerate(each))))
        blocks = [Piece("", read) for read, _ in made if read is not None]
        return LocalPieces(lambda: blocks, self.executor, self.width), [side for _, side in made]

    def _run(self, function: Function, shared: Sequence[Any], each: Sequence[Any] | None) -> Iterator[Any]:
        """The results, in order; at most `width` of them are under way."""
        self.names.clear()
        waiting: deque[Future[Any]] = deque()
        try:
            for number, piece in enumerate(self.pieces()):
                self.names.append(piece.name)
                if self.contents is not None and number == len(self.contents):
                    raise self._changed("more")
                arguments = shared if each is None else (*shared, each[number])
                contents = None if self.contents is None else self.contents[number]
                if self.executor is None:
                    yield piece.call(function, arguments, self.prepare, contents)
                    continue
                waiting.append(self.executor.submit(piece.call, function, arguments, self.prepare, contents))
                if len(waiting) >= self.width:
                    yield waiting.popleft().result()
            if self.contents is not None and len(self.names) < len(self.contents):
                raise self._changed("fewer")
            while waiting:
                yield waiting.popleft().result()
        finally:
            # After an error nobody goes on writing what is to be removed.
            wait([future for future in waiting if not future.cancel()])

    def _changed(self, how: str) -> DataError:
        n_parts = len(self.contents or ())
        return DataError(
            f"the source has {how} parts than the {n_parts} that were read first; do not change it while a model is "
            "learned, and give a function that begins again each time it is called instead of an iterator"
        )


_numbers = itertools.count()
"""Numbers of folders of blocks."""


def itself(piece: Any) -> Any:
    """A piece that need not be read."""
    return piece


def _keep_block(function: Function, folder: Path | None, part: Any, *arguments: Any) -> Any:
    """Make a block; return what reads it, None if it has no rows, and what else the function gives."""
    *shared, (number, given) = arguments
    block, side = function(part, *shared, given)
    if folder is None:
        return partial(itself, block), side
    return Stored.write(block, folder / f"block-{number:06d}").load if len(block) else None, side
