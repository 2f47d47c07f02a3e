"""`plurule predict`."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from helpers.commands import Run


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines()))


def test_predict_writes_one_column_per_label(run: Run, model: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    # Columns in another order, one more, a category and a row never seen, no labels.
    new.write_text("kind,colour,size\na,x,2\nc,y,9\n", encoding="utf-8")
    assert read_csv(run("predict", model, new).out) == [["red", "blue"], ["1", "0"], ["0", "1"]]
    output = tmp_path / "predicted.csv"
    assert run("predict", model, new, "-o", output).out == ""
    assert read_csv(output.read_text(encoding="utf-8"))[0] == ["red", "blue"]
    probabilities = np.array(read_csv(run("predict", model, new, "--proba").out)[1:], dtype=float)
    np.testing.assert_array_equal(probabilities > 0.5, [[True, False], [False, True]])


def test_a_file_that_also_has_the_labels_is_predicted_from_its_attributes(run: Run, model: Path, data: Path) -> None:
    assert read_csv(run("predict", model, data).out)[1:] == [["1", "0"]] * 3 + [["0", "1"]] * 3
