"""A broken file says where it is broken, what was found there and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.datasets import HEADER, refused_text

ROWS = {
    "1,x,0,7": "4 values, 3 attributes declared",
    "1,x": "2 values, 3 attributes declared",
    "1,z,0": "the value 'z' for attribute 'b', expected one of its 2 categories; known are 'x', 'y'",
    "1,,0": "an empty value for attribute 'b', expected one of its 2 categories; known are 'x', 'y'",
    ",x,0": "an empty value for attribute 'a', expected a finite number, or ? for missing",
    "1_000,x,0": "the value '1_000' for attribute 'a', expected a finite number, or ? for missing",
    "0x1F,x,0": "the value '0x1F' for attribute 'a', expected a finite number, or ? for missing",
    "1.2.3,x,0": "the value '1.2.3' for attribute 'a', expected a finite number, or ? for missing",
    "inf,x,0": "the value 'inf' for attribute 'a', expected a finite number, or ? for missing",
    "1e999,x,0": "the value '1e999' for attribute 'a', expected a finite number, or ? for missing",
    f"{'9' * 400},x,0": f"the value '{'9' * 59}…' for attribute 'a', expected a finite number, or ? for missing",
    "1,'x,0": """the quote of "'x,0" is never closed""",
    "1,'x'y,0": """found 'y' after "'x'", expected a comma""",
    "1,x,2": "the value '2' for attribute 'l', expected one of its 2 categories; known are '0', '1'",
    "1,x,?": "a missing value for label 'l', expected 0 or 1",
    "1,x,0,{-1}": "the weight '-1', expected a number of at least 0",
    "1,x,0,{much}": "the weight 'much', expected a number of at least 0",
    "{0 1": "found '{0 1', but its { is never closed",
    "{3 1}": "index 3, expected 0 to 2 (3 attributes declared)",
    "{999999999999999999999 1}": "found '999999999999999999999 1', expected an index and a value",
    "{-1 1}": "found '-1 1', expected an index and a value",
    "{a 1}": "found 'a 1', expected an index and a value",
    "{0 1,0 2}": "index 0 twice in a row, expected each attribute once",
    "{0 1,}": "found '', expected an index and a value",
    "{0}": "found '0', expected an index and a value",
    "{1 z}": "the value 'z' for attribute 'b', expected one of its 2 categories; known are 'x', 'y'",
    "{1 'x}": """the quote of "'x}" is never closed""",
    "{0 1} rest": "found 'rest' after the row, expected the end of the line or {weight}",
    "{0 1.5.2}": "the value '1.5.2' for attribute 'a', expected a finite number, or ? for missing",
    "{0 1 2}": "the value '1 2' for attribute 'a', expected a finite number, or ? for missing",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[:12])
def test_a_broken_row_is_named_with_its_line(tmp_path: Path, row: str) -> None:
    good = "{0 1}\n" if row.startswith("{") else "1,x,0\n"
    assert refused_text(tmp_path, HEADER + good * 3 + f"\n{row}\n{good}") == f"t.arff, line 10: {ROWS[row]}"


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert refused_text(tmp_path, "") == "t.arff: the file is empty, expected an ARFF header"
    assert refused_text(tmp_path, "", "t.csv") == "t.csv: the file is empty, expected a line of names"


CSV = {
    "a,l\n1,0\n2,0,3\n": "line 3: 3 values, 2 columns named",
    "a,l\n1,0\n\n2\n": "line 4: 1 values, 2 columns named",
    'a,l\n"x\ny",0\n"x",0,1\n': "line 4: 3 values, 2 columns named",
    'a,l\n1,0\n"2,0\n': "line 3: a quote is never closed, expected it before the end of the file",
    "a,l,a\n1,0,1\n": "line 1: two columns are named 'a', expected unique names",
    "a,l\n1,0\ninf,0\n": "line 3: the value 'inf' for column 'a', expected a finite number",
    "a,l\n1,0\n1,2\n": "line 3: the value '2' for label 'l', expected 0 or 1",
    "a,l\nx,0\n\ny,maybe\n": "line 4: the value 'maybe' for label 'l', expected 0 or 1",
}  # fmt: skip


@pytest.mark.parametrize("text", CSV, ids=range(len(CSV)))
def test_a_broken_csv_file_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    assert refused_text(tmp_path, text, "t.csv") == f"t.csv, {CSV[text]}"


def test_a_file_that_is_no_parquet_file_is_refused(tmp_path: Path) -> None:
    message = refused_text(tmp_path, b"PAR1 is how it begins" * 10, "t.parquet")
    assert message.startswith("t.parquet: is not a Parquet file or is damaged (")
