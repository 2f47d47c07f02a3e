"""What the fast readers of ARFF rows accept, they read exactly as the reader of single cells does."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plurule.data.place import Place
from plurule.data.readers.arff_cells import Cells
from plurule.data.readers.arff_dense import DenseReader, MixedRowsError
from plurule.data.readers.arff_header import parse_header
from plurule.data.readers.arff_sparse import SparseReader
from plurule.data.readers.numerals import is_canonical, parse_decimals
from plurule.data.table import SparseColumn
from plurule.errors import DataError

HEADER = parse_header(
    b"@relation t\n@attribute n numeric\n@attribute b {0,1}\n@attribute c {2,-1,10,0}\n"
    b"@attribute w {x,'y z',1,'\\'q\\''}\n@attribute m numeric\n@attribute s string\n@data\n",
    Place("t"),
)
NUMERALS = parse_header(
    b"@relation t\n@attribute n numeric\n@attribute b {0,1}\n@attribute c {2,-1,10,0}\n@data\n", Place("t")
)

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.integers(-20, 20).map(str),
)
WORDS = ("0", "1", "2", "-1", "10", "?", "x", "'y z'", "y z", "'\\'q\\''", "'x'", "", "01", "1.0", "-0", "+1")
TRAPS = (".", "-", "1.", ".5", "-.5", ".-5", "1-2", "1.2.3", "1e5", "nan", "inf", "1_0", "{", "}", "'", "%", " 1", "٣")
tokens = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(TRAPS),
    numbers,
    st.text(st.sampled_from("0123456789.-?,{}' e%x\t"), max_size=6),
)
likely = st.one_of(numbers, st.sampled_from(["0", "1", "?", "10"]))


def outcome(reader: Any, add: str, block: bytes) -> Any:
    """The columns that a reader makes of a block, None if it refuses the block."""
    n_rows = block.count(b"\n")
    try:
        if add == "add":
            if not reader.add(block, n_rows):
                return None
        else:
            reader.add_slowly(block, range(1, n_rows + 1))
    except (DataError, MixedRowsError):
        return None
    columns = []
    for i, column in enumerate(reader.columns()):
        values = column.to_dense() if isinstance(column, SparseColumn) else column
        texts = list(reader._cells.texts.get(i, ()))
        columns.append([texts[int(v)] if texts and v >= 0 else repr(float(v) + 0.0) for v in values])
    return columns


def assert_fast_agrees_with_slow(reader_type: Any, header: Any, block: bytes) -> None:
    readers = [reader_type(header, Cells(header), list(range(len(header.names))), Place("t")) for _ in range(2)]
    fast = outcome(readers[0], "add", block)
    if fast is not None:
        assert fast == outcome(readers[1], "add_slowly", block)


rows = st.lists(st.lists(tokens, min_size=5, max_size=7), min_size=1, max_size=4)
likely_rows = st.lists(st.lists(likely, min_size=3, max_size=3), min_size=1, max_size=6)


@settings(max_examples=400, deadline=None)
@given(st.one_of(rows, likely_rows))
def test_dense_rows_are_read_alike(cells: list[list[str]]) -> None:
    block = "".join(",".join(row) + "\n" for row in cells).encode()
    assert_fast_agrees_with_slow(DenseReader, HEADER, block)
    assert_fast_agrees_with_slow(DenseReader, NUMERALS, block)


INDICES = ("0", "1", "2", "3", "4", "5", "6", "-1", "1.", "", "01", "?")
entries = st.lists(st.tuples(st.sampled_from(INDICES), tokens), max_size=5)
likely_entries = st.dictionaries(st.integers(0, 2), likely).map(lambda d: [(str(k), v) for k, v in sorted(d.items())])
ones = st.sets(st.integers(0, 4)).map(lambda columns: [(str(c), "1") for c in sorted(columns)])


@settings(max_examples=600, deadline=None)
@given(
    st.lists(st.one_of(entries, likely_entries, ones), min_size=1, max_size=4),
    st.sampled_from([" ", " ", " ", "  ", ""]),
)
def test_sparse_rows_are_read_alike(rows: list[list[tuple[str, str]]], space: str) -> None:
    block = "".join("{" + ",".join(f"{c}{space}{v}" for c, v in row) + "}\n" for row in rows).encode()
    assert_fast_agrees_with_slow(SparseReader, HEADER, block)
    assert_fast_agrees_with_slow(SparseReader, NUMERALS, block)


@settings(max_examples=300, deadline=None)
@given(st.lists(likely_entries, min_size=1, max_size=6))
def test_well_formed_sparse_numbers_are_read_fast(rows: list[list[tuple[str, str]]]) -> None:
    rows = [[(c, v) for c, v in row if c == "0" and "e" not in v and "E" not in v] for row in rows]
    block = "".join("{" + ",".join(f"{c} {v}" for c, v in row) + "}\n" for row in rows).encode()
    reader = SparseReader(NUMERALS, Cells(NUMERALS), [0, 1, 2], Place("t"))
    assert reader._numerals(block) is not None


@settings(max_examples=500, deadline=None)
@given(st.lists(numbers, min_size=1))
def test_decimals_are_the_doubles_that_float_gives(texts: list[str]) -> None:
    parsed = parse_decimals("".join(text + "," for text in texts).encode(), len(texts))
    if any("e" in text or "E" in text for text in texts):
        assert parsed is None
    else:
        assert parsed is not None
        assert parsed.values.tolist() == [float(text) for text in texts]


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("01.-"), min_size=1, max_size=5))
def test_only_the_shortest_text_of_a_whole_number_is_canonical(text: str) -> None:
    parsed = parse_decimals(text.encode() + b",", 1)
    if parsed is not None:
        # What is no number is refused, so that `float` can read the rest.
        shortest = float(text).is_integer() and str(int(float(text))) == text
        assert is_canonical(parsed.values, parsed.lengths).tolist() == [shortest]
        assert np.isfinite(parsed.values).all()
