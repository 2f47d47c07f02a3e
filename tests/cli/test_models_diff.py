"""`plurule diff`."""

from __future__ import annotations

import json

import pytest

from helpers.commands import Run

pytestmark = pytest.mark.usefixtures("model_folder")


def test_diff_prints_the_rules_and_predictions_that_differ(run: Run) -> None:
    run("edit", "model.json", "--remove", 2, "-o", "new.json")
    result = run("diff", "model.json", "new.json", "--data", "data.csv")
    assert result.out.startswith("- rule 2: blue ← stripes <= 2\nother labels for 1 of 4 instances:\n  blue: +0 −1\n")


def test_diff_prints_json(run: Run) -> None:
    run("edit", "model.json", "--remove", 2, "-o", "new.json")
    content = json.loads(run("diff", "model.json", "new.json", "-d", "data.csv", "--json").out)
    (change,) = content["rules"]
    assert change == {
        "change": "removed",
        "number_before": 2,
        "number_after": 0,
        "before": "blue ← stripes <= 2",
        "after": "",
    }
    assert content["rows_that_differ"] == [1]
    assert content["scores"]["hamming_accuracy"] == [0.75, 0.625]
