"""Dates in the text of rules."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurule.model import Attribute, RuleList
from plurule.model.condition import format_date, parse_date
from plurule.model.file import dumps, loads
from plurule.model.text import RuleTextError

RECEIVED = Attribute("received", is_date=True)


@given(st.datetimes())
def test_format_date_is_read_back(moment):
    seconds = parse_date(moment.replace(microsecond=0).isoformat())
    assert parse_date(format_date(seconds)) == seconds


@pytest.mark.parametrize("seconds", [1e300, -math.inf, 0.1234567891, math.nan])
def test_format_date_gives_none_where_no_date_is_exactly_that(seconds):
    assert format_date(seconds) is None


@pytest.mark.parametrize(
    "text",
    [
        "late ← received >= 2024-09-19",
        "late ← received > 2024-09-19T12:30:00",
        "late ← 2024-01-01 <= received < 2024-07-01",
        "late ← received <= 2024-09-18T23:59:59.5",
    ],
)
def test_rules_about_dates_are_read_back_from_text_and_file(text):
    rules = RuleList.from_text(text, [RECEIVED], ["late"])
    assert rules[0].to_text() == text
    assert loads(dumps(rules)) == rules
    assert loads(dumps(rules))[0].to_text() == text


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("received > soon", "expected a date such as 2024-09-19 after '>', found 'soon'"),
        ("received > 2024-13-01", "expected a date of the calendar, found '2024-13-01'"),
        ("n > 2024-09-19", "attribute 'n' is numeric, expected a number, found '2024-09-19'"),
        ("2024-09-19 < received <= 2024-09-18", "expected an interval that holds a number"),
    ],
)
def test_a_date_that_is_none_is_refused_where_it_stands(body, problem):
    with pytest.raises(RuleTextError, match=problem):
        RuleList.from_text(f"late <- {body}", [RECEIVED, "n"], ["late"])


def test_an_attribute_named_like_a_date_is_quoted():
    rules = RuleList.from_text('late <- 1 < "2024-09-19" <= 2', ["2024-09-19"], ["late"])
    assert RuleList.from_text(rules[0].to_text(), ["2024-09-19"], ["late"]) == rules
