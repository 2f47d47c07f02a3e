"""Bars that show how far long work is."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from rich.console import Console

from plurule import RuleListClassifierCV
from plurule.classifier import RuleListClassifier
from plurule.progress import counting, sharing


def terminal() -> tuple[Console, io.StringIO]:
    written = io.StringIO()
    return Console(file=written, force_terminal=True, width=80), written


def test_a_bar_shows_how_many_candidates_are_finished() -> None:
    console, written = terminal()
    with counting(console, "flags") as progress:
        for done in range(4):
            progress(done, 15)
    assert "flags" in written.getvalue()
    assert "3/15" in written.getvalue()


def test_there_is_no_bar_in_a_log() -> None:
    written = io.StringIO()
    with counting(Console(file=written, width=100), "flags") as progress:
        progress(1, 1)
    with sharing(Console(file=written, width=100), "flags", after=0) as share:
        share(0.5)
        time.sleep(0.05)
    assert written.getvalue().strip() == ""


def test_work_that_is_done_soon_has_no_bar() -> None:
    console, written = terminal()
    with sharing(console, "flags", after=60) as share:
        share(0.5)
    assert "flags" not in written.getvalue()


def test_a_share_is_shown_once_work_takes_long() -> None:
    console, written = terminal()
    with sharing(console, "flags", after=0) as share:
        share(0.5)
        while "50%" not in written.getvalue():
            time.sleep(0.01)
    assert "flags" in written.getvalue()


def test_an_error_in_the_block_ends_the_bar() -> None:
    console, written = terminal()
    with pytest.raises(ValueError, match="wrong"), sharing(console, "flags", after=60):
        raise ValueError("wrong")
    assert "flags" not in written.getvalue()


def test_a_search_shows_a_bar_or_tells_whoever_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    X, Y = np.arange(40.0)[:, None], (np.arange(40)[:, None] > [10, 25]).astype(int)
    search = RuleListClassifierCV(RuleListClassifier(heuristic="f_measure"), cv=2, param_grid={"beam_width": [1, 2]})
    search.set_params(verbose=1).fit(X, Y)
    captured = capsys.readouterr()
    assert "candidates" in captured.err
    assert "2/2" in captured.err
    assert captured.out == ""
    told: list[tuple[int, int]] = []
    search.set_params(verbose=lambda *given: told.append(given)).fit(X, Y)
    assert (told[0], told[-1]) == ((0, 2), (2, 2))
    assert capsys.readouterr().err == ""
