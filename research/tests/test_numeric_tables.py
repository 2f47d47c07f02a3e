"""The committed tables of the run on numeric data are those of the learner of today."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from plurule.metrics import scores
from research.data import read_parts
from research.files import find_data_set
from research.paper.objectives import find_objective

TABLE = Path(__file__).parents[2] / "docs" / "paper" / "numeric" / "test-scores.csv"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scene", "yeast", "CAL500"])
def test_models_score_as_in_the_committed_tables(name: str) -> None:
    data_set = find_data_set(name)
    if data_set is None:
        pytest.skip(f"{name} is in no folder that PLURULE_DATA names")
    train, test = read_parts(data_set)
    rows = [row for row in csv.DictReader(TABLE.read_text().splitlines()) if row["set"] == name]
    shown = [row for row in rows if row["objective"] == "micro-f+"]
    assert [row["pruning"] for row in shown] == ["normal", "relaxed"]
    for row in shown:
        model = find_objective(row["objective"]).learner(row["lift"]).fit(train)
        measured = scores(test.Y, model.predict(test.X))
        assert {name: round(value, 6) for name, value in measured.items()} == {
            name: pytest.approx(float(row[name]), abs=1e-6) for name in measured
        }
