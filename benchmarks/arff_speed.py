"""How fast ARFF files are read, beside liac-arff.

    python benchmarks/arff_speed.py [FOLDER] [--repeats 7]

Reads every ARFF file under the folder (PLURULE_DATA, or `../shared/data` beside the checkout) with both
libraries in turn and prints the CPU time of each and their ratio. liac-arff reads sparse files into its own
sparse form (`LOD`) and encodes categories as numbers, as plurule does; both unpack .gz themselves.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import arff as liac

from plurule.data.readers.arff import read_arff

_OPEN: dict[str, Callable[..., object]] = {".gz": gzip.open, ".bz2": bz2.open}


def is_sparse(path: Path) -> bool:
    """Whether the first row of a file is written as `{…}`."""
    with _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:  # type: ignore[attr-defined]
        in_data = False
        for line in file:
            if in_data and line.strip():
                return bool(line.lstrip().startswith("{"))
            in_data = in_data or line.lower().startswith("@data")
    return False


def read_with_liac(path: Path, sparse: bool) -> None:
    """Read a file as a user of liac-arff would."""
    with _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as file:  # type: ignore[attr-defined]
        liac.load(file, encode_nominal=True, return_type=liac.LOD if sparse else liac.DENSE)


def cpu_seconds(function: Callable[[], object]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def main() -> None:
    """Time every file and print a table."""
    default = os.environ.get("PLURULE_DATA") or Path(__file__).parents[2] / "shared" / "data"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(default))
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    print(f"{'file':28}{'kind':8}{'kB':>7}{'plurule ms':>12}{'liac ms':>10}{'ratio':>8}")
    ratios: dict[str, list[float]] = {"dense": [], "sparse": []}
    for path in sorted(p for p in arguments.folder.rglob("*.arff*") if p.is_file()):
        sparse = is_sparse(path)
        kind = "sparse" if sparse else "dense"
        ours, theirs = [], []
        for _ in range(arguments.repeats):
            ours.append(cpu_seconds(lambda path=path: read_arff(path)))  # type: ignore[misc]
            theirs.append(cpu_seconds(lambda path=path, sparse=sparse: read_with_liac(path, sparse)))  # type: ignore[misc]
        mine, other = statistics.median(ours), statistics.median(theirs)
        ratios[kind].append(other / mine)
        size = path.stat().st_size >> 10
        print(f"{path.name:28}{kind:8}{size:>7}{1e3 * mine:>12.1f}{1e3 * other:>10.1f}{other / mine:>8.1f}")
    for kind, found in ratios.items():
        if found:
            print(f"{kind}: {min(found):.1f} to {max(found):.1f} times as fast, median {statistics.median(found):.1f}")


if __name__ == "__main__":
    main()
