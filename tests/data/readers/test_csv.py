"""CSV files: kinds of columns found chunk by chunk, decimal commas, and memory in proportion to the file."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from plurule import data as io
from plurule.data.readers import csv
from plurule.errors import DataError
from plurule.model import Attribute


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "_CELLS_AT_ONCE", 6)


@pytest.mark.usefixtures("few_cells")
def test_a_column_that_is_text_only_at_the_end_is_nominal_from_its_beginning(tmp_path: Path) -> None:
    rows = [f"{i}.50,{i},x" for i in range(9)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *rows, "last,9,", "inf,10,y"]))
    (tmp_path / "u.csv").write_text("\n".join(["a,b,c", *rows, "last,9,", "1,inf,y"]))
    with pytest.raises(DataError, match=r"u.csv, line 12: the value 'inf' for column 'b'"):
        io.read(tmp_path / "u.csv", labels=[])
    table = io.read(tmp_path / "t.csv", labels=[]).X
    assert table.attributes[0].categories == (*(f"{i}.50" for i in range(9)), "inf", "last")
    assert table.column(0).tolist() == [*range(9), 10, 9]
    assert table.column(1).tolist() == list(range(11))
    assert table.attributes[2] == Attribute("c", ("x", "y"))
    assert table.column(2).tolist() == [0] * 9 + [-1, 1]


@pytest.mark.usefixtures("few_cells")
def test_a_column_of_infinities_alone_is_nominal(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "inf,x\n-inf,y\n" * 5)
    assert io.read(tmp_path / "t.csv", labels=[]).X.attributes[0].categories == ("-inf", "inf")


def test_decimal_commas_are_said_and_read_if_wanted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b;l\n1,5;x,1;0\n;y;1\n-2,25;z;0\n")
    with pytest.warns(io.DataWarning, match=r"nominal, though .* decimal commas \(decimal=',' reads them\): 'a'$"):
        data = io.read(tmp_path / "t.csv", labels=["l"])
    assert data.attributes[0].categories == ("-2,25", "1,5")
    data = io.read(tmp_path / "t.csv", labels=["l"], decimal=",")
    np.testing.assert_array_equal(data.X.column(0), [1.5, np.nan, -2.25])
    assert data.attributes[1].categories == ("x,1", "y", "z")
    with pytest.raises(DataError, match=r"decimal=';', expected '\.' or ','"):
        io.read(tmp_path / "t.csv", labels=["l"], decimal=";")


@pytest.mark.parametrize(("rows", "multiple"), [(["x,y,z,w"] * 50_000, 7), ([f"a{i}" for i in range(50_000)], 30)])
def test_memory_is_a_small_multiple_of_the_size_of_the_file(
    tmp_path: Path, rows: list[str], multiple: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for most in ("_CELLS_AT_ONCE", "_PIECE"):
        monkeypatch.setattr(csv, most, getattr(csv, most) // 4)
    names = ",".join("abcd"[: rows[0].count(",") + 1])
    (tmp_path / "t.csv").write_text("\n".join([names, *rows]))
    tracemalloc.start()
    try:
        data = io.read(tmp_path / "t.csv", labels=[])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(data) == len(rows)
    assert peak < multiple * (tmp_path / "t.csv").stat().st_size + (2 << 20), (
        "some rows as lists, and a piece of the text"
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("piece", [1, 5, 1000])
def test_lines_are_the_same_in_whichever_pieces_a_file_is_taken(
    tmp_path: Path, end: str, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plurule.data.readers.csv._PIECE", piece)
    (tmp_path / "t.csv").write_bytes(end.join(["a,b", '"x', 'y",1', "z\u2028,2", '"q""",3']).encode())
    data = io.read(tmp_path / "t.csv", labels=[])
    assert data.attributes[0].categories == ('q"', f"x{end}y", "z\u2028")
    np.testing.assert_array_equal(data.X.column(1), [1, 2, 3])


def test_names_that_spreadsheets_take_for_formulas_are_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("=1+1,l\n2,0\n")
    data = io.read(tmp_path / "t.csv", labels=["l"])
    assert any("'=1+1'" in note and "formulas" in note for note in io.write(data, tmp_path / "u.csv"))


@pytest.mark.parametrize("content", ["\r\nred\n1\n", "\n\n", "\rue\n\x01S\x00i\x00\x00\x06a\x00"])
def test_a_file_whose_first_line_is_empty_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.csv").write_bytes(content.encode())
    with pytest.raises(DataError, match="line"):
        io.read(tmp_path / "t.csv", labels=[])
