"""Plain rows of ARFF files are read as the careful reader reads each of them, errors included."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurule.data.arff import read_arff
from plurule.errors import DataError

ATTRIBUTES = {
    "numbers": ["n numeric", "m numeric", "o numeric"],
    "digits": ["n numeric", "b {0,1}", "c {2,0,1}"],
    "numerals": ["n numeric", "b {0,1}", "c {2,-1,10,0}"],
    "words": ["w {x,'y z',1,'\\'q\\''}", "b {0,1}", "v {no,yes}"],
    "one": ["n numeric"],
    "one word": ["w {x,'y z',1}"],
    "texts": ["n numeric", "s string", "b {0,1}"],
}
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.integers(-20, 20).map(str),
)
WORDS = ("0", "1", "2", "-1", "10", "?", "x", "no", "'y z'", "y z", "'\\'q\\''", "'x'", "", "01", "1.0", "-0", "+1")
TRAPS = (".", "-", "1.", ".5", "-.5", ".-5", "-.", "1-2", "1.2.3", "1..2", "--1", "1e5", "1e999", "nan", "inf", "1_0")
ODD = ("{", "}", "'", " 1", "٣", "é", "1 ", "\t", "'a,b'", "??", "?1", "1} 2", "9" * 400)
tokens = st.one_of(st.sampled_from(WORDS), st.sampled_from(TRAPS), st.sampled_from(ODD), numbers)


def read(name: str, rows: list[str], comment: str = "") -> Any:
    """Columns and weights of some rows, or the error; a comment behind each row asks for the careful reader."""
    header = "".join(f"@attribute {attribute}\n" for attribute in ATTRIBUTES[name])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.arff"
        path.write_text(header + "@data\n" + "".join(f"{row}{comment}\n" for row in rows), encoding="utf-8")
        try:
            data, _ = read_arff(path, nominal=["s"] if name == "texts" else ())
        except DataError as error:
            return str(error)
    columns = [list(map(repr, data.X.column(i).tolist())) for i in range(data.X.shape[1])]
    return columns, list(data.attributes), None if data.weights is None else data.weights.tolist()


def assert_alike(plain: Any, careful: Any) -> None:
    """The same columns, or two errors, which may show the comment."""
    if isinstance(plain, str) or isinstance(careful, str):
        assert isinstance(plain, str)
        assert isinstance(careful, str)
    else:
        assert plain == careful


def likely(declared: str) -> st.SearchStrategy[str]:
    if "{" not in declared:
        return st.one_of(numbers, st.just("?")) if "numeric" in declared else st.sampled_from(["word", "two words"])
    return st.sampled_from([*declared.partition("{")[2].removesuffix("}").split(","), "?"])


@pytest.mark.parametrize("name", ATTRIBUTES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_dense_rows_are_read_alike(name: str, data: st.DataObject) -> None:
    width = len(ATTRIBUTES[name])
    well_formed = st.tuples(*map(likely, ATTRIBUTES[name])).map(",".join)
    broken = st.lists(tokens, min_size=max(1, width - 1), max_size=width + 1).map(",".join)
    # A row that is empty or ends with a quote that was never opened is no row before a comment.
    rows = data.draw(st.lists(st.one_of(well_formed, well_formed, well_formed, broken), min_size=1, max_size=5))
    rows = [row for row in rows if row.strip()]
    plain = read(name, rows)
    careful = read(name, rows, comment=" % careful")
    assert_alike(plain, careful)


INDICES = ("0", "1", "2", "3", "20", "-1", "1.", "", "01", "?", "99999999999")


@pytest.mark.parametrize("name", ATTRIBUTES)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_sparse_rows_are_read_alike(name: str, data: st.DataObject) -> None:
    declared = ATTRIBUTES[name]
    entry = st.one_of(*(likely(d).map(lambda v, c=c: f"{c} {v}") for c, d in enumerate(declared)))
    broken = st.tuples(st.sampled_from(INDICES), st.sampled_from([" ", " ", "  ", ""]), tokens).map("".join)
    row = st.lists(st.one_of(entry, entry, entry, broken), max_size=4).map(lambda e: "{" + ",".join(e) + "}")
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    assert_alike(read(name, rows), read(name, rows, comment=" % careful"))


def test_the_first_wrong_row_is_named() -> None:
    message = read("digits", ["1,0,2"] * 3000 + ["1,7,2"] + ["1,0,2"] * 3000 + ["x,0,2"])
    assert message.startswith("t.arff, line 3005: the value '7' for attribute 'b'")
