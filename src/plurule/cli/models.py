"""Commands that use a model: `predict`, `show`, `explain`, `report`, `export`, `diff` and `edit`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text

from plurule._files import escape_formula, read_if_regular, to_csv
from plurule._progress import progress_bar
from plurule.cli import loading, terminal
from plurule.cli.loading import AsJson, Data, Decimal, Identifier, Model, OnData, Output, output_option
from plurule.cli.terminal import check_output, console, echo, is_standard_output, write_output
from plurule.errors import DataError, ModelError, PluruleError, nearest
from plurule.export.formats import FORMATS, all_formats

if TYPE_CHECKING:
    from plurule.inspection import Evidence
    from plurule.model import RuleList


_FORMAT_HELP = f"One of: {', '.join(f'{own.name} ({own.description})' for own in FORMATS.values())}."


def _print_formats(is_given: bool) -> None:
    if is_given:
        for form in all_formats().values():
            echo(f"{form.name} ({form.suffix}): {form.description}; cannot express: {form.cannot or 'nothing'}")
        raise typer.Exit


def predict(
    model: Model,
    data: Data,
    output: Output = None,
    probabilities: Annotated[bool, typer.Option("--proba", help="Write probabilities instead of 0 and 1.")] = False,
    identifier: Identifier = None,
    decimal: Decimal = ".",
) -> None:
    """Predict the labels of data, as CSV.

    The output has one column per label, or one column of classes, and one line per row. Text that a spreadsheet would
    take for a formula gets an apostrophe.
    """
    check_output(output, model, data)
    if output is not None and output.suffix.lower() in (".parquet", ".pq", ".arff"):
        raise DataError(f"{output}: predictions are written as CSV; give a name that ends in .csv")
    rule_list = loading.load_model(model)
    instances = loading.load_attributes(data, decimal=decimal, **loading.id_options(rule_list, identifier))
    ids = loading.ids_of(instances, identifier)
    if probabilities:
        lines = [list(rule_list.labels), *rule_list.predict_proba(instances).round(6).tolist()]
    else:
        lines = _lines_with_classes(rule_list, rule_list.predict(instances))
    if ids is not None:
        lines = [[first, *line] for first, line in zip([identifier, *ids], lines, strict=True)]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(escape_formula, line) for line in lines)
    write_output(text.getvalue(), output)


def _lines_with_classes(rule_list: RuleList, predicted: Any) -> list[list[Any]]:
    """Return titles and rows of predictions, with one column for each group of exclusive labels."""
    groups = {group[0]: group for group in rule_list.groups}
    later_members = {place for group in rule_list.groups for place in group[1:]}
    columns: list[list[Any]] = []
    for place, label in enumerate(rule_list.labels):
        if place in groups:
            names = [rule_list.labels[i] for i in groups[place]]
            title = label.partition(": ")[0]
            prefix = f"{title}: " if all(name.startswith(f"{title}: ") for name in names) else ""
            classes = [name.removeprefix(prefix) for name in names]
            present = predicted[:, list(groups[place])].argmax(axis=1)
            columns.append([title if prefix else "class", *(classes[i] for i in present)])
        elif place not in later_members:
            columns.append([label, *predicted[:, place].tolist()])
    return [list(line) for line in zip(*columns, strict=True)]


def show(
    model: Model,
    rules: Annotated[int | None, typer.Option(min=1, help="Show only the first rules.")] = None,
    label: Annotated[str | None, typer.Option(help="Show only rules that predict this label.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="One rule per line, exact thresholds, nothing else.")] = False,
    check: Annotated[bool, typer.Option("--check", help="List rules that can never apply instead.")] = False,
    dependencies: Annotated[
        bool, typer.Option("--dependencies", help="List the label dependencies that the rules state instead.")
    ] = False,
    data: OnData = None,
    decimal: Decimal = ".",
) -> None:
    """Show the rules of a model, or their label dependencies.

    The precision in training is measured on the rows that the rules were learned from, so it is optimistic; --data
    adds the precision on other rows, with a 95 % interval.
    """
    from plurule.errors import amount

    rule_list, instances = loading.load_model_and_data(model, data, decimal)
    if label is not None and label not in rule_list.labels:
        raise ModelError(f"{model}: has no label {label!r}{nearest(label, rule_list.labels)}")
    if dependencies:
        echo(rule_list.dependencies(instances))
        return
    if check:
        echo("\n".join(map(str, rule_list.check())) or "All rules can apply.")
        return
    positions = [i for i, rule in enumerate(rule_list) if label is None or label in {a.name for a in rule.head.stated}]
    positions = positions[:rules]
    if plain:
        for position in positions:
            console().print(Text(str(rule_list[position])), soft_wrap=True)
        return
    out = console()
    shown = amount(len(rule_list), "rule")
    if len(positions) < len(rule_list):
        shown = f"{len(positions)} of {shown}"
    reading = ", each can be read on its own"
    if rule_list.order_matters:
        reading = " of a decision list, in the order in which they are applied"
    out.print(Text(f"{shown}{reading}", style="bold"))
    evidence: Sequence[Evidence] = ()
    if instances is not None and instances.label_names:
        evidence = rule_list.evidence(instances)
        echo(f"Evaluated on {amount(len(instances), 'row')} of {data}")
    out.print(terminal.rule_table(rule_list, positions, evidence))
    out.print()
    out.print(terminal.characteristics(rule_list))


def explain(
    model: Model,
    data: Data,
    row: Annotated[list[int] | None, typer.Option(help="Row to explain, from 0; repeatable.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Maximum number of rows. Default: 10; all as CSV.")] = None,
    form: Annotated[Literal["text", "csv", "html"], typer.Option("--as", help="Output format.")] = "text",
    identifier: Identifier = None,
    decimal: Decimal = ".",
    output: Output = None,
) -> None:
    """Explain which rule decided each label of a row, and why."""
    from plurule.data.inputs import row_ids

    check_output(output, model, data)
    rule_list = loading.load_model(model)
    instances = loading.load_attributes(data, decimal=decimal, **loading.id_options(rule_list, identifier))
    maximum = limit or (len(instances) if form == "csv" else 10)
    rows = list(range(min(maximum, len(instances)))) if row is None else row
    outside = [i for i in rows if not 0 <= i < len(instances)]
    if outside:
        raise DataError(f"{data}: there is no row {outside[0]}; rows are numbered from 0 to {len(instances) - 1}")
    ids = row_ids(instances, len(instances), loading.ids_of(instances, identifier))
    explanations = rule_list.explain(instances[rows], ids=[ids[i] for i in rows])
    forms: dict[str, Callable[[], str]] = {
        "csv": lambda: to_csv(explanations.to_records()),
        "html": explanations.to_html,
        "text": explanations.to_text,
    }
    with progress_bar("explanations"):
        write_output(forms[form](), output, wrap=form == "text")


def report(
    model: Model,
    output: Annotated[Path, output_option(help="HTML file to write.")],
    data: OnData = None,
    title: Annotated[str | None, typer.Option(help="Page title. Default: name of the model file.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Rows of the data to include in the page.")] = 200,
    identifier: Identifier = None,
    decimal: Decimal = ".",
) -> None:
    """Write a report as a single HTML page that works offline.

    It shows the rules, curves and label dependencies; with --data also scores and rows to experiment with.
    """
    from plurule.errors import amount

    check_output(output, model, data)
    if data is None and identifier is not None:
        raise PluruleError("--id names a column of the data; also give --data")
    rule_list, instances = loading.load_model_and_data(model, data, decimal, identifier)
    ids = None if instances is None else loading.ids_of(instances, identifier)
    with progress_bar("report"):
        page = rule_list.to_html(instances, title=title or model.stem, examples=examples, ids=ids)
    write_output(page, output)
    if not is_standard_output(output):
        echo(f"{output}: {amount(len(rule_list), 'rule')}, {len(page) // 1024} kB")


def export(
    model: Model,
    to: Annotated[str, typer.Option(metavar="FORMAT", help=_FORMAT_HELP)],
    output: Output = None,
    table: Annotated[str | None, typer.Option(help="SQL: table with the rows. Default: instances.")] = None,
    dialect: Annotated[str | None, typer.Option(help="SQL: sqlite (default), duckdb or postgresql.")] = None,
    key: Annotated[list[str] | None, typer.Option(help="SQL: column to copy to the result; repeatable.")] = None,
    function: Annotated[str | None, typer.Option(help="Python: name of the function. Default: predict.")] = None,
    caption: Annotated[str | None, typer.Option(help="LaTeX: caption of the table.")] = None,
    formats: Annotated[
        bool,
        typer.Option(
            "--formats",
            help="List the formats, also those of other packages, and what they cannot express.",
            callback=_print_formats,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Export a model to an engine, a spreadsheet or a page."""
    from plurule.errors import amount

    check_output(output, model)
    options = {"table": table, "dialect": dialect, "keys": key, "function": function, "caption": caption}
    rule_list = loading.load_model(model)
    exported = rule_list.export(to, **{name: value for name, value in options.items() if value})
    write_output(exported, output)
    if output is not None and not is_standard_output(output):
        echo(f"{output}: {amount(len(rule_list), 'rule')}, {to}")


def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Model file.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another model file.")],
    data: OnData = None,
    decimal: Decimal = ".",
    as_json: AsJson = False,
) -> None:
    """Compare two models.

    Prints the rules that differ; with --data also predictions and scores.
    """
    from plurule.inspection.diff import diff as compare

    first, instances = loading.load_model_and_data(before, data, decimal)
    difference = compare(first, loading.load_model(after), instances)
    if as_json:
        members = {
            "rules": difference.to_records(),
            "labels_before_only": difference.labels_before_only,
            "labels_after_only": difference.labels_after_only,
            "rows_that_differ": None if difference.predictions is None else difference.predictions.rows.tolist(),
            "scores": difference.scores,
        }
        write_output(json.dumps(members, indent=2, ensure_ascii=False), None)
    else:
        echo(difference)


# Editing -------------------------------------------------------------------------------------------------------------

edit_option = partial(typer.Option, rich_help_panel="Edits (give one)", show_default=False)


def edit(
    model: Model,
    add: Annotated[
        str | None, edit_option(metavar="RULE", help="Add a rule: 'red, ¬blue <- stripes > 2 and continent = Asia'.")
    ] = None,
    at: Annotated[int | None, edit_option(help="Number of the rule that is added. Default: the last.")] = None,
    remove: Annotated[list[int] | None, edit_option(help="Remove a rule; repeatable.")] = None,
    replace: Annotated[
        tuple[int, str] | None, edit_option(metavar="NUMBER RULE", help="Replace a rule by another one.")
    ] = None,
    move: Annotated[
        tuple[int, int] | None, edit_option(metavar="NUMBER TO", help="Move a rule to another number.")
    ] = None,
    lock: Annotated[list[int] | None, edit_option(help="Protect a rule from changes; repeatable.")] = None,
    unlock: Annotated[list[int] | None, edit_option(help="Allow changes of a rule again; repeatable.")] = None,
    source: Annotated[
        Path | None,
        edit_option("--from", metavar="FILE", help="Read back a table of plurule export --to xlsx or csv."),
    ] = None,
    script: Annotated[Path | None, edit_option(metavar="FILE", help="Apply the edits that a report saved.")] = None,
    simplify: Annotated[
        bool, edit_option("--simplify", help="Remove rules and conditions that change no prediction for --data.")
    ] = False,
    tolerance: Annotated[float, typer.Option(min=0, help="Score that --simplify may lose in total.")] = 0.0,
    measure: Annotated[str, typer.Option(help="The score of --simplify.")] = "hamming_accuracy",
    data: OnData = None,
    decimal: Decimal = ".",
    output: Annotated[Path | None, output_option(help="Model file to write; may be the same as MODEL.")] = None,
) -> None:
    """Edit the rules of a model.

    Rules are numbered from 1, as in plurule show. Prints the changes, with --data also those of predictions and
    scores. Without -o nothing is written.

    plurule edit model.json --add 'red <- stripes > 2' --at 1 -o new.json
    """
    from plurule.export.spreadsheet import read_rules
    from plurule.inspection.edit import apply_script

    # A model may be edited in place, so only the other files must not be overwritten.
    check_output(output, data, source, script)
    before = None if output is None else read_if_regular(output)
    rule_list, instances = loading.load_model_and_data(model, data, decimal)
    if simplify and instances is None:
        raise PluruleError("--simplify compares predictions; also give --data")
    edits: dict[str, Sequence[Any] | None] = {
        "add": None if add is None else (add, at),
        "remove": remove,
        "replace": replace,
        "move": move,
        "lock": lock,
        "unlock": unlock,
    }
    chosen = {name: arguments for name, arguments in edits.items() if arguments}
    if len(chosen) + (source is not None) + (script is not None) + simplify != 1:
        raise PluruleError(f"give one of --{', --'.join(edits)}, --from, --script, --simplify")
    changed: Any
    if simplify:
        changed = rule_list.simplify(instances, tolerance=tolerance, measure=measure)
    elif source is not None:
        changed = rule_list.edit(instances).replace_all(read_rules(source, rule_list))
    elif script is not None:
        changed = apply_script(rule_list.edit(instances), script.read_bytes(), str(script))
    else:
        ((name, arguments),) = chosen.items()
        changed = getattr(rule_list.edit(instances), name)(*arguments)
    echo(changed, stderr=is_standard_output(output))
    if output is None:
        echo("Nothing was written; give -o FILE to keep the changes.")
    else:
        terminal.write_model(console(), changed.rule_list, output, before=before)
