"""Parts and blocks on this machine: in memory, or in a folder and mapped to memory while they are counted.

Threads count blocks; so do the workers of any `concurrent.futures.Executor`, each with a state of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurule.data.dataset import Dataset
from plurule.distributed.block import Block, code_type
from plurule.distributed.counts import Blocks
from plurule.distributed.preparing import Partitions
from plurule.errors import DataError, PluruleError


class Part(NamedTuple):
    """Some rows of a source."""

    name: str
    read: Callable[[], Dataset]


def add_up(results: Iterable[Sequence[Any]]) -> list[Any]:
    """The sums of results, place by place."""
    total: list[Any] = []
    for result in results:
        total = [a + b for a, b in zip(total, result, strict=True)] if total else list(result)
    return total


def in_order(executor: Executor | None, width: int, calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """The results of calls, in order; at most `width` of them are under way."""
    if executor is None:
        yield from (function(*arguments) for function, *arguments in calls)
        return
    waiting: deque[Future[Any]] = deque()
    for function, *arguments in calls:
        waiting.append(executor.submit(function, *arguments))
        if len(waiting) >= width:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


class LocalPartitions(Partitions):
    """Parts that are read when they are needed.

    Parameters
    ----------
    parts
        Gives the parts, as often as it is called.
    executor, width
        What reads and counts, and how many parts or blocks at a time; None for this thread.
    folder
        Where blocks are written; None keeps them in memory.
    """

    def __init__(
        self,
        parts: Callable[[], Iterable[Part]],
        executor: Executor | None = None,
        width: int = 1,
        folder: Path | None = None,
        elsewhere: bool = False,
    ):
        self.parts, self.executor, self.width, self.folder = parts, executor, width, folder
        self.elsewhere = elsewhere
        """Whether the executor works in other processes."""
        self.names: list[str] = []

    def map(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> list[Any]:
        return list(self._run(function, shared, each, None))

    def blocks(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        made = list(self._run(function, shared, each, self.folder))
        if self.folder is None:
            return HeldBlocks([block for block, _ in made], self.executor, self.width), [side for _, side in made]
        held = [Stored(path) for path, _ in made if path is not None]
        return StoredBlocks(held, self.executor, self.width, self.elsewhere), [side for _, side in made]

    def _run(self, function: Any, shared: Any, each: Sequence[Any], folder: Path | None) -> Iterator[Any]:
        self.names.clear()

        def calls() -> Iterator[tuple[Any, ...]]:
            for part, one in zip(self.parts(), chain(each, repeat(None)), strict=False):
                self.names.append(part.name)
                place = None if folder is None else folder / f"block-{len(self.names):06d}"
                yield _on_part, part, function, shared, one, place

        yield from in_order(self.executor, self.width, calls())


def _on_part(part: Part, function: Any, shared: Any, one: Any, place: Path | None) -> Any:
    try:
        data = part.read()
    except DataError as error:
        raise error if str(error).startswith(part.name) else DataError(f"{part.name}: {error}") from None
    result = function(data, shared, one)
    return result if place is None else (store(result[0], place), *result[1:])


class HeldBlocks(Blocks):
    """Blocks in memory."""

    def __init__(self, blocks: Sequence[Block], executor: Executor | None = None, width: int = 1):
        self.held, self.executor, self.width = blocks, executor, width

    def total(self, method: str, *arguments: Any) -> list[Any]:
        return add_up(in_order(self.executor, self.width, ((getattr(b, method), *arguments) for b in self.held)))


# In a folder -------------------------------------------------------------------------------------------------------


SIZES = ((1, "bytes"), (2, "words"))
"""Codes by their size, and the file that they are in."""


class Stored:
    """A block in a folder, whose state is there, too."""

    def __init__(self, folder: Path):
        self.folder, self.applied = folder, 0

    def call(self, method: str, *arguments: Any) -> Any:
        """Map the block to memory, count, and let go of it."""
        block = load(self.folder, "r+", self.applied)
        try:
            return getattr(block, method)(*arguments)
        finally:
            self.applied = block.applied


class StoredBlocks(Blocks):
    """Blocks in a folder; processes that count them share the columns, and keep the state of each to themselves."""

    def __init__(self, blocks: Sequence[Stored], executor: Executor | None, width: int, elsewhere: bool):
        self.held, self.executor, self.width, self.elsewhere = blocks, executor, width, elsewhere

    def total(self, method: str, *arguments: Any) -> list[Any]:
        if self.elsewhere:
            calls = [(call_elsewhere, block.folder, method, *arguments) for block in self.held]
        else:
            calls = [(block.call, method, *arguments) for block in self.held]
        return add_up(in_order(self.executor, self.width, calls))


_seen: dict[Path, Block] = {}
"""The blocks that this process has counted."""


def call_elsewhere(folder: Path, method: str, *arguments: Any) -> Any:
    """Count a block in this process; its state catches up if another process counted it last."""
    if folder not in _seen:
        # What else is there belongs to a run that has ended.
        for old in [old for old in _seen if old.parent != folder.parent]:
            del _seen[old]
        _seen[folder] = load(folder, "c", 0)
    return getattr(_seen[folder], method)(*arguments)


def store(block: Block, folder: Path) -> Path | None:
    """Write a block; None if it has no rows."""
    if not len(block.states):
        return None
    try:
        folder.mkdir(parents=True)
        for size, name in SIZES:
            columns = [column for column in block.columns if column.itemsize == size]
            if columns:
                np.save(folder / name, np.array(columns))
        np.save(folder / "n_values", np.array(block.n_values))
        for name in ("states", "predicted", "in_training"):
            np.save(folder / name, getattr(block, name))
        if block.weights is not None:
            np.save(folder / "weights", block.weights)
        if block.begin is not None:
            np.save(folder / "begin_predicted", block.begin[0])
            np.save(folder / "begin_in_training", block.begin[1])
    except OSError as error:
        raise PluruleError(f"{folder.parent}: the binned columns could not be written ({error.strerror})") from error
    return folder


def load(folder: Path, mode: Any, applied: int) -> Block:
    """A block that was stored, mapped to memory."""

    def mapped(name: str, mode: Any = "r") -> Any:
        path = folder / f"{name}.npy"
        return np.load(path, mmap_mode=mode) if path.exists() else None

    n_values = np.load(folder / "n_values.npy").tolist()
    of_size = {size: iter(() if (found := mapped(name)) is None else found) for size, name in SIZES}
    columns = [next(of_size[code_type(n).itemsize]) for n in n_values]
    begin = mapped("begin_predicted")
    return Block(
        columns,
        n_values,
        mapped("states", mode),
        mapped("predicted", mode),
        mapped("in_training", mode),
        mapped("weights"),
        None if begin is None else (begin, mapped("begin_in_training")),
        applied,
    )
