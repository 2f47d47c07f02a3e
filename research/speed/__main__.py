"""Runs the measures, and writes the numbers (JSON), a table (Markdown) and a picture of the growth."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from plurule import DataError
from research.machine import describe
from research.pages import RESULTS, put_into
from research.speed import __doc__ as usage
from research.speed.fits import Settings
from research.speed.measures import MEASURES
from research.speed.report import PLACE, draw_growth, table


def main() -> None:
    """Measure and write down."""
    arguments = _arguments()
    arguments.output.mkdir(parents=True, exist_ok=True)
    earlier: dict[str, Any] = {}
    numbers = arguments.output / "engine.json"
    if arguments.only and numbers.exists():
        earlier = json.loads(numbers.read_text())["measures"]
    results: dict[str, Any] = {
        "machine": describe(),
        "quick": arguments.quick,
        "repeats": arguments.repeats,
        "peer_limit": arguments.peer_limit,
    }
    measured: dict[str, Any] = dict(earlier)
    with tempfile.TemporaryDirectory() as scratch:
        settings = Settings(
            arguments.quick,
            arguments.repeats,
            arguments.peer_python,
            arguments.peer_limit,
            Path(scratch),
        )
        for name in arguments.only or MEASURES:
            print(f"{name} …", file=sys.stderr, flush=True)
            try:
                measured[name] = MEASURES[name](settings)
            except DataError as error:
                measured[name] = {"skipped": str(error)}
            # Written after each measure, so that what is there is not lost if a later one is interrupted.
            results["measures"] = {known: measured[known] for known in MEASURES if known in measured}
            numbers.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    text = table(results)
    (arguments.output / "engine.md").write_text(text, encoding="utf-8")
    if draw_growth(results, arguments.output / "engine-growth.png"):
        print(f"growth: {arguments.output / 'engine-growth.png'}", file=sys.stderr)
    if arguments.pages:
        put_into(Path(__file__).with_name("README.md"), PLACE, text)
    print(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m research.speed", description=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes and few sets: does it run at all?")
    parser.add_argument("--only", nargs="+", choices=list(MEASURES), help="these measures; others stay as they were")
    parser.add_argument("--repeats", type=int, help="fits of each kind (3; 1 with --quick)")
    parser.add_argument("--peer-python", type=Path, help="the Python of an environment with mlrl-seco")
    parser.add_argument(
        "--peer-limit", type=float, help="CPU seconds a fit of the peer may take (600; 60 with --quick)"
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder to write to (research/results)")
    parser.add_argument("--pages", action="store_true", help="put the table into README.md of this folder")
    arguments = parser.parse_args()
    arguments.repeats = arguments.repeats or (1 if arguments.quick else 3)
    arguments.peer_limit = arguments.peer_limit or (60 if arguments.quick else 600)
    return arguments


if __name__ == "__main__":
    main()
