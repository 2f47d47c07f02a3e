"""Data sets are found by name or path, and fetched files are checked."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from plurule import DataError
from research import data
from research.data import fetch, read_parts, require_data_set
from research.files import DataSet, find_data_set

ARFF = "@relation toys\n@attribute x numeric\n@attribute 'a b' {0,1}\n@attribute \"c\" {0,1}\n@data\n1,0,1\n2,1,0\n"


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A known data set, offered as a file of this machine, and an empty cache."""
    monkeypatch.delenv("PLURULE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    offered = tmp_path / "offered.arff"
    offered.write_text(ARFF)
    sha256 = hashlib.sha256(ARFF.encode()).hexdigest()
    file = {"name": "toys-train.arff", "url": offered.as_uri(), "sha256": sha256, "size": len(ARFF)}
    facts = {"labels": 2, "files": [file, file | {"name": "toys-test.arff"}]}
    monkeypatch.setitem(data.CATALOGUE, "toys", facts)
    return facts


@pytest.mark.usefixtures("toys")
def test_fetched_data_set_is_found_and_read():
    assert find_data_set("toys") is None
    folder = fetch("toys")
    data_set = require_data_set("toys")
    assert data_set == DataSet("toys", folder / "toys-train.arff", folder / "toys-test.arff")
    train, test = read_parts(data_set)
    assert train.label_names == test.label_names == ("a b", "c")


def test_fetch_refuses_other_contents(toys: dict[str, Any]):
    toys["files"][0]["sha256"] = "0" * 64
    with pytest.raises(DataError, match="is not the expected file"):
        fetch("toys")
    assert find_data_set("toys") is None


def test_fetch_explains_what_to_do_offline(toys: dict[str, Any]):
    toys["files"][0]["url"] = "file:///nowhere"
    with pytest.raises(DataError, match=r"cannot be fetched .* Put them into the folder that PLURULE_DATA names"):
        fetch("toys")


def test_fetch_names_the_known_sets():
    with pytest.raises(DataError, match="no data set is called 'emotion'; known are flags, emotions"):
        fetch("emotion")
    with pytest.raises(DataError, match="medical is not offered for download"):
        fetch("medical")


def test_data_sets_are_found_in_several_folders_or_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("one/house/house.arff", "two/garden/Garden-train.arff.gz", "two/garden/Garden-test.arff.gz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setenv("PLURULE_DATA", f"{tmp_path / 'one'}:{tmp_path / 'two'}")
    house = DataSet("house", tmp_path / "one/house/house.arff")
    assert find_data_set("house") == house
    assert find_data_set(str(tmp_path / "one/house")) == house
    assert find_data_set(str(house.train)) == house
    garden = find_data_set("garden")
    assert garden is not None
    assert garden.test == tmp_path / "two/garden/Garden-test.arff.gz"
    assert find_data_set("house", tmp_path / "two") is None


def test_labels_are_used_where_a_file_does_not_name_them(tmp_path: Path):
    table = tmp_path / "table.csv"
    table.write_text("x,a,b\n" + "".join(f"{x},{int(x > 9)},{int(x > 19)}\n" for x in range(30)))
    train, test = read_parts(DataSet("table", table), labels=-2)
    assert train.label_names == ("a", "b")
    assert (len(train), len(test)) == (20, 10)
