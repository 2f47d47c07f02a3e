"""`plurule tune --wide`: choose β, the lift, signs, head mode and length together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from plurule.cli import rendering

if TYPE_CHECKING:
    from plurule.io import Dataset
    from plurule.pareto import Point


def tune_wide(
    dataset: Dataset,
    measure: str | None,
    folds: str,
    max_rules: int | None,
    show: int,
    jobs: int | None,
    output: Path | None,
) -> None:
    """Search, show the front, and write the model that was chosen."""
    from plurule.classifier_cv import RuleListClassifierCV
    from plurule.cli.loading import save_model
    from plurule.experiments.folds import find_splitter

    cv: Any = int(folds) if folds.isdigit() else find_splitter(folds, 0)
    search = RuleListClassifierCV(scoring=measure, cv=cv, n_jobs=-1 if jobs is None else jobs)
    search.fit(dataset.X, dataset.Y, dataset.weights, label_names=dataset.label_names)
    model = search.best_estimator_ if max_rules is None else search.select(max_rules=max_rules)
    out = rendering.console()
    candidates = len(search.cv_results_["params"])
    out.print(f"{len(dataset)} instances, {len(dataset.label_names)} labels, {candidates} candidates")
    out.print(front_table(search.pareto_front_, measure or "micro_f1", show))
    out.print()
    chosen = model.get_params(deep=False)
    names = ("heuristic", "lift", "predict_absence", "fix_head", "n_rules")
    out.print(Text("Chosen: " + ", ".join(f"{name}={chosen[name]}" for name in names), style="bold"))
    rule_list = model.rule_list_
    if rule_list.length_choice is not None:
        out.print(rendering.length_text(rule_list.length_choice))
    out.print(rendering.column_table(rendering.CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2))
    if output is not None:
        save_model(rule_list, output)
        out.print(f"Written to {output}; look at it with: plurule show {output}", soft_wrap=True, markup=False)


def front_table(front: list[Point], measure: str, count: int) -> Table:
    """Points of the Pareto front, the best scores of short lists, evenly chosen from short to long."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("rules", justify="right")
    table.add_column("conditions", justify="right")
    table.add_column(rendering.MEASURES.get(measure, measure), justify="right")
    table.add_column("with")
    steps = [point for i, point in enumerate(front) if not i or point.score > max(p.score for p in front[:i])]
    places = sorted({round(i * (len(steps) - 1) / max(count - 1, 1)) for i in range(count)}) if steps else []
    for point in (steps[place] for place in places):
        chosen = ", ".join(f"{name.removeprefix('heuristic__')}={value}" for name, value in point.params.items())
        score = f"{point.score:.4f} ± {point.standard_error:.4f}"
        table.add_row(str(point.rules), f"{point.conditions:.1f}", score, chosen)
    return table
