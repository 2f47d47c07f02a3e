"""Forms of `y`: a 0/1 label matrix, one column of classes, or a set of labels per row; and predictions in its form.

Inside there are only labels of 0 and 1. A column of classes is a group of labels, one per class, of which exactly one
is present in every row; a column of 0 and 1, no and yes or false and true is one label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.encoding import category_text, is_missing
from plurule.errors import DataError
from plurule.label_matrix import dense, expect_different_names, label_matrix
from plurule.model.condition import YES

Group = tuple[int, ...]
"""Places of labels of which exactly one is present."""
MARGIN = 1e-6
"""The predicted class is at least this much more probable than one half, before probabilities sum to one."""


@dataclass(frozen=True)
class TargetForm:
    """The form in which labels were given, and predictions are."""

    classes: NDArray[Any] | None = None
    """The classes of a column of classes."""
    column: str = ""
    """The name of that column, if it has one."""
    sparse: bool = False
    members: NDArray[Any] | None = None
    """Labels that the sets of a target of label sets may hold."""

    @property
    def is_one_label(self) -> bool:
        """Whether a column of classes is one label: absent or present, or always the same."""
        if self.classes is None:
            return False
        truth = [YES.get(category_text(value).lower()) for value in self.classes.tolist()]
        return len(truth) == 1 or truth == [False, True]

    @property
    def groups(self) -> tuple[Group, ...]:
        """The labels of a column of classes of which exactly one is present."""
        if self.classes is None or self.is_one_label:
            return ()
        return (tuple(range(len(self.classes))),)

    def label_names(self) -> tuple[str, ...]:
        """Return the names of the labels of a column of classes."""
        classes = [] if self.classes is None else self.classes.tolist()
        if self.is_one_label:
            return ((self.column or "y") if set(classes) <= {0, 1} else str(classes[-1]),)
        prefix = f"{self.column}: " if self.column else _prefix(self.classes)
        return tuple(f"{prefix}{c}" for c in classes)

    def encode(self, values: NDArray[Any]) -> NDArray[np.int8]:
        """Return the labels of classes."""
        classes = self._classes()
        return (values[:, None] == (classes[-1:] if self.is_one_label else classes)).astype(np.int8)

    def decode(self, Y: NDArray[Any]) -> NDArray[Any]:
        """Return the class of each row; with a single class there is nothing to decide."""
        classes = self._classes()
        if self.is_one_label:
            return classes[np.minimum(Y[:, 0].astype(int), len(classes) - 1)]
        return classes[Y.argmax(axis=1)]

    def labels(self, present: NDArray[Any]) -> Any:
        """Return what `predict` gives, from 0/1 per row and label."""
        if self.members is not None:
            return [tuple(self.members[np.flatnonzero(row)].tolist()) for row in present]
        if self.classes is not None:
            return self.decode(present)
        return sp.csr_array(present, dtype=np.int64) if self.sparse else present.astype(np.int64)

    def class_names(self, n_labels: int) -> NDArray[Any]:
        """Return the `classes_` of scikit-learn, the columns of `predict_proba`: classes, or places of labels."""
        if self.classes is not None:
            return self.classes
        if self.members is not None:
            return self.members
        # Two places would look like the two classes of one label, of which scorers take the second.
        return np.array([[0, 1], [0, 1]]) if n_labels == 2 else np.arange(n_labels)

    def probabilities(self, shares: NDArray[np.float64], present: NDArray[Any]) -> NDArray[np.float64]:
        """Return what `predict_proba` gives, from the probabilities of the labels and those that are predicted.

        Of classes, the predicted one is the most probable, as scikit-learn expects.
        """
        if self.classes is None:
            return shares
        if len(self.classes) == 1:
            return np.ones((len(shares), 1))
        sided = np.where(present == 1, np.maximum(shares, 0.5 + MARGIN), np.minimum(shares, 0.5 - MARGIN))
        if self.is_one_label:
            return np.hstack([1 - sided, sided])
        return sided / sided.sum(axis=1, keepdims=True)

    def _classes(self) -> NDArray[Any]:
        if self.classes is None:
            raise ValueError("the target is no column of classes")
        return self.classes


class Target(NamedTuple):
    """Labels, and the form in which they were given."""

    Y: Any
    """A 0/1 matrix, dense or sparse."""
    names: tuple[str, ...]
    is_named: bool
    """Whether someone gave the labels their names."""
    form: TargetForm


def read_target(y: Any) -> Target:
    """Return the labels as 0/1 matrix, their names, whether these were given, and the form they had."""
    if y is None:
        raise ValueError("the classifier requires y to be passed, but the target y is None")
    if not sp.issparse(y):
        expect_different_names(y)
    column = column_of_classes(y)
    if column is not None:
        return _read_classes(*column)
    if _holds_sets(y):
        return _read_sets(y)
    Y, names = label_matrix(y)
    numbered = tuple(f"y{i}" for i in range(Y.shape[1]))
    return Target(Y, names or numbered, names is not None, TargetForm(sparse=sp.issparse(y)))


def true_labels(y: Any, form: TargetForm, n_labels: int) -> NDArray[np.uint8]:
    """Return true labels to compare predictions with, as a 0/1 matrix; `form` is that of the labels in training.

    >>> true_labels(["ham", "ham"], TargetForm(np.array(["ham", "spam"])), n_labels=2).tolist()
    [[1, 0], [1, 0]]
    """
    if form.members is not None:
        return _read_sets(y, form.members).Y.view(np.uint8)
    if form.classes is not None:
        values = np.asarray(y).ravel()
        odd = np.flatnonzero(~np.isin(values, form.classes))
        if len(odd):
            raise DataError(f"Y, row {odd[0]}: {values[odd[0]]} is none of the classes {form.classes.tolist()}")
        return form.encode(values).view(np.uint8)
    truth = dense(read_target(y).Y).view(np.uint8)
    if truth.shape[1] != n_labels:
        raise DataError(f"Y has {truth.shape[1]} labels, the classifier was trained with {n_labels}")
    return truth


def named_labels(y: Any, labels: Sequence[str]) -> NDArray[np.uint8] | None:
    """Return the labels of a model in its order, from classes or sets of labels; None if `y` is a label matrix.

    >>> named_labels(["cow", "ant", "cow"], ["ant", "bee", "cow"])
    array([[0, 0, 1],
           [1, 0, 0],
           [0, 0, 1]], dtype=uint8)
    """
    if _holds_sets(y):
        return _read_sets([map(str, row) for row in y], np.array(labels)).Y.view(np.uint8)
    column = _single_column(y)
    if column is None or column[0] in labels or (len(labels) == 1 and not _is_text(column[1])):
        return None
    name, values = column
    _refuse_missing(values, f"column {name!r}" if name else "y")
    prefix = f"{name}: " if name else _prefix(values)
    texts = values.astype(str)
    found = np.array([np.isin(texts, (label, label.removeprefix(prefix))) for label in labels])
    of_none = np.flatnonzero(~found.any(axis=0))
    if len(labels) > 1 and len(of_none):
        row = of_none[0]
        raise DataError(f"{name or 'y'}, row {row}: {values[row]} is none of the classes {list(labels)}")
    return found.T.astype(np.uint8)


# A column of classes -------------------------------------------------------------------------------------------------


def column_of_classes(y: Any) -> tuple[str, NDArray[Any]] | None:
    """Return name ("" for none) and values of a single column of classes; None if `y` is something else.

    A column of a matrix or frame holds classes if these are different texts, or whole numbers other than 0 and 1.
    """
    column = _single_column(y)
    if column is None or len(getattr(y, "shape", None) or np.asarray(y).shape) == 1:
        return column
    name, values = column
    if _is_text(values):
        return column if len(set(values.tolist())) > 1 else None
    is_number = values.dtype.kind in "iuf" and len(values) > 0 and bool(np.isfinite(values).all())
    if not is_number or np.isin(values, (0, 1)).all() or np.ptp(values) == 0 or (values != np.floor(values)).any():
        return None
    return name, values


def _single_column(y: Any) -> tuple[str, NDArray[Any]] | None:
    """Return name and values of what has one column; None for more columns and for sets of labels."""
    if sp.issparse(y) or _holds_sets(y):
        return None
    frame = y if isinstance(y, np.ndarray) else nw.from_native(y, eager_only=True, pass_through=True, allow_series=True)
    if isinstance(frame, nw.DataFrame):
        frame = frame.get_column(frame.columns[0]) if len(frame.columns) == 1 else None
    if isinstance(frame, nw.Series):
        return str(frame.name or ""), frame.to_numpy()
    try:
        array = np.asarray(y)
    except ValueError:
        return None
    return ("", array.ravel()) if frame is not None and array.shape[1:] in ((), (1,)) and array.ndim else None


def _read_classes(name: str, y: NDArray[Any]) -> Target:
    """Read classes, each of which is a label of a group; 0 and 1 are one label."""
    from sklearn.utils.multiclass import check_classification_targets

    if len(y) == 0:
        raise DataError("y holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmax(~np.isfinite(y)))
        raise DataError(f"row {row}: y contains {'NaN' if np.isnan(y[row]) else 'infinity'}, expected a class")
    _refuse_missing(y, "y")
    y = _of_one_type(y)
    check_classification_targets(y)
    form = TargetForm(np.unique(y), name)
    return Target(form.encode(y), form.label_names(), False, form)


def _of_one_type(y: NDArray[Any]) -> NDArray[Any]:
    """Return classes that can be compared: numbers in an array of objects as numbers."""
    kinds = {type(value).__name__: value for value in y} if y.dtype.kind == "O" else {}
    if "str" in kinds and len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise DataError(f"y holds classes of different types, {one!r} and {other!r}; make all of them text, or numbers")
    return np.array(y.tolist()) if kinds and "str" not in kinds else y


def _is_text(values: Any) -> bool:
    return values.dtype.kind in "UST" or (values.dtype.kind == "O" and any(isinstance(v, str) for v in values))


def _prefix(classes: Any) -> str:
    """Return the prefix of the names of labels that are classes of a column without a name."""
    return "" if _is_text(classes) else "class "


def _refuse_missing(values: NDArray[Any], what: str) -> None:
    row = next((i for i, value in enumerate(values) if is_missing(value)), -1) if values.dtype.kind == "O" else -1
    if row >= 0:
        raise DataError(f"row {row}: {what} contains a missing value (NaN), expected a class")


def label_names(column: str, classes: Sequence[Any]) -> list[str]:
    """Return the names of the labels of a column of a file: the column, where the classes are no and yes.

    >>> label_names("sunk", ["no", "yes"]), label_names("port", ["Cork", "Southampton"]), label_names("class", "123")
    (['sunk'], ['port: Cork', 'port: Southampton'], ['class: 1', 'class: 2', 'class: 3'])
    """
    if all(str(c).lower() in YES for c in classes) and len(classes) <= 2:
        return [column]
    return [f"{column}: {c}" for c in classes]


def merge_forms(forms: Sequence[TargetForm]) -> TargetForm:
    """Return the form of parts of a target, of which each may hold some of the classes.

    >>> merge_forms([TargetForm(np.array(["cat", "cow"])), TargetForm(np.array(["dog"]))]).classes.tolist()
    ['cat', 'cow', 'dog']
    """
    classes = [form.classes for form in forms if form.classes is not None]
    if not classes:
        return TargetForm()
    column = next((form.column for form in forms if form.column), "")
    if len({_is_text(one) for one in classes}) > 1:
        raise DataError("y holds text in some parts and numbers in others; make all classes text, or numbers")
    return TargetForm(np.unique(np.concatenate(classes)), column)


def enforce_exclusive(
    present: NDArray[np.int8], votes: NDArray[np.float64], groups: Sequence[Group]
) -> NDArray[np.int8]:
    """Return labels of which exactly one of each group is present: the one with most votes.

    >>> enforce_exclusive(np.array([[1, 1, 1]], dtype=np.int8), np.array([[0.5, 0.6, 0.7]]), [(0, 1)])
    array([[0, 1, 1]], dtype=int8)
    """
    present = present.copy()
    for group in groups:
        present[:, group] = votes[:, group].argmax(axis=1)[:, None] == np.arange(len(group))
    return present


# Sets of labels ------------------------------------------------------------------------------------------------------


def _holds_sets(y: Any) -> bool:
    """Whether every row is a collection of labels; rows of equal length that are lists are those of a matrix."""
    # What numpy can read need not be iterable.
    rows = list(y) if len(getattr(y, "shape", (0,))) == 1 and hasattr(y, "__iter__") else []
    if not rows or not all(isinstance(row, set | frozenset | list | tuple | np.ndarray) for row in rows):
        return False
    return any(isinstance(row, set | frozenset) for row in rows) or len({len(row) for row in rows}) > 1


def _read_sets(y: Any, known: NDArray[Any] | None = None) -> Target:
    """Read sets of labels, as `sklearn.preprocessing.MultiLabelBinarizer` takes them."""
    rows = [set(row) for row in y]
    if known is None:
        members = sorted(set[Any]().union(*rows), key=lambda member: (str(type(member)), member))
        known = np.array(members) if len({type(m) for m in members}) == 1 else np.array(members, dtype=object)
    place = {member: i for i, member in enumerate(known.tolist())}
    Y = np.zeros((len(rows), len(place)), dtype=np.int8)
    for i, row in enumerate(rows):
        odd = next((member for member in row if member not in place), None)
        if odd is not None:
            raise DataError(f"row {i}: {odd!r} is none of the labels {known.tolist()}")
        Y[i, [place[member] for member in row]] = 1
    return Target(Y, tuple(map(str, place)), False, TargetForm(members=known))
