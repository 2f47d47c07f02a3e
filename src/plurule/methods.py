"""The methods that connect the model with what stands above it, such as `rule_list.to_sql()`.

The model is below exports, explanations and reports and imports none of them. It inherits from empty classes
(`plurule._attached`), and here, at the top, they get their methods, whenever any part of plurule is imported. A method
is a function of a part above, with its signature and its help; that part is imported when the method is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from types import MethodType
from typing import Any

from plurule import _attached

METHODS: dict[type, dict[str, str]] = {
    _attached.RuleListMethods: {
        "describe": "data.describe",
        "explain": "inspection.explain",
        "dependencies": "inspection.dependencies",
        "edit": "inspection.Edit.of",
        "simplify": "inspection.simplify",
        "prune": "inspection.prune",
        "check": "inspection.check",
        "evidence": "inspection.evidence",
        "to_frame": "inspection.to_frame",
        "stability": "inspection.stability",
        "to_sql": "export.to_sql",
        "to_python": "export.to_python",
        "to_markdown": "export.to_markdown",
        "to_latex": "export.to_latex",
        "to_html": "report.to_html",
        "_repr_html_": "report.rule_table",
    },
    _attached.ExplanationsMethods: {
        "to_html": "report.render_explanations",
        "_repr_html_": "report.explanations_in_a_notebook",
    },
    _attached.PatternsMethods: {"to_html": "report.render_patterns"},
    _attached.LabelGraphMethods: {"_repr_html_": "report.graph_svg"},
}
"""By class and name: the function of `plurule` that the method is."""


class Method:
    """A function of a part above as a method: its first parameter is the object."""

    def __init__(self, home: str):
        self.part, _, self.function = home.partition(".")

    def __get__(self, instance: Any, owner: type) -> Callable[..., Any]:
        function: Callable[..., Any] = attrgetter(self.function)(import_module(f"plurule.{self.part}"))
        return function if instance is None else MethodType(function, instance)


for _owner, _homes in METHODS.items():
    for _name, _home in _homes.items():
        setattr(_owner, _name, Method(_home))
