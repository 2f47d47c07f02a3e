"""What the ARFF reader understands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import datasets
from plurule import data as io
from plurule.data.arff import read_arff
from plurule.data.dataset import SparseColumn


def write(folder: Path, text: str, name: str = "data.arff") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def columns(path: Path, **options: Any) -> dict[str, list[Any]]:
    """The columns of a file as lists, categories by name and None for missing values."""
    table = read_arff(path, **options)[0].X
    return dict(zip(table.names, datasets.columns(table), strict=True))


def test_numbers_and_categories_are_read(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "@relation test\n@attribute a numeric\n@attribute b {x,y}\n@attribute c REAL\n@attribute d Integer\n"
        "@data\n1,x,-2.5,3\n1e3,y,.5,-0\n?,?,?,?\n",
    )
    assert columns(path) == {
        "a": [1, 1000, None],
        "b": ["x", "y", None],
        "c": [-2.5, 0.5, None],
        "d": [3, 0, None],
    }


def test_categories_may_hold_spaces_commas_quotes_and_question_marks(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "@relation t\n@attribute a { 'New York' , \"it's\", 'a,b', '?', plain, '\\'x\\'' }\n@data\n"
        "'New York'\n\"New York\"\nNew York\n\"it's\"\n'it\\'s'\n'a,b'\n'?'\n?\nplain\n'plain'\n'\\'x\\''\n",
    )
    expected = ["New York"] * 3 + ["it's"] * 2 + ["a,b", "?", None, "plain", "plain", "'x'"]
    assert columns(path)["a"] == expected


def test_comments_blank_lines_spaces_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    text = (
        "% a comment\n\n  @RELATION t % why\n@Attribute a NUMERIC % first\n@ATTRIBUTE b {x, y}  \n\n@Data % rows\n"
        "\n% another\n 1 , x \n\t2,\ty\n   \n3, x % said at the end\n"
    )
    expected = {"a": [1, 2, 3], "b": ["x", "y", "x"]}
    for variant in (text, text.replace("\n", "\r\n"), text.replace("\n", "\r"), "\ufeff" + text, text.rstrip("\n")):
        assert columns(write(tmp_path, variant)) == expected


def test_values_may_be_separated_by_spaces_or_tabs(tmp_path: Path) -> None:
    path = write(tmp_path, "@relation t\n@attribute a numeric\n@attribute b {x,y}\n@data\n1 x\n2\ty\n")
    assert columns(path) == {"a": [1, 2], "b": ["x", "y"]}


def test_sparse_rows_default_to_zero_and_the_first_category(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "@relation t\n@attribute a numeric\n@attribute b {no,yes}\n@attribute c {1,0}\n@data\n"
        "{0 2.5,1 yes}\n{}\n{ 2 0 , 0 ? }\n{1 'no', 2 1}\n{1 ?}\n",
    )
    assert columns(path) == {
        "a": [2.5, 0, None, 0, 0],
        "b": ["yes", "no", "no", "no", None],
        "c": ["1", "1", "0", "1", "1"],
    }
    assert all(isinstance(column, SparseColumn) for column in read_arff(path)[0].X.columns)


def test_sparse_rows_may_list_their_entries_in_any_order(tmp_path: Path) -> None:
    path = write(tmp_path, "@relation t\n@attribute a numeric\n@attribute b numeric\n@data\n{1 5,0 3}\n")
    assert columns(path) == {"a": [3], "b": [5]}


def test_stored_zeros_of_sparse_rows_are_no_entries(tmp_path: Path) -> None:
    path = write(tmp_path, "@relation t\n@attribute a numeric\n@data\n{0 0}\n{0 0.0}\n{0 1}\n")
    column = read_arff(path)[0].X.columns[0]
    assert isinstance(column, SparseColumn)
    assert column.rows.tolist() == [2]


def test_dense_and_sparse_rows_may_be_mixed(tmp_path: Path) -> None:
    header = "@relation t\n@attribute a numeric\n@attribute b {x,y}\n@attribute c string\n@data\n"
    expected = {"a": [1, 0], "b": ["x", "y"], "c": ["word", ""]}
    assert columns(write(tmp_path, header + "1,x,word\n{1 y}\n"), nominal=["c"]) == expected
    assert columns(write(tmp_path, header + "{0 1,2 word}\n0,y,''\n"), nominal=["c"]) == expected


def test_instance_weights_are_read(tmp_path: Path) -> None:
    header = "@relation t\n@attribute a numeric\n@attribute 'l' {0,1}\n@data\n"
    for rows in ("1,0,{5}\n2,1\n3,0, {0.5}\n", "1,'0' {5}\n2,1\n3,0,{.5}\n", "{0 1},{5}\n{0 2,1 1}\n{0 3} {0.5}\n"):
        data = io.read(write(tmp_path, header + rows), labels=["l"])
        assert data.weights is not None
        assert data.weights.tolist() == [5, 1, 0.5]
        assert data.X.column(0).tolist() == [1, 2, 3]
    assert io.read(write(tmp_path, header + "1,0\n"), labels=["l"]).weights is None


def test_strings_and_dates_that_cannot_be_read_are_dropped_with_a_message(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "@relation t\n@attribute id string\n@attribute day date 'dd.MM.yyyy'\n@attribute a numeric\n"
        "@attribute l {0,1}\n@data\n'x, y',02.01.2024,1,0\n",
    )
    with pytest.warns(io.DataWarning) as caught:
        data = io.read(path, labels=["l"])
    assert [str(w.message) for w in caught] == [
        "data.arff: 1 string attribute dropped (nominal=… keeps them): 'id'",
        "data.arff: 1 date attribute dropped (not in ISO format): 'day'",
    ]
    assert data.attribute_names == ("a",)


def test_strings_can_be_kept(tmp_path: Path) -> None:
    header = "@relation t\n@attribute id string\n@attribute day date 'yyyy-MM-dd'\n@attribute at date\n@data\n"
    rows = "'x, y','1970-01-02',1970-01-01T00:01:00\nz,?,?\n?,'1969-12-31',\"1970-01-01T01:00:00\"\nz,1970-01-01,?\n"
    path = write(tmp_path, header + rows)
    assert columns(path, nominal=["id", "day"])["id"] == ["x, y", "z", None, "z"]


def test_dates_in_iso_format_are_dates(tmp_path: Path) -> None:
    header = "@relation t\n@attribute day date 'yyyy-MM-dd'\n@attribute at date\n@attribute a numeric\n@data\n"
    rows = "'1970-01-02',1970-01-01T00:01:00,1\n?,?,2\n1969-12-31,\"1970-01-01T01:00:00\",3\n"
    table = io.read(write(tmp_path, header + rows), labels=[]).X
    assert [attribute.is_date for attribute in table.attributes] == [True, True, False]
    np.testing.assert_array_equal(table.column(0), [86400, np.nan, -86400])
    np.testing.assert_array_equal(table.column(1), [60, np.nan, 3600])


def test_numbers_are_the_doubles_that_python_reads(tmp_path: Path) -> None:
    long = ["3.14159265358979323846264338327950288", "99999999999999999999", "-99999999999999999999.5"]
    spelled = [
        "0.1",
        "123456789.123456789",
        "0.30000000000000004",
        "9007199254740993",
        "1e-320",
        "-0.000001",
        "5.",
        "+4",
    ]
    spelled += long
    dense = write(tmp_path, "@relation t\n@attribute a numeric\n@data\n" + "\n".join(spelled) + "\n")
    assert columns(dense)["a"] == [float(text) for text in spelled]
    for text in spelled:
        for row in (text, f"{{0 {text}}}"):
            alone = write(tmp_path, f"@relation t\n@attribute a numeric\n@data\n{row}\n")
            assert columns(alone)["a"] == [float(text)]


def test_a_category_must_be_spelled_as_declared_even_if_it_looks_like_a_number(tmp_path: Path) -> None:
    header = "@relation t\n@attribute a {0,1,01,1.0}\n@attribute b numeric\n@data\n"
    assert columns(write(tmp_path, header + "01,01\n1,1\n1.0,1.0\n"))["a"] == ["01", "1", "1.0"]
    sparse = columns(write(tmp_path, header + "{0 01,1 01}\n{0 1,1 1}\n{0 1.0,1 1.0}\n"))
    assert sparse == {"a": ["01", "1", "1.0"], "b": [1, 1, 1]}


def test_a_file_without_rows_has_columns_without_values(tmp_path: Path) -> None:
    path = write(tmp_path, "@relation t\n@attribute a numeric\n@attribute b {x}\n@data")
    assert columns(path) == {"a": [], "b": []}


def test_one_odd_row_among_many_is_read(tmp_path: Path) -> None:
    rows = [f"{i},{'x' if i % 3 else 'y'}" for i in range(100_000)]
    rows[70_000] = " 70000 , 'y' % odd"
    path = write(tmp_path, "@relation t\n@attribute a numeric\n@attribute b {x,y}\n@data\n" + "\n".join(rows))
    table = read_arff(path)[0].X
    np.testing.assert_array_equal(table.column(0), np.arange(100_000))
    expected = np.where(np.arange(100_000) % 3, 0, 1)
    expected[70_000] = 1
    np.testing.assert_array_equal(table.column(1), expected)
