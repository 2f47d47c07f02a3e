"""Rule lists, characteristics and scores as text on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from plurule.cli.terminal import put, takes_output, visible
from plurule.model import LengthChoice, Rule, RuleList
from plurule.model import file as model_file
from plurule.model.condition import LabelCondition, format_count, to_text
from plurule.model.naming import amount
from plurule.titles import CHARACTERISTICS, MEASURES

if TYPE_CHECKING:
    from plurule.inspection.evidence import Evidence

THRESHOLD_DIGITS = 6
"""Enough to read; `plurule show --plain` has all of them."""


def plain_table(*columns: str, numbers: Iterable[str] = (), table: Table | None = None) -> Table:
    """An empty table without lines, or one with more columns; those of numbers are aligned at the right.

    Where a terminal is narrow, titles of several words take several lines; those of one word are not broken.
    """
    table = table or Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=" " not in name)
    return table


def rule_table(rule_list: RuleList, shown: Iterable[int], found: Sequence[Evidence] = ()) -> Table:
    """The rules at the given positions, one per line; with what was found on data, if anything was."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("#", justify="right", style="dim", no_wrap=True)
    plain_table("labels", visible("← conditions"), table=table)
    for name in ("right", "precision (95 %)") if found else ("TP", "FP"):
        table.add_column(name, justify="right", no_wrap=True)
    plain_table(numbers=["in training"], table=table)
    table.add_column("", no_wrap=True)
    for position in shown:
        rule = rule_list[position]
        counted = [format_count(rule.tp), format_count(rule.fp)]
        if found:
            one = found[position]
            share = f"{one.precision:.2f} ({one.low:.2f}-{one.high:.2f})" if one.decided else "-"
            counted = [f"{format_count(one.right)} of {format_count(one.decided)}", share]
        trained = "-" if rule.precision != rule.precision else f"{rule.precision:.2f}"
        stop = Text("stop" if rule.stop else "", style="dim")
        table.add_row(str(position + 1), head_text(rule), Conditions(rule), *counted, trained, stop)
    return table


def head_text(rule: Rule) -> Text:
    """The labels, present ones in green and absent ones in red."""
    parts = [Text(visible(str(a)), style="green" if a.present else "red") for a in rule.head.stated]
    return Text(", ").join(parts)


class Conditions:
    """The conditions of a body, thresholds with a few digits; lines end between conditions where these fit on one."""

    def __init__(self, rule: Rule) -> None:
        said = [str(c) if isinstance(c, LabelCondition) else to_text(c, THRESHOLD_DIGITS) for c in rule.body]
        self.parts = [visible(f"∧ {text}" if i else text) for i, text in enumerate(said)]
        self.whole = Text(" ".join(self.parts)) if said else Text("(always)", style="dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self.whole)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, lines = options.max_width, [""]
        for part in self.parts or [self.whole.plain]:
            # A condition begins a line if it does not fit; in it lines end between words, and in names at underscores.
            if lines[-1] and cell_len(f"{lines[-1]}{part}") > width:
                lines.append("")
            for word in re.split(r"(?<= )", f"{part} "):
                for piece in [word] if cell_len(word.rstrip()) <= width else re.split("(?<=_)", word):
                    if piece and cell_len(f"{lines[-1]}{piece.rstrip()}") > width:
                        lines.append("")
                    lines[-1] += piece
        yield Text("\n".join(line.rstrip() for line in lines), style=self.whole.style, overflow="fold")


def length_text(choice: LengthChoice) -> str:
    """Where a list was cut, and why."""
    measure = MEASURES.get(choice.measure, choice.measure)
    chosen, best = (f"{measure} {choice.mean[length - 1]:.3f}" for length in (choice.chosen, choice.best))
    rules = amount(choice.chosen, "rule")
    if choice.constant is not None:
        made = f"{choice.how[:1].upper()}{choice.how[1:]}; up to {rules}"
        score = f"{measure} {choice.score[0]:.3f} on data held out"
        return f"{made} ({score}; the best label set that is always the same: {choice.constant:.3f})"
    if choice.chosen == choice.best:
        return f"Cut after {rules}, the best length on validation data ({chosen})"
    return f"Cut after {rules} ({chosen} on validation data; best with {choice.best} rules: {best})"


def characteristics(rule_list: RuleList) -> Table:
    """What a model consists of."""
    return column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2)


def keep_model(out: Console, rule_list: RuleList, output: Path) -> None:
    """Write a model, and say where it is."""
    put(model_file.dumps(rule_list), output)
    if not takes_output(output):
        out.print(Text(f"Written to {output}; look at it with: plurule show {output}"), soft_wrap=True)


def column_table(rows: Mapping[str, str], columns: Mapping[str, Mapping[str, Any]], digits: int = 3) -> Table:
    """Numbers side by side: one line per key of `rows`, one column per model (a single one may be unnamed)."""
    table = plain_table("", numbers=columns)
    table.show_header = any(columns)
    for key, title in rows.items():
        if any(key in values for values in columns.values()):
            table.add_row(title, *(number(values[key], digits) if key in values else "" for values in columns.values()))
    return table


def number(value: float, digits: int) -> str:
    """Counts as they are, measured values with the given number of digits."""
    return str(value) if isinstance(value, int) else f"{value:.{digits}f}"
