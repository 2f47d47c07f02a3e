"""Data and models that the tests of several commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.rule_lists import make_rules
from plurule import RelaxedPruningClassifier, RuleList, RuleListClassifier, read
from plurule.datasets import load_world_flags

TABLE = """size,kind,red,blue
1,a,1,0
2,a,1,0
3,a,1,0
4,b,0,1
5,b,0,1
6,b,0,1
"""
DATA = "stripes,continent,red,blue\n3,Asia,1,0\n1,Africa,0,1\n,Asia,1,1\n4,Africa,1,0\n"
RULES = "red <- stripes > 2 and continent = Asia\nblue <- stripes <= 2\nred <- stripes > 3 [stop]"


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six rows with two labels."""
    path = tmp_path_factory.mktemp("toy") / "data.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def model(data: Path) -> Path:
    """A model of two rules learned from the six rows."""
    path = data.parent / "model.json"
    RelaxedPruningClassifier().fit(read(data, labels=["red", "blue"])).rule_list_.save(path)
    return path


@pytest.fixture(scope="session")
def flags_rules() -> RuleList:
    """The rules that are learned from the flags by default."""
    return RuleListClassifier().fit(load_world_flags()).rule_list_


@pytest.fixture
def model_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with `model.json` and `data.csv`, which tests may change."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA)
    make_rules(RULES, {"stripes": None, "continent": ("Africa", "Asia")}, ("red", "blue")).save(tmp_path / "model.json")
    return tmp_path
