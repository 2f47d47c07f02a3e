"""From plain data to HTML: templates with every text escaped, styles and program in the page itself."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from plurule.inspection.patterns import Patterns
from plurule.model.condition import format_number
from plurule.model.naming import visible
from plurule.report import charts
from plurule.report.summary import Summary, condition_parts, in_reading_order, short_number, to_draw

if TYPE_CHECKING:
    from jinja2 import Environment, Template

SCRIPTS = ("decide.js", "page.js", "near.js", "rules.js", "labels.js", "what_if.js")
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
    made.filters |= {
        "number": short_number,
        "exact": format_number,
        "visible": visible,
        "percent": _percent,
        "parts": condition_parts,
        "in_reading_order": in_reading_order,
    }
    return made


def fill(template: str, **content: Any) -> str:
    """A template filled."""
    return environment().get_template(template).render(**content)


def render_page(summary: Summary, data: str) -> str:
    """The whole report; `data` is the JSON that the page's program reads."""
    return _render(
        "page.html",
        SCRIPTS,
        data=_trusted(data),
        summary=summary,
        curves=charts.draw_curves(summary.curves),
        length=charts.draw_length(summary.length_choice),
        bars=[bars for bars in summary.bars if bars.counts],
        maps=[charts.draw_map(heat_map) for heat_map in summary.maps],
        graph=charts.draw_graph(summary.graph),
    )


def render_patterns(patterns: Patterns, title: str | None = None) -> str:
    """Patterns of labels as one HTML page with a graph of the labels that go together.

    Parameters
    ----------
    patterns
        What `plurule.discover` found.
    title
        What stands at the top.

    Examples
    --------
    >>> from plurule import discover
    >>> from plurule.datasets import load_canteen_dishes
    >>> found = discover(load_canteen_dishes(), k=2, max_conditions=0, resamples=0)
    >>> "<title>Labels of dishes</title>" in render_patterns(found, title="Labels of dishes")
    True
    """
    graph, left_out = to_draw(patterns.to_graph())
    return _render(
        "patterns.html",
        SCRIPTS[:2],
        patterns=patterns,
        title=visible(title) if title else "Labels that go together",
        resampled=any(pattern.stability is not None for pattern in patterns),
        graph=charts.draw_graph(graph),
        left_out=left_out,
        said_by="pattern",
    )


def _render(template: str, scripts: Sequence[str], **data: Any) -> str:
    style = _source("report.css") + "".join(f".share-{i} {{ --share: {2 * i}%; }}\n" for i in range(51))
    script = "\n".join(map(_source, scripts))
    return render_whole_page(environment().get_template(template), style, script, **data)


def render_whole_page(template: Template, style: str, script: str, **data: Any) -> str:
    """A page that needs no other file; its policy allows this style and this script, and no other."""
    return template.render(
        style=_trusted(style), script=_trusted(script), style_hash=_hash(style), script_hash=_hash(script), **data
    )


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
