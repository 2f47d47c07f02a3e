"""Files appear whole or not at all."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from plurule import RelaxedPruningClassifier
from plurule._files import (
    atomic_write,
    encode_utf8,
    read_if_regular,
    temporary_folder,
    to_csv,
    write_text,
    write_unless_changed,
)
from plurule.datasets import load_world_flags
from plurule.errors import PluruleError


def test_a_file_takes_the_place_of_the_old_one_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with atomic_write(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.parent == path.parent
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, problem: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            raise problem

    with pytest.raises(problem):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_the_old_file_or_the_usual_ones(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    (tmp_path / "usual").touch()
    write_text(path, "x")
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    path.chmod(0o640)
    write_text(path, "y")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    os.symlink("real.txt", tmp_path / "link.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_text_is_utf8_with_newlines_as_given(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "ä\n\r\n")
    assert (tmp_path / "a.txt").read_bytes() == b"\xc3\xa4\n\r\n"


def test_a_pipe_or_device_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "through the pipe")
        assert os.read(reader, 100) == b"through the pipe"
    finally:
        os.close(reader)
    write_text("/dev/null", "nothing")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no folder in memory")
def test_a_file_in_memory_is_replaced_as_any_other() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "a.txt"
        path.write_text("old")
        with open(path) as before:
            write_text(path, "new")
            assert (before.read(), path.read_text()) == ("old", "new")


def test_a_file_may_have_the_longest_name_there_is(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 127, "😀" * 63):
        write_text(tmp_path / name, "whole")
        assert (tmp_path / name).read_text() == "whole"


def test_the_standard_output_is_written_to(tmp_path: Path) -> None:
    code = "import sys; from plurule._files import write_text; print(1); write_text(sys.argv[1], 'grün\\n'); print(2)"
    for path in ("-", "/dev/stdout"):
        run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, cwd=tmp_path, check=True)
        lines = run.stdout.decode().split()
        assert (lines if path == "-" else sorted(lines)) == (["1", "grün", "2"] if path == "-" else ["1", "2", "grün"])
    assert os.listdir(tmp_path) == []


def test_a_block_that_fails_writes_nothing_to_a_stream(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    def fail() -> None:
        with atomic_write("-") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert capfdbinary.readouterr().out == b""


def test_atomic_write_leaves_one_whole_file_of_two_writers(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a.txt") as outer:
        write_text(tmp_path / "a.txt", "inner")
        outer.write_text("outer")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "outer")]


FULL_DISK = """
import contextlib, io, json, resource, sys
from plurule.cli import app, terminal
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
ended = []
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            terminal.run(app, command)
        except SystemExit as end:
            ended.append((end.code, said.getvalue()))
print(json.dumps(ended))
"""
COMMANDS = {
    "model.json": ("fit", "world-flags", "--learner", "relaxed-pruning", "-o"),
    "predicted.csv": ("predict", "other.json", "world-flags", "-o"),
    "report.html": ("report", "other.json", "-o"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of Unix")
def test_a_full_disk_leaves_what_was_there_and_is_told_in_a_sentence(tmp_path: Path) -> None:
    RelaxedPruningClassifier(max_rules=4).fit(load_world_flags()).rule_list_.save(tmp_path / "other.json")
    for target in COMMANDS:
        (tmp_path / target).write_text("before")
    commands = json.dumps([[*command, target] for target, command in COMMANDS.items()])
    program = [sys.executable, "-c", FULL_DISK, commands]
    done = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path, check=True)
    for target, (code, said) in zip(COMMANDS, json.loads(done.stdout.splitlines()[-1]), strict=True):
        assert code == 2, said
        assert "File too large" in said
        assert target in said
        assert "Traceback" not in said
        assert (tmp_path / target).read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {*COMMANDS, "other.json"}


def test_a_temporary_folder_is_gone_at_the_end() -> None:
    with temporary_folder("test-") as folder:
        assert folder.is_dir()
    assert not folder.exists()


def test_half_characters_are_written_as_json_escapes_them() -> None:
    assert encode_utf8("\u2190\ud800") == b"\xe2\x86\x90\\ud800"


def test_rows_become_csv_in_which_no_cell_is_a_formula() -> None:
    rows = [{"set": "flags", "score": 2 / 3}, {"set": "=A1", "score": None}, {"set": "-1.5"}]
    assert to_csv(rows) == "set,score\nflags,0.666667\n'=A1,\n-1.5,\n"


def test_a_file_that_was_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    before = read_if_regular(path)
    assert before is None
    write_unless_changed(path, "first", before)
    with pytest.raises(PluruleError, match="has been changed by another program meanwhile; nothing was written"):
        write_unless_changed(path, "second", before)
    assert path.read_text() == "first"
    write_unless_changed(path, "second", read_if_regular(path))
    assert path.read_text() == "second"
