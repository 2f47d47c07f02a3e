"""Tables in Markdown, their places in pages, and drawing without a screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, without a line end."""
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, *rows)]
    # An empty first title takes one space.
    return "\n".join([lines[0].replace("|  |", "| |"), "|---" * len(head) + "|", *lines[1:]])


def put_into(page: Path, place: str, text: str) -> None:
    """Put a text between the marks of a page, if it has them."""
    begin = f"<!-- {place}: begin -->"
    end = f"<!-- {place}: end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, mark, after = rest.partition(end)
    if mark:
        page.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")


def pyplot() -> Any:
    """Return matplotlib's pyplot, which draws to files."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt
