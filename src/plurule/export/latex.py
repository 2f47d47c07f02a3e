"""A rule list as a LaTeX table, as papers show them."""

from __future__ import annotations

from plurule.model import Condition, LabelCondition, RuleList
from plurule.model.condition import format_count
from plurule.model.naming import quoted

NAMED = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde", "<": "less", ">": "greater", "|": "bar"}
NAMED |= {'"': "quotedbl", "'": "quotesingle", "`": "asciigrave"}
OPERATORS = {
    "<=": r"$\leq$",
    ">=": r"$\geq$",
    "<": "$<$",
    ">": "$>$",
    "≠": r"$\neq$",
    "in": r"$\in$",
    "not in": r"$\notin$",
}
SPECIAL = {c: f"\\{c}" for c in "{}$&#%_"} | {c: f"\\text{name}{{}}" for c, name in NAMED.items()}


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
        *([] if caption is None else [rf"\caption{{{escape(caption)}{mark}}}\\"]),
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
        by_label = escape(rule.counts_by_label().replace("¬", "not "))
        if by_label:
            lines.append(rf" & \multicolumn{{5}}{{l}}{{\footnotesize right/wrong: {by_label}}} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{longtable}"])


def escape(text: str) -> str:
    """Return text that LaTeX shows as it is.

    >>> escape("100% of a_b")
    '100\\\\% of a\\\\_b'
    """
    # Two hyphens would become a dash.
    return "".join(SPECIAL.get(character, character) for character in text).replace("--", "-{}-").replace("--", "-{}-")


def _label(name: str, present: bool) -> str:
    return escape(quoted(name)) if present else rf"$\neg${escape(quoted(name))}"


def _condition(condition: Condition) -> str:
    if isinstance(condition, LabelCondition):
        return _label(condition.name, condition.present)
    if condition.determines_value:
        return escape(str(condition))
    before, after = condition.parts()
    name = escape(condition.written_name())
    return " ".join((*map(_part, before), name, *map(_part, after)))


def _part(text: str) -> str:
    return OPERATORS.get(text) or escape(text)
