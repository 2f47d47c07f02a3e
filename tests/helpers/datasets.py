"""Random data sets with awkward names, for round trips; and files that are refused."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from plurule import data as io
from plurule.data import Dataset
from plurule.data.dataset import Column, SparseColumn, Table
from plurule.errors import DataError
from plurule.model import Attribute

CSV = "id,area,sea,is_red,is_blue\n7,1.5,no,1,0\n8,,yes,0,1\n"
ARFF = "@relation '{}'\n@attribute l {{0,1}}\n@attribute a numeric\n@attribute m {{0,1}}\n@data\n1,2,0\n"
"""Its relation is to be named."""
AWKWARD = [
    *(
        "",
        " ",
        "?",
        "%",
        "'",
        '"',
        "\\",
        ",",
        "{",
        "}",
        "a b",
        "it's",
        'say "hi"',
        "a,b;c\td",
        "new\nline",
        "cr\rlf\r\n",
    ),
    *(
        "\\n",
        "ä€😀",
        "\u2028\x85",
        "\ufeffbom",
        "NA",
        "nan",
        "1",
        "01",
        "1e5",
        "-0",
        "0",
        "1_0",
        "٣",
        "@data",
        "x: -C 3",
    ),
    *("{0,1}", "\x00\x1b", "class", " lead", "trail "),
]

names = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.text(string.ascii_lowercase, min_size=1, max_size=4),
).filter(lambda name: "inf" not in name.lower())
XML_CAN_HOLD = st.characters(
    exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff", include_characters="\n\r\t"
)
label_names = st.one_of(st.sampled_from([n for n in AWKWARD if "\x00" not in n]), st.text(XML_CAN_HOLD, max_size=6))
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-5, 5).map(float),
    st.decimals(-100, 100, places=2).map(float),
    st.just(float("nan")),
)


@st.composite
def datasets(draw: st.DrawFn, *, sparse: bool | None = None, weighted: bool | None = None) -> Dataset:
    """A small data set; its columns all sparse, or none."""
    n_rows = draw(st.integers(0, 6))
    if sparse is None:
        sparse = draw(st.booleans())
    found = draw(st.lists(names, unique=True, max_size=5))
    labels = draw(st.lists(label_names, unique=True, min_size=1, max_size=4).map(tuple))
    attributes: list[Attribute] = []
    columns: list[Column] = []
    for name in found:
        if name in labels:
            continue
        if draw(st.booleans()):
            values = draw(st.lists(numbers, min_size=n_rows, max_size=n_rows))
            attributes.append(Attribute(name))
            dense: Any = np.array(values, dtype=np.float64)
        else:
            categories = draw(st.lists(names, unique=True, min_size=1, max_size=4))
            codes = st.integers(-1, len(categories) - 1)
            attributes.append(Attribute(name, tuple(categories)))
            dense = np.array(draw(st.lists(codes, min_size=n_rows, max_size=n_rows)), dtype=np.int32)
        if sparse:
            rows = np.flatnonzero(dense != 0).astype(np.int32)
            columns.append(SparseColumn(rows, dense[rows], n_rows))
        else:
            columns.append(dense)
    bits = st.lists(st.sampled_from([0, 1]), min_size=len(labels), max_size=len(labels))
    Y = np.array(draw(st.lists(bits, min_size=n_rows, max_size=n_rows)), dtype=np.int8).reshape(n_rows, len(labels))
    weights = None
    if draw(st.booleans()) if weighted is None else weighted:
        positive = st.floats(0, 1e6, allow_nan=False)
        weights = np.array(draw(st.lists(positive, min_size=n_rows, max_size=n_rows)), dtype=np.float64)
    return Dataset(Table(attributes, columns, n_rows), Y, labels, weights, "data", draw(names))


def assert_same(one: Dataset, other: Dataset) -> None:
    """Both hold the same, whether their columns are sparse or not."""
    assert other.attributes == one.attributes
    assert other.label_names == one.label_names
    np.testing.assert_array_equal(np.asarray(other.Y), np.asarray(one.Y))
    for i in range(len(one.attributes)):
        np.testing.assert_array_equal(other.X.column(i), one.X.column(i))
    if one.weights is None or len(one) == 0:
        assert other.weights is None or len(one) == 0
    else:
        assert other.weights is not None
        np.testing.assert_array_equal(other.weights, one.weights)


def columns(table: Table) -> list[list[object]]:
    """The columns, with categories by name and None where missing."""
    result: list[list[object]] = []
    for i, attribute in enumerate(table.attributes):
        values = table.column(i).tolist()
        if attribute.categories is None:
            result.append([None if v != v else v for v in values])
        else:
            result.append([None if v < 0 else attribute.categories[v] for v in values])
    return result


# Files that are refused ---------------------------------------------------------------------------------------------

HEADER = "@relation t\n@attribute a numeric\n@attribute b {x,y}\n@attribute l {0,1}\n@data\n"
"""A number, two categories and a label."""


def refused(path: Path, labels: object = ("l",), **options: object) -> str:
    """What is said about a file that cannot be read."""
    with pytest.raises(DataError) as caught:
        io.read(path, labels=list(labels) if isinstance(labels, tuple) else labels, **options)  # type: ignore[arg-type]
    return str(caught.value)


def refused_text(folder: Path, content: str | bytes, name: str = "t.arff", **options: object) -> str:
    """What is said about a file with some content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return refused(path, **options)


def write_csv(data: Dataset, path: Path) -> Path:
    """Write a data set as CSV, the labels as the last columns."""
    X, Y = data.to_pandas()
    pd.concat([X, Y], axis=1).to_csv(path, index=False)
    return path


def write_arff(data: Dataset, path: Path) -> Path:
    """Write a data set of plain names as an ARFF file of dense rows, with an XML file of its labels beside it."""
    X, Y = data.to_pandas()
    lines = [f"@relation {data.name or 'data'}"]
    for attribute in data.attributes:
        categories = attribute.categories
        declared = "numeric" if categories is None else "{" + ",".join(f"'{name}'" for name in categories) + "}"
        lines.append(f"@attribute '{attribute.name}' {declared}")
    lines += [f"@attribute '{name}' {{0,1}}" for name in data.label_names]
    rows = pd.concat([X.astype(object), Y.astype(object)], axis=1).values.tolist()
    lines.append("@data")
    for row in rows:
        lines.append(",".join("?" if v != v else f"'{v}'" if isinstance(v, str) else str(v) for v in row))
    path.write_text("\n".join(lines) + "\n")
    labels = "".join(f'<label name="{name}"></label>' for name in data.label_names)
    base = path.name.removesuffix(".arff").removesuffix("-train").removesuffix("-test")
    path.with_name(f"{base}.xml").write_text(f"<labels>{labels}</labels>")
    return path
