"""Labels: the one gate for matrices of 0 and 1, and the forms of `y` that become one.

`y` is a 0/1 label matrix, one column of classes, or a set of labels per row; predictions come in the same form. Inside
there are only labels of 0 and 1. A column of classes is a group of labels, one per class, of which exactly one is
present in every row; a column of 0 and 1, no and yes or false and true is one label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.errors import DataError, first_repeated, nearest
from plurule.model.condition import YES

USE_BINARIZER = "Give one 0/1 column per label; sklearn.preprocessing.MultiLabelBinarizer makes them from label sets"


def label_matrix(Y: Any, name: str = "Y") -> tuple[Any, tuple[str, ...] | None]:
    """Labels as an int8 matrix of 0 and 1, and what its columns are called (None if they have no names).

    What is dense comes back as an array, what is sparse as a `csr_array` without stored zeros; a single column may be
    one-dimensional. What was given is never changed, though the result may share its memory. An error says where a
    value is not 0 or 1 (True and False are); `name` is what it calls the labels.
    """
    if sp.issparse(Y):
        return _sparse(Y, name), None
    is_array = isinstance(Y, np.ndarray)
    Y = Y if is_array else collected(Y)
    if np.ma.is_masked(Y):
        raise DataError(f"{name} has masked values, expected 0 or 1; leave these rows out")
    if not is_array:
        expect_different_names(Y, name)
    frame = Y if is_array else nw.from_native(Y, eager_only=True, pass_through=True, allow_series=True)
    if isinstance(frame, nw.DataFrame):
        names = tuple(map(str, frame.columns))
        columns = [_dense(frame.get_column(c).to_numpy()[:, None], names[i : i + 1], name)
                   for i, c in enumerate(frame.columns)]  # fmt: skip
        return np.ascontiguousarray(np.hstack([np.empty((len(frame), 0), np.int8), *columns])), names
    if isinstance(frame, nw.Series):
        return _dense(frame.to_numpy()[:, None], (str(frame.name),) if frame.name else None, name), None
    try:
        array = np.asarray(Y)
    except ValueError as error:
        raise DataError(f"{name} is not a matrix: {error}. {USE_BINARIZER}") from error
    if array.ndim not in (1, 2):
        raise DataError(f"{name} must be a matrix of instances × labels, got an array of shape {array.shape}")
    return _dense(array[:, None] if array.ndim == 1 else array, None, name), None


def collected(data: Any) -> Any:
    """Return a lazy frame of polars as one in memory; anything else as it is."""
    return data.collect() if type(data).__name__ == "LazyFrame" else data


def expect_different_names(frame: Any, name: str = "Y", columns: str = "label") -> None:
    """Complain if two columns of a frame have one name; `name` and `columns` are what it and they are called."""
    # The `columns` of pyarrow's tables are not names.
    names: Any = getattr(frame, "column_names", None) or getattr(frame, "columns", ())
    repeated = first_repeated(map(str, names))
    if repeated is not None:
        raise DataError(f"{name} has several {columns}s named {repeated!r}; give each {columns} its own name")


def by_name(Y: Any, found: Sequence[str], wanted: Sequence[str]) -> Any:
    """The columns of a label matrix that a model knows, in its order."""
    if tuple(found) == tuple(wanted):
        return Y
    position = {name: i for i, name in enumerate(found)}
    missing = next((name for name in wanted if name not in position), None)
    if missing is not None:
        raise DataError(f"the data lack the label {missing!r} of the rule list" + nearest(missing, found))
    return Y[:, [position[name] for name in wanted]]


def dense(Y: Any) -> NDArray[np.int8]:
    """A label matrix as an array."""
    return Y.toarray() if sp.issparse(Y) else Y


def _sparse(Y: Any, name: str) -> Any:
    matrix = sp.csr_array(Y)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    odd = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
    if len(odd):
        row = int(np.searchsorted(matrix.indptr, odd[0], side="right")) - 1
        raise _refusal(matrix.data[odd[0]], f"y{matrix.indices[odd[0]]}", row, name)
    matrix = matrix.astype(np.int8)
    matrix.eliminate_zeros()
    return matrix


def _dense(array: NDArray[Any], names: Sequence[str] | None, name: str) -> NDArray[np.int8]:
    kind = array.dtype.kind
    if kind in "biuf":
        # The smallest and the largest whole number tell at once; a fraction may lie between them.
        if kind not in "iu" or (array.size and (array.min() < 0 or array.max() > 1)):
            wrong = (array != 0) & (array != 1)
        else:
            wrong = np.zeros(0, dtype=np.bool_)
    elif kind in "OUSV":
        wrong = np.array([not _is_zero_or_one(value) for value in array.flat], dtype=np.bool_).reshape(array.shape)
    else:
        raise DataError(f"{name} must hold 0 and 1 only, got values of type {array.dtype}")
    if wrong.any():
        row, column = divmod(int(np.argmax(wrong)), array.shape[1])
        label = f"y{column}" if names is None else names[column]
        raise _refusal(array[row, column], label, row, name)
    array = np.ascontiguousarray(array)
    return array.view(np.int8) if array.dtype in (np.uint8, np.bool_) else array.astype(np.int8, copy=False)


def _is_zero_or_one(value: Any) -> bool:
    return isinstance(value, bool | Real) and (value == 0 or value == 1)


def _refusal(value: Any, label: str, row: int, name: str) -> DataError:
    is_nan = isinstance(value, Real) and bool(value != value)
    if isinstance(value, Real) and np.isinf(float(value)):
        found = f"infinity ({value})"
    else:
        found = "NaN" if is_nan else repr(value.item() if isinstance(value, np.generic) else value)
    helps = ""
    if is_nan:
        helps = "; leave out rows whose labels are not known"
    elif isinstance(value, Real) and value == -1:
        helps = "; for labels of -1 and 1 give (Y > 0)"
    return DataError(f"label {label!r}, row {row}: {name} contains {found}, expected 0 or 1{helps}")


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one."""
    # A missing value of any library is None or not equal to itself; pandas.NA refuses to be compared.
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True


def category_text(value: Any) -> str:
    """A category as text; whole floats as whole numbers, since frames turn integers with gaps into floats.

    >>> category_text(2.0), category_text("2"), category_text(True)
    ('2', '2', 'True')
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# Forms of y --------------------------------------------------------------------------------------------------------

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
    if not sp.issparse(y) and not isinstance(y, np.ndarray):
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
