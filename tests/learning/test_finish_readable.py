"""Rules as people say them: round thresholds and intervals, with the same predictions on the training rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.rule_lists import make_rules
from plurule import RelaxedPruningClassifier
from plurule._learning.finish import join_sets, readable, roundest, roundest_date
from plurule._prediction.apply import predict_labels
from plurule.data.inputs import encode
from plurule.model import Attribute, LabelCondition, MissingCondition, RuleList
from plurule.model.condition import format_date, parse_date
from plurule.model.text import parse, write

finite = st.floats(allow_nan=False, allow_infinity=False)


def said(text: str, columns: dict[str, list[float]], n_given: int = 0) -> list[str]:
    """What rules say once they are readable for a table."""
    rules = make_rules(text, dict.fromkeys(columns), ("red",))
    table = encode(np.array(list(columns.values())).T, rules.attributes)
    return [rule.to_text().removeprefix("red ← ") for rule in readable(rules, table, n_given)]


@given(finite, finite)
def test_the_roundest_number_lies_in_the_interval(one: float, other: float) -> None:
    lowest, highest = min(one, other), max(one, other)
    found = roundest(lowest, highest)
    assert lowest <= found <= highest


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(0, 6))
def test_no_other_number_in_the_interval_has_fewer_digits(one: int, other: int, places: int) -> None:
    assume(one != other)
    lowest, highest = min(one, other) / 10**places, max(one, other) / 10**places
    digits = len(f"{roundest(lowest, highest):.15e}".split("e")[0].replace(".", "").rstrip("0"))
    shorter = [float(f"{x:.{digits - 2}e}") for x in np.linspace(lowest, highest, 50)] if digits > 1 else []
    assert not any(lowest <= number <= highest for number in shorter)


def test_thresholds_move_to_the_roundest_number_between_the_same_two_values() -> None:
    assert said("red <- area > 1247.25", {"area": [1100.5, 1234.5, 1260.0, 1300.0]}) == ["area > 1250"]
    assert said("red <- weight > 0.065", {"weight": [0.0, 0.0, 0.13, 0.2]}) == ["weight > 0"]


def test_whole_numbers_are_compared_with_whole_numbers() -> None:
    years = {"un_since": [1945.0, 1947.0, 1948.0, 1990.0, 1991.0, 2011.0]}
    text = "red <- un_since > 1947.5 and un_since <= 1990.5\nred <- un_since > 1946\nred <- un_since <= 2000"
    assert said(text, years) == ["1948 <= un_since <= 1990", "un_since >= 1946", "un_since <= 2000"]


def test_a_threshold_beyond_all_values_and_a_given_rule_stay() -> None:
    text = "red <- area > 7.25\nred <- area > 1.75"
    assert said(text, {"area": [1.5, 2.5]}) == ["area > 7.25", "area > 2"]
    assert said(text, {"area": [1.5, 2.5]}, n_given=2) == ["area > 7.25", "area > 1.75"]


def test_bounds_of_one_attribute_are_one_condition_where_the_first_stood() -> None:
    columns = {"area": [1.5, 2.5, 3.5, 4.5], "bars": [0.5, 1.5, 2.5, 7.5]}
    text = "red <- area > 2 and bars > 1 and area <= 4 and area > 3"
    assert said(text, columns) == ["3 < area <= 4 ∧ bars > 1"]


def test_attributes_of_0_and_1_are_words() -> None:
    columns = {"apple": [0.0, 1.0, 1.0], "count": [0.0, 1.0, 2.0]}
    assert said("red <- apple > 0.5 and count <= 0.5\nred <- apple <= 0.5", columns) == [
        '"apple" ∧ count <= 0',
        'no "apple"',
    ]


@pytest.mark.parametrize("seed", range(12))
def test_predictions_on_the_training_rows_stay_and_the_text_is_read_back(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = [random.normal(size=60).round(2), random.integers(0, 9, 60), random.integers(0, 2, 60), random.random(60)]
    X = np.column_stack(columns)
    X[random.random(X.shape) < 0.1] = np.nan
    Y = (random.random((60, 3)) < 0.2 + 0.5 * (X[:, :3] > 0.5)).astype(int)
    plain = RelaxedPruningClassifier(max_bins=3 + seed if seed % 2 else None).fit(X, Y)
    rules: RuleList = readable(plain.rule_list_, encode(X))
    assert [parse(write(rule), rules.attributes, rules.labels).body for rule in rules] == [rule.body for rule in rules]
    assert np.array_equal(predict_labels(rules, encode(X, rules.attributes)), plain.predict(X))
    assert sum(len(rule.body) for rule in rules) <= sum(len(rule.body) for rule in plain.rule_list_)


def test_the_threshold_of_an_attribute_of_0_and_1_is_one_half() -> None:
    rules = make_rules("red <- apple > 0.25\nred <- apple <= 1", {"apple": None}, ("red",))
    found = readable(rules, encode([[0.0], [1.0]], rules.attributes))
    assert [rule.body[0].threshold for rule in found] == [0.5, 1]


@pytest.mark.parametrize("operator", ["<=", ">"])
@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_that_are_not_neighbours_of_doubles_are_still_parted(operator: str, sign: int) -> None:
    below, above = sorted((sign * 2.0**54, sign * (2.0**54 + 4)))
    rules = make_rules(f"red <- a {operator} {below!r}", {"a": None}, ("red",))
    (rule,) = readable(rules, encode([[below], [above]], rules.attributes))
    assert below <= rule.body[0].threshold < above


def test_a_missing_value_is_asked_for_beside_a_label_of_the_same_place() -> None:
    body = MissingCondition("colour", 0, True), LabelCondition("red", 0, True)
    assert join_sets(body, [Attribute("colour", ("x", "y", "z"))]) == body


@pytest.mark.parametrize(
    ("lowest", "highest", "expected"),
    [
        (1931, 1968, 1950),
        (-1968, -1931, -1950),
        (11, 49, 30),
        (-49, -11, -30),
        (10.1, 99, 50),
        (6, 19, 10),
        (0.26, 0.54, 0.5),
        (4.7, 4.79, 4.7),
        (-3, 8, 0),
    ],
)
def test_the_roundest_number_is_the_one_in_the_middle_of_those_with_the_fewest_digits(
    lowest: float, highest: float, expected: float
) -> None:
    assert roundest(lowest, highest) == expected


@pytest.mark.parametrize(
    ("below", "at_most", "expected"),
    [
        ("2019-12-30", "2020-01-03", "2020-01-01"),
        ("2024-03-30", "2024-04-02", "2024-04-01"),
        ("2024-09-18", "2024-09-19", "2024-09-19"),
        ("2024-09-19T08:10", "2024-09-19T09:05", "2024-09-19T09:00:00"),
        ("2024-09-19T08:10:05", "2024-09-19T08:10:06", "2024-09-19T08:10:06"),
        ("1969-12-30", "1969-12-31T12:00", "1969-12-31"),
    ],
)
def test_the_roundest_date_is_the_beginning_of_the_longest_period(below: str, at_most: str, expected: str) -> None:
    assert format_date(roundest_date(parse_date(below), parse_date(at_most))) == expected
