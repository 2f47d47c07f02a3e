"""Run the study, and write the numbers, the tables and the figure."""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from plurule import PluruleError
from research import related
from research.arguments import whole_number
from research.dependencies import __doc__ as usage
from research.dependencies import data, real, real_page, statements, study
from research.dependencies.data import KINDS
from research.dependencies.study import LIFTS, SETTINGS, Row, Summary, learners, run, summarise, with_lifts
from research.machine import ROOT, describe, in_words
from research.pages import RESULTS, markdown_table, put_into, pyplot
from research.paper.journal import Journal, code_fingerprint

PAGE = ROOT / "docs" / "dependencies-found.md"
MIN_ROWS = 100
"""Fewer instances have too few of the rarest labels to learn from."""
LIFTED = SETTINGS[:2]
"""The settings in which all lifts are tried."""
FIGURE = "dependencies-by-lift.png"
ANSWER = "dependencies-found.png"
"""Figure of planted and real dependencies; it is drawn with `--real`, if the planted ones have been counted before."""
PRUNING = (("normal pruning", "relaxed pruning"), ("normal pruning, ±", "relaxed pruning, ±"))
"""Learners that differ in nothing but the lift."""


def main(given: Sequence[str] | None = None) -> None:
    """Run the study and write the results."""
    arguments = _arguments(given)
    if arguments.real:
        _run_real(arguments)
        return
    settings = [setting for setting in SETTINGS if not arguments.settings or setting.name in arguments.settings]
    seeds = range(2 if arguments.quick else arguments.seeds)
    folder = arguments.output
    code = code_fingerprint(related, data, statements, study)
    lifted = [setting for setting in settings if setting in LIFTED]
    try:
        journal = Journal(folder / "journal.jsonl", {"rows": arguments.rows, "code": code})
        by_lift = run(lifted, with_lifts(), seeds, arguments.rows, journal)
        rows = run(settings, learners(), seeds, arguments.rows, journal)
    except PluruleError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped; the same command goes on where it was.")
    numbers = {
        "machine": describe(),
        "learners": [asdict(row) for row in rows],
        "lifts": [asdict(row) for row in by_lift],
    }
    (folder / "dependencies.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    if by_lift:
        draw(by_lift, folder / FIGURE)
    text = page(rows, by_lift, len(seeds), arguments.rows)
    (folder / "dependencies.md").write_text(text, encoding="utf-8")
    if arguments.pages:
        put_into(PAGE, "dependencies", text)
        shutil.copy(folder / FIGURE, ROOT / "docs" / "images" / FIGURE)
    print(text)


def _run_real(arguments: argparse.Namespace) -> None:
    """Count on real data and its controls, and write the results."""
    folder = arguments.output
    n_controls = 1 if arguments.quick else arguments.controls
    sets = arguments.sets or (real.SETS[:2] if arguments.quick else real.SETS)
    code = code_fingerprint(related, real, statements)
    try:
        lifts = {f"{name} {objective}": lift for (name, objective), lift in real.read_lifts().items()}
        journal = Journal(folder / "journal-real.jsonl", {"code": code, "lifts": lifts})
        rows = real.run(sets, n_controls, arguments.data, journal)
    except PluruleError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped; the same command goes on where it was.")
    some = f" --sets {shlex.join(sets)}" if arguments.sets else ""
    text = real_page.page(rows, f"python -m research.dependencies --real{some} --controls {n_controls}")
    numbers = {"machine": describe(), "rows": rows}
    (folder / "real.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    (folder / "real.md").write_text(text, encoding="utf-8")
    planted = folder / "dependencies.json"
    if planted.exists():
        found = json.loads(planted.read_text(encoding="utf-8"))["learners"]
        real_page.draw(rows, found, folder / ANSWER)
    if arguments.pages:
        put_into(PAGE, "dependencies-real", text)
        if planted.exists():
            shutil.copy(folder / ANSWER, ROOT / "docs" / "images" / ANSWER)
    print(text)


def page(rows: Sequence[Row], by_lift: Sequence[Row], n_sets: int, n_rows: int) -> str:
    """Return a table per setting, and one of the lifts."""
    names = list(dict.fromkeys(row.setting for row in rows))
    some = "" if len(names) == len(SETTINGS) else f" --settings {shlex.join(names)}"
    parts = [
        f"`python -m research.dependencies{some} --seeds {n_sets} --rows {n_rows}`: {n_sets} data sets per setting, "
        f"{n_rows} instances to learn from and as many to score. {in_words(describe())}"
    ]
    for setting in dict.fromkeys(row.setting for row in rows):
        of_setting = [row for row in rows if row.setting == setting]
        parts += [f"### {setting.capitalize()}", _table(of_setting), *_signs(of_setting)]
    for setting in dict.fromkeys(row.setting for row in by_lift):
        parts += [f"### Lifts, {setting}", _table([row for row in by_lift if row.setting == setting])]
    return "\n\n".join(parts) + "\n"


def _table(rows: Sequence[Row]) -> str:
    head = ("", "found", *KINDS, "precision", "pairs stated", "micro F1")
    lines = []
    for learner in dict.fromkeys(row.learner for row in rows):
        summary = summarise([row for row in rows if row.learner == learner])
        kinds = [f"{summary.by_kind[kind]:.0%}" for kind in KINDS]
        precision = "–" if summary.precision is None else f"{summary.precision:.0%}"
        score = "–" if summary.micro_f1 is None else f"{summary.micro_f1:.3f}"
        lines.append((learner, f"{summary.share:.0%}", *kinds, precision, f"{summary.pairs:.1f}", score))
    return markdown_table(head, lines)


def _signs(rows: Sequence[Row]) -> list[str]:
    """Return on how many data sets relaxed pruning states more of the planted dependencies than normal pruning."""
    from scipy.stats import binomtest

    stated = {(row.learner, row.seed): row.stated for row in rows}
    lines = []
    for normal, relaxed in PRUNING:
        seeds = sorted({seed for learner, seed in stated if learner == normal and (relaxed, seed) in stated})
        differences = [stated[relaxed, seed] - stated[normal, seed] for seed in seeds]
        more = sum(difference > 0 for difference in differences)
        fewer = sum(difference < 0 for difference in differences)
        if differences:
            p_value = binomtest(more, more + fewer).pvalue if more + fewer else 1.0
            lines.append(
                f"{relaxed.capitalize()} states more than {normal} on {more} of {len(seeds)} data sets and fewer on "
                f"{fewer} (sign test: p = {p_value:.2g})."
            )
    return lines


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw share and precision by lift, one panel per setting."""
    plt = pyplot()
    names = list(dict.fromkeys(row.setting for row in rows))
    figure, axes = plt.subplots(1, len(names), figsize=(4.6 * len(names), 3.4), layout="constrained", squeeze=False)
    for axis, setting in zip(axes.flat, names, strict=True):
        for colour, sign in (("C0", "+"), ("C1", "±")):
            summaries = [_summary(rows, setting, f"{sign} {k}") for k in LIFTS]
            _line(axis, [summary.share for summary in summaries], f"found, {sign}", color=colour)
            precisions = [summary.precision for summary in summaries]
            _line(axis, precisions, f"precision, {sign}", color=colour, linestyle="--")
        axis.set(title=setting, xlabel="k of the lift 1 + k·ln x (0: normal pruning)", ylim=(0, 1.02))
    axes.flat[0].set_ylabel("share")
    axes.flat[-1].legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _summary(rows: Sequence[Row], setting: str, learner: str) -> Summary:
    return summarise([row for row in rows if row.setting == setting and row.learner == learner])


def _line(axis: Any, values: Sequence[float | None], label: str, **style: Any) -> None:
    known = [(k, value) for k, value in zip(LIFTS, values, strict=True) if value is not None]
    axis.plot([k for k, _ in known], [value for _, value in known], marker="o", markersize=3, label=label, **style)


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m research.dependencies", description=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=whole_number(1), default=20, help="data sets per setting (20)")
    parser.add_argument("--rows", type=whole_number(MIN_ROWS), default=600, help="instances to learn from (600)")
    names = [setting.name for setting in SETTINGS]
    listed = ", ".join(map(repr, names)).replace("%", "%%")  # argparse fills in what follows a %
    parser.add_argument("--settings", nargs="+", choices=names, metavar="NAME", help=f"some of {listed} (all)")
    parser.add_argument("--quick", action="store_true", help="two data sets per setting")
    parser.add_argument("--real", action="store_true", help="count on real data and on controls without dependencies")
    parser.add_argument("--sets", nargs="+", choices=real.SETS, help="these data sets (all of the paper)")
    parser.add_argument("--controls", type=whole_number(1), default=5, help="controls per data set (5)")
    parser.add_argument("--data", type=Path, help="folder of data sets, a folder each (PLURULE_DATA, the cache)")
    parser.add_argument("--output", type=Path, default=RESULTS / "dependencies", help="folder to write to")
    parser.add_argument("--pages", action="store_true", help="put tables and figure into the documentation")
    return parser.parse_args(given)


if __name__ == "__main__":
    main()
