"""From plain data to HTML: templates with every text escaped, styles and program in the page itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from plurule.inspection.explain import Explanation
from plurule.inspection.label_graph import LabelGraph
from plurule.model.condition import format_number
from plurule.model.naming import visible
from plurule.report import charts
from plurule.report.length_chart import draw_length
from plurule.report.summary import RuleRow, Summary, condition_text, short_number, signed_names

if TYPE_CHECKING:
    from jinja2 import Environment, Template

SCRIPTS = ("decide.js", "page.js", "rules.js", "what_if.js")
"""The page's program, in the order in which its parts need each other."""


@cache
def environment() -> Environment:
    """Where templates are found and how they are filled."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("reports need Jinja2: pip install 'plurule[report]'") from error
    made = Environment(
        loader=PackageLoader("plurule.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = short_number
    made.filters["exact"] = format_number
    made.filters["visible"] = visible
    made.filters["percent"] = _percent
    return made


def render_page(summary: Summary, data: str) -> str:
    """The whole report; `data` is the JSON that the page's program reads."""
    style = _source("report.css") + "".join(f".share-{i} {{ --share: {2 * i}%; }}\n" for i in range(51))
    script = "\n".join(_source(name) for name in SCRIPTS)
    return render_whole_page(
        environment().get_template("page.html"),
        style,
        script,
        summary=summary,
        curves=charts.draw_curves(summary.curves),
        length=draw_length(summary.length_choice),
        bars=[charts.draw_bars(bars) for bars in summary.bars if bars.values],
        maps=[charts.draw_map(heat_map) for heat_map in summary.maps],
        graph=charts.draw_graph(summary.graph),
        data=_trusted(data),
    )


def render_whole_page(template: Template, style: str, script: str, **data: Any) -> str:
    """A page that needs no other file; its policy allows this style and this script, and no other."""
    return template.render(
        style=_trusted(style), script=_trusted(script), style_hash=_hash(style), script_hash=_hash(script), **data
    )


def render_rule_table(rows: Sequence[RuleRow], more: int, title: str) -> str:
    """A table of rules for a notebook."""
    return environment().get_template("rule_table.html").render(rows=rows, more=more, title=title)


def render_explanation_tables(explanations: Sequence[Explanation], more: int) -> str:
    """One table per instance for a notebook."""
    shown = [_shown_explanation(explanation) for explanation in explanations]
    return environment().get_template("explanations.html").render(explanations=shown, more=more)


def render_graph(graph: LabelGraph) -> str:
    """The label graph as SVG for a notebook."""
    return environment().get_template("graph_alone.html").render(graph=charts.draw_graph(graph))


def _shown_explanation(explanation: Explanation) -> dict[str, Any]:
    decisions = [
        {
            "label": visible(decision.label),
            "present": decision.present,
            "number": decision.number,
            "head": () if decision.rule is None else signed_names(decision.rule),
            "reasons": [
                {"condition": condition_text(reason.condition, digits=None), "value": reason.value}
                for reason in decision.reasons
            ],
            "right": decision.right,
            "decided": decision.decided,
            "agreed": decision.agreed,
            "preempted": decision.preempted,
        }
        for decision in explanation.decisions
    ]
    return {"instance": explanation.instance, "stopped_by": explanation.stopped_by, "decisions": decisions}


def _source(name: str) -> str:
    return files("plurule.report").joinpath("static", name).read_text(encoding="utf-8")


def _trusted(text: str) -> Any:
    """Text of our own, which goes into the page as it is."""
    from markupsafe import Markup

    return Markup(text)


def _hash(text: str) -> str:
    """What the page's content security policy calls a script or style by, so that no other is run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _percent(share: float | None, digits: int = 0) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f} %"
