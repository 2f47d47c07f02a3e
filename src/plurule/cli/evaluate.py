"""`plurule evaluate`: score a model on labelled data."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from plurule.cli import rendering
from plurule.cli.loading import DataArgument, ModelArgument, SplitOption


def evaluate(
    model: ModelArgument,
    data: DataArgument,
    split: SplitOption = "all",
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Score a model on data that has its labels."""
    from plurule.classifier import RuleListClassifier
    from plurule.cli.loading import load_labelled, load_model
    from plurule.metrics import scores

    rule_list = load_model(model)
    dataset = load_labelled(data, rule_list.labels, split)
    predicted = RuleListClassifier.from_rule_list(rule_list).predict(dataset.X)
    measured = scores(dataset.Y, predicted, sample_weight=dataset.weights)
    if as_json:
        print(json.dumps(measured, indent=2))
        return
    out = rendering.console()
    out.print(f"{len(dataset)} instances, {len(rule_list.labels)} labels, {len(rule_list)} rules")
    out.print(rendering.column_table(rendering.MEASURES, {"": measured}))
