"""Data and models that several commands are tried on."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.commands import Run
from helpers.rule_lists import make_rules
from plurule.model import file as model_file

TABLE = """size,kind,red,blue
1,a,1,0
2,a,1,0
3,a,1,0
4,b,0,1
5,b,0,1
6,b,0,1
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def model(tmp_path: Path, data: Path, run: Run) -> Path:
    path = tmp_path / "model.json"
    assert run("fit", data, "--labels", "red,blue", "-o", path).code == 0
    return path


DATA = "stripes,continent,red,blue\n3,Asia,1,0\n1,Africa,0,1\n,Asia,1,1\n4,Africa,1,0\n"


RULES = "red <- stripes > 2 and continent = Asia\nblue <- stripes <= 2\nred <- stripes > 3 [stop]"


@pytest.fixture
def model_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder with `model.json` and `data.csv`."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(DATA)
    rules = make_rules(RULES, {"stripes": None, "continent": ("Africa", "Asia")}, ("red", "blue"))
    model_file.save(rules, "model.json")


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """A data set that comes as a training and a test file."""
    header = "@relation 'pair: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n@data\n"
    for part, start in (("train", 0), ("test", 3)):
        rows = [f"{int(x > 15)},{int(x > 20)},{x}" for x in range(start, start + 30)]
        (tmp_path / f"pair-{part}.arff").write_text(header + "\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "pair"
