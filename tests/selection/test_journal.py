"""The journal: nothing finished is lost, nothing is mixed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurule.selection.journal import Journal, JournalError

ARGUMENTS = {"sets": ["flags"], "folds": "mulan"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results" / "journal.jsonl"


def opened(path: Path, version: str = "1.0", code: str = "abc", **changes: object) -> Journal:
    return Journal(path, ARGUMENTS | changes, version, code)


def test_results_are_there_when_the_journal_is_opened_again(path: Path):
    with opened(path) as journal:
        journal.begin_session({"machine": "mine"})
        journal.expect("the contents of flags", "abc")
        journal.add("a", {"score": 0.1 + 0.2})
    with opened(path) as journal:
        assert journal.results == {"a": {"score": 0.1 + 0.2}}
        assert journal.facts == {"the contents of flags": "abc"}
        assert journal.sessions[0]["machine"] == "mine"
        assert journal.finished_at["a"] > 0


def test_a_result_is_with_the_operating_system_before_the_journal_is_closed(path: Path):
    with opened(path) as journal:
        journal.add("a", 1)
        assert json.loads(path.read_text(encoding="utf-8").splitlines()[-1])["task"] == "a"


@given(cut=st.integers(min_value=1, max_value=400))
def test_a_journal_that_was_cut_anywhere_keeps_every_whole_line(cut: int, tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("cut") / "journal.jsonl"
    with opened(path) as journal:
        for number in range(4):
            journal.add(f"task {number}", {"score": number, "text": "é" * number})
    content = path.read_bytes()
    kept = content[: max(len(content) - cut, 0)]
    path.write_bytes(kept)
    whole = max(kept.count(b"\n") - 1, 0)
    with opened(path) as journal:
        assert list(journal.results) == [f"task {number}" for number in range(whole)]
        journal.add("next", 1)
    with opened(path) as journal:
        assert list(journal.results)[-1] == "next"
        assert len(journal.results) == whole + 1


def test_other_arguments_are_refused_with_the_difference(path: Path):
    opened(path).close()
    with pytest.raises(JournalError, match="sets was flags, now birds, flags; seed was not given, now 3"):
        opened(path, sets=["birds", "flags"], seed=3)


def test_another_version_is_refused_with_both_versions(path: Path):
    opened(path).close()
    with pytest.raises(JournalError, match=r"the version of plurule was 1\.0, now 2\.0"):
        opened(path, version="2.0")


def test_other_code_of_the_same_version_is_refused_with_both_fingerprints(path: Path):
    opened(path).close()
    with pytest.raises(JournalError, match=r"the code of plurule 1\.0 was abc, now xyz; results are never mixed"):
        opened(path, code="xyz")


def test_a_journal_from_before_the_code_was_noted_is_refused(path: Path):
    opened(path).close()
    lines = path.read_text(encoding="utf-8")
    path.write_text(lines.replace('"code":"abc",', ""), encoding="utf-8")
    with pytest.raises(JournalError, match=r"the code of plurule 1\.0 was not noted then, now abc"):
        opened(path)


def test_other_data_under_the_same_name_are_refused(path: Path):
    with opened(path) as journal:
        journal.expect("the contents of flags", "abc")
    with (
        opened(path) as journal,
        pytest.raises(JournalError, match=r"journal\.jsonl: the contents of flags .*abc then"),
    ):
        journal.expect("the contents of flags", "xyz")


def test_a_refused_journal_is_left_as_it_was(path: Path):
    with opened(path) as journal:
        journal.add("a", 1)
    before = path.read_bytes()
    with pytest.raises(JournalError):
        opened(path, version="2.0")
    assert path.read_bytes() == before


def test_a_damaged_line_in_the_middle_is_reported_with_its_number(path: Path):
    with opened(path) as journal:
        journal.add("a", 1)
        journal.add("b", 2)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:10] + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match="line 2: is damaged"):
        opened(path)


@pytest.mark.parametrize("content", [b"hello", b"hello\n", b'{"a": 1}\n', b"\xff\xfe\n"])
def test_a_file_that_is_no_journal_is_refused_and_kept(path: Path, content: bytes):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(JournalError):
        opened(path)
    assert path.read_bytes() == content


def test_two_programs_cannot_use_a_journal_at_the_same_time(path: Path):
    other = (
        "import sys; from pathlib import Path; from plurule.selection.journal import Journal\n"
        f"Journal(Path(sys.argv[1]), {ARGUMENTS!r}, '1.0', 'abc')"
    )
    with opened(path):
        ended = subprocess.run([sys.executable, "-c", other, str(path)], capture_output=True, text=True)
    assert "another run is at work there" in ended.stderr
    ended = subprocess.run([sys.executable, "-c", other, str(path)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot be written"):
        opened(tmp_path / "file" / "journal.jsonl")


def test_not_a_number_is_never_written(path: Path):
    with opened(path) as journal:
        with pytest.raises(ValueError, match="JSON"):
            journal.add("a", float("nan"))
        journal.add("b", 1)
    with opened(path) as journal:
        assert journal.results == {"b": 1}
