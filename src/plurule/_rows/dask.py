"""Rows on the workers of a Dask cluster; `dask.distributed` is an extra.

Partitions stay on their workers, and become blocks of bits there. The grown sample, bits and counts travel, no more.
Blocks are asked by an actor on each worker, so Dask is the only machinery: no ports, no barrier, no set of workers
that must be there together. A block that is lost with its worker is made again from its partition, by Dask.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule._learning.initial_rules import as_initial_rules
from plurule._learning.problem import Problem, check_constraints, check_weights
from plurule._prediction.apply import added_counts, recount
from plurule._rows.parts import Columns, Contents, Part, PartSchema, labelled_part
from plurule._rows.rows import (
    Body,
    CoverBlock,
    Covers,
    InitialRules,
    Roles,
    Rows,
    Sample,
    added_up,
    drawn,
    select_in_steps,
    warn_of_copies,
)
from plurule._rows.scan import ScannedData, refuse_checkpoint
from plurule.constraints import Constraints
from plurule.data.dataset import Column, Dataset, SparseColumns, Table
from plurule.data.labels import Labels
from plurule.data.reading import Reader
from plurule.data.splitting import group_copies, row_keys
from plurule.errors import DataError, PluruleError
from plurule.model import RuleList

T = TypeVar("T")

RETRIES = 3
_CONNECT_SECONDS = 10
_SECONDS_WITHOUT_WORKERS = 60
"""A cluster that has had no worker for so long is given up; one that is restarted takes a few seconds."""


# The cluster ---------------------------------------------------------------------------------------------------------


def version() -> str:
    """Return the version of the package."""
    return str(sys.modules["plurule"].__version__)


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


# What workers do -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PartitionRows:
    """What makes a problem of the rows of a partition, where the partition is."""

    columns: Columns
    known: Problem
    """What is known about all rows."""
    weights: NDArray[np.float64] | None
    """Of the rows; those that weigh nothing are left out. None if all weigh 1."""

    @property
    def n_rows(self) -> int | None:
        """How many rows are left; None for all."""
        return None if self.weights is None else int(np.count_nonzero(self.weights))

    def ask(self, function: Callable[..., Any], arguments: Sequence[Any], partition: Dataset) -> Any:
        """Return what a function gives of the rows."""
        table, truth = self.columns.rows(partition)
        Y = np.ascontiguousarray(truth).view(np.uint8)
        weights = np.broadcast_to(1.0, len(table))
        if self.weights is not None:
            kept = np.flatnonzero(self.weights)
            table, Y, weights = table[kept], Y[kept], self.weights[kept]
        known = self.known
        if known.constraints is not None and (known.hierarchy or known.groups):
            known.constraints.expect_kept_by(Y, known.labels)
        problem = Problem(table, known.labels, Y, weights, known.initial_rules, known.constraints)
        return function(problem, *arguments)


def on_partition(
    partition: Any,
    read: Callable[[Any], Dataset],
    name: str,
    function: Callable[[Dataset], Any],
    contents: Contents | None = None,
) -> Any:
    """Call a function of a partition, where the partition is; an error names it."""
    return Part(name, partial(read, partition)).call(function, (), contents)


def keys_and_labels(problem: Problem) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Return the keys of rows, by which copies are recognised, and their labels as bits."""
    # uint64[rows, 2] and uint8[rows, ceil(labels / 8)], so 16 bytes and a few bits of each row travel.
    return row_keys(problem.table, problem.Y), np.packbits(problem.Y, axis=1)


def cover_rows(problem: Problem, pools: Sequence[Sequence[Body]], roles: Roles) -> CoverBlock:
    """Return rows as bits."""
    return CoverBlock.of(problem, pools, roles, slice(0, problem.n_instances))


def count_rules(problem: Problem, rule_list: RuleList) -> RuleList:
    """Return a list with the counts of rows."""
    return recount(rule_list, problem.table, problem.Y, problem.weights)


def joined(problems: Sequence[Problem]) -> Problem:
    """Return the rows of several problems as one."""
    first = problems[0]
    n_rows = sum(problem.n_instances for problem in problems)
    weights = np.concatenate([problem.weights for problem in problems])
    table = Table(first.table.attributes, _joined_columns([problem.table for problem in problems]), n_rows)
    Y = np.concatenate([problem.Y for problem in problems])
    return Problem(table, first.labels, Y, weights, first.initial_rules, first.constraints)


def _joined_columns(tables: Sequence[Table]) -> list[Column] | SparseColumns:
    if all(isinstance(table.columns, SparseColumns) for table in tables):
        return SparseColumns.joined([table.columns for table in tables])
    places = range(len(tables[0].attributes))
    return [np.concatenate([table.column(place) for table in tables]) for place in places]


def learn_from(sample: Problem, learn: Callable[[Problem], T], is_training: NDArray[np.bool_] | None) -> T:
    """Learn from some rows of the sample, or from all of them."""
    return learn(sample if is_training is None else sample.take(np.flatnonzero(is_training)))


class Counter:
    """Counts the blocks of a worker; an actor of Dask."""

    def __init__(self, blocks: Sequence[CoverBlock], numbers: Sequence[int]):
        self.blocks = blocks
        self.numbers = numbers

    def total(self, question: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """Return the sum of a method of the blocks."""
        return added_up(question(block, *arguments) for block in self.blocks)

    def rows(self, question: Callable[..., Any], arguments: Sequence[Any]) -> list[tuple[int, Any]]:
        """Return what a method gives of each block, with the number of the block."""
        given = (question(block, *arguments) for block in self.blocks)
        return list(zip(self.numbers, given, strict=True))


# Rows and blocks -----------------------------------------------------------------------------------------------------


class DaskCovers(Covers):
    """Blocks on workers, each of which has an actor that counts its own.

    So a round takes few messages, none of which the scheduler plans. Where an actor is lost with its worker, Dask makes
    the blocks again that were there, and there are new actors.
    """

    def __init__(self, client: Any, blocks: Sequence[Any]):
        self.client = client
        self.blocks = blocks
        self._counters: list[Any] = []
        self._futures: list[Any] = []

    def total(self, question: Callable[..., Any], *arguments: Any) -> Any:
        return added_up(self._ask("total", question, arguments))

    def gather(self, question: Callable[..., NDArray[Any]], *arguments: Any) -> NDArray[Any]:
        # Workers have any of the blocks, rows must come in the order of the partitions.
        numbered = [one for of_worker in self._ask("rows", question, arguments) for one in of_worker]
        return np.concatenate([rows for _, rows in sorted(numbered, key=lambda one: one[0])])

    def select(self, selection: _core.PoolSelection, pool: int, fold: int | None) -> None:
        select_in_steps(self, selection, pool, fold)

    def _ask(self, method: str, question: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
        """Return what the actor of each worker answers."""
        for attempt in range(RETRIES + 1):
            try:
                self._counters = self._counters or self._placed()
                asked = [getattr(one, method)(question, arguments) for one in self._counters]
                return [one.result() for one in asked]
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
            numbers_of = self._by_worker()
            self._futures = [
                self.client.submit(
                    Counter, [self.blocks[n] for n in numbers], numbers, actor=True, workers=[worker], pure=False
                )
                for worker, numbers in numbers_of.items()
            ]
            while set(numbers_of) <= set(self.client.nthreads()):
                with contextlib.suppress(TimeoutError), self.client.as_current():
                    for future in self._futures:
                        future.exception(timeout=1)
                    return [
                        distributed.Actor(Counter, worker, future.key)
                        for worker, future in zip(numbers_of, self._futures, strict=True)
                    ]

    def _by_worker(self) -> dict[str, list[int]]:
        """The numbers of the blocks that each worker has."""
        while True:
            for block in wait_for(self.client, self.blocks):
                if (error := block.exception()) is not None:
                    raise error
            where = self.client.who_has(self.blocks)
            there = dict[str, list[int]]()
            for number, block in enumerate(self.blocks):
                there.setdefault(next(iter(where.get(block.key, ())), ""), []).append(number)
            if "" not in there:
                return there


class DaskRows(Rows):
    """Rows in partitions on workers.

    Parameters
    ----------
    client
        A `distributed.Client`.
    partitions
        Futures or delayed objects.
    read
        Makes a data set of a partition.
    columns
        What the partitions have in common.
    problem
        What is known about all rows; it has none itself.
    """

    def __init__(
        self, client: Any, partitions: Sequence[Any], read: Callable[[Any], Dataset], columns: Columns, problem: Problem
    ):
        self.client = client
        self.read = read
        self.columns = columns
        self.problem = problem
        weights = None
        self.positions = None
        if columns.weights is not None:
            weights = check_weights(columns.weights, columns.n_rows, len(columns.labels))
            # Rows that weigh 0 are left out, here as in memory; positions are the numbers that the user knows.
            self.positions = np.flatnonzero(weights)
        own = columns.without_contents()
        self.rows_of = [
            PartitionRows(own, problem, None if weights is None else weights[a:b]) for a, b in pairwise(columns.starts)
        ]
        # `columns.starts` counts the rows of partitions, `self.starts` those with a weight.
        sizes = [
            part.n_rows if rows.n_rows is None else rows.n_rows
            for part, rows in zip(columns.contents, self.rows_of, strict=True)
        ]
        self.starts = np.cumsum([0, *sizes]).tolist()
        self.n_rows = self.starts[-1]
        self.partitions = partitions
        self._futures: list[Any] = []
        self.sample: Any = None
        self.places = np.arange(0)

    def take(self, most: int | None) -> Sample:
        self.places = drawn(self.n_rows, most)
        # Each partition's part of the sample, as numbers of its own rows.
        own = [
            self.places[np.searchsorted(self.places, a) : np.searchsorted(self.places, b)] - a for a, b in self._spans
        ]
        parts = self._submit(Problem.take, [[one] for one in own])
        self.sample = self.client.submit(joined, parts, pure=False, retries=RETRIES)
        (problem,) = self.client.gather(wait_for(self.client, [self.sample]))
        return Sample(problem, self.places)

    def split(self, cv: Any) -> Roles:
        keys, labels = zip(*self._map(keys_and_labels), strict=True)
        # Copies may be in different partitions, so all keys are needed in one place.
        clusters = group_copies(np.concatenate(keys))
        warn_of_copies(clusters)
        Y = np.unpackbits(np.concatenate(labels), axis=1, count=self.problem.n_labels)
        return Roles.make(cv, Y, clusters, self.positions)

    def grow(self, learn: Callable[[Problem], T], roles: Roles, progress: Callable[[float], None]) -> list[T]:
        asked = [roles.of_rows[fold, self.places] == 0 for fold in range(roles.n_folds)]
        workers = list(self.client.nthreads())
        tasks = [
            self.client.submit(
                learn_from,
                self.sample,
                learn,
                rows,
                # The sample is large, so the scheduler would leave all work to the worker that has it.
                workers=[workers[number % len(workers)]],
                allow_other_workers=True,
                pure=False,
                retries=RETRIES,
            )
            for number, rows in enumerate([None, *asked])  # that of all rows takes longest
        ]
        learned = []
        for number, task in enumerate(tasks):
            learned.append(self.client.gather(wait_for(self.client, [task]))[0])
            progress((number + 1) / len(tasks))
        return [*learned[1:], learned[0]]

    def cover(self, pools: Sequence[Sequence[Body]], roles: Roles) -> Covers:
        own = [
            Roles(roles.of_rows[:, a:b], roles.n_groups, roles.jackknife[a:b], roles.n_jackknife)
            for a, b in self._spans
        ]
        # A partition without rows has no block: nothing to add up.
        filled = [number for number, (a, b) in enumerate(self._spans) if b > a]
        blocks = self._submit(cover_rows, [[pools, one] for one in own])
        self._futures = []  # partitions that can be computed again need not be kept beside the bits
        return DaskCovers(self.client, [blocks[number] for number in filled])

    def count(self, rule_list: RuleList) -> RuleList:
        return added_counts(rule_list, self._map(count_rules, [[rule_list]] * len(self.rows_of)))

    @property
    def _spans(self) -> list[tuple[int, int]]:
        """The numbers of the first row of each partition, and of the first behind it."""
        return list(pairwise(self.starts))

    def _map(self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]] | None = None) -> list[Any]:
        futures = self._submit(function, arguments or [()] * len(self.rows_of))
        return list(self.client.gather(wait_for(self.client, futures)))

    def _submit(self, function: Callable[..., Any], arguments: Sequence[Sequence[Any]]) -> list[Any]:
        """Return futures of what a function gives of the rows of each partition."""
        self._futures = self._futures or _computed(self.client, self.partitions)
        questions = [partial(rows.ask, function, own) for rows, own in zip(self.rows_of, arguments, strict=True)]
        return _asked(self.client, self._futures, self.read, questions, self.columns.contents)


def _computed(client: Any, partitions: Sequence[Any]) -> list[Any]:
    """Return partitions as futures."""
    future = dask_library("distributed").Future
    return [one if isinstance(one, future) else client.compute(one) for one in partitions]


def _asked(
    client: Any,
    futures: Sequence[Any],
    read: Callable[[Any], Dataset],
    questions: Sequence[Callable[[Dataset], Any]],
    contents: Sequence[Contents | None],
) -> list[Any]:
    """Return futures of what functions give of partitions."""
    return [
        client.submit(on_partition, one, read, f"partition {number}", question, own, pure=False, retries=RETRIES)
        for number, (one, question, own) in enumerate(zip(futures, questions, contents, strict=True))
    ]


class DaskData(ScannedData):
    """Partitions on a cluster, as an estimator is given them: delayed objects or futures, and what reads one."""

    def __init__(self, client: Any, partitions: Sequence[Any], read: Callable[[Any], Dataset]):
        self.client = client
        self.partitions = partitions
        self.read = read

    def schemas(self) -> list[tuple[str, PartSchema]]:
        with self._connected():
            n_parts = len(self.partitions)
            asked = [PartSchema.of] * n_parts, [None] * n_parts
            futures = _asked(self.client, _computed(self.client, self.partitions), self.read, *asked)
            schemas = self.client.gather(wait_for(self.client, futures))
            return [(f"partition {number}", schema) for number, schema in enumerate(schemas)]

    @contextlib.contextmanager
    def rows(self, initial_rules: InitialRules, constraints: Constraints | None, n_jobs: int) -> Iterator[Rows]:
        """Return the rows on the cluster."""
        self.expect_rows()
        attributes, labels = self.attributes, self.label_names
        initial = as_initial_rules(initial_rules, attributes, labels) if initial_rules else ()
        known = self.form.groups, self.hierarchy, initial
        resolved = check_constraints(constraints, attributes, labels, *known)
        empty = Table(attributes, [np.zeros(0, np.int32 if a.is_nominal else np.float64) for a in attributes], 0)
        nothing = np.zeros((0, len(labels)), np.uint8)
        problem = Problem(empty, labels, nothing, np.zeros(0), initial, resolved)
        with self._connected():
            yield DaskRows(self.client, self.partitions, self.read, self.columns, problem)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[None]:
        """Say in a sentence that the cluster was lost."""
        distributed = dask_library("distributed")
        closed = distributed.client.ClosedClientError
        lost = (distributed.KilledWorker, closed, CancelledError, TimeoutError, ConnectionError)
        try:
            yield
        except (*lost, RuntimeError) as error:
            if not isinstance(error, lost) and self.client.status == "running":
                raise
            reason = str(error).split("\n")[0].rstrip(":") or type(error).__name__
            raise PluruleError(
                f"the Dask cluster was lost while a model was learned ({reason}); look at the logs of its workers, "
                "which may need more memory, and fit again"
            ) from error


def scan(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    labels: Labels | None = None,
    client: Any = None,
    checkpoint: Any = None,
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
        Refused, as by `plurule.scan`.

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
    refuse_checkpoint(checkpoint)
    columns = [_partitions_of(one) for one in (X, y, sample_weight) if one is not None]
    if len({len(parts) for parts in columns}) > 1:
        raise DataError(
            f"X, y and sample_weight have {', '.join(str(len(p)) for p in columns)} partitions; cut them alike"
        )
    client = client or dask_library("distributed").get_client()
    check_versions(client, client.scheduler.address)
    delayed = dask_library("dask").delayed
    parts = columns[0] if y is None else [delayed(list)(parts) for parts in zip(*columns, strict=True)]
    return DaskData(client, parts, partial(labelled_part, reader=Reader(labels)))


def _partitions_of(collection: Any) -> list[Any]:
    """The partitions of a collection of Dask, by rows; a list is one already."""
    if not hasattr(collection, "to_delayed"):
        return list(collection)
    if getattr(collection, "ndim", 0) == 2 and hasattr(collection, "rechunk"):
        collection = collection.rechunk({1: -1})
    found = collection.to_delayed()
    return list(found.ravel()) if hasattr(found, "ravel") else list(found)


def parts_on_cluster(address: str, parts: Iterable[Part]) -> DaskData:
    """Parts of files that the workers of a scheduler read themselves."""
    client = connect(address)
    check_versions(client, address)
    delayed = dask_library("dask").delayed
    return DaskData(client, [delayed(part.read, pure=False)() for part in parts], labelled_part)
