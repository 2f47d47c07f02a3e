"""Commands that look at a model, from `predict` to `diff`, or change it: `edit` and `simplify`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer
from rich.text import Text

from plurule.cli import rendering
from plurule.cli.commands import SETTINGS, described_argument, with_arguments
from plurule.cli.loading import Split, id_options, ids_of, load_attributes, load_model_and_data, new_part
from plurule.cli.terminal import console, put, say, takes_output
from plurule.cli.watching import waiting
from plurule.errors import DataError, ModelError, nearest
from plurule.files import harmless, to_csv
from plurule.model import RuleList
from plurule.model import file as model_file
from plurule.model.text import write

if TYPE_CHECKING:
    from plurule.inspection import ModelDiff

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

    if output is not None and output.suffix.lower() in (".parquet", ".pq", ".arff"):
        raise DataError(f"{output}: predictions are written as CSV; give a name that ends in .csv")
    rule_list = model_file.load(model)
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
    out.print(rendering.characteristics(rule_list))


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
    rule_list = model_file.load(model)
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

    rule_list = model_file.load(model)
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
    found = compare(first, model_file.load(after), instances)
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


# Changed by hand, and by plurule -------------------------------------------------------------------------------------

edit_app = typer.Typer(
    help="Change the rules of a model by hand. Rules are numbered from 1, as `plurule show` does.\n\n"
    "Each command shows what changes; with --data also in predictions and scores. Without -o nothing is written.",
    no_args_is_help=True,
    **SETTINGS,
)

argument = partial(described_argument, "edit")
RULE, AT, TO = argument("rule", str), argument("at", int | None, None), argument("to", int)
NUMBER, NUMBERS = argument("number", int), argument("numbers", list[int])
ON_DATA = [argument("data", str | None, None), argument("split", Split, "all"), argument("decimal", str, ".")]

EDITS = {
    "add": ("Put in a rule.", [RULE, AT, *ON_DATA]),
    "remove": ("Take out rules.", [NUMBERS, *ON_DATA]),
    "replace": ("Put a rule in the place of another.", [NUMBER, RULE, *ON_DATA]),
    "move": ("Move a rule to another place.", [NUMBER, TO, *ON_DATA]),
    "reorder": ("Put all rules in the given order.", [NUMBERS, *ON_DATA]),
    "lock": (
        "Keep rules as they are.\n\nThey cannot be changed, simplified away or moved until they are unlocked.",
        [NUMBERS],
    ),
    "unlock": ("Allow to change rules again.", [NUMBERS]),
}
"""Methods of `Edit`: what they do, and what they take; those that change predictions can be counted on data."""


def _edit(
    method: str,
    model: Path,
    output: Path | None,
    data: str | None = None,
    split: Split = "all",
    decimal: str = ".",
    **given: Any,
) -> None:
    rule_list, instances = load_model_and_data(model, data, split, decimal)
    change, numbers = getattr(rule_list.edit(instances), method), given.pop("numbers", ())
    _keep(change(numbers) if method == "reorder" else change(*numbers, **given), output)


for _name, (_help, _taken) in EDITS.items():
    _arguments = [argument("model", Path), *_taken, argument("output", Path | None, None)]
    edit_app.command(_name, help=_help)(with_arguments(partial(_edit, _name), _arguments))


def simplify(
    model: Path,
    data: str,
    split: Split = "all",
    decimal: str = ".",
    tolerance: float = 0.0,
    measure: str = "hamming_accuracy",
    output: Path | None = None,
) -> None:
    """Drop rules and conditions that make no difference on data.

    They change no prediction, or cost no more than a tolerance.
    """
    rule_list, instances = load_model_and_data(model, data, split, decimal)
    _keep(rule_list.simplify(instances, tolerance=tolerance, measure=measure), output)


def _keep(changed: Any, output: Path | None) -> None:
    """Show what was changed, and write the rule list where it is asked for."""
    say(changed, stderr=takes_output(output))
    if output is None:
        say("Nothing was written; give -o FILE to keep this.")
    else:
        rendering.keep_model(console(), changed.rule_list, output)
