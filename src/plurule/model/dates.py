"""Dates and times as numbers: seconds since 1970-01-01.

Times without a zone are taken as they are, those with one in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?(?![\w.:-])")
"""A date, or a date and a time, as text."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def parse_date(text: str) -> float | None:
    """Return the seconds of a date in ISO format; None if it is none.

    >>> parse_date("1970-01-02"), parse_date("1970-01-01T01:00+01:00"), parse_date("1970-13-01")
    (86400.0, 0.0, None)
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH) / SECOND


def are_dates(texts: Iterable[str]) -> bool:
    """Return whether there are texts and all are dates in ISO format: a column of them is a date attribute.

    >>> are_dates(["2024-09-19", " 2024-09-19 12:30Z"]), are_dates(["2024-09-19", "soon"]), are_dates(["20240919"])
    (True, False, False)
    """
    some = False
    for text in texts:
        some = True
        if not _ISO.fullmatch(text.strip()) or parse_date(text) is None:
            return False
    return some


def format_date(seconds: float, separator: str = "T") -> str | None:
    """Return a date, with the time unless it is midnight; None if no date in ISO format is exactly that.

    >>> format_date(86400), format_date(86399.5), format_date(1e300)
    ('1970-01-02', '1970-01-01T23:59:59.5', None)
    """
    try:
        moment = EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return None
    text = moment.replace(tzinfo=None).isoformat(separator)
    if parse_date(text) != seconds:
        return None
    if "." in text:
        return text.rstrip("0")
    return text.removesuffix(f"{separator}00:00:00")
