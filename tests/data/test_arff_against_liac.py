"""The ARFF reader finds what liac-arff finds, in every real file."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import arff as liac
import numpy as np
import pytest

from helpers.requirements import lacking, shared_data_folder
from plurule.data.arff import read_arff
from plurule.data.dataset import SparseColumn, Table

FEW = 1_300_000
"""Bytes: of larger files liac-arff takes seconds."""


def arff_files() -> list[Any]:
    folder = shared_data_folder()
    paths = sorted(folder.rglob("*.arff*")) if folder else []
    return [path if path.stat().st_size < FEW else pytest.param(path, marks=pytest.mark.long) for path in paths]


def read_with_liac(path: Path, sparse: bool) -> dict[str, Any]:
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8") as file:
        return liac.load(file, encode_nominal=True, return_type=liac.LOD if sparse else liac.DENSE)


def assert_same_declarations(table: Table, theirs: list[tuple[str, Any]]) -> None:
    # liac-arff unescapes nothing in names, so that escaped ones are compared without their backslashes.
    plain = [name.replace("\\", "") for name in table.names]
    assert plain == [name.replace("\\", "") for name, _ in theirs]
    for attribute, (_, kind) in zip(table.attributes, theirs, strict=True):
        if attribute.categories is None:
            assert str(kind).upper() in ("NUMERIC", "REAL", "INTEGER")
        else:
            assert list(attribute.categories) == kind


@pytest.mark.parametrize("path", arff_files() or [None], ids=lambda path: path.name if path else "none")
def test_a_file_has_the_content_that_liac_arff_reads(path: Path | None) -> None:
    if path is None:
        lacking("data", "there is no folder of Mulan data sets")
    table = read_arff(path)[0].X
    sparse = isinstance(table.columns[0], SparseColumn)
    theirs = read_with_liac(path, sparse)
    assert_same_declarations(table, theirs["attributes"])
    rows = theirs["data"]
    assert len(table) == len(rows)
    if sparse:
        entries = [(row, column, value) for row, values in enumerate(rows) for column, value in values.items()]
        expected = np.zeros((len(rows), 0)) if not entries else None
        assert expected is None
        by_column: dict[int, dict[int, float]] = {}
        for row, column, value in entries:
            if value != 0:
                by_column.setdefault(column, {})[row] = value
        for index, column in enumerate(table.columns):
            assert isinstance(column, SparseColumn)
            found = dict(zip(column.rows.tolist(), column.values.tolist(), strict=True))
            assert found == by_column.get(index, {})
    else:
        matrix = np.array(rows, dtype=object)
        for index in range(len(table.attributes)):
            expected = np.array([np.nan if v is None else v for v in matrix[:, index]], dtype=np.float64)
            np.testing.assert_array_equal(table.column(index).astype(np.float64), expected)
