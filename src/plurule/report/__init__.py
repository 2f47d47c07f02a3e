"""A rule list as one HTML page that needs no server and no network, and as pieces of HTML for notebooks.

The page is made in three steps: `summary` counts, `charts` and `payload` bring the counts into the form that is drawn,
and `render` fills templates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plurule.data.inputs import row_ids
from plurule.inspection.data import match
from plurule.inspection.dependencies import LabelGraph
from plurule.inspection.explain import Explanation
from plurule.model import Rule, RuleList
from plurule.report.charts import draw_graph
from plurule.report.payload import payload
from plurule.report.render import fill, render_page
from plurule.report.summary import summarise

__all__ = ["explanations_to_html", "to_html"]

MOST_RULES_IN_NOTEBOOK = 50
MOST_EXPLANATIONS_IN_NOTEBOOK = 10


def to_html(
    rule_list: RuleList,
    X: Any = None,
    Y: Any = None,
    *,
    title: str | None = None,
    examples: int = 200,
    ids: Sequence[Any] | None = None,
) -> str:
    """Return a report on a rule list as one HTML page.

    Parameters
    ----------
    rule_list
        The rules.
    X
        Instances to count on and to try the rules with, or a data set. Without, the counts are those of training.
    Y
        Their true labels, for scores.
    title
        Page title.
    examples
        Number of instances in the page, to be looked at and changed.
    ids
        Names of the instances; unless given, as in the index of a pandas frame, or the row names of a data set.

    Returns
    -------
    str
        The page. Write it to a file and open that in a browser.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2", ["stripes"], ["red", "white"])
    >>> page = to_html(rules, [[1.0], [3.0]], [[0, 1], [1, 1]], title="Flags")
    >>> "<title>Flags</title>" in page
    True
    """
    table, truth = (None, None) if X is None else match(rule_list, X, Y)[:2]
    summary = summarise(rule_list, table, truth, title)
    names = [] if table is None else row_ids(X, len(table), ids)
    return render_page(summary, payload(rule_list, summary, table, truth, examples, names))


def rules_in_notebook(rule_list: RuleList) -> str:
    """Return a table of the rules for a notebook."""
    return fill("rule_table.html", rules=rule_list, most=MOST_RULES_IN_NOTEBOOK)


def rule_in_notebook(rule: Rule) -> str:
    """Return a rule for a notebook."""
    return fill("rule.html", rule=rule)


def explanations_to_html(explanations: Sequence[Explanation], limit: int | None = None) -> str:
    """Return a piece of HTML with one table per instance; `RuleList.explain(X).to_html()` calls it.

    Parameters
    ----------
    explanations
        The result of `explain`.
    limit
        At most so many instances; all, unless given.

    Examples
    --------
    >>> from plurule.inspection.explain import explain
    >>> explanations_to_html(explain(RuleList((), (), ("red",)), [[], []]), limit=1).count("<table")
    1
    """
    shown = explanations[:limit]
    return fill("explanations.html", explanations=shown, more=len(explanations) - len(shown))


def explanations_in_notebook(explanations: Sequence[Explanation]) -> str:
    """Return tables of the first explanations for a notebook."""
    return explanations_to_html(explanations, MOST_EXPLANATIONS_IN_NOTEBOOK)


def graph_in_notebook(graph: LabelGraph) -> str:
    """Return the graph of label dependencies for a notebook."""
    return fill("graph_alone.html", graph=draw_graph(graph))
