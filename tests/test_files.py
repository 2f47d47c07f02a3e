"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from plurule.files import replacing, write_text


def test_a_file_takes_the_place_of_the_old_one_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as temporary:
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
        with replacing(path) as temporary:
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


def test_a_file_may_have_the_longest_name_there_is(tmp_path: Path) -> None:
    for name in ("x" * 255, "é" * 127, "😀" * 63):
        write_text(tmp_path / name, "whole")
        assert (tmp_path / name).read_text() == "whole"
