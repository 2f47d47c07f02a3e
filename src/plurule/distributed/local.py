"""Parts and blocks on this machine: in memory, or in a folder and mapped to memory while they are counted.

Threads count blocks; so do the workers of any `concurrent.futures.Executor`, each with a state of its own.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plurule.data.dataset import Dataset
from plurule.distributed.counts import Blocks
from plurule.distributed.preparing import Partitions, added_up
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

    def total(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> Any:
        return added_up(self._run(function, shared, each, None))

    def blocks(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        place = None if self.folder is None else self.folder / f"blocks-{next(_numbers)}"
        made = list(self._run(function, shared, each, place))
        if self.folder is None:
            return HeldBlocks([block for block, _ in made], self.executor, self.width), [side for _, side in made]
        held = [Stored(*stored) for stored, _ in made if stored is not None]
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


_numbers = itertools.count()
"""Of folders of blocks."""


class HeldBlocks(Blocks):
    """Blocks in memory."""

    def __init__(self, blocks: Sequence[Any], executor: Executor | None = None, width: int = 1):
        self.held, self.executor, self.width = blocks, executor, width

    def total(self, method: str, *arguments: Any) -> list[Any]:
        return add_up(in_order(self.executor, self.width, ((getattr(b, method), *arguments) for b in self.held)))


# In a folder -------------------------------------------------------------------------------------------------------


class Stored:
    """A block of some kind in a folder, whose state is there, too."""

    def __init__(self, kind: Any, folder: Path):
        self.kind, self.folder = kind, folder
        self.state: dict[str, Any] = {}

    def call(self, method: str, *arguments: Any) -> Any:
        """Map the block to memory, count, and let go of it."""
        block = load(self.kind, self.folder, "r+")
        vars(block).update(self.state)
        try:
            return getattr(block, method)(*arguments)
        finally:
            self.state = {name: vars(block)[name] for name in STATE if name in vars(block)}


STATE = ("applied", "run")
"""What a block knows about its state."""


class StoredBlocks(Blocks):
    """Blocks in a folder; processes that count them share the columns, and keep the state of each to themselves."""

    def __init__(self, blocks: Sequence[Stored], executor: Executor | None, width: int, elsewhere: bool):
        self.held, self.executor, self.width, self.elsewhere = blocks, executor, width, elsewhere

    def total(self, method: str, *arguments: Any) -> list[Any]:
        if self.elsewhere:
            calls = [(call_elsewhere, block.kind, block.folder, method, *arguments) for block in self.held]
        else:
            calls = [(block.call, method, *arguments) for block in self.held]
        return add_up(in_order(self.executor, self.width, calls))


_seen: dict[Path, Any] = {}
"""The blocks that this process has counted."""


def call_elsewhere(kind: Any, folder: Path, method: str, *arguments: Any) -> Any:
    """Count a block in this process; its state catches up if another process counted it last."""
    if folder not in _seen:
        # What else is there belongs to a run that has ended.
        for old in [old for old in _seen if old.parent.parent != folder.parent.parent]:
            del _seen[old]
        _seen[folder] = load(kind, folder, "c")
    return getattr(_seen[folder], method)(*arguments)


def store(block: Any, folder: Path) -> tuple[Any, Path] | None:
    """Write a block; None if it has no rows."""
    if not len(block):
        return None
    try:
        folder.mkdir(parents=True)
        for name, array in block.arrays().items():
            np.save(folder / name, array)
    except OSError as error:
        raise PluruleError(f"{folder}: the binned columns could not be written ({error.strerror})") from error
    return type(block), folder


def load(kind: Any, folder: Path, mode: Any) -> Any:
    """A block that was stored, mapped to memory."""
    return kind.of_arrays({path.stem: np.load(path, mmap_mode=mode) for path in sorted(folder.glob("*.npy"))})
