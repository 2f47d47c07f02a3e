"""Many random examples: a few in every run, all of them in `make test-long`."""

from __future__ import annotations

from typing import Any

import pytest


def numbers(few: int, many: int) -> list[Any]:
    """The numbers below `many`, as values of a parameter; those from `few` on only in long runs."""
    return [*range(few), *(pytest.param(number, marks=pytest.mark.long) for number in range(few, many))]
