"""The command line, run in this process through the same function as the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from plurule.cli import app, terminal


class Result(NamedTuple):
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


Run = Callable[..., Result]


def runner(capfd: pytest.CaptureFixture[str]) -> Run:
    """A function that runs a command with the arguments it is given."""

    def run(*arguments: object) -> Result:
        with pytest.raises(SystemExit) as ended:
            terminal.run(app, [str(argument) for argument in arguments])
        return Result(int(ended.value.code or 0), *capfd.readouterr())

    return run


def assert_mistake(result: Result, *parts: str) -> None:
    """The command refused its arguments, said each of the parts, and showed no traceback."""
    assert result.code == 2
    for part in parts:
        assert part in result.err
    assert "Traceback" not in result.err
