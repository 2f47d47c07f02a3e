"""Types of command-line arguments: what cannot be used is refused with what can be."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def whole_number(least: int) -> Callable[[str], int]:
    """Return a type of whole numbers of at least `least`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least {least}")
        return number

    return read


def positive_number(text: str) -> float:
    """Return a finite number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"{text!r} must be a number above 0")
    return number


def number_of_processes(text: str) -> int:
    """Return a number of processes; -1 is one per core."""
    return -1 if text == "-1" else whole_number(1)(text)
