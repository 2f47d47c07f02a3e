"""`plurule tune --wide`: choose β, the lift, signs, head mode and length together."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from plurule.cli import rendering, terminal
from plurule.titles import CHARACTERISTICS, MEASURES

if TYPE_CHECKING:
    import typer

    from plurule.cli.watching import ProgressWatch
    from plurule.data import Dataset
    from plurule.selection.pareto import Point

MEANINGLESS = {
    "objective": "the measure to choose by is --measure",
    "lifts": "it tries lifts of its own",
    "seed": "nothing is shuffled",
    "journal": "nothing is kept on the way",
    "dask": "it runs in threads",
}
"""Options of `plurule tune` that are for the paper's protocol, and why."""


def refuse_with_wide(context: typer.Context) -> None:
    """Raise an error if an option was given that would be ignored."""
    given = [name for name in MEANINGLESS if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    if given:
        reasons = "; ".join(f"--{name}: {MEANINGLESS[name]}" for name in given)
        raise ValueError(f"{', '.join(f'--{name}' for name in given)} cannot be given with --wide ({reasons})")


def make_cv(folds: str) -> Any:
    """What to cross-validate with: a number of folds, which keep the share of every label, or a splitter."""
    from plurule.selection.splitters import find_splitter

    splitter = find_splitter(folds)
    return int(folds) if folds.strip().isdecimal() else splitter


def tune_wide(
    dataset: Dataset,
    measure: str | None,
    cv: Any,
    max_rules: int | None,
    show: int,
    jobs: int,
    table: Path | None,
    output: Path | None,
) -> None:
    """Search, show the candidates and the front, and write the model that was chosen."""
    from plurule.classifier_cv import RuleListClassifierCV
    from plurule.cli.watching import ProgressWatch, messages, stoppable
    from plurule.cli.writing import save_model
    from plurule.files import to_csv, write_text

    console = messages()
    watch = ProgressWatch(console, quiet=True)
    search = RuleListClassifierCV(
        scoring=measure, cv=cv, n_jobs=jobs, progress=progress_on(watch, dataset.name or "data")
    )
    with stoppable(console, "Nothing was written."), watch.showing():
        search.fit(dataset.X, dataset.Y, dataset.weights, label_names=dataset.label_names)
    model = search.best_estimator_ if max_rules is None else search.select(max_rules=max_rules)
    chosen_by = measure or "micro_f1"
    out = terminal.console()
    candidates = len(search.cv_results_["params"])
    out.print(f"{len(dataset)} instances, {len(dataset.label_names)} labels, {candidates} candidates")
    if search.pareto_front_:
        out.print(candidate_table(search.cv_results_, chosen_by, show))
        out.print()
        out.print("The best lists up to a size:")
        out.print(front_table(search.pareto_front_, chosen_by, show))
        out.print()
    chosen = model.get_params(deep=False)
    names = ("heuristic", "lift", "predict_absence", "fix_head", "n_rules")
    out.print(Text("Chosen: " + ", ".join(f"{name}={chosen[name]}" for name in names), style="bold"))
    rule_list = model.rule_list_
    if rule_list.length_choice is not None:
        out.print(rendering.length_text(rule_list.length_choice))
    out.print(rendering.column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2))
    if table is not None:
        write_text(table, to_csv(candidate_rows(search.cv_results_)))
        out.print(f"All candidates: {table}", soft_wrap=True, markup=False)
    if output is not None:
        save_model(rule_list, output)
        out.print(f"Written to {output}; look at it with: plurule show {output}", soft_wrap=True, markup=False)


def progress_on(watch: ProgressWatch, name: str) -> Callable[[int, int], None]:
    """A function that shows how many candidates are finished."""
    last = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done == 0:
            watch.begin(name, total, 0, 1.0)
        else:
            watch.advance(name, now - last)
        last = now

    return progress


def best_first(results: dict[str, Any]) -> list[int]:
    """Positions of the candidates."""
    return sorted(range(len(results["params"])), key=lambda i: int(results["rank_test_score"][i]))


def candidate_rows(results: dict[str, Any]) -> list[dict[str, Any]]:
    """All candidates, best first: what was tried, the scores of its list as cut, and how long that is."""
    parameters = list(dict.fromkeys(name for candidate in results["params"] for name in candidate))
    scores = [name for name in results if name.startswith(("mean_test_", "std_test_", "split"))]
    return [
        {"rank": int(results["rank_test_score"][i])}
        | {name: _text(results["params"][i].get(name)) for name in parameters}
        | {name: float(results[name][i]) for name in scores}
        | {"rules": int(results["n_rules"][i]), "conditions": float(results["mean_conditions"][i])}
        for i in best_first(results)
    ]


def candidate_table(results: dict[str, Any], measure: str, count: int) -> Table:
    """The best candidates, each at the length it is cut at."""
    from plurule.selection.lift_search import TIE_BREAKERS

    names = [name for name in dict.fromkeys((measure, *TIE_BREAKERS)) if f"mean_test_{name}" in results]
    table = rendering.candidate_columns("with", names)
    for rank, i in enumerate(best_first(results)[:count], start=1):
        scores = [f"{results[f'mean_test_{name}'][i]:.4f} ± {results[f'std_test_{name}'][i]:.4f}" for name in names]
        sizes = [str(results["n_rules"][i]), f"{results['mean_conditions'][i]:.1f}"]
        table.add_row(str(rank), parameter_text(results["params"][i]), *scores, *sizes, style="bold" * (rank == 1))
    return table


def front_table(front: list[Point], measure: str, count: int) -> Table:
    """Points of the Pareto front, the best scores of short lists, evenly chosen from short to long."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("rules", justify="right")
    table.add_column("conditions", justify="right")
    table.add_column(MEASURES.get(measure, measure), justify="right")
    table.add_column("with")
    steps = [point for i, point in enumerate(front) if not i or point.score > max(p.score for p in front[:i])]
    places = sorted({round(i * (len(steps) - 1) / max(count - 1, 1)) for i in range(count)}) if steps else []
    for point in (steps[place] for place in places):
        score = f"{point.score:.4f} ± {point.standard_error:.4f}"
        table.add_row(str(point.rules), f"{point.conditions:.1f}", score, parameter_text(point.params))
    return table


def parameter_text(params: dict[str, Any]) -> str:
    """What a candidate is tried with.

    >>> parameter_text({"heuristic__beta": 0.6, "fix_head": False})
    'beta=0.6, fix_head=False'
    """
    return ", ".join(f"{name.removeprefix('heuristic__')}={value}" for name, value in params.items())


def _text(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
