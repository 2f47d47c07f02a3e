"""The whole program: its commands, its help, and how a mistake ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from helpers.commands import Run


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "plurule", *map(str, arguments)], capture_output=True, text=True, encoding="utf-8"
    )


def test_a_mistake_ends_the_program_with_one_line_and_code_2(tmp_path: Path) -> None:
    result = program("fit", tmp_path / "nothing.csv", "--labels", "red")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "nothing.csv" in result.stderr
    assert "Traceback" not in result.stderr


def test_help_and_version_need_no_heavy_imports() -> None:
    code = "import sys, plurule.cli; print(sorted({'sklearn', 'scipy', 'pandas', 'numpy'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr
    assert program("--version").stdout.startswith("plurule 0.")


def test_the_commands_are_listed(run: Run) -> None:
    out = run("--help").out
    for command in ("demo", "fit", "predict", "evaluate", "tune", "reproduce", "show", "convert", "data"):
        assert command in out
        assert run(command, "--help").code == 0
