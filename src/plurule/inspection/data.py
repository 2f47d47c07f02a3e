"""The data that a rule list is looked at with: columns and labels matched to its names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.table import Table, encode
from plurule.errors import DataError, nearest
from plurule.learning.options import check_weights
from plurule.model import RuleList

Labels = NDArray[np.uint8]


def match(rule_list: RuleList, X: Any, Y: Any = None) -> tuple[Table, Labels | None]:
    """The columns and the labels that a rule list speaks about, from what people have.

    Parameters
    ----------
    rule_list
        Says which attributes and labels are wanted.
    X
        Anything that `plurule.data.table.encode` reads, or a data set (with `X`, `Y` and `label_names`).
    Y
        The true labels: a frame (matched by name), an array or sparse matrix (matched by position). Left out if `X`
        is a data set.
    """
    if Y is None and hasattr(X, "label_names") and hasattr(X, "Y"):
        return encode(X.X, rule_list.attributes), _by_name(X.Y, X.label_names, rule_list.labels)
    table = encode(X, rule_list.attributes)
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


def _labels(Y: Any, names: Sequence[str]) -> Labels:
    if sp.issparse(Y):
        return _binary(_expect_width(Y.toarray(), names))
    frame = nw.from_native(Y, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _by_name(frame.to_numpy(), [str(c) for c in frame.columns], names)
    array = np.asarray(Y)
    if array.ndim == 1 and len(names) == 1:
        array = array.reshape(-1, 1)
    return _binary(_expect_width(array, names))


def _expect_width(array: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
    if array.ndim != 2 or array.shape[1] != len(names):
        raise DataError(
            f"Y has shape {array.shape}, but the rule list has {len(names)} labels; give one column per label"
        )
    return array


def _by_name(Y: Any, found: Sequence[str], wanted: Sequence[str]) -> Labels:
    position = {name: i for i, name in enumerate(found)}
    lacking = [name for name in wanted if name not in position]
    if lacking:
        raise DataError(f"the data lack the label {lacking[0]!r} of the rule list" + nearest(lacking[0], found))
    picked = [position[name] for name in wanted]
    if sp.issparse(Y):
        return _binary(sp.csc_array(Y)[:, picked].toarray())
    return _binary(np.asarray(Y)[:, picked])


def _binary(array: NDArray[Any]) -> Labels:
    wrong = ~((array == 0) | (array == 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DataError(f"Y holds {array[row, column]!r} in row {row}, expected 0 for absent and 1 for present")
    return np.ascontiguousarray(array == 1).astype(np.uint8)
