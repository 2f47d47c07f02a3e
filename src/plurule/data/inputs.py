"""What people hand to the estimators (X and y in any form, or a data set), as one `Dataset`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Dataset, check_row_weights
from plurule.data.encoding import encode, is_missing
from plurule.data.table import Table
from plurule.errors import DataError, first_repeated
from plurule.label_matrix import USE_BINARIZER, by_name, dense, label_matrix


@dataclass(frozen=True)
class TargetForm:
    """The form in which labels were given, and predictions are."""

    classes: NDArray[Any] | None = None
    """The classes of a 1-D target, of which the last is the label; None for a label matrix."""
    sparse: bool = False

    def labels(self, present: NDArray[Any]) -> Any:
        """What `predict` gives, from 0/1 per row and label."""
        if self.classes is not None:
            # With a single class there is nothing to decide.
            return self.classes[np.minimum(present[:, 0], len(self.classes) - 1)]
        return sp.csr_array(present, dtype=np.int64) if self.sparse else present.astype(np.int64)

    def class_names(self, n_labels: int) -> NDArray[Any]:
        """The `classes_` of scikit-learn, what `predict_proba` has columns for: classes, or places of labels."""
        if self.classes is None and n_labels == 2:
            # Two places would look like the two classes of one label, of which scorers take the second.
            return np.array([[0, 1], [0, 1]])
        return np.arange(n_labels) if self.classes is None else self.classes

    def probabilities(self, present: NDArray[np.float64]) -> NDArray[np.float64]:
        """What `predict_proba` gives, from the probability that each label is present."""
        if self.classes is None:
            return present
        if len(self.classes) == 1:
            return np.ones((len(present), 1))
        return np.hstack([1 - present, present])


def labelled_data(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    label_names: Sequence[str] | None = None,
    allow_empty: bool = False,
) -> tuple[Dataset, TargetForm]:
    """Attributes and labels, checked, with a name for every column; and the form that `y` has.

    Parameters
    ----------
    X
        A data set (`y` is then left out), or the attributes in any form that `encode` reads.
    y
        A 0/1 matrix (dense, sparse or a frame, whose column names are kept), or a 1-D array of two classes.
    sample_weight
        Weight of each row; those of the data set, unless given.
    label_names
        Names of the labels, instead of those they have or y0, y1, …
    allow_empty
        Whether there may be no rows, no attributes or no labels, from which nothing can be learned.

    Examples
    --------
    >>> labelled_data([[1.5], [2.5]], [[1, 0], [0, 1]])[0].label_names
    ('y0', 'y1')
    >>> labelled_data([[1.5], [2.5]], ["spam", "ham"])[0].label_names
    ('spam',)
    >>> labelled_data([[1.5], [2.5]], [[1, 0], [0, 1]], label_names=["red", "blue"])[0].label_names
    ('red', 'blue')
    """
    if isinstance(X, Dataset):
        if y is not None:
            raise DataError("y is given though X is a data set, which has its own labels: leave y out, or give data.X")
        table, form = X.X, TargetForm(sparse=sp.issparse(X.Y))
        Y, names, named = X.Y, X.label_names, True
        sample_weight = X.weights if sample_weight is None else sample_weight
    else:
        table = encode(X)
        Y, names, named, form = _labels(y)
    if label_names is not None:
        if len(label_names) != len(names):
            raise DataError(f"label_names holds {len(label_names)} names, but Y has {len(names)} labels")
        names, named = tuple(map(str, label_names)), True
    for what, found in (("column", table.names), ("label", names)):
        twice = first_repeated(found)
        if twice is not None:
            raise DataError(f"two {what}s are named {twice!r}; give each {what} its own name")
    names = _beside(names, set(table.names), named)
    if not allow_empty:
        _expect_some(table.shape, Y.shape)
    if not table.columns:
        # A frame without columns does not know how many rows it has.
        table = Table([], [], Y.shape[0])
    if len(table) != Y.shape[0]:
        raise DataError(f"X has {len(table)} rows, Y has {Y.shape[0]}; give the labels of every row")
    weights = None if sample_weight is None else check_row_weights(sample_weight, len(table), "sample_weight")
    return Dataset(table, Y, names, weights), form


def unpack(X: Any, y: Any, sample_weight: Any, labels: Sequence[str]) -> tuple[Any, Any, Any]:
    """Attributes, labels in the order that a model has them, and weights; of a data set, if `X` is one."""
    if sp.issparse(y) or hasattr(y, "columns"):
        y, names = label_matrix(y)
        y = by_name(y, names, labels) if names is not None and set(names) == set(labels) else y
    if not isinstance(X, Dataset) or y is not None:
        return X.X if isinstance(X, Dataset) else X, y, sample_weight
    return X.X, by_name(X.Y, X.label_names, labels), X.weights if sample_weight is None else sample_weight


def row_ids(X: Any, n_rows: int, ids: Sequence[Any] | None = None) -> list[Any]:
    """What each row is called: as given, as in a data set or the index of a pandas frame, or else its number from 0."""
    if ids is None and isinstance(X, Dataset):
        ids = X.row_names
    elif ids is None and not sp.issparse(X):
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame) else None
        ids = None if index is None else index.tolist()
    if ids is None:
        return list(range(n_rows))
    if len(ids) != n_rows:
        raise DataError(f"{len(ids)} ids for {n_rows} rows; give one for each")
    return list(ids)


def true_labels(y: Any, form: TargetForm, n_labels: int) -> NDArray[np.uint8]:
    """True labels to compare predictions with, as a 0/1 matrix; `form` is that of the labels in training.

    >>> true_labels(["ham", "ham"], TargetForm(np.array(["ham", "spam"])), n_labels=1).ravel()
    array([0, 0], dtype=uint8)
    """
    if form.classes is None:
        truth = dense(_labels(y)[0]).view(np.uint8)
        if truth.shape[1] != n_labels:
            raise DataError(f"Y has {truth.shape[1]} labels, the classifier was trained with {n_labels}")
        return truth
    given = np.asarray(y).ravel()
    odd = np.flatnonzero(~np.isin(given, form.classes))
    if len(odd):
        raise DataError(f"Y, row {odd[0]}: {given[odd[0]]} is none of the classes {form.classes.tolist()}")
    return (given == form.classes[-1]).astype(np.uint8).reshape(-1, 1)


def _labels(y: Any) -> tuple[Any, tuple[str, ...], bool, TargetForm]:
    """The labels as 0/1 matrix, their names, whether these were given, and the form they had."""
    if y is None:
        raise ValueError("RuleListClassifier requires y to be passed, but the target y is None")
    if not sp.issparse(y):
        native = nw.from_native(y, series_only=True, pass_through=True)
        if isinstance(native, nw.Series):
            return _one_label(native.to_numpy(), str(native.name) if native.name else None)
        if len(getattr(y, "shape", ())) != 2:
            try:
                array = np.asarray(y)
            except ValueError as error:
                raise DataError(f"Y is not a matrix: {error}. {USE_BINARIZER}") from error
            if array.ndim == 1:
                return _one_label(array, None)
    Y, names = label_matrix(y)
    return Y, names or tuple(f"y{i}" for i in range(Y.shape[1])), names is not None, TargetForm(sparse=sp.issparse(y))


def _one_label(y: NDArray[Any], name: str | None) -> tuple[Any, tuple[str, ...], bool, TargetForm]:
    """A 1-D target of two classes; the later class is the label."""
    from sklearn.utils.multiclass import check_classification_targets

    if len(y) == 0:
        raise DataError("y holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
    if isinstance(y[0], set | frozenset | list | tuple):
        raise DataError(f"y is a list of label sets. {USE_BINARIZER}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmax(~np.isfinite(y)))
        raise DataError(f"row {row}: y contains {'NaN' if np.isnan(y[row]) else 'infinity'}, expected a class")
    if y.dtype.kind == "O":
        row = next((i for i, value in enumerate(y) if is_missing(value)), -1)
        if row >= 0:
            raise DataError(f"row {row}: y contains a missing value (NaN), expected a class")
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise DataError(
            "Only binary classification is supported. The type of the target is multiclass "
            f"({len(classes)} classes). Give one 0/1 column per class (sklearn.preprocessing.LabelBinarizer)"
        )
    positive = classes[-1]
    label = (name or "y") if set(classes.tolist()) <= {0, 1} else str(positive)
    return (y == positive).astype(np.int8).reshape(-1, 1), (label,), False, TargetForm(classes)


def _beside(labels: tuple[str, ...], columns: set[str], named: bool) -> tuple[str, ...]:
    """Names of labels of which none is that of a column of the attributes."""
    clash = next((label for label in labels if label in columns), None)
    if clash is None:
        return labels
    if named:
        raise DataError(f"a column of X and a label are both named {clash!r}; rename one of them")
    return _beside(tuple(f"{label}_label" for label in labels), columns, named)


def _expect_some(X: tuple[int, int], Y: tuple[int, int]) -> None:
    if Y[1] == 0:
        raise DataError("Y holds no labels; give one column per label")
    for name, rows in (("Y", Y[0]), ("X", X[0])):
        if rows == 0:
            raise DataError(f"{name} holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
    if X[1] == 0:
        raise DataError(
            f"Found array with 0 feature(s) (shape=({X[0]}, 0)) while a minimum of 1 is required: X has no columns"
        )
