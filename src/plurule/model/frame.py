"""Columns as a frame of the library that people use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]


def to_frame(columns: Mapping[str, Sequence[Any]], backend: Backend) -> Any:
    """The columns as a frame of the given library."""
    import narwhals.stable.v1 as nw  # takes longer to import than all of the model

    return nw.from_dict(columns, backend=backend).to_native()


def to_records(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows as dictionaries.

    >>> to_records({"rule": [1, 2], "tp": [20, 8]})
    [{'rule': 1, 'tp': 20}, {'rule': 2, 'tp': 8}]
    """
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
