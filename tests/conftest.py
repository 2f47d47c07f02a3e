"""Fixtures that several test modules share, and what a run says at its end."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from helpers import requirements
from helpers.browser import browser
from helpers.commands import Run, runner

collect_ignore = ["fuzz"]
"""A program of its own, which needs atheris."""

__all__ = ["browser", "run", "shared_data"]

# The same examples on every machine and in every run, however slow it is.
settings.register_profile("plurule", derandomize=True, deadline=None)
settings.load_profile("plurule")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was skipped, and how to switch it on."""
    reports = terminalreporter.stats.get("skipped", [])
    lines = requirements.summary(report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple))
    if lines:
        terminalreporter.section("skipped, and how to switch it on")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of Mulan data sets."""
    folder = requirements.shared_data_folder()
    if folder is None:
        requirements.absent_columns("data", "there is no folder of Mulan data sets")
    return folder


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Does not wait long for a scheduler that is not there."""
    monkeypatch.setattr("plurule._rows.dask._CONNECT_SECONDS", 0.5)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command of the command line, which sees a terminal of 160 columns without colours, and one core.

    Whatever it starts one process per core for is done without processes, unless a test asks for some.
    """
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")
    return runner(capfd)
