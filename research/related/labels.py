"""Labels in any form that plurule's learners take, as a 0/1 matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from plurule import DataError, Dataset
from research.internals import TargetForm, collected, dense, read_target

Labels = NDArray[np.int8]


class LabelTarget(NamedTuple):
    """Labels as a 0/1 matrix, and what else `y` says."""

    Y: Labels
    names: tuple[str, ...]
    classes: Any
    """The two classes of a column (or its only one); the members of label sets; 0 and 1 per column of a matrix."""
    form: TargetForm
    """What makes label sets of predictions, if `y` holds these."""


def read_labels(y: Any) -> LabelTarget:
    """Return the labels of a 0/1 matrix (dense, sparse, frame), a column of two classes, or a label set per row.

    >>> read_labels([["a", "b"], ["c"]]).Y.tolist()
    [[1, 1, 0], [0, 0, 1]]
    """
    if isinstance(y, Dataset):
        raise DataError("y is a data set; give its labels, data.Y")
    y = collected(y)
    values = _single_column(y)
    if values is not None:
        return _read_column(values, _name_of_column(y))
    target = read_target(y)
    if not target.names:
        raise DataError("Y holds no labels; give one column per label")
    members = target.form.members
    classes = [np.array([0, 1])] * len(target.names) if members is None else members
    return LabelTarget(dense(target.Y), target.names, classes, TargetForm(members=members))


def _single_column(y: Any) -> NDArray[Any] | None:
    """Return the values of what has one column; None for several columns and for label sets."""
    try:
        values = y.toarray() if sp.issparse(y) else np.asarray(y)
    except ValueError:
        # Lists of different lengths are label sets.
        return None
    collections = set | frozenset | list | tuple | np.ndarray
    if values.dtype.kind == "O" and values.ndim == 1 and any(isinstance(value, collections) for value in values):
        return None
    return values if values.shape[1:] in ((), (1,)) else None


def _name_of_column(y: Any) -> str:
    """Return the name of a frame's only column or of a series; `y` where there is none."""
    # The `columns` of pyarrow's tables are not names.
    names = getattr(y, "column_names", None) or getattr(y, "columns", None)
    name = getattr(y, "name", None) if names is None else names[0]
    return "y" if name is None or name == "" else str(name)


def _read_column(values: NDArray[Any], name: str) -> LabelTarget:
    """Return a column of two classes as a single label, which is present where the second class is."""
    check_classification_targets(values)
    kind = type_of_target(values, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    column = column_or_1d(values)
    classes = np.unique(column)
    return LabelTarget((column == classes[-1]).astype(np.int8)[:, None], (name,), classes, TargetForm())
