"""`plurule discover`: labels that occur together, and where."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from plurule.cli import loading
from plurule.cli.terminal import put, say
from plurule.progress import progress_bar

PARAMETERS = (
    *("k", "max_labels", "max_conditions", "exclusions", "min_support", "test_size", "resamples", "random_state"),
    "n_jobs",
)


def discover(
    context: typer.Context,
    data: loading.Data,
    labels: loading.Labels = None,
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Maximum number of patterns.")] = 10,
    max_labels: Annotated[int, typer.Option(min=2, help="Maximum number of labels of a pattern.")] = 4,
    max_conditions: Annotated[int, typer.Option(min=0, help="Maximum number of conditions on attributes.")] = 2,
    exclusions: Annotated[bool, typer.Option("--exclusions", help="Also labels that exclude each other.")] = False,
    min_support: Annotated[float, typer.Option(help="Minimum number of rows on which a pattern holds.")] = 5,
    test_size: Annotated[float, typer.Option(help="Share of the rows that patterns are tested on.")] = 0.5,
    resamples: Annotated[int, typer.Option(min=0, help="Repetitions on resampled rows to measure stability.")] = 10,
    random_state: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    n_jobs: Annotated[int, typer.Option(help="Threads; -1 uses all cores.")] = -1,
    drop: loading.Drop = None,
    decimal: loading.Decimal = ".",
    as_json: loading.AsJson = False,
) -> None:
    """Find labels that occur together, and where.

    Patterns are searched on one part of the rows, and counted and tested on the other part.
    """
    from plurule.inspection import discover as search
    from plurule.model.naming import amount

    dataset = loading.load_data(data, labels, drop, decimal=decimal)
    with progress_bar("patterns"):
        patterns = search(dataset, **{name: context.params[name] for name in PARAMETERS})
    if as_json:
        put(json.dumps(patterns.to_records(), indent=2, ensure_ascii=False), None)
        return
    rows = f"searched on {amount(patterns.rows_searched, 'row')}, tested on {patterns.rows_tested} others"
    say(f"{amount(len(patterns), 'pattern')}, {rows}")
    say(patterns)
    say(
        f"{len(patterns.significant())} significant at 5 % (p: the largest p-value of Fisher's exact tests of each "
        "part against the others, corrected by Holm's method)"
    )
