"""Run the comparison or a study, and write the numbers (JSON), tables (Markdown) and a picture."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from plurule import DataError, PluruleError
from research.arguments import positive_number, whole_number
from research.compare import __doc__ as usage
from research.compare.data import KNOWN, SETS, parts_of
from research.compare.learners import default_learners, is_available
from research.compare.pages import html_page, markdown_page
from research.compare.report import COMPARISON, LEARNERS, comparison_page, draw, quality_of, short_page
from research.compare.study import draw_lifts, lifts, lifts_page, small, small_page, study, study_page
from research.compare.trials import Settings as Comparison
from research.compare.trials import run_in_process, run_trials
from research.machine import ROOT, describe
from research.pages import RESULTS, put_into

RELATED = "related"
"""Place of the tables in the page of the related learners."""
STUDIES: dict[str, tuple[Callable[[str], Any], Callable[[dict[str, Any]], str]]] = {
    "study": (study, study_page),
    "lifts": (lifts, lifts_page),
    "small": (small, small_page),
}
"""Functions that measure on one data set, and that write the page."""


def main(given: Sequence[str] | None = None) -> None:
    """Measure and write the results."""
    arguments = _arguments(given)
    if arguments.data:
        _compare(arguments)
        return
    arguments.output.mkdir(parents=True, exist_ok=True)
    kind = next((kind for kind in STUDIES if getattr(arguments, kind)), "quality")
    numbers = arguments.output / f"{kind}.json"
    results: dict[str, Any] = {"sets": {}}
    if numbers.exists() and (arguments.only or arguments.sets):
        results = json.loads(numbers.read_text())
    results["machine"] = describe()

    def keep() -> None:
        # Written after each result, so that an interruption loses little.
        numbers.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

    try:
        if kind in STUDIES:
            measure, page = STUDIES[kind]
            for name in arguments.sets or KNOWN:
                print(f"{name} …", file=sys.stderr, flush=True)
                results["sets"][name] = measure(name)
                keep()
            text, place = page(results), kind
            if kind == "lifts":
                draw_lifts(results, arguments.output / "lifts.png")
        else:
            for name in arguments.sets or SETS:
                train, test = parts_of(name)
                for learner in arguments.only or filter(is_available, LEARNERS):
                    print(f"{name}: {learner} …", file=sys.stderr, flush=True)
                    trial = run_in_process(LEARNERS[learner], train, test, arguments.limit)
                    results["sets"].setdefault(name, {})[learner] = quality_of(trial, arguments.limit)
                    keep()
            text, place = comparison_page(results), COMPARISON
            draw(results, arguments.output / "quality.png")
    except DataError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(f"Stopped. Finished results are in {numbers}; --sets runs the others.")
    (arguments.output / f"{kind}.md").write_text(text, encoding="utf-8")
    if arguments.pages:
        put_into(Path(__file__).with_name("README.md"), place, text)
        put_into(ROOT / "docs" / "choosing.md", place, text)
        if kind == "lifts":
            draw_lifts(results, ROOT / "docs" / "images" / "lifts.png")
        if place == COMPARISON:
            put_into(ROOT / "README.md", place, short_page(results))
    print(text)


def _compare(arguments: argparse.Namespace) -> None:
    """Compare learners on the named data sets, and write the pages."""
    learners = arguments.learners or default_learners()
    settings = Comparison(arguments.output / "compare", arguments.folds, arguments.limit, labels=arguments.labels)
    try:
        results = run_trials(arguments.data, learners, settings)
    except (PluruleError, ValueError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped; the same command goes on where it was.")
    chosen = list(arguments.data)
    chosen += ["--labels", arguments.labels] if arguments.labels else []
    chosen += ["--learners", *arguments.learners] if arguments.learners else []
    chosen += ["--folds", str(arguments.folds)] if arguments.folds else []
    command = f"python -m research.compare {shlex.join(chosen)}"
    text = markdown_page(results, command)
    (settings.folder / "compare.md").write_text(text, encoding="utf-8")
    (settings.folder / "compare.html").write_text(html_page(results, command), encoding="utf-8")
    if arguments.pages:
        put_into(ROOT / "research" / "related" / "README.md", RELATED, text)
    print(text)
    print(f"The page with plots: {settings.folder / 'compare.html'}", file=sys.stderr)


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m research.compare", description=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", metavar="DATA", help="data sets (names or paths) to compare learners on")
    parser.add_argument("--learners", nargs="+", metavar="NAME", help="these learners, by name or import path")
    parser.add_argument("--labels", help="label columns of data sets that do not name them: a,b or last:2")
    parser.add_argument("--folds", type=whole_number(2), help="folds of the training part, instead of the test part")
    parser.add_argument("--sets", nargs="+", choices=SETS, help="these sets; others stay as they were")
    parser.add_argument("--only", nargs="+", choices=LEARNERS, help="these learners; others stay as they were")
    parser.add_argument("--study", action="store_true", help="compare settings by cross-validation on training parts")
    parser.add_argument("--lifts", action="store_true", help="compare lifts of the default learner on training parts")
    parser.add_argument("--small", action="store_true", help="compare lists of few rows with the best constant")
    parser.add_argument("--limit", type=positive_number, default=300, help="CPU seconds that a fit may take (300)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder to write to (research/results)")
    parser.add_argument("--pages", action="store_true", help="put the tables into README.md and that of this folder")
    arguments = parser.parse_args(given)
    for option in ("sets", "only", "study", "lifts", "small"):
        if arguments.data and getattr(arguments, option):
            parser.error(f"--{option} is for the quality page; leave it out, or DATA")
    for option in ("learners", "labels", "folds"):
        if not arguments.data and getattr(arguments, option):
            parser.error(f"--{option} needs DATA to compare on")
    if arguments.output.exists() and not arguments.output.is_dir():
        parser.error(f"--output {arguments.output} is not a folder")
    return arguments


if __name__ == "__main__":
    main()
