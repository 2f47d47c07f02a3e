"""`plurule discover`: which labels go together, and where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from plurule.cli.loading import Split, load_data
from plurule.cli.rendering import Conditions, head_text, plain_table
from plurule.cli.terminal import check_writable, console, put, say, visible
from plurule.model.condition import format_count
from plurule.model.naming import amount

if TYPE_CHECKING:
    from plurule.inspection import Patterns


def discover(
    data: str,
    labels: str | None = None,
    split: Split = "all",
    drop: list[str] | None = None,
    decimal: str = ".",
    k: int = 10,
    max_labels: int = 4,
    max_conditions: int = 2,
    exclusions: bool = False,
    min_support: float = 5,
    test_size: float = 0.5,
    resamples: int = 10,
    random_state: int = 0,
    n_jobs: int | None = None,
    html: Path | None = None,
    as_json: bool = False,
) -> None:
    """Find labels that go together, and where.

    Patterns are looked for on a part of the rows, and counted and tested on the others.
    """
    import json

    from plurule.inspection import discover as search

    check_writable(html)
    patterns = search(
        load_data(data, labels, split, drop=drop or (), decimal=decimal),
        k=k,
        max_labels=max_labels,
        max_conditions=max_conditions,
        exclusions=exclusions,
        min_support=min_support,
        test_size=test_size,
        resamples=resamples,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    if as_json:
        put(json.dumps(patterns.to_records(), indent=2, ensure_ascii=False), None)
    else:
        _show(patterns)
    if html is not None:
        page = patterns.to_html(title=f"Labels that go together: {Path(data).name}")
        put(page, html)
        say(f"{html}: {len(patterns)} patterns, {len(page) // 1024} kB", stderr=as_json)


def _show(patterns: Patterns) -> None:
    out = console()
    found = amount(len(patterns), "pattern")
    tested = f"found on {patterns.rows_searched} rows, counted and tested on {patterns.rows_tested} others"
    out.print(Text(f"{found}, {tested}", style="bold"))
    if not patterns:
        out.print("No labels go together on the rows that were searched")
        return
    out.print(_table(patterns))
    significant = len(patterns.significant())
    out.print(
        f"{significant} significant at 5 %: largest p of Fisher's tests of each part against the others, after Holm"
    )


def _table(patterns: Patterns) -> Table:
    resampled = any(pattern.stability is not None for pattern in patterns)
    numbers = ("rows", "holds", "lift", "p", *(("found again",) if resampled else ()))
    table = plain_table("#", "labels", visible("← where"), numbers=numbers)
    for number, pattern in enumerate(patterns, start=1):
        cells: list[Text | Conditions | str] = [
            Text(str(number), style="dim"),
            head_text(pattern.rule),
            Conditions(pattern.rule),
            format_count(pattern.coverage),
            f"{pattern.confidence:.0%}",
            f"{pattern.lift:.2f}",
            Text(f"{pattern.p_holm:.2g}", style="" if pattern.is_significant else "dim"),
        ]
        if pattern.stability is not None:
            cells.append(f"{pattern.stability:.0%}")
        table.add_row(*cells)
    return table
