"""The table of export formats, from which the command line and the documentation are made.

Another package adds a format by an entry point of the group `plurule.export` that names a `Format`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from plurule.errors import ModelError, nearest

if TYPE_CHECKING:
    from plurule.model import RuleList

GROUP = "plurule.export"
"""Entry points of other packages."""


@dataclass(frozen=True, slots=True)
class Format:
    """A form in which a rule list leaves plurule.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"])
    >>> FORMATS["text"].write(rules)
    'red ← stripes > 2'
    >>> FORMATS["sql"].options()
    ('table', 'dialect', 'keys')
    """

    name: str
    """Name of the format for `--to`."""
    suffix: str
    """How its files end."""
    description: str
    """Description in a few words."""
    cannot: str
    """Parts of a rule list that it refuses or leaves out; empty if nothing is lost."""
    function: str | Callable[..., str | bytes]
    """Takes a rule list, and options by name; or where that function is, as `module:name`."""

    def write(self, rule_list: RuleList, **options: Any) -> str | bytes:
        """Return a rule list in this format."""
        allowed = self.options()
        for option in options:
            if option not in allowed:
                raise ModelError(f"the format {self.name} has no option {option!r}{nearest(option, allowed)}")
        return self._loaded()(rule_list, **options)

    def options(self) -> tuple[str, ...]:
        """Return the names of the options."""
        return tuple(inspect.signature(self._loaded()).parameters)[1:]

    def _loaded(self) -> Callable[..., str | bytes]:
        if not isinstance(self.function, str):
            return self.function
        module, _, name = self.function.partition(":")
        function: Callable[..., str | bytes] = getattr(import_module(module), name)
        return function


FORMATS: dict[str, Format] = {
    own.name: own
    for own in (
        Format(
            "sql",
            ".sql",
            "query for SQLite, DuckDB or PostgreSQL",
            "probabilities; attributes whose names are one to the database; more columns than it allows",
            "plurule.export.sql:to_sql",
        ),
        Format(
            "python",
            ".py",
            "function that needs nothing but Python",
            "probabilities",
            "plurule.export.python:to_python",
        ),
        Format(
            "jdm",
            ".json",
            "decision tables for the engine GoRules ZEN",
            "probabilities; thresholds beyond ±7.9e28, or within ±5e-13 but not 0",
            "plurule.export.jdm:to_jdm",
        ),
        Format(
            "onnx",
            ".onnx",
            "model for onnxruntime",
            "lists without attributes, attributes without a name",
            "plurule.export.onnx:to_onnx",
        ),
        Format(
            "xlsx",
            ".xlsx",
            "Excel table to edit and read back",
            "cells of more than 32,767 characters; more than 16,384 columns",
            "plurule.export.spreadsheet:to_xlsx",
        ),
        Format("csv", ".csv", "the same table as CSV", "", "plurule.export.spreadsheet:to_csv"),
        Format("text", ".txt", "one line per rule, to edit and read back", "counts", "plurule.model.text:write_rules"),
        Format(
            "markdown",
            ".md",
            "table for a page",
            "counts per label; is not read back",
            "plurule.export.text:to_markdown",
        ),
        Format(
            "latex",
            ".tex",
            "table for a paper",
            "counts per label; is not read back",
            "plurule.export.text:to_latex",
        ),
    )
}
"""The formats of plurule itself, by name."""


def all_formats() -> dict[str, Format]:
    """Return the formats of plurule and of installed packages, by name; those of plurule cannot be replaced."""
    from importlib.metadata import entry_points

    others = {}
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
        except Exception as error:
            # Another package may fail in any way.
            raise ModelError(
                f"entry point {entry.name!r} of {GROUP}: {entry.value} cannot be loaded ({error})"
            ) from error
        if not isinstance(loaded, Format):
            raise ModelError(f"entry point {entry.name!r} of {GROUP}: {entry.value} is no plurule.export.Format")
        others[loaded.name] = loaded
    return others | FORMATS


def export(rule_list: RuleList, to: str, **options: Any) -> str | bytes:
    """Return a rule list in one of the formats.

    Parameters
    ----------
    rule_list
        The rules.
    to
        Name of the format.
    **options
        Options of the format.

    Examples
    --------
    >>> from plurule import RuleList
    >>> export(RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"]), "text")
    'red ← stripes > 2'
    """
    formats = FORMATS if to in FORMATS else all_formats()
    if to not in formats:
        raise ModelError(f"there is no export format {to!r}{nearest(to, formats, len(formats))}")
    return formats[to].write(rule_list, **options)


def format_table() -> str:
    """Return the formats as a table in Markdown, for the documentation."""
    lines = ["| `--to` | File | What it is | What it cannot express |", "|---|---|---|---|"]
    lines += [
        f"| `{f.name}` | `{f.suffix}` | {f.description} | {f.cannot or 'nothing is lost'} |" for f in FORMATS.values()
    ]
    return "\n".join(lines)
