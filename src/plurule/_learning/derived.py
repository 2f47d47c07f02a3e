"""Columns made of others, by which engines that know thresholds and categories learn more kinds of conditions.

- *sets*: the categories of a nominal attribute in the order of how often a label goes with them, as trees have it. A
  threshold on the place in that order is a set of categories. There is an order for each label, or for the labels
  that the attribute tells most about.
- *negation*: for each category, a column of one category that all others have.
- *missing*: whether a value is missing or known.

Orders are those of the rows that are learned from, and stay the same while rules are learned.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Column, SparseColumn, SparseColumns, Table
from plurule.model import (
    Attribute,
    Condition,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
)

ConditionKind: TypeAlias = Literal["sets", "negation", "missing"]
CONDITION_KINDS: tuple[ConditionKind, ...] = ("sets", "negation", "missing")

MOST_ORDERS = 8
"""An attribute has at most so many orders."""
MOST_NEGATED = 32
"""Most categories of an attribute that are negated, the most frequent ones first."""


@dataclass(frozen=True)
# Order, place and set of an attribute with the categories 0 red, 1 green, 2 blue, 3 white, of which no row is white:
#
#     share of a label    red 0.2, green 0.1, blue 0.9
#     order               green, red, blue                 ascending, of the categories that occur
#     place by code       [1, 0, 2, NaN, NaN]              white has none; code -1, a missing value, picks the last
#     place <= 1.5        colour in {red, green}           a threshold on the place is a set
#
# For an engine it is a numeric column like any other, float64 with NaN for missing.
class DerivedColumn:
    """A column that was made of an attribute."""

    source: int
    """Place of the attribute."""
    attribute: Attribute
    """As engines see the column."""
    categories: tuple[str, ...] = ()
    """In the order of their ranks; or the one that is negated. None: it tells missing from known."""

    def translate(self, condition: RangeCondition | OneOfCondition, source: Attribute) -> Condition:
        """The condition on the attribute itself."""
        # Three kinds: missing or known, all but one category, or an order.
        if not self.categories:
            return MissingCondition(source.name, self.source, getattr(condition, "categories", ()) == ("missing",))
        if isinstance(condition, OneOfCondition):
            return OneOfCondition(source.name, self.source, self.categories, negated=True)
        at_most = condition.above is None
        # `>` keeps the places above; listed in the order of the attribute, as a reader knows them.
        kept = {c for place, c in enumerate(self.categories) if (place <= condition.threshold) == at_most}
        listed = tuple(category for category in source.categories or () if category in kept)
        return OneOfCondition(source.name, self.source, listed, is_binary=source.is_binary)


def derive(
    table: Table, Y: NDArray[np.uint8], weights: NDArray[np.float64], kinds: Collection[str]
) -> tuple[Table, tuple[DerivedColumn, ...]]:
    """The table with columns for these kinds of conditions, and what those are; the table itself if there are none."""
    made = list(_made(table, Y, weights, kinds))
    if not made:
        return table, ()
    attributes = (*table.attributes, *(column.attribute for column, _ in made))
    columns = (*(table.columns[i] for i in range(len(table.columns))), *(values for _, values in made))
    return Table(attributes, columns, len(table)), tuple(column for column, _ in made)


def _made(
    table: Table, Y: NDArray[np.uint8], weights: NDArray[np.float64], kinds: Collection[str]
) -> Iterator[tuple[DerivedColumn, Column]]:
    truth = None
    for index in _nominal(table) if {"sets", "negation"} & set(kinds) else ():
        attribute = table.attributes[index]
        categories, codes = attribute.categories or (), table.column(index)
        # float64[rows, labels], once for all attributes, and only if there is one.
        truth = Y.astype(np.float64) if truth is None else truth
        total, present = _counts(codes, len(categories), truth, weights)
        seen = np.flatnonzero(total > 0)
        if len(seen) < 3:
            continue
        for order in _orders(total[seen], present[seen]) if "sets" in kinds else ():
            # One more than there are categories: index -1 must give NaN.
            places = np.full(len(categories) + 1, np.nan)
            places[seen[order]] = np.arange(len(order))
            ranked = tuple(categories[i] for i in seen[order].tolist())
            yield DerivedColumn(index, Attribute(attribute.name), ranked), places[codes]
        often = seen[np.argsort(-total[seen], kind="stable")[:MOST_NEGATED]]
        for code in np.sort(often).tolist() if "negation" in kinds else ():
            # A nominal column of one category, "other": 0 for the other categories, -1 for this one and if missing.
            others = np.where((codes >= 0) & (codes != code), 0, -1).astype(np.int32)
            yield DerivedColumn(index, Attribute(attribute.name, ("other",)), (categories[code],)), others
    for index in _with_missing(table) if "missing" in kinds else ():
        codes = np.where(_is_missing(table.column(index)), 0, 1).astype(np.int32)
        yield DerivedColumn(index, Attribute(table.attributes[index].name, ("missing", "known"))), codes


def _nominal(table: Table) -> list[int]:
    """Attributes of at least three categories: of two, one is the negation of the other."""
    return [i for i, attribute in enumerate(table.attributes) if len(attribute.categories or ()) > 2]


def _with_missing(table: Table) -> list[int]:
    columns = table.columns
    if isinstance(columns, SparseColumns):
        # A code below 0 is a missing category; most matrices hold no such number, and need no look at each column.
        values = columns.matrix.data
        if not np.isnan(values).any() and not (columns.nominal.any() and (values < 0).any()):
            return []
    stored = (column.values if isinstance(column, SparseColumn) else column for column in columns)
    found = [i for i, values in enumerate(stored) if _is_missing(values).any()]
    return [i for i in found if not _is_missing(table.column(i)).all()]


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(values) if values.dtype.kind == "f" else values < 0


def _counts(
    codes: NDArray[Any], n_categories: int, truth: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per category, the weight of its rows, and of those with each label."""
    rows = np.flatnonzero(codes >= 0)
    # Categories × rows, sparse: the weight of a row in the line of its category. Times truth: categories × labels.
    member = sp.csr_array((weights[rows], (codes[rows], rows)), shape=(n_categories, len(codes)))
    return member.sum(axis=1), member @ truth


def _orders(total: NDArray[np.float64], present: NDArray[np.float64]) -> Sequence[NDArray[np.intp]]:
    """Different orders of categories, by the share of a label in each, for the labels that they tell most about."""
    share = present / total[:, None]
    overall = present.sum(axis=0) / total.sum()
    # Per label, the variance between categories, times the weight: what knowing the category explains.
    information = (total[:, None] * (share - overall) ** 2).sum(axis=0)
    # What differs by rounding only is a tie.
    information = np.round(information / (information.max(initial=0.0) or 1.0), 9)
    found: dict[tuple[int, ...], NDArray[np.intp]] = {}
    for label in np.argsort(-information, kind="stable")[:MOST_ORDERS]:
        order = np.argsort(share[:, label], kind="stable")
        listed = tuple(order.tolist())
        # Backwards, an order has the same sets.
        if information[label] > 0 and listed not in found and listed[::-1] not in found:
            found[listed] = order
    return list(found.values())
