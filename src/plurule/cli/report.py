"""`plurule report`: a model as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plurule.cli.inspecting import DataOption
from plurule.cli.loading import ModelArgument, SplitOption


def report(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="HTML file to write.")],
    data: DataOption = None,
    split: SplitOption = "all",
    title: Annotated[str | None, typer.Option(help="What stands at the top of the page.")] = None,
    examples: Annotated[int, typer.Option(help="Instances of the data to put into the page.", min=0)] = 200,
) -> None:
    """Write a report that works offline: rules, curves, label dependencies, and instances to try."""
    from plurule.cli.inspecting import load_for
    from plurule.cli.loading import check_writable, load_model
    from plurule.files import write_text
    from plurule.report import to_html

    check_writable(output)
    rule_list = load_model(model)
    instances = None if data is None else load_for(rule_list, data, split)
    page = to_html(rule_list, instances, title=title or model.stem, examples=examples)
    write_text(output, page)
    print(f"{output}: {len(rule_list)} rules, {len(page) // 1024} kB")
