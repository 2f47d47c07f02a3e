"""The journal: what it keeps, and files that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.paper.journal import Journal, JournalError


def test_results_are_there_when_the_journal_is_opened_again(tmp_path: Path):
    Journal(tmp_path / "journal.jsonl", {"seed": 1}).add("task", {"score": 0.5})
    assert Journal(tmp_path / "journal.jsonl", {"seed": 1}).results == {"task": {"score": 0.5}}


def test_a_later_result_replaces_an_earlier_one(tmp_path: Path):
    journal = Journal(tmp_path / "journal.jsonl", {})
    journal.add("task", {"error": "failed"})
    journal.add("task", {"score": 0.5})
    assert Journal(journal.path, {}).results == {"task": {"score": 0.5}}


def test_a_line_that_was_not_finished_is_removed(tmp_path: Path):
    journal = Journal(tmp_path / "journal.jsonl", {})
    journal.add("task", {"score": 0.5})
    journal.path.write_text(journal.path.read_text() + '{"task": "ot')
    assert list(Journal(journal.path, {}).results) == ["task"]
    assert journal.path.read_text().endswith("}\n")


@pytest.mark.parametrize("line", ["no JSON", "[1]", '{"foo": 1}', '{"task": "one"}'])
def test_a_damaged_line_is_named(tmp_path: Path, line: str):
    journal = Journal(tmp_path / "journal.jsonl", {})
    journal.path.write_text(journal.path.read_text() + line + "\n")
    with pytest.raises(JournalError, match="line 2 is damaged; choose another folder"):
        Journal(journal.path, {})


@pytest.mark.parametrize("line", ["[1]", '{"foo": 1}'])
def test_another_file_is_refused(tmp_path: Path, line: str):
    (tmp_path / "journal.jsonl").write_text(line + "\n")
    with pytest.raises(JournalError, match="choose another folder"):
        Journal(tmp_path / "journal.jsonl", {})


def test_results_of_other_arguments_are_refused(tmp_path: Path):
    Journal(tmp_path / "journal.jsonl", {"seed": 1})
    with pytest.raises(JournalError, match="seed was 1, now 2"):
        Journal(tmp_path / "journal.jsonl", {"seed": 2})


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "journal.jsonl").mkdir()
    for path in (tmp_path / "file" / "journal.jsonl", tmp_path / "journal.jsonl"):
        with pytest.raises(JournalError, match="cannot be written"):
            Journal(path, {})
