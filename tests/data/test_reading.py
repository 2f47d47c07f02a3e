"""Everything that can be read, through the one door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from helpers.datasets import ARFF, CSV
from plurule import data as io
from plurule.errors import DataError
from plurule.model import Attribute


def test_columns_can_be_dropped_or_made_nominal(csv: Path) -> None:
    data = io.read(csv, labels="is_*", drop=["id"], nominal=["ar*"])
    assert data.attributes == (Attribute("area", ("1.5",)), Attribute("sea", ("no", "yes")))


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    (tmp_path / "t.csv").write_text(CSV.replace(",", delimiter))
    assert io.read(tmp_path / "t.csv", labels=-2).attribute_names == ("id", "area", "sea")


def test_a_table_without_labels_can_be_read(csv: Path) -> None:
    data = io.read(csv, labels=[])
    assert data.X.shape == (2, 5)
    assert data.Y.shape == (2, 0)


@pytest.mark.parametrize(("arff", "xml"), [("t", "t"), ("t-train", "t"), ("T_Test", "t"), ("t-train", "t-train")])
def test_the_labels_of_an_arff_file_are_in_the_xml_file_beside_it(tmp_path: Path, arff: str, xml: str) -> None:
    (tmp_path / f"{arff}.arff").write_text(ARFF.format("toys"))
    (tmp_path / f"{xml}.xml").write_text('<labels><label name="m"/></labels>')
    (tmp_path / "other.xml").write_text('<labels><label name="l"/></labels>')
    data = io.read(tmp_path / f"{arff}.arff")
    assert data.label_names == ("m",)
    assert data.name == arff


def test_a_folder_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder, expected a file"):
        io.read(tmp_path)
    for name in ("gone.csv", "gone.arff", "gone.parquet"):
        with pytest.raises(DataError, match="there is no such file"):
            io.read(tmp_path / name, labels=[])
    (tmp_path / "t.txt").write_text("a,b\n")
    with pytest.raises(DataError, match="of no known format"):
        io.read(tmp_path / "t.txt", labels=[])


def test_a_pyarrow_table_is_a_frame() -> None:
    table = pa.table({"n": [1, None], "t": ["b", "a"], "m": [1, None], "l": [0, 1]})
    data = io.read(table, labels=["l"])
    assert data.attributes == (Attribute("n"), Attribute("t", ("a", "b")), Attribute("m"))


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_frames_keep_their_categories(library: Any) -> None:
    kind = pd.Categorical(["b", "a"], categories=["b", "a", "c"])
    if library is pl:
        kind = pl.Series(["b", "a"], dtype=pl.Enum(["b", "a", "c"]))
    frame = library.DataFrame({"x": [1, 2], "kind": kind, "text": ["v", "u"], "red": [True, False], "blue": [0, 1]})
    data = io.read(frame, labels=["red", "blue"])
    assert data.attributes == (Attribute("x"), Attribute("kind", ("b", "a", "c")), Attribute("text", ("u", "v")))
    assert data.X.column(1).tolist() == [0, 1]
    assert data.Y.tolist() == [[1, 0], [0, 1]]


def test_arrays_and_sparse_matrices_are_read() -> None:
    array = np.array([[0.5, 1, 0], [0.0, 0, 1]])
    for source in (array, sp.csr_array(array), sp.coo_matrix(array), array.tolist()):
        data = io.read(source, labels=-2)
        assert data.label_names == ("x1", "x2")
        assert data.Y.tolist() == [[1, 0], [0, 1]]
        assert data.X.column(0).tolist() == [0.5, 0]


def test_X_and_Y_are_read_as_scikit_learn_has_them() -> None:
    X, Y = np.array([[1.0], [2.0]]), np.array([[1, 0], [0, 1]])
    for labels in (Y, sp.csr_array(Y), Y.tolist(), Y.astype(bool)):
        data = io.read((X, labels))
        assert data.label_names == ("y0", "y1")
        assert np.asarray(data.Y.toarray() if sp.issparse(data.Y) else data.Y).tolist() == Y.tolist()
    named = io.read((pd.DataFrame({"a": [1, 2]}), pd.DataFrame(Y, columns=["red", "blue"])))
    assert named.label_names == ("red", "blue")
    assert io.read((X, [0, 1])).Y.tolist() == [[0], [1]]
    assert io.read((X, pd.Series([0, 1], name="red"))).label_names == ("red",)


@pytest.mark.parametrize(
    ("source", "labels", "message"),
    [
        (np.array([[1.0, 2.0]]), -1, "the value '2' for label 'x1', expected 0 or 1"),
        (np.array([[1.0, np.nan]]), -1, "a missing value for label 'x1', expected 0 or 1"),
        (np.array([[1.0, 0.0]]), -3, "labels=-3, expected 1 to 2 for the first or -1 to -2 for the last columns"),
        (np.array([[1.0, 0.0]]), True, "labels=True, expected names, a pattern or a number"),
        (np.array([[1.0, 0.0]]), [3], "3 names no column, expected a name or a pattern"),
        (([[1.0]], [[1], [0]]), None, "X has 1 rows, Y has 2"),
        (([[1.0]], [[3]]), None, "label 'y0', row 0: Y contains 3, expected 0 or 1"),
        (([[1.0]], [["x"]]), None, "label 'y0', row 0: Y contains 'x', expected 0 or 1"),
        (([[1.0]], [[1]]), ["y0"], "labels is given though the source is"),
        (pd.DataFrame({"x0": [1], "a": [0]}), None, "which columns are labels is not known"),
    ],
)
def test_bad_sources_are_refused(source: Any, labels: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        io.read(source, labels)


def test_a_label_called_like_an_attribute_is_refused() -> None:
    X = pd.DataFrame({"red": [1.0]})
    with pytest.raises(DataError, match="a column of X and a label are both named 'red'"):
        io.read((X, pd.DataFrame({"red": [1]})))


def test_a_data_set_can_be_indexed_by_rows(csv: Path) -> None:
    data = io.read(csv, -2)
    assert data[1:].Y.tolist() == [[0, 1]]
    assert data[[1, 0]].X.column(0).tolist() == [8, 7]
    assert data[np.array([False, True])].X.column(0).tolist() == [8]
    assert len(data[0]) == 1
    assert repr(data) == "Dataset(flags: 2 instances, 2 numeric and 1 nominal attributes, 2 labels)"


def test_parquet_of_others_is_read(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "n": pa.array([1, None], pa.int32()),
            "t": pa.array(["b", None]),
            "d": pa.array(["y", "x"]).dictionary_encode(),
            "f": pa.array([0.5, 1.5], pa.float32()),
            "b": pa.array([True, False]),
            "l": pa.array([1, 0], pa.uint8()),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    data = io.read(tmp_path / "t.parquet", labels=["b", "l"])
    assert data.attributes == (Attribute("n"), Attribute("t", ("b",)), Attribute("d", ("y", "x")), Attribute("f"))
    np.testing.assert_array_equal(data.X.column(0), [1, np.nan])
    assert data.X.column(1).tolist() == [0, -1]
    assert data.Y.tolist() == [[1, 1], [0, 0]]
    pq.write_table(pa.table({"when": pa.array([0], pa.duration("ms"))}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"column 'when' is of type duration\[ms\], expected numbers, dates, texts"):
        io.read(tmp_path / "t.parquet", labels=[])
