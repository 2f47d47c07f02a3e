"""How much memory reading a CSV file takes, as a multiple of its size: `python benchmarks/reading_memory.py`.

Each file of a few MB is made, and read by a process of its own; what importing takes is not counted.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

READING = """
import resource, sys
from plurule.data import read_table

def now():
    with open("/proc/self/statm") as used:
        return int(used.read().split()[1]) * resource.getpagesize()

before = now()
table = read_table(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)
"""


def main() -> None:
    """Print a line per kind of cells."""
    rng = random.Random(0)
    # Made as they are written: the peak of a process is at least that of the one that started it.
    kinds = {
        "words that recur": (10, ([rng.choice(["red", "blue", "green"]) for _ in range(10)] for _ in range(150_000))),
        "numbers": (10, ([f"{rng.random():.3f}" for _ in range(10)] for _ in range(100_000))),
        "one digit": (50, ([rng.choice("01") for _ in range(50)] for _ in range(60_000))),
        "every cell another text": (1, ([f"a{i:05d}"] for i in range(1_000_000))),
    }
    with TemporaryDirectory() as folder:
        for kind, (columns, rows) in kinds.items():
            path = Path(folder) / "cells.csv"
            with path.open("w", encoding="utf-8") as file:
                file.write(",".join(f"c{i}" for i in range(columns)) + "\n")
                file.writelines(",".join(row) + "\n" for row in rows)
            peak = int(subprocess.check_output([sys.executable, "-c", READING, path]))
            size = path.stat().st_size
            print(f"{kind}: {size / 1e6:.1f} MB, {peak / size:.1f} times its size")


if __name__ == "__main__":
    main()
