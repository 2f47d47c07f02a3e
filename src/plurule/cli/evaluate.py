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
from plurule.titles import CHARACTERISTICS, MEASURES

if TYPE_CHECKING:
    from plurule.data import Dataset
    from plurule.model import RuleList

Rows = Sequence[dict[str, float]]

DEFAULT_FOLDS = "10"
TUNE = "tune"
"""In place of a lift: one chosen anew on each training part."""


Learner = Literal["published", "default"]

TRAINING = ("folds", "learner", "objective", "lift", "seed", "jobs")
"""Options of training, which have no meaning where a model is given."""


def evaluate(
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] DATA",
            help="A model file, as written by plurule fit, and a data file, the base name of a -train/-test pair, or "
            "world-flags; the data alone to train and score.",
        ),
    ],
    labels: LabelsOption = None,
    split: Annotated[
        Literal["train", "test", "all"] | None,
        typer.Option(help="Which part of a -train/-test pair; all if left out.", show_default=False),
    ] = None,
    folds: Annotated[
        str | None,
        typer.Option(
            help="Cross-validation: a number, mulan or a splitter such as ShuffleSplit(n_splits=10). "
            f"Without it, a -train/-test pair is used as one, and anything else is cut into {DEFAULT_FOLDS} folds."
        ),
    ] = None,
    learner: Annotated[
        Learner,
        typer.Option(help="published: the paper's, with --objective and --lift; default: what plurule fit learns."),
    ] = "published",
    objective: Annotated[
        str, typer.Option(help="What to train for: micro-f+, micro-f+-, macro-f+, macro-f+-, ha+, ha+-, …")
    ] = "micro-f+",
    lift: Annotated[
        str, typer.Option(help="'kln at 3: 1.08', 'peak 3: 1.04', none, or tune: chosen anew on each training part.")
    ] = "kln at 3: 1.08",
    seed: Annotated[int, typer.Option(help="Shuffles the folds.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Processes; all cores if left out.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the scores as CSV.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the scores to this file: JSON, or CSV if it ends in .csv."),
    ] = None,
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
    from plurule.cli.loading import load_data, training_part
    from plurule.cli.watching import check_jobs
    from plurule.errors import DataError
    from plurule.selection.splitters import find_splitter, make_splits
    from plurule.selection.trials import labels_of
    from plurule.selection.objectives import find_objective
    from plurule.selection.splitters import find_splitter, make_splits
    from plurule.selection.trials import labels_of

    workers = check_jobs(jobs)
    goal, lift = (None, "") if published is None else (find_objective(published[0]), one_lift(published[1]))
    if source.lower().endswith(".json"):
        raise DataError(f"{source}: is a model; give the data to score it on, too")
    if folds is None and split is None and training_part(source) == "train":
        parts: list[tuple[Dataset, Dataset]] = [(load_data(source, labels, "train"), load_data(source, labels, "test"))]
        words = f"{len(parts[0][0])} training and {len(parts[0][1])} test instances"
        names: list[Any] = ["test"]
        whole = None
    else:
        whole = load_data(source, labels, split or "all")
        splits = make_splits(find_splitter(folds or DEFAULT_FOLDS, seed), labels_of(whole))
        parts = [(whole[train], whole[test]) for train, test in splits]
        words, names = f"{len(whole)} instances, {len(splits)} folds", list(range(1, len(splits) + 1))
    words += f", {len(parts[0][0].label_names)} labels"
    if goal is None:
        return _score_default(parts, workers), f"{words}, the default learner", names
    words += f", {goal.title}, lift {lift}"
    if lift == TUNE:
        return _score_tuned(parts, goal.name, seed, workers), words, names
    return _score_fixed(whole, None if whole is None else splits, parts[0], goal.name, lift, workers), words, names


def one_lift(text: str) -> str:
    """The lift of that name, written in one way; or `tune`."""
    from plurule.lifts import parse_lifts

    if text.strip().lower() == TUNE:
        return TUNE
    names = parse_lifts(text)
    if len(names) > 1:
        raise ValueError(f"--lift {text}: {len(names)} lifts; give one lift, or tune to choose among the paper's")
    return names[0]


def _score_fixed(
    whole: Dataset | None, splits: Any, pair: tuple[Dataset, Dataset], objective: str, lift: str, jobs: int
) -> Rows:
    """One lift for all folds."""
    from plurule.cli.watching import ProgressWatch, messages, stoppable
    from plurule.paper.tuning import evaluate_folds, evaluate_split

    console = messages()
    watch = ProgressWatch(console, quiet=True)
    with stoppable(console, "Nothing was written."), watch.showing():
        if whole is None:
            return evaluate_split(*pair, objective, lift, watch)
        return evaluate_folds(whole, splits, objective, lift, watch, jobs)


def _score_default(parts: Sequence[tuple[Dataset, Dataset]], jobs: int) -> Rows:
    """What `plurule fit` learns, one training part after the other."""
    from plurule.classifier import RuleListClassifier
    from plurule.cli.watching import messages, stoppable

    rows = []
    with stoppable(messages(), "Nothing was written."):
        for train, test in parts:
            classifier = RuleListClassifier(n_jobs=jobs)
            classifier.fit(train.X, train.Y, train.weights, label_names=train.label_names)
            rows.append(_measured(classifier.rule_list_, test))
    return rows


def _measured(model: RuleList, test: Dataset) -> dict[str, float]:
    """All measures of a model, and what it consists of."""
    from plurule.metrics import scores
    from plurule.prediction.decide import decide
    from plurule.selection.trials import labels_of, size_of

    return scores(labels_of(test), decide(model, test.X).labels(), sample_weight=test.weights) | size_of(model)


def _score_tuned(parts: Sequence[tuple[Dataset, Dataset]], objective: str, seed: int, jobs: int) -> Rows:
    """A lift for each training part, chosen by cross-validation inside it."""
    from plurule.cli.watching import ProgressWatch, messages, stoppable
    from plurule.lifts import PAPER_LIFTS
    from plurule.model import file as model_file
    from plurule.paper.tuning import Tuning
    from plurule.selection.objectives import find_objective

    console = messages()
    watch = ProgressWatch(console, quiet=True)
    rows = []
    with stoppable(console, "Nothing was written."), watch.showing():
        for fold, (train, test) in enumerate(parts, start=1):
            tuning = Tuning(train, objective, PAPER_LIFTS, find_objective(objective).measure, "5", seed, f"fold {fold}")
            _, _, text = tuning.run(watch, jobs)
            rows.append(_measured(model_file.loads(text), test))
    return rows


def score_table(rows: Rows) -> Table:
    """The measures, with mean and standard deviation where there are several rows."""
    from plurule.paper.tuning import spread

    titles = MEASURES | CHARACTERISTICS
    if len(rows) == 1:
        return rendering.column_table({k: t for k, t in titles.items() if k in rows[0]}, {"": rows[0]})
    mean, deviation = spread(rows)
    columns = {"mean": mean, "deviation": deviation}
    return rendering.column_table({k: t for k, t in titles.items() if k in mean}, columns)


def json_text(rows: Rows) -> str:
    """The scores as JSON: plain for one row; mean, deviation and every fold for several."""
    from plurule.paper.tuning import spread

    if len(rows) == 1:
        return json.dumps(rows[0], indent=2) + "\n"
    mean, deviation = spread(rows)
    return json.dumps({"mean": mean, "deviation": deviation, "folds": list(rows)}, indent=2) + "\n"


def csv_text(rows: Rows, names: Sequence[Any]) -> str:
    """The scores as CSV, one row per fold, then mean and deviation."""
    from plurule.files import to_csv
    from plurule.paper.tuning import spread

    if len(rows) == 1:
        return to_csv(list(rows))
    named: list[dict[str, Any]] = [{"fold": name, **row} for name, row in zip(names, rows, strict=True)]
    mean, deviation = spread(rows)
    return to_csv([*named, {"fold": "mean", **mean}, {"fold": "deviation", **deviation}])
