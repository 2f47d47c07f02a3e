"""What differs between two rule lists."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.rule_lists import make_rules, random_rule_list
from plurule.data import Dataset
from plurule.data.inputs import encode
from plurule.errors import DataError
from plurule.inspection.diff import diff
from plurule.model import RuleList

ATTRIBUTES = {"x": None, "y": None}
LABELS = ("red", "blue")


def rules(text: str) -> RuleList:
    return make_rules(text, ATTRIBUTES, LABELS)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("red <- x > 1", "red <- x > 1", []),
        ("red <- x > 1 and y > 2", "red <- y > 2 and x > 1", []),
        ("red <-", "red <-\nblue <-", ["+ rule 2: blue ←"]),
        ("red <-\nblue <-", "blue <-", ["- rule 1: red ←"]),
        ("red <-\nblue <-\n¬red <-", "blue <-\n¬red <-\nred <-", ["> rule 1 is now rule 3: red ←"]),
        ("red <- x > 1", "red <- x > 2", ["~ rule 1: red ← x > 1\n    now rule 1: red ← x > 2"]),
        ("red <- x > 1", "blue <- y > 2", ["- rule 1: red ← x > 1", "+ rule 1: blue ← y > 2"]),
        ("red <-", "red <- [stop]", ["~ rule 1 is now marked stop: red ←"]),
        ("red <- [stop, locked]", "red <-", ["~ rule 1 is now marked neither stop nor locked: red ←"]),
        ("red <-\nred <-", "red <-", ["- rule 2: red ←"]),
    ],
)
def test_rules_that_changed_are_listed(before: str, after: str, said: list[str]) -> None:
    assert [str(change) for change in diff(rules(before), rules(after)).rules] == said


def test_a_list_does_not_differ_from_itself() -> None:
    rule_list, table = random_rule_list(3)
    difference = diff(rule_list, rule_list, table)
    assert difference.same_rules
    assert difference.same_predictions
    assert str(difference) == "the same rules in the same order\nthe same labels for all 60 instances"


def test_lists_about_different_columns_are_compared_by_name() -> None:
    one = make_rules("red <- x > 1", {"x": None}, ("red", "green"))
    other = make_rules("red <- x > 1\nblue <- y > 1", {"y": None, "x": None}, ("blue", "red"))
    table = encode(np.array([[2.0, 0.0]]), rules("red <-").attributes)
    data = Dataset(table, np.array([[1, 0, 0]]), ("red", "blue", "green"))
    difference = diff(one, other, data)
    assert (difference.labels_before_only, difference.labels_after_only) == (("green",), ("blue",))
    assert difference.same_predictions
    assert difference.scores is not None
    assert difference.scores["hamming_accuracy"] == (1.0, 1.0)
    assert "labels of the first list only: green" in str(difference)


def test_the_table_has_a_row_per_change() -> None:
    frame = diff(rules("red <-\nblue <-"), rules("blue <-\nred <- x > 1")).to_frame()
    assert frame["change"].tolist() == ["removed", "added"]
    assert frame["number_after"].tolist() == [0, 2]


def test_labels_that_the_data_lack_are_named() -> None:
    table = encode(np.array([[2.0, 0.0]]), rules("red <-").attributes)
    with pytest.raises(DataError, match="the data lack the label 'blue' of the rule list; did you mean 'blu'"):
        diff(rules("red <-"), rules("blue <-"), Dataset(table, np.array([[1, 0]]), ("red", "blu")))


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[1, 0, 1]], "Y has shape \\(1, 3\\), but the rule list has 2 labels"),
        ([[1, 2]], "Y contains 2, expected 0 or 1"),
        ([[1, 0], [0, 0]], "X has 1 rows and Y has 2"),
    ],
)
def test_labels_that_do_not_fit_are_refused(Y: list[list[int]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        diff(rules("red <-"), rules("blue <-"), [[1.0, 2.0]], Y)


def test_scores_are_weighted() -> None:
    lists = rules("red <- x > 2"), rules("red <- x > 3")
    X, Y = np.array([[1.0, 0], [2.5, 0], [4.0, 0]]), np.array([[0, 0], [1, 0], [1, 0]])
    table = encode(X, lists[0].attributes)
    whole = diff(*lists, table[[0, 1, 1, 1, 2]], Y[[0, 1, 1, 1, 2]]).scores
    assert diff(*lists, table, Y, [1, 3, 1]).scores == whole
    assert diff(*lists, table, Y).scores != whole
    assert diff(*lists, Dataset(table, Y, lists[0].labels, weights=np.array([1.0, 3, 1]))).scores == whole
    with pytest.raises(DataError, match="sample_weight has shape"):
        diff(*lists, table, Y, [1, 3])
