"""Columns as frames and as rows."""

from __future__ import annotations

import pytest

from plurule.model.frame import Backend, to_frame, to_records

COLUMNS = {"rule": [1, 2], "label": ["red", None]}


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_columns_become_a_frame_of_the_library_that_is_asked_for(backend: Backend) -> None:
    frame = to_frame(COLUMNS, backend)
    assert type(frame).__module__.split(".")[0] == backend
    assert frame.shape == (2, 2)
    assert [str(name) for name in getattr(frame, "column_names", frame.columns)] == ["rule", "label"]


def test_rows_are_dictionaries_and_columns_of_different_lengths_are_refused() -> None:
    assert to_records(COLUMNS) == [{"rule": 1, "label": "red"}, {"rule": 2, "label": None}]
    assert to_records({}) == []
    with pytest.raises(ValueError, match="zip"):
        to_records({"a": [1], "b": [1, 2]})
