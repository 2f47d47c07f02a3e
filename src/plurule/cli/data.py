"""`plurule data`, `convert` and `discover`: data sets, other formats for them, and which of the labels go together."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table
from rich.text import Text

from plurule.cli.commands import SETTINGS, as_command
from plurule.cli.learner_options import Parameter, parameters_of, read_values, told_in_options
from plurule.cli.loading import Split, load_data
from plurule.cli.options import EMBEDDED
from plurule.cli.rendering import Conditions, head_text, plain_table
from plurule.cli.terminal import console, put, say, visible
from plurule.cli.watching import waiting
from plurule.model.condition import format_count
from plurule.model.naming import amount

if TYPE_CHECKING:
    from plurule.data.description import Description
    from plurule.inspection import Patterns

data_app = typer.Typer(help="Known data sets, and what a data set looks like.", no_args_is_help=True, **SETTINGS)

_SHADES = " ·░▒▓█"
_MOST_LABELS = 16
_NAME_WIDTH = 24
_WIDE = 110
"""Columns of a terminal that has room for what known data sets are about."""


@data_app.command("list")
@as_command
def list_known(as_json: bool = False) -> None:
    """List the data sets that have a name, and where each is."""
    from plurule.datasets import catalogue

    known = [_facts(name) for name in catalogue.known_names()]
    if as_json:
        put(json.dumps(known, indent=2), None)
        return
    out = console()
    table = plain_table("name", numbers=("rows", "attributes", "labels", "per row"))
    if out.width >= _WIDE:
        table.add_column("about")
    table.add_column("where", overflow="fold")
    for facts in known:
        place = Text(facts["path"], style="green") if facts["path"] else Text(_how(facts), style="dim")
        numbers = [facts[key] for key in ("rows", "attributes", "labels", "cardinality")]
        about = [facts["topic"]] if out.width >= _WIDE else []
        table.add_row(facts["name"], *("" if n is None else f"{n:g}" for n in numbers), *about, place)
    out.print(table)


@data_app.command("info")
@as_command
def show_info(name: str, as_json: bool = False) -> None:
    """Say what is known about a data set."""
    facts = _facts(name)
    if as_json:
        put(json.dumps(facts, indent=2), None)
        return
    say(f"{facts['name']}: {facts['topic']}")
    if facts["rows"] is not None:
        say(
            f"{facts['rows']} rows, {facts['attributes']} attributes, {facts['labels']} labels, "
            f"{facts['cardinality']:g} labels per row"
        )
    say(f"in {facts['path']}" if facts["path"] else _how(facts) + f" (from {facts['source']})" * bool(facts["source"]))


@data_app.command("fetch")
@as_command
def fetch_sets(names: list[str], force: bool = False) -> None:
    """Fetch data sets into the cache, unless they are there already."""
    from plurule.datasets import catalogue

    for name in names:
        known = catalogue.info(name)
        there = dict.fromkeys((file.name for file in known.files), 0)
        with waiting(known.name, "What was fetched is kept.") as share:

            def tell(file: str, n_bytes: int, _: int, there: dict[str, int] = there, known: Any = known) -> None:
                there[file] = n_bytes
                share(sum(there.values()) / sum(file.size for file in known.files))

            folder = catalogue.fetch(known, force=force, progress=tell)
        say(f"{known.name}: {folder}")


@data_app.command("describe")
@as_command
def describe_file(data: str, labels: str | None = None, split: Split = "all", as_json: bool = False) -> None:
    """Say what a data set looks like.

    Shows sizes, labels, what is missing, and which labels go together.
    """
    from plurule.data.description import describe

    dataset = load_data(data, labels, split)
    about = describe(dataset)
    if as_json:
        told = {field.name: getattr(about, field.name) for field in fields(about) if field.name != "Y"}
        put(json.dumps(told | {"never_positive": about.never_positive}, indent=2), None)
        return
    out = console()
    for title, value in _lines(about):
        out.print(Text.assemble((f"{title:<24}", "dim"), value))
    if len(dataset) and dataset.label_names:
        out.print()
        out.print("Which labels go together", style="bold")
        out.print(heat_map(about))
        left_out = sum(count > 0 for count in about.positives.values()) - _MOST_LABELS
        out.print(
            f"Share of a line's rows that also have a column's label: '{_SHADES[0]}' none, '{_SHADES[1]}' up to "
            f"a fifth, '{_SHADES[-1]}' over four fifths" + f"; {left_out} rarer labels left out" * (left_out > 0),
            style="dim",
        )


def convert(
    source: str,
    target: Path,
    labels: str | None = None,
    split: Split = "all",
    meka: bool = False,
    nominal: list[str] | None = None,
    drop: list[str] | None = None,
) -> None:
    """Write a data set in another format.

    Says what that format cannot hold.
    """
    from plurule.data import convert as convert_data
    from plurule.data.labels import parse_labels

    wanted = None if labels is None else parse_labels(labels)
    given: Any = load_data(source, labels, split) if source == EMBEDDED else source
    options: dict[str, Any] = {} if source == EMBEDDED else {"split": split}
    for note in convert_data(given, target, wanted, meka=meka, nominal=nominal or (), drop=drop or (), **options):
        say(note)
    say(f"Written to {target}")


def heat_map(about: Description) -> Table:
    """Of the instances with the label of a line, the share that also has the label of a column, as shades."""
    names, counts = list(about.positives), list(about.positives.values())
    frequent = sorted(range(len(counts)), key=lambda i: (-counts[i], i))[:_MOST_LABELS]
    shown = sorted(i for i in frequent if counts[i])
    together = about.together(shown)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", justify="right", style="dim")
    table.add_column("", no_wrap=True)
    for number in range(1, len(shown) + 1):
        table.add_column(f"{number:>2}", no_wrap=True)
    table.add_column("rows", justify="right")
    for row, i in enumerate(shown):
        cells = [
            # The darker, the larger the share; blank only for none.
            Text("──", style="dim")
            if column == row
            else Text(_SHADES[math.ceil(5 * both / counts[i])] * 2, style="cyan")
            for column, both in enumerate(together[row])
        ]
        table.add_row(str(row + 1), shortened(visible(_one_line(names[i]))), *cells, str(counts[i]))
    return table


def shortened(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else name[: _NAME_WIDTH - 1] + "…"


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _lines(about: Description) -> list[tuple[str, str]]:
    attributes = about.numeric + about.nominal
    never = about.never_positive
    some = ", ".join(_one_line(name) for name in never[:5]) + (" …" if len(never) > 5 else "")
    return [
        ("rows", f"{about.rows}" + (" (weighted)" if about.weighted else "")),
        ("attributes", f"{attributes} ({about.numeric} numeric, {about.nominal} nominal)"),
        ("labels", f"{about.labels}"),
        ("labels per row", f"{about.cardinality:.3f} (cardinality), {about.density:.4f} of all (density)"),
        ("distinct label sets", f"{about.label_sets}"),
        ("rows without a label", f"{about.unlabelled}"),
        ("missing values", f"{about.missing:.2%}"),
        ("duplicate rows", f"{about.duplicates}"),
        ("labels never positive", f"{len(never)}" + (f": {some}" if never else "")),
    ]


def _facts(name: str) -> dict[str, Any]:
    from plurule.datasets import catalogue

    known = catalogue.info(name)
    there = catalogue.where(known.name)
    keys = ("name", "topic", "rows", "attributes", "labels", "cardinality", "source")
    return {key: getattr(known, key) for key in keys} | {"path": str(there) if there else None}


def _how(facts: dict[str, Any]) -> str:
    if facts["source"]:
        return f"plurule data fetch {facts['name']}"
    return "put it into the folder that PLURULE_DATA names"


# Patterns of labels --------------------------------------------------------------------------------------------------

GIVEN_BY_DATA = ("X", "Y", "sample_weight", "label_names")


@cache
def discover_parameters() -> dict[str, Parameter]:
    """What can be said about the search for patterns."""
    from plurule.inspection import discover

    return {name: one for name, one in parameters_of(discover).items() if name not in GIVEN_BY_DATA}


def discover(
    data: str,
    labels: str | None = None,
    split: Split = "all",
    drop: list[str] | None = None,
    decimal: str = ".",
    html: Path | None = None,
    as_json: bool = False,
    **given: Any,
) -> None:
    """Find labels that go together, and where.

    Patterns are looked for on a part of the rows, and counted and tested on the others.
    """
    from plurule.inspection import discover as search

    dataset, known = load_data(data, labels, split, drop=drop or (), decimal=decimal), discover_parameters()
    with told_in_options(known):
        patterns = search(dataset, **read_values(given, known))
    if as_json:
        put(json.dumps(patterns.to_records(), indent=2, ensure_ascii=False), None)
    else:
        _show_patterns(patterns)
    if html is not None:
        page = patterns.to_html(title=f"Labels that go together: {Path(data).name}")
        put(page, html)
        say(f"{html}: {len(patterns)} patterns, {len(page) // 1024} kB", stderr=as_json)


def _show_patterns(patterns: Patterns) -> None:
    out = console()
    found = amount(len(patterns), "pattern")
    tested = f"found on {patterns.rows_searched} rows, counted and tested on {patterns.rows_tested} others"
    out.print(Text(f"{found}, {tested}", style="bold"))
    if not patterns:
        out.print("No labels go together on the rows that were searched")
        return
    out.print(_pattern_table(patterns))
    significant = len(patterns.significant())
    out.print(
        f"{significant} significant at 5 %: largest p of Fisher's tests of each part against the others, after Holm"
    )


def _pattern_table(patterns: Patterns) -> Table:
    resampled = any(pattern.stability is not None for pattern in patterns)
    numbers = ("rows", "holds", "lift", "p", *(("found again",) if resampled else ()))
    table = plain_table("#", "labels", visible("← where"), numbers=numbers)
    for number, pattern in enumerate(patterns, start=1):
        cells: list[Text | Conditions | str] = [
            Text(str(number), style="dim"),
            head_text(pattern.rule),
            Conditions(pattern.rule),
            format_count(pattern.coverage),
            f"{pattern.confidence:.0%}",
            f"{pattern.lift:.2f}",
            Text(f"{pattern.p_holm:.2g}", style="" if pattern.is_significant else "dim"),
        ]
        if pattern.stability is not None:
            cells.append(f"{pattern.stability:.0%}")
        table.add_row(*cells)
    return table
