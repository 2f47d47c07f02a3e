"""Commands that learn from data: `demo`, `fit` and `discover`."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from plurule._progress import progress_bar
from plurule.cli import learner as options
from plurule.cli import loading, terminal
from plurule.cli.terminal import check_output, console, echo, is_standard_output, visible, write_output

if TYPE_CHECKING:
    from plurule.model import RuleList

# Demo -----------------------------------------------------------------------------------------------------------------

TRAINING_ROWS = 3000
RULES_SHOWN = 4
DEPENDENCIES_SHOWN = 3
PRUNING_FOLDS = 5
NEXT = """
Your own data:
  plurule fit data.csv --labels red,blue -o model.json
  plurule report model.json --data data.csv -o report.html"""


def demo(
    output: Annotated[Path, loading.output_option(help="HTML file of the report.")] = Path("plurule-demo.html"),
) -> None:
    """Learn rules from included data, show them, write a report.

    The data are the colours of the world's flags, and synthetic canteen dishes with allergens and diet labels.
    """
    from plurule import RuleListClassifier
    from plurule._prediction.assessment import assess
    from plurule.datasets import load_canteen_dishes
    from plurule.metrics import MEASURE_TITLES, SHORT_MEASURES

    out = console()
    _compare_pruning(out)
    dishes = load_canteen_dishes()
    training = dishes[:TRAINING_ROWS]
    held_out = dishes[TRAINING_ROWS:]
    with progress_bar("learning") as show_progress:
        classifier = RuleListClassifier(n_jobs=-1, verbose=lambda _, share: show_progress(share)).fit(training)
    rules = classifier.rule_list_
    related = labels_related_by(rules)
    out.print(Text("\nThe best short list: RuleListClassifier on canteen dishes", style="bold"))
    out.print(
        f"{len(dishes)} synthetic dishes with {len(dishes.attribute_names)} attributes (ingredients, preparation) and "
        f"{len(dishes.label_names)} labels (allergens, diets).\n"
        f"{len(rules)} rules learned from {len(training)} dishes; {len(related)} of them relate labels, for example:"
    )
    out.print(terminal.rule_table(rules, related[:RULES_SHOWN]))

    out.print(Text("\nLabel dependencies that the rules state", style="bold"))
    dependencies = [one for one in rules.dependencies(held_out) if one.kind == "co-occurrence"]
    for dependency in sorted(dependencies, key=lambda one: -(one.added_value or 0.0))[:DEPENDENCIES_SHOWN]:
        out.print(visible(str(dependency).removeprefix("co-occurrence: ")))

    out.print(Text(f"\nScores on the {len(held_out)} other dishes", style="bold"))
    assessed = assess(held_out.Y, rules.predict(held_out))
    titles = {name: MEASURE_TITLES[name] for name in SHORT_MEASURES}
    columns = {
        "rules": {name: score.score for name, score in assessed.items()},
        "best constant prediction": {name: score.constant for name, score in assessed.items()},
    }
    out.print(terminal.column_table(titles, columns))
    write_output(rules.to_html(held_out, title="Allergens and diets of canteen dishes"), output)
    if not is_standard_output(output):
        where = output.resolve().as_uri()
        out.print(Text(f"\nThe report is in {output}; open it in a browser: {where}"), soft_wrap=True)
    out.print(NEXT)


def _compare_pruning(out: Console) -> None:
    """Show what relaxed pruning changes: rules of the world's flags without and with a lift."""
    from plurule import RelaxedPruningClassifier
    from plurule.data import IterativeStratifiedKFold
    from plurule.datasets import load_world_flags
    from plurule.lifts import KLN
    from plurule.metrics import micro_f1

    flags = load_world_flags()
    folds = list(IterativeStratifiedKFold(PRUNING_FOLDS, shuffle=True, random_state=0).split(flags.X, flags.Y))
    out.print(Text("Relaxed pruning: colours of the world's flags, the paper's learner twice", style="bold"))
    columns = {}
    for name, lift in (("normal pruning", None), ("relaxed pruning", KLN.at(labels=3, lift=1.16))):
        classifier = RelaxedPruningClassifier(lift=lift, max_bins=32)
        predicted = flags.Y.copy()
        for train, test in folds:
            predicted[test] = classifier.fit(flags[train]).predict(flags[test])
        rules = classifier.fit(flags).rule_list_
        columns[name] = {
            "rules": len(rules),
            "conditions": sum(len(rule.body) for rule in rules),
            "multi_label": sum(len(rule.head) > 1 for rule in rules),
            "micro_f1": micro_f1(flags.Y, predicted),
        }
    titles = {
        "rules": "rules",
        "conditions": "conditions",
        "multi_label": "multi-label heads",
        "micro_f1": f"micro F1 ({PRUNING_FOLDS}-fold cross-validation)",
    }
    out.print(terminal.column_table(titles, columns))
    out.print("for example, with relaxed pruning:")
    out.print(terminal.rule_table(rules, [position for position, rule in enumerate(rules) if len(rule.head) > 1][:2]))


def labels_related_by(rules: RuleList) -> list[int]:
    """Return the positions of rules that predict several labels as present, or test one label to predict another."""
    return [
        position
        for position, rule in enumerate(rules)
        if rule.body and (rule.label_conditions or sum(a.present for a in rule.head.stated) > 1)
    ]


# Fit ------------------------------------------------------------------------------------------------------------------

FEWEST_DECIDED = 10
"""An attribute that decides a label alone is pointed out if so many rows have the label, and so many do not."""
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
    label_separator: loading.LabelSeparator = None,
    drop: loading.Drop = None,
    keep: loading.Keep = None,
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
    max_grown_rows: options.MaxGrownRows = None,
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
    checkpoint: Annotated[Path | None, large_option(hidden=True)] = None,
) -> None:
    """Learn a rule list from data and write it to a model file.

    plurule fit data.csv --labels red,blue -o model.json
    """
    from plurule.errors import amount

    if checkpoint is not None:
        raise typer.BadParameter(
            "--checkpoint is no longer there; a fit that was interrupted begins again: leave it out"
        )
    check_output(output, data, dictionary, constraints, initial_rules)
    classifier = options.make_classifier(context)
    with progress_bar("learning") as show_progress:
        dataset = loading.load_or_scan(
            data, loading.join_labels(labels), drop or (), decimal, memory, dask, label_separator, keep
        )
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
    for attribute, label in _deciding_attributes(dataset, rule_list):
        what = f"{visible(attribute)} alone decides {visible(label)} in all rows; is it known before the label is?"
        out.print(Text(what, style="yellow"), soft_wrap=True)
    out.print(terminal.characteristics(rule_list))
    if output is not None:
        terminal.write_model(out, rule_list, output)
        return
    out.print()
    out.print(terminal.rule_table(rule_list, range(len(rule_list))))


def _show_labels_without_rules(out: Console, reasons: dict[str, str]) -> None:
    """Print the labels that no rule predicts, with the reasons."""
    for label, reason in list(reasons.items())[:MAX_LABELS_SHOWN]:
        out.print(Text(f"No rule predicts {visible(label)}: {visible(reason)}"), soft_wrap=True)
    if len(reasons) > MAX_LABELS_SHOWN:
        out.print(f"… nor {len(reasons) - MAX_LABELS_SHOWN} other labels")


def _deciding_attributes(data: Any, rule_list: RuleList) -> list[tuple[str, str]]:
    """Return tested attributes of which the value alone tells whether a label is present, with the label."""
    from plurule.data import Dataset
    from plurule.data.targets import dense

    if not isinstance(data, Dataset):
        return []
    labels = dense(data.Y)
    tested = {(c.index, a.index) for rule in rule_list for c in rule.body if not c.on_label for a in rule.head.stated}
    return [
        (data.attribute_names[attribute], data.label_names[label])
        for attribute, label in sorted(tested)
        if _decides(data.X.column(attribute), data.attributes[attribute].is_nominal, labels[:, label] == 1)
    ]


def _decides(values: Any, is_nominal: bool, present: Any) -> bool:
    """Return whether rows with and without a label have different categories, or numbers on different sides of one."""
    import numpy as np

    if min(present.sum(), (~present).sum()) < FEWEST_DECIDED:
        return False
    if is_nominal:
        return not np.isin(values[present], values[~present]).any()
    lower, upper = sorted((values[present], values[~present]), key=lambda side: float(side.min()))
    return bool(lower.max() < upper.min())


# Discover -------------------------------------------------------------------------------------------------------------

PARAMETERS = (
    *("k", "max_labels", "max_conditions", "exclusions", "min_support", "test_size", "resamples", "random_state"),
    "n_jobs",
)


def discover(
    context: typer.Context,
    data: loading.Data,
    labels: loading.Labels = None,
    label_separator: loading.LabelSeparator = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Maximum number of patterns.")] = 10,
    max_labels: Annotated[int, typer.Option(min=2, help="Maximum number of labels of a pattern.")] = 4,
    max_conditions: Annotated[int, typer.Option(min=0, help="Maximum number of conditions on attributes.")] = 2,
    exclusions: Annotated[bool, typer.Option("--exclusions", help="Also labels that exclude each other.")] = False,
    min_support: Annotated[float, typer.Option(help="Minimum number of rows on which a pattern holds.")] = 5,
    test_size: Annotated[float, typer.Option(help="Share of the rows that patterns are tested on.")] = 0.5,
    resamples: Annotated[int, typer.Option(min=0, help="Repetitions on resampled rows to measure stability.")] = 10,
    random_state: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 uses all cores.")] = -1,
    drop: loading.Drop = None,
    keep: loading.Keep = None,
    decimal: loading.Decimal = ".",
    as_json: loading.AsJson = False,
) -> None:
    """Find labels that occur together, and where.

    Patterns are searched on one part of the rows, and counted and tested on the other part.
    """
    from plurule.errors import amount
    from plurule.inspection import discover as search

    dataset = loading.load_training_data(
        data, loading.join_labels(labels), drop, keep, decimal=decimal, label_separator=label_separator
    )
    with progress_bar("patterns"):
        patterns = search(dataset, **{name: context.params[name] for name in PARAMETERS})
    if as_json:
        write_output(json.dumps(patterns.to_records(), indent=2, ensure_ascii=False), None)
        return
    rows = f"searched on {amount(patterns.rows_searched, 'row')}, tested on {patterns.rows_tested} others"
    echo(f"{amount(len(patterns), 'pattern')}, {rows}")
    echo(patterns)
    echo(
        f"{len(patterns.significant())} significant at 5 % (p: the largest p-value of Fisher's exact tests of each "
        "part against the others, corrected by Holm's method)"
    )
