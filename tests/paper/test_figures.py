"""Figures: the same files for the same data, and what is not told apart is joined."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plurule.paper import figures
from plurule.paper.analysis import Analysis
from plurule.paper.experiment import Results


def test_figures_of_the_same_data_are_the_same_files(results: Results, written: tuple[Path, Any], tmp_path: Path):
    drawn, before = figures.draw_all(Analysis(results), tmp_path), written[0] / "figures"
    assert len(drawn) == 6
    for name, svg in drawn.items():
        for folder in (tmp_path, before):
            assert (folder / f"{name}.svg").read_text(encoding="utf-8") == svg
        assert (tmp_path / f"{name}.png").read_bytes() == (before / f"{name}.png").read_bytes()


@pytest.mark.parametrize(
    ("distance", "expected"),
    [(1.5, [(1.0, 2.0), (2.0, 3.0)]), (5.0, [(1.0, 3.0)]), (0.5, []), (None, [])],
)
def test_what_is_not_told_apart_is_joined_once(distance: float | None, expected: list[tuple[float, float]]):
    assert figures._indistinct((1.0, 2.0, 3.0), distance) == expected
