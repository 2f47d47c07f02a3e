"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from helpers.commands import Run, runner

# The same examples on every machine and in every run, however slow it is.
settings.register_profile("plurule", derandomize=True, deadline=None)
settings.load_profile("plurule")


def shared_data_folder() -> Path | None:
    """The folder of Mulan data sets: `PLURULE_DATA`, or `../shared/data` beside the checkout."""
    places = [os.environ.get("PLURULE_DATA"), Path(__file__).parents[2] / "shared" / "data"]
    return next((Path(p) for p in places if p and Path(p).is_dir()), None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    folder = shared_data_folder()
    if folder is None:
        pytest.skip("no folder of Mulan data sets: set PLURULE_DATA or put one at ../shared/data")
    return folder


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command of the command line, which sees a terminal of 160 columns without colours."""
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")
    return runner(capfd)
