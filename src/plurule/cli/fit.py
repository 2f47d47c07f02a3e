"""`plurule fit`: learn a rule list from data."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from plurule.cli import learner as options
from plurule.cli import loading
from plurule.cli.terminal import check_output, console, is_standard_output, visible
from plurule.progress import progress_bar

MAX_LABELS_SHOWN = 10
"""Labels without rules that are listed."""
large_option = partial(typer.Option, rich_help_panel="Large data")


def fit(
    context: typer.Context,
    data: loading.Data,
    labels: loading.Labels = None,
    output: Annotated[
        Path | None, loading.output_option(help="Model file to write (JSON). Default: only show the rules.")
    ] = None,
    drop: loading.Drop = None,
    decimal: loading.Decimal = ".",
    dictionary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Data dictionary: a CSV file with the columns name, unit, description."),
    ] = None,
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
    cv: options.CV = None,
    n_jobs: options.NJobs = None,
    heuristic: options.Heuristic = None,
    averaging: options.Averaging = None,
    label_conditions: options.LabelConditions = None,
    beam_width: options.BeamWidth = None,
    constraints: options.ConstraintsFile = None,
    initial_rules: options.InitialRules = None,
    memory: Annotated[
        str | None,
        large_option(
            metavar="SIZE",
            help="Data that need more memory, such as 2GB, are read in parts, as are the files of a pattern "
            "('data/*.parquet'). Default: half of RAM.",
        ),
    ] = None,
    dask: Annotated[
        str | None, large_option(metavar="ADDRESS", help="Scheduler of a Dask cluster: tcp://host:8786.")
    ] = None,
    checkpoint: Annotated[
        Path | None, large_option(metavar="FILE", help="Save learned rules here; the same command resumes from them.")
    ] = None,
) -> None:
    """Learn a rule list from data and write it to a model file.

    plurule fit data.csv --labels red,blue -o model.json
    """
    from plurule.cli import rendering
    from plurule.model.naming import amount

    check_output(output, data, dictionary, constraints, initial_rules, checkpoint)
    classifier = options.make_classifier(context)
    with progress_bar("learning") as show_progress:
        dataset = loading.load_or_scan(data, labels, drop or (), decimal, memory, dask, checkpoint)
        describe = loading.describer(dictionary, dataset, drop or ())
        expert_rules = loading.load_initial_rules(initial_rules, dataset)
        start = time.perf_counter()
        options.show_progress_of(classifier, show_progress)
        classifier.fit(dataset, initial_rules=expert_rules)
        seconds = time.perf_counter() - start

    out = console(stderr=is_standard_output(output))
    rule_list = describe(classifier.rule_list_)
    if hasattr(classifier, "best_lift_"):
        out.print(f"Lift chosen by cross-validation: {classifier.best_lift_} (score {classifier.best_score_:.3f})")
    if rule_list.length_choice is not None:
        how = rule_list.length_choice.how
        out.print(f"{how[:1].upper()}{how[1:]}", soft_wrap=True)
    if rule_list.order_matters:
        out.print("A decision list: the first rule that covers an instance and predicts a label decides it")
    else:
        out.print("Each rule can be read on its own")
    counts = f"{amount(len(rule_list), 'rule')} for {amount(len(dataset.label_names), 'label')}"
    out.print(f"{counts} from {amount(len(dataset), 'instance')} in {seconds:.1f} s")
    if expert_rules:
        out.print(f"{amount(len(expert_rules), 'initial rule')} from {initial_rules}", soft_wrap=True)
    _show_labels_without_rules(out, classifier.labels_without_rules_)
    out.print(rendering.characteristics(rule_list))
    if output is not None:
        rendering.write_model(out, rule_list, output)
        return
    out.print()
    out.print(rendering.rule_table(rule_list, range(len(rule_list))))


def _show_labels_without_rules(out: Console, reasons: dict[str, str]) -> None:
    """Print the labels that no rule predicts, with the reasons."""
    for label, reason in list(reasons.items())[:MAX_LABELS_SHOWN]:
        out.print(Text(f"No rule predicts {visible(label)}: {visible(reason)}"), soft_wrap=True)
    if len(reasons) > MAX_LABELS_SHOWN:
        out.print(f"… nor {len(reasons) - MAX_LABELS_SHOWN} other labels")
