"""Rule lists in other forms; `FORMATS` is the table of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plurule._lazy import attach

if TYPE_CHECKING:
    from plurule.export.formats import FORMATS, Format, export
    from plurule.export.jdm import to_jdm
    from plurule.export.latex import to_latex
    from plurule.export.markdown import to_markdown
    from plurule.export.onnx import to_onnx
    from plurule.export.python import to_python
    from plurule.export.spreadsheet import read_rules, to_csv, to_xlsx
    from plurule.export.sql import to_sql

__all__ = [
    "FORMATS",
    "Format",
    "export",
    "read_rules",
    "to_csv",
    "to_jdm",
    "to_latex",
    "to_markdown",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_xlsx",
]

__getattr__ = attach(
    __name__,
    {
        "plurule.export.formats": ["FORMATS", "Format", "export"],
        "plurule.export.jdm": ["to_jdm"],
        "plurule.export.latex": ["to_latex"],
        "plurule.export.markdown": ["to_markdown"],
        "plurule.export.onnx": ["to_onnx"],
        "plurule.export.python": ["to_python"],
        "plurule.export.spreadsheet": ["read_rules", "to_csv", "to_xlsx"],
        "plurule.export.sql": ["to_sql"],
    },
)
