"""Parts of data: what they have in common, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from helpers.parts import named
from plurule._rows.parts import Columns, Contents, Part, PartSchema, each_part, labelled_part
from plurule.data import Dataset
from plurule.data.dataset import SparseColumns
from plurule.data.inputs import labelled_data
from plurule.data.reading import Reader
from plurule.errors import DataError

X, Y = np.arange(12.0).reshape(6, 2), np.eye(6, 3, dtype=int)


def data_of(frame: Any, Y: Any) -> Dataset:
    return labelled_data(frame, Y, allow_empty=True)[0]


def united(*parts: Dataset) -> Columns:
    return Columns.united(list(each_part(named(parts), PartSchema.of)))


# Parts ---------------------------------------------------------------------------------------------------------------


def test_labelled_part_reads_a_frame_of_which_some_columns_are_labels() -> None:
    frame = pd.DataFrame(X, columns=["u", "v"]).assign(one=Y[:, 0], two=Y[:, 1])
    part = labelled_part(frame, Reader(["one", "two"]))
    assert (part.label_names, [a.name for a in part.attributes]) == (("one", "two"), ["u", "v"])


def test_labelled_part_leaves_a_data_set_as_it_is() -> None:
    data = data_of(X, Y)
    assert labelled_part(data) is data


@pytest.mark.parametrize("part", [(X, Y), [X, Y], [X, Y, np.arange(6.0)]], ids=["tuple", "list", "weights"])
def test_labelled_part_takes_attributes_and_labels(part: Any) -> None:
    made = labelled_part(part)
    assert np.array_equal(np.asarray(made.Y), Y)
    assert (made.weights is None) == (len(part) == 2)


def test_labelled_part_without_rows_has_no_classes_yet() -> None:
    part = labelled_part((X[:0], np.array([], dtype=object)))
    assert len(part) == 0
    assert part.label_names == ()


@pytest.mark.parametrize("said", ["no rows", "part 0: no rows"])
def test_call_names_a_part_with_an_error_once(said: str) -> None:
    def complain(rows: Any) -> None:
        raise DataError(said)

    with pytest.raises(DataError) as error:
        Part("part 0", lambda: data_of(X, Y)).call(complain, ())
    assert str(error.value) == "part 0: no rows"


def test_call_refuses_other_rows_than_before() -> None:
    contents = Contents.of(data_of(X, Y))
    with pytest.raises(DataError, match="part 0: has other rows than before; do not change the source"):
        Part("part 0", lambda: data_of(X + 1, Y)).call(len, (), contents)
    assert Part("part 0", lambda: data_of(X, Y)).call(len, (), contents) == 6


@pytest.mark.parametrize("change", ["value", "label", "order", "fewer"])
def test_contents_of_other_rows_differ(change: str) -> None:
    other = {
        "value": (np.where(X == 3, 99, X), Y),
        "label": (X, 1 - Y),
        "order": (X[::-1].copy(), Y[::-1].copy()),
        "fewer": (X[:-1], Y[:-1]),
    }[change]
    assert Contents.of(data_of(*other)) != Contents.of(data_of(X, Y))


def test_contents_of_a_sparse_matrix_are_about_its_values() -> None:
    dense = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    one, same, other = (data_of(sp.csr_array(matrix), Y[:3]) for matrix in (dense, dense.copy(), dense[::-1].copy()))
    assert Contents.of(one) == Contents.of(same)
    assert Contents.of(one) != Contents.of(other)


@pytest.mark.parametrize("width", [0, 1, 3])
def test_each_part_gives_results_in_order_and_reads_no_more_at_once(width: int) -> None:
    under_way, most = 0, 0

    def parts() -> Iterator[Part]:
        nonlocal under_way, most
        for number in range(10):
            under_way += 1
            most = max(most, under_way)
            yield Part(f"part {number}", lambda: data_of(X, Y))

    def product(rows: Dataset, factor: int) -> int:
        nonlocal under_way
        under_way -= 1
        return len(rows) * factor

    with ThreadPoolExecutor(1) as executor:
        given = each_part(parts(), product, lambda number: (number,), None, executor if width else None, width)
        assert list(given) == [(f"part {number}", 6 * number) for number in range(10)]
    assert most <= max(1, width)


# Columns -------------------------------------------------------------------------------------------------------------


def test_united_has_the_categories_of_all_parts() -> None:
    parts = [data_of(pd.DataFrame({"a": texts}), Y[:2]) for texts in (["x", "z"], ["y", "x"])]
    assert united(*parts).attributes[0].categories == ("x", "y", "z")


def test_united_keeps_an_order_of_categories_that_is_no_alphabet() -> None:
    kind = pd.CategoricalDtype(["small", "large"], ordered=True)
    parts = [
        data_of(pd.DataFrame({"a": pd.Series(texts, dtype=kind)}), Y[:2]) for texts in (["large"] * 2, ["small"] * 2)
    ]
    assert united(*parts).attributes[0].categories == ("small", "large")


def test_united_takes_the_kind_of_a_column_from_a_part_that_has_values() -> None:
    parts = [data_of(pd.DataFrame({"a": values}), Y[:2]) for values in ([None, None], ["x", "y"])]
    assert united(*parts).attributes[0].categories == ("x", "y")


@pytest.mark.parametrize(
    ("dtypes", "is_narrow"),
    [(["f4", "f4"], True), (["f4", "f8"], False), (["f8", "f8"], False)],
)
def test_united_columns_are_narrow_if_all_parts_are(dtypes: list[str], is_narrow: bool) -> None:
    assert united(*(data_of(X.astype(dtype), Y) for dtype in dtypes)).is_narrow == (is_narrow, is_narrow)


def test_united_knows_where_parts_begin() -> None:
    columns = united(data_of(X, Y), data_of(X[:0], Y[:0]), data_of(X[:2], Y[:2]))
    assert columns.n_rows == 8
    assert columns.starts == [0, 6, 6, 8]


def test_united_of_nothing_is_an_error() -> None:
    with pytest.raises(DataError, match="the source has no parts"):
        united()


def test_rows_of_a_part_have_the_codes_of_all_parts() -> None:
    parts = [data_of(pd.DataFrame({"a": texts}), Y[:2]) for texts in (["x", "z"], ["y", "x"])]
    assert [united(*parts).rows(part)[0].column(0).tolist() for part in parts] == [[0, 2], [1, 0]]


def test_sparse_parts_are_sparse_together() -> None:
    columns = united(*(data_of(sp.csr_array(X[rows]), Y[rows]) for rows in (slice(0, 3), slice(3, 6))))
    assert columns.is_sparse
    table, _ = columns.rows(data_of(sp.csr_array(X[:3]), Y[:3]))
    assert isinstance(table.columns, SparseColumns)
