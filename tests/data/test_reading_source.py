"""Files that data are read from: their bytes, and the places that error messages name."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import pytest

from helpers import datasets
from helpers.datasets import HEADER, refused_text
from plurule import data as io
from plurule.data.arff import read_arff
from plurule.data.reading import Place, Source, shown


def columns(path: Path, **options: Any) -> dict[str, list[Any]]:
    """The columns of a file as lists, categories by name and None for missing values."""
    table = read_arff(path, **options)[0].X
    return dict(zip(table.names, datasets.columns(table), strict=True))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_files_are_unpacked(tmp_path: Path, pack: Any) -> None:
    text = b"@relation t\n@attribute a numeric\n@data\n1\n2\n"
    path = tmp_path / ("x.arff.gz" if pack is gzip.compress else "x.arff.bz2")
    path.write_bytes(pack(text))
    assert columns(path) == {"a": [1, 2]}
    # Compressed files may be put behind one another.
    path.write_bytes(pack(text[:30]) + pack(text[30:]))
    assert columns(path) == {"a": [1, 2]}


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    message = refused_text(tmp_path, HEADER.encode() + b"1,x,0\n1,\xe9,0\n")
    assert message.startswith("t.arff, line 7: byte 0xe9 is not UTF-8, expected UTF-8 text")
    assert "UTF-16" in refused_text(tmp_path, HEADER.encode("utf-16"))


def test_files_that_cannot_be_unpacked_are_refused(tmp_path: Path) -> None:
    whole = gzip.compress(HEADER.encode() * 50)
    assert "cannot be unpacked" in refused_text(tmp_path, whole[:-20], "t.arff.gz")
    assert "cannot be unpacked" in refused_text(tmp_path, b"no gzip at all", "t.arff.gz")
    assert "cannot be unpacked" in refused_text(tmp_path, whole[:40] + b"xx" + whole[42:], "t.arff.gz")
    assert "cannot be unpacked" in refused_text(tmp_path, bz2.compress(HEADER.encode())[:-9], "t.arff.bz2")
    assert "cannot be unpacked" in refused_text(tmp_path, b"no bzip2 at all", "t.arff.bz2")


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule.data.reading._ALWAYS_ALLOWED", 4 << 20)
    block = b"%" * (1 << 20)
    for name, content in {
        "t.arff.gz": gzip.compress(block * 5),
        "u.arff.gz": b"".join([gzip.compress(block)] * 5),
        "t.arff.bz2": bz2.compress(block * 5),
    }.items():
        assert "unpacks to more than 4 MB, far more than tables of this size do" in refused_text(
            tmp_path, content, name
        )
    # What is merely empty for the most part is read.
    (tmp_path / "t.arff.gz").write_bytes(gzip.compress(HEADER.encode() + b"{}\n" * (1 << 20)))
    assert len(io.read(tmp_path / "t.arff.gz", labels=["l"])) == 1 << 20


def test_a_row_stands_on_its_line_or_else_has_a_number() -> None:
    place = Place("flags.csv")
    assert Source(place, line_of=[2, 5].__getitem__).at_row(1) == "flags.csv, line 5"
    assert Source(place).at_row(1) == "flags.csv, row 2"
    assert str(place.at(7).error("is odd")) == "flags.csv, line 7: is odd"


def test_long_texts_are_cut() -> None:
    assert shown("x" * 60) == repr("x" * 60)
    assert shown("x" * 61) == repr("x" * 59 + "…")
