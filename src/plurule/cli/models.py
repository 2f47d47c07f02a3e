"""Commands that look at a model: `predict`, `show`, `export`, `report`, `explain`, `dependencies` and `diff`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text

from plurule.cli import rendering
from plurule.cli.loading import Split, id_options, ids_of, load_attributes, load_model, load_model_and_data, new_part
from plurule.cli.terminal import check_writable, console, put, say, takes_output
from plurule.cli.watching import waiting
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
    model: Path,
    data: str,
    output: Path | None = None,
    probabilities: bool = False,
    split: Split = "all",
    identifier: str | None = None,
    decimal: str = ".",
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
    model: Path,
    rules: int | None = None,
    label: str | None = None,
    plain: bool = False,
    data: str | None = None,
    split: Split | None = None,
    decimal: str = ".",
) -> None:
    """Print the rules of a model and what it consists of.

    How often rules are right is told of the rows they were learned from, which flatters them; with --data of other
    rows, too.
    """
    rule_list, instances = load_model_and_data(model, data, split or (new_part(data) if data else "all"), decimal)
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
    found = rule_list.evidence(instances) if instances is not None and instances.label_names else None
    if found is not None:
        say(found.words)
    out.print(rendering.rule_table(rule_list, shown, found.rules if found else ()))
    out.print()
    out.print(rendering.column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2))


def export(
    model: Path,
    to: Form,
    output: Path | None = None,
    table: str = "instances",
    dialect: str = "sqlite",
    key: list[str] | None = None,
    function: str = "predict",
    caption: str | None = None,
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
    model: Path,
    output: Path,
    data: str | None = None,
    split: Split | None = None,
    title: str | None = None,
    examples: int = 200,
    identifier: str | None = None,
    decimal: str = ".",
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
    model: Path,
    data: str,
    row: list[int] | None = None,
    limit: int | None = None,
    form: ExplanationForm = "text",
    split: Split = "all",
    identifier: str | None = None,
    decimal: str = ".",
    output: Path | None = None,
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
    model: Path,
    data: str | None = None,
    split: Split = "all",
    decimal: str = ".",
    joint_absence: bool = False,
    form: StatementForm = "text",
    output: Path | None = None,
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
    before: Path, after: Path, data: str | None = None, split: Split = "all", decimal: str = ".", as_json: bool = False
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
