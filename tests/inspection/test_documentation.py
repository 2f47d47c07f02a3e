"""The examples of the document on inspecting rules run, one after the other."""

from __future__ import annotations

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "inspecting.md"


def test_the_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 8
    scope: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(DOCUMENT), "exec"), scope)
    assert str(scope["page"]).startswith("<!doctype html>")


def test_the_picture_is_there_and_small() -> None:
    picture = DOCUMENT.parent / "images" / "report.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size <= 300_000
