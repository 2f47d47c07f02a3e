"""`plurule diff`: what differs between two models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plurule.cli.loading import DataOption, SplitOption
from plurule.cli.terminal import say
from plurule.cli.writing import JsonOption, put

if TYPE_CHECKING:
    from plurule.inspection import ModelDiff


def diff(
    before: Annotated[Path, typer.Argument(metavar="BEFORE", help="Model file.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="Another model file.")],
    data: DataOption = None,
    split: SplitOption = "all",
    as_json: JsonOption = False,
) -> None:
    """Compare two models.

    Shows which rules differ, and with --data which predictions and scores do.
    """
    from plurule.cli.loading import load_model, load_model_and_data
    from plurule.inspection import diff as compare

    first, instances = load_model_and_data(before, data, split)
    found = compare(first, load_model(after), instances)
    if as_json:
        put(json.dumps(_as_json(found), indent=2, ensure_ascii=False), None)
    else:
        say(found)


def _as_json(found: ModelDiff) -> dict[str, Any]:
    return {
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
