"""`plurule predict`."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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


def test_predict_ignores_labels_in_the_data(run: Run, model: Path, data: Path) -> None:
    assert read_csv(run("predict", model, data).out)[1:] == [["1", "0"]] * 3 + [["0", "1"]] * 3


def test_predict_copies_ids_and_needs_only_tested_columns(run: Run, tmp_path: Path) -> None:
    data, new, model = tmp_path / "data.csv", tmp_path / "new.csv", tmp_path / "model.json"
    lines = [f"r{i};{'x' if i % 2 else 'y'};{i},5;{i % 2};{1 - i % 2}" for i in range(12)]
    data.write_text("\n".join(["id;kind;size;red;blue", *lines]), encoding="utf-8")
    fitted = run("fit", data, "-l", "red,blue", "--drop", "id", "--decimal", ",", "-o", model)
    assert fitted.code == 0, fitted.err
    assert "decimal" not in fitted.err
    new.write_text("kind,id\nx,7\nz,\ny,8.5\n", encoding="utf-8")
    found = run("predict", model, new, "--id", "id")
    assert found.out.splitlines()[0] == "id,red,blue"
    assert [line.split(",")[0] for line in found.out.splitlines()[1:]] == ["7", "", "8.5"]
    assert "lack 1 of the model's columns, which no rule tests" in found.err
    assert found.err.count("no such category: 1 of 'kind'") == 1
    assert run("predict", model, data, "--id", "id", "--decimal", ",").out.splitlines()[1].startswith("r0,")
    assert "did you mean 'id'" in run("predict", model, new, "--id", "ids").err
    new.write_text("id,kind\n007,x\n12345678901234567891,y\n", encoding="utf-8")
    found = run("predict", model, new, "--id", "id")
    assert [line.split(",")[0] for line in found.out.splitlines()[1:]] == ["007", "12345678901234567891"]
    assert run("predict", model, new, "--id", "kind").out.splitlines()[1].startswith("x,")
    new.write_text("kind,id\nx,7\nz,\ny,8.5\n", encoding="utf-8")
    assert run("explain", model, new, "--id", "id", "--limit", "1").out.startswith("instance 7: ")
    assert run("explain", model, new, "--id", "id", "--as", "csv").out.splitlines()[1].startswith("7,red,")


def test_predict_copies_ids_of_parquet_files_exactly(run: Run, model: Path, tmp_path: Path) -> None:
    columns = {"size": pa.array([2, 9]), "kind": pa.array(["a", "b"]), "colour": pa.array(["x", "y"])}
    for ids in (
        pa.array([2**53 + 1, 2**53 + 3]),
        pa.array([2**64 - 1, None], pa.uint64()),
        pa.array([Decimal("12345678901234567890.12"), Decimal("-0.10")]),
        pa.array(["007", "7"]),
        pa.array(["007", "7"]).dictionary_encode(),
    ):
        pq.write_table(pa.table({"id": ids, **columns}), tmp_path / "new.parquet")
        written = read_csv(run("predict", model, tmp_path / "new.parquet", "--id", "id").out)
        assert [line[0] for line in written[1:]] == ["" if i is None else str(i) for i in ids.to_pylist()]
    assert "predictions are written as CSV" in run("predict", model, tmp_path / "new.parquet", "-o", "p.parquet").err


def test_predict_writes_no_formulas(run: Run, tmp_path: Path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model.json"
    lines = [f"=cmd|A{i},{i},{int(i < 6)},{int(i > 3)}" for i in range(12)]
    data.write_text("\n".join(["id,size,=red,@blue", *lines]), encoding="utf-8")
    assert run("fit", data, "-l", "last:2", "--drop", "id", "-o", model).code == 0
    for arguments in (["predict", model, data], ["explain", model, data, "--as", "csv"]):
        written = read_csv(run(*arguments, "--id", "id").out)
        assert written[1][0] == "'=cmd|A0"
        assert not [cell for line in written for cell in line if cell[:1] in ("=", "@")]
    data.write_text("id,size\n-1.5,3\n+4e2,9\n", encoding="utf-8")
    assert [line[0] for line in read_csv(run("predict", model, data, "--id", "id").out)[1:]] == ["-1.5", "+4e2"]


def test_predict_writes_one_column_of_classes(run: Run, tmp_path: Path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model.json"
    kinds = ["low"] * 20 + ["mid"] * 20 + ["high"] * 20
    lines = [f"{i // 4},{kind}" for i, kind in enumerate(kinds)]
    data.write_text("\n".join(["size,kind", *lines]), encoding="utf-8")
    fitted = run("fit", data, "-l", "kind", "-o", model)
    assert fitted.code == 0, fitted.err
    (_, *rows) = read_csv(run("predict", model, data).out)
    assert [row[0] for row in rows] == kinds
    assert len(read_csv(run("predict", model, data, "--proba").out)[0]) == 3
