"""Rule lists as text on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from helpers.rule_lists import make_rules, random_rule_list
from plurule.cli.terminal import number, rule_table
from plurule.model import RuleList

LONG = make_rules(
    "red, white <- horizontal_stripes > 2 and continent = South America and 1948 <= un_since <= 1990 and blue",
    {"horizontal_stripes": None, "continent": ("South America", "Asia"), "un_since": None},
    ("red", "white", "blue"),
)


def printed(rule_list: RuleList, width: int) -> list[str]:
    written = io.StringIO()
    Console(file=written, width=width).print(rule_table(rule_list, range(len(rule_list))))
    return written.getvalue().splitlines()


def test_what_fits_is_on_one_line() -> None:
    assert len(printed(LONG, 200)) == 2
    assert (
        "horizontal_stripes > 2 ∧ continent = South America ∧ 1948 <= un_since <= 1990 ∧ blue" in printed(LONG, 200)[1]
    )


@pytest.mark.parametrize("seed", range(5))
def test_rules_fit_80_columns_and_no_word_is_broken(seed: int) -> None:
    rule_list, _ = random_rule_list(seed, n_rules=30)
    lines = printed(rule_list, 80)
    assert max(map(len, lines)) <= 80
    words = {word for rule in rule_list for word in rule.to_text().replace(",", " ").split()}
    found = " ".join(lines).replace(",", " ").split()
    # Thresholds are shown with few digits.
    assert {word for word in words if not any(c.isdigit() for c in word)} <= {*found, "←"}


def test_a_name_longer_than_the_line_is_folded() -> None:
    rule_list = make_rules("red <- " + "x" * 120 + " > 1", {"x" * 120: None}, ("red",))
    lines = printed(rule_list, 80)
    assert max(map(len, lines)) <= 80
    assert sum(line.count("x") for line in lines) == 120


def test_counts_are_shown_as_they_are_and_measured_values_with_digits() -> None:
    assert (number(12, digits=3), number(0.8125, digits=2), number(1.0, digits=2)) == ("12", "0.81", "1.00")
