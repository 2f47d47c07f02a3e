"""`plurule explain` and `plurule dependencies`."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from helpers.commands import Run
from helpers.rule_lists import make_rules
from plurule.datasets import load_world_flags
from plurule.model import file as model_file

pytestmark = pytest.mark.usefixtures("model_folder")


def test_explain_says_which_rule_decided(run: Run) -> None:
    result = run("explain", "model.json", "data.csv", "--row", 3, "--row", 0)
    assert result.out.startswith("instance 3: red (ended by rule 3)\n  red: present by rule 3, since stripes = 4 > 3")
    assert "instance 0: red\n" in result.out
    rows = list(csv.DictReader(io.StringIO(run("explain", "model.json", "data.csv", "--as", "csv").out)))
    assert len(rows) == 8
    assert rows[0]["because"] == "stripes = 3 > 2 and continent = Asia"
    page = run("explain", "model.json", "data.csv", "--as", "html", "--limit", 1).out
    assert "Instance 0" in page
    assert "Instance 1" not in page
    outside = run("explain", "model.json", "data.csv", "--row", 4)
    assert outside.code == 2
    assert "there is no row 4; rows are numbered from 0 to 3" in outside.err


def test_dependencies_are_listed(run: Run, tmp_path: Path) -> None:
    flags = load_world_flags()
    attributes = {a.name: a.categories for a in flags.X.attributes}
    rules = make_rules("red, white <- continent = Asia\n¬blue <- red", attributes, flags.label_names)
    model_file.save(rules, tmp_path / "flags.json")
    result = run("dependencies", "flags.json", "--data", "world-flags")
    assert result.out.startswith("co-occurrence: red, white where continent = Asia (")
    assert run("dependencies", "flags.json", "--as", "dot").out.startswith("digraph labels {")
    rows = list(csv.DictReader(io.StringIO(run("dependencies", "flags.json", "--as", "csv").out)))
    assert [row["kind"] for row in rows] == ["co-occurrence", "exclusion"]
