"""`plurule tune`: choose parameters by cross-validation, then train on everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from plurule.cli import rendering, terminal
from plurule.cli.loading import DataArgument, LabelsOption, TrainingSplitOption
from plurule.titles import CHARACTERISTICS

if TYPE_CHECKING:
    from plurule.paper.choosing import Candidate

ObjectiveOption = Annotated[
    str, typer.Option(help="What to train for: micro-f+, micro-f+-, macro-f+, macro-f+-, ha+, ha+-, …")
]
JobsOption = Annotated[int | None, typer.Option(help="Processes; all cores if left out.")]


def tune(
    context: typer.Context,
    data: DataArgument,
    labels: LabelsOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Model file to write (JSON), trained with the chosen lift.")
    ] = None,
    split: TrainingSplitOption = None,
    objective: ObjectiveOption = "micro-f+",
    measure: Annotated[
        str | None,
        typer.Option(help="Measure to choose by, such as subset_accuracy; that of the objective if left out."),
    ] = None,
    lifts: Annotated[
        str, typer.Option(help="Lifts to choose from, separated by commas: 'kln at 3: 1.08, peak 3: 1.04', or paper.")
    ] = "paper",
    folds: Annotated[
        str, typer.Option(help="A number, mulan (as in the paper), or a splitter such as ShuffleSplit(n_splits=10).")
    ] = "5",
    seed: Annotated[int, typer.Option(help="Shuffles folds that are given as a number.")] = 0,
    show: Annotated[int, typer.Option(help="How many candidates to show.", min=1)] = 10,
    table: Annotated[Path | None, typer.Option(help="Write all candidates to this CSV file.")] = None,
    journal: Annotated[
        Path | None, typer.Option(help="File that keeps finished results; a run that was stopped goes on from it.")
    ] = None,
    jobs: JobsOption = None,
    dask: Annotated[str | None, typer.Option(help="Run on a Dask cluster: address of its scheduler.")] = None,
    wide: Annotated[
        bool,
        typer.Option("--wide", help="Choose β, the lift, signs, head mode and length together; not as in the paper."),
    ] = False,
    max_rules: Annotated[
        int | None, typer.Option(help="With --wide, take the best list of at most so many rules.")
    ] = None,
) -> None:
    """Choose the lift of a data set by cross-validation, as in the paper, and train with it on everything.

    With --wide, choose everything that matters together, by --measure (micro F1 if left out); folds that are given as
    a number keep the share of every label.
    """
    from plurule.cli.loading import load_training_data
    from plurule.cli.tune_wide import make_cv, refuse_with_wide, tune_wide
    from plurule.cli.watching import ProgressWatch, check_jobs, messages, stoppable
    from plurule.cli.writing import check_writable, save_model
    from plurule.files import write_text
    from plurule.lifts import parse_lifts
    from plurule.metrics import get_metric
    from plurule.model import file as model_file
    from plurule.paper.tuning import Tuning
    from plurule.selection.objectives import find_objective

    check_writable(output, table)
    if wide:
        refuse_with_wide(context)
        cv, workers = make_cv(folds), check_jobs(jobs)
        dataset, _ = load_training_data(data, labels, split)
        tune_wide(dataset, measure, cv, max_rules, show, workers, table, output)
        return
    if max_rules is not None:
        raise ValueError("--max-rules needs --wide: the paper's protocol does not look at lengths")
    goal = find_objective(objective)
    chosen_by = measure or goal.measure
    get_metric(chosen_by)
    candidates, workers = parse_lifts(lifts), check_jobs(jobs)
    dataset, _ = load_training_data(data, labels, split)
    tuning = Tuning(dataset, goal.name, candidates, chosen_by, folds, seed)
    console = messages()
    watch = ProgressWatch(console)
    kept = "Nothing was written." if journal is None else f"What is finished is kept in {journal}."
    with stoppable(console, kept), watch.showing():
        ranking, baseline, model = tuning.run(watch, workers, dask, journal)
    out = terminal.console()
    out.print(f"{len(dataset)} instances, {len(dataset.label_names)} labels, {tuning.n_folds} folds, {goal.title}")
    out.print(candidate_table(ranking, baseline, chosen_by, show))
    out.print()
    out.print(Text(f"Chosen lift: {ranking[0].lift}", style="bold"))
    rule_list = model_file.loads(model)
    out.print(rendering.column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2))
    if table is not None:
        write_text(table, tuning.to_csv(ranking, baseline))
        out.print(f"All candidates: {table}", soft_wrap=True, markup=False)
    if output is not None:
        save_model(rule_list, output)
        out.print(f"Written to {output}; look at it with: plurule show {output}", soft_wrap=True, markup=False)


def candidate_table(ranking: list[Candidate], baseline: Candidate, measure: str, count: int) -> Table:
    """The best candidates, and no lift for comparison."""
    from plurule.selection.lift_search import TIE_BREAKERS

    names = dict.fromkeys((measure, *TIE_BREAKERS))
    table = rendering.candidate_columns("lift", names)
    shown = [(str(rank), one) for rank, one in enumerate(ranking[:count], start=1)]
    for rank, one in [*shown, ("", baseline)]:
        scores = [f"{one.mean(name):.4f} ± {one.deviation(name):.4f}" for name in names]
        sizes = [f"{one.mean_size(name):.1f}" for name in ("rules", "conditions")]
        style = "bold" if rank == "1" else "" if rank else "dim"
        table.add_row(rank, one.lift if rank else "no lift", *scores, *sizes, style=style)
    return table
