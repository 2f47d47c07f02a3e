"""Run the experiments of the paper and write a report with every table and figure beside the published one.

    python -m research.paper --data DIR --out results
    python -m research.paper --quick

Finished results are kept in the folder of the report: a run that was stopped goes on if it is started again with the
same arguments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from plurule import PluruleError
from research.arguments import number_of_processes, whole_number
from research.data import find_or_build
from research.files import EMBEDDED, DataSet, problems
from research.paper.beside import read_beside
from research.paper.experiment import Experiment
from research.paper.folds import MULAN, check_folds
from research.paper.forecast import Display
from research.paper.lifts import parse_lifts
from research.paper.objectives import PAPER_OBJECTIVES, find_objective
from research.paper.protocol import Plan, Reference, read_reference
from research.paper.report import DRAWS, PAGE, write_report
from research.paper.sets import MISTAKE, add_arguments, wanted_sets

QUICK_LIFTS = ("peak 2: 1.08", "peak 3: 1.04", "kln at 3: 1.08")
QUICK_STEPS = 6
QUICK_DRAWS = 10
STOPPED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments; return the exit code."""
    given = parse_arguments(arguments)
    notes = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
    try:
        data = find_data(given.sets, given.data, given.quick, given.numeric)
        plan = make_plan(given, tuple(data))
        reference = Reference()
        if given.reference is not None:
            reference = read_reference(given.reference, plan.sets, plan.objectives)
        plan = replace(plan, reference=reference.fingerprint)
        beside = None if given.beside is None else read_beside(given.beside)
        with Display(notes, plan.sets, given.quick) as show:
            results = Experiment(plan, given.out, data, given.jobs, show, reference).run()
        notes.print("Writing the report …", style="dim")
        n_draws = QUICK_DRAWS if given.quick else DRAWS
        statements = write_report(results, given.out, beside, n_draws) if results.sets else []
    except PluruleError as error:
        notes.print(str(error), style="red")
        return MISTAKE
    except KeyboardInterrupt:
        notes.print(f"Stopped. Finished results are kept in {given.out}; the same command goes on from there.")
        return STOPPED
    if statements:
        held = sum(statement.holds is True for statement in statements)
        judged = sum(statement.holds is not None for statement in statements)
        print(f"{held} of {judged} published statements hold here.")
        print(f"Report: {given.out / PAGE}; tables: {given.out / 'tables'}; figures: {given.out / 'figures'}")
    for name, error in results.failures.items():
        notes.print(f"{name} failed: {error}", style="red")
    return 1 if results.failures else 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m research.paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(parser)
    parser.add_argument("--labels", help="label columns of data sets that do not name them: a,b or last:2")
    parser.add_argument("--objectives", help=f"objectives, separated by commas ({','.join(PAPER_OBJECTIVES)})")
    parser.add_argument("--lifts", default="paper", help="lifts to choose from, separated by commas (the paper's 28)")
    parser.add_argument("--folds", default=MULAN, help="number of folds, or mulan for those of the paper (mulan)")
    parser.add_argument("--out", type=Path, default=Path("reproduced"), help="folder of the report (reproduced)")
    parser.add_argument("--jobs", type=number_of_processes, default=-1, help="number of processes (one per core)")
    parser.add_argument("--repeats", type=whole_number(1), help="repetitions of timings (5; 2 with --quick)")
    parser.add_argument(
        "--seed", type=whole_number(0), default=0, help="shuffles folds and splits sets without a test part (0)"
    )
    parser.add_argument("--reference", type=Path, help="CSV table of models of the paper's own program")
    parser.add_argument(
        "--beside", type=Path, help="folder of tables of an earlier run on numeric data, shown beside this one"
    )
    return parser.parse_args(arguments)


def find_data(sets: str | None, folder: Path | None, quick: bool, numeric: bool = False) -> dict[str, DataSet]:
    """Find the data sets to run on, by name; discretised ones that are not there are built."""
    if folder is not None and not folder.is_dir():
        raise PluruleError(f"{folder} is not a folder")
    if sets is not None:
        listed = [find_or_build(source, folder) for source in _names(sets, "--sets")]
        data = {data_set.name: data_set for data_set in listed}
        if len(data) < len(listed):
            raise PluruleError("two data sets have the same name; rename one of them")
        return data
    wanted = wanted_sets(quick, numeric)
    sentences = problems(wanted, folder)
    if sentences:
        others = f"Other data: --sets, for example --sets {EMBEDDED}, which comes with plurule."
        raise PluruleError(" ".join([*sentences, others]))
    return {name: find_or_build(name, folder) for name in wanted}


def make_plan(given: argparse.Namespace, sets: tuple[str, ...]) -> Plan:
    """Make the plan that the arguments ask for."""
    objectives = PAPER_OBJECTIVES if given.objectives is None else _names(given.objectives, "--objectives")
    is_quick = given.quick and given.lifts == "paper"
    return Plan(
        sets=sets,
        objectives=tuple(dict.fromkeys(find_objective(name).name for name in objectives)),
        lifts=QUICK_LIFTS if is_quick else parse_lifts(given.lifts),
        folds=check_folds(given.folds),
        seed=given.seed,
        repeats=given.repeats or (2 if given.quick else 5),
        sensitivity_steps=QUICK_STEPS if given.quick else Plan.sensitivity_steps,
        exhaustive=not given.quick,
        labels=given.labels,
    )


def _names(text: str, option: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise PluruleError(f"{option} is empty; leave it out, or give names separated by commas")
    return names


if __name__ == "__main__":
    sys.exit(main())
