"""Tables of rules, sizes and scores on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plurule.cli.terminal import is_standard_output, put, visible
from plurule.files import write_unless_changed
from plurule.model import Rule, RuleList
from plurule.model import file as model_file
from plurule.model.condition import format_count
from plurule.titles import CHARACTERISTICS

if TYPE_CHECKING:
    from plurule.inspection.evidence import Evidence

THRESHOLD_DIGITS = 6
"""Digits of thresholds in tables; `plurule show --plain` prints all of them."""


def rule_table(rule_list: RuleList, positions: Sequence[int], evidence: Sequence[Evidence] = ()) -> Table:
    """Return a table of the rules at the given positions, with the evidence of each rule on data if there is some."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("#", justify="right", style="dim", no_wrap=True)
    table.add_column("labels", overflow="fold")
    table.add_column(visible("← conditions"), overflow="fold")
    for name in ("right", "precision (95 %)") if evidence else ("TP", "FP"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("in training", justify="right")
    table.add_column("", no_wrap=True)
    counted_where = "right/wrong in training" if evidence else "right/wrong"
    for position in positions:
        rule = rule_list[position]
        counted = [format_count(rule.tp), format_count(rule.fp)]
        if evidence:
            counts = evidence[position]
            precision = f"{counts.precision:.2f} ({counts.low:.2f}-{counts.high:.2f})" if counts.decided else "-"
            counted = [f"{format_count(counts.right)} of {format_count(counts.decided)}", precision]
        in_training = f"{rule.precision:.2f}" if rule.tp + rule.fp > 0 else "-"
        stop = Text("stop" if rule.stop else "", style="dim")
        conditions = body_text(rule)
        by_label = rule.counts_by_label()
        if by_label:
            conditions = Text.assemble(conditions, "\n", (f"{counted_where}: {visible(by_label)}", "dim"))
        table.add_row(str(position + 1), head_text(rule), conditions, *counted, in_training, stop)
    return table


def head_text(rule: Rule) -> Text:
    """Return the labels of a head, present ones in green and absent ones in red."""
    parts = [Text(visible(str(a)), style="green" if a.present else "red") for a in rule.head.stated]
    return Text(", ").join(parts)


def body_text(rule: Rule) -> Text:
    """Return the conditions of a body, thresholds with a few digits."""
    conditions = [visible(condition.text(THRESHOLD_DIGITS)) for condition in rule.body]
    return Text(visible(" ∧ ").join(conditions)) if conditions else Text("(always)", style="dim")


def characteristics(rule_list: RuleList) -> Table:
    """Return a table of the sizes of a model."""
    return column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2)


def write_model(out: Console, rule_list: RuleList, output: Path, **unchanged: bytes | None) -> None:
    """Write a model, and print how to look at it; with `before`, only if the file still has that content."""
    text = model_file.dumps(rule_list)
    if unchanged and not is_standard_output(output):
        write_unless_changed(output, text, **unchanged)
    else:
        put(text, output)
    if not is_standard_output(output):
        out.print(Text(f"Written to {output}; look at it with: plurule show {output}"), soft_wrap=True)


def column_table(rows: Mapping[str, str], columns: Mapping[str, Mapping[str, Any]], digits: int = 3) -> Table:
    """Return a table of numbers: one line per key of `rows`, one column per model (a single one may be unnamed)."""
    table = Table("", box=None, pad_edge=False, header_style="dim", show_header=any(columns))
    for name in columns:
        table.add_column(name, justify="right", no_wrap=" " not in name)
    for key, title in rows.items():
        if any(key in values for values in columns.values()):
            table.add_row(title, *(number(values[key], digits) if key in values else "" for values in columns.values()))
    return table


def number(value: float, digits: int) -> str:
    """Return counts as they are, measured values with the given number of digits."""
    return str(value) if isinstance(value, int) else f"{value:.{digits}f}"
