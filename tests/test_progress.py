"""Progress bars."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from rich.console import Console

from plurule import RelaxedPruningClassifierCV
from plurule._progress import progress_bar
from plurule.lifts import KLN, NoLift


def terminal() -> tuple[Console, io.StringIO]:
    written = io.StringIO()
    return Console(file=written, force_terminal=True, width=80), written


def test_progress_bar_is_not_shown_in_a_log() -> None:
    written = io.StringIO()
    with progress_bar("flags", 0, Console(file=written, width=100)) as show:
        show(0.5)
        time.sleep(0.05)
    assert written.getvalue().strip() == ""


def test_progress_bar_is_not_shown_for_quick_work() -> None:
    console, written = terminal()
    with progress_bar("flags", 60, console) as show:
        show(0.5)
    assert "flags" not in written.getvalue()


def test_progress_bar_shows_the_share_of_long_work() -> None:
    console, written = terminal()
    with progress_bar("flags", 0, console) as show:
        show(0.5)
        while "50%" not in written.getvalue():
            time.sleep(0.01)
    assert "flags" in written.getvalue()


def test_progress_bar_ends_with_an_error() -> None:
    console, written = terminal()
    with pytest.raises(ValueError, match="wrong"), progress_bar("flags", 60, console):
        raise ValueError("wrong")
    assert "flags" not in written.getvalue()


X, Y = np.arange(40.0)[:, None], (np.arange(40)[:, None] > [10, 25]).astype(int)


def test_verbose_search_shows_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    RelaxedPruningClassifierCV(lifts=[KLN(), NoLift()], cv=2, verbose=1).fit(X, Y)
    captured = capsys.readouterr()
    assert "lifts" in captured.err
    assert captured.out == ""


def test_search_calls_a_verbose_function(capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[tuple[int, int]] = []
    search = RelaxedPruningClassifierCV(lifts=[KLN(), NoLift()], cv=2, verbose=lambda *counts: calls.append(counts))
    search.fit(X, Y)
    assert (calls[0], calls[-1]) == ((0, 2), (2, 2))
    assert capsys.readouterr().err == ""
