"""`plurule demo`."""

from __future__ import annotations

import re

from helpers.commands import Run


def test_the_demo_shows_rules_characteristics_and_scores_beside_normal_pruning(run: Run) -> None:
    result = run("demo")
    assert result.code == 0, result.err
    assert "red" in result.out
    assert "10 best of" in result.out
    rules = re.findall(r"^ *\d+  .*\d\.\d\d", result.out, re.MULTILINE)
    assert len(rules) == 10
    for title in ("relaxed pruning", "normal pruning", "heads of several labels", "cross-validation"):
        assert title in result.out
    for measure in ("Hamming accuracy", "micro F1", "macro F1", "subset accuracy"):
        (line,) = [line for line in result.out.splitlines() if line.startswith(measure)]
        assert len(re.findall(r"0\.\d{3}", line)) == 2
