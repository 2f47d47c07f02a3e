"""`plurule edit` and `plurule simplify`."""

from __future__ import annotations

import pytest

from helpers.commands import Run
from plurule.model import file as model_file

pytestmark = pytest.mark.usefixtures("model_folder")


def rules_of(path: str) -> list[str]:
    return [rule.to_text() for rule in model_file.load(path)]


def test_edit_adds_removes_replaces_and_moves_rules(run: Run) -> None:
    added = run("edit", "add", "model.json", "¬blue <- continent = Asia", "--at", 1, "-d", "data.csv", "-o", "new.json")
    assert added.code == 0
    assert "+ rule 1: ¬blue ← continent = Asia" in added.out
    assert "Hamming accuracy: " in added.out
    assert "Written to new.json; look at it with: plurule show new.json" in added.out
    assert model_file.load("new.json")[0].coverage == 2
    assert run("edit", "remove", "new.json", 2, 3, "-o", "new.json").code == 0
    assert rules_of("new.json") == ["¬blue ← continent = Asia", "red ← stripes > 3"]
    assert run("edit", "replace", "new.json", 2, "red <- stripes >= 1", "-o", "new.json").code == 0
    assert run("edit", "move", "new.json", 2, 1, "-o", "new.json").code == 0
    assert rules_of("new.json") == ["red ← stripes >= 1", "¬blue ← continent = Asia"]
    assert run("edit", "reorder", "new.json", 2, 1, "-o", "new.json").code == 0
    assert rules_of("new.json")[0] == "¬blue ← continent = Asia"
    assert rules_of("model.json")[0] == "red ← stripes > 2 ∧ continent = Asia"


def test_edit_writes_nothing_unless_told_where(run: Run) -> None:
    result = run("edit", "remove", "model.json", 1)
    assert "Nothing was written" in result.out
    assert len(rules_of("model.json")) == 3


def test_locked_rules_stay(run: Run) -> None:
    assert "now marked locked" in run("edit", "lock", "model.json", 1, "-o", "model.json").out
    refused = run("edit", "remove", "model.json", 1, "-o", "model.json")
    assert refused.code == 2
    assert "cannot remove rule 1, it is locked" in refused.err
    assert run("edit", "unlock", "model.json", 1, "-o", "model.json").code == 0
    assert run("edit", "remove", "model.json", 1, "-o", "model.json").code == 0


def test_an_edit_that_cannot_be_read_is_pointed_at(run: Run) -> None:
    result = run("edit", "add", "model.json", "red <- stripes > 2 and continent = Asien")
    assert result.code == 2
    assert result.out == ""
    assert result.err == (
        "Error: character 36: attribute 'continent' has no category 'Asien'; did you mean 'Asia'?\n"
        "    red <- stripes > 2 and continent = Asien\n"
        "                                       ^\n"
    )


def test_an_edit_that_makes_a_rule_useless_is_said(run: Run) -> None:
    result = run("edit", "add", "model.json", "red <- stripes > 5", "-d", "data.csv")
    assert "note: rule 4 (red ← stripes > 5) is unreachable" in result.out


def test_simplify_says_what_it_drops(run: Run) -> None:
    result = run("simplify", "model.json", "data.csv", "-o", "short.json")
    assert result.code == 0
    assert result.out.startswith("dropped ")
    assert "the same labels for all 4 instances" in result.out
    assert len(rules_of("short.json")) <= 3
