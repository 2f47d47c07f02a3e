"""What the reports of all benchmarks share: tables in Markdown, their places in pages, drawing without a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, without a line end."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    # An empty first title takes one space.
    return "\n".join([lines[0].replace("|  |", "| |"), "|---" * len(head) + "|", *lines[1:]])


def put_into(page: Path, place: str, text: str) -> None:
    """Put a text where a page marks its place."""
    begin, end = f"<!-- {place}: begin -->", f"<!-- {place}: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if found:
        page.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")


def pyplot() -> Any:
    """Matplotlib for files; a window system may not be there."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt
