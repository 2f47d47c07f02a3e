"""Pieces of the data, parts or blocks of them, wherever they are: a function is called on each, and results add up.

Here a thread, several, or the workers of any `concurrent.futures.Executor` call it; in `cluster` those of Dask do.
"""

from __future__ import annotations

import functools
import itertools
import mmap
import pickle
import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from plurule.errors import DataError, PluruleError

Function = Callable[..., Any]
ALIGNED = 64
"""Arrays begin at multiples of so many bytes."""


class Blocks(ABC):
    """Blocks of rows, none of which need be in this process."""

    @abstractmethod
    def total(self, function: Function, *shared: Any) -> Any:
        """`function(block, *shared)` of every block, added up, in whichever order."""


class Pieces(ABC):
    """Parts of the data, none of which need be in this process."""

    names: Sequence[str]
    """What complaints call the pieces."""
    then: Function | None = None
    """What every piece goes through when it was read."""

    @abstractmethod
    def map(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """`function(piece, *shared)` of every piece, in order; with one of `each` at the end, if that is given."""

    @abstractmethod
    def total(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> Any:
        """The same, with the results added up, in whichever order."""

    @abstractmethod
    def make(self, function: Function, *shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        """The same for a function that gives a block, which stays where it is, and something else."""


class Piece(NamedTuple):
    """Some rows of a source, or a block."""

    name: str
    read: Callable[[], Any]

    def call(self, function: Function, arguments: Sequence[Any], then: Function | None = None) -> Any:
        """Call a function of the piece, where it is; what is wrong with it is said with its name."""
        try:
            piece = self.read()
            return function(piece if then is None else then(piece), *arguments)
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
        What reads and counts, and how many pieces at a time; None for this thread.
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
        self.pieces, self.executor, self.width, self.folder = pieces, executor, width, folder
        self.names: list[str] = []

    def map(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> list[Any]:
        return list(self._run(function, shared, each))

    def total(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> Any:
        return added_up(self._run(function, shared, each))

    def make(self, function: Function, *shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        place = None if self.folder is None else self.folder / f"blocks-{next(_numbers)}"
        blocks, sides = self.stored(place, function, shared, each)
        return self.of_blocks(blocks, place), sides

    def stored(
        self, place: Path | None, function: Function, shared: Sequence[Any], each: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """Blocks that are written to a folder, for each what `_stored` gives, and what parts say beside them."""
        made = list(self._run(_stored, (function, place, shared), list(enumerate(each))))
        return [block for block, _ in made], [side for _, side in made]

    def of_blocks(self, blocks: Sequence[Any], place: Path | None) -> LocalPieces:
        """Blocks as pieces: what `_stored` gave for each."""
        pieces = [Piece("", partial(itself, block)) for block in blocks]
        if place is not None:
            # Other processes share the columns, and keep the state of each block to themselves.
            here = self.executor is None or isinstance(self.executor, ThreadPoolExecutor)
            read = Stored.load if here else loaded_once
            pieces = [Piece(path.name, partial(read, one, path)) for one, path in listed(blocks, place)]
        return LocalPieces(lambda: pieces, self.executor, self.width)

    def _run(self, function: Function, shared: Sequence[Any], each: Sequence[Any] | None) -> Iterator[Any]:
        """The results, in order; at most `width` of them are under way."""
        self.names.clear()
        waiting: deque[Future[Any]] = deque()
        try:
            for number, piece in enumerate(self.pieces()):
                self.names.append(piece.name)
                arguments = (*shared, each[number]) if each is not None else shared
                if self.executor is None:
                    yield piece.call(function, arguments, self.then)
                    continue
                waiting.append(self.executor.submit(piece.call, function, arguments, self.then))
                if len(waiting) >= self.width:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            # After an error nobody goes on writing what is to be removed.
            wait([future for future in waiting if not future.cancel()])


_numbers = itertools.count()
"""Of folders of blocks."""


def itself(piece: Any) -> Any:
    """A piece that need not be read."""
    return piece


def _name(number: int) -> str:
    return f"block-{number:06d}"


def listed(blocks: Sequence[Stored | None], place: Path) -> list[tuple[Stored, Path]]:
    """The blocks that have rows, with their files in a folder."""
    return [(one, place / _name(number)) for number, one in enumerate(blocks) if one is not None]


# In a folder -------------------------------------------------------------------------------------------------------


def _stored(part: Any, function: Function, place: Path | None, shared: Sequence[Any], one: tuple[int, Any]) -> Any:
    """Make a block and write it to a folder: how, None if it has no rows, or itself if it is kept in memory."""
    number, given = one
    block, side = function(part, *shared, given)
    if place is None:
        return block, side
    return Stored.write(block, place / _name(number)) if len(block) else None, side


class Stored(NamedTuple):
    """How a block was written: its arrays, one after the other, in a file, and here all else."""

    content: bytes
    """What pickle makes of the block without its arrays."""
    spans: tuple[tuple[int, int], ...]
    """Where each of them begins and ends."""
    fixed: int
    """Where those begin that learning changes."""
    checksum: int
    """Of what lies before."""

    @classmethod
    def write(cls, block: Any, path: Path) -> Stored:
        """Write a block to a file."""
        buffers: list[pickle.PickleBuffer] = []
        content, spans, checksum = pickle.dumps(block, 5, buffer_callback=buffers.append), [], 0
        n_fixed = len(buffers) - block.n_changing
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "wb") as file:
                for number, array in enumerate(map(pickle.PickleBuffer.raw, buffers)):
                    spans.append((file.tell(), file.tell() + array.nbytes))
                    for piece in (array, bytes(-array.nbytes % ALIGNED)):
                        file.write(piece)
                        checksum = zlib.crc32(piece, checksum) if number < n_fixed else checksum
                fixed = spans[n_fixed][0] if block.n_changing else file.tell()
        except OSError as error:
            raise PluruleError(f"{path}: the binned columns could not be written ({error.strerror})") from error
        return cls(content, tuple(spans), fixed, checksum)

    def load(self, path: Path, access: int = mmap.ACCESS_WRITE) -> Any:
        """The block, mapped to memory."""
        memory = _mapped(path, access)
        return pickle.loads(self.content, buffers=[memory[begin:end] for begin, end in self.spans])

    def is_whole(self, path: Path) -> bool:
        """Whether a file holds what was written, as far as learning does not change it."""
        if not path.is_file() or path.stat().st_size < self.spans[-1][1]:
            return False
        return zlib.crc32(_mapped(path, mmap.ACCESS_READ)[: self.fixed]) == self.checksum


def _mapped(path: Path, access: int) -> memoryview:
    with open(path, "rb" if access == mmap.ACCESS_READ else "r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=access))


_loaded: dict[Path, Any] = {}
"""The blocks that this process has counted."""


def loaded_once(stored: Stored, path: Path) -> Any:
    """A block in this process, whose state catches up if another process counted it last."""
    if path not in _loaded:
        # What else is there belongs to a run that has ended.
        for old in [old for old in _loaded if old.parent.parent != path.parent.parent]:
            del _loaded[old]
        _loaded[path] = stored.load(path, mmap.ACCESS_COPY)
    return _loaded[path]
