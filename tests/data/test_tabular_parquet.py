"""Parquet files: what is refused before it is read, and that texts are kept once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plurule import data as io
from plurule.data import tabular
from plurule.errors import DataError
from plurule.model import Attribute


def write(folder: Path, **columns: pa.Array) -> Path:
    pq.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def test_a_long_text_that_is_there_often_is_kept_once(tmp_path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([1, 0] * 500), pa.array(["a", "x" * 10**6]))
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"text": texts, "l": pa.array([1, 0] * 500)}), path, store_schema=False)
    assert pq.read_schema(path).field("text").type == pa.string()
    assert path.stat().st_size < 100_000
    data = io.read(path, labels=["l"])
    assert data.attributes == (Attribute("text", ("a", "x" * 10**6)),)
    assert data.X.column(0).tolist() == [1, 0] * 500
    code = """
import sys
import pyarrow
from plurule import data
data.read(sys.argv[1], labels=["l"])
print(pyarrow.default_memory_pool().max_memory())
"""
    most = subprocess.run([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, check=True).stdout
    assert 0 < int(most) < 50 * 10**6


def test_a_type_that_cannot_be_used_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, a=pa.array([1.0]), list=pa.array([[0] * 1000]))
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_: pytest.fail("the file was read"))
    with pytest.raises(DataError, match=r"column 'list' is of type list<.*>, expected numbers, dates, texts"):
        io.read(path, labels=[])


def test_what_unpacks_to_far_more_than_the_file_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabular, "_ALWAYS_ALLOWED", 1 << 16)
    monkeypatch.setattr(tabular, "_LARGEST_RATIO", 2)
    table = pa.table({"text": pa.array([f"{i}" + "x" * 1000 for i in range(500)])})
    pq.write_table(table, tmp_path / "t.parquet", use_dictionary=False, compression="gzip")
    with pytest.raises(DataError, match=r"holds [0-9]+ bytes unpacked, far more than files of its size do"):
        io.read(tmp_path / "t.parquet", labels=[])


def test_a_small_file_of_more_values_than_it_has_memory_for_is_refused_unread(tmp_path: Path) -> None:
    # 40 million equal values, which need 320 MB, in a small file.
    nothing = pa.nulls(2 * 10**7, pa.int8())
    path = write(tmp_path, a=nothing, b=nothing)
    assert path.stat().st_size < 300_000
    with pytest.raises(DataError, match="holds 40000000 values, far more than files of its size do"):
        io.read(path, labels=[])


def test_texts_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    broken = pa.array([b"\xff\xfe", b"a"]).cast(pa.binary()).view(pa.string())
    path = write(tmp_path, text=broken)
    with pytest.raises(DataError, match=r"t.parquet: (column 'text' holds a text that is not UTF-8|is .*damaged)"):
        io.read(path, labels=[])


def test_truth_values_numbers_and_gaps_are_read(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        b=pa.array([True, None, False]),
        n=pa.array([1, None, 3]),
        d=pa.array(["q", None, "p"]).dictionary_encode(),
        t=pa.array(["y", None, "x"]),
        f=pa.array([0.5, None, 1.5], pa.float32()),
        nothing=pa.nulls(3),
    )
    data = io.read(path, labels=[])
    assert [a.categories for a in data.attributes] == [("False", "True"), None, ("q", "p"), ("x", "y"), None, None]
    assert data.X.column(0).tolist() == [1, -1, 0]
    np.testing.assert_array_equal(data.X.column(1), [1, np.nan, 3])
    assert data.X.column(2).tolist() == [0, -1, 1]
    assert data.X.column(3).tolist() == [1, -1, 0]
    np.testing.assert_array_equal(data.X.column(4), np.array([0.5, np.nan, 1.5], dtype=np.float32))
    np.testing.assert_array_equal(data.X.column(5), [np.nan] * 3)


DAMAGED_FOOTERS = """
import sys
from pathlib import Path
import pyarrow as pa
import pyarrow.parquet as pq
from plurule.data import read
from plurule.errors import DataError

path = Path(sys.argv[1])
pq.write_table(pa.table({"a": [1.5, None], "b": ["x", "y"]}), path)
whole = path.read_bytes()
footer = int.from_bytes(whole[-8:-4], "little")
refused = 0
for place in range(len(whole) - 8 - footer, len(whole) - 8):
    for bit in (1, 2):
        damaged = bytearray(whole)
        damaged[place] ^= bit
        path.write_bytes(damaged)
        try:
            read(path, labels=[])
        except DataError:
            refused += 1
print(refused)
"""


def test_a_damaged_footer_is_refused_and_never_ends_the_process(tmp_path: Path) -> None:
    arguments = [sys.executable, "-W", "ignore", "-c", DAMAGED_FOOTERS, str(tmp_path / "damaged.parquet")]
    ended = subprocess.run(arguments, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 100
