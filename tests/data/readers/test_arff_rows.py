"""Rows read a block at a time are what the complete reader makes of each of them, complaints included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurule.data.place import Place
from plurule.data.readers.arff import Rows
from plurule.data.readers.arff_header import Header, parse_header
from plurule.data.table import SparseColumn
from plurule.errors import DataError

PLACE = Place("t")
ATTRIBUTES = {
    "numbers": ["n numeric", "m numeric", "o numeric"],
    "digits": ["n numeric", "b {0,1}", "c {2,0,1}"],
    "numerals": ["n numeric", "b {0,1}", "c {2,-1,10,0}"],
    "words": ["w {x,'y z',1,'\\'q\\''}", "b {0,1}", "v {no,yes}"],
    "one": ["n numeric"],
    "one word": ["w {x,'y z',1}"],
    "few words": [*(f"n{i} numeric" for i in range(20)), "w {x,'y z',1}"],
    "texts": ["n numeric", "s string", "b {0,1}"],
}
HEADERS = {
    name: parse_header("".join(f"@attribute {a}\n" for a in attributes) + "@data\n", PLACE)
    for name, attributes in ATTRIBUTES.items()
}

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.integers(-20, 20).map(str),
)
WORDS = ("0", "1", "2", "-1", "10", "?", "x", "no", "'y z'", "y z", "'\\'q\\''", "'x'", "", "01", "1.0", "-0", "+1")
TRAPS = (".", "-", "1.", ".5", "-.5", ".-5", "-.", "1-2", "1.2.3", "1..2", "--1", "1e5", "1e999", "nan", "inf", "1_0")
ODD = ("{", "}", "'", "%", " 1", "٣", "é", "1 ", "\t", "'a,b'", "??", "?1", "1} 2", "%c", "9" * 400)
tokens = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(TRAPS),
    st.sampled_from(ODD),
    numbers,
    st.text(st.sampled_from("0123456789.-+?,{}' e%x\t"), max_size=6),
)


class CountingRows(Rows):
    """Counts the rows that are read token by token."""

    asked = 0

    def _read_row(self, line: str, number: int) -> None:
        self.asked += 1
        super()._read_row(line, number)


class CarefulRows(Rows):
    """Reads every row token by token."""

    def _read_regular(self, *_: Any) -> Any:
        return np.empty(0, dtype=np.int64)


def read(kind: type[Rows], header: Header, kept: Sequence[int], blocks: list[bytes], sparse: bool) -> tuple[Any, Rows]:
    """Columns (texts by content), weights and lines of the rows of some blocks, or the complaint about them."""
    rows = kind(header, kept, PLACE, sparse)
    try:
        line = 1
        for block in blocks:
            rows.add(block, line)
            line += block.count(b"\n")
    except DataError as error:
        return str(error), rows
    columns = []
    for i, column in zip(kept, rows.columns(), strict=True):
        values = column.to_dense() if isinstance(column, SparseColumn) else column
        texts = list(rows.texts.get(i, ()))
        columns.append([texts[int(v)] if texts and v >= 0 else repr(float(v) + 0.0) for v in values])
    weights = rows.weights()
    return (columns, None if weights is None else weights.tolist(), rows.lines.tolist()), rows


def at_once(header: Header, kept: Sequence[int], blocks: list[bytes], sparse: bool) -> tuple[Any, int]:
    """What the rows of some blocks are, and how many of them were read token by token."""
    found, rows = read(CountingRows, header, kept, blocks, sparse)
    assert isinstance(rows, CountingRows)
    return found, rows.asked


def one_by_one(header: Header, kept: Sequence[int], block: bytes, sparse: bool) -> Any:
    return read(CarefulRows, header, kept, [block], sparse)[0]


def assert_alike(header: Header, block: bytes, sparse: bool, kept: Sequence[int] | None = None) -> None:
    kept = range(len(header.names)) if kept is None else kept
    expected = one_by_one(header, kept, block, sparse)
    assert at_once(header, kept, [block], sparse)[0] == expected
    half = block.find(b"\n", len(block) // 2) + 1
    assert at_once(header, kept, [part for part in (block[:half], block[half:]) if part], sparse)[0] == expected


def likely(header: Header, column: int) -> st.SearchStrategy[str]:
    """Tokens that a column may hold, most of them as the header spells them."""
    domain = header.domains[header.which[column]]
    if domain.kind == "numeric":
        return st.one_of(numbers, st.just("?"))
    return st.sampled_from(list(domain.spellings)) if domain.spellings else st.sampled_from(["word", "two words"])


def dense_blocks(header: Header) -> st.SearchStrategy[bytes]:
    well_formed = st.tuples(*(likely(header, c) for c in range(len(header.names)))).map(",".join)
    broken = st.lists(tokens, min_size=max(1, len(header.names) - 1), max_size=len(header.names) + 1).map(",".join)
    odd = st.sampled_from(["", "  ", "% a comment", " 1 "])
    few = st.lists(st.one_of(well_formed, well_formed, well_formed, broken, odd), min_size=1, max_size=5)
    return few.map(lambda rows: "".join(row + "\n" for row in rows).encode())


@pytest.mark.parametrize("name", HEADERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_dense_rows_are_read_alike(name: str, data: st.DataObject) -> None:
    header = HEADERS[name]
    block = data.draw(dense_blocks(header))
    sparse = any(line.lstrip().startswith(b"{") for line in block.split(b"\n"))
    assert_alike(header, block, sparse)
    if name == "texts":
        assert_alike(header, block, sparse, kept=[0, 2])


INDICES = ("0", "1", "2", "3", "20", "-1", "1.", "", "01", "?", "+1", "-0", "99999999999")


def sparse_blocks(header: Header) -> st.SearchStrategy[bytes]:
    width = len(header.names)
    entry = st.one_of(*(likely(header, c).map(lambda v, c=c: f"{c} {v}") for c in range(width)))
    ones = st.integers(0, width - 1).map(lambda c: f"{c} 1")
    broken = st.tuples(st.sampled_from(INDICES), st.sampled_from([" ", " ", "  ", ""]), tokens).map("".join)

    def in_order(entries: list[str]) -> list[str]:
        return [e for _, e in sorted({int(e.split(" ")[0]): e for e in entries}.items())]

    row = st.one_of(
        st.lists(ones, max_size=4).map(in_order),
        st.lists(entry, max_size=4).map(in_order),
        st.lists(st.one_of(entry, entry, broken), max_size=4),
    ).map(lambda entries: "{" + ",".join(entries) + "}")
    ends = st.sampled_from(["", "", "", "", " ", "3", "junk", " % said", "%c", ",{2}", " {0.5}"])
    rows = st.one_of(st.builds(str.__add__, row, ends), st.sampled_from(["", "%", "{}", " {}", "1,0,1", "1"]))
    return st.lists(rows, min_size=1, max_size=5).map(lambda rows: "".join(r + "\n" for r in rows).encode())


@pytest.mark.parametrize("name", HEADERS)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_sparse_rows_are_read_alike(name: str, data: st.DataObject) -> None:
    assert_alike(HEADERS[name], data.draw(sparse_blocks(HEADERS[name])), sparse=True)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", [name for name in HEADERS if name != "texts"])
def test_large_blocks_of_regular_rows_are_read_at_once(name: str, sparse: bool) -> None:
    """Only the few odd rows are read token by token, and all together are what comes of reading every row so."""
    header, chance = HEADERS[name], np.random.default_rng(0)
    width = len(header.names)
    lines = []
    for _ in range(6_000 // width):
        cells = []
        for column in range(width):
            domain = header.domains[header.which[column]]
            values = list(domain.spellings) or ["?", "1e-3", "17", f"{chance.normal():.6f}", f"{chance.normal():.17g}"]
            # A row with a space in it is not regular, however little it means.
            values = [value for value in values if " " not in value or not sparse]
            cells.append(str(chance.choice(values)))
        chosen = np.flatnonzero(chance.random(width) < 0.7)
        entries = "{" + ",".join(f"{c} {cells[c]}" for c in chosen) + "}"
        lines.append(entries if sparse else ",".join(cells))
    regular = "".join(f"{line}\n" for line in lines).encode()
    assert len(regular) > 8192
    found, asked = at_once(header, range(width), [regular], sparse)
    assert asked == 0
    assert found == one_by_one(header, range(width), regular, sparse)
    for at in (0, len(lines) // 2, len(lines) - 1):
        lines[at] = f" {lines[at]} % odd"
    lines.insert(7, "% a comment")
    odd = "".join(f"{line}\n" for line in lines).encode()
    found, asked = at_once(header, range(width), [odd], sparse)
    assert asked == 3
    assert found == one_by_one(header, range(width), odd, sparse)


def test_rows_of_ones_are_read_at_once() -> None:
    header = HEADERS["digits"]
    block = b"{0 1,2 1}\n{}\n{1 1}\n" * 2000
    found, asked = at_once(header, range(3), [block], sparse=True)
    assert asked == 0
    assert found == one_by_one(header, range(3), block, sparse=True)


def test_the_first_wrong_row_is_named_though_later_ones_are_read_at_once() -> None:
    block = b"1,0,2\n" * 3000 + b"1,7,2\n" + b"1,0,2\n" * 3000 + b"x,0,2\n"
    message, _ = at_once(HEADERS["digits"], range(3), [block], sparse=False)
    assert message.startswith("t, line 3001: the value '7' for attribute 'b'")
