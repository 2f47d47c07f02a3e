"""`plurule diff`."""

from __future__ import annotations

import json

import pytest

from helpers.commands import Run

pytestmark = pytest.mark.usefixtures("model_folder")


def test_diff_compares_two_models(run: Run) -> None:
    run("edit", "remove", "model.json", 2, "-o", "new.json")
    result = run("diff", "model.json", "new.json", "--data", "data.csv")
    assert result.out.startswith("- rule 2: blue ← stripes <= 2\nother labels for 1 of 4 instances:\n  blue: +0 −1\n")
    content = json.loads(run("diff", "model.json", "new.json", "-d", "data.csv", "--json").out)
    assert content["rules"][0]["change"] == "removed"
    assert content["rows_that_differ"] == [1]
    assert content["scores"]["hamming_accuracy"] == [0.75, 0.625]
