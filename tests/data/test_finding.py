"""From what people type to the files that are meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.datasets import HEADER, refused, refused_text
from plurule import data as io
from plurule.data.finding import base_name, find, label_file

ARFF = "@relation '{}'\n@attribute l {{0,1}}\n@attribute a numeric\n@attribute m {{0,1}}\n@data\n1,2,0\n"


def test_pairs_are_found_from_a_base_name_or_folder(tmp_path: Path) -> None:
    folder = tmp_path / "Toys"
    folder.mkdir()
    (folder / "toys-train.arff").write_text(ARFF.format("t"))
    (folder / "toys-test.arff").write_text(ARFF.format("t") + "0,3,1\n")
    (folder / "toys.xml").write_text('<labels><label name="l"/><label name="m"/></labels>')
    for source in (folder, folder / "toys", str(folder / "TOYS")):
        assert len(io.read(source)) == 3
        train, test = io.read_pair(source)
        assert (len(train), len(test)) == (1, 2)
    assert io.read(folder).X.column(0).tolist() == [2, 2, 3]
    (folder / "toys.arff").write_text(ARFF.format("t"))
    assert len(io.read(folder)) == 1
    assert len(io.read(folder, split="test")) == 2


def test_the_folder_of_the_environment_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toys").mkdir()
    (tmp_path / "toys" / "toys.csv").write_text("a,l\n1,0\n")
    monkeypatch.setenv("PLURULE_DATA", str(tmp_path))
    assert len(io.read("toys", labels=-1)) == 1


def test_missing_files_and_unknown_formats_are_named(tmp_path: Path) -> None:
    assert re.match(r".*/nothing: there is no such file, and no data set of that name", refused(tmp_path / "nothing"))
    assert refused(tmp_path).endswith("nor just one; name a file")
    assert "of no known format, expected a file that ends in .arff, .csv" in refused_text(tmp_path, "x", "t.xlsx")


def test_a_missing_part_of_a_pair_is_named(tmp_path: Path) -> None:
    (tmp_path / "t-train.arff").write_text(HEADER + "1,x,0\n")
    message = refused(tmp_path / "t", split="all")
    assert message == f"{tmp_path}: there is no t-test beside t-train.arff"


@pytest.mark.parametrize("name", ["flags.arff", "flags.CSV", "flags.csv.gz", "flags.tsv.bz2", "flags.parquet"])
def test_a_file_is_called_as_it_is_without_its_endings(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert base_name(tmp_path / name) == "flags"
    found = find(tmp_path / "Flags")
    assert (found.name, found.whole, found.train, found.test) == ("flags", tmp_path / name, None, None)
    assert find(tmp_path) == found, "the only one of its folder"


def test_the_labels_of_a_part_are_named_by_a_file_of_its_own_or_of_the_whole(tmp_path: Path) -> None:
    part = tmp_path / "flags-train.arff"
    assert label_file(part) is None
    (tmp_path / "FLAGS.xml").touch()
    assert label_file(part) == tmp_path / "FLAGS.xml"
    (tmp_path / "flags-train.xml").touch()
    assert label_file(part) == tmp_path / "flags-train.xml"
