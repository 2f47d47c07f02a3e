"""Tests that lack a program are skipped with a word, or fail where the program must be there."""

from __future__ import annotations

import pytest

from helpers.requirements import lacking, summary


def test_what_is_lacking_skips_a_test_unless_it_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLURULE_TEST_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match="browser: no Chromium"):
        lacking("browser", "no Chromium")
    monkeypatch.setenv("PLURULE_TEST_REQUIRE", "databases,browser")
    with pytest.raises(pytest.fail.Exception, match="no Chromium, and PLURULE_TEST_REQUIRE names browser"):
        lacking("browser", "no Chromium")
    with pytest.raises(pytest.skip.Exception, match="latex"):
        lacking("latex", "no LaTeX")


def test_a_run_ends_with_what_was_skipped_and_how_to_switch_it_on() -> None:
    reasons = ["Skipped: browser: no Chromium", "Skipped: browser: no driver", "Skipped: no truth values"]
    browser, other = summary(reasons)
    assert browser.startswith("   2 for want of browser: install Chromium")
    assert other == "   1 no truth values"
