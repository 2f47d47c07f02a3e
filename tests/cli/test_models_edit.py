"""`plurule edit`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from plurule import RuleList
from plurule.export.spreadsheet import to_csv
from plurule.inspection.edit import rules_digest

pytestmark = pytest.mark.usefixtures("model_folder")


def rules_of(path: str) -> list[str]:
    return [rule.to_text() for rule in RuleList.load(path)]


def test_edit_add_prints_the_changes_and_writes_the_model(run: Run) -> None:
    added = run(
        "edit", "model.json", "--add", "¬blue <- continent = Asia", "--at", 1, "-d", "data.csv", "-o", "new.json"
    )
    assert added.code == 0
    assert "+ rule 1: ¬blue ← continent = Asia" in added.out
    assert "Hamming accuracy: " in added.out
    assert "Written to new.json; look at it with: plurule show new.json" in added.out
    assert RuleList.load("new.json")[0].coverage == 2
    assert rules_of("model.json")[0] == "red ← stripes > 2 ∧ continent = Asia"


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (("--remove", 2, "--remove", 1), ["red ← stripes > 3"]),
        (
            ("--replace", 2, "red <- stripes >= 1"),
            ["red ← stripes > 2 ∧ continent = Asia", "red ← stripes >= 1", "red ← stripes > 3"],
        ),
        (
            ("--move", 2, 1),
            ["blue ← stripes <= 2", "red ← stripes > 2 ∧ continent = Asia", "red ← stripes > 3"],
        ),
    ],
)
def test_edit_changes_the_rules(run: Run, edit: tuple[object, ...], rules: list[str]) -> None:
    assert run("edit", "model.json", *edit, "-o", "new.json").code == 0
    assert rules_of("new.json") == rules


def test_edit_without_output_writes_nothing(run: Run) -> None:
    result = run("edit", "model.json", "--remove", 1)
    assert "Nothing was written" in result.out
    assert len(rules_of("model.json")) == 3


def test_edit_refuses_to_change_locked_rules(run: Run) -> None:
    assert "now marked locked" in run("edit", "model.json", "--lock", 1, "-o", "model.json").out
    assert_mistake(run("edit", "model.json", "--remove", 1, "-o", "model.json"), "cannot remove rule 1, it is locked")


def test_edit_unlock_allows_changes(run: Run) -> None:
    assert run("edit", "model.json", "--lock", 1, "-o", "model.json").code == 0
    assert run("edit", "model.json", "--unlock", 1, "-o", "model.json").code == 0
    assert run("edit", "model.json", "--remove", 1, "-o", "model.json").code == 0


def test_edit_points_at_the_mistake_in_a_rule(run: Run) -> None:
    result = run("edit", "model.json", "--add", "red <- stripes > 2 and continent = Asien")
    assert result.code == 2
    assert result.out == ""
    assert result.err == (
        "Error: character 36: attribute 'continent' has no category 'Asien'; did you mean 'Asia'?\n"
        "    red <- stripes > 2 and continent = Asien\n"
        "                                       ^\n"
    )


def test_edit_warns_about_a_rule_that_can_never_apply(run: Run) -> None:
    result = run("edit", "model.json", "--add", "red <- stripes > 5", "-d", "data.csv")
    assert "note: rule 4 (red ← stripes > 5) is unreachable" in result.out


def test_edit_simplify_prints_the_dropped_rules(run: Run) -> None:
    result = run("edit", "model.json", "--simplify", "--data", "data.csv", "-o", "short.json")
    assert result.code == 0
    assert result.out.startswith("dropped ")
    assert "the same labels for all 4 instances" in result.out
    assert len(rules_of("short.json")) <= 3


def test_edit_simplify_accepts_a_loss_of_score(run: Run) -> None:
    options = ("--data", "data.csv", "--tolerance", 1, "--measure", "micro_f1", "-o", "short.json")
    assert run("edit", "model.json", "--simplify", *options).code == 0
    assert rules_of("short.json") == []


def write_table(name: str, *changes: tuple[str, str]) -> None:
    """Export the table, with some texts replaced as an expert does."""
    text = to_csv(RuleList.load("model.json"))
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    Path(name).write_text(text, encoding="utf-8")


def test_edit_from_a_table_counts_shows_and_writes_the_changes(run: Run) -> None:
    write_table("rules.csv", ("> 3", "> 4"))
    result = run("edit", "model.json", "--from", "rules.csv", "--data", "data.csv", "-o", "new.json")
    assert result.code == 0
    assert "~ rule 3: red ← stripes > 3\n    now rule 3: red ← stripes > 4" in result.out
    assert "Hamming accuracy: " in result.out
    assert rules_of("new.json")[2] == "red ← stripes > 4"


def test_edit_from_an_exported_excel_file_changes_nothing(run: Run) -> None:
    assert run("export", "model.json", "--to", "xlsx", "-o", "rules.xlsx").code == 0
    result = run("edit", "model.json", "--from", "rules.xlsx", "-o", "new.json")
    assert "the same rules in the same order" in result.out
    assert RuleList.load("new.json").rules == RuleList.load("model.json").rules


def test_edit_from_a_table_that_cannot_be_read_writes_nothing(run: Run) -> None:
    write_table("rules.csv", ("> 3", "> three"))
    result = run("edit", "model.json", "--from", "rules.csv", "-o", "new.json")
    assert_mistake(result, "rules.csv, cell C4: expected a number after '>', found 'three'")
    assert not Path("new.json").exists()


def test_edit_from_a_table_keeps_locked_rules(run: Run) -> None:
    assert run("edit", "model.json", "--lock", 3, "-o", "model.json").code == 0
    write_table("rules.csv", ("> 3", "> 4"))
    result = run("edit", "model.json", "--from", "rules.csv", "-o", "new.json")
    assert_mistake(result, "cannot remove or change rule 3, it is locked")


def test_edit_applies_a_script(run: Run) -> None:
    edits = [{"do": "remove", "numbers": [1, 2]}]
    script = {"rules": rules_digest(RuleList.load("model.json")), "edits": edits}
    Path("edits.json").write_text(json.dumps(script))
    result = run("edit", "model.json", "--script", "edits.json", "--data", "data.csv", "-o", "new.json")
    assert "- rule 1: red ← stripes > 2 ∧ continent = Asia" in result.out
    assert rules_of("new.json") == ["red ← stripes > 3"]
    assert_mistake(run("edit", "new.json", "--script", "edits.json"), "edits.json: was made for other rules")


@pytest.mark.parametrize("options", [(), ("--add", "red <-", "--remove", 1)])
def test_edit_takes_one_edit(run: Run, options: tuple[object, ...]) -> None:
    assert_mistake(run("edit", "model.json", *options), "give one of --add, --remove, ")


def test_edit_simplify_needs_data(run: Run) -> None:
    assert_mistake(run("edit", "model.json", "--simplify"), "--simplify compares predictions; also give --data")


def test_parallel_edits_of_one_file_lose_nothing_silently(model_folder: Path) -> None:
    command = [sys.executable, "-m", "plurule", "edit", "model.json", "-o", "model.json"]
    programs = [
        subprocess.Popen([*command, "--lock", str(number)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for number in (1, 2, 3)
    ]
    written = [program.wait() == 0 for program in programs]
    assert any(written)
    assert [rule.locked for rule in RuleList.load(model_folder / "model.json")] == written
