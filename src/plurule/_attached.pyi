from typing import Any

from plurule import report
from plurule.data.dictionary import describe as _describe
from plurule.export import latex, markdown, python, sql
from plurule.inspection.checks import check as _check
from plurule.inspection.dependencies import dependencies as _dependencies
from plurule.inspection.edit import Edit
from plurule.inspection.evidence import evidence as _evidence
from plurule.inspection.evidence import stability as _stability
from plurule.inspection.evidence import to_frame as _to_frame
from plurule.inspection.explain import explain as _explain
from plurule.inspection.simplify import prune as _prune
from plurule.inspection.simplify import simplify as _simplify

class RuleListMethods:
    describe = _describe
    explain = _explain
    dependencies = _dependencies
    def edit(self, X: Any = None, Y: Any = None, sample_weight: Any = None) -> Edit: ...
    simplify = _simplify
    prune = _prune
    check = _check
    evidence = _evidence
    to_frame = _to_frame
    stability = _stability
    to_sql = sql.to_sql
    to_python = python.to_python
    to_markdown = markdown.to_markdown
    to_latex = latex.to_latex
    to_html = report.to_html
    _repr_html_ = report.rule_table

class ExplanationsMethods:
    to_html = report.render_explanations
    _repr_html_ = report.explanations_in_a_notebook

class LabelGraphMethods:
    _repr_html_ = report.graph_svg

class PatternsMethods:
    to_html = report.render_patterns
