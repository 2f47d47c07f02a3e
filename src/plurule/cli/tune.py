"""`plurule tune`: choose parameters by cross-validation, then train on everything."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import typer
from rich.text import Text

from plurule.cli import rendering, terminal
from plurule.cli.commands import refuse
from plurule.cli.loading import Split, load_training_data
from plurule.cli.watching import check_jobs, working
from plurule.files import to_csv, write_text

MEANINGLESS = {
    "objective": "the measure to choose by is --measure",
    "lifts": "it tries lifts of its own",
    "seed": "nothing is shuffled",
}
"""Options that are for the paper's protocol, and why."""


def tune(
    context: typer.Context,
    data: str,
    labels: str | None = None,
    output: Path | None = None,
    split: Split | None = None,
    drop: list[str] | None = None,
    decimal: str = ".",
    objective: str = "micro-f+",
    measure: str | None = None,
    lifts: str = "paper",
    folds: str = "5",
    seed: int = 0,
    show: int = 10,
    table: Path | None = None,
    journal: Path | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    wide: bool = False,
    max_rules: int | None = None,
) -> None:
    """Choose the lift of a data set by cross-validation, as in the paper, and train with it on everything.

    No lift is a candidate, too. With --wide, choose everything that matters together, by --measure (micro F1 if left
    out); folds that are given as a number keep the share of every label.
    """
    from plurule.cli.searches import LiftSearch, WideSearch, candidate_rows
    from plurule.selection.journal import Journal

    if wide:
        refuse(context, "with --wide", MEANINGLESS)
    if not wide and max_rules is not None:
        raise ValueError("--max-rules needs --wide: the paper's protocol does not look at lengths")
    n_jobs = check_jobs(jobs)
    asked = WideSearch(measure, folds) if wide else LiftSearch(objective, measure, lifts, folds, seed)
    dataset, _ = load_training_data(data, labels, split, drop=drop or (), decimal=decimal)
    search = asked.search(len(dataset.label_names))
    kept = "Nothing was written." if journal is None else f"What is finished is kept in {journal}."
    record = nullcontext() if journal is None else Journal(journal, {"data": dataset.name} | asked.arguments)
    with record as finished, working(dataset.name or "data", kept, n_jobs, dask) as (progress, executor):
        search.set_params(verbose=progress).fit(dataset, executor=executor, journal=finished)
    model = search.best_estimator_ if max_rules is None else search.select(max_rules=max_rules)
    out = terminal.console()
    out.print(f"{len(dataset)} instances, {len(dataset.label_names)} labels, {asked.heading(search)}")
    for shown in asked.tables(search, show):
        out.print(shown)
    out.print(Text(f"Chosen{asked.chosen(model)}", style="bold"))
    if model.rule_list_.length_choice is not None:
        out.print(rendering.length_text(model.rule_list_.length_choice))
    out.print(rendering.characteristics(model.rule_list_))
    if table is not None:
        write_text(table, to_csv(candidate_rows(search.cv_results_, asked.names)))
        out.print(f"All candidates: {table}", soft_wrap=True, markup=False)
    if output is not None:
        rendering.keep_model(out, model.rule_list_, output)
