"""`plurule predict`: the labels of new data."""

from __future__ import annotations

import csv
import io
from typing import Annotated

import typer

from plurule.cli.loading import DataArgument, ModelArgument, SplitOption
from plurule.cli.writing import OutputOption, check_writable, put


def predict(
    model: ModelArgument,
    data: DataArgument,
    output: OutputOption = None,
    probabilities: Annotated[bool, typer.Option("--proba", help="Write probabilities instead of 0 and 1.")] = False,
    split: SplitOption = "all",
) -> None:
    """Predict the labels of data, as CSV.

    There is one column per label and one line per instance.
    """
    from plurule.classifier import RuleListClassifier
    from plurule.cli.loading import load_attributes, load_model

    check_writable(output)
    rule_list = load_model(model)
    classifier = RuleListClassifier.from_rule_list(rule_list)
    table = load_attributes(data, split)
    predicted = classifier.predict_proba(table).round(6) if probabilities else classifier.predict(table)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rule_list.labels)
    writer.writerows(predicted.tolist())
    put(text.getvalue(), output)
