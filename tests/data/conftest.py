"""What tests of reading share."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.datasets import CSV


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """A small file of two rows and two labels."""
    (tmp_path / "flags.csv").write_text(CSV)
    return tmp_path / "flags.csv"
