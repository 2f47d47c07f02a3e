"""Learning in blocks beside learning in memory: the same model, how much time per rule, how much memory.

    python benchmarks/blocks.py --rows 1000000 --attributes 50 --labels 20
    python benchmarks/blocks.py --rows 5000000 --only disk --folder /tmp

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

from plurule import RuleListClassifier, scan
from plurule.model.file import dumps

RULES = 10


def made(rows: int, attributes: int, labels: int, seed: int = 0) -> tuple[Any, Any]:
    """Rows in which labels depend on a few attributes each."""
    weights = np.random.default_rng(1).normal(size=(attributes, labels))
    weights *= np.random.default_rng(2).random((attributes, labels)) < 0.1
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


def fit(*data: Any) -> tuple[str, Clock, float]:
    """The model, the clock, and the CPU seconds of everything."""
    clock, start = Clock(), time.process_time()
    learner = RuleListClassifier(heuristic="f_measure", n_rules=RULES, remember_rows=False, verbose=clock)
    learned = learner.fit(*data).rule_list_
    return dumps(learned), clock, time.process_time() - start


def in_memory_and_in_blocks(rows: int, attributes: int, labels: int, blocks: Sequence[int]) -> None:
    X, Y = made(rows, attributes, labels)
    model, memory, whole = fit(X, Y)
    print(f"in memory: {memory.per_rule:.3f} s per rule, {whole:.1f} s in all")
    for n_blocks in blocks:
        found, clock, everything = fit(scan((X, Y), chunk=-(-rows // n_blocks)))
        same = "the same model" if found == model else "ANOTHER MODEL"
        ratio = clock.per_rule / memory.per_rule
        print(f"{n_blocks} blocks: {clock.per_rule:.3f} s per rule ({ratio:.2f} ×), {everything:.1f} s in all; {same}")


def on_disk(rows: int, attributes: int, labels: int, folder: Path) -> None:
    """Parquet files that are written part by part, and learned from by a process of its own, whose peak is measured."""
    import pandas as pd

    with tempfile.TemporaryDirectory(dir=folder) as data:
        names = [f"x{i}" for i in range(attributes)], [f"label_{i}" for i in range(labels)]
        for part, start in enumerate(range(0, rows, 500_000)):
            X, Y = made(min(500_000, rows - start), attributes, labels, part)
            frame = pd.DataFrame(X, columns=names[0]).join(pd.DataFrame(Y, columns=names[1]))
            frame.to_parquet(Path(data) / f"{part:05d}.parquet", index=False)
        raw = sum(path.stat().st_size for path in Path(data).iterdir())
        as_arrays = rows * (8 * attributes + labels)
        print(f"{rows} rows, {raw / 1e9:.2f} GB of Parquet files, {as_arrays / 1e9:.2f} GB as arrays")
        subprocess.run([sys.executable, __file__, "--learn", data, "--folder", str(folder)], check=True)


def learn_from(data: str, folder: Path) -> None:
    start = time.perf_counter()
    _, clock, everything = fit(scan(f"{data}/*.parquet", "label_*", folder=folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    took = f"{everything:.0f} CPU s ({time.perf_counter() - start:.0f} s by the clock)"
    print(f"from disk: {clock.per_rule:.2f} CPU s per rule, {took}, peak memory {peak:.2f} GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--attributes", type=int, default=50)
    parser.add_argument("--labels", type=int, default=20)
    parser.add_argument("--blocks", type=int, nargs="*", default=(1, 2, 7, 64))
    parser.add_argument("--only", choices=("memory", "disk"))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--learn", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.learn:
        learn_from(given.learn, given.folder)
        return
    if given.only != "disk":
        in_memory_and_in_blocks(given.rows, given.attributes, given.labels, given.blocks)
    if given.only != "memory":
        on_disk(given.rows, given.attributes, given.labels, given.folder)


if __name__ == "__main__":
    main()
