"""Learning in blocks beside learning in memory: the same model, how much time per rule, how much memory.

    python benchmarks/blocks.py --rows 1000000 --attributes 50 --labels 20
    python benchmarks/blocks.py --rows 5000000 --attributes 25 --labels 10 --only disk --limit 2 --folder /tmp
    python benchmarks/blocks.py --rows 20000 --attributes 10 --labels 5 --only same
    python benchmarks/blocks.py --rows 2000000 --only dask
    python benchmarks/blocks.py --rows 20000 --only wide

Times are CPU seconds of one thread, so that a busy machine does not matter; ratios are of one run.
"""

from __future__ import annotations

import argparse
import itertools
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import unittest.mock
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from plurule import RuleListClassifier, scan
from plurule.data.inputs import labelled_data
from plurule.distributed.counts import BlockCounts
from plurule.distributed.dask_data import dask_data, packed, parts_on_cluster
from plurule.distributed.partitioned import BlockFolds
from plurule.distributed.pieces import LocalPieces, Piece, itself
from plurule.distributed.preparing import columns_of
from plurule.learning.covering import cover
from plurule.learning.options import check_options
from plurule.learning.problem import Options
from plurule.model.file import dumps

RULES, PARTS = 10, 8


def made(rows: int, attributes: int, labels: int, seed: int = 0, share: float = 0.1) -> tuple[Any, Any]:
    """Rows in which labels depend on a share of the attributes each."""
    weights = np.random.default_rng(1).normal(size=(attributes, labels))
    weights *= np.random.default_rng(2).random((attributes, labels)) < share
    rng = np.random.default_rng([3, seed])
    X = rng.normal(size=(rows, attributes))
    return X, (X @ weights + rng.normal(size=(rows, labels)) > 1.2).astype(np.int8)


class Clock:
    """CPU seconds per rule, without the first, which has the preparation in it."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, rules: int, decided: float) -> None:
        self.seen.append(time.process_time())

    @property
    def per_rule(self) -> float:
        return float(np.median(np.diff(self.seen)))


def fit(*data: Any, rules: int = RULES, jobs: int = 1) -> tuple[str, Clock, float]:
    """The model, the clock, and the CPU seconds of everything."""
    clock, start = Clock(), time.process_time()
    asked = {"heuristic": "f_measure", "n_rules": rules, "n_jobs": jobs, "remember_rows": False}
    learned = RuleListClassifier(**asked, verbose=clock).fit(*data).rule_list_
    return dumps(learned), clock, time.process_time() - start


def in_memory_and_in_blocks(rows: int, attributes: int, labels: int, blocks: Sequence[int]) -> None:
    X, Y = made(rows, attributes, labels)
    model, memory, whole = fit(X, Y)
    print(f"in memory: {memory.per_rule:.3f} s per rule, {whole:.1f} s in all")
    for n_blocks in blocks:
        found, clock, everything = fit(scan((X, Y), chunk=-(-rows // n_blocks)))
        ratio = clock.per_rule / memory.per_rule
        took = f"{clock.per_rule:.3f} s per rule ({ratio:.2f} ×), {everything:.1f} s in all"
        print(f"{n_blocks} blocks: {took}; {told(found, model)}", flush=True)


def told(found: str, model: str) -> str:
    return "the same model" if found == model else "ANOTHER MODEL"


def everywhere(rows: int, attributes: int, labels: int, blocks: Sequence[int], folder: Path) -> None:
    """The model of every number of blocks, in order and shuffled, by threads, processes and workers of Dask."""
    import distributed

    X, Y = made(rows, attributes, labels)
    whole = frame_of(X, Y)
    model, _, _ = fit(whole[whole.columns[:attributes]], whole[whole.columns[attributes:]])
    shuffled = np.random.default_rng(0).permutation(rows)
    with tempfile.TemporaryDirectory(dir=folder) as data, ProcessPoolExecutor(2) as executor:
        for n_blocks, order in itertools.product(blocks, ("in order", "shuffled")):
            numbers = np.array_split(np.arange(rows) if order == "in order" else shuffled, n_blocks)
            parts = [write_part(Path(data) / f"{order} {n_blocks} {i}", X, Y, one) for i, one in enumerate(numbers)]
            for name, given in (("threads", {}), ("processes", {"executor": executor})):
                found, _, _ = fit(scan(parts, "label_*", **given))
                print(f"{n_blocks} blocks, {order}, {name}: {told(found, model)}", flush=True)
        for n_workers in (1, 2, 4):
            with distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster:
                for n_blocks, order in itertools.product(blocks, ("in order", "shuffled")):
                    parts = sorted(str(path) for path in Path(data).glob(f"{order} {n_blocks} *"))
                    source = parts_on_cluster(cluster.scheduler_address, scan(parts, "label_*").parts())
                    found, _, _ = fit(source)
                    source.client.close()
                    print(f"{n_blocks} blocks, {order}, Dask of {n_workers}: {told(found, model)}", flush=True)


def write_part(path: Path, X: Any, Y: Any, rows: Any) -> str:
    frame_of(X[rows], Y[rows]).to_parquet(f"{path}.parquet", index=False)
    return f"{path}.parquet"


def frame_of(X: Any, Y: Any) -> Any:
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    return frame.join(pd.DataFrame(Y, columns=[f"label_{i}" for i in range(Y.shape[1])]))


class Rounds:
    """Blocks that note what was asked of them, and how many bytes the answers have when they travel."""

    def __init__(self, blocks: Any):
        self.blocks, self.asked, self.bytes = blocks, list[tuple[Any, Any]](), 0

    def total(self, function: Any, *shared: Any) -> Any:
        self.asked.append((function, shared))
        found = self.blocks.total(function, *shared)
        self.bytes += len(pickle.dumps(packed(found)))
        return found


def on_workers(rows: int, attributes: int, labels: int, repeats: int) -> None:
    """Time per rule with one worker of Dask and with two, beside one process and two that count the same without Dask.

    One after the other, as often as asked for, so that what else the machine does falls on all of them; those who wait
    take no time. What two plain processes reach is what the machine gives: nobody decides there, and nothing is sent.
    """
    each = [(rows // PARTS, attributes, labels, part) for part in range(PARTS)]
    blocks, asked = counted_here(each)
    processes = {n: plain_processes(n, blocks, asked) for n in (1, 2)}
    plain: dict[int, list[float]] = {1: [], 2: []}
    dask: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    models = set()
    with workers(1, each) as one_worker, workers(2, each) as two_workers:
        for repeat, (n, learn) in itertools.product(range(repeats), ((1, one_worker), (2, two_workers))):
            plain[n].append(by_processes(processes[n]))
            model, clock, counting, driver, of_round = learn()
            models.add(model)
            dask[n].append((clock, of_round))
            shown = ", ".join(f"{one:.3f}" for one in counting)
            took = f"{clock:.3f} s per rule by the clock; CPU s: workers {shown}; driver {driver:.3f}"
            print(f"{repeat + 1}: {n} of Dask: {took}; without Dask {plain[n][-1]:.3f} s per rule", flush=True)
    ceiling = np.median(plain[1]) / np.median(plain[2])
    one, two = (np.median(dask[n], axis=0) for n in (1, 2))
    ratios = [a[0] / b[0] for a, b in zip(dask[1], dask[2], strict=True)]
    same = "the same model" if len(models) == 1 else "OTHER MODELS"
    share = f"{one[0] / two[0] / ceiling:.0%} of what two processes without Dask reach ({ceiling:.2f} ×)"
    spread = f"median of {repeats}, from {min(ratios):.2f} to {max(ratios):.2f}"
    print(f"two workers: {one[0] / two[0]:.2f} × as fast by the clock ({spread}), {share}; {same}")
    print(f"a round without data: {one[1] * 1e3:.1f} ms with one worker, {two[1] * 1e3:.1f} ms with two")


def counted_here(each: Sequence[Any]) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """The blocks, in this process, and what learning asks of them after the first rule."""
    parts = [labelled_data(*made(*one))[0] for one in each]
    given = LocalPieces(lambda: [Piece("", partial(itself, part)) for part in parts])
    options = options_for(each[0][2])
    data = BlockFolds(given, columns_of(given), options.max_bins, (), None, False)
    rounds, before = Rounds(data.blocks), list[tuple[int, int]]()
    counts = BlockCounts(rounds, data.problem, data.values[0])  # type: ignore[arg-type]
    cover(counts, (), options, lambda *_: before.append((len(rounds.asked), rounds.bytes)))
    (first, first_bytes), (last, last_bytes) = before[0], before[-1]
    per_rule = (last - first) / (RULES - 1), (last_bytes - first_bytes) / (RULES - 1) / 1e3
    print(f"{per_rule[0]:.1f} rounds per rule, in which a worker sends {per_rule[1]:.0f} kB", flush=True)
    return [piece.read() for piece in data.blocks.pieces()], rounds.asked[first:]  # type: ignore[attr-defined]


def options_for(n_labels: int) -> Options:
    return check_options(RuleListClassifier(heuristic="f_measure", n_rules=RULES).get_params(deep=False), n_labels)


def plain_processes(n: int, blocks: Sequence[Any], asked: Sequence[tuple[Any, Any]]) -> list[Connection]:
    """So many processes that count what was asked when they are told to, each some of the blocks."""
    found = []
    for number in range(n):
        here, there = get_context("fork").Pipe()
        given = there, blocks[number::n], asked
        get_context("fork").Process(target=count_when_told, args=given, daemon=True).start()
        found.append(here)
    return found


def count_when_told(connection: Connection, blocks: Sequence[Any], asked: Sequence[tuple[Any, Any]]) -> None:
    for run in itertools.count(1):
        connection.recv()
        (_, (standing, *_)), *_ = asked
        for block in blocks:
            block.catch_up(standing._replace(run=run))
        connection.send("ready")
        connection.recv()
        start = time.perf_counter()
        for function, (standing, *shared) in asked:
            for block in blocks:
                function(block, standing._replace(run=run), *shared)
        connection.send(time.perf_counter() - start)


def by_processes(processes: Sequence[Connection]) -> float:
    """Seconds per rule of the clock until all of them have counted what was asked."""
    for _ in ("get ready", "count"):
        for one in processes:
            one.send(None)
        told = [one.recv() for one in processes]
    return float(max(told) / (RULES - 1))


@contextmanager
def workers(n_workers: int, each: Sequence[Any]) -> Iterator[Callable[[], Any]]:
    """Workers that have their blocks, from which a list can be learned again and again."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        names, options = list(client.nthreads()), options_for(each[0][2])
        parts = [client.submit(made, *one, workers=[names[one[-1] % n_workers]], pure=False) for one in each]
        with dask_data(client, parts).training_data(options, (), None, 1, False) as data:
            yield partial(learned_on, client, data.everything(), options)


def learned_on(client: Any, data: BlockFolds, options: Options) -> tuple[str, float, list[float], float, float]:
    """The model; per rule, seconds of the clock, CPU s of each worker and of the driver; the seconds of a round.

    The scheduler is in the process of the driver.
    """
    seen: list[tuple[float, float, Any]] = []

    def look(rules: int, _: float) -> None:
        if rules in (1, RULES):
            counting = np.array(list(client.run(time.process_time).values()))
            seen.append((time.perf_counter(), time.process_time(), counting))

    model, rounds = dumps(data.learn(0, options, look)), []
    for _ in range(30):
        start = time.perf_counter()
        data.blocks.total(len)
        rounds.append(time.perf_counter() - start)
    clock, driver, counting = ((last - first) / (RULES - 1) for first, last in zip(*seen, strict=True))
    return model, clock, counting.tolist(), driver, float(np.median(rounds))


class Weighed(LocalPieces):
    """Pieces that know how many bytes their sums have when they travel."""

    sent = 0

    def total(self, function: Any, *shared: Any, each: Any = None) -> Any:
        found = super().total(function, *shared, each=each)
        Weighed.sent += len(pickle.dumps(packed(found)))
        return found

    def of_blocks(self, blocks: Any, place: Any) -> Weighed:
        made = super().of_blocks(blocks, place)
        return Weighed(made.pieces, made.executor, made.width)


def wide(rows: int, attributes: int = 1000, labels: int = 100) -> None:
    """The bytes that a rule of wide data takes on its way from a worker."""
    X, Y = made(rows, attributes, labels, share=5 / attributes)
    data, sent, start = scan((X, Y), chunk=-(-rows // 4)), [0], time.process_time()

    def look(rules: int, decided: float) -> None:
        sent.append(Weighed.sent)
        print(
            f"rule {rules}: {(sent[-1] - sent[-2]) / 1e6:.1f} MB, {time.process_time() - start:.0f} CPU s", flush=True
        )

    with unittest.mock.patch("plurule.distributed.scan.LocalPieces", Weighed):
        RuleListClassifier(heuristic="f_measure", n_rules=RULES, remember_rows=False, verbose=look).fit(data)


def on_disk(rows: int, attributes: int, labels: int, folder: Path, data: Path | None, asked: Sequence[str]) -> None:
    """Parquet files that are written part by part, and learned from by a process of its own, whose peak is measured."""
    if data is None:
        with tempfile.TemporaryDirectory(dir=folder) as made_here:
            on_disk(rows, attributes, labels, folder, Path(made_here), asked)
        return
    write_parts(rows, attributes, labels, data)
    raw = sum(path.stat().st_size for path in data.iterdir())
    as_arrays = rows * (8 * attributes + labels)
    print(f"{rows} rows, {raw / 1e9:.2f} GB of Parquet files, {as_arrays / 1e9:.2f} GB as arrays", flush=True)
    subprocess.run([sys.executable, __file__, *asked, "--learn", str(data)], check=True)


def write_parts(rows: int, attributes: int, labels: int, folder: Path) -> None:
    """Files of half a million rows each; those that are there stay."""
    for part, start in enumerate(range(0, rows, 500_000)):
        path = folder / f"{part:05d}.parquet"
        if not path.exists():
            X, Y = made(min(500_000, rows - start), attributes, labels, part)
            frame_of(X, Y).to_parquet(path.with_suffix(".tmp"), index=False)
            path.with_suffix(".tmp").rename(path)


def learn_from(given: argparse.Namespace) -> None:
    if given.limit is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (int(given.limit * 1e9), int(given.limit * 1e9)))
    start = time.perf_counter()
    data = scan(f"{given.learn}/*.parquet", "label_*", folder=given.folder)
    _, clock, everything = fit(data, rules=given.rules, jobs=given.jobs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    took = f"{everything:.0f} CPU s ({time.perf_counter() - start:.0f} s by the clock)"
    print(f"from disk: {clock.per_rule:.2f} CPU s per rule, {took}, peak memory {peak:.2f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--attributes", type=int, default=50)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--blocks", type=int, nargs="*", default=(1, 2, 7, 64))
    parser.add_argument(
        "--only", choices=("memory", "disk", "same", "dask", "wide"), nargs="*", default=("memory", "disk")
    )
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--data", type=Path, help="a folder in which the files are kept; those that are there are used")
    parser.add_argument(
        "--limit", type=float, help="memory that learning from disk may take, in GB; no limit if left out"
    )
    parser.add_argument("--repeats", type=int, default=5, help="of learning with one worker of Dask and with two")
    parser.add_argument("--rules", type=int, default=RULES, help="to learn from disk")
    parser.add_argument("--jobs", type=int, default=1, help="threads that learn from disk")
    parser.add_argument("--learn", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.learn:
        learn_from(given)
        return
    size = given.rows, given.attributes, given.labels
    if "memory" in given.only:
        in_memory_and_in_blocks(*size, given.blocks)
    if "same" in given.only:
        everywhere(*size, given.blocks, given.folder)
    if "dask" in given.only:
        on_workers(*size, given.repeats)
    if "wide" in given.only:
        wide(given.rows)
    if "disk" in given.only:
        on_disk(*size, given.folder, given.data, sys.argv[1:])


if __name__ == "__main__":
    main()
