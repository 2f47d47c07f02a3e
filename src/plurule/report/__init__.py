"""A rule list as one HTML page that needs no server and no network, and as pieces of HTML for notebooks.

The page is made in three steps: `summary` counts, `charts` and `payload` bring the counts into the form that is drawn,
and `render` fills templates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from plurule.data.inputs import row_ids
from plurule.inspection.data import match
from plurule.inspection.explain import Explanation
from plurule.inspection.label_graph import LabelGraph
from plurule.model import RuleList
from plurule.report.charts import draw_graph
from plurule.report.payload import payload
from plurule.report.render import fill, render_page, render_patterns
from plurule.report.summary import summarise

__all__ = ["render_explanations", "render_patterns", "to_html"]

MOST_ROWS_IN_A_NOTEBOOK = 50


def to_html(
    rule_list: RuleList,
    X: Any = None,
    Y: Any = None,
    *,
    title: str | None = None,
    examples: int = 200,
    ids: Sequence[Any] | None = None,
) -> str:
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
    ids
        What the instances are called; unless given, as in the index of a pandas frame, or the row names of a data set.

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


def rule_table(rule_list: RuleList) -> str | None:
    """A table of the rules for a notebook; None without Jinja2, where the notebook shows text."""
    return _unless_missing(fill, "rule_table.html", rules=rule_list, most=MOST_ROWS_IN_A_NOTEBOOK)


def render_explanations(explanations: Sequence[Explanation], limit: int | None = None) -> str:
    """A piece of HTML with one table per instance (needs Jinja2); `RuleList.explain(X).to_html()` calls it.

    Parameters
    ----------
    explanations
        What `explain` gives.
    limit
        At most so many instances; all, unless given.

    Examples
    --------
    >>> from plurule.inspection import explain
    >>> render_explanations(explain(RuleList((), (), ("red",)), [[], []]), limit=1).count("<table")
    1
    """
    shown = explanations[:limit]
    return fill("explanations.html", explanations=shown, more=len(explanations) - len(shown))


def explanations_in_a_notebook(explanations: Sequence[Explanation]) -> str | None:
    """Tables of the first explanations; None without Jinja2."""
    return _unless_missing(render_explanations, explanations, limit=10)


def graph_svg(graph: LabelGraph) -> str | None:
    """The graph of label dependencies for a notebook; None without Jinja2."""
    return _unless_missing(fill, "graph_alone.html", graph=draw_graph(graph))


def _unless_missing(render: Callable[..., str], *given: Any, **named: Any) -> str | None:
    try:
        return render(*given, **named)
    except ImportError:
        return None
