"""Rule lists, characteristics and scores as text on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plurule.model.condition import Condition, NumericCondition, format_count
from plurule.titles import MEASURES

if TYPE_CHECKING:
    from plurule.model import LengthChoice, Rule, RuleList

WIDTH_IN_A_PIPE = 200
"""Text that goes to a file or another program is not cut at the width of a terminal."""

THRESHOLD_DIGITS = 6
"""Enough to read; `plurule show --plain` has all of them."""


def console() -> Console:
    """Where commands print their results."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH_IN_A_PIPE)


def candidate_columns(what: str, measures: Iterable[str]) -> Table:
    """An empty table for candidates: their rank, what they are, their scores and sizes."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column(what)
    for name in (*(MEASURES.get(measure, measure) for measure in measures), "rules", "conditions"):
        table.add_column(name, justify="right")
    return table


def rule_table(rule_list: RuleList, shown: Iterable[int], title: str | None = None) -> Table:
    """The rules at the given positions, one per line."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="dim")
    table.add_column("#", justify="right", style="dim")
    table.add_column("labels")
    table.add_column("← conditions")
    for name in ("TP", "FP", "precision"):
        table.add_column(name, justify="right")
    table.add_column("")
    for position in shown:
        rule = rule_list[position]
        table.add_row(
            str(position + 1),
            head_text(rule),
            body_text(rule),
            format_count(rule.tp),
            format_count(rule.fp),
            f"{rule.precision:.2f}",
            Text("stop" if rule.stop else "", style="dim"),
        )
    return table


def head_text(rule: Rule) -> Text:
    """The labels, present ones in green and absent ones in red."""
    parts = [Text(str(a), style="green" if a.present else "red") for a in rule.head]
    return Text(", ").join(parts)


def body_text(rule: Rule) -> Text:
    """The conditions, thresholds with a few digits; a body without any covers everything."""
    if not rule.body:
        return Text("(always)", style="dim")
    return Text(" ∧ ").join([Text(str(_shortened(condition))) for condition in rule.body])


def _shortened(condition: Condition) -> Condition:
    if isinstance(condition, NumericCondition):
        return replace(condition, threshold=float(f"{condition.threshold:.{THRESHOLD_DIGITS}g}"))
    return condition


def length_text(choice: LengthChoice) -> str:
    """Where a list was cut, and why."""
    measure = MEASURES.get(choice.measure, choice.measure)
    chosen, best = (f"{measure} {choice.mean[length - 1]:.3f}" for length in (choice.chosen, choice.best))
    rules = f"{choice.chosen} rule{'' if choice.chosen == 1 else 's'}"
    if choice.chosen == choice.best:
        return f"Cut after {rules}, the best length on validation data ({chosen})"
    return f"Cut after {rules} ({chosen} on validation data; best with {choice.best} rules: {best})"


def column_table(rows: Mapping[str, str], columns: Mapping[str, Mapping[str, Any]], digits: int = 3) -> Table:
    """Numbers side by side: one line per key of `rows`, one column per model (a single one may be unnamed)."""
    table = Table(box=None, pad_edge=False, header_style="dim", show_header=any(columns))
    table.add_column("")
    for name in columns:
        table.add_column(name, justify="right")
    for key, title in rows.items():
        if all(key in values for values in columns.values()):
            table.add_row(title, *(number(values[key], digits) for values in columns.values()))
    return table


def number(value: float, digits: int) -> str:
    """Counts as they are, measured values with the given number of digits.

    >>> number(12, digits=3), number(0.8125, digits=2), number(1.0, digits=2)
    ('12', '0.81', '1.00')
    """
    return str(value) if isinstance(value, int) else f"{value:.{digits}f}"
