"""Measure reading: CPU seconds of ARFF files beside liac-arff, and peak memory of CSV files.

    python -m research.speed.reading [FOLDER] [--repeats 7]

Reads every ARFF file under the folder (the first of PLURULE_DATA) with both libraries in turn. liac-arff reads sparse
files into its own sparse form and encodes categories as numbers, as plurule does. CSV files of a few MB are generated
and read by processes of their own; the memory of imports is not counted.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import random
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import arff as liac

import plurule
from research.files import data_folders

_OPEN: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
READ_CSV = """
import re, sys
import plurule

def peak():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1]) * 1024

plurule.read(sys.argv[2], labels=[])
before = peak()
plurule.read(sys.argv[1], labels=[])
print(peak() - before)
"""


def is_sparse(path: Path) -> bool:
    """Whether the first row of a file is written as `{…}`."""
    with _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        in_data = False
        for line in file:
            if in_data and line.strip():
                return bool(line.lstrip().startswith("{"))
            in_data = in_data or line.lower().startswith("@data")
    return False


def read_with_liac(path: Path, sparse: bool) -> None:
    """Read a file as a user of liac-arff would."""
    with _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:
        liac.load(file, encode_nominal=True, return_type=liac.LOD if sparse else liac.DENSE)


def cpu_seconds(function: Callable[..., object], *arguments: object) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def compare_arff(folder: Path, repeats: int) -> None:
    """Print a line per ARFF file."""
    print(f"{'file':28}{'kind':8}{'kB':>7}{'plurule ms':>12}{'liac ms':>10}{'ratio':>8}")
    ratios: dict[str, list[float]] = {"dense": [], "sparse": []}
    for path in sorted(path for path in folder.rglob("*.arff*") if path.is_file()):
        sparse = is_sparse(path)
        kind = "sparse" if sparse else "dense"
        ours = []
        theirs = []
        for _ in range(repeats):
            ours.append(cpu_seconds(plurule.read, path))
            theirs.append(cpu_seconds(read_with_liac, path, sparse))
        ratio = statistics.median(theirs) / statistics.median(ours)
        ratios[kind].append(ratio)
        times = f"{1e3 * statistics.median(ours):>12.1f}{1e3 * statistics.median(theirs):>10.1f}{ratio:>8.1f}"
        print(f"{path.name:28}{kind:8}{path.stat().st_size >> 10:>7}{times}")
    for kind, values in ratios.items():
        if values:
            print(
                f"{kind}: {min(values):.1f} to {max(values):.1f} times as fast, median {statistics.median(values):.1f}"
            )


def measure_csv() -> None:
    """Print the peak memory of reading a CSV file, as a multiple of its size, per kind of cells."""
    rng = random.Random(0)
    kinds = {
        "recurring words": (10, ([rng.choice(["red", "blue", "green"]) for _ in range(10)] for _ in range(150_000))),
        "numbers": (10, ([f"{rng.random():.3f}" for _ in range(10)] for _ in range(100_000))),
        "one digit": (50, ([rng.choice("01") for _ in range(50)] for _ in range(60_000))),
        "different texts": (1, ([f"a{i:05d}"] for i in range(1_000_000))),
    }
    with TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.csv"
        tiny.write_text("a,b\n1,x\n2,y\n", encoding="utf-8")
        for kind, (columns, rows) in kinds.items():
            path = Path(folder) / "cells.csv"
            with path.open("w", encoding="utf-8") as file:
                file.write(",".join(f"c{i}" for i in range(columns)) + "\n")
                file.writelines(",".join(row) + "\n" for row in rows)
            peak = int(subprocess.check_output([sys.executable, "-c", READ_CSV, path, tiny]))
            size = path.stat().st_size
            print(f"{kind}: {size / 1e6:.1f} MB, {peak / size:.1f} times its size")


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=data_folders()[0])
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    compare_arff(arguments.folder, arguments.repeats)
    measure_csv()


if __name__ == "__main__":
    main()
