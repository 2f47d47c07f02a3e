"""`plurule data` and `plurule convert`: known data sets, what a data set looks like, and other formats."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from plurule.cli import rendering
from plurule.cli.loading import DataArgument, LabelsOption, SplitOption

if TYPE_CHECKING:
    from plurule.data.description import Description

data_app = typer.Typer(help="Known data sets, and what a data set looks like.", no_args_is_help=True)

_SHADES = " ·░▒▓█"
_MOST_LABELS = 16
_NAME_WIDTH = 24


@data_app.command("list")
def list_known(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the data sets that have a name, and where each is."""
    from plurule.datasets import catalogue

    names = catalogue.known_names()
    if as_json:
        print(json.dumps([_facts(name) for name in names], indent=2))
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("name")
    for title in ("rows", "attributes", "labels", "per row"):
        table.add_column(title, justify="right")
    table.add_column("about")
    table.add_column("where")
    for name in names:
        facts = _facts(name)
        place = Text(facts["path"], style="green") if facts["path"] else Text(_how(facts), style="dim")
        numbers = [facts[key] for key in ("rows", "attributes", "labels", "cardinality")]
        table.add_row(name, *("" if n is None else f"{n:g}" for n in numbers), facts["topic"], place)
    rendering.console().print(table)


@data_app.command("info")
def show_info(
    name: Annotated[str, typer.Argument(help="Name of a data set.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say what is known about a data set."""
    facts = _facts(name)
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    out = rendering.console()
    out.print(f"{facts['name']}: {facts['topic']}")
    if facts["rows"] is not None:
        out.print(
            f"{facts['rows']} rows, {facts['attributes']} attributes, {facts['labels']} labels, "
            f"{facts['cardinality']:g} labels per row"
        )
    out.print(f"in {facts['path']}" if facts["path"] else _how(facts))


@data_app.command("fetch")
def fetch_sets(
    names: Annotated[list[str], typer.Argument(help="Names of data sets.")],
    force: Annotated[bool, typer.Option("--force", help="Fetch anew though it is there.")] = False,
) -> None:
    """Fetch data sets into the cache, unless they are there already."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from plurule.datasets import catalogue

    out = rendering.console()
    for name in names:
        known = catalogue.info(name)
        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
            tasks: dict[str, Any] = {}

            def show(file: str, there: int, size: int, bars: Any = bars, tasks: dict[str, Any] = tasks) -> None:
                if file not in tasks:
                    tasks[file] = bars.add_task(file, total=size)
                bars.update(tasks[file], completed=there)

            folder = catalogue.fetch(known, force=force, progress=show)
        out.print(f"{known.name}: {folder}")


@data_app.command("describe")
def describe_file(
    data: DataArgument,
    labels: LabelsOption = None,
    split: SplitOption = "all",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Say what a data set looks like: sizes, labels, what is missing, which labels go together."""
    from plurule.cli.loading import load_data
    from plurule.data.description import describe

    dataset = load_data(data, labels, split)
    about = describe(dataset)
    if as_json:
        print(json.dumps(_as_json(about), indent=2))
        return
    out = rendering.console()
    for title, value in _lines(about):
        out.print(Text.assemble((f"{title:<24}", "dim"), value))
    if len(dataset) and dataset.label_names:
        out.print()
        out.print(Text("Which labels go together", style="bold"))
        out.print(heat_map(about))
        left_out = sum(count > 0 for count in about.positives.values()) - _MOST_LABELS
        out.print(
            Text(
                f"Share of a line's rows that also have a column's label: '{_SHADES[0]}' none, '{_SHADES[1]}' up to "
                f"a fifth, '{_SHADES[-1]}' over four fifths" + f"; {left_out} rarer labels left out" * (left_out > 0),
                style="dim",
            )
        )


def convert(
    source: Annotated[str, typer.Argument(metavar="FROM", help="Data file, or base name of a -train/-test pair.")],
    target: Annotated[Path, typer.Argument(metavar="TO", help="File to write: .arff, .csv, .tsv or .parquet.")],
    labels: LabelsOption = None,
    split: SplitOption = "all",
    meka: Annotated[bool, typer.Option("--meka", help="Write ARFF for MEKA instead of Mulan.")] = False,
    nominal: Annotated[
        list[str] | None, typer.Option(help="CSV column that is nominal though its values are numbers; repeatable.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; repeatable.")] = None,
) -> None:
    """Write a data set in another format, and say what that format cannot hold."""
    from plurule.cli.loading import load_data
    from plurule.data import convert as convert_data
    from plurule.data.labels import parse_labels

    wanted = None if labels is None else parse_labels(labels)
    embedded = load_data(source, labels, split) if _is_embedded(source) else source
    options: dict[str, Any] = {} if _is_embedded(source) else {"split": split}
    notes = convert_data(embedded, target, wanted, meka=meka, nominal=nominal or (), drop=drop or (), **options)
    out = rendering.console()
    for note in notes:
        out.print(note)
    out.print(f"Written to {target}")


def heat_map(about: Description) -> Table:
    """Of the instances with the label of a line, the share that also has the label of a column, as shades."""
    counts = about.together.diagonal()
    shown = sorted(range(len(counts)), key=lambda i: (-counts[i], i))[:_MOST_LABELS]
    shown = sorted(i for i in shown if counts[i])
    names = list(about.positives)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", justify="right", style="dim")
    table.add_column("")
    for position in range(len(shown)):
        table.add_column(f"{position + 1:>2}", no_wrap=True)
    table.add_column("rows", justify="right")
    for position, i in enumerate(shown):
        cells = [
            Text("──", style="dim") if i == j else Text(_shade(about.together[i, j] / counts[i]) * 2, style="cyan")
            for j in shown
        ]
        table.add_row(str(position + 1), _short(names[i]), *cells, str(counts[i]))
    return table


def _shade(share: float) -> str:
    """A character that is the darker, the larger the share; blank only for none."""
    steps = len(_SHADES) - 1
    return _SHADES[min(math.ceil(share * steps), steps)]


def _short(name: str) -> str:
    name = _one_line(name)
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "…"


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _lines(about: Description) -> list[tuple[str, str]]:
    attributes = about.numeric + about.nominal
    lines = [
        ("rows", f"{about.rows}" + (" (weighted)" if about.weighted else "")),
        ("attributes", f"{attributes} ({about.numeric} numeric, {about.nominal} nominal)"),
        ("labels", f"{about.labels}"),
        ("labels per row", f"{about.cardinality:.3f} (cardinality), {about.density:.4f} of all (density)"),
        ("distinct label sets", f"{about.label_sets}"),
        ("rows without a label", f"{about.unlabelled}"),
        ("missing values", f"{about.missing:.2%}"),
        ("duplicate rows", f"{about.duplicates}"),
    ]
    never = about.never_positive
    some = ", ".join(_one_line(name) for name in never[:5]) + (" …" if len(never) > 5 else "")
    lines.append(("labels never positive", f"{len(never)}" + (f": {some}" if never else "")))
    return lines


def _as_json(about: Description) -> dict[str, Any]:
    names = ("rows", "numeric", "nominal", "labels", "cardinality", "density", "label_sets", "unlabelled", "missing",
             "duplicates", "never_positive", "weighted", "positives")  # fmt: skip
    return {name: getattr(about, name) for name in names}


def _facts(name: str) -> dict[str, Any]:
    from plurule.datasets import catalogue

    known = catalogue.info(name)
    there = catalogue.where(known.name)
    return {
        "name": known.name,
        "topic": known.topic,
        "rows": known.rows,
        "attributes": known.attributes,
        "labels": known.labels,
        "cardinality": known.cardinality,
        "source": known.source,
        "path": str(there) if there else None,
    }


def _how(facts: dict[str, Any]) -> str:
    if facts["source"]:
        return f"plurule data fetch {facts['name']} (from {facts['source']})"
    return "put it into the folder that PLURULE_DATA names"


def _is_embedded(source: str) -> bool:
    from plurule.cli.loading import EMBEDDED

    return source == EMBEDDED
