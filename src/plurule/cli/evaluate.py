"""`plurule evaluate`: score a model on labelled data, or a learner by cross-validation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.table import Table

from plurule._progress import progress_bar
from plurule.cli import learner as options
from plurule.cli import loading, terminal
from plurule.cli.terminal import console, options_on_command_line
from plurule.errors import DataError, PluruleError

COLUMNS = {"low": "from", "high": "to (95 %)", "constant": "best constant", "chance": "chance"}
"""References that scores are compared with (see `plurule._prediction.assessment`), and the titles of their columns."""
cross_validation_option = partial(typer.Option, rich_help_panel="Cross-validation (without MODEL)")
MODEL_OPTIONS = ("sources", "decimal", "as_json")
"""Parameters that also apply where a model is given."""


def evaluate(
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] DATA",
            help="MODEL DATA: score a model file on DATA. DATA: cross-validate what plurule fit would learn from it.",
        ),
    ],
    decimal: loading.Decimal = ".",
    as_json: loading.AsJson = False,
    labels: loading.Labels = None,
    label_separator: loading.LabelSeparator = None,
    drop: loading.Drop = None,
    keep: loading.Keep = None,
    folds: Annotated[int, cross_validation_option(min=2, help="Number of folds.")] = 10,
    seed: Annotated[int, cross_validation_option(min=0, help="Random seed that shuffles the rows.")] = 0,
    learner: options.Learner = "rule-list",
    scoring: options.Scoring = None,
    max_rules: options.MaxRules = None,
    max_conditions: options.MaxConditions = None,
    min_coverage: options.MinCoverage = None,
    min_precision: options.MinPrecision = None,
    lift: options.LiftValue = None,
    score_tolerance: options.ScoreTolerance = None,
    predict_absence: options.PredictAbsence = None,
    conditions: options.Conditions = None,
    max_bins: options.MaxBins = None,
    max_grown_rows: options.MaxGrownRows = None,
    cv: options.CV = None,
    n_jobs: options.NJobs = None,
    heuristic: options.Heuristic = None,
    averaging: options.Averaging = None,
    label_conditions: options.LabelConditions = None,
    beam_width: options.BeamWidth = None,
    constraints: options.ConstraintsFile = None,
    initial_rules: options.InitialRules = None,
) -> None:
    """Score a model on labelled data, or cross-validate the learner.

    plurule evaluate model.json new.csv

    plurule evaluate data.csv --labels red,blue
    """
    if len(sources) > 2:
        raise PluruleError(f"{len(sources)} files are given; expected a model and data, or data alone")
    if len(sources) == 2:
        for name in options_on_command_line(context):
            if name not in MODEL_OPTIONS:
                option = name.replace("_", "-")
                raise PluruleError(f"--{option} is an option of cross-validation; leave it out to score a model")
        scores = score_model(Path(sources[0]), sources[1], decimal)
    else:
        if sources[0].lower().endswith(".json"):
            raise DataError(f"{sources[0]}: is a model; also give the data to score it on")
        form = {"decimal": decimal, "label_separator": label_separator}
        dataset = loading.load_training_data(sources[0], loading.join_labels(labels), drop, keep, **form)
        rules = loading.load_initial_rules(initial_rules, dataset)
        scores = cross_validate(options.make_classifier(context), dataset, rules, folds, seed)
    if as_json:
        print(json_text(scores), end="")
        return
    out = console()
    out.print(scores.summary, markup=False)
    out.print(score_table(scores))


class Scores(NamedTuple):
    """Measures of one model, or of one model per fold."""

    summary: str
    rows: list[dict[str, float]]
    references: dict[str, dict[str, float]]
    """The same measures of something to compare with, or the ends of intervals, by kind."""
    n_instances: int

    @property
    def columns(self) -> dict[str, dict[str, float]]:
        """The scores of a model, or mean and standard deviation of those of several."""
        if len(self.rows) == 1:
            return {"score": self.rows[0]}
        mean, deviation = mean_and_deviation(self.rows)
        return {"mean": mean, "deviation": deviation}


def score_model(model: Path, data: str, decimal: str = ".") -> Scores:
    """Compute all measures of a model on labelled data."""
    from plurule._prediction.assessment import assess

    rule_list = loading.load_model(model)
    dataset = loading.load_with_labels(data, rule_list, is_required=True, decimal=decimal)
    assessed = assess(dataset.Y, rule_list.predict(dataset), sample_weight=dataset.weights)
    kinds = {kind: {name: getattr(one, kind) for name, one in assessed.items()} for kind in ("score", *COLUMNS)}
    summary = _counts(instance=len(dataset), label=len(rule_list.labels), rule=len(rule_list))
    return Scores(summary, [kinds.pop("score")], kinds, len(dataset))


def _counts(**numbers: int) -> str:
    from plurule.errors import amount

    return ", ".join(amount(number, noun) for noun, number in numbers.items())


def cross_validate(classifier: Any, data: Any, initial_rules: Any, folds: int, seed: int) -> Scores:
    """Compute all measures of a classifier on held-out folds, and of the best constant prediction."""
    from sklearn.base import clone

    from plurule._prediction.assessment import best_constant
    from plurule.data.splitting import IterativeStratifiedKFold, copies
    from plurule.metrics import METRICS
    from plurule.metrics import scores as all_measures

    if folds > len(data):
        raise PluruleError(f"--folds {folds}: there are only {len(data)} rows")
    rows = []
    constants = []
    splitter = IterativeStratifiedKFold(folds, shuffle=True, random_state=seed)
    with progress_bar("folds") as show_progress:
        for train, test in splitter.split(data.X, data.Y, copies(data.X, data.Y)):
            model = clone(classifier).fit(data[train], initial_rules=initial_rules)
            held_out = data[test]
            predicted = model.rule_list_.predict(held_out)
            measures = all_measures(held_out.Y, predicted, sample_weight=held_out.weights)
            rows.append(measures | model.rule_list_.characteristics())
            constants.append({name: best_constant(held_out.Y, name).score for name in METRICS})
            show_progress(len(rows) / folds)
    summary = _counts(instance=len(data), fold=folds, label=len(data.label_names))
    references = {"constant": mean_and_deviation(constants)[0]}
    return Scores(f"{summary}, {type(classifier).__name__}", rows, references, len(data))


def mean_and_deviation(rows: Sequence[dict[str, float]]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean and the standard deviation of every column."""
    import numpy as np

    columns = {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}
    means = {name: float(column.mean()) for name, column in columns.items()}
    deviations = {name: float(column.std()) for name, column in columns.items()}
    return means, deviations


def score_table(scores: Scores) -> Table:
    """Return a table of the measures beside their references."""

    from plurule.metrics import CHARACTERISTICS, MEASURE_TITLES

    titles = {key: title for key, title in (MEASURE_TITLES | CHARACTERISTICS).items() if key in scores.rows[0]}
    references = {COLUMNS[kind]: row for kind, row in scores.references.items()}
    return terminal.column_table(titles, scores.columns | references)


def json_text(scores: Scores) -> str:
    """Return the scores as JSON: plain for one model; mean, deviation and every fold for several."""
    columns: dict[str, Any] = scores.columns.get("score") or {**scores.columns, "folds": scores.rows}
    return json.dumps({**columns, **scores.references, "instances": scores.n_instances}, indent=2) + "\n"
