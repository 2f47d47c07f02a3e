"""The attributes of instances, column by column, read as plurule reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.model import Attribute, Condition
from research.internals import encode

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Columns:
    """The attributes of some instances: numbers with NaN, or codes of categories with -1, for a missing value."""

    attributes: tuple[Attribute, ...]
    values: tuple[NDArray[Any], ...]

    def mask(self, condition: Condition) -> Mask:
        """Return the instances that satisfy a condition on an attribute."""
        categories = self.attributes[condition.index].categories or ()
        return condition.mask(self.values[condition.index], categories)


def is_table(X: Any) -> bool:
    """Return whether X is what a data set of plurule has as its `X`."""
    return hasattr(X, "attributes") and hasattr(X, "column")


def read_columns(X: Any, attributes: Sequence[Attribute] | None = None) -> Columns:
    """Return the columns of an array, a sparse matrix, a frame or a table; text, categories and booleans are nominal.

    With the `attributes` of a fitted learner, the codes of categories are those of its training data.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sea": [True, False], "day": pd.to_datetime(["1970-01-01", "1970-01-02"])})
    >>> columns = read_columns(frame)
    >>> [attribute.categories for attribute in columns.attributes], columns.values[1].tolist()
    ([('False', 'True'), None], [0.0, 86400.0])
    """
    table = encode(X, attributes)
    return Columns(tuple(table.attributes), tuple(table.column(i) for i in range(table.shape[1])))
