"""`plurule evaluate`: score a model on labelled data, or a learner by train/test or cross-validation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from plurule.cli import rendering, terminal
from plurule.cli.loading import LabelsOption, Split
from plurule.cli.tune import JobsOption, ObjectiveOption
from plurule.titles import CHARACTERISTICS, MEASURES

if TYPE_CHECKING:
    from plurule.data import Dataset
    from plurule.selection.folds import Folds
    from plurule.selection.objectives import Objective
    from plurule.selection.trials import Evaluation

Rows = Sequence[dict[str, float]]

DEFAULT_FOLDS = "10"
TUNE = "tune"
"""In place of a lift: one chosen anew on each training part."""


TRAINING = ("folds", "learner", "objective", "lift", "seed", "jobs")
"""Options of training, which have no meaning where a model is given."""


SourcesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="[MODEL] DATA",
        help="A model file, as written by plurule fit, and a data file, the base name of a -train/-test pair, or "
        "world-flags; the data alone to train and score.",
    ),
]
SplitOption = Annotated[
    Split | None, typer.Option(help="Which part of a -train/-test pair; all if left out.", show_default=False)
]
FoldsOption = Annotated[
    str | None,
    typer.Option(
        help="Cross-validation: a number, mulan or a splitter such as ShuffleSplit(n_splits=10). "
        f"Without it, a -train/-test pair is used as one, and anything else is cut into {DEFAULT_FOLDS} folds."
    ),
]
LearnerOption = Annotated[
    Literal["published", "default"],
    typer.Option(help="published: the paper's, with --objective and --lift; default: what plurule fit learns."),
]
LiftOption = Annotated[
    str, typer.Option(help="'kln at 3: 1.08', 'peak 3: 1.04', none, or tune: chosen anew on each training part.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the scores to this file: JSON, or CSV if it ends in .csv."),
]


def evaluate(
    context: typer.Context,
    sources: SourcesArgument,
    labels: LabelsOption = None,
    split: SplitOption = None,
    folds: FoldsOption = None,
    learner: LearnerOption = "published",
    objective: ObjectiveOption = "micro-f+",
    lift: LiftOption = "kln at 3: 1.08",
    seed: Annotated[int, typer.Option(help="Shuffles the folds.")] = 0,
    jobs: JobsOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the scores as CSV.")] = False,
    output: OutputOption = None,
) -> None:
    """Score a model on data that has its labels; or, without a model, train and score.

    plurule evaluate model.json flags --split test

    plurule evaluate flags --learner default

    plurule evaluate flags --objective ha+- --lift tune

    plurule evaluate house.csv --labels last:3 --folds 10
    """
    from plurule.cli.writing import check_writable

    check_writable(output)
    if as_json and as_csv:
        raise ValueError("--json and --csv ask for two forms at once; choose one")
    if len(sources) > 2:
        raise ValueError(f"{len(sources)} files are given, expected a model and data, or data alone")
    if len(sources) == 2:
        refuse(context, ("labels",), "with a model", "the labels are those of the model")
        refuse(context, TRAINING, "with a model", "it is for training")
        rows, words = score_model(Path(sources[0]), sources[1], split or "all")
        names: list[Any] = [None]
    else:
        chosen = None if learner == "default" else (objective, lift)
        if chosen is None:
            refuse(context, ("objective", "lift"), "with --learner default", "it is for the published one")
        rows, words, names = train_and_score(sources[0], labels, split, folds, chosen, seed, jobs)
    if output is not None:
        from plurule.files import write_text

        write_text(output, csv_text(rows, names) if output.suffix.lower() == ".csv" else json_text(rows))
    if as_json:
        print(json_text(rows), end="")
    elif as_csv:
        print(csv_text(rows, names), end="")
    else:
        out = terminal.console()
        out.print(words, markup=False)
        out.print(score_table(rows))


def refuse(context: typer.Context, options: Sequence[str], beside: str, why: str) -> None:
    """Raise an error if one of the options is given."""
    for name in options:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise ValueError(f"--{name} has no meaning {beside}: {why}; leave out one of the two")


def score_model(model: Path, data: str, split: Split) -> tuple[Rows, str]:
    """All measures of a model on some data."""
    from plurule.classifier import RuleListClassifier
    from plurule.cli.loading import load_data, load_model
    from plurule.metrics import scores

    rule_list = load_model(model)
    dataset = load_data(data, list(rule_list.labels), split)
    predicted = RuleListClassifier.from_rule_list(rule_list).predict(dataset.X)
    measured = scores(dataset.Y, predicted, sample_weight=dataset.weights)
    return [measured], f"{len(dataset)} instances, {len(rule_list.labels)} labels, {len(rule_list)} rules"


def train_and_score(
    source: str,
    labels: str | None,
    split: Split | None,
    folds: str | None,
    published: tuple[str, str] | None,
    seed: int,
    jobs: int | None,
) -> tuple[Rows, str, list[Any]]:
    """All measures of a learner, per fold or on the test part; what was done, in words; and names of the rows.

    The learner is the published one with the objective and the lift that are given, or else the default one.
    """
    import numpy as np

    from plurule.cli.loading import load_data, training_part
    from plurule.cli.watching import check_jobs
    from plurule.errors import DataError
    from plurule.selection.folds import Folds, Part, make_parts, problem_of
    from plurule.selection.objectives import find_objective
    from plurule.selection.splitters import find_splitter

    n_jobs = check_jobs(jobs)
    goal, lift = (None, "") if published is None else (find_objective(published[0]), one_lift(published[1]))
    if source.lower().endswith(".json"):
        raise DataError(f"{source}: is a model; give the data to score it on, too")
    if folds is None and split is None and training_part(source) == "train":
        data, test = load_data(source, labels, "train"), load_data(source, labels, "test")
        parts = Folds(problem_of(data), [Part(np.arange(len(data)))], problem_of(test))
        words, names = f"{len(data)} training and {len(test)} test instances", ["test"]
    else:
        data = load_data(source, labels, split or "all")
        problem = problem_of(data)
        parts = Folds(problem, make_parts(find_splitter(folds or DEFAULT_FOLDS, seed), problem.Y))
        words, names = f"{len(data)} instances, {len(parts.parts)} folds", [*range(1, len(parts.parts) + 1)]
    words += f", {len(data.label_names)} labels"
    words += ", the default learner" if goal is None else f", {goal.title}, lift {lift}"
    if goal is not None and lift != TUNE:
        return _score_lift(parts, goal, lift, n_jobs), words, names
    return _score_fitted(parts, data, goal, seed, n_jobs), words, names


def one_lift(text: str) -> str:
    """The lift of that name, written in one way; or `tune`."""
    from plurule.lifts import parse_lifts

    if text.strip().lower() == TUNE:
        return TUNE
    names = parse_lifts(text)
    if len(names) > 1:
        raise ValueError(f"--lift {text}: {len(names)} lifts; give one lift, or tune to choose among the paper's")
    return names[0]


def _score_lift(folds: Folds, goal: Objective, lift: str, jobs: int) -> Rows:
    """One lift for all folds."""
    from plurule.cli.watching import ProgressWatch, messages, stoppable, workers
    from plurule.lifts import as_table, find_lift
    from plurule.selection.executing import Shared, run
    from plurule.selection.trials import Trial

    options = goal.options(as_table(find_lift(lift), folds.problem.n_labels))
    trials = {f"fold {part + 1}": Trial(options, part) for part in range(len(folds.parts))}
    watch = ProgressWatch(messages(), quiet=True)
    progress, results = watch.counting("folds"), {}
    n_jobs = min(jobs, len(trials))
    with stoppable(messages(), "Nothing was written."), workers(n_jobs) as executor, watch.showing():
        progress(0, len(trials))
        for key, result in run(Shared(_whole_lists(folds)), trials, executor):
            results[key] = _row(result)
            progress(len(results), len(trials))
    return [results[key] for key in trials]


def _score_fitted(folds: Folds, data: Dataset, goal: Objective | None, seed: int, jobs: int) -> Rows:
    """What `plurule fit` learns, or `plurule tune` chooses and learns, from one training part after the other."""
    from plurule.classifier import RuleListClassifier
    from plurule.cli.searches import LiftSearch
    from plurule.cli.watching import ProgressWatch, messages, stoppable, workers

    evaluation, rows = _whole_lists(folds), []
    watch = ProgressWatch(messages(), quiet=True)
    with (
        stoppable(messages(), "Nothing was written."),
        workers(1 if goal is None else jobs) as executor,
        watch.showing(),
    ):
        for number, part in enumerate(folds.parts):
            if goal is None:
                model = RuleListClassifier(n_jobs=jobs).fit(data[part.train])
            else:
                search = LiftSearch(goal.name, None, "paper", "5", seed).search(folds.problem.n_labels)
                search.set_params(progress=watch.counting(f"fold {number + 1}"))
                model = search.fit(data[part.train], executor=executor)
            rows.append(_row(evaluation.score(model.rule_list_, number)))
    return rows


def _whole_lists(folds: Folds) -> Evaluation:
    """Whole lists are scored by all measures."""
    from plurule.metrics import METRICS
    from plurule.prediction.scoring import Scoring
    from plurule.selection.trials import Evaluation

    return Evaluation(folds, Scoring("hamming_accuracy"), tuple(METRICS), by_length=False)


def _row(result: dict[str, Any]) -> dict[str, float]:
    return {**result["scores"], **result["size"]}


def spread(rows: Rows) -> tuple[dict[str, float], dict[str, float]]:
    """Mean and standard deviation of every column.

    >>> spread([{"rules": 4.0}, {"rules": 6.0}])
    ({'rules': 5.0}, {'rules': 1.0})
    """
    import numpy as np

    columns = {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}
    return {n: float(c.mean()) for n, c in columns.items()}, {n: float(c.std()) for n, c in columns.items()}


def score_table(rows: Rows) -> Table:
    """The measures, with mean and standard deviation where there are several rows."""
    titles = MEASURES | CHARACTERISTICS
    if len(rows) == 1:
        return rendering.column_table({k: t for k, t in titles.items() if k in rows[0]}, {"": rows[0]})
    mean, deviation = spread(rows)
    columns = {"mean": mean, "deviation": deviation}
    return rendering.column_table({k: t for k, t in titles.items() if k in mean}, columns)


def json_text(rows: Rows) -> str:
    """The scores as JSON: plain for one row; mean, deviation and every fold for several."""
    if len(rows) == 1:
        return json.dumps(rows[0], indent=2) + "\n"
    mean, deviation = spread(rows)
    return json.dumps({"mean": mean, "deviation": deviation, "folds": list(rows)}, indent=2) + "\n"


def csv_text(rows: Rows, names: Sequence[Any]) -> str:
    """The scores as CSV, one row per fold, then mean and deviation."""
    from plurule.files import to_csv

    if len(rows) == 1:
        return to_csv(list(rows))
    named: list[dict[str, Any]] = [{"fold": name, **row} for name, row in zip(names, rows, strict=True)]
    mean, deviation = spread(rows)
    return to_csv([*named, {"fold": "mean", **mean}, {"fold": "deviation", **deviation}])
