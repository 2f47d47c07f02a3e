"""Nominal attributes whose categories are whole numbers, such as {0,1}: they can be read as numbers."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from plurule.data.readers.arff_header import Domain, Header

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,14}")


class NumeralGroup:
    """Columns that share a nominal domain; usable if its categories are whole numbers."""

    def __init__(self, domain: Domain, columns: NDArray[np.intp]) -> None:
        categories = domain.categories or ()
        self.domain = domain
        self.columns = columns
        self.usable = bool(categories) and all(
            _WHOLE.fullmatch(c) and domain.spellings.get(c) == code for code, c in enumerate(categories)
        )
        if self.usable:
            numbers = np.array([int(c) for c in categories], dtype=np.float64)
            self._order = np.argsort(numbers).astype(np.int32)
            self._sorted = numbers[self._order]

    def codes(self, values: NDArray[np.float64], canonical: NDArray[np.bool_]) -> NDArray[np.int32] | None:
        """The codes of the categories; None where one is not declared or not spelled as declared."""
        missing = np.isnan(values)
        position = np.minimum(np.searchsorted(self._sorted, values), len(self._sorted) - 1)
        if not ((self._sorted[position] == values) & canonical | missing).all():
            return None
        codes = self._order[position]
        codes[missing] = -1
        return codes


def numeral_groups(header: Header) -> list[NumeralGroup]:
    """The nominal columns, those of the same domain together."""
    order = np.argsort(header.which, kind="stable")
    starts = np.searchsorted(header.which[order], np.arange(1, len(header.domains)))
    return [
        NumeralGroup(domain, columns)
        for domain, columns in zip(header.domains, np.split(order, starts), strict=True)
        if domain.kind == "nominal"
    ]
