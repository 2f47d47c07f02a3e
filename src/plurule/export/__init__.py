"""Rule lists in other forms: SQL, a Python function, Markdown, LaTeX, and features for a pipeline."""

from plurule.export.activation import RuleActivations
from plurule.export.latex import to_latex
from plurule.export.markdown import to_markdown
from plurule.export.python import to_python
from plurule.export.sql import to_sql

__all__ = ["RuleActivations", "to_latex", "to_markdown", "to_python", "to_sql"]
