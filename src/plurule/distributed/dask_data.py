"""Blocks on the workers of a Dask cluster; `dask.distributed` is an extra.

Every step asks an actor on each worker, so Dask is the only machinery: no ports, no barrier, no set of workers that
must be there together. A block that is lost with its worker is made again from its part, by Dask, and catches up with
the rules so far.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from plurule.data.dataset import Dataset
from plurule.data.labels import Labels
from plurule.data.readers.reading import read
from plurule.distributed.cluster import check_versions, connect, dask_library
from plurule.distributed.part import labelled_part
from plurule.distributed.partitioned import PartitionedData
from plurule.distributed.pieces import Blocks, Function, LocalPieces, Piece, Pieces, added_up, itself
from plurule.errors import DataError

FAN_IN = 16
"""So many results are added up at once."""
RETRIES = 3


class DaskPieces(Pieces):
    """Parts that futures stand for; those that can be computed again are let go once blocks were made of them.

    Parameters
    ----------
    client
        A `distributed.Client`.
    pieces
        Futures; or delayed objects, which are computed when they are needed.
    read
        Makes a data set of what a part is.
    """

    def __init__(self, client: Any, pieces: Sequence[Any], read: Callable[[Any], Any]):
        self.client, self.pieces, self.read = client, pieces, read
        self.names = [f"partition {number}" for number in range(len(pieces))]
        self._futures: list[Any] = []

    def map(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> list[Any]:
        return list(self.client.gather(self._each(function, shared, each)))

    def total(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> Any:
        results = self._each(partial(packed_result, function), shared, each)
        while len(results) > FAN_IN:
            groups = (results[start : start + FAN_IN] for start in range(0, len(results), FAN_IN))
            results = [self._submit(total_packed, list(group)) for group in groups]
        return added_up(map(unpacked, self.client.gather(list(results))))

    def make(self, function: Function, *shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        made = self._each(function, shared, each)
        sides = list(self.client.gather(self.client.map(itemgetter(1), made, pure=False, retries=RETRIES)))
        blocks = DaskBlocks(self.client, self.client.map(itemgetter(0), made, pure=False, retries=RETRIES))
        self._futures = []
        return blocks, sides

    @property
    def futures(self) -> list[Any]:
        """What stands for the parts on the cluster."""
        if not self._futures:
            future = dask_library("distributed").Future
            self._futures = [one if isinstance(one, future) else self.client.compute(one) for one in self.pieces]
        return self._futures

    def _each(self, function: Function, shared: Any, each: Sequence[Any] | None) -> list[Any]:
        ones = [()] * len(self.pieces) if each is None else [(one,) for one in each]
        return [
            self._submit(on_piece, piece, self.read, name, function, (*shared, *one), self.then)
            for piece, name, one in zip(self.futures, self.names, ones, strict=True)
        ]

    def _submit(self, function: Function, *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False, retries=RETRIES)


class DaskBlocks(Blocks):
    """Blocks on workers, each of which has an actor that counts its own, and asks others for theirs.

    So a round takes few messages, none of which the scheduler plans. Where an actor is lost with its worker, Dask makes
    the blocks again that were there, and there are new actors.
    """

    fan_in = FAN_IN

    def __init__(self, client: Any, blocks: Sequence[Any]):
        self.client, self.blocks = client, blocks
        self._counters: list[Any] = []
        self._futures: list[Any] = []

    def total(self, function: Function, *shared: Any) -> Any:
        for attempt in range(RETRIES + 1):
            try:
                self._counters = self._counters or self._placed()
                asked = [one.total(function, shared) for one in self._counters]
                return added_up([unpacked(one.result()) for one in asked])
            except (OSError, RuntimeError):
                # A worker is gone, or the function fails wherever it is called.
                if attempt == RETRIES:
                    raise
                self._counters = []
        raise AssertionError

    def _placed(self) -> list[Any]:
        """New actors: those that are asked from here, each of which asks up to `fan_in` others, and so on."""
        distributed = dask_library("distributed")
        while True:
            there, threads = self._by_worker(), self.client.nthreads()
            # Who asks comes before who is asked, whoever else learns at a time, so that none wait in a circle.
            workers, futures = sorted(there), dict[int, Any]()
            for place, worker in reversed(list(enumerate(workers))):
                places = range(self.fan_in * (place + 1), self.fan_in * (place + 2))
                given = there[worker], [futures[n] for n in places if n in futures], threads.get(worker, 1)
                futures[place] = self.client.submit(Counter, *given, actor=True, workers=[worker], pure=False)
            self._futures = list(futures.values())
            while set(workers) <= set(self.client.nthreads()):
                with contextlib.suppress(TimeoutError), self.client.as_current():
                    for future in self._futures:
                        future.exception(timeout=1)
                    first = enumerate(workers[: self.fan_in])
                    return [distributed.Actor(Counter, worker, futures[place].key) for place, worker in first]

    def _by_worker(self) -> dict[str, list[Any]]:
        """The blocks that each worker has."""
        while True:
            for block in self.blocks:
                if (error := block.exception()) is not None:
                    raise error
            where, there = self.client.who_has(self.blocks), dict[str, list[Any]]()
            for block in self.blocks:
                there.setdefault(next(iter(where.get(block.key, ())), ""), []).append(block)
            if "" not in there:
                return there


class Counter:
    """Counts the blocks of a worker, by its threads, and adds what others count; an actor of Dask."""

    def __init__(self, blocks: Sequence[Any], below: Sequence[Any], n_threads: int):
        self.below = below
        pieces = [Piece("", partial(itself, block)) for block in blocks]
        self.own = LocalPieces(lambda: pieces, ThreadPoolExecutor(n_threads) if n_threads > 1 else None, n_threads)

    def total(self, function: Function, shared: Any) -> Any:
        """What a function gives of blocks, added up, as it travels."""
        asked = [one.total(function, shared) for one in self.below]
        own = self.own.total(function, *shared)
        return packed(added_up([own, *(unpacked(one.result()) for one in asked)]))


def packed_result(function: Function, piece: Any, *arguments: Any) -> Any:
    """What a function gives, as it travels."""
    return packed(function(piece, *arguments))


def on_piece(
    piece: Any, read: Callable[[Any], Any], name: str, function: Function, arguments: Any, then: Function | None
) -> Any:
    """Call a function of a piece, where the piece is."""
    return Piece(name, partial(read, piece)).call(function, arguments, then)


def total_packed(results: Sequence[Any]) -> Any:
    """Add up what was added up before."""
    return packed(added_up(map(unpacked, results)))


def packed(result: Any) -> Any:
    """A result as it travels: tables of whole numbers in the smallest type that holds them."""
    if type(result) in (list, tuple):
        return [packed(one) for one in result]
    if not isinstance(result, np.ndarray) or result.dtype != np.float64 or result.min(initial=0) < 0:
        return result
    highest = result.max(initial=0)
    small = next((kind for kind in (np.uint8, np.uint16, np.uint32) if highest <= np.iinfo(kind).max), np.float64)
    whole = result.astype(small)
    return whole if np.array_equal(whole, result) else result


def unpacked(result: Any) -> Any:
    """What was packed."""
    if type(result) in (list, tuple):
        return [unpacked(one) for one in result]
    return result.astype(np.float64) if isinstance(result, np.ndarray) and result.dtype.kind == "u" else result


class DaskData(PartitionedData):
    """Partitions on a cluster, as an estimator is given them: delayed objects or futures, and what reads one."""

    def __init__(self, client: Any, parts: Sequence[Any], read: Callable[[Any], Dataset]):
        self.client, self.parts, self.read = client, parts, read

    @contextlib.contextmanager
    def partitions(self, n_jobs: int) -> Iterator[Pieces]:
        """The parts on the cluster; blocks stay on the workers."""
        yield DaskPieces(self.client, self.parts, self.read)


def dask_data(client: Any, X: Any, y: Any = None, sample_weight: Any = None, labels: Labels | None = None) -> DaskData:
    """Collections of Dask, or a list of delayed parts, as data to learn from; parts have (X, Y), or labels among X."""
    columns = [_partitions_of(one) for one in (X, y, sample_weight) if one is not None]
    if len({len(parts) for parts in columns}) > 1:
        raise DataError(
            f"X, y and sample_weight have {', '.join(str(len(p)) for p in columns)} partitions; cut them alike"
        )
    delayed = dask_library("dask").delayed
    parts = columns[0] if y is None else [delayed(list)(parts) for parts in zip(*columns, strict=True)]
    return DaskData(client, parts, partial(labelled, labels))


def _partitions_of(collection: Any) -> list[Any]:
    """The partitions of a collection of Dask, by rows; a list is one already."""
    if not hasattr(collection, "to_delayed"):
        return list(collection)
    if getattr(collection, "ndim", 0) == 2 and hasattr(collection, "rechunk"):
        collection = collection.rechunk({1: -1})
    found = collection.to_delayed()
    return list(found.ravel()) if hasattr(found, "ravel") else list(found)


def labelled(labels: Labels | None, part: Any) -> Dataset:
    """A data set of X and Y, or of a frame some of whose columns are labels."""
    if isinstance(part, list | tuple):
        return labelled_part(*part)
    return part if isinstance(part, Dataset) else read(part, labels)


def parts_on_cluster(address: str, parts: Iterable[Piece]) -> DaskData:
    """Parts of files that the workers of a scheduler read themselves."""
    client = connect(address)
    check_versions(client, address)
    delayed = dask_library("dask").delayed
    return DaskData(client, [delayed(part.read, pure=False)() for part in parts], partial(labelled, None))
