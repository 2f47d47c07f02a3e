"""Fingerprints of rows: the same for the same row, however it comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from plurule.classifier import RuleListClassifier
from plurule.data.encoding import encode
from plurule.data.fingerprint import digest, fingerprints, trained_on
from plurule.data.table import SparseColumn, Table
from plurule.datasets import load_world_flags

X = np.round(np.random.default_rng(2).normal(size=(200, 4)) * (np.random.default_rng(3).random((200, 4)) < 0.6), 2)
X[5, 1] = np.nan


def sparse_columns(X: Any) -> Table:
    table = encode(X)
    columns = []
    for column in map(table.column, range(4)):
        rows = np.flatnonzero(column != 0).astype(np.int32)
        columns.append(SparseColumn(rows, column[rows], len(X)))
    return Table(table.attributes, columns)


@pytest.mark.parametrize(
    "table",
    [
        encode(sp.csr_array(X)),
        encode(sp.csc_array(X)),
        sparse_columns(X),
        encode(np.where(X == 0, -0.0, X)),
        encode(np.asfortranarray(X)),
        encode(sp.csr_array(np.hstack([X, X])))[:].select([0, 1, 2, 3]),
    ],
)
def test_a_row_has_one_fingerprint_in_every_form(table: Table) -> None:
    assert fingerprints(table).tolist() == fingerprints(encode(X)).tolist()


def test_rows_that_differ_anywhere_have_different_fingerprints() -> None:
    grid = np.array(np.meshgrid(*[np.arange(-5, 5)] * 4)).reshape(4, -1).T.astype(float)
    # Of 10,000 rows, 10,000² / 2³³ = 0.012 pairs are alike by chance.
    assert len(np.unique(fingerprints(encode(grid)))) == len(grid)
    assert fingerprints(encode([[1.0, 2.0]])) != fingerprints(encode([[2.0, 1.0]]))


def test_a_rule_list_tells_rows_that_it_was_trained_on_from_new_ones_also_after_saving() -> None:
    from plurule.model.file import dumps, loads

    data = load_world_flags()
    rows = np.arange(0, len(data), 2)
    rule_list = loads(dumps(RuleListClassifier(heuristic="f_measure", n_rules=3).fit(data[rows]).rule_list_))
    found = trained_on(rule_list, encode(data.to_pandas()[0], rule_list.attributes))
    assert found is not None
    assert set(rows) <= set(np.flatnonzero(found))
    assert found.sum() < len(rows) + 5
    forgetful = RuleListClassifier(heuristic="f_measure", n_rules=3, remember_rows=False).fit(data).rule_list_
    assert trained_on(forgetful, data.X) is None
    assert "trained_on" not in dumps(forgetful)


def test_digests_tell_values_of_different_types_apart() -> None:
    @dataclass
    class One:
        number: float = 1.0

    @dataclass
    class Other:
        number: float = 1.0

    same, others = digest(One()), [digest(Other()), digest(One(2.0)), digest(One), digest(1.0), digest([One()])]
    assert digest(One()) == same
    assert len({same, *others}) == 1 + len(others)
