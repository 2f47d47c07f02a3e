"""Checkpoints: nothing learned is lost, nothing is mixed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurule.distributed.storage import Checkpoint, CheckpointError

FIT = {"parameters": "abc", "the data": "xyz"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results" / "rules.jsonl"


def opened(path: Path, **changes: str) -> Checkpoint:
    checkpoint = Checkpoint(path)
    try:
        checkpoint.expect(FIT | changes)
    except CheckpointError:
        checkpoint.__exit__()
        raise
    return checkpoint


def test_a_checkpoint_has_its_rules_when_it_is_opened_again(path: Path):
    with opened(path) as checkpoint:
        checkpoint.add(0, {"value": 0.1 + 0.2})
        checkpoint.add(3, {"value": 1})
        checkpoint.add(0, {"value": 2})
    with opened(path) as checkpoint:
        assert checkpoint.rules == {0: [{"value": 0.1 + 0.2}, {"value": 2}], 3: [{"value": 1}]}


def test_a_rule_is_with_the_operating_system_before_the_checkpoint_is_closed(path: Path):
    with opened(path) as checkpoint:
        checkpoint.add(1, "a")
        last = path.read_text(encoding="utf-8").splitlines()[-1]
        assert json.loads(last.rpartition(" ")[0]) == {"list": 1, "rule": "a"}


@given(cut=st.integers(min_value=1, max_value=400))
def test_a_checkpoint_that_was_cut_anywhere_keeps_every_whole_line(cut: int, tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("cut") / "rules.jsonl"
    with opened(path) as checkpoint:
        for number in range(4):
            checkpoint.add(0, {"value": number, "text": "é" * number})
    content = path.read_bytes()
    kept = content[: max(len(content) - cut, 0)]
    path.write_bytes(kept)
    n_whole = max(kept.count(b"\n") - 1, 0)
    with opened(path) as checkpoint:
        assert len(checkpoint.rules.get(0, ())) == n_whole
        checkpoint.add(0, "next")
    with opened(path) as checkpoint:
        assert checkpoint.rules[0][-1] == "next"
        assert len(checkpoint.rules[0]) == n_whole + 1


def test_a_checkpoint_of_another_fit_is_refused_with_what_changed_and_left_as_it_was(path: Path):
    with opened(path) as checkpoint:
        checkpoint.add(0, "a")
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match="rules of another fit: the data changed since it was begun"):
        opened(path, **{"the data": "other"})
    assert path.read_bytes() == before


def test_a_checkpoint_of_another_version_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch):
    opened(path).__exit__()
    monkeypatch.setattr("plurule.distributed.storage.version", lambda: "0.0.1")
    with pytest.raises(CheckpointError, match="rules of another fit: plurule changed"):
        opened(path)


def test_a_checkpoint_with_an_altered_number_is_refused(path: Path):
    with opened(path) as checkpoint:
        checkpoint.add(0, {"tp": 12})
    path.write_bytes(path.read_bytes().replace(b"12}", b"13}"))
    with pytest.raises(CheckpointError, match="line 2: is no checkpoint of plurule, or is damaged"):
        opened(path)


def test_a_damaged_line_of_a_checkpoint_is_reported_with_its_number(path: Path):
    with opened(path) as checkpoint:
        checkpoint.add(0, "a")
        checkpoint.add(0, "b")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:10] + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(CheckpointError, match="line 2: is no checkpoint of plurule, or is damaged"):
        opened(path)


@pytest.mark.parametrize("content", [b"hello", b"hello\n", b'{"a": 1}\n', b"\xff\xfe\n"])
def test_a_file_that_is_no_checkpoint_is_refused_and_kept(path: Path, content: bytes):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(CheckpointError):
        opened(path)
    assert path.read_bytes() == content


def test_two_programs_cannot_use_a_checkpoint_at_the_same_time(path: Path):
    other = (
        "import sys; from pathlib import Path; from plurule.distributed.storage import Checkpoint\n"
        "Checkpoint(Path(sys.argv[1]))"
    )
    with opened(path):
        ended = subprocess.run([sys.executable, "-c", other, str(path)], capture_output=True, text=True)
    assert "another run is at work there" in ended.stderr
    ended = subprocess.run([sys.executable, "-c", other, str(path)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_a_checkpoint_in_a_folder_that_cannot_be_made_is_reported(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="cannot be written"):
        opened(tmp_path / "file" / "rules.jsonl")


def test_not_a_number_is_never_written_to_a_checkpoint(path: Path):
    with opened(path) as checkpoint:
        with pytest.raises(ValueError, match="JSON"):
            checkpoint.add(0, float("nan"))
        checkpoint.add(0, 1)
    with opened(path) as checkpoint:
        assert checkpoint.rules == {0: [1]}
