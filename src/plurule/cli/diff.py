"""`plurule diff`: what differs between two models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from plurule.cli.inspecting import DataOption
from plurule.cli.loading import SplitOption


def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Model file.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another model file.")],
    data: DataOption = None,
    split: SplitOption = "all",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Compare two models: their rules, and with --data their predictions and scores."""
    from plurule.cli.inspecting import load_for
    from plurule.cli.loading import load_model
    from plurule.inspection import diff as compare

    first, second = load_model(before), load_model(after)
    found = compare(first, second, None if data is None else load_for(first, data, split))
    if not as_json:
        print(found)
        return
    content = {
        "rules": [
            {
                "change": change.change,
                "number_before": change.number_before,
                "number_after": change.number_after,
                "before": change.before.to_text() if change.before else None,
                "after": change.after.to_text() if change.after else None,
            }
            for change in found.rules
        ],
        "labels_before_only": found.labels_before_only,
        "labels_after_only": found.labels_after_only,
        "rows_that_differ": None if found.predictions is None else found.predictions.rows.tolist(),
        "scores": found.scores,
    }
    print(json.dumps(content, indent=2, ensure_ascii=False))
