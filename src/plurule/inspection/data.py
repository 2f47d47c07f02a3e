"""The data that a rule list is looked at with: columns and labels matched to its names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.encoding import encode
from plurule.data.table import Table
from plurule.data.targets import named_labels
from plurule.errors import DataError
from plurule.label_matrix import by_name, dense, label_matrix
from plurule.learning.weights import check_weights
from plurule.model import RuleList

Labels = NDArray[np.uint8]


def match(rule_list: RuleList, X: Any, Y: Any = None) -> tuple[Table, Labels | None]:
    """The columns and the labels that a rule list speaks about, from what people have.

    `X` is anything that `plurule.data.encoding.encode` reads, or a data set with labels of its own. Else `Y` has them:
    a frame is matched by name, an array or sparse matrix by position, classes and sets of labels by what they say.
    """
    if Y is None and isinstance(X, Dataset) and X.label_names:
        return _table(rule_list, X.X), _binary(by_name(X.Y, X.label_names, rule_list.labels))
    table = _table(rule_list, X.X if isinstance(X, Dataset) else X)
    labels = None if Y is None else _labels(Y, rule_list.labels)
    if labels is not None and len(labels) != len(table):
        raise DataError(f"X has {len(table)} rows and Y has {len(labels)}; they must be about the same instances")
    return table, labels


def match_both(rule_list: RuleList, X: Any, Y: Any = None) -> tuple[Table, Labels]:
    """Like `match`, where the true labels are needed."""
    table, labels = match(rule_list, X, Y)
    if labels is None:
        raise DataError("the true labels are needed as well; give Y, or a data set instead of X")
    return table, labels


def match_weights(X: Any, sample_weight: Any, n_rows: int, n_labels: int) -> NDArray[np.float64] | None:
    """The weight of each row: as given, or those of a data set; None if all rows weigh the same."""
    given = getattr(X, "weights", None) if sample_weight is None else sample_weight
    return None if given is None else check_weights(given, n_rows, n_labels)


def _table(rule_list: RuleList, X: Any) -> Table:
    return encode(X, rule_list.attributes, rule_list.tested_attributes())


def _labels(Y: Any, names: Sequence[str]) -> Labels:
    of_classes = named_labels(Y, names)
    if of_classes is not None:
        return of_classes
    matrix, found = label_matrix(Y)
    if found is None and matrix.shape[1] != len(names):
        raise DataError(
            f"Y has shape {matrix.shape}, but the rule list has {len(names)} labels; give one column per label"
        )
    return _binary(matrix if found is None else by_name(matrix, found, names))


def _binary(matrix: Any) -> Labels:
    return np.ascontiguousarray(dense(matrix), dtype=np.uint8)
