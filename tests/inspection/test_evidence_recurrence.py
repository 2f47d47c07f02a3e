"""Rules that say the same."""

from __future__ import annotations

import numpy as np
import pytest

from plurule.data.inputs import encode
from plurule.inspection.evidence import Recurrence
from plurule.model import Attribute, Rule
from plurule.model.text import parse

NAMES = (Attribute("area"), Attribute("bars"), Attribute("cross", ("no", "yes"))), ("red", "blue")
TABLE = encode(np.array([[i, i % 2, 0] for i in range(100)], dtype=float))


def rule(text: str) -> Rule:
    return parse(text, *NAMES)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("red <- area > 40.5", "red <- area > 46.5", True),
        ("red <- area > 40.5", "red <- area > 47.5", False),
        ("red <- area > 40", "red <- area > 46.5", True),  # 40 itself is not above 40
        ("red <- area > 40.5", "red <- area <= 40.5", False),
        ("red <- area > 40.5", "blue <- area > 40.5", False),
        ("red, blue <- area > 40.5", "red <- area > 40.5", False),
        ("¬red <- area > 40.5", "red <- area > 40.5", False),
        ("red <- area > 40.5 and bars > 0.5", "red <- bars > 0.5 and area > 42.5", True),
        ("red <- area > 40.5 and bars > 0.5", "red <- area > 40.5", False),
        ("red <- area > 10.5 and area > 40.5", "red <- area > 41.5", True),
        ("red <- area <= 90.5 and area <= 40.5", "red <- area <= 41.5", True),
        ("red <- blue", "red <- ¬blue", False),
        ("red <- cross = no", "red <- cross = yes", False),
        ("red <- cross = no", "red <- cross = no", True),
        ("red <-", "red <-", True),
    ],
)
def test_rules_are_the_same_if_all_but_near_thresholds_are(first: str, second: str, same: bool) -> None:
    recurrence = Recurrence(TABLE)
    assert recurrence.is_same(rule(first), rule(second)) is same
    assert recurrence.is_same(rule(second), rule(first)) is same


def test_a_share_counts_lists_and_not_rules() -> None:
    lists = [
        [rule("red <- area > 40.5"), rule("red <- area > 41.5")],
        [rule("blue <- bars > 0.5")],
        [rule("red <- area > 44.5")],
        [],
    ]
    asked = [rule("red <- area > 42.5"), rule("blue <- bars > 0.5"), rule("blue <-")]
    assert Recurrence(TABLE).shares(asked, lists) == [0.5, 0.25, 0.0]
    assert Recurrence(TABLE).shares([rule("red <- area > 80.5"), rule("red <- area > 50.5")], lists) == [0.0, 0.25]
    assert Recurrence(TABLE).shares(asked, []) == [0.0, 0.0, 0.0]


def test_missing_values_are_not_counted() -> None:
    table = encode(np.array([[np.nan]] * 50 + [[i] for i in range(10)], dtype=float))
    names = (Attribute("x0"),), ("red",)
    near, far = parse("red <- x0 > 3.5", *names), parse("red <- x0 > 4.5", *names)
    assert not Recurrence(table).is_same(near, far)
    assert Recurrence(table, tolerance=0.1).is_same(near, far)
