"""The numbers about a data set are those that a naive count gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from helpers.datasets import datasets
from plurule.data import Dataset, read
from plurule.data.description import describe
from plurule.data.table import Table


def rows_of(data: Dataset) -> list[tuple[object, ...]]:
    columns = [data.X.column(i).tolist() for i in range(len(data.attributes))]
    columns += np.asarray(data.Y).T.tolist()
    return [tuple("?" if value != value else value for value in row) for row in zip(*columns, strict=True)]


@settings(max_examples=150, deadline=None)
@given(datasets())
def test_counts_are_those_of_a_naive_count(data: Dataset) -> None:
    about = describe(data)
    Y = np.asarray(data.Y)
    assert about.rows == len(data)
    assert about.numeric + about.nominal == len(data.attributes)
    assert about.label_sets == len({tuple(row) for row in Y.tolist()})
    assert about.duplicates == len(data) - len(set(rows_of(data)))
    assert about.unlabelled == sum(not any(row) for row in Y.tolist())
    assert list(about.positives.values()) == Y.sum(axis=0).tolist()
    np.testing.assert_array_equal(about.together(range(Y.shape[1])), Y.T.astype(int) @ Y)
    missing = sum(
        value != value or (a.is_nominal and value < 0)
        for i, a in enumerate(data.attributes)
        for value in data.X.column(i).tolist()
    )
    assert about.missing * max(1, len(data) * len(data.attributes)) == missing or np.isclose(
        about.missing * len(data) * len(data.attributes), missing
    )


def test_labels_that_no_row_has_are_named() -> None:
    about = describe(read(([[1.0], [2.0]], [[1, 0], [1, 0]])))
    assert about.never_positive == ["y1"]
    assert about.density == 0.5


def test_many_labels_of_every_row_take_no_memory_for_their_pairs() -> None:
    Y = np.ones((2, 30_000), dtype=np.int8)
    about = describe(Dataset(Table([], [], 2), Y, tuple(f"l{i}" for i in range(Y.shape[1]))))
    assert about.cardinality == 30_000
    assert about.together([0, 29_999]).tolist() == [[2, 2], [2, 2]]
