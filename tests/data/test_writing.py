"""What is written is what was read, for every pair of formats."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.datasets import assert_same, datasets
from plurule import data as io
from plurule.data import Dataset
from plurule.data.readers.csv import MISSING
from plurule.data.table import SparseColumn, Table
from plurule.errors import DataError
from plurule.model import Attribute

LOSSLESS = ["arff", "arff.gz", "arff.bz2", "meka", "parquet", "pandas", "polars"]
LOSSY = ["csv", "tsv", "csv.gz"]
FORMATS = LOSSLESS + LOSSY


def through(data: Dataset, form: str) -> Dataset:
    """The data set after it was written in a format and read again."""
    if form in ("pandas", "polars"):
        return io.read(getattr(data, f"to_{form}")())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("data.arff" if form == "meka" else f"data.{form}")
        io.write(data, path, meka=form == "meka")
        return io.read(path, labels=-len(data.label_names) if form in LOSSY else None)


def what_csv_keeps(data: Dataset) -> Dataset:
    """A naive account of reading back what CSV holds: texts, of which some are numbers."""
    attributes: list[Attribute] = []
    columns: list[Any] = []
    for i, attribute in enumerate(data.attributes):
        values = data.X.column(i).tolist()
        if attribute.categories is None:
            attributes.append(attribute)
            columns.append(np.array(values, dtype=np.float64))
            continue
        texts = ["" if code < 0 else attribute.categories[code] for code in values]
        present = [text for text in texts if text not in MISSING]
        if all(_is_number(text) for text in present):
            attributes.append(Attribute(attribute.name))
            columns.append(np.array([np.nan if t in MISSING else float(t) for t in texts], dtype=np.float64))
        else:
            categories = sorted(set(present))
            attributes.append(Attribute(attribute.name, tuple(categories)))
            codes = [-1 if t in MISSING else categories.index(t) for t in texts]
            columns.append(np.array(codes, dtype=np.int32))
    return Dataset(Table(attributes, columns, len(data)), data.Y, data.label_names)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def kept(data: Dataset, form: str) -> Dataset:
    if form in LOSSY:
        return what_csv_keeps(data)
    if form in ("pandas", "polars"):
        return Dataset(data.X, data.Y, data.label_names)
    return data


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_format_gives_back_what_it_can_hold(form: str, data: st.DataObject) -> None:
    written = data.draw(datasets(weighted=False if form in LOSSY else None))
    assert_same(kept(written, form), through(written, form))


@pytest.mark.parametrize("second", FORMATS)
@pytest.mark.parametrize("first", FORMATS)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_data_survive_the_way_through_two_formats(first: str, second: str, data: st.DataObject) -> None:
    written = data.draw(datasets(weighted=False))
    assert_same(kept(kept(written, first), second), through(through(written, first), second))


@settings(max_examples=40, deadline=None)
@given(datasets(sparse=True))
def test_sparse_columns_stay_sparse_in_arff_and_parquet(data: Dataset) -> None:
    for form in ("arff", "meka", "parquet"):
        again = through(data, form)
        if len(data) and form == "parquet":
            assert all(isinstance(column, SparseColumn) for column in again.X.columns)
        if len(data) and len(data.attributes) and form != "parquet":
            assert all(isinstance(column, SparseColumn) for column in again.X.columns)


def small(**changes: Any) -> Dataset:
    made: dict[str, Any] = {
        "X": Table([Attribute("a"), Attribute("b", ("x", "y", "z"))], [np.array([1.5, np.nan]), np.array([1, -1])]),
        "Y": np.array([[1, 0], [0, 1]]),
        "label_names": ("l", "m"),
    }
    return Dataset(**(made | changes))


def test_what_a_format_cannot_hold_is_said(tmp_path: Path) -> None:
    data = small(weights=np.array([1.0, 2.0]))
    assert io.write(data, tmp_path / "t.csv") == [
        "t.csv: the labels are the last 2 columns, read it with labels=-2",
        "t.csv: the weights are the column 'weight'",
        "t.csv: CSV does not say which categories there are; read again, 1 nominal attribute will have other ones or "
        "be numeric: 'b'",
    ]
    assert io.write(data, tmp_path / "t.arff") == ["t.arff: the labels are named in t.xml"]
    assert io.write(data, tmp_path / "t.arff", meka=True) == []
    assert io.write(data, tmp_path / "t.parquet") == []
    assert (tmp_path / "t.csv").read_text() == "weight,a,b,l,m\n1,1.5,y,1,0\n2,,,0,1\n"


def test_files_of_mulan_and_meka_look_as_expected(tmp_path: Path) -> None:
    data = small(relation="my flags")
    io.write(data, tmp_path / "t.arff")
    assert (tmp_path / "t.arff").read_text() == (
        "@relation 'my flags'\n\n@attribute a numeric\n@attribute b {x,y,z}\n@attribute l {0,1}\n@attribute m {0,1}\n"
        "\n@data\n1.5,y,1,0\n?,?,0,1\n"
    )
    assert '<label name="m"></label>' in (tmp_path / "t.xml").read_text()
    io.write(data, tmp_path / "m.arff", meka=True)
    assert (tmp_path / "m.arff").read_text() == (
        "@relation 'my flags: -C 2'\n\n@attribute l {0,1}\n@attribute m {0,1}\n@attribute a numeric\n"
        "@attribute b {x,y,z}\n\n@data\n1,0,1.5,y\n0,1,?,?\n"
    )
    assert not (tmp_path / "m.xml").exists()


def test_labels_that_xml_cannot_hold_are_refused_but_meka_holds_them(tmp_path: Path) -> None:
    data = small(label_names=("bell\x07", "m"))
    with pytest.raises(DataError, match=r"the label 'bell\\x07' has a character that XML cannot hold"):
        io.write(data, tmp_path / "t.arff")
    io.write(data, tmp_path / "t.arff", meka=True)
    assert_same(data, io.read(tmp_path / "t.arff"))


def test_a_lone_surrogate_is_refused(tmp_path: Path) -> None:
    for name in ("t.arff", "t.csv"):
        with pytest.raises(DataError, match="cannot be written as UTF-8"):
            io.write(small(label_names=("\ud800", "m")), tmp_path / name)


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("before")
    with pytest.raises(DataError):
        io.write(small(label_names=("\ud800", "m")), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_unknown_targets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"of no known format, expected a name that ends in \.arff"):
        io.write(small(), tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="there is no folder"):
        io.write(small(), tmp_path / "nowhere" / "t.csv")
    with pytest.raises(DataError, match="only ARFF files can be written for MEKA"):
        io.write(small(), tmp_path / "t.csv", meka=True)


def test_conversion_tells_what_happened_to_texts_and_dates(tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text(
        "@relation t\n@attribute id string\n@attribute d date 'yyyy'\n@attribute l {0,1}\n@data\nx,1971,1\n"
    )
    notes = io.convert(tmp_path / "t.arff", tmp_path / "t.csv", labels=["l"])
    assert notes[:2] == [
        "t.arff: 1 string attribute read as nominal attributes: 'id'",
        "t.arff: 1 date attribute read as seconds since 1970: 'd'",
    ]
    assert (tmp_path / "t.csv").read_text() == "id,d,l\nx,31536000,1\n"


def test_a_folder_of_real_data_survives_every_format(shared_data: Path, tmp_path: Path) -> None:
    for name in ("flags", "birds", "medical"):
        data = io.read(shared_data / name)
        for target in ("t.arff.gz", "t.parquet"):
            io.write(data, tmp_path / target)
            assert_same(data, io.read(tmp_path / target))
