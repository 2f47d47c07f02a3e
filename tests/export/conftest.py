"""Databases for the tests of exports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from helpers.databases import DATABASES, NoDatabase
from helpers.requirements import lacking


@pytest.fixture(scope="module", params=list(DATABASES))
def database(request: pytest.FixtureRequest) -> Iterator[tuple[str, Any]]:
    """The name of a dialect, and a connection to a real database of its kind."""
    try:
        with DATABASES[request.param]() as connection:
            yield request.param, connection
    except NoDatabase as reason:
        lacking("databases", str(reason))
