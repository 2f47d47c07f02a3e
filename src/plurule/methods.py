"""The methods that connect the model with what stands above it, such as `rule_list.to_sql()`.

The model is below exports, explanations and reports and imports none of them. It inherits from empty classes
(`plurule._attached`), and here, at the top, they get their methods, whenever any part of plurule is imported. What a
method needs is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from plurule import _attached

if TYPE_CHECKING:
    from plurule.heuristics import Heuristic
    from plurule.inspection import Dependencies, Edit, Explanations, Finding, Simplified
    from plurule.model import RuleList


class RuleListMethods:
    """What can be done with a rule list."""

    __slots__ = ()

    def explain(self: Any, X: Any) -> Explanations:
        """Which rule decided each label of each instance, and why; see `plurule.inspection.explain`."""
        from plurule.inspection import explain

        return explain(self, X)

    def dependencies(self: Any, X: Any = None, Y: Any = None, *, joint_absence: bool = False) -> Dependencies:
        """What the rules say about how labels depend on each other; see `plurule.inspection.dependencies`."""
        from plurule.inspection import dependencies

        return dependencies(self, X, Y, joint_absence=joint_absence)

    def edit(self: Any, X: Any = None, Y: Any = None, sample_weight: Any = None) -> Edit:
        """Start to change the rules by hand; see `plurule.inspection.Edit`."""
        from plurule.inspection import Edit

        return Edit.of(self, X, Y, sample_weight)

    def simplify(
        self: Any,
        X: Any,
        Y: Any = None,
        *,
        tolerance: float = 0.0,
        measure: str | Callable[..., float] = "hamming_accuracy",
        sample_weight: Any = None,
    ) -> Simplified:
        """A shorter list that predicts the same, or costs at most `tolerance`; see `plurule.inspection.simplify`."""
        from plurule.inspection import simplify

        return simplify(self, X, Y, tolerance=tolerance, measure=measure, sample_weight=sample_weight)

    def prune(
        self: Any, X: Any, Y: Any = None, *, heuristic: Heuristic | None = None, sample_weight: Any = None
    ) -> RuleList:
        """Without the conditions and rules that held-out data do not support; see `plurule.inspection.prune`."""
        from plurule.inspection import prune

        return prune(self, X, Y, heuristic=heuristic, sample_weight=sample_weight)

    def check(self: Any) -> tuple[Finding, ...]:
        """Rules that contradict themselves or can never decide anything; see `plurule.inspection.check`."""
        from plurule.inspection import check

        return check(self)

    def to_sql(
        self: Any, table: str | Sequence[str] = "instances", dialect: str = "sqlite", keys: Sequence[str] = ()
    ) -> str:
        """One SELECT that predicts the labels of the rows of a table; see `plurule.export.to_sql`."""
        from plurule.export import to_sql

        return to_sql(self, table, dialect, keys)

    def to_python(self: Any, function: str = "predict") -> str:
        """The source of a Python function that needs nothing but Python; see `plurule.export.to_python`."""
        from plurule.export import to_python

        return to_python(self, function)

    def to_markdown(self: Any) -> str:
        """A table in Markdown; see `plurule.export.to_markdown`."""
        from plurule.export import to_markdown

        return to_markdown(self)

    def to_latex(self: Any, caption: str | None = None, label: str | None = None) -> str:
        """A table in LaTeX; see `plurule.export.to_latex`."""
        from plurule.export import to_latex

        return to_latex(self, caption, label)

    def to_html(self: Any, X: Any = None, Y: Any = None, *, title: str | None = None, examples: int = 200) -> str:
        """A report as one HTML page that works offline (needs Jinja2); see `plurule.report.to_html`."""
        from plurule.report import to_html

        return to_html(self, X, Y, title=title, examples=examples)

    def _repr_html_(self: Any) -> str | None:
        from plurule.report import rule_table

        return rule_table(self)


class ExplanationsMethods:
    """How explanations are shown."""

    __slots__ = ()

    def to_html(self: Any, limit: int | None = None) -> str:
        """A piece of HTML with one table per instance, for at most `limit` instances (needs Jinja2)."""
        from plurule.report import render_explanations

        return render_explanations(self[:limit], len(self))

    def _repr_html_(self: Any) -> str | None:
        try:
            return self.to_html(limit=10)
        except ImportError:
            return None


class LabelGraphMethods:
    """How a graph of labels is shown."""

    __slots__ = ()

    def _repr_html_(self: Any) -> str | None:
        from plurule.report import graph_svg

        return graph_svg(self)


def _fill(empty: type, methods: type) -> None:
    for name, member in vars(methods).items():
        if not name.startswith("__"):
            member.__annotations__.pop("self")  # for type checkers only: the class is not the one it ends up in
            setattr(empty, name, member)


_fill(_attached.RuleListMethods, RuleListMethods)
_fill(_attached.ExplanationsMethods, ExplanationsMethods)
_fill(_attached.LabelGraphMethods, LabelGraphMethods)
