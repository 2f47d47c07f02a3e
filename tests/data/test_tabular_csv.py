"""CSV files: kinds of columns found chunk by chunk, decimal commas, and memory in proportion to the file."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from plurule import data as io
from plurule.errors import DataError
from plurule.model import Attribute


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


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way_and_quoted_fields_hold_line_ends(tmp_path: Path, end: str) -> None:
    (tmp_path / "t.csv").write_bytes(end.join(["a,b", '"x', 'y",1', "z\u2028,2", '"q""",3']).encode())
    data = io.read(tmp_path / "t.csv", labels=[])
    assert data.attributes[0].categories == ('q"', f"x{end}y", "z\u2028")
    np.testing.assert_array_equal(data.X.column(1), [1, 2, 3])


def test_a_text_may_follow_a_closing_quote(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,l\n"2"x,0\n')
    assert io.read(tmp_path / "t.csv", labels=["l"]).attributes[0].categories == ("2x",)


@pytest.mark.parametrize("text", ["+5", " 5", "5 ", "5.", "5e0"])
def test_a_number_may_have_a_sign_spaces_or_an_exponent(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(f"a,l\n{text},0\n4,1\n")
    assert io.read(tmp_path / "t.csv", labels=["l"]).X.column(0).tolist() == [5, 4]


@pytest.mark.parametrize("text", ["1_000", "٣", "0x10", "2020-01-01", "true", "-"])
def test_a_column_is_nominal_if_a_value_is_no_number(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(f"a,l\n{text},0\n4,1\n")
    assert io.read(tmp_path / "t.csv", labels=["l"]).attributes[0].categories == tuple(sorted(["4", text]))


def test_missing_values_may_be_quoted(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b,l\n"","NA",0\n?,x,1\n')
    data = io.read(tmp_path / "t.csv", labels=["l"])
    np.testing.assert_array_equal(data.X.column(0), [np.nan, np.nan])
    assert data.X.column(1).tolist() == [-1, 0]


def test_a_file_of_names_alone_has_numeric_columns_without_rows(tmp_path: Path) -> None:
    for content in ("a,b", "a,b\n"):
        (tmp_path / "t.csv").write_text(content)
        table = io.read(tmp_path / "t.csv", labels=[]).X
        assert table.attributes == (Attribute("a"), Attribute("b"))
        assert len(table) == 0


def test_a_row_may_be_longer_than_a_megabyte(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "x" * (1 << 21) + ",1\ny,2\n")
    assert io.read(tmp_path / "t.csv", labels=[]).X.column(1).tolist() == [1, 2]


@pytest.mark.parametrize("content", ["\r\nred\n1\n", "\n\n", "\rue\n\x01S\x00i\x00\x00\x06a\x00"])
def test_a_file_whose_first_line_is_empty_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "t.csv").write_bytes(content.encode())
    with pytest.raises(DataError, match="line"):
        io.read(tmp_path / "t.csv", labels=[])


def test_dates_in_iso_format_are_dates(tmp_path: Path) -> None:
    rows = ["2024-09-19,2024-09-19 00:00:01,2024-09-19T02:00:00+02:00,2024-09-19", ",,,19.9.2024"]
    (tmp_path / "t.csv").write_text("\n".join(["day,time,zoned,other", *rows]))
    table = io.read(tmp_path / "t.csv", labels=[]).X
    assert [attribute.is_date for attribute in table.attributes] == [True, True, True, False]
    for place, seconds in enumerate([1726704000, 1726704001, 1726704000]):
        np.testing.assert_array_equal(table.column(place), [seconds, np.nan])


def test_numbers_with_leading_zeros_are_codes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("zip,n\n01234,0\n12345,0.5\n")
    attributes = io.read(tmp_path / "t.csv", labels=[]).X.attributes
    assert attributes == (Attribute("zip", ("01234", "12345")), Attribute("n"))


@pytest.mark.parametrize("content", [b"\xef", b"\xef\xbb\xbf"])
def test_a_file_of_a_byte_order_mark_alone_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=r"t.csv, line 1: the first line is empty, expected a line of names"):
        io.read(tmp_path / "t.csv", labels=[])


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ([*map(str, range(30)), "old"], r"'a' is nominal because of 'old'; its other values are numbers$"),
        ([f"2025-03-{day:02}" for day in range(1, 30)] + ["2025-13-45"], r"because of '2025-13-45'.* are dates$"),
    ],
)
def test_read_csv_names_the_values_that_make_a_column_nominal(values: list[str], note: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("a,y\n" + "".join(f"{value},1\n" for value in values))
    with pytest.warns(io.DataWarning, match=note):
        io.read(path, labels=["y"])


def test_read_csv_says_nothing_about_columns_of_few_numbers(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text("a,y\n1,1\n2,0\nmany,1\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        io.read(path, labels=["y"])
