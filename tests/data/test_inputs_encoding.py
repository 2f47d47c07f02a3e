"""What becomes of frames, arrays and sparse matrices."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from helpers.datasets import columns
from plurule.data.dataset import SparseColumn
from plurule.data.inputs import encode
from plurule.data.targets import label_matrix
from plurule.errors import DataError
from plurule.model import Attribute

# Frames ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_keeps_names_numbers_and_categories(library):
    frame = library.DataFrame({"area": [1.5, 2.0], "count": [3, 4], "zone": ["NE", "SW"], "sea": [True, False]})
    table = encode(frame)
    assert table.names == ("area", "count", "zone", "sea")
    assert [a.categories for a in table.attributes] == [None, None, ("NE", "SW"), ("False", "True")]
    assert columns(table) == [[1.5, 2.0], [3, 4], ["NE", "SW"], ["True", "False"]]


@pytest.mark.parametrize("library", [pd, pl])
def test_gaps_of_a_frame_are_missing_values(library):
    frame = library.DataFrame({"area": [1.5, None], "zone": [None, "SW"]})
    assert columns(encode(frame)) == [[1.5, None], [None, "SW"]]


def test_nullable_pandas_columns_are_read_like_plain_ones():
    frame = pd.DataFrame(
        {
            "count": pd.array([1, None], dtype="Int64"),
            "share": pd.array([0.5, None], dtype="Float64"),
            "zone": pd.array(["NE", None], dtype="string"),
            "sea": pd.array([True, None], dtype="boolean"),
        }
    )
    assert columns(encode(frame)) == [[1, None], [0.5, None], ["NE", None], ["True", None]]


@pytest.mark.parametrize("kind", ["Int8", "UInt64", "Int128", "Float32", "Decimal"])
def test_numbers_of_every_size_may_have_gaps(kind):
    frame = pl.DataFrame({"count": pl.Series([3, None, 1], dtype=getattr(pl, kind))})
    for data in (frame, frame[:1]) if kind == "Int128" else (frame, frame[:1], frame.to_arrow()):
        assert columns(encode(data))[0] == [3, None, 1][: len(data)]


def test_whole_numbers_that_no_double_holds_become_the_nearest_that_one_does():
    counts = pl.DataFrame({"count": [2**53 + 1, None]})
    for frame in (counts, counts.to_arrow(), counts.to_pandas().astype("Int64")):
        assert encode(frame).column(0)[0] == 2**53


def test_categories_keep_their_order_and_unused_ones():
    zone = pd.Categorical(["SW", "NE", None], categories=["SW", "NE", "NW"], ordered=True)
    table = encode(pd.DataFrame({"zone": zone}))
    assert table.attributes[0].categories == ("SW", "NE", "NW")
    assert columns(table) == [["SW", "NE", None]]
    table = encode(pl.DataFrame({"zone": pl.Series(["SW", "NE"], dtype=pl.Enum(["SW", "NE", "NW"]))}))
    assert table.attributes[0].categories == ("SW", "NE", "NW")


@pytest.mark.parametrize(
    "values",
    [pd.Categorical([2.0, 0.5, 2.0]), pd.Series([2.0, "0.5", "2"], dtype=object)],
)
def test_categories_that_are_numbers_are_found_again_among_the_categories(values):
    table = encode(pd.DataFrame({"a": values}))
    assert columns(table) == [["2", "0.5", "2"]]


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_is_matched_by_name_to_what_a_model_was_trained_on(library):
    attributes = (Attribute("zone", ("NE", "SW")), Attribute("area"))
    frame = library.DataFrame({"extra": [0, 0, 0], "area": [1, 2, 3], "zone": ["SW", "moon", None]})
    assert columns(encode(frame, attributes)) == [["SW", None, None], [1, 2, 3]]


def test_a_column_that_a_model_needs_and_a_frame_lacks_is_named():
    with pytest.raises(DataError, match=r"lack 1 .* 'colours'; did you mean 'colour'"):
        encode(pd.DataFrame({"area": [1], "colour": [2]}), (Attribute("area"), Attribute("colours")))


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(DataError, match="'a'"):
        encode(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(DataError, match="'1'"):
        encode(pd.DataFrame([[1, 2]], columns=[1, "1"]))


def test_text_where_a_model_expects_numbers_is_shown():
    with pytest.raises(DataError, match=r"'area'.*'big'"):
        encode(pd.DataFrame({"area": [1, "big"]}, dtype=object), (Attribute("area"),))


@pytest.mark.parametrize("values", [pd.to_timedelta(["1 h"]), [{1}]])
def test_a_column_of_an_unusable_type_is_named(values):
    with pytest.raises(DataError, match="column 'a'"):
        encode(pd.DataFrame({"a": values}))


# Arrays and sparse matrices --------------------------------------------------------------------------------


def test_columns_of_an_array_are_numbered():
    table = encode(np.array([[1, 2], [3, 4]]))
    assert table.names == ("x0", "x1")
    assert columns(table) == [[1, 3], [2, 4]]


def test_nan_in_an_array_is_missing():
    assert columns(encode([[np.nan, 1.0]])) == [[None], [1]]


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_infinity_is_refused_with_its_column(convert):
    with pytest.raises(DataError, match=r"column 'x1', row 1: .*infinity"):
        encode(convert(np.array([[0.0, 1.0], [0.0, -np.inf]])))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinity_in_the_last_of_many_rows_is_refused(dtype):
    array = np.zeros((9000, 3), dtype)
    assert encode(array).n_rows == 9000
    array[-1, 2] = np.inf
    with pytest.raises(DataError, match=r"column 'x2', row 8999: .*infinity"):
        encode(array)


def test_an_array_of_another_width_than_the_model_is_refused():
    with pytest.raises(DataError, match=r"X has 2 features, but .* expecting 1"):
        encode(np.zeros((3, 2)), (Attribute("a"),))


@pytest.mark.parametrize("shape", [(3,), (2, 2, 2)])
def test_an_array_that_is_no_matrix_is_refused(shape):
    with pytest.raises(DataError, match="two-dimensional"):
        encode(np.zeros(shape))


small_matrices = st.lists(
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, -2.5, np.nan]), min_size=3, max_size=3), min_size=1, max_size=6
).map(np.array)


@given(small_matrices, st.sampled_from([sp.csr_array, sp.csc_array, sp.coo_array]))
def test_a_sparse_matrix_is_the_same_table_as_its_dense_form(matrix, kind):
    assert columns(encode(kind(matrix))) == columns(encode(matrix))


@given(small_matrices, st.data())
def test_rows_of_sparse_columns_are_taken_like_those_of_dense_ones(matrix, data):
    rows = data.draw(st.lists(st.integers(0, len(matrix) - 1), max_size=8))
    assert columns(encode(sp.csc_array(matrix))[rows]) == columns(encode(matrix)[rows])
    for i in range(3):
        stored = np.flatnonzero(matrix[:, i] != 0).astype(np.int32)
        column = SparseColumn(stored, matrix[stored, i], len(matrix))
        taken = column.take(np.array(rows, dtype=np.intp))
        np.testing.assert_array_equal(taken.to_dense(), matrix[rows, i])
        assert (np.diff(taken.rows) > 0).all()


def test_stored_zeros_and_duplicates_of_a_sparse_matrix_are_summed_up():
    matrix = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [0, 0, 0])), shape=(2, 1))
    table = encode(matrix)
    assert columns(table) == [[3, 0]]
    column = table.columns[0]
    assert isinstance(column, SparseColumn)
    assert column.rows.tolist() == [0]


def test_durations_are_refused_alike_wherever_they_come_from():
    times = np.array([[1], ["NaT"]], dtype="timedelta64[s]")
    inside = np.array([[times[0, 0]], [None]], dtype=object)
    for source in (times, inside, pd.DataFrame({"x0": pd.Series(times[:, 0])})):
        with pytest.raises(DataError, match=r"column 'x0' (is of type|holds) .* make it numeric, of times for example"):
            encode(source)


# Dates -----------------------------------------------------------------------------------------------------

MOMENTS = ["2024-09-19", "1969-12-31T23:59:59", None]
SECONDS = [1726704000.0, -1.0, None]
DAY = datetime.datetime(2024, 9, 19)
SECOND_BEFORE = datetime.datetime(1969, 12, 31, 23, 59, 59)


@pytest.mark.parametrize(
    "column",
    [
        pd.to_datetime(pd.Series(MOMENTS), format="ISO8601"),
        pd.to_datetime(pd.Series(MOMENTS), format="ISO8601").dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pd.Series([DAY.date(), SECOND_BEFORE.replace(microsecond=999999), None], dtype=object),
        pl.Series([DAY, SECOND_BEFORE, None]),
    ],
)
def test_dates_are_seconds_since_1970_wherever_they_come_from(column):
    frame = column.rename("x0").to_frame()
    table = encode(frame)
    assert table.attributes == (Attribute("x0", is_date=True),)
    assert columns(table) == [SECONDS]


TEXTS = ["2024-09-19", None, "1969-12-31 23:59:59"]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x0": pd.Series(TEXTS, dtype=object)}),
        pd.DataFrame({"x0": pd.Series(TEXTS, dtype="string")}),
        pl.DataFrame({"x0": TEXTS}),
        np.array(TEXTS, dtype=object).reshape(-1, 1),
    ],
)
def test_texts_that_are_all_dates_in_iso_format_are_dates_as_in_csv_files(frame):
    table = encode(frame)
    assert table.attributes == (Attribute("x0", is_date=True),)
    np.testing.assert_array_equal(table.column(0), [1726704000, np.nan, -1])


@pytest.mark.parametrize("other", ["soon", "20240919", "2024-W38", "2024-13-01", ""])
def test_texts_that_are_not_all_dates_are_categories(other):
    assert encode(pd.DataFrame({"x0": ["2024-09-19", other]})).attributes[0].is_nominal
    assert encode(pd.DataFrame({"x0": pd.Categorical(["2024-09-19"])})).attributes[0].is_nominal


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_arrays_of_dates_are_dates(unit):
    array = np.array([["2024-09-19"], ["NaT"]], dtype=f"datetime64[{unit}]")
    assert encode(array).attributes == (Attribute("x0", is_date=True),)
    assert encode(array).column(0).tolist()[0] == SECONDS[0]
    assert np.isnan(encode(array).column(0)[1])


def test_dates_of_a_model_are_read_from_texts_and_nothing_else():
    model = (Attribute("x0", is_date=True),)
    texts = pd.DataFrame({"x0": ["2024-09-19", "2024-09-19 00:00:01+00:00", None]})
    assert encode(texts, model).column(0).tolist()[:2] == [SECONDS[0], SECONDS[0] + 1]
    assert encode(encode(texts), model).column(0).tolist()[:2] == [SECONDS[0], SECONDS[0] + 1]
    for values in (["19.9.2024"], [5.0]):
        with pytest.raises(DataError, match="column 'x0' must hold dates such as 2024-09-19, found"):
            encode(pd.DataFrame({"x0": values}), model)
    with pytest.raises(DataError, match="column 'x0' must hold numbers, found '2024-09-19'"):
        encode(encode(pd.DataFrame({"x0": pd.to_datetime(["2024-09-19"])})), (Attribute("x0"),))
    categories = (Attribute("x0", ("2024-09-19",)),)
    assert encode(encode(pd.DataFrame({"x0": pd.to_datetime(["2024-09-19"])})), categories).column(0).tolist() == [0]


# The same data in another form -----------------------------------------------------------------------------

TRUTH_VALUES = [
    [1, 0, None],
    [1.0, 0.0, None],
    [True, False, None],
    [np.bool_(True), np.bool_(False), None],
    ["true", "false", None],
    ["TRUE", "False", None],
    ["1", "0", None],
    ["yes", "no", None],
    [b"1", b"0", None],
]


@pytest.mark.parametrize("categories", [("False", "True"), ("0", "1"), ("no", "yes")])
@pytest.mark.parametrize("values", TRUTH_VALUES, ids=str)
def test_truth_values_of_any_form_are_those_that_the_model_knows(values, categories):
    attribute = Attribute("b", categories)
    assert encode(pd.DataFrame({"b": pd.Series(values, dtype=object)}), (attribute,)).column(0).tolist() == [1, 0, -1]
    table = encode(pd.DataFrame({"b": pd.Series(values, dtype=object)}))
    assert encode(table, (attribute,)).column(0).tolist() == [1, 0, -1]


@pytest.mark.parametrize("values", TRUTH_VALUES[:-1], ids=str)
def test_truth_values_of_any_form_are_0_and_1_to_a_numeric_attribute_of_these(values):
    attribute = Attribute("b", only_0_and_1=True)
    frame = pd.DataFrame({"b": pd.Series(values, dtype=object)})
    for source in (frame, encode(frame)):
        if not isinstance(values[0], str) or values[0] != "yes":
            np.testing.assert_array_equal(encode(source, (attribute,)).column(0), [1, 0, np.nan])


def test_the_number_of_a_code_is_refused():
    model = (Attribute("zip", ("01234", "12345")),)
    for values in ([1234, 12345], [1234.0, 12345.0]):
        with pytest.raises(DataError, match=r"'zip' holds the number 1234.*, but the model knows the text '01234'"):
            encode(pd.DataFrame({"zip": values}), model)
    assert encode(pd.DataFrame({"zip": [12345]}), model).column(0).tolist() == [1]
    assert encode(pd.DataFrame({"zip": [b"01234"]}), model).column(0).tolist() == [0]


@pytest.mark.parametrize("kind", ["U5", "S5"])
def test_arrays_of_texts_with_leading_zeros_hold_codes(kind):
    table = encode(np.array([["01234", "1"], ["12345", "2"]], dtype=kind))
    assert table.attributes == (Attribute("x0", ("01234", "12345")), Attribute("x1"))


def test_masked_values_are_missing():
    numbers = np.ma.masked_array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    np.testing.assert_array_equal(encode(numbers).column(0), [np.nan, 3])
    texts = np.ma.masked_array(np.array([["a"], ["b"]], dtype=object), mask=[[True], [False]])
    assert encode(texts).column(0).tolist() == [-1, 0]
    with pytest.raises(DataError, match="Y has masked values"):
        label_matrix(np.ma.masked_array([[1], [0]], mask=[[True], [False]]))


def test_lazy_frames_and_columns_without_a_value_are_read():
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [None, None]})
    assert np.isnan(encode(frame.lazy()).column(1)).all()
    assert label_matrix(pl.DataFrame({"red": [1, 0]}).lazy())[1] == ("red",)


def test_two_categories_that_are_written_alike_are_refused():
    with pytest.raises(DataError, match="column 'a' has two categories that are written '1'"):
        encode(pd.DataFrame({"a": pd.Categorical([1, "1", 2])}))


@pytest.mark.parametrize("make", ["table", "pandas", "polars"])
def test_what_a_model_does_not_know_is_counted_and_said_once(make: str) -> None:
    attributes = Attribute("kind", ("a", "b")), Attribute("other", ("a",)), Attribute("size"), Attribute("idle")
    frame = pytest.importorskip("pandas" if make == "table" else make).DataFrame
    given: Any = frame({"other": ["q", "q", "q"], "kind": ["a", "z", None], "size": [1.0, 2.0, 3.0]})
    given = encode(given) if make == "table" else given
    with pytest.warns(UserWarning, match="the data lack") as said:
        table = encode(given, attributes, tested=[0, 2])
    (text,) = (str(warning.message) for warning in said)
    assert text.startswith("the data lack 1 of the model's columns, which no rule tests; taken as missing, since")
    assert text.endswith("1 of 'kind'")
    assert table.absent_columns == ("idle",)
    assert table.column(0).tolist() == [0, -1, -1]
    assert np.isnan(table.column(3)).all()
    with pytest.raises(DataError, match="idle"):
        encode(given, attributes)
    with pytest.raises(DataError, match="idle"):
        encode(given, attributes, tested=[3])


def test_sparse_columns_of_pandas_are_read_as_the_dense_ones() -> None:
    dense = pd.DataFrame({"a": [0.0, 1.5, 0.0], "b": [0, 0, 2], "c": [True, False, False], "d": [np.nan, 1.0, np.nan]})
    fills = {"a": 0.0, "b": 0, "c": False, "d": np.nan}
    sparse = dense.astype({name: pd.SparseDtype(dense[name].dtype, fill) for name, fill in fills.items()})
    found, expected = encode(sparse), encode(dense)
    assert found.attributes == expected.attributes
    for i in range(4):
        np.testing.assert_array_equal(found.column(i), expected.column(i))
    np.testing.assert_array_equal(encode(sparse, expected.attributes).column(1), [0, 0, 2])
