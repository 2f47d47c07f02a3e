"""Discretisation as by Weka's filter: cut points by hand, and the authors' files byte by byte."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from plurule import DataError
from research import data
from research.data import build, find_or_build
from research.discretise import Arff, bin_names, cut_points, discretise, number_text, rearrange, to_bytes
from research.files import CATALOGUE, cache_folder, changed_files, find_data_set, problems

NUMERIC = "@relation r\n\n@attribute x numeric\n@attribute l {0,1}\n\n@data\n"
AUTHORS = ("sceneD", "yeastD", "CAL500D")


def test_bins_hold_equally_many_values_where_all_differ():
    assert cut_points([float(x) for x in range(100)]) == [10 * i - 0.5 for i in range(1, 10)]


def test_equal_values_stay_in_one_bin():
    assert cut_points([1, 1, 1, 1, 2, 3], 2) == [1.5]
    # Of the two possible cuts of eight values, after two and after seven, the first is nearer to four.
    assert cut_points([1, 1, 2, 2, 2, 2, 2, 3], 2) == [1.5]
    # One and five of six values are equally far from three: the later cut is taken.
    assert cut_points([1, 2, 2, 2, 2, 3], 2) == [2.5]
    assert cut_points([5.0] * 10) == []


def test_bin_size_is_computed_again_from_what_is_left():
    # 1 ten times makes the first of four bins; nine values are left for three.
    values = [1.0] * 10 + [float(x) for x in range(2, 11)]
    assert cut_points(values, 4) == [1.5, 4.5, 7.5]


def test_cut_points_split_between_values_and_never_exceed_the_bins():
    generator = random.Random(0)
    for _ in range(200):
        values = [float(generator.randrange(30)) for _ in range(generator.randrange(1, 80))]
        cuts = cut_points(values)
        assert len(cuts) <= 9
        assert cuts == sorted(set(cuts))
        assert not set(cuts) & set(values)
        assert all(min(values) < cut < max(values) for cut in cuts)


def test_numbers_are_rounded_to_six_digits_as_weka_does():
    assert [number_text(x) for x in (0.1234565, -0.1234565, 1e-7, 3.10, -2.0)] == [
        "0.123457",
        "-0.123457",
        "0",
        "3.1",
        "-2",
    ]


def test_attribute_without_a_cut_has_one_category():
    assert bin_names([]) == [r"'\'All\''"]


def test_cuts_are_those_of_both_parts_together_and_a_value_on_a_cut_is_in_the_lower_bin():
    parts = {"train": NUMERIC + "1,0\n3,1\n", "test": NUMERIC + "2,1\n5,0\n"}
    made = discretise(parts, n_bins=2)
    assert made["train"].rows == [[r"'\'(-inf-2.5]\''", "0"], [r"'\'(2.5-inf)\''", "1"]]
    assert made["test"].rows == [[r"'\'(-inf-2.5]\''", "1"], [r"'\'(2.5-inf)\''", "0"]]
    assert made["train"].attributes == made["test"].attributes


def test_rows_of_the_test_part_come_first_when_parts_are_rearranged():
    train, test = (Arff("r", [], [[text] for text in texts]) for texts in ("abc", "de"))
    first, second = rearrange(train, test)
    assert (first.rows, second.rows) == ([["d"], ["e"], ["a"]], [["b"], ["c"]])


def test_file_is_written_with_the_line_ends_of_its_rows():
    content = to_bytes(Arff("r", [("x", "numeric")], [["1"], ["2"]]), "\r\n", False)
    assert content == b"@relation r\n\n@attribute x numeric\n\n@data\n1\r\n2"


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data sets, and no others but those that PLURULE_DATA names."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("name", AUTHORS)
def test_built_files_are_those_of_the_authors(name: str, empty_cache: Path):
    source = find_data_set(CATALOGUE[name]["made_from"])
    if source is None:
        pytest.skip(f"{CATALOGUE[name]['made_from']} is in no folder that PLURULE_DATA names")
    folder = build(name)
    # `build` keeps nothing whose SHA-256 is not that of the authors' file.
    assert [(folder / file["name"]).stat().st_size for file in CATALOGUE[name]["files"]] == [
        file["size"] for file in CATALOGUE[name]["files"]
    ]
    assert changed_files(find_or_build(name)) == []


def write_parts(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    for part in ("train", "test"):
        (folder / name / f"{name}-{part}.arff").write_text(NUMERIC + "1,0\n2,1\n")


def test_build_refuses_a_changed_source(empty_cache: Path):
    write_parts(empty_cache, "scene")
    with pytest.raises(DataError, match=r"scene-train\.arff has been changed"):
        build("sceneD", empty_cache)


def test_build_keeps_no_file_of_another_content(empty_cache: Path, monkeypatch: pytest.MonkeyPatch):
    write_parts(empty_cache, "scene")
    monkeypatch.setattr(data, "changed_files", lambda data_set: [])
    with pytest.raises(DataError, match="is not the authors' file; nothing was kept"):
        build("sceneD", empty_cache)
    assert find_data_set("sceneD", cache_folder()) is None


def test_problems_name_missing_sets_and_changed_files(empty_cache: Path):
    write_parts(empty_cache, "scene")
    missing, *changed = problems(("sceneD", "yeastD"), empty_cache)
    assert f"missing in {empty_cache}: yeastD (built from yeast)" in missing
    assert [sentence.split(" ")[0].rpartition("/")[2] for sentence in changed] == [
        "scene-train.arff",
        "scene-test.arff",
    ]
    assert problems((), empty_cache / "nowhere") == [f"{empty_cache / 'nowhere'} is not a folder"]
