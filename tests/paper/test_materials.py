"""The data sets of an experiment: found by name or path, split where they come whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plurule.errors import DataError
from plurule.paper.materials import EMBEDDED, known_sets, load_material, name_of, places_of

HEADER = "@relation '{name}: -C 1'\n@attribute a {{0,1}}\n@attribute x numeric\n@data\n"


def write(folder: Path, name: str, rows: int, weight: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{int(x % 3 == 0)},{x}{weight if x % 5 == 0 else ''}" for x in range(rows)]
    relation = name.removesuffix("-train").removesuffix("-test")
    (folder / f"{name}.arff").write_text(HEADER.format(name=relation) + "\n".join(lines) + "\n", encoding="utf-8")


def test_sets_are_found_by_name_in_a_folder_or_by_path(tmp_path: Path):
    write(tmp_path / "house", "house", 30)
    write(tmp_path / "garden", "garden-train", 30)
    write(tmp_path / "garden", "garden-test", 20)
    (tmp_path / "empty").mkdir()
    assert known_sets(tmp_path) == ["garden", "house"]
    assert places_of(["house"], tmp_path) == {"house": str(tmp_path / "house")}
    assert places_of([str(tmp_path / "garden")], None) == {"garden": str(tmp_path / "garden")}
    assert places_of(["house", "shed"], tmp_path, lacking=True) == {"house": str(tmp_path / "house")}
    with pytest.raises(DataError, match="known there are garden, house"):
        places_of(["shed"], tmp_path)


def test_a_pair_is_used_as_it_is_and_a_whole_set_is_split(tmp_path: Path):
    write(tmp_path / "house", "house", 30)
    write(tmp_path / "garden", "garden-train", 30)
    write(tmp_path / "garden", "garden-test", 20)
    pair = load_material(str(tmp_path / "garden"), "3", seed=0)
    assert (len(pair.train), len(pair.test), pair.n_folds) == (30, 20, 3)
    whole = load_material(str(tmp_path / "house"), "3", seed=0)
    assert (len(whole.train), len(whole.test)) == (20, 10)
    again = load_material(str(tmp_path / "house"), "3", seed=0)
    other = load_material(str(tmp_path / "house"), "3", seed=1)
    assert np.array_equal(whole.test.Y, again.test.Y)
    assert whole.test.X.column(0).tolist() == again.test.X.column(0).tolist() != other.test.X.column(0).tolist()


def test_labels_are_needed_only_where_a_set_does_not_say_which_they_are(tmp_path: Path):
    write(tmp_path / "house", "house", 30)
    table = tmp_path / "table.csv"
    table.write_text("x,a,b\n" + "".join(f"{x},{int(x > 9)},{int(x > 19)}\n" for x in range(30)))
    with pytest.raises(DataError, match=r"table\.csv.*which columns are labels is not known.*--labels"):
        load_material(str(table), "3", seed=0)
    assert load_material(str(table), "3", 0, "last:2").train.label_names == ("a", "b")
    assert load_material(str(table), "3", 0, "b").train.label_names == ("b",)
    assert load_material(str(tmp_path / "house"), "3", 0, "last:2").train.label_names == ("a",)
    for part in ("train", "test"):
        (tmp_path / f"pair-{part}.csv").write_text(table.read_text())
    pair = load_material(str(tmp_path / "pair"), "3", 0, "a,b")
    assert (len(pair.train), len(pair.test), pair.n_labels) == (30, 30, 2)


def test_rows_of_weight_zero_are_not_there(tmp_path: Path):
    write(tmp_path / "garden", "garden-train", 30, weight=",{0}")
    write(tmp_path / "garden", "garden-test", 20)
    material = load_material(str(tmp_path / "garden"), "3", seed=0)
    assert len(material.train) == 24
    assert sorted(np.concatenate([part.groups[0] for part in material.folds.parts[:3]]).tolist()) == list(range(24))


def test_the_embedded_data_are_always_there(tmp_path: Path):
    assert places_of([EMBEDDED], tmp_path) == {EMBEDDED: EMBEDDED}
    material = load_material(EMBEDDED, "mulan", seed=0)
    assert len(material.train) + len(material.test) == 193


def test_a_data_set_is_called_after_its_file_or_folder() -> None:
    assert [name_of(source) for source in ("birds", "/data/mine/house.csv.gz", "/data/birds/")] == [
        "birds",
        "house",
        "birds",
    ]
