"""Rule lists in other forms; `FORMATS` is the table of them, `RuleList.to_sql` and the like write one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plurule._lazy import attach

if TYPE_CHECKING:
    from plurule.export.formats import FORMATS, Format, export
    from plurule.export.spreadsheet import read_rules

__all__ = ["FORMATS", "Format", "export", "read_rules"]

__getattr__ = attach(
    __name__,
    {"plurule.export.formats": ["FORMATS", "Format", "export"], "plurule.export.spreadsheet": ["read_rules"]},
)
