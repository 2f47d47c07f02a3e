"""`plurule reproduce`: the paper's experiments, or the same with other data, objectives and lifts."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from plurule.cli import terminal
from plurule.cli.options import QUICK_REPEATS, REPEATS
from plurule.cli.watching import ProgressWatch, check_jobs, stoppable, workers

if TYPE_CHECKING:
    from plurule.paper.protocol import Plan

QUICK_SETS = ("flags", "emotions")
QUICK_LIFTS = ("peak 2: 1.08", "peak 3: 1.04", "kln at 3: 1.08")
QUICK_STEPS = 6


def reproduce(
    data: Path | None = None,
    sets: str | None = None,
    labels: str | None = None,
    objectives: str | None = None,
    lifts: str = "paper",
    folds: str = "mulan",
    out: Path = Path("reproduced"),
    jobs: int | None = None,
    dask: str | None = None,
    repeats: int | None = None,
    seed: int = 0,
    reference: Path | None = None,
    quick: bool = False,
) -> None:
    """Run the experiments of the paper and write a report with every table and figure beside the published one.

    Results are kept as they come: a run that was stopped, or killed, goes on where it was if it is started again with
    the same arguments.
    """
    from plurule.paper import check_libraries
    from plurule.paper.experiment import Experiment
    from plurule.paper.protocol import Reference, read_reference

    check_libraries()
    console, n_jobs = terminal.console(stderr=True), check_jobs(jobs)
    plan, places, missing = make_plan(data, sets, objectives, lifts, folds, repeats, seed, quick, labels)
    models = Reference() if reference is None else read_reference(reference, plan.sets, plan.objectives)
    plan = replace(plan, reference=models.fingerprint)
    watch = ProgressWatch(console)

    with stoppable(console, f"What is finished is kept in {out}; the same command goes on from there."):
        with workers(n_jobs, dask) as executor, watch.shown:
            results = Experiment(plan, out, places, executor, watch, missing, models).run()
        console.print("Drawing and writing the report …", style="dim")
        # Takes a while, which those who only wait for numbers need not.
        from plurule.paper.report import PAGE, write_report

        statements = write_report(results, out) if results.sets else []
    page = terminal.console()
    if statements:
        held = sum(s.holds is True for s in statements)
        judged = sum(s.holds is not None for s in statements)
        page.print(f"{held} of {judged} published statements hold here.")
        page.print(f"Report: {out / PAGE}; tables: {out / 'tables'}; figures: {out / 'figures'}", soft_wrap=True)
    for name in missing:
        console.print(Text(f"{name}: not found, left out", style="yellow"), soft_wrap=True)
    for name, error in results.failures.items():
        console.print(Text(f"{name}: failed: {error}", style="red"), soft_wrap=True)
    if results.failures:
        sys.exit(1)


def make_plan(
    data: Path | None,
    sets: str | None,
    objectives: str | None,
    lifts: str,
    folds: str,
    repeats: int | None,
    seed: int,
    quick: bool,
    labels: str | None = None,
) -> tuple[Plan, dict[str, str], list[str]]:
    """The plan that the options ask for, all names checked; where its sets are; and those that are not there."""
    from plurule.errors import DataError
    from plurule.lifts import parse_lifts
    from plurule.paper.materials import EMBEDDED, places_of
    from plurule.paper.protocol import DISCRETISED, PAPER_SETS, Plan
    from plurule.selection.objectives import PAPER_OBJECTIVES, find_objective
    from plurule.selection.splitters import find_splitter

    wanted = QUICK_SETS if quick else (*PAPER_SETS, *DISCRETISED.values())
    missing: list[str] = []
    if sets is not None:
        places = places_of(_names(sets, "--sets", (EMBEDDED, *PAPER_SETS)), data)
    else:
        places = places_of(wanted, data, lacking=True)
        missing = [name for name in wanted if name not in places]
        if not places and quick:
            places = {EMBEDDED: EMBEDDED}
        if not places:
            reason = "PLURULE_DATA is not set" if data is None else f"{data} has none of them"
            raise DataError(f"none of {', '.join(wanted)} is there ({reason}); give --data, or see plurule data --help")
    find_splitter(folds, seed)
    asked = PAPER_OBJECTIVES if objectives is None else _names(objectives, "--objectives", PAPER_OBJECTIVES)
    plan = Plan(
        sets=tuple(places),
        objectives=tuple(dict.fromkeys(find_objective(name).name for name in asked)),
        lifts=QUICK_LIFTS if quick and lifts == "paper" else parse_lifts(lifts),
        folds=folds,
        seed=seed,
        repeats=repeats or (QUICK_REPEATS if quick else REPEATS),
        sensitivity_steps=QUICK_STEPS if quick else Plan.sensitivity_steps,
        labels=labels,
    )
    return plan, places, missing


def _names(text: str, option: str, known: Sequence[str]) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ValueError(f"{option} names nothing; leave it out, or give some of {', '.join(known)}, …")
    return names
