"""Fits of many rows: in memory, from files and on a Dask cluster; the same model, its times and the peak of memory.

    python -m research.speed.large --rows 1000000 --attributes 25 --labels 10
    python -m research.speed.large --rows 20000000 --attributes 25 --labels 10 --where files --learner both --jobs 2
    python -m research.speed.large --rows 2000000 --attributes 25 --labels 10 --where workers --workers 1 2

Each fit is a process of its own, so that its peak is its own. Ratios of CPU seconds in one run say more than seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from plurule import RelaxedPruningClassifier, RuleListClassifier, read, scan

PART = 500_000
"""Rows of a Parquet file."""
BINS = 32
RULES = 10


def write_files(folder: Path, rows: int, attributes: int, labels: int, form: str) -> None:
    """Write files of attributes and labels, of numbers with three decimals as measured values have."""
    names = [f"label_{i}" for i in range(labels)]
    first, second = np.random.default_rng(0).integers(0, attributes, (2, labels))
    for part, start in enumerate(range(0, rows, PART)):
        rng = np.random.default_rng(part)
        n_rows = min(PART, rows - start)
        X = rng.standard_normal((n_rows, attributes), dtype=np.float32)
        # A label is present where two attributes and some noise are high: about one in six.
        noise = rng.standard_normal((n_rows, labels), dtype=np.float32)
        Y = (X[:, first] + 0.5 * X[:, second] + 0.5 * noise > 1.2).astype(np.uint8)
        frame = pd.DataFrame(np.round(X, 3).astype(np.float32), columns=[f"x{i}" for i in range(attributes)])
        frame = frame.join(pd.DataFrame(Y, columns=names))
        if form == "csv":
            frame.to_csv(folder / "data.csv", mode="a", header=start == 0, index=False)
        else:
            frame.to_parquet(folder / f"{part:05d}.parquet", index=False)


@contextmanager
def cluster(n_workers: int) -> Iterator[Any]:
    """Workers in processes of their own, with one thread each."""
    from dask.distributed import Client, LocalCluster

    with LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as local, Client(local):
        yield local.scheduler_address


def fit(given: argparse.Namespace) -> dict[str, Any]:
    """Return what a fit took, and the digest of its list."""
    if given.learner == "rule-list":
        learner: Any = RuleListClassifier(n_jobs=given.jobs)
    else:
        learner = RelaxedPruningClassifier(max_rules=RULES, max_bins=given.bins, n_jobs=given.jobs)
    if given.max_grown_rows is not None:
        learner.set_params(max_grown_rows=given.max_grown_rows)
    source = sorted(map(str, Path(given.fit).iterdir()))
    begin, cpu = time.perf_counter(), time.process_time()
    if given.where == "workers":
        from plurule._rows.dask import parts_on_cluster

        with cluster(given.workers[0]) as address:
            begin = time.perf_counter()
            learner.fit(parts_on_cluster(address, scan(source, "label_*").parts()))
            seconds = time.perf_counter() - begin
    else:
        if given.where == "memory":
            parts = [read(path, "label_*") for path in source]
            X = np.concatenate([part.to_numpy()[0].astype(np.float32) for part in parts])
            data: Any = X, np.concatenate([part.Y for part in parts])
            del parts
            learner.fit(*data)
        else:
            learner.fit(scan(source, "label_*", chunk=given.chunk))
        seconds = time.perf_counter() - begin
    rules = [(str(rule), rule.decided) for rule in learner.rule_list_]
    # Columns of arrays are called x0, x1, …, labels y0, y1, …
    text = repr(rules).replace("label_", "y")
    return {
        "seconds": seconds,
        "cpu": time.process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "rules": len(rules),
        "digest": hashlib.sha256(text.encode()).hexdigest()[:8],
        "how": getattr(learner, "chosen_", {}).get("how", ""),
    }


def main() -> None:
    """Write files, fit in processes, print a row of a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--attributes", type=int, default=25)
    parser.add_argument("--labels", type=int, default=10)
    parser.add_argument("--learner", choices=("rule-list", "relaxed-pruning", "both"), default="both")
    parser.add_argument("--where", choices=("memory", "files", "workers"), nargs="*", default=["memory", "files"])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--form", choices=("parquet", "csv"), default="parquet")
    parser.add_argument("--chunk", type=int, help="bytes of a CSV file that are read at once")
    parser.add_argument("--bins", type=int, default=BINS)
    parser.add_argument("--max-grown-rows", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="folder of the files")
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        given.where = given.where[0]
        print(json.dumps(fit(given)))
        return
    learners = ["rule-list", "relaxed-pruning"] if given.learner == "both" else [given.learner]
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        write_files(Path(folder), given.rows, given.attributes, given.labels, given.form)
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        shape = f"{given.rows:,} rows × {given.attributes} attributes, {given.labels} labels"
        print(f"{shape}: {size / 1e9:.2f} GB of files\n")
        print("| learner | rows in | by the clock | CPU | peak memory | rules | list |\n|---|---|---|---|---|---|---|")
        for learner in learners:
            for where in given.where:
                for n_workers in given.workers if where == "workers" else [0]:
                    options = [*sys.argv[1:], "--fit", folder, "--learner", learner, "--where", where]
                    options += ["--workers", str(n_workers)]
                    done = subprocess.run(
                        [sys.executable, "-m", "research.speed.large", *options], capture_output=True, text=True
                    )
                    if done.returncode:
                        print(f"| {learner} | {where} | failed: {done.stderr.strip().splitlines()[-1]} |", flush=True)
                        continue
                    took = json.loads(done.stdout.splitlines()[-1])
                    name = f"{n_workers} workers" if where == "workers" else where
                    times = f"{took['seconds']:.1f} s | {took['cpu']:.1f} s | {took['peak']:.2f} GB"
                    print(f"| {learner} | {name} | {times} | {took['rules']} | {took['digest']} |", flush=True)


if __name__ == "__main__":
    main()
