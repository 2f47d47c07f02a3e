"""What is said against rules without data holds on all data."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.rule_lists import make_rules, random_rule_list
from plurule._prediction.apply import decide
from plurule.inspection.check import check


@pytest.mark.parametrize("seed", range(150))
def test_a_rule_that_is_called_useless_decides_nothing(seed: int) -> None:
    rule_list, table = random_rule_list(seed, n_rules=25)
    decided_by = decide(rule_list, table).decided_by
    for finding in check(rule_list):
        position = finding.number - 1
        if finding.problem == "pre-empted":
            label = next(a.index for a in finding.rule.head if f"decides {a.name} first" in finding.reason)
            assert not (decided_by[:, label] == position).any()
        else:
            assert not (decided_by == position).any()


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("a <- x > 1\na <- x > 1", {2: "unreachable"}),
        ("a <- x > 1\na <- x > 2 and y > 0", {2: "unreachable"}),
        ("a <- x > 1\na <- x > 0", {}),
        ("a <- x <= 1\na <- x <= 0", {2: "unreachable"}),
        ("a <- x <= 1\na <- x > 0", {}),
        ("a <- c = u\nb <- c = u and c = v", {2: "contradictory"}),
        ("a <- x > 1 and x <= 1", {1: "contradictory"}),
        ("a <- x > 1 and x <= 2", {}),
        ("a <-\nb <- a and ¬a", {2: "contradictory"}),
        ("b <- a", {1: "unreachable"}),
        ("¬a <-\nb <- a", {2: "unreachable"}),
        ("a <- x > 2 and x <= 1\nb <- a", {1: "contradictory", 2: "unreachable"}),
        # The label is decided between the two rules, so the first does not yet see it.
        ("a <- x > 5\nb <- a\na <- x > 3\nb <- a and x > 3", {}),
        ("a <- x > 5\nb <- a\nb <- a and x > 3", {3: "unreachable"}),
        # The stop rule finds its label decided, so it does not end the instance.
        ("a <- x > 1\na <- x > 0 [stop]\nb <- x > 2", {}),
        ("a <- x > 0 [stop]\nb <- x > 2", {2: "unreachable"}),
        ("a <- x > 0 [stop]\nb <- x > -1", {}),
        ("a <- x > 1\nb <- x > 1\na, b <- x > 2", {3: "unreachable"}),
        ("a <- x > 1\n¬a, b <- x > 2", {2: "pre-empted"}),
        ("a <- x > 1\na, b <- x > 2", {}),
        # Only both conditions together leave one category.
        ("a <- c = v\na <- c in {v, w} and c != w", {2: "unreachable"}),
        ("a <- c = v\na <- c in {v, w} and c != u", {}),
        # Any two of the conditions can hold, but not all of them.
        ("a <- c = v\na <- c != u and c != w and c in {u, w}\nb <- a", {2: "contradictory"}),
    ],
)
def test_useless_rules_are_found_and_others_are_not(text: str, problems: dict[int, str]) -> None:
    rule_list = make_rules(text, {"x": None, "y": None, "c": ("u", "v", "w")}, ("a", "b"))
    assert {f.number: f.problem for f in check(rule_list)} == problems


def test_thousands_of_rules_are_checked() -> None:
    text = "\n".join(f"a <- x > {value}" for value in np.linspace(0, 1, 2000))
    assert len(check(make_rules(text, {"x": None}, ("a",)))) == 1999
