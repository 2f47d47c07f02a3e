"""Random lists in every format that executes: the labels are those of `predict`, or the export is refused.

The numbers of refusals are shown at the end of a run with `-s`, and are part of the claims here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

from helpers.databases import DATABASES, NoDatabase, fill, labels_by_query
from helpers.engines import ENGINES, has_node
from helpers.requirements import lacking
from helpers.rule_lists import EXTREME_VALUES, HOSTILE_NAMES, VALUES, learned_classes, random_rule_list
from plurule._prediction.apply import decide
from plurule.data.dataset import Table
from plurule.errors import ModelError
from plurule.export.sql import DIALECTS, to_sql
from plurule.model import RuleList

LISTS = 30
KINDS: dict[str, dict[str, Any]] = {
    "plain": {"values": VALUES},
    "odd names": {"values": VALUES, "names": HOSTILE_NAMES},
    "extreme numbers": {"values": (*VALUES, *EXTREME_VALUES)},
    "long": {"values": VALUES, "n_rules": 60, "n_labels": 12},
}


@pytest.fixture(scope="module")
def tally() -> Iterator[Counter[str]]:
    """What became of each list in each format."""
    counts: Counter[str] = Counter()
    yield counts
    for outcome, count in sorted(counts.items()):
        print(f"{count:5} {outcome}")


def run_sql(connection: Any, dialect: str, rule_list: RuleList, table: Table) -> Any:
    query = to_sql(rule_list, "rows", dialect, keys=["row id"])
    fill(connection, dialect, "rows", rule_list, table, None)
    try:
        return labels_by_query(connection, dialect, query, rule_list.labels)
    finally:
        connection.cursor().execute(f"DROP TABLE {DIALECTS[dialect].identifier('rows')}")


def lists(kind: str) -> Iterator[tuple[RuleList, Table]]:
    for seed in range(LISTS):
        yield random_rule_list(1000 + seed, **KINDS[kind])
    if kind == "plain":
        yield learned_classes()


def holds(table: Table) -> Table:
    """The rows that an engine of decimals can be given."""
    rows = np.ones(len(table), bool)
    for index, attribute in enumerate(table.attributes):
        if not attribute.is_nominal:
            rows &= ~(np.abs(table.column(index)) > 7.9e28)
    return table[np.flatnonzero(rows)]


def assert_same_or_refused(name: str, kind: str, run: Any, tally: Counter[str]) -> int:
    """Return how many lists were refused."""
    refused = 0
    for rule_list, table in lists(kind):
        rows = holds(table) if name == "jdm" else table
        try:
            labels = run(rule_list, rows)
        except ModelError as reason:
            refused += 1
            why = str(reason).partition(", which ")[2].partition(";")[0]
            tally[f"{name}, {kind}: refused: {why}"] += 1
            continue
        np.testing.assert_array_equal(labels, decide(rule_list, rows).labels())
        tally[f"{name}, {kind}: same as predict"] += 1
    return refused


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ENGINES)
def test_lists_predict_the_same_or_are_refused(name: str, kind: str, tally: Counter[str]) -> None:
    if name == "javascript" and not has_node():
        lacking("node", "Node.js is not installed")
    refused = assert_same_or_refused(name, kind, ENGINES[name], tally)
    is_beyond_decimals = name == "jdm" and kind == "extreme numbers"
    assert (refused > 0) == is_beyond_decimals


@pytest.mark.parametrize("dialect", DATABASES)
def test_lists_predict_the_same_in_databases(dialect: str, tally: Counter[str]) -> None:
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(DATABASES[dialect]())
        except NoDatabase as reason:
            lacking("databases", str(reason))
        for kind in KINDS:
            run = lambda rule_list, table: run_sql(connection, dialect, rule_list, table)  # noqa: E731
            assert assert_same_or_refused(dialect, kind, run, tally) == 0
