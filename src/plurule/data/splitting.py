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

from plurule.data.dataset import SparseColumn, Table
from plurule.data.targets import dense, label_matrix
from plurule.errors import DataError

_TOLERANCE = 1e-9
FEWEST_DISTINCT = 20
"""With fewer distinct rows (by their attributes), equal rows are not called copies. Not measured by a committed
script."""
MOST_CONFLICTS = 0.05
"""Where distinct rows with their labels outnumber distinct rows without by more than this share, rows are equal by
chance. Not measured by a committed script."""


class IterativeStratifiedKFold:
    """K folds of multi-label data with the same share of every label, for `cross_validate` and its kin.

    Parameters
    ----------
    n_splits
        Number of folds, at least 2.
    shuffle
        Whether chance decides between folds that want an instance equally, and in which order the instances are
        assigned. Without it the folds depend on the order of the rows only.
    random_state
        Seed of the random numbers.

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
            Per row, the group of rows that it belongs to; a group is never divided. No groups, unless given.
        """
        if y is None:
            raise ValueError("y is missing; stratification needs the labels")
        labels = _positives(y)
        if X is not None and _num_samples(X) != labels.shape[0]:
            raise DataError(f"X has {_num_samples(X)} rows and y {labels.shape[0]}, expected as many")
        rng = check_random_state(self.random_state) if self.shuffle else None
        labels_of_groups, group_of = _group(labels, groups)
        n_groups = labels_of_groups.shape[0]
        if self.n_splits > n_groups:
            what = "instance" if groups is None else "group"
            raise DataError(f"{self.n_splits} folds of {n_groups} {what}s, expected at most one per {what}")
        part = _deal(labels_of_groups, [1 / self.n_splits] * self.n_splits, rng)[group_of]
        for fold in range(self.n_splits):
            yield np.flatnonzero(part != fold), np.flatnonzero(part == fold)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_splits={self.n_splits}, shuffle={self.shuffle}, random_state={self.random_state})"
        )


def iterative_split(
    Y: Any, shares: Sequence[float], *, shuffle: bool = True, random_state: Any = None, groups: Any = None
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
        Whether rows with the same labels are assigned in random order.
    random_state
        Of the shuffling.
    groups
        Per row, the group of rows that it belongs to; a group is never divided. No groups, unless given.

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
    rng = check_random_state(random_state) if shuffle else None
    labels_of_groups, group_of = _group(labels, groups)
    part = _deal(labels_of_groups, (wanted / wanted.sum()).tolist(), rng)[group_of]
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
        Share of the instances that go into the test part.
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
    if not 0 < test_size < 1:
        raise ValueError(f"test_size={test_size!r}, expected a share between 0 and 1")
    train, test = iterative_split(labels, [1 - test_size, test_size], shuffle=shuffle, random_state=random_state)
    if alone:
        return X[train], X[test]
    return _take(X, train), _take(X, test), _take(Y, train), _take(Y, test)


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


def copies(table: Table, Y: Any) -> NDArray[np.intp]:
    """Return the group of each row, in the order of first rows: rows with the same attributes and labels are copies."""
    return group_copies(row_keys(table, Y))


def group_copies(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return the group of each row by its keys: attributes, and attributes with labels.

    Rows of few discrete attributes are equal by chance, and have different labels then. They are no copies, and each
    is a group of its own.

    >>> group_copies(np.array([[key, key] for key in [*range(20), 3]], np.uint64))[-3:]
    array([18, 19,  3])
    >>> group_copies(np.array([[0, 0], [1, 1], [1, 1]], np.uint64))
    array([0, 1, 2])
    """
    # Copies are told from chance by two counts. If real rows were entered twice, they have the same labels, too: there
    # are about as many different (attributes, labels) as different attributes, at most 1 + MOST_CONFLICTS times as
    # many. Where attributes say little (yes or no, a few times), rows with the same attributes differ in labels, and
    # holding them out together would make folds of a few large groups.
    of_attributes, of_rows = (number_groups(column) for column in keys.T)
    n_attributes, n_rows = (int(groups.max(initial=-1)) + 1 for groups in (of_attributes, of_rows))
    has_copies = n_attributes >= FEWEST_DISTINCT and n_rows <= (1 + MOST_CONFLICTS) * n_attributes
    return of_rows if has_copies else np.arange(len(keys))


def row_keys(table: Table, Y: Any) -> NDArray[np.uint64]:
    """Return two numbers for each row, of its attributes, and of these with its labels.

    They are the same for the same values and, but for one chance in 2⁶⁴, different for others.
    """
    keys = np.zeros(len(table), np.uint64)
    for place, column in enumerate(table.columns):
        if isinstance(column, SparseColumn):
            keys[column.rows] += _mix(column.values, place)
        else:
            keys += _mix(column, place)
    of_attributes = keys.copy()
    labels = dense(label_matrix(Y)[0])
    for label in range(labels.shape[1]):
        keys += _mix(labels[:, label], len(table.columns) + label)
    return np.column_stack([of_attributes, keys])


def _mix(values: NDArray[Any], place: int) -> NDArray[np.uint64]:
    """Return numbers that depend on the values of a column and on its place; 0 for 0, dense or sparse."""
    numbers = values.astype(np.float64) + 0.0  # there is one zero, and one missing value
    numbers[np.isnan(numbers)] = np.nan
    bits = numbers.view(np.uint64)
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64((0x9E3779B97F4A7C15 * (2 * place + 1) | 1) % 2**64)
    bits ^= bits >> np.uint64(29)
    bits *= np.uint64(0xBF58476D1CE4E5B9)
    return bits ^ (bits >> np.uint64(32))


def number_groups(keys: Any) -> NDArray[np.intp]:
    """Return the number of each row's key, in the order in which keys occur.

    >>> number_groups(["b", "a", "b"])
    array([0, 1, 0])
    """
    _, first, which = np.unique(np.asarray(keys), return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[which.ravel()]


def _group(labels: Any, groups: Any) -> tuple[Any, NDArray[np.intp]]:
    """Return the labels that some row of each group has, and the number of the group of each row."""
    n_rows = labels.shape[0]
    if groups is None:
        return labels, np.arange(n_rows)
    if _num_samples(groups) != n_rows:
        raise DataError(f"groups has {_num_samples(groups)} rows and y {n_rows}, expected as many")
    group_of = number_groups(groups)
    n_groups = int(group_of.max(initial=-1)) + 1
    if n_groups == n_rows:
        return labels, group_of
    member = sp.csr_array((np.ones(n_rows, np.int64), (group_of, np.arange(n_rows))), shape=(n_groups, n_rows))
    return sp.csr_array((member @ labels.astype(np.int64)) > 0, dtype=np.int8), group_of


def _deal(labels: Any, shares: Sequence[float], rng: np.random.RandomState | None) -> NDArray[np.intp]:
    """The part that each instance goes to."""
    n_rows = labels.shape[0]
    order = np.arange(n_rows) if rng is None else rng.permutation(n_rows)
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
        chosen = candidates[0 if rng is None or len(candidates) == 1 else rng.randint(len(candidates))]
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
