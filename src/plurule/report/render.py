"""From plain data to HTML: templates with every text escaped, styles and program in the page itself."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from plurule.model.condition import format_number
from plurule.model.naming import visible
from plurule.report import charts
from plurule.report.summary import Summary, condition_parts, in_reading_order, short_number

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPTS = ("decide.js", "page.js", "near.js", "rules.js", "labels.js", "what_if.js", "parse.js", "edit.js")
"""The page's program, in the order in which its parts need each other."""


@cache
def environment() -> Environment:
    """Return the environment that finds and fills templates."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    jinja = Environment(
        loader=PackageLoader("plurule.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "number": short_number,
        "exact": format_number,
        "visible": visible,
        "percent": _percent,
        "parts": condition_parts,
        "in_reading_order": in_reading_order,
    }
    return jinja


def fill(template: str, **content: Any) -> str:
    """Return a template filled."""
    return environment().get_template(template).render(**content)


def render_page(summary: Summary, data: str) -> str:
    """Return the whole report; `data` is the JSON that the page's program reads."""
    style = _source("report.css") + "".join(f".share-{i} {{ --share: {2 * i}%; }}\n" for i in range(51))
    script = "\n".join(map(_source, SCRIPTS))
    return fill(
        "page.html",
        style=_trusted(style),
        script=_trusted(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=_trusted(data),
        summary=summary,
        curves=charts.draw_curves(summary.curves),
        length=charts.draw_length(summary.length_choice),
        bars=[bars for bars in summary.bars if bars.counts],
        maps=[charts.draw_map(heat_map) for heat_map in summary.maps],
        graph=charts.draw_graph(summary.graph),
    )


def _source(name: str) -> str:
    return files("plurule.report").joinpath("static", name).read_text(encoding="utf-8")


def _trusted(text: str) -> Any:
    """Return text of our own, which goes into the page as it is."""
    from markupsafe import Markup

    return Markup(text)


def _hash(text: str) -> str:
    """Return the hash by which the content security policy of the page allows a script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _percent(share: float | None, digits: int = 0) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f} %"
