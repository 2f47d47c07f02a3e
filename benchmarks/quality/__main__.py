"""Runs the comparison or the study, and writes the numbers (JSON), tables (Markdown) and pictures."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.engine.data import data_folder
from benchmarks.engine.machine import describe
from benchmarks.engine.running import ROOT
from benchmarks.pages import put_into
from benchmarks.quality import __doc__ as usage
from benchmarks.quality.data import KNOWN, SETS
from benchmarks.quality.nested import AIMING, BAGGING, nested_page, tried
from benchmarks.quality.report import (
    COMPARISON,
    STUDY,
    comparison_page,
    draw,
    draw_study,
    short_page,
    study_page,
)
from benchmarks.quality.running import LEARNERS, Settings
from benchmarks.quality.small import small, small_page
from benchmarks.quality.study import study

from plurule.files import write_text

STUDIES: dict[str, tuple[Callable[[str, Path], Any], Callable[[dict[str, Any]], str]]] = {
    STUDY: (study, study_page),
    "aiming": (partial(tried, AIMING), nested_page),
    "bagging": (partial(tried, BAGGING), nested_page),
    "small": (small, small_page),
}
"""What is compared by cross-validation on training parts, and how it is written down."""


def main() -> None:
    """Measure and write down."""
    arguments = _arguments()
    folder = data_folder()
    if folder is None:
        sys.exit("no folder of Mulan data sets: set PLURULE_DATA or put one at ../shared/data")
    arguments.output.mkdir(parents=True, exist_ok=True)
    kind = next((kind for kind in STUDIES if getattr(arguments, kind)), "quality")
    numbers = arguments.output / f"{kind}.json"
    results: dict[str, Any] = {"sets": {}}
    if numbers.exists() and (arguments.only or arguments.sets):
        results = json.loads(numbers.read_text())
    results["machine"] = describe()

    def keep() -> None:
        # Written after each result, so that what is there is not lost if a later one is interrupted.
        write_text(numbers, json.dumps(results, indent=1) + "\n")

    if kind in STUDIES:
        measure, page = STUDIES[kind]
        for name in arguments.sets or KNOWN:
            print(f"{name} …", file=sys.stderr, flush=True)
            results["sets"][name] = measure(name, folder)
            keep()
        text, place = page(results), kind
        if arguments.study:
            draw_study(results, arguments.output / "study.png")
    else:
        with tempfile.TemporaryDirectory() as scratch:
            settings = Settings(folder, Path(scratch), arguments.peer_python, arguments.limit)
            for name in arguments.sets or SETS:
                for learner in arguments.only or LEARNERS:
                    print(f"{name}: {learner} …", file=sys.stderr, flush=True)
                    results["sets"].setdefault(name, {})[learner] = settings.run(name, learner)
                    keep()
        text, place = comparison_page(results), COMPARISON
        draw(results, arguments.output / "quality.png")
    write_text(arguments.output / f"{kind}.md", text)
    if arguments.pages:
        put_into(Path(__file__).with_name("README.md"), place, text)
        put_into(ROOT / "docs" / "short-lists.md", place, text)
        if place == COMPARISON:
            put_into(ROOT / "README.md", place, short_page(results))
    print(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality", description=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, help="these sets; others stay as they were")
    parser.add_argument("--only", nargs="+", choices=LEARNERS, help="these learners; others stay as they were")
    parser.add_argument("--study", action="store_true", help="compare settings by cross-validation on training parts")
    parser.add_argument("--aiming", action="store_true", help="compare how lists are aimed, in the same manner")
    parser.add_argument("--bagging", action="store_true", help="compare settings of BaggedRuleLists, likewise")
    parser.add_argument("--small", action="store_true", help="compare lists of few rows with the constant")
    parser.add_argument("--peer-python", type=Path, help="the Python of an environment with mlrl-seco and mlrl-boomer")
    parser.add_argument("--limit", type=float, default=300, help="CPU seconds a fit of mlrl may take (300)")
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "results", help="folder to write to")
    parser.add_argument("--pages", action="store_true", help="put the tables into benchmarks/quality/README.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
