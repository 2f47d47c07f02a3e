"""A rule list as a table in Markdown, or in LaTeX as papers show them."""

from __future__ import annotations

import re

from plurule.model import Condition, LabelCondition, RuleList
from plurule.model.condition import format_count
from plurule.model.naming import quoted
from plurule.model.text import write

MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$^-])")


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
        counts.append(escape_markdown(rule.counts_by_label()))
        lines.append(f"| {number} | {escape_markdown(write(rule))} | {' | '.join(counts)} |")
    described = [f"- {escape_markdown(line)}" for line in rule_list.meanings()]
    return "\n".join([*lines, *([""] if described else []), *described])


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is.

    >>> escape_markdown("a|b *c*")
    'a\\\\|b \\\\*c\\\\*'
    """
    return MARKDOWN_SPECIAL.sub(r"\\\1", text)


LATEX_NAMES = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "<": "less", ">": "greater", "|": "bar"}
LATEX_NAMES |= {'"': "quotedbl", "'": "quotesingle", "`": "asciigrave"}
LATEX_OPERATORS = {
    "<=": r"$\leq$",
    ">=": r"$\geq$",
    "<": "$<$",
    ">": "$>$",
    "≠": r"$\neq$",
    "in": r"$\in$",
    "not in": r"$\notin$",
}
LATEX_SPECIAL = {c: f"\\{c}" for c in "{}$&#%_"} | {c: f"\\text{name}{{}}" for c, name in LATEX_NAMES.items()}


def to_latex(rule_list: RuleList, caption: str | None = None, label: str | None = None) -> str:
    """Return a table with one row per rule, to be put in a document that uses `booktabs`, `longtable` and `textcomp`.

    Names in scripts that pdfLaTeX does not know are written as they are, for XeLaTeX and LuaLaTeX.

    Parameters
    ----------
    rule_list
        The rules.
    caption, label
        Of the table.

    Examples
    --------
    >>> from plurule import RuleList
    >>> print(to_latex(RuleList.from_text("red, ¬blue <- stripe_count > 2", ["stripe_count"], ["red", "blue"])))
    % \\usepackage{booktabs,longtable,textcomp}
    % \\usepackage[T1]{fontenc}
    \\begin{longtable}{rr@{ $\\leftarrow$ }lrrr}
    \\toprule
    \\# & \\multicolumn{2}{l}{Rule} & TP & FP & Coverage \\\\
    \\midrule
    \\endhead
    1 & red, $\\neg$blue & stripe\\_count $>$ 2 & 0 & 0 & 0 \\\\
    \\bottomrule
    \\end{longtable}
    """
    mark = "" if label is None else rf"\label{{{label}}}"
    lines = [
        *(f"% {line}" for line in rule_list.meanings()),
        r"% \usepackage{booktabs,longtable,textcomp}",
        r"% \usepackage[T1]{fontenc}",
        r"\begin{longtable}{rr@{ $\leftarrow$ }lrrr}",
        *([] if caption is None else [rf"\caption{{{escape_latex(caption)}{mark}}}\\"]),
        r"\toprule",
        r"\# & \multicolumn{2}{l}{Rule} & TP & FP & Coverage \\",
        r"\midrule",
        r"\endhead",
    ]
    for number, rule in enumerate(rule_list, start=1):
        marks = f" [{', '.join(rule.marks)}]" if rule.marks else ""
        head = ", ".join(_label(a.name, a.present) for a in rule.head)
        body = r" $\wedge$ ".join(map(_condition, rule.body))
        counts = " & ".join(map(format_count, (rule.tp, rule.fp, rule.coverage)))
        lines.append(rf"{number} & {head} & {(body + marks).lstrip()} & {counts} \\")
        by_label = escape_latex(rule.counts_by_label().replace("¬", "not "))
        if by_label:
            lines.append(rf" & \multicolumn{{5}}{{l}}{{\footnotesize right/wrong: {by_label}}} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{longtable}"])


def escape_latex(text: str) -> str:
    """Return text that LaTeX shows as it is.

    >>> escape_latex("100% of a_b")
    '100\\\\% of a\\\\_b'
    """
    # Two hyphens would become a dash.
    return (
        "".join(LATEX_SPECIAL.get(character, character) for character in text)
        .replace("--", "-{}-")
        .replace("--", "-{}-")
    )


def _label(name: str, present: bool) -> str:
    return escape_latex(quoted(name)) if present else rf"$\neg${escape_latex(quoted(name))}"


def _condition(condition: Condition) -> str:
    if isinstance(condition, LabelCondition):
        return _label(condition.name, condition.present)
    if condition.determines_value:
        return escape_latex(str(condition))
    before, after = condition.parts()
    name = escape_latex(condition.written_name())
    return " ".join((*map(_part, before), name, *map(_part, after)))


def _part(text: str) -> str:
    return LATEX_OPERATORS.get(text) or escape_latex(text)
