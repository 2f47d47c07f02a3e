"""`plurule demo`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.commands import Run

RULE = re.compile(r"^ *\d+  (?P<head>.*?)  +(?P<body>.*?)  +\d+ +\d+ +\d\.\d\d", re.MULTILINE)


def test_demo_shows_rules_that_relate_labels_and_scores(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    page = tmp_path / "page.html"
    result = run("demo", "--output", page)
    assert result.code == 0, result.err
    sections = re.split(r"^The best short list.*$|^Label dependencies.*$|^Scores.*$", result.out, flags=re.MULTILINE)
    pruning, rules, dependencies, scores = sections
    normal, relaxed = zip(*(re.findall(r"[\d.]+", line)[-2:] for line in pruning.splitlines()[2:6]), strict=True)
    assert float(relaxed[0]) < float(normal[0])  # rules
    assert float(relaxed[2]) > float(normal[2])  # multi-label heads
    assert [", " in rule["head"] for rule in RULE.finditer(pruning)] == [True] * 2
    assert [", " in rule["head"] for rule in RULE.finditer(rules)] == [True] * 4
    assert len(re.findall(r"^\w+, \w+ where .* anyway\)$", dependencies, re.MULTILINE)) == 3
    for measure in ("Hamming accuracy", "micro F1", "macro F1", "subset accuracy"):
        (line,) = [line for line in scores.splitlines() if line.startswith(measure)]
        ours, constant = map(float, re.findall(r"0\.\d{3}", line))
        assert ours > constant
    assert page.as_uri() in scores
    assert "<title>Allergens and diets of canteen dishes</title>" in page.read_text(encoding="utf-8")
    assert len(result.out.splitlines()) < 50
