"""Data sets of the paper, and a check of them that needs nothing but Python.

    python -m research.paper.sets [--data DIR] [--sets A,B] [--numeric] [--quick]

It takes the arguments of `python -m research.paper`, and says what is missing or changed before anything is installed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

MISTAKE = 2
"""Exit code where arguments or data cannot be used."""

PAPER_SETS = ("flags", "emotions", "birds", "medical", "sceneD", "yeastD", "CAL500D")
"""Data sets of the paper as its authors used them, the fastest first; those with a D are discretised."""

NUMERIC = {"sceneD": "scene", "yeastD": "yeast", "CAL500D": "CAL500"}
"""Numeric data set of each discretised one."""

QUICK_SETS = ("flags", "emotions")

CPU_SECONDS = {
    "flags": (3.0, 71.0),
    "emotions": (28.0, 10.0),
    "birds": (107.0, 52.0),
    "medical": (22.0, 8.0),
    "sceneD": (6.0, 2.0),
    "yeastD": (6.0, 2.0),
    "CAL500D": (34.0, 9.0),
    "scene": (1000.0, 400.0),
    "yeast": (1000.0, 450.0),
    "CAL500": (3500.0, 1500.0),
}
"""CPU seconds of cross-validation and of what follows it, by which the remaining time is estimated."""

QUICK_SECONDS = {"flags": (1.0, 4.0), "emotions": (5.0, 6.0)}
"""The same with `--quick`."""


def wanted_sets(quick: bool = False, numeric: bool = False) -> tuple[str, ...]:
    """Return the data sets of a run without `--sets`."""
    names = QUICK_SETS if quick else PAPER_SETS
    return (*names, *(NUMERIC[name] for name in names if name in NUMERIC)) if numeric else names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which data sets are used."""
    parser.add_argument("--data", type=Path, help="folder of data sets, a folder each (PLURULE_DATA, the cache)")
    parser.add_argument("--sets", help=f"names or paths of data sets, separated by commas ({','.join(PAPER_SETS)})")
    parser.add_argument("--numeric", action="store_true", help="also run the numeric scene, yeast and CAL500: 2 h more")
    parser.add_argument("--quick", action="store_true", help="two small sets and three lifts: a minute")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a sentence for each problem; return the exit code."""
    try:
        from research.files import problems
    except ImportError:
        sys.stderr.write("plurule needs Python 3.11 or newer; choose one with PYTHON=..., for example python3.12\n")
        return MISTAKE
    parser = argparse.ArgumentParser(prog="python -m research.paper.sets", description=main.__doc__)
    add_arguments(parser)
    known, _ = parser.parse_known_args(arguments)
    names = [name.strip() for name in (known.sets or "").split(",") if name.strip()]
    sentences = problems(names or wanted_sets(known.quick, known.numeric), known.data)
    for sentence in sentences:
        sys.stderr.write(f"make paper: {sentence}\n")
    return MISTAKE if sentences else 0


if __name__ == "__main__":
    sys.exit(main())
