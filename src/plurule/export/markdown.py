"""A rule list as a table in Markdown."""

from __future__ import annotations

import re

from plurule.model import RuleList
from plurule.model.condition import format_count
from plurule.model.text import write

SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$^-])")


def to_markdown(rule_list: RuleList) -> str:
    """Return one row per rule: its number, its text, its counts.

    Parameters
    ----------
    rule_list
        The rules.

    Examples
    --------
    >>> from plurule import RuleList
    >>> print(to_markdown(RuleList.from_text("red <- stripe_count > 2 [stop]", ["stripe_count"], ["red"])))
    | # | Rule | TP | FP | Precision | Coverage | Right/wrong by label |
    |--:|:-----|---:|---:|----------:|---------:|:---------------------|
    | 1 | red ← stripe\\_count \\> 2 \\[stop\\] | 0 | 0 | 0.000 | 0 |  |
    """
    lines = [
        "| # | Rule | TP | FP | Precision | Coverage | Right/wrong by label |",
        "|--:|:-----|---:|---:|----------:|---------:|:---------------------|",
    ]
    for number, rule in enumerate(rule_list, start=1):
        counts = [format_count(rule.tp), format_count(rule.fp), f"{rule.precision:.3f}", format_count(rule.coverage)]
        counts.append(escape(rule.counts_by_label()))
        lines.append(f"| {number} | {escape(write(rule))} | {' | '.join(counts)} |")
    described = [f"- {escape(line)}" for line in rule_list.meanings()]
    return "\n".join([*lines, *([""] if described else []), *described])


def escape(text: str) -> str:
    """Return text that Markdown shows as it is.

    >>> escape("a|b *c*")
    'a\\\\|b \\\\*c\\\\*'
    """
    return SPECIAL.sub(r"\\\1", text)
