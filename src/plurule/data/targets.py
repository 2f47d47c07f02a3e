"""What `y` may be: a label matrix, a column of classes, several columns, sets of labels; and predictions in its form.

Inside there are only labels of 0 and 1. A column of two classes is one label, the later class; a column of more
classes is a group of labels, one per class, of which exactly one is present in every row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.encoding import is_missing
from plurule.errors import DataError
from plurule.label_matrix import by_name, dense, expect_different_names, label_matrix
from plurule.model.condition import YES

Group = tuple[int, ...]
"""Places of labels of which exactly one is present."""


class Target(NamedTuple):
    """Labels, and the form in which they were given."""

    Y: Any
    """A 0/1 matrix, dense or sparse."""
    names: tuple[str, ...]
    named: bool
    """Whether someone gave the labels their names."""
    form: TargetForm


@dataclass(frozen=True)
class TargetForm:
    """The form in which labels were given, and predictions are."""

    classes: NDArray[Any] | None = None
    """The classes of a 1-D target."""
    sparse: bool = False
    outputs: tuple[NDArray[Any], ...] = ()
    """The classes of each column of a target of several columns."""
    members: NDArray[Any] | None = None
    """What the sets of a target of label sets may hold."""

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The classes of each column of classes; none for a label matrix and for sets."""
        return self.outputs if self.classes is None else (self.classes,)

    def label_names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """What the labels of columns of classes are called, which have these names, or "" if they have none."""
        if self.classes is not None:
            return _names_of_classes(columns[0], self.classes)
        named = zip(columns, self.outputs, strict=True)
        return tuple(name for column, classes in named for name in label_names(column, classes.tolist()))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The labels of the columns of more than two classes."""
        ends = zip(self.columns, self._ends().tolist(), strict=True)
        return tuple(tuple(range(end - len(classes), end)) for classes, end in ends if len(classes) > 2)

    def _ends(self) -> NDArray[np.intp]:
        """Per column of classes, where its labels end: of two classes one, of more one for each."""
        return np.cumsum([len(classes) if len(classes) > 2 else 1 for classes in self.columns], dtype=np.intp)

    def _blocks(self, Y: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Per column, its classes, and what there is about its labels."""
        return zip(self.columns, np.split(Y, self._ends()[:-1], axis=1), strict=False)

    def encoded(self, columns: Iterable[NDArray[Any]]) -> NDArray[np.int8]:
        """The labels of columns of classes: of two classes the later, of more each of them."""
        pairs = zip(columns, self.columns, strict=True)
        return np.hstack([v[:, None] == (c if len(c) > 2 else c[-1:]) for v, c in pairs]).astype(np.int8)

    def decoded(self, Y: NDArray[Any]) -> list[NDArray[Any]]:
        """Per column, the class of each row; with a single class there is nothing to decide."""
        return [
            classes[part.argmax(axis=1) if len(classes) > 2 else np.minimum(part[:, 0].astype(int), len(classes) - 1)]
            for classes, part in self._blocks(Y)
        ]

    def labels(self, present: NDArray[Any]) -> Any:
        """What `predict` gives, from 0/1 per row and label."""
        if self.members is not None:
            return [tuple(self.members[np.flatnonzero(row)].tolist()) for row in present]
        if not self.columns:
            return sp.csr_array(present, dtype=np.int64) if self.sparse else present.astype(np.int64)
        found = self.decoded(present)
        if self.classes is not None:
            return found[0]
        same = len({column.dtype.kind for column in found}) == 1
        return np.column_stack(found if same else [column.astype(object) for column in found])

    def class_names(self, n_labels: int) -> Any:
        """The `classes_` of scikit-learn, what `predict_proba` has columns for: classes, or places of labels."""
        if self.classes is not None or self.outputs:
            return self.classes if self.classes is not None else list(self.outputs)
        if self.members is not None:
            return self.members
        # Two places would look like the two classes of one label, of which scorers take the second.
        return np.array([[0, 1], [0, 1]]) if n_labels == 2 else np.arange(n_labels)

    def probabilities(self, present: NDArray[np.float64]) -> Any:
        """What `predict_proba` gives, from the probability that each label is present."""
        found = []
        for classes, of_column in self._blocks(present):
            if len(classes) == 1:
                of_column = np.ones((len(present), 1))
            elif len(classes) == 2:
                of_column = np.hstack([1 - of_column, of_column])
            found.append(of_column / of_column.sum(axis=1, keepdims=True) if len(classes) > 2 else of_column)
        return present if not found else found[0] if self.classes is not None else found


def together(forms: Sequence[TargetForm]) -> TargetForm:
    """The form of parts of a target, of which each may hold some of the classes.

    >>> together([TargetForm(np.array(["cat", "cow"])), TargetForm(np.array(["dog"]))]).classes.tolist()
    ['cat', 'cow', 'dog']
    """
    filled = [form for form in forms if form.columns] or [TargetForm()]
    if len({(len(form.outputs), form.classes is None) for form in filled}) > 1:
        raise DataError("some parts of y are one column and others are several; give all of them alike")
    columns = []
    for same in zip(*(form.columns for form in filled), strict=True):
        if len({_is_text(classes) for classes in same}) > 1:
            raise DataError("y holds text in some parts and numbers in others; make all classes text, or numbers")
        columns.append(np.unique(np.concatenate(same)))
    return TargetForm(classes=columns[0]) if filled[0].classes is not None else TargetForm(outputs=tuple(columns))


def in_form(Y: Any, own: TargetForm, form: TargetForm) -> NDArray[np.uint8]:
    """The labels of a part of a target, made of its own classes, as those of the classes of all parts.

    >>> in_form(np.ones((2, 1)), TargetForm(np.array([0])), TargetForm(np.array([0, 1]))).tolist()
    [[0], [0]]
    """
    return form.encoded(own.decoded(dense(Y))).view(np.uint8)


def settled(present: NDArray[np.int8], votes: NDArray[np.float64], groups: Sequence[Group]) -> NDArray[np.int8]:
    """Labels of which exactly one of each group is present: the one with most votes.

    >>> settled(np.array([[1, 1, 1]], dtype=np.int8), np.array([[0.5, 0.6, 0.7]]), [(0, 1)])
    array([[0, 1, 1]], dtype=int8)
    """
    present = present.copy()
    for group in groups:
        present[:, group] = votes[:, group].argmax(axis=1)[:, None] == np.arange(len(group))
    return present


def read_target(y: Any) -> Target:
    """The labels as 0/1 matrix, their names, whether these were given, and the form they had."""
    if y is None:
        raise ValueError("RuleListClassifier requires y to be passed, but the target y is None")
    if not sp.issparse(y):
        native = nw.from_native(y, series_only=True, pass_through=True)
        if isinstance(native, nw.Series):
            return _of_one_column(native.to_numpy(), str(native.name or ""))
        if _holds_sets(y):
            return _of_sets(y)
        array = y if len(getattr(y, "shape", ())) == 2 else np.asarray(y)
        if len(array.shape) == 1:
            return _of_one_column(array, "")
        if holds_classes(array):
            return _of_columns(_columns(array))
        y = array
    Y, names = label_matrix(y)
    return Target(
        Y, names or tuple(f"y{i}" for i in range(Y.shape[1])), names is not None, TargetForm(sparse=sp.issparse(y))
    )


def true_labels(y: Any, form: TargetForm, n_labels: int) -> NDArray[np.uint8]:
    """True labels to compare predictions with, as a 0/1 matrix; `form` is that of the labels in training.

    >>> true_labels(["ham", "ham"], TargetForm(np.array(["ham", "spam"])), n_labels=1).ravel()
    array([0, 0], dtype=uint8)
    """
    if form.members is not None:
        return _of_sets(y, form.members).Y.view(np.uint8)
    if not form.columns:
        truth = dense(read_target(y).Y).view(np.uint8)
        if truth.shape[1] != n_labels:
            raise DataError(f"Y has {truth.shape[1]} labels, the classifier was trained with {n_labels}")
        return truth
    given = [("Y", np.asarray(y).ravel())] if form.classes is not None else _columns(y)
    if len(given) != len(form.columns):
        raise DataError(f"Y has {len(given)} columns, the classifier was trained with {len(form.columns)}")
    for (name, values), classes in zip(given, form.columns, strict=True):
        odd = np.flatnonzero(~np.isin(values, classes))
        if len(odd):
            raise DataError(f"{name}, row {odd[0]}: {values[odd[0]]} is none of the classes {classes.tolist()}")
    return form.encoded(values for _, values in given).view(np.uint8)


def named_labels(y: Any, labels: Sequence[str]) -> NDArray[np.uint8] | None:
    """True labels of a model in its order, from classes or sets of labels; None if `y` is a label matrix.

    >>> named_labels(["cow", "ant", "cow"], ["ant", "bee", "cow"])
    array([[0, 0, 1],
           [1, 0, 0],
           [0, 0, 1]], dtype=uint8)
    """
    if sp.issparse(y) or _holds_sets(y):
        return None if sp.issparse(y) else _of_sets([map(str, row) for row in y], np.array(labels)).Y.view(np.uint8)
    columns = _columns(y)
    if not any(_is_text(values) for _, values in columns) and not len(columns) == 1 < len(labels):
        return None
    found = dict[str, NDArray[Any]]()
    for name, values in columns:
        own = [label for label in labels if label == name or label.startswith(f"{name}: ")]
        own = list(labels) if not own and len(columns) == 1 else own
        _refuse_missing(values, f"column {name!r}" if name else "y")
        for label in own:
            if label != name:
                said = "" if name or _is_text(values) else "class "
                found[label] = np.isin(values.astype(str), (label.removeprefix(f"{name}: "), label.removeprefix(said)))
            else:
                # What says neither yes nor no is refused, as what is neither 0 nor 1 is.
                meant = [YES.get(str(value).lower(), value) for value in values] if _is_text(values) else values
                found[label] = label_matrix(np.array(meant, dtype=object), name)[0].ravel()
        of_none = len(own) > 1 and ~np.any([found[label] for label in own], axis=0)
        if np.any(of_none):
            row = int(np.argmax(of_none))
            raise DataError(f"{name or 'y'}, row {row}: {values[row]} is none of the classes {own}")
    matrix: NDArray[Any] = by_name(np.array(list(found.values())).T, tuple(found), labels)
    return matrix.astype(np.uint8)


# A column of classes -------------------------------------------------------------------------------------------------


def _of_one_column(y: NDArray[Any], name: str) -> Target:
    """A 1-D target: of two classes, the later is the label; of more, each is one of a group; of sets, all members."""
    from sklearn.utils.multiclass import check_classification_targets

    if len(y) == 0:
        raise DataError("y holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
    if _holds_sets(y):
        return _of_sets(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmax(~np.isfinite(y)))
        raise DataError(f"row {row}: y contains {'NaN' if np.isnan(y[row]) else 'infinity'}, expected a class")
    _refuse_missing(y, "y")
    y = _of_one_type(y)
    check_classification_targets(y)
    form = TargetForm(np.unique(y))
    return Target(form.encoded([y]), form.label_names([name]), False, form)


def _names_of_classes(name: str, classes: NDArray[Any]) -> tuple[str, ...]:
    """What the labels of a 1-D target are called."""
    if len(classes) > 2:
        prefix = f"{name}: " if name else "" if _is_text(classes) else "class "
        return tuple(f"{prefix}{c}" for c in classes.tolist())
    return ((name or "y") if set(classes.tolist()) <= {0, 1} else str(classes[-1]),)


def _of_one_type(y: NDArray[Any]) -> NDArray[Any]:
    """Classes that can be compared: numbers in an array of objects as numbers."""
    kinds = {type(value).__name__: value for value in y} if y.dtype.kind == "O" else {}
    if "str" in kinds and len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        raise DataError(f"y holds classes of different types, {one!r} and {other!r}; make all of them text, or numbers")
    return np.array(y.tolist()) if kinds and "str" not in kinds else y


# Several columns -----------------------------------------------------------------------------------------------------


def _columns(y: Any) -> list[tuple[str, NDArray[Any]]]:
    """Name and values of each column; a single one may have no name."""
    expect_different_names(y)
    frame = y if isinstance(y, np.ndarray) else nw.from_native(y, eager_only=True, pass_through=True, allow_series=True)
    if isinstance(frame, nw.DataFrame):
        return [(str(name), frame.get_column(name).to_numpy()) for name in frame.columns]
    array = np.asarray(y)
    if array.ndim == 1:
        return [(str(getattr(frame, "name", None) or ""), array)]
    return [(f"y{i}", array[:, i]) for i in range(array.shape[1])]


def column_names(y: Any) -> tuple[str, ...]:
    """The names of the columns of a target; that of a single one may be empty."""
    return tuple(name for name, _ in _columns(y))


def holds_classes(y: Any) -> bool:
    """Whether some column holds classes: text, or, if it is the only one, other whole numbers than 0 and 1."""
    columns = _columns(y)
    if any(_is_text(values) for _, values in columns):
        # A single value says nothing; what it means instead is for whoever reads 0 and 1 to say.
        return all(len(set(values.tolist())) > 1 for _, values in columns if _is_text(values))
    return len(columns) == 1 and _are_numbers(columns[0][1])


def _are_numbers(values: NDArray[Any]) -> bool:
    """Whether values are whole numbers other than 0 and 1."""
    if values.dtype.kind not in "iuf" or not len(values) or not np.isfinite(values).all():
        return False
    return bool((values == np.floor(values)).all() and not np.isin(values, (0, 1)).all() and np.ptp(values) > 0)


def _is_text(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "UST" or (values.dtype.kind == "O" and any(isinstance(v, str) for v in values))


def _of_columns(columns: Sequence[tuple[str, NDArray[Any]]]) -> Target:
    """Columns of which some hold classes: text, or 0 and 1."""
    read, outputs = [], []
    for name, values in columns:
        classes = None
        if _is_text(values):
            _refuse_missing(values, f"column {name!r}")
            values = values.astype(str)
        elif len(columns) > 1 or not _are_numbers(values):
            values, classes = label_matrix(values)[0].ravel(), np.array([0, 1])
        read.append(values)
        outputs.append(np.unique(values) if classes is None else classes)
    form = TargetForm(outputs=tuple(outputs))
    return Target(form.encoded(read), form.label_names([name for name, _ in columns]), True, form)


def label_names(column: str, classes: Sequence[Any]) -> list[str]:
    """What the labels of a column of classes are called: as the column, where the classes are no and yes.

    >>> label_names("sunk", ["no", "yes"]), label_names("port", ["Cork", "Southampton"]), label_names("class", "123")
    (['sunk'], ['port: Southampton'], ['class: 1', 'class: 2', 'class: 3'])
    """
    if all(str(c).lower() in YES for c in classes) and len(classes) <= 2:
        return [column]
    return [f"{column}: {c}" for c in (classes if len(classes) > 2 else classes[-1:])]


def _refuse_missing(values: NDArray[Any], what: str) -> None:
    row = next((i for i, value in enumerate(values) if is_missing(value)), -1) if values.dtype.kind == "O" else -1
    if row >= 0:
        raise DataError(f"row {row}: {what} contains a missing value (NaN), expected a class")


# Sets of labels ------------------------------------------------------------------------------------------------------


def _holds_sets(y: Any) -> bool:
    """Whether every row is a collection of labels; rows of equal length that are lists are those of a matrix."""
    # What numpy can read need not be iterable.
    rows = list(y) if len(getattr(y, "shape", (0,))) == 1 and hasattr(y, "__iter__") else []
    if not rows or not all(isinstance(row, set | frozenset | list | tuple | np.ndarray) for row in rows):
        return False
    return any(isinstance(row, set | frozenset) for row in rows) or len({len(row) for row in rows}) > 1


def _of_sets(y: Any, known: NDArray[Any] | None = None) -> Target:
    """Sets of labels, as `sklearn.preprocessing.MultiLabelBinarizer` takes them."""
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
