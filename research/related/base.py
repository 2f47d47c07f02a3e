"""Base class of the related learners: check the data, learn from a 0/1 matrix, predict in the form of `y`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import InputTags
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from plurule.model import Assignment, Attribute, Condition, Head, Rule

Labels = NDArray[np.int8]
Mask = NDArray[np.bool_]

SHARE = [Interval(Real, 0, 1, closed="both")]
NUMBER = [Interval(Real, 0, None, closed="left")]
COUNT = [Interval(Integral, 1, None, closed="left")]
"""What parameters of learners may be."""


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of label matrices, and of two classes as a single label.

    A subclass has `_learn(X, Y)` and `_predict(X)`, where `X` is an array of numbers, a sparse matrix, a frame or a
    table (the attributes of a data set of plurule), and `Y` is a 0/1 matrix.

    Attributes
    ----------
    label_names_ : tuple of str
        The names of the columns of `y`; `y0`, `y1`, … where it has none.
    classes_ : ndarray or list of ndarray
        The classes of a 1-D `y`; for a label matrix, 0 and 1 for each label.
    """

    label_names_: tuple[str, ...]
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from instances and their labels: a 0/1 matrix (dense, sparse, frame), or a column of two classes."""
        self._validate_params()
        X = self._check_attributes(X, reset=True)
        Y = self._read_labels(y)
        if len(Y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, y has {len(Y)}; give the labels of every row")
        self._learn(X, Y)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted labels in the form of `y`."""
        check_is_fitted(self)
        Y = np.asarray(self._predict(self._check_attributes(X, reset=False)), dtype=np.int64)
        if isinstance(self.classes_, list):
            return Y
        # A single class is predicted always.
        return self.classes_[np.minimum(Y[:, 0], len(self.classes_) - 1)]

    def _learn(self, X: Any, Y: Labels) -> None:
        raise NotImplementedError

    def _predict(self, X: Any) -> Any:
        raise NotImplementedError

    def _check_attributes(self, X: Any, reset: bool) -> Any:
        if is_table(X):
            if reset:
                self.n_features_in_ = X.shape[1]
            elif X.shape[1] != self.n_features_in_:
                raise ValueError(f"X has {X.shape[1]} features, but {self.n_features_in_} were expected")
            return X
        if isinstance(X, pd.DataFrame) and not all(map(pd.api.types.is_numeric_dtype, X.dtypes)):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return X
        checked = validate_data(
            self, X, reset=reset, dtype=np.float64, accept_sparse="csr", ensure_all_finite="allow-nan"
        )
        # The columns of a frame are matched by name if scikit-learn knows their names.
        return X if isinstance(X, pd.DataFrame) and hasattr(self, "feature_names_in_") else checked

    def _read_labels(self, y: Any) -> Labels:
        """Store names and classes of the labels, and return their 0/1 matrix."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        names = getattr(y, "columns", None)
        y = y.toarray() if sp.issparse(y) else np.asarray(y)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        # A matrix of constant columns has no type that says so.
        is_matrix = y.ndim == 2 and y.shape[1] > 1 and bool(np.isin(y, (0, 1)).all())
        if is_matrix:
            self.label_names_ = tuple(f"y{i}" for i in range(y.shape[1])) if names is None else tuple(map(str, names))
            self.classes_: Any = [np.array([0, 1])] * y.shape[1]
            return y.astype(np.int8)
        if kind != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        column = column_or_1d(y)
        self.classes_ = np.unique(column)
        self.label_names_ = ("y",)
        return (column == self.classes_[-1]).astype(np.int8)[:, None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags = InputTags(sparse=True, allow_nan=True)
        return tags


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


def read_columns(X: Any) -> Columns:
    """Return the columns of an array, a sparse matrix, a frame or a table; text and categories are nominal."""
    if is_table(X):
        return Columns(tuple(X.attributes), tuple(X.column(i) for i in range(X.shape[1])))
    if not isinstance(X, pd.DataFrame):
        dense = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
        numbered = tuple(Attribute(f"x{i}") for i in range(dense.shape[1]))
        return Columns(numbered, tuple(dense.T.astype(np.float64)))
    attributes: list[Attribute] = []
    values: list[NDArray[Any]] = []
    for name, column in X.items():
        if pd.api.types.is_numeric_dtype(column.dtype):
            attributes.append(Attribute(str(name)))
            values.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        else:
            nominal = column.astype("category")
            attributes.append(Attribute(str(name), tuple(map(str, nominal.cat.categories))))
            values.append(nominal.cat.codes.to_numpy(dtype=np.int32))
    return Columns(tuple(attributes), tuple(values))


def make_head(labels: Iterable[tuple[int, bool]], names: tuple[str, ...]) -> Head:
    """Return a head of labels by their places, each present or absent."""
    return Head(tuple(Assignment(names[label], label, present) for label, present in labels))


def counted_rule(
    head: Head, body: tuple[Condition, ...], covered: Mask, Y: Labels, *, stop: bool = False, value: float = 0.0
) -> Rule:
    """Return a rule with its counts on all training instances."""
    right = sum(int((Y[covered, label.index] == label.present).sum()) for label in head)
    total = int(covered.sum()) * len(head)
    return Rule(head, body, tp=right, fp=total - right, coverage=int(covered.sum()), value=value, stop=stop)


def as_target(Y: Labels) -> Any:
    """Return labels as classifiers of scikit-learn want them: one label as a column of two classes."""
    return Y[:, 0] if Y.shape[1] == 1 else Y


def predicted_matrix(predicted: Any, n_rows: int) -> Labels:
    """Return the predictions of a classifier as a 0/1 matrix."""
    dense = predicted.toarray() if sp.issparse(predicted) else np.asarray(predicted)
    return dense.reshape(n_rows, -1).astype(np.int8)


def positive_probabilities(estimator: Any, X: Any, n_labels: int) -> NDArray[np.float64]:
    """Return the probability of each label, from either form of `predict_proba`; 0 and 1 where there is none."""
    if not hasattr(estimator, "predict_proba"):
        return predicted_matrix(estimator.predict(X), X.shape[0]).astype(np.float64)
    found = estimator.predict_proba(X)
    classes = estimator.classes_
    if isinstance(found, list):
        columns = [_of_class_1(part, kinds) for part, kinds in zip(found, classes, strict=True)]
        return np.column_stack(columns)
    if n_labels == 1:
        return _of_class_1(np.asarray(found), classes)[:, None]
    return np.asarray(found)


def _of_class_1(probabilities: NDArray[np.float64], classes: Any) -> NDArray[np.float64]:
    places = np.flatnonzero(np.asarray(classes) == 1)
    return probabilities[:, places[0]] if len(places) else np.zeros(len(probabilities))
