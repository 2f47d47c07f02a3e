"""Blocks on the workers of a Dask cluster; `dask.distributed` is an extra.

Every step asks an actor on each worker, so Dask is the only machinery: no ports, no barrier, no set of workers that
must be there together. A block that is lost with its worker is made again from its part, by Dask, and catches up with
the rules so far.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from operator import itemgetter
from typing import Any

from plurule.data.dataset import Dataset
from plurule.data.labels import Labels
from plurule.data.readers.reading import Reader
from plurule.distributed.folds import PartitionedData
from plurule.distributed.parts import labelled_part
from plurule.distributed.pieces import Blocks, Function, LocalPieces, Piece, Pieces, added_up, itself
from plurule.distributed.storage import version
from plurule.errors import DataError, PluruleError

RETRIES = 3
_CONNECT_SECONDS = 10
_SECONDS_WITHOUT_WORKERS = 60
"""A cluster that has had no worker for so long is given up; one that is restarted takes a few seconds."""


# The cluster ---------------------------------------------------------------------------------------------------------


def dask_library(name: str) -> Any:
    """A part of Dask, which is an extra."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"a Dask cluster needs {name}: pip install 'plurule[dask]'") from error


def connect(address: str) -> Any:
    """A client of a scheduler."""
    distributed = dask_library("distributed")
    try:
        return distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise PluruleError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler` and give its address"
        ) from None


def check_versions(client: Any, address: str) -> None:
    """Raise an error unless every worker has the same version of plurule; another one may give other numbers."""
    # In a task, not in the loop that workers answer by: on a busy machine the imports may take long.
    workers = list(client.scheduler_info(n_workers=-1)["workers"])
    if not workers:
        raise PluruleError(f"the Dask scheduler at {address} has no workers; start some with `dask worker {address}`")
    for worker in workers:
        task = client.submit(importlib.import_module, __name__, workers=[worker], pure=False)
        if (error := task.exception()) is not None:
            raise PluruleError(f"worker {worker} cannot import a package ({error}); install plurule everywhere")
    for worker, found in client.run(version).items():
        if found != version():
            what = f"worker {worker} has plurule {found}, this is plurule {version()}"
            raise PluruleError(f"{what}; install the same version everywhere")


def wait_for(client: Any, futures: Sequence[Any]) -> Sequence[Any]:
    """Return futures when they are finished; raise an error if the cluster has no workers any more."""
    last_seen = time.monotonic()
    for future in futures:
        while not future.done():
            with contextlib.suppress(TimeoutError):
                future.exception(timeout=1)
            if client.nthreads():
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > _SECONDS_WITHOUT_WORKERS:
                raise ConnectionError("no worker is left")
    return futures


# Parts and blocks ----------------------------------------------------------------------------------------------------


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
        self.client = client
        self.pieces = pieces
        self.read = read
        self.names = [f"partition {number}" for number in range(len(pieces))]
        self._futures: list[Any] = []

    def map(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> list[Any]:
        return list(self.client.gather(wait_for(self.client, self._each(function, shared, each))))

    def total(self, function: Function, *shared: Any, each: Sequence[Any] | None = None) -> Any:
        return added_up(self.map(function, *shared, each=each))

    def make(self, function: Function, *shared: Any, each: Sequence[Any]) -> tuple[Blocks, list[Any]]:
        made = wait_for(self.client, self._each(function, shared, each))
        sides = list(self.client.gather(self.client.map(itemgetter(1), made, pure=False, retries=RETRIES)))
        blocks = DaskBlocks(self.client, self.client.map(itemgetter(0), made, pure=False, retries=RETRIES))
        self._futures = []
        return blocks, sides

    def _each(self, function: Function, shared: Any, each: Sequence[Any] | None) -> list[Any]:
        """Futures of what a function gives of each part."""
        if not self._futures:
            future = dask_library("distributed").Future
            self._futures = [one if isinstance(one, future) else self.client.compute(one) for one in self.pieces]
        ones = [()] * len(self.pieces) if each is None else [(one,) for one in each]
        contents = [None] * len(self.pieces) if self.contents is None else self.contents
        return [
            self.client.submit(
                on_piece,
                future,
                self.read,
                name,
                (function, (*shared, *one), self.prepare, expected),
                pure=False,
                retries=RETRIES,
            )
            for future, name, one, expected in zip(self._futures, self.names, ones, contents, strict=True)
        ]


class DaskBlocks(Blocks):
    """Blocks on workers, each of which has an actor that counts its own.

    So a round takes few messages, none of which the scheduler plans. Where an actor is lost with its worker, Dask makes
    the blocks again that were there, and there are new actors.
    """

    def __init__(self, client: Any, blocks: Sequence[Any]):
        self.client = client
        self.blocks = blocks
        self._counters: list[Any] = []
        self._futures: list[Any] = []

    def total(self, function: Function, *shared: Any) -> Any:
        for attempt in range(RETRIES + 1):
            try:
                self._counters = self._counters or self._placed()
                asked = [one.total(function, shared) for one in self._counters]
                return added_up([one.result() for one in asked])
            except (OSError, RuntimeError):
                # A worker is gone, or the function fails wherever it is called.
                if attempt == RETRIES:
                    raise
                self._counters = []
        raise AssertionError

    def _placed(self) -> list[Any]:
        """New actors, one on each worker that has blocks."""
        distributed = dask_library("distributed")
        while True:
            blocks_of = self._by_worker()
            threads = self.client.nthreads()
            self._futures = [
                self.client.submit(Counter, blocks, threads.get(worker, 1), actor=True, workers=[worker], pure=False)
                for worker, blocks in blocks_of.items()
            ]
            while set(blocks_of) <= set(self.client.nthreads()):
                with contextlib.suppress(TimeoutError), self.client.as_current():
                    for future in self._futures:
                        future.exception(timeout=1)
                    return [
                        distributed.Actor(Counter, worker, future.key)
                        for worker, future in zip(blocks_of, self._futures, strict=True)
                    ]

    def _by_worker(self) -> dict[str, list[Any]]:
        """The blocks that each worker has."""
        while True:
            for block in wait_for(self.client, self.blocks):
                if (error := block.exception()) is not None:
                    raise error
            where = self.client.who_has(self.blocks)
            there = dict[str, list[Any]]()
            for block in self.blocks:
                there.setdefault(next(iter(where.get(block.key, ())), ""), []).append(block)
            if "" not in there:
                return there


class Counter:
    """Counts the blocks of a worker, by its threads; an actor of Dask."""

    def __init__(self, blocks: Sequence[Any], n_threads: int):
        pieces = [Piece("", partial(itself, block)) for block in blocks]
        self.own = LocalPieces(lambda: pieces, ThreadPoolExecutor(n_threads) if n_threads > 1 else None, n_threads)

    def total(self, function: Function, shared: Any) -> Any:
        """Return the sum of the results of a function for the blocks."""
        return self.own.total(function, *shared)


def on_piece(piece: Any, read: Callable[[Any], Any], name: str, call: Any) -> Any:
    """Call a function of a piece, where the piece is; `call` are the arguments of `Piece.call`."""
    return Piece(name, partial(read, piece)).call(*call)


class DaskData(PartitionedData):
    """Partitions on a cluster, as an estimator is given them: delayed objects or futures, and what reads one."""

    def __init__(self, client: Any, parts: Sequence[Any], read: Callable[[Any], Dataset], checkpoint: Any = None):
        self.client = client
        self.checkpoint = checkpoint
        self.parts = parts
        self.read = read

    @contextlib.contextmanager
    def partitions(self, n_jobs: int) -> Iterator[Pieces]:
        """The parts on the cluster; blocks stay on the workers."""
        distributed = dask_library("distributed")
        closed = distributed.client.ClosedClientError
        lost = (distributed.KilledWorker, closed, CancelledError, TimeoutError, ConnectionError)
        try:
            yield DaskPieces(self.client, self.parts, self.read)
        except (*lost, RuntimeError) as error:
            if not isinstance(error, lost) and self.client.status == "running":
                raise
            reason = str(error).split("\n")[0].rstrip(":") or type(error).__name__
            raise PluruleError(
                f"the Dask cluster was lost while a model was learned ({reason}); look at the logs of its workers, "
                "which may need more memory, and fit again (a checkpoint goes on with the rules so far)"
            ) from error


def scan(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    labels: Labels | None = None,
    client: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> DaskData:
    """Partitions on a Dask cluster to learn from: `fit(scan(X, y))` gives the model that all rows together would give.

    Parameters
    ----------
    X
        A Dask array or frame, or a list of delayed partitions: of (X, Y), or of frames.
    y
        The labels, as a Dask array or frame that is partitioned as `X` is: 0 and 1, or a column of classes; left out
        if the partitions have their labels.
    sample_weight
        Weight of each row, as a Dask array or series partitioned as `X` is.
    labels
        Which columns of frames are labels, as for `plurule.read`, if there is no `y`.
    client
        The `distributed.Client` to use; None for the current one.
    checkpoint
        As for `plurule.scan`.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from dask.distributed import Client
    >>> from plurule import RuleListClassifier
    >>> X = da.from_array(np.arange(400.0).reshape(-1, 1), chunks=(100, 1))
    >>> with Client(processes=False, dashboard_address=None):
    ...     model = RuleListClassifier(max_rules=1).fit(scan(X, (X >= 250).astype(int)))
    >>> print(model.rule_list_)
    y0 ← x0 >= 250   (TP 150, FP 0)
    """
    columns = [_partitions_of(one) for one in (X, y, sample_weight) if one is not None]
    if len({len(parts) for parts in columns}) > 1:
        raise DataError(
            f"X, y and sample_weight have {', '.join(str(len(p)) for p in columns)} partitions; cut them alike"
        )
    client = client or dask_library("distributed").get_client()
    check_versions(client, client.scheduler.address)
    delayed = dask_library("dask").delayed
    parts = columns[0] if y is None else [delayed(list)(parts) for parts in zip(*columns, strict=True)]
    return DaskData(client, parts, partial(labelled_part, reader=Reader(labels)), checkpoint)


def _partitions_of(collection: Any) -> list[Any]:
    """The partitions of a collection of Dask, by rows; a list is one already."""
    if not hasattr(collection, "to_delayed"):
        return list(collection)
    if getattr(collection, "ndim", 0) == 2 and hasattr(collection, "rechunk"):
        collection = collection.rechunk({1: -1})
    found = collection.to_delayed()
    return list(found.ravel()) if hasattr(found, "ravel") else list(found)


def parts_on_cluster(address: str, parts: Iterable[Piece]) -> DaskData:
    """Parts of files that the workers of a scheduler read themselves."""
    client = connect(address)
    check_versions(client, address)
    delayed = dask_library("dask").delayed
    return DaskData(client, [delayed(part.read, pure=False)() for part in parts], labelled_part)
