"""What a rule would cost on a cluster: a simulation fed with what is measured here.

    python benchmarks/cluster_cost.py

Measured: CPU seconds to count a block (per row and attribute), to decide on sums, and those of a round of Dask without
data, on the driver and the scheduler, with one worker and with four. Simulated: rounds of counting on workers that
share the rows evenly, and are asked as a tree: the driver asks up to 16 of them, each of which asks 16 others.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np

from blocks import RULES, made
from plurule import RuleListClassifier, scan
from plurule.distributed.counts import BlockCounts
from plurule.distributed.dask_data import FAN_IN, DaskBlocks
from plurule.distributed.pieces import Blocks
from plurule.learning.covering import cover
from plurule.learning.options import check_options

BITS_PER_SECOND = 10e9
"""Of a network card; a guess, not measured."""


class Measured(NamedTuple):
    """What was measured here."""

    count: float
    """CPU seconds per row and attribute of a whole list, by rules."""
    decide: float
    """CPU seconds per rule on the driver."""
    rounds: float
    """Rounds per rule."""
    of_round: float
    of_task: float
    """CPU seconds that a round of Dask takes driver and scheduler without data, and each worker that is asked more."""


class Timed:
    """Blocks that know how long they were asked, and how often."""

    def __init__(self, blocks: Blocks):
        self.blocks, self.seconds, self.rounds = blocks, 0.0, 0

    def total(self, function: Any, *shared: Any) -> Any:
        start = time.process_time()
        found = self.blocks.total(function, *shared)
        self.seconds += time.process_time() - start
        self.rounds += 1
        return found


def counting(rows: int, attributes: int, labels: int) -> tuple[float, float, float]:
    """CPU seconds per rule, row and attribute in blocks; per rule elsewhere; rounds per rule."""
    X, Y = made(rows, attributes, labels)
    options = check_options(RuleListClassifier(heuristic="f_measure", n_rules=RULES).get_params(deep=False), labels)
    with scan((X, Y), chunk=rows).training_data(options, (), None, 1, False) as data:
        timed: Any = Timed(data.blocks)
        counts = BlockCounts(timed, data.problem, data.values[0])
        timed.seconds, timed.rounds, start = 0.0, 0, time.process_time()
        cover(counts, (), options)
        everything = time.process_time() - start
    return timed.seconds / RULES / rows / attributes, (everything - timed.seconds) / RULES, timed.rounds / RULES


def round_of_dask(n_workers: int, repeats: int = 50) -> tuple[float, float]:
    """A round without data: CPU seconds of driver and scheduler, and those of the clock."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        blocks = DaskBlocks(client, [client.submit(list, workers=[one], pure=False) for one in client.nthreads()])
        blocks.total(len)
        seconds = []
        for _ in range(repeats):
            start = time.process_time(), time.perf_counter()
            blocks.total(len)
            seconds.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    cpu, clock = np.median(seconds, axis=0)
    return float(cpu), float(clock)


def per_rule(found: Measured, rows: float, workers: int, attributes: int, bins: int) -> tuple[float, ...]:
    """Seconds per rule in all, and of it: counting, the network, asking the workers, the driver."""
    count = found.count * rows * attributes / workers
    levels = max(1.0, np.ceil(np.log(max(2, workers)) / np.log(FAN_IN)))
    network = found.rounds * levels * FAN_IN * 8 * attributes * bins * 4 * 8 / BITS_PER_SECOND
    asking = found.rounds * levels * (found.of_round + found.of_task * min(workers, FAN_IN))
    return count + network + asking + found.decide, count, network, asking, found.decide


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000, help="to measure with")
    given = parser.parse_args()
    count, decide, rounds = counting(given.rows, 50, 20)
    (few, with_1), (many, with_4) = round_of_dask(1), round_of_dask(4)
    of_task = max(0.0, many - few) / 3
    found = Measured(count, decide, rounds, max(0.0, few - of_task), of_task)
    print(f"counting: {count * 1e9:.2f} CPU ns per rule, row and attribute; deciding: {decide:.3f} CPU s per rule")
    of_dask = f"one of Dask takes {few * 1e3:.1f} CPU ms with 1 worker, {many * 1e3:.1f} with 4"
    print(f"{rounds:.1f} rounds per rule; {of_dask}")
    print(f"({with_1 * 1e3:.0f} and {with_4 * 1e3:.0f} ms by the clock, in which others may have used the machine)")
    print("\nSeconds per rule (50 attributes of 32 bins, 20 labels):\n")
    print("| rows | workers | in all | counting | network | asking | driver |\n|---|---|---|---|---|---|---|")
    for rows in (1e8, 1e9, 1e10):
        for workers in (1, 10, 100, 1000):
            shown = " | ".join(f"{seconds:.2g}" for seconds in per_rule(found, rows, workers, 50, 32))
            print(f"| 10^{int(np.log10(rows))} | {workers} | {shown} |")


if __name__ == "__main__":
    main()
