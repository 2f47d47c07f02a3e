"""Blocks on the workers of a Dask cluster.

Every step is a task per block and a few that add up, so Dask is the only machinery: no ports, no barrier, no set of
workers that must be there together. A block that is lost with its worker is made again from its part, by Dask, and
catches up with the rules so far.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from plurule.data.dataset import Dataset
from plurule.data.inputs import labelled_data
from plurule.data.labels import Labels
from plurule.data.readers.reading import read
from plurule.distributed.cluster import check_versions, connect, dask_library
from plurule.distributed.counts import Blocks
from plurule.distributed.local import Part, add_up
from plurule.distributed.partitioned import PartitionedData
from plurule.distributed.preparing import Partitions, added_up
from plurule.errors import DataError

FAN_IN = 16
"""So many results are added up by one task."""
RETRIES = 3
REGROUPED_AFTER = 64
"""So many rounds, it is asked where the blocks are."""


class DaskBlocks(Blocks):
    """Blocks that futures stand for; a task counts all that a thread of a worker has to count."""

    def __init__(self, client: Any, blocks: Sequence[Any]):
        self.client, self.held = client, blocks
        self.together: list[list[Any]] = []
        self.rounds = 0

    def total(self, method: str, *arguments: Any) -> list[Any]:
        if self.rounds % REGROUPED_AFTER == 0:
            self.together = self._by_worker()
        self.rounds += 1
        results = [self._submit(call, blocks, method, *arguments) for blocks in self.together]
        while len(results) > 1:
            groups = (results[start : start + FAN_IN] for start in range(0, len(results), FAN_IN))
            results = [self._submit(add_up, group) for group in groups]
        return list(results[0].result())

    def _by_worker(self) -> list[list[Any]]:
        """The blocks by the thread that counts them; blocks may move, which takes time and changes nothing else."""
        with self.client.as_current():
            dask_library("distributed").wait(self.held)
        where, threads = self.client.who_has(self.held), self.client.nthreads()
        found: dict[tuple[str, int], list[Any]] = {}
        for number, block in enumerate(self.held):
            worker = next(iter(where.get(block.key, ())), "")
            found.setdefault((worker, number % max(1, threads.get(worker, 1))), []).append(block)
        return list(found.values())

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False, retries=RETRIES)


def call(blocks: Sequence[Any], method: str, *arguments: Any) -> list[Any]:
    """Call a method of blocks, where they are, and add up what they give."""
    return add_up(getattr(block, method)(*arguments) for block in blocks)


class DaskPartitions(Partitions):
    """Parts that futures stand for; they are let go once they are binned."""

    def __init__(self, client: Any, parts: Sequence[Any], read: Callable[[Any], Dataset]):
        self.client, self.parts, self.read = client, parts, read
        self.names = [f"partition {number}" for number in range(len(parts))]

    def map(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> list[Any]:
        return list(self.client.gather(self._each(function, shared, each)))

    def total(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> Any:
        results = self._each(function, shared, each)
        while len(results) > 1:
            groups = (results[start : start + FAN_IN] for start in range(0, len(results), FAN_IN))
            results = [self.client.submit(added_up, group, pure=False, retries=RETRIES) for group in groups]
        return results[0].result()

    def blocks(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        made = self._each(function, shared, each)
        blocks, sides = (self.client.map(itemgetter(i), made, pure=False, retries=RETRIES) for i in (0, 1))
        found = list(self.client.gather(sides))
        return DaskBlocks(self.client, blocks), found

    def _each(self, function: Callable[..., Any], shared: Any, each: Sequence[Any]) -> list[Any]:
        one_each = each or [None] * len(self.parts)
        return [
            self.client.submit(on_part, part, self.read, name, function, shared, one, pure=False, retries=RETRIES)
            for part, name, one in zip(self.parts, self.names, one_each, strict=True)
        ]


def on_part(part: Any, read: Callable[[Any], Dataset], name: str, function: Any, shared: Any, one: Any) -> Any:
    """Call a function of a part, where the part is."""
    try:
        data = read(part)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    return function(data, shared, one)


class DaskData(PartitionedData):
    """Partitions on a cluster, as an estimator is given them.

    Parameters
    ----------
    client
        A `distributed.Client`.
    parts
        Delayed objects or futures, one per partition.
    read
        Makes a data set of what a part is.
    """

    def __init__(self, client: Any, parts: Sequence[Any], read: Callable[[Any], Dataset]):
        self.client, self.parts, self.read = client, parts, read

    @contextlib.contextmanager
    def partitions(self, n_jobs: int) -> Iterator[Partitions]:
        """The parts as futures; blocks stay on the workers."""
        future = dask_library("distributed").Future
        futures = [part if isinstance(part, future) else self.client.compute(part) for part in self.parts]
        yield DaskPartitions(self.client, futures, self.read)


def dask_data(client: Any, X: Any, y: Any = None, sample_weight: Any = None, labels: Labels | None = None) -> DaskData:
    """Collections of Dask, or a list of delayed parts, as data to learn from; parts have (X, Y), or labels among X."""
    columns = [_partitions_of(one) for one in (X, y, sample_weight) if one is not None]
    if len({len(parts) for parts in columns}) > 1:
        raise DataError(
            f"X, y and sample_weight have {', '.join(str(len(p)) for p in columns)} partitions; cut them alike"
        )
    if y is None:
        return DaskData(client, columns[0], Labelled(labels))
    delayed = dask_library("dask").delayed
    return DaskData(client, [delayed(list)(parts) for parts in zip(*columns, strict=True)], Labelled(labels))


def _partitions_of(collection: Any) -> list[Any]:
    """The partitions of a collection of Dask, by rows; a list is one already."""
    if not hasattr(collection, "to_delayed"):
        return list(collection)
    if getattr(collection, "ndim", 0) == 2 and hasattr(collection, "rechunk"):
        collection = collection.rechunk({1: -1})
    found = collection.to_delayed()
    return list(found.ravel()) if hasattr(found, "ravel") else list(found)


class Labelled:
    """Makes a data set of X and Y, or of a frame some of whose columns are labels."""

    def __init__(self, labels: Labels | None):
        self.labels = labels

    def __call__(self, part: Any) -> Dataset:
        if isinstance(part, Dataset):
            return part
        if isinstance(part, list | tuple):
            return labelled_data(part[0], part[1], part[2] if len(part) > 2 else None, allow_empty=True)[0]
        return read(part, self.labels)


def parts_on_cluster(address: str, parts: Iterable[Part]) -> DaskData:
    """Parts of files that the workers of a scheduler read themselves."""
    client = connect(address)
    check_versions(client, address)
    delayed = dask_library("dask").delayed
    return DaskData(client, [delayed(part.read, pure=False)() for part in parts], Labelled(None))
