"""Every real data set loads, with the counts that were published for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.requirements import data_set
from plurule import data as io

# Rows, attributes, labels, labels per row.
PUBLISHED = {
    "flags": (194, 19, 7, 3.392),
    "emotions": (593, 72, 6, 1.868),
    "birds": (645, 260, 19, 1.014),
    "CAL500": (502, 68, 174, 26.044),
    "CAL500D": (502, 68, 174, 26.044),
    "medical": (978, 1449, 45, 1.245),
    "scene": (2407, 294, 6, 1.074),
    "yeast": (2417, 103, 14, 4.237),
    "yeastD": (2417, 103, 14, 4.237),
    "enron": (1702, 1001, 53, 3.378),
    "corel5k": (5000, 499, 374, 3.522),
    "bibtex": (7395, 1836, 159, 2.402),
    "delicious": (16105, 500, 983, 19.020),
    "tmc2007-500": (28596, 500, 22, 2.158),
    "rcv1sub1": (6000, 47236, 101, 2.880),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_data_set_has_its_published_counts(shared_data: Path, name: str) -> None:
    paths = dict.fromkeys(data_set(shared_data, name, part) for part in ("train", "test"))
    parts = [io.read(path) for path in paths]
    rows, attributes, labels, cardinality = PUBLISHED[name]
    assert sum(map(len, parts)) == rows
    for data in parts:
        assert len(data.attributes) == attributes
        assert data.Y.shape == (len(data), labels)
        assert data.Y.dtype == np.int8
        assert data.attributes == parts[0].attributes
        assert data.label_names == parts[0].label_names
    assert sum(len(data) * data.cardinality for data in parts) / rows == pytest.approx(cardinality, abs=5e-4)


def test_no_data_set_in_the_folder_is_left_out(shared_data: Path) -> None:
    assert {path.name for path in shared_data.iterdir() if path.is_dir()} <= set(PUBLISHED)


def test_names_and_kinds_are_those_of_the_files(shared_data: Path) -> None:
    flags = io.read(data_set(shared_data, "flags"))
    assert flags.label_names == ("red", "green", "blue", "yellow", "white", "black", "orange")
    assert flags.attributes[0].categories == ("1", "2", "3", "4", "5", "6")
    assert flags.attributes[2].name == "area"
    assert not flags.attributes[2].is_nominal
    assert "Swainson's Thrush" in io.read(data_set(shared_data, "birds")).label_names
    assert "TAG_m\\'usica" in io.read(data_set(shared_data, "delicious")).label_names
    discretised = io.read(data_set(shared_data, "yeastD")).attributes[0].categories
    assert discretised is not None
    assert discretised[0] == "'(-inf--0.11676]'"
