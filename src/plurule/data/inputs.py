"""Inputs of the estimators (X and y in any form, or a data set) as one `Dataset`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v1 as nw
import scipy.sparse as sp

from plurule.data.dataset import Dataset, check_row_weights
from plurule.data.encoding import encode
from plurule.data.table import Table
from plurule.data.targets import TargetForm, column_of_classes, read_target
from plurule.errors import DataError, first_repeated
from plurule.label_matrix import by_name, label_matrix
from plurule.model.naming import amount


def labelled_data(
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    *,
    allow_empty: bool = False,
) -> tuple[Dataset, TargetForm]:
    """Attributes and labels, checked, with a name for every column; and the form that `y` has.

    Parameters
    ----------
    X
        A data set, which has its own labels and weights, or the attributes in any form that `encode` reads.
    y
        The labels, in a form that `plurule.data.targets` describes.
    sample_weight
        A weight for each row.
    label_names
        Names of the labels, instead of those that `y` has.
    feature_names
        Names of the columns of an array or a sparse matrix, which have none of their own.
    allow_empty
        Whether there may be no rows, attributes or labels.

    Examples
    --------
    >>> labelled_data([[1.5], [2.5]], [[1, 0], [0, 1]])[0].label_names
    ('y0', 'y1')
    >>> labelled_data([[1.5], [2.5]], ["spam", "ham"])[0].label_names
    ('ham', 'spam')
    >>> labelled_data([[1.5], [2.5], [3.5]], ["cat", "dog", "cow"])[0].groups
    ((0, 1, 2),)
    >>> labelled_data([[1.5], [2.5]], [[1, 0], [0, 1]], label_names=["red", "blue"])[0].label_names
    ('red', 'blue')
    >>> labelled_data([[1.5], [2.5]], [[1, 0], [0, 1]], feature_names=["area"])[0].attribute_names
    ('area',)
    """
    if feature_names is not None:
        expect_no_names(X)
    if isinstance(X, Dataset):
        if y is not None:
            raise DataError("y is given though X is a data set, which has its own labels: leave y out, or give data.X")
        table, form = X.X, TargetForm(sparse=sp.issparse(X.Y))
        Y, names, named = X.Y, X.label_names, True
        sample_weight = X.weights if sample_weight is None else sample_weight
    else:
        table = encode(X) if feature_names is None else with_names(encode(X), feature_names)
        Y, names, named, form = read_target(y)
    if label_names is not None:
        if len(label_names) != len(names):
            raise DataError(f"label_names holds {len(label_names)} names, but Y has {len(names)} labels")
        names, named = tuple(map(str, label_names)), True
    for what, twice in (("column", table.repeated_name()), ("label", first_repeated(names))):
        if twice is not None:
            raise DataError(f"two {what}s are named {twice!r}; give each {what} its own name")
    names = disambiguate(names, table.has, named)
    if not allow_empty:
        _expect_some(table.shape, Y.shape)
    if not table.columns:
        # A frame without columns does not know how many rows it has.
        table = Table([], [], Y.shape[0])
    if len(table) != Y.shape[0]:
        raise DataError(f"X has {len(table)} rows, Y has {Y.shape[0]}; give the labels of every row")
    weights = None if sample_weight is None else check_row_weights(sample_weight, len(table), "sample_weight")
    groups, hierarchy = (X.groups, X.hierarchy) if isinstance(X, Dataset) else (form.groups, ())
    return Dataset(table, Y, names, weights, groups=groups, hierarchy=hierarchy), form


def expect_no_names(X: Any) -> None:
    """Complain about `feature_names` if the columns of `X` have names."""
    frame = X if sp.issparse(X) else nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, Dataset | Table | nw.DataFrame):
        raise DataError("feature_names is given though the columns of X have names; leave it out, or rename these")


def with_names(table: Table, names: Sequence[str]) -> Table:
    """The table with other names of its columns.

    >>> with_names(encode([[1.5, 2.0]]), ["area", "age"]).names
    ('area', 'age')
    """
    if isinstance(names, str) or len(names) != len(table.attributes):
        count = 1 if isinstance(names, str) else len(names)
        raise DataError(f"feature_names holds {amount(count, 'name')}, but X has {len(table.attributes)} columns")
    texts = [str(name) for name in names]
    repeated = first_repeated(texts)
    if repeated is not None:
        raise DataError(f"feature_names holds {repeated!r} twice; give each column its own name")
    attributes = [replace(a, name=name) for name, a in zip(texts, table.attributes, strict=True)]
    return Table(attributes, table.columns, len(table))


def unpack(X: Any, y: Any, sample_weight: Any, labels: Sequence[str]) -> tuple[Any, Any, Any]:
    """Attributes, labels in the order that a model has them, and weights; of a data set, if `X` is one."""
    if sp.issparse(y) or (hasattr(y, "columns") and column_of_classes(y) is None):
        y, names = label_matrix(y)
        # Names of which none is known say nothing: a model may have been trained with other ones (`label_names`).
        y = by_name(y, names, labels) if names is not None and set(names) & set(labels) else y
    if not isinstance(X, Dataset) or y is not None:
        return X.X if isinstance(X, Dataset) else X, y, sample_weight
    return X.X, by_name(X.Y, X.label_names, labels), X.weights if sample_weight is None else sample_weight


def row_ids(X: Any, n_rows: int, ids: Sequence[Any] | None = None) -> list[Any]:
    """Names of the rows: as given, of a data set or the index of a pandas frame, or else numbers from 0."""
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


def disambiguate(labels: tuple[str, ...], is_column: Callable[[str], bool], named: bool) -> tuple[str, ...]:
    """Names of labels of which none is that of a column of the attributes."""
    clash = next(filter(is_column, labels), None)
    if clash is None:
        return labels
    if named:
        raise DataError(f"a column of X and a label are both named {clash!r}; rename one of them")
    return disambiguate(tuple(f"{label}_label" for label in labels), is_column, named)


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
