"""Data for inspection: columns and labels matched to the names of a rule list, and results as frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plurule._learning.problem import check_weights
from plurule._prediction.apply import Labels, Weights, to_table
from plurule.data.dataset import Dataset, Table
from plurule.data.targets import by_name, dense, label_matrix, named_labels
from plurule.errors import DataError
from plurule.model import RuleList
from plurule.model.rule_list import Backend


def match(
    rule_list: RuleList, X: Any, Y: Any = None, sample_weight: Any = None
) -> tuple[Table, Labels | None, Weights | None]:
    """Return the columns and the labels of a rule list from given data, and the weights of the rows.

    `X` is anything that `plurule.data.inputs.encode` reads, or a data set with labels and weights of its own. Else
    `Y` has them: a frame is matched by name, an array or sparse matrix by position, classes and sets of labels by what
    they say. Weights are None if all rows weigh the same.
    """
    table = to_table(rule_list, X)
    labels = None
    if Y is not None:
        labels = _labels(Y, rule_list.labels)
    elif isinstance(X, Dataset) and X.label_names:
        labels = _binary(by_name(X.Y, X.label_names, rule_list.labels))
    if labels is not None and len(labels) != len(table):
        raise DataError(f"X has {len(table)} rows and Y has {len(labels)}; they must be about the same instances")
    weights = getattr(X, "weights", None) if sample_weight is None else sample_weight
    return table, labels, None if weights is None else check_weights(weights, len(table), len(rule_list.labels))


def match_both(
    rule_list: RuleList, X: Any, Y: Any = None, sample_weight: Any = None
) -> tuple[Table, Labels, Weights | None]:
    """Like `match`, where the true labels are needed."""
    table, labels, weights = match(rule_list, X, Y, sample_weight)
    if labels is None:
        raise DataError("the true labels are needed as well; give Y, or a data set instead of X")
    return table, labels, weights


def _labels(Y: Any, names: Sequence[str]) -> Labels:
    of_classes = named_labels(Y, names)
    if of_classes is not None:
        return of_classes
    matrix, column_names = label_matrix(Y)
    if column_names is None and matrix.shape[1] != len(names):
        raise DataError(
            f"Y has shape {matrix.shape}, but the rule list has {len(names)} labels; give one column per label"
        )
    return _binary(matrix if column_names is None else by_name(matrix, column_names, names))


def _binary(matrix: Any) -> Labels:
    return np.ascontiguousarray(dense(matrix), dtype=np.uint8)


class Records:
    """Base of results that are rows of plain values."""

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        raise NotImplementedError

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the rows of `to_records` as a frame of the given library."""
        return make_frame(self.to_records(), backend)


def make_frame(records: Sequence[Mapping[str, Any]], backend: Backend) -> Any:
    """Return rows of plain values as a frame of the given library."""
    import narwhals.stable.v1 as nw  # takes longer to import than all of the model

    names = records[0] if records else ()
    return nw.from_dict({name: [record[name] for record in records] for name in names}, backend=backend).to_native()
