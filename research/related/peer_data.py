"""Attributes as mlrl wants them, and its conditions as those of plurule."""

from __future__ import annotations

from typing import Any

import numpy as np

from plurule.model import Condition, OneOfCondition, RangeCondition
from research.matrices import packed
from research.related.columns import Columns


def as_matrix(columns: Columns) -> Any:
    """Return the columns as floats, categories by their codes, missing values as NaN; sparse if most values are 0."""
    values = [column.astype(np.float32) for column in columns.values]
    for i, attribute in enumerate(columns.attributes):
        if attribute.is_nominal:
            values[i][columns.values[i] < 0] = np.nan
    return packed(values)


def read_condition(index: int, comparison: str, value: float, columns: Columns) -> Condition:
    """Return a condition of mlrl as one of plurule."""
    attribute = columns.attributes[index]
    if attribute.categories is not None:
        return OneOfCondition(attribute.name, index, (attribute.categories[int(value)],), negated=comparison == "neq")
    if comparison == "leq":
        return RangeCondition(attribute.name, index, at_most=value, is_date=attribute.is_date)
    return RangeCondition(attribute.name, index, above=value, is_date=attribute.is_date)
