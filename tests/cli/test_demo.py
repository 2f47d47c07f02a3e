"""`plurule demo`."""

from __future__ import annotations

import re

from helpers.commands import Run

RULE = re.compile(r"^ *\d+  (?P<head>.*?)  +(?P<body>.*?)  +\d+ +\d+ +\d\.\d\d", re.MULTILINE)


def test_the_demo_shows_what_rules_say_about_labels_and_scores_beside_normal_pruning(run: Run) -> None:
    result = run("demo")
    assert result.code == 0, result.err
    _, several, because, excluded, rest = re.split(r"^… |^Where labels go together", result.out, flags=re.MULTILINE)
    assert [", " in found["head"] for found in RULE.finditer(several)] == [True] * 3
    (follows,), (excludes,) = RULE.finditer(because), RULE.finditer(excluded)
    assert (follows["head"], follows["body"]) == ("sulphites", "alcohol")
    assert (excludes["head"], excludes["body"]) == ("¬milk", "vegan")
    assert len(re.findall(r"^\w+, \w+ where .* anyway\)$", rest, re.MULTILINE)) == 4
    for title in ("relaxed pruning", "normal pruning", "heads of several labels", "cross-validation"):
        assert title in rest
    for measure in ("Hamming accuracy", "micro F1", "macro F1", "subset accuracy"):
        (line,) = [line for line in rest.splitlines() if line.startswith(measure)]
        assert len(re.findall(r"0\.\d{3}", line)) == 2
    assert len(result.out.splitlines()) < 50
