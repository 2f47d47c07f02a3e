"""A rule list as one HTML page that needs no server and no network, and as pieces of HTML for notebooks.

The page is made in three steps: `summary` counts, `charts` and `payload` bring the counts into the form that is drawn,
and `render` fills templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plurule.inspection.explain import Explanation
from plurule.inspection.label_graph import LabelGraph
from plurule.model import RuleList
from plurule.report.payload import payload
from plurule.report.render import render_explanation_tables, render_graph, render_page, render_rule_table
from plurule.report.summary import rule_rows, summarise

__all__ = ["graph_svg", "render_explanations", "rule_table", "to_html"]

MOST_ROWS_IN_A_NOTEBOOK = 50


def to_html(rule_list: RuleList, X: Any = None, Y: Any = None, *, title: str | None = None, examples: int = 200) -> str:
    """A report on a rule list as one HTML page.

    Parameters
    ----------
    rule_list
        The rules.
    X
        Instances to count on and to try the rules with, or a data set. Without, the counts are those of training.
    Y
        Their true labels, for scores.
    title
        What stands at the top.
    examples
        How many instances the page holds, to be looked at and changed.

    Returns
    -------
    str
        The page. Write it to a file and open that in a browser.
    """
    summary = summarise(rule_list, X, Y, title)
    return render_page(summary, payload(rule_list, summary, X, Y, examples))


def rule_table(rule_list: RuleList) -> str | None:
    """A table of the rules for a notebook; None without Jinja2, where the notebook shows text."""
    rows = rule_rows(rule_list[:MOST_ROWS_IN_A_NOTEBOOK])
    title = f"{len(rule_list)} rules, {len(rule_list.labels)} labels"
    try:
        return render_rule_table(rows, len(rule_list) - len(rows), title)
    except ImportError:
        return None


def render_explanations(explanations: Sequence[Explanation], total: int) -> str:
    """Tables of explanations for a notebook."""
    return render_explanation_tables(explanations, total - len(explanations))


def graph_svg(graph: LabelGraph) -> str | None:
    """The graph of label dependencies for a notebook; None without Jinja2."""
    try:
        return render_graph(graph)
    except ImportError:
        return None
