"""`plurule fit`: learn a rule list from data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from plurule.cli import rendering
from plurule.cli.fit_options import (
    AT_LABELS,
    HEIGHT,
    LiftKind,
    in_options,
    make_constraints,
    make_heuristic,
    make_lift,
    read_cv,
    read_length,
)
from plurule.cli.loading import DataArgument, LabelsOption, TrainingSplitOption
from plurule.titles import CHARACTERISTICS


def fit(
    data: DataArgument,
    labels: LabelsOption = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Model file to write (JSON); without it the rules are only shown."),
    ] = None,
    split: TrainingSplitOption = None,
    published: Annotated[
        bool, typer.Option("--published", help="The learner of the paper in all that is not given, instead of ours.")
    ] = False,
    heuristic: Annotated[
        str | None, typer.Option(help="How good a rule is: f_measure, hamming_accuracy, precision, recall, laplace, …")
    ] = None,
    beta: Annotated[float | None, typer.Option(help="Weight of recall in f_measure.")] = None,
    averaging: Annotated[str | None, typer.Option(help="micro or macro.")] = None,
    absence: Annotated[
        bool | None, typer.Option("--absence/--presence-only", help="Whether rules may predict that labels are absent.")
    ] = None,
    head_search: Annotated[
        str | None, typer.Option(help="single, decomposable, anti_monotone, relaxed or exhaustive.")
    ] = None,
    min_precision: Annotated[float | None, typer.Option(help="Least share of right predictions, 0 to 1.")] = None,
    min_precision_of: Annotated[
        str | None, typer.Option(help="What must reach it: every label, or the head as a whole (as published).")
    ] = None,
    min_precision_when: Annotated[
        str | None, typer.Option(help="When: finished, or already growing (as published).")
    ] = None,
    lift: Annotated[LiftKind | None, typer.Option(help="How much longer heads are preferred.")] = None,
    lift_height: Annotated[
        float | None, typer.Option(help=f"The lift at --lift-at labels ({HEIGHT} if only --lift is given).")
    ] = None,
    lift_at: Annotated[
        int | None, typer.Option(help=f"Number of labels that are lifted by --lift-height ({AT_LABELS}).")
    ] = None,
    choose_lift: Annotated[
        str | None, typer.Option(help="Choose the lift by cross-validation for this measure, for example micro_f1.")
    ] = None,
    fix_head: Annotated[bool | None, typer.Option(help="Keep the head while the body grows.")] = None,
    fixed_head_counts: Annotated[str | None, typer.Option(help="instances (as published) or pairs.")] = None,
    refine_against: Annotated[str | None, typer.Option(help="lifted (as published) or plain.")] = None,
    label_conditions: Annotated[
        bool | None, typer.Option(help="Whether bodies may test what earlier rules predicted.")
    ] = None,
    beam_width: Annotated[int | None, typer.Option(help="Rules refined side by side.")] = None,
    max_conditions: Annotated[int | None, typer.Option(help="Most conditions in a rule.")] = None,
    min_coverage: Annotated[float | None, typer.Option(help="Least instances a rule covers.")] = None,
    n_rules: Annotated[
        str | None,
        typer.Option(
            "--rules", help="Length of the list: a number, auto (chosen on validation data) or none (all rules)."
        ),
    ] = None,
    cv: Annotated[
        str | None, typer.Option(help="What --rules auto is chosen on: a number of folds, or a share of the rows.")
    ] = None,
    scoring: Annotated[str | None, typer.Option(help="Measure that --rules auto is chosen by.")] = None,
    prune: Annotated[float | None, typer.Option(help="Share of the rows to prune rules on.")] = None,
    remaining: Annotated[float | None, typer.Option(help="End when this share of the instances is left.")] = None,
    stop_threshold: Annotated[
        float | None, typer.Option(help="Share of unfinished instances that a stop rule may have.")
    ] = None,
    initial_rules: Annotated[
        Path | None,
        typer.Option(
            help="Rules that come first and stay as they are: a text file with a rule per line, or a model file.",
            metavar="FILE",
        ),
    ] = None,
    forbid_attribute: Annotated[
        list[str] | None,
        typer.Option(help="An attribute that no rule tests; can be given several times.", metavar="NAME"),
    ] = None,
    require_attribute: Annotated[
        list[str] | None,
        typer.Option(help="Every rule tests one of these attributes; can be given several times.", metavar="NAME"),
    ] = None,
    forbid_pair: Annotated[
        list[str] | None,
        typer.Option(help="Two labels that no rule relates; can be given several times.", metavar="A,B"),
    ] = None,
    require_pair: Annotated[
        list[str] | None,
        typer.Option(help="Two labels that are only predicted together; can be given several times.", metavar="A,B"),
    ] = None,
    max_bins: Annotated[int | None, typer.Option(help="Cut numeric attributes into this many bins.")] = None,
    engine: Annotated[str | None, typer.Option(help="Which engine learns; all give the same rules.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Threads or processes; -1 for all cores.")] = None,
) -> None:
    """Learn a rule list from data and write it to a model file.

    Every option that is left out is as in the library: see RuleListClassifier, or with --published its published().
    """
    from plurule.classifier import RuleListClassifier
    from plurule.classifier_cv import RuleListClassifierCV
    from plurule.cli.loading import check_writable, load_data, load_initial_rules, save_model
    from plurule.paper.tuning import part_to_tune

    if output is not None:
        check_writable(output)
    options: dict[str, Any] = {
        "heuristic": make_heuristic(heuristic, beta),
        "averaging": averaging,
        "predict_absence": absence,
        "head_search": head_search,
        "lift": make_lift(lift, lift_height, lift_at),
        "fix_head": fix_head,
        "fixed_head_counts": fixed_head_counts,
        "refine_against": refine_against,
        "label_conditions": label_conditions,
        "beam_width": beam_width,
        "max_conditions": max_conditions,
        "min_coverage": min_coverage,
        "cv": None if cv is None else read_cv(cv),
        "scoring": scoring,
        "prune": prune,
        "remaining": remaining,
        "stop_threshold": stop_threshold,
        "max_bins": max_bins,
        "engine": engine,
        "n_jobs": jobs if choose_lift is None else None,
    }
    given = {name: value for name, value in options.items() if value is not None}
    if n_rules is not None:
        given["n_rules"] = read_length(n_rules)
    classifier: Any = (RuleListClassifier.published if published else RuleListClassifier)(**given)
    bar = {"threshold": min_precision, "of": min_precision_of, "when": min_precision_when}
    classifier.set_params(**{f"min_precision__{name}": value for name, value in bar.items() if value is not None})
    if choose_lift is not None:
        classifier = RuleListClassifierCV(classifier, protocol="paper", scoring=choose_lift, n_jobs=jobs)
    constraints = make_constraints(forbid_attribute, require_attribute, forbid_pair, require_pair)
    part = split or part_to_tune(data)
    dataset = load_data(data, labels, part)
    initial = () if initial_rules is None else load_initial_rules(initial_rules, dataset)
    known: dict[str, Any] = {"label_names": dataset.label_names, "initial_rules": initial, "constraints": constraints}
    start = time.perf_counter()
    try:
        classifier.fit(dataset.X, dataset.Y, dataset.weights, **known)
    except ValueError as error:
        raise in_options(error) from error
    seconds = time.perf_counter() - start

    out = rendering.console()
    if choose_lift is not None:
        score = f"{choose_lift} {classifier.best_score_:.3f} by cross-validation"
        out.print(f"Chosen lift: {classifier.best_lift_} ({score})")
    rule_list = classifier.rule_list_
    if rule_list.length_choice is not None:
        out.print(rendering.length_text(rule_list.length_choice))
    sizes = f"{len(rule_list)} rules for {len(dataset.label_names)} labels from {len(dataset)} instances"
    out.print(f"{sizes} in {seconds:.1f} s")
    if split is None and part == "train":
        out.print("Learned from the training part, so that the test part is new to the rules; --split all takes both")
    if initial_rules is not None:
        out.print(f"Initial rules, from {initial_rules}: {len(initial)}", soft_wrap=True, markup=False)
    out.print(rendering.column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2))
    if output is None:
        out.print()
        out.print(rendering.rule_table(rule_list, range(len(rule_list))))
    else:
        save_model(rule_list, output)
        out.print(f"Written to {output}; look at it with: plurule show {output}", soft_wrap=True, markup=False)
