"""Compare learning in blocks and from disk with learning in memory: the same model, time per rule, memory.

    python -m research.speed.blocks --rows 1000000 --attributes 50 --labels 20
    python -m research.speed.blocks --rows 5000000 --attributes 25 --labels 10 --only disk --limit 2

Times are CPU seconds of one thread, so that a busy machine does not matter; ratios are of one run.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from plurule import RelaxedPruningClassifier, scan
from research.speed.data import generate

RULES = 10
BINS = 32
PART = 500_000
"""Rows of a Parquet file."""


class Clock:
    """CPU seconds per rule, without the first, which includes the preparation."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, rules: int, decided: float) -> None:
        self.seen.append(time.process_time())

    @property
    def per_rule(self) -> float:
        return float(np.median(np.diff(self.seen)))


def fit(*data: Any, rules: int = RULES, jobs: int = 1) -> tuple[Any, Clock, float]:
    """Return the rules, the clock, and the CPU seconds of everything."""
    clock = Clock()
    start = time.process_time()
    learner = RelaxedPruningClassifier(max_rules=rules, max_bins=BINS, n_jobs=jobs, verbose=clock).fit(*data)
    return learner.rule_list_.rules, clock, time.process_time() - start


def compare_with_memory(rows: int, attributes: int, labels: int, blocks: Sequence[int]) -> None:
    """Learn in memory, then in numbers of blocks."""
    X, Y = generate(rows, attributes, labels)
    model, memory, seconds = fit(X, Y)
    print(f"in memory: {memory.per_rule:.3f} s per rule, {seconds:.1f} s in all")
    for n_blocks in blocks:
        rules, clock, seconds = fit(scan((X, Y), chunk=-(-rows // n_blocks)))
        times = f"{clock.per_rule:.3f} s per rule ({clock.per_rule / memory.per_rule:.2f} ×), {seconds:.1f} s in all"
        print(f"{n_blocks} blocks: {times}; {'the same model' if rules == model else 'ANOTHER MODEL'}", flush=True)


def learn_from_disk(given: argparse.Namespace) -> None:
    """Write Parquet files, and learn from them in a process of its own, whose peak is measured."""
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for part, start in enumerate(range(0, given.rows, PART)):
            X, Y = generate(min(PART, given.rows - start), given.attributes, given.labels, part)
            frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(given.attributes)])
            names = [f"label_{i}" for i in range(given.labels)]
            frame.join(pd.DataFrame(Y, columns=names)).to_parquet(f"{folder}/{part:05d}.parquet", index=False)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        print(f"{given.rows} rows, {size / 1e9:.2f} GB of Parquet files", flush=True)
        module = [sys.executable, "-m", "research.speed.blocks", "--learn", folder, "--rules", str(given.rules)]
        limit = [] if given.limit is None else ["--limit", str(given.limit)]
        subprocess.run([*module, "--jobs", str(given.jobs), *limit], check=True)


def learn_from(given: argparse.Namespace) -> None:
    """Learn from a folder of Parquet files with limited memory, and print times and the peak."""
    if given.limit is not None:
        n_bytes = int(given.limit * 1e9)
        resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes))
    start = time.perf_counter()
    _, clock, seconds = fit(scan(f"{given.learn}/*.parquet", "label_*"), rules=given.rules, jobs=given.jobs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    times = f"{seconds:.0f} CPU s ({time.perf_counter() - start:.0f} s by the clock)"
    print(f"from disk: {clock.per_rule:.2f} CPU s per rule, {times}, peak memory {peak:.2f} GB")


def main() -> None:
    """Compare both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--attributes", type=int, default=50)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--blocks", type=int, nargs="*", default=(1, 8))
    parser.add_argument("--only", choices=("memory", "disk"), nargs="*", default=("memory", "disk"))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="folder of the Parquet files")
    parser.add_argument("--limit", type=float, help="GB of memory that learning from disk may take (no limit)")
    parser.add_argument("--rules", type=int, default=RULES, help="number of rules to learn from disk")
    parser.add_argument("--jobs", type=int, default=1, help="threads that learn from disk")
    parser.add_argument("--learn", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.learn:
        learn_from(given)
        return
    if "memory" in given.only:
        compare_with_memory(given.rows, given.attributes, given.labels, given.blocks)
    if "disk" in given.only:
        learn_from_disk(given)


if __name__ == "__main__":
    main()
