"""Splits that keep the share of every label: iterative stratification for multi-label data.

A plain random split can leave a rare label without a single positive in some fold. Iterative stratification
(Sechidis, Tsoumakas, Vlahavas: *On the Stratification of Multi-Label Data*, 2011) deals out the instances label
by label, the rarest first, each instance to the part that still wants most of that label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples

from plurule.data.table import Table
from plurule.errors import DataError
from plurule.label_matrix import label_matrix

_TOLERANCE = 1e-9


class IterativeStratifiedKFold:
    """K folds of multi-label data with the same share of every label, for `cross_validate` and its kin.

    Parameters
    ----------
    n_splits
        Number of folds, at least 2.
    shuffle
        Whether chance decides between folds that want an instance equally, and in which order the instances are
        dealt out. Without it the folds depend on the order of the rows only.
    random_state
        Seed of that chance.

    Examples
    --------
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> for train, test in IterativeStratifiedKFold(n_splits=2).split(Y, Y):
    ...     print(test, Y[test].mean(axis=0))
    [0 2 4 6] [0.5 0.5]
    [1 3 5 7] [0.5 0.5]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        if isinstance(n_splits, bool) or not isinstance(n_splits, int | np.integer) or n_splits < 2:
            raise ValueError(f"n_splits={n_splits!r}, expected a whole number of at least 2")
        if random_state is not None and not shuffle:
            raise ValueError("random_state has no effect without shuffle=True; set shuffle or leave it out")
        self.n_splits = int(n_splits)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Row numbers of the training and of the test part, for each fold.

        Parameters
        ----------
        X
            Only its length counts.
        y
            Labels: 0/1 matrix (array, sparse or frame), or classes of a single target.
        groups
            Ignored.
        """
        if y is None:
            raise ValueError("y is missing; stratification needs the labels")
        labels = _positives(y)
        if X is not None and _num_samples(X) != labels.shape[0]:
            raise DataError(f"X has {_num_samples(X)} rows and y {labels.shape[0]}, expected as many")
        if self.n_splits > labels.shape[0]:
            raise DataError(f"{self.n_splits} folds of {labels.shape[0]} instances, expected at most one per instance")
        chance = check_random_state(self.random_state) if self.shuffle else None
        part = _deal(labels, [1 / self.n_splits] * self.n_splits, chance)
        for fold in range(self.n_splits):
            yield np.flatnonzero(part != fold), np.flatnonzero(part == fold)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_splits={self.n_splits}, shuffle={self.shuffle}, random_state={self.random_state})"
        )


def iterative_split(
    Y: Any, shares: Sequence[float], *, shuffle: bool = True, random_state: Any = None
) -> list[NDArray[np.intp]]:
    """Row numbers of several parts of the given shares, each with its share of every label.

    The sizes are met as nearly as the labels allow, not to the instance.

    Parameters
    ----------
    Y
        Labels: 0/1 matrix (array, sparse or frame), or classes of a single target.
    shares
        At least two; they need not sum to 1.
    shuffle
        Whether rows with the same labels are dealt in random order.
    random_state
        Of the shuffling.

    Examples
    --------
    >>> Y = np.tile([[1, 0], [0, 1], [1, 1], [0, 0]], (5, 1))
    >>> [len(rows) for rows in iterative_split(Y, [0.6, 0.2, 0.2], random_state=0)]
    [12, 4, 4]
    """
    wanted = np.asarray(shares, dtype=np.float64)
    if wanted.ndim != 1 or len(wanted) < 2 or not (np.isfinite(wanted) & (wanted > 0)).all():
        raise ValueError(f"shares={shares!r}, expected at least two numbers above 0")
    labels = _positives(Y)
    chance = check_random_state(random_state) if shuffle else None
    part = _deal(labels, (wanted / wanted.sum()).tolist(), chance)
    return [np.flatnonzero(part == i) for i in range(len(wanted))]


def iterative_train_test_split(
    X: Any, Y: Any = None, *, test_size: float = 0.25, shuffle: bool = True, random_state: Any = None
) -> tuple[Any, ...]:
    """Cut data into a training and a test part that both have their share of every label.

    Parameters
    ----------
    X, Y
        Attributes and labels, or a `plurule.data.Dataset` alone.
    test_size
        Share of the instances that go into the test part, or their number.
    shuffle, random_state
        As in `IterativeStratifiedKFold`, but shuffled by default.

    Returns
    -------
    `X_train, X_test, Y_train, Y_test`, or for a data set its training and its test part.

    Examples
    --------
    >>> X, Y = np.arange(8).reshape(8, 1), np.array([[1, 0], [0, 1]] * 4)
    >>> X_train, X_test, Y_train, Y_test = iterative_train_test_split(X, Y, test_size=0.5, random_state=0)
    >>> Y_train.sum(axis=0), Y_test.sum(axis=0)
    (array([2, 2]), array([2, 2]))
    """
    alone = Y is None
    if alone and not hasattr(X, "Y"):
        raise ValueError("Y is missing; stratification needs the labels")
    labels = X.Y if alone else Y
    count = _num_samples(labels)
    if not alone and _num_samples(X) != count:
        raise DataError(f"X has {_num_samples(X)} rows and Y {count}, expected as many")
    share = _test_share(test_size, count)
    train, test = iterative_split(labels, [1 - share, share], shuffle=shuffle, random_state=random_state)
    if alone:
        return X[train], X[test]
    return _take(X, train), _take(X, test), _take(Y, train), _take(Y, test)


def _test_share(test_size: float, count: int) -> float:
    if isinstance(test_size, int | np.integer) and not isinstance(test_size, bool):
        if not 0 < test_size < count:
            raise ValueError(f"test_size={test_size} of {count} instances, expected 1 to {count - 1}")
        return float(test_size) / count
    if not isinstance(test_size, float | np.floating) or not 0 < test_size < 1:
        raise ValueError(f"test_size={test_size!r}, expected a share between 0 and 1 or a number of instances")
    return float(test_size)


def _take(data: Any, rows: NDArray[np.intp]) -> Any:
    return data[rows] if isinstance(data, Table) else _safe_indexing(data, rows)


def _positives(y: Any) -> Any:
    """The labels as a sparse 0/1 matrix by rows; classes of a single target become one label each."""
    if not sp.issparse(y):
        given = np.asarray(y)
        if given.ndim == 1 or (given.ndim == 2 and given.shape[1] == 1 and given.dtype.kind not in "biu"):
            _, classes = np.unique(given.ravel(), return_inverse=True)
            y = np.eye(int(classes.max(initial=-1)) + 1, dtype=np.int8)[classes]
    return sp.csr_array(label_matrix(y, "y")[0])


def _deal(labels: Any, shares: Sequence[float], chance: np.random.RandomState | None) -> NDArray[np.intp]:
    """The part that each instance goes to."""
    n_rows = labels.shape[0]
    order = np.arange(n_rows) if chance is None else chance.permutation(n_rows)
    shuffled = labels[order]
    bounds, columns = shuffled.indptr.tolist(), shuffled.indices.tolist()
    labels_of = [columns[bounds[row] : bounds[row + 1]] for row in range(n_rows)]
    by_label = shuffled.tocsc()
    by_label.sort_indices()
    remaining = np.diff(by_label.indptr)
    # How many instances, and how many with each label, every part still wants.
    wanted_rows = [share * n_rows for share in shares]
    wanted = [[share * count for share in shares] for count in remaining.tolist()]
    part = np.full(n_rows, -1, dtype=np.intp)

    def give(row: int, preference: Sequence[float]) -> None:
        best = max(preference)
        candidates = [i for i, value in enumerate(preference) if value >= best - _TOLERANCE]
        if len(candidates) > 1:
            most = max(wanted_rows[i] for i in candidates)
            candidates = [i for i in candidates if wanted_rows[i] >= most - _TOLERANCE]
        chosen = candidates[0 if chance is None or len(candidates) == 1 else chance.randint(len(candidates))]
        part[row] = chosen
        wanted_rows[chosen] -= 1
        for label in labels_of[row]:
            wanted[label][chosen] -= 1

    while True:
        open_labels = np.flatnonzero(remaining > 0)
        if len(open_labels) == 0:
            break
        label = int(open_labels[np.argmin(remaining[open_labels])])
        rows = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        rows = rows[part[rows] < 0]
        for row in rows.tolist():
            give(row, wanted[label])
        np.subtract.at(remaining, [l for row in rows.tolist() for l in labels_of[row]], 1)
    for row in np.flatnonzero(part < 0).tolist():
        give(row, wanted_rows)
    dealt = np.empty(n_rows, dtype=np.intp)
    dealt[order] = part
    return dealt
