"""Commands that look at a model: `predict`, `show`, `export`, `report`, `explain`, `dependencies` and `diff`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from plurule.cli import rendering
from plurule.cli.loading import (
    DataArgument,
    DataOption,
    DecimalOption,
    IdOption,
    ModelArgument,
    NewSplitOption,
    Split,
    SplitOption,
    id_options,
    ids_of,
    load_attributes,
    load_model,
    load_model_and_data,
    new_part,
)
from plurule.cli.terminal import console, say
from plurule.cli.watching import waiting
from plurule.cli.writing import JsonOption, OutputOption, check_writable, put, takes_output
from plurule.errors import DataError, ModelError, nearest
from plurule.files import harmless, to_csv
from plurule.titles import CHARACTERISTICS

if TYPE_CHECKING:
    from plurule.inspection import ModelDiff
    from plurule.model import RuleList

Form = Literal["sql", "python", "markdown", "latex", "text"]
ExplanationForm = Literal["text", "csv", "html"]
StatementForm = Literal["text", "csv", "dot"]


def predict(
    model: ModelArgument,
    data: DataArgument,
    output: OutputOption = None,
    probabilities: Annotated[bool, typer.Option("--proba", help="Write probabilities instead of 0 and 1.")] = False,
    split: SplitOption = "all",
    identifier: IdOption = None,
    decimal: DecimalOption = ".",
) -> None:
    """Predict the labels of data, as CSV.

    There is one column per label, or per column of classes, after that of --id, and one line per instance. A text that
    a spreadsheet would take for a formula gets an apostrophe.
    """
    from plurule.classifier import RuleListClassifier

    check_writable(output)
    if output is not None and output.suffix.lower() in (".parquet", ".pq", ".arff"):
        raise DataError(f"{output}: predictions are written as CSV; give a name that ends in .csv")
    rule_list = load_model(model)
    classifier = RuleListClassifier.from_rule_list(rule_list)
    instances = load_attributes(data, split, decimal=decimal, **id_options(rule_list, identifier))
    ids = ids_of(instances, identifier)
    predicted = classifier.predict_proba(instances).round(6) if probabilities else classifier.predict(instances)
    text = io.StringIO()
    lines = [list(rule_list.labels), *predicted.tolist()] if probabilities else _with_classes(rule_list, predicted)
    if ids is not None:
        lines = [[first, *line] for first, line in zip([identifier, *ids], lines, strict=True)]
    csv.writer(text, lineterminator="\n").writerows(map(harmless, line) for line in lines)
    put(text.getvalue(), output)


def _with_classes(rule_list: RuleList, predicted: Any) -> list[list[Any]]:
    """Titles and rows of what is predicted, with one column for the labels of which exactly one holds."""
    groups = {group[0]: group for group in rule_list.groups}
    later = {place for group in rule_list.groups for place in group[1:]}
    columns: list[list[Any]] = []
    for place, label in enumerate(rule_list.labels):
        if place in groups:
            names = [rule_list.labels[i] for i in groups[place]]
            title = label.partition(": ")[0]
            prefix = f"{title}: " if all(name.startswith(f"{title}: ") for name in names) else ""
            classes = [name.removeprefix(prefix) for name in names]
            held = predicted[:, list(groups[place])].argmax(axis=1)
            columns.append([title if prefix else "class", *(classes[i] for i in held)])
        elif place not in later:
            columns.append([label, *predicted[:, place].tolist()])
    return [list(line) for line in zip(*columns, strict=True)]


def show(
    model: ModelArgument,
    rules: Annotated[int | None, typer.Option(help="Show only this many rules, from the top.", min=1)] = None,
    label: Annotated[str | None, typer.Option(help="Show only rules whose head has this label.")] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="One rule per line, thresholds in full, nothing else.")
    ] = False,
) -> None:
    """Print the rules of a model and what it consists of."""
    rule_list = load_model(model)
    if label is not None and label not in rule_list.labels:
        raise ModelError(f"{model}: has no label {label!r}{nearest(label, rule_list.labels)}")
    shown = [i for i, rule in enumerate(rule_list) if label is None or label in {a.name for a in rule.head.stated}][
        :rules
    ]
    if plain:
        for position in shown:
            say(rule_list[position], wrap=False)
        return
    out = console()
    of = "" if len(shown) == len(rule_list) else f" of {len(rule_list)}"
    out.print(Text(f"{len(shown)}{of} rules, in the order they are applied", style="bold"))
    out.print(rendering.rule_table(rule_list, shown))
    out.print()
    out.print(rendering.column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2))


def export(
    model: ModelArgument,
    to: Annotated[Form, typer.Option("--to", help="The form.")],
    output: OutputOption = None,
    table: Annotated[str, typer.Option(help="SQL: name of the table with the instances.")] = "instances",
    dialect: Annotated[str, typer.Option(help="SQL: sqlite, duckdb or postgresql.")] = "sqlite",
    key: Annotated[
        list[str] | None, typer.Option(help="SQL: column of the table to return as well; may be repeated.")
    ] = None,
    function: Annotated[str, typer.Option(help="Python: name of the function.")] = "predict",
    caption: Annotated[str | None, typer.Option(help="LaTeX: caption of the table.")] = None,
) -> None:
    """Write a model as SQL, Python, Markdown, LaTeX or text.

    That is a query, a function, a table, or text that can be read back.
    """
    from plurule.model.text import write

    check_writable(output)
    rule_list = load_model(model)
    forms: dict[Form, Callable[[], str]] = {
        "sql": lambda: rule_list.to_sql(table, dialect, key or ()),
        "python": lambda: rule_list.to_python(function),
        "markdown": rule_list.to_markdown,
        "latex": lambda: rule_list.to_latex(caption),
        "text": lambda: "\n".join(map(write, rule_list)),
    }
    put(forms[to](), output)


def report(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")],
    data: DataOption = None,
    split: NewSplitOption = None,
    title: Annotated[str | None, typer.Option(help="What stands at the top of the page.")] = None,
    examples: Annotated[int, typer.Option(help="Instances of the data to put into the page.", min=0)] = 200,
    identifier: IdOption = None,
    decimal: DecimalOption = ".",
) -> None:
    """Write a report as one HTML page that works offline.

    It shows rules, curves and label dependencies, and with --data instances to try.
    """
    check_writable(output)
    if data is None and identifier is not None:
        raise ValueError("--id names a column of the data; give --data, too")
    part: Split = split or ("all" if data is None else new_part(data))
    rule_list, instances = load_model_and_data(model, data, part, decimal, identifier)
    ids = None if instances is None else ids_of(instances, identifier)
    with waiting("report"):
        page = rule_list.to_html(instances, title=title or model.stem, examples=examples, ids=ids)
    put(page, output)
    if not takes_output(output):
        say(f"{output}: {len(rule_list)} rules, {len(page) // 1024} kB")


def explain(
    model: ModelArgument,
    data: DataArgument,
    row: Annotated[list[int] | None, typer.Option(help="Row to explain, from 0; may be repeated.")] = None,
    limit: Annotated[
        int | None, typer.Option(help="Explain at most this many rows; 10 if not given, all as CSV.", min=1)
    ] = None,
    form: Annotated[ExplanationForm, typer.Option("--as", help="What to print.")] = "text",
    split: SplitOption = "all",
    identifier: IdOption = None,
    decimal: DecimalOption = ".",
    output: OutputOption = None,
) -> None:
    """Say which rule decided each label of instances, and why."""
    from plurule.data.inputs import row_ids

    check_writable(output)
    rule_list = load_model(model)
    instances = load_attributes(data, split, decimal=decimal, **id_options(rule_list, identifier))
    most = limit or (len(instances) if form == "csv" else 10)
    wanted = list(range(min(most, len(instances)))) if row is None else row
    outside = [i for i in wanted if not 0 <= i < len(instances)]
    if outside:
        raise DataError(f"{data}: there is no row {outside[0]}; rows are numbered from 0 to {len(instances) - 1}")
    ids = row_ids(instances, len(instances), ids_of(instances, identifier))
    explanations = rule_list.explain(instances[wanted], ids=[ids[i] for i in wanted])
    forms: dict[ExplanationForm, Callable[[], str]] = {
        "csv": lambda: to_csv(explanations.to_records()),
        "html": explanations.to_html,
        "text": explanations.to_text,
    }
    with waiting("explanations"):
        text = forms[form]()
    put(text, output, wrap=form == "text")


def dependencies(
    model: ModelArgument,
    data: DataOption = None,
    split: SplitOption = "all",
    decimal: DecimalOption = ".",
    joint_absence: Annotated[bool, typer.Option(help="List labels that are absent together as well.")] = False,
    form: Annotated[StatementForm, typer.Option("--as", help="What to print; dot is for Graphviz.")] = "text",
    output: OutputOption = None,
) -> None:
    """List what the rules say about how labels depend.

    Labels go together, follow from, or exclude each other.
    """
    check_writable(output)
    rule_list, instances = load_model_and_data(model, data, split, decimal)
    found = rule_list.dependencies(instances, joint_absence=joint_absence)
    forms: dict[StatementForm, Callable[[], str]] = {
        "csv": lambda: to_csv(found.to_records()),
        "dot": lambda: found.to_graph().to_dot(),
        "text": lambda: str(found),
    }
    put(forms[form](), output, wrap=form == "text")


def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Model file.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another model file.")],
    data: DataOption = None,
    split: SplitOption = "all",
    decimal: DecimalOption = ".",
    as_json: JsonOption = False,
) -> None:
    """Compare two models.

    Shows which rules differ, and with --data which predictions and scores do.
    """
    from plurule.inspection import diff as compare

    first, instances = load_model_and_data(before, data, split, decimal)
    found = compare(first, load_model(after), instances)
    if as_json:
        put(json.dumps(_as_json(found), indent=2, ensure_ascii=False), None)
    else:
        say(found)


def _as_json(found: ModelDiff) -> dict[str, Any]:
    return {
        "rules": [
            {name: getattr(change, name) for name in ("change", "number_before", "number_after")}
            | {key: rule and rule.to_text() for key, rule in (("before", change.before), ("after", change.after))}
            for change in found.rules
        ],
        "labels_before_only": found.labels_before_only,
        "labels_after_only": found.labels_after_only,
        "rows_that_differ": None if found.predictions is None else found.predictions.rows.tolist(),
        "scores": found.scores,
    }
