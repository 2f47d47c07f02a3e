"""`plurule fit`: learn a rule list from data."""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plurule.cli import rendering
from plurule.cli.loading import DataArgument, LabelsOption, TrainingSplitOption
from plurule.cli.terminal import console
from plurule.cli.writing import ModelOption, check_writable, takes_output

if TYPE_CHECKING:
    from plurule import Constraints

EXPERT = "What experts know"

Names = list[str] | None


def fit(
    data: DataArgument,
    labels: LabelsOption = None,
    output: ModelOption = None,
    split: TrainingSplitOption = None,
    published: Annotated[
        bool, typer.Option("--published", help="The learner of the paper in all that is not given, instead of ours.")
    ] = False,
    choose_lift: Annotated[
        str | None,
        typer.Option(help="Choose the lift by cross-validation for this measure, such as micro_f1.", metavar="MEASURE"),
    ] = None,
    initial_rules: Annotated[
        Path | None,
        typer.Option(
            help="Rules that come first and stay as they are: a text file with a rule per line, or a model file.",
            metavar="FILE",
            rich_help_panel=EXPERT,
        ),
    ] = None,
    forbid_attribute: Annotated[
        Names, typer.Option(help="No rule tests it; repeatable.", metavar="NAME", rich_help_panel=EXPERT)
    ] = None,
    require_attribute: Annotated[
        Names, typer.Option(help="Every rule tests one of these; repeatable.", metavar="NAME", rich_help_panel=EXPERT)
    ] = None,
    forbid_pair: Annotated[
        Names, typer.Option(help="Two labels that no rule relates; repeatable.", metavar="A,B", rich_help_panel=EXPERT)
    ] = None,
    require_pair: Annotated[
        Names,
        typer.Option(
            help="Two labels that are only predicted together; repeatable.", metavar="A,B", rich_help_panel=EXPERT
        ),
    ] = None,
    **given: Any,
) -> None:
    """Learn a rule list from data and write it to a model file.

    What is left out is as in the library; the defaults are those without --published.
    """
    from plurule.classifier_cv import RuleListClassifierCV
    from plurule.cli.estimator_options import told_in_options
    from plurule.cli.learner_options import learner_parameters, make_learner
    from plurule.cli.loading import load_initial_rules, load_training_data

    check_writable(output)
    with told_in_options(learner_parameters()):
        classifier: Any = make_learner(given, published)
        constraints = make_constraints(forbid_attribute, require_attribute, forbid_pair, require_pair)
        dataset, part = load_training_data(data, labels, split)
        initial = () if initial_rules is None else load_initial_rules(initial_rules, dataset)
        if choose_lift is not None:
            jobs = classifier.n_jobs
            classifier.set_params(n_jobs=None)
            classifier = RuleListClassifierCV(classifier, protocol="paper", scoring=choose_lift, n_jobs=jobs)
        known: dict[str, Any] = {"label_names": dataset.label_names, "initial_rules": initial}
        start = time.perf_counter()
        classifier.fit(dataset.X, dataset.Y, dataset.weights, constraints=constraints, **known)
        seconds = time.perf_counter() - start

    out = console(stderr=takes_output(output))
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
    rendering.show_model(out, rule_list, output)


def make_constraints(
    forbidden: Names, required: Names, forbidden_pairs: Names, required_pairs: Names
) -> Constraints | None:
    """What rules must and must not use; None if nothing is asked of them."""
    from plurule import Constraints

    if not (forbidden or required or forbidden_pairs or required_pairs):
        return None
    return Constraints(
        forbidden or (),
        required or (),
        read_pairs(forbidden_pairs or (), "--forbid-pair"),
        read_pairs(required_pairs or (), "--require-pair"),
    )


def read_pairs(texts: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Each two names separated by a comma; one that holds a comma is put in double quotes, as in a CSV file.

    >>> read_pairs(['"red, dark",blue'], "--forbid-pair")
    [('red, dark', 'blue')]
    """
    pairs = []
    for text in texts:
        names = [name for line in csv.reader([text], skipinitialspace=True) for name in line]
        if len(names) != 2 or names[0] == names[1] or not all(names):
            what = "give two different labels separated by a comma (a name that holds one in double quotes)"
            raise ValueError(f"{option} {text}: {what}")
        pairs.append((names[0], names[1]))
    return pairs
