"""`plurule demo`."""

from __future__ import annotations

import re

import pytest

from helpers.commands import Run

RULE = re.compile(r"^ *\d+  (?P<head>.*?)  +(?P<body>.*?)  +\d+ +\d+ +\d\.\d\d", re.MULTILINE)


def test_demo_shows_rules_that_relate_labels_and_scores(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    result = run("demo")
    assert result.code == 0, result.err
    rules, dependencies, scores = re.split(r"^Label dependencies.*$|^Scores.*$", result.out, flags=re.MULTILINE)
    assert [", " in rule["head"] for rule in RULE.finditer(rules)] == [True] * 6
    assert len(re.findall(r"^\w+, \w+ where .* anyway\)$", dependencies, re.MULTILINE)) == 4
    for measure in ("Hamming accuracy", "micro F1", "macro F1", "subset accuracy"):
        (line,) = [line for line in scores.splitlines() if line.startswith(measure)]
        ours, constant = map(float, re.findall(r"0\.\d{3}", line))
        assert ours > constant
    assert "plurule report" in scores
    assert len(result.out.splitlines()) < 40
