"""Base class of the related learners: check the data, learn from a 0/1 matrix, predict in the form of `y`."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import InputTags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from plurule import DataError, Dataset
from plurule.model import Assignment, Condition, Head, Rule
from research.internals import dense
from research.related.columns import Mask, is_table
from research.related.labels import Labels, read_labels

SHARE = [Interval(Real, 0, 1, closed="both")]
NUMBER = [Interval(Real, 0, None, closed="left")]
COUNT = [Interval(Integral, 1, None, closed="left")]
SEED = [Interval(Integral, 0, 2**32 - 1, closed="both"), None]
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
        The classes of a 1-D `y`; the labels of label sets; for a label matrix, 0 and 1 for each label.
    """

    label_names_: tuple[str, ...]
    classes_: Any
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from instances and their labels.

        `y` is a 0/1 matrix (dense, sparse, frame), a column of two classes, or a set of labels per row. It is left out
        if `X` is a data set of plurule.
        """
        self._validate_params()
        X, y = self._unpack(X, y)
        X = self._check_attributes(X, reset=True)
        target = read_labels(y)
        if len(target.Y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, y has {len(target.Y)}; give the labels of every row")
        self.label_names_ = target.names
        self.classes_ = target.classes
        self._form = target.form
        self._learn(X, target.Y)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted labels in the form of `y`."""
        check_is_fitted(self)
        X = X.X if isinstance(X, Dataset) else X
        Y = np.asarray(self._predict(self._check_attributes(X, reset=False)), dtype=np.int64)
        if isinstance(self.classes_, list):
            return Y
        if self._form.members is not None:
            return self._form.labels(Y)
        # A single class is predicted always.
        return self.classes_[np.minimum(Y[:, 0], len(self.classes_) - 1)]

    def _learn(self, X: Any, Y: Labels) -> None:
        raise NotImplementedError

    def _predict(self, X: Any) -> Any:
        raise NotImplementedError

    def _unpack(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return attributes and labels; those of a data set are a table and a frame."""
        if isinstance(X, Dataset):
            if y is not None:
                raise DataError("y is given though X is a data set, which has its own labels: give data.X and data.Y")
            if X.weights is not None and np.ptp(X.weights) > 0:
                raise DataError(f"{type(self).__name__} takes no weights of rows: give data.X and data.Y without them")
            return X.X, pd.DataFrame(dense(X.Y), columns=list(X.label_names))
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        return X, y

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.input_tags = InputTags(sparse=True, allow_nan=True)
        return tags


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


def fit_labels(estimator: Any, X: Any, Y: Labels) -> Any:
    """Fit a classifier of scikit-learn; one label is a column of two classes, or a matrix where that is refused."""
    if Y.shape[1] > 1:
        return estimator.fit(X, Y)
    try:
        return estimator.fit(X, Y[:, 0])
    except (ValueError, IndexError) as refusal:
        try:
            return clone(estimator).fit(X, Y)
        except (ValueError, IndexError):
            raise refusal from None


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
    if n_labels == 1 and not isinstance(classes, list):
        return _of_class_1(np.asarray(found), classes)[:, None]
    return np.asarray(found)


def _of_class_1(probabilities: NDArray[np.float64], classes: Any) -> NDArray[np.float64]:
    places = np.flatnonzero(np.asarray(classes) == 1)
    return probabilities[:, places[0]] if len(places) else np.zeros(len(probabilities))
