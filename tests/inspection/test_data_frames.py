"""Results as frames."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest

from plurule.inspection.data import make_frame

RECORDS = [{"rule": 1, "text": "red ←"}, {"rule": 2, "text": "white ←"}]


@pytest.mark.parametrize(("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_make_frame_gives_a_frame_of_the_library(backend: Any, kind: type) -> None:
    frame = make_frame(RECORDS, backend)
    assert isinstance(frame, kind)
    assert list(frame.columns) == ["rule", "text"]
    assert list(frame["text"]) == ["red ←", "white ←"]


def test_make_frame_of_no_rows_is_empty() -> None:
    assert len(make_frame([], "polars")) == 0
