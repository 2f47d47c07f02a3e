"""Rule lists in other forms: SQL, a Python function, Markdown, LaTeX, and features for a pipeline."""

from plurule.export.sql import to_sql

__all__ = ["to_sql"]
