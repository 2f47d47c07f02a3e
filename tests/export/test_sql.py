"""The SQL export, run in real databases: the labels are those that `decide` predicts."""

from __future__ import annotations

import math
import random
import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.databases import fill, labels_by_query
from helpers.rule_lists import DATA_SETS, HOSTILE_NAMES, learned, learned_classes, make_rules, random_rule_list
from plurule._prediction.apply import decide
from plurule.data.dataset import Table
from plurule.data.inputs import encode
from plurule.errors import ModelError
from plurule.export.sql import DIALECTS, to_sql
from plurule.model import RuleList


@pytest.fixture
def run(database: tuple[str, Any]) -> Any:
    """Fill a table, run the query of a rule list, and give the labels."""
    dialect, connection = database

    def run_query(rule_list: RuleList, table: Table, name: str = "instances", missing: float | None = None) -> Any:
        cursor = connection.cursor()
        quoted = DIALECTS[dialect].identifier(name)
        fill(connection, dialect, name, rule_list, table, missing)
        query = to_sql(rule_list, name, dialect, keys=["row id"])
        try:
            return labels_by_query(connection, dialect, query, rule_list.labels)
        finally:
            cursor.execute(f"DROP TABLE {quoted}")

    return run_query


@pytest.mark.parametrize("seed", range(25))
def test_labels_are_those_predicted_for_random_rule_lists(run: Any, seed: int) -> None:
    rule_list, table = random_rule_list(seed)
    np.testing.assert_array_equal(run(rule_list, table), decide(rule_list, table).labels())


@pytest.mark.parametrize("seed", range(15))
def test_hostile_names_do_no_harm(run: Any, seed: int) -> None:
    rule_list, table = random_rule_list(seed, HOSTILE_NAMES)
    predicted = run(rule_list, table, name='"; DROP TABLE x; --\n')
    np.testing.assert_array_equal(predicted, decide(rule_list, table).labels())


@pytest.mark.parametrize("absences", [False, True])
@pytest.mark.parametrize("name", DATA_SETS)
def test_labels_of_real_data_are_those_predicted(run: Any, shared_data: Path, name: str, absences: bool) -> None:
    rule_list, test = learned(shared_data, name, absences)
    table = encode(test.X, rule_list.attributes)
    np.testing.assert_array_equal(run(rule_list, table), decide(rule_list, table).labels())


@pytest.mark.parametrize("seed", range(3))
def test_exactly_one_class_of_each_column_is_predicted_and_what_labels_imply(run: Any, seed: int) -> None:
    rule_list, table = learned_classes(seed)
    predicted = run(rule_list, table)
    np.testing.assert_array_equal(predicted, decide(rule_list, table).labels())
    for group in rule_list.groups:
        assert (predicted[:, list(group)].sum(axis=1) == 1).all()
    for below, above in rule_list.hierarchy:
        assert predicted[:, below].any()
        assert (predicted[:, below] <= predicted[:, above]).all()


def test_a_category_that_an_attribute_does_not_have_is_missing(database: tuple[str, Any]) -> None:
    rules = "other <- c ≠ a\ngap <- c is missing\nhere <- c is known\nno <- x is missing\nyes <- x is known"
    rule_list = make_rules(rules, {"x": None, "c": ("a", "b", "d")}, ("other", "gap", "here", "no", "yes"))
    dialect, connection = database
    cursor = connection.cursor()
    number, text = ("DOUBLE PRECISION", "TEXT") if dialect != "duckdb" else ("DOUBLE", "VARCHAR")
    cursor.execute(f'CREATE TABLE gaps ("row id" INTEGER, "x" {number}, "c" {text})')
    cursor.execute(
        "INSERT INTO gaps VALUES (0, 1, 'a'), (1, NULL, 'b'), (2, 2, 'unheard of'), (3, NULL, NULL), (4, 0, '')"
    )
    try:
        found = labels_by_query(
            connection, dialect, to_sql(rule_list, "gaps", dialect, keys=["row id"]), rule_list.labels
        )
    finally:
        cursor.execute("DROP TABLE gaps")
    expected = [[0, 0, 1, 0, 1], [1, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 1, 0, 1, 0], [0, 1, 0, 0, 1]]
    np.testing.assert_array_equal(found, expected)


def test_missing_values_satisfy_nothing_be_they_null_or_nan(run: Any) -> None:
    rule_list = make_rules(
        "high <- x > 1\nlow <- x <= 1\nodd <- c = b", {"x": None, "c": ("a", "b")}, ("high", "low", "odd")
    )
    table = Table(rule_list.attributes, [np.array([2.0, 0.0, np.nan]), np.array([-1, 1, 0], dtype=np.int32)])
    expected = [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    assert run(rule_list, table, missing=None).tolist() == expected
    assert run(rule_list, table, missing=math.nan).tolist() == expected


def test_a_stop_rule_ends_a_row_only_if_it_decides_something(run: Any) -> None:
    rule_list = make_rules(
        "a <- x > 1\na <- x > 0 [stop]\nb <-\na, c <- x > 1 [stop]\nd <-", {"x": None}, ("a", "b", "c", "d")
    )
    table = Table(rule_list.attributes, [np.array([2.0, 0.5, -1.0])])
    assert run(rule_list, table).tolist() == [[1, 1, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1]]


@pytest.mark.parametrize("name", ["instance", "Instance", "rules_1", "decided", "ended", "_instance"])
def test_a_table_may_be_called_as_a_step_of_the_query(run: Any, name: str) -> None:
    rule_list = make_rules("a, b <- x > 1 [stop]\nc <- a\nd <-", {"x": None}, ("a", "b", "c", "d"))
    table = Table(rule_list.attributes, [np.array([2.0, 0.5])])
    assert run(rule_list, table, name).tolist() == [[1, 1, 0, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("attribute", ["True", "false", "NULL", "rowid", "current_date", "column_1", "last_rule", "s"])
def test_an_attribute_may_be_called_as_a_word_of_sql(run: Any, attribute: str) -> None:
    rule_list = make_rules(
        f"True, false <- {attribute} > 1\nnull <- True", {attribute: None}, ("True", "false", "null")
    )
    table = Table(rule_list.attributes, [np.array([2.0, 0.5])])
    assert run(rule_list, table).tolist() == [[1, 1, 1], [0, 0, 0]]


def test_label_conditions_see_what_earlier_rules_decided_only(run: Any) -> None:
    rule_list = make_rules(
        "c <- a\n¬a <- x <= 0\na <-\nb <- a\nd <- ¬a and ¬b\n¬b <- ¬a\nd <- ¬b\ne <- d and ¬c",
        {"x": None},
        tuple("abcde"),
    )
    table = Table(rule_list.attributes, [np.array([1.0, -1.0, np.nan])])
    predicted = run(rule_list, table)
    assert predicted.tolist() == [[1, 1, 0, 0, 0], [0, 0, 0, 1, 0], [1, 1, 0, 0, 0]]
    np.testing.assert_array_equal(predicted, decide(rule_list, table).labels())


def test_values_next_to_a_threshold_fall_on_the_right_side(run: Any) -> None:
    random_ = random.Random(1)
    numbers = [struct.unpack("d", random_.randbytes(8))[0] for _ in range(150)]
    numbers += [round(random_.uniform(-10, 10), random_.randrange(17)) for _ in range(300)]
    numbers += [0.1, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 0.0, -0.0, 1e22, 1e23]
    for threshold in (t for t in numbers if math.isfinite(t) and abs(t) < 1.7e308):
        rule_list = make_rules(f"high <- x > {threshold!r}", {"x": None}, ("high",))
        values = np.array([math.nextafter(threshold, -math.inf), threshold, math.nextafter(threshold, math.inf)])
        assert run(rule_list, Table(rule_list.attributes, [values])).tolist() == [[0], [0], [1]], threshold


def test_sqlite_reads_texts_as_the_numbers_they_say() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE instances ("row id" INTEGER, x TEXT)')
    connection.executemany("INSERT INTO instances VALUES (?, ?)", enumerate(["10", "9.5", "", None]))
    rule_list = make_rules("high <- x > 9.75\nlow <- x <= 9.75", {"x": None}, ("high", "low"))
    predicted = labels_by_query(connection, "sqlite", to_sql(rule_list, keys=["row id"]), rule_list.labels)
    assert predicted.tolist() == [[1, 0], [0, 1], [0, 0], [0, 0]]


def test_whole_numbers_and_truth_values_serve_as_categories(database: tuple[str, Any]) -> None:
    dialect, connection = database
    cursor = connection.cursor()
    cursor.execute('CREATE TABLE kinds ("row id" INTEGER, n INTEGER, b BOOLEAN)')
    cursor.execute("INSERT INTO kinds VALUES (0, 2, TRUE), (1, 3, FALSE), (2, NULL, NULL)")
    rule_list = make_rules("two <- n = 2\nyes <- b = True", {"n": ("2", "3"), "b": ("False", "True")}, ("two", "yes"))
    query = to_sql(rule_list, "kinds", dialect, keys=["row id"])
    assert labels_by_query(connection, dialect, query, rule_list.labels).tolist() == [[1, 1], [0, 0], [0, 0]]
    cursor.execute("DROP TABLE kinds")


def test_a_table_can_be_named_with_its_schema(database: tuple[str, Any]) -> None:
    dialect, connection = database
    cursor = connection.cursor()
    if dialect == "sqlite":
        cursor.execute("ATTACH ':memory:' AS other")
    else:
        cursor.execute("CREATE SCHEMA other")
    cursor.execute('CREATE TABLE other.things ("row id" INTEGER)')
    cursor.execute("INSERT INTO other.things VALUES (0)")
    rule_list = make_rules("yes <-", {}, ("yes", "no"))
    query = to_sql(rule_list, ("other", "things"), dialect, keys=["row id"])
    assert labels_by_query(connection, dialect, query, rule_list.labels).tolist() == [[1, 0]]


def test_a_column_that_the_table_lacks_is_an_error_and_not_a_text(database: tuple[str, Any]) -> None:
    dialect, connection = database
    cursor = connection.cursor()
    cursor.execute('CREATE TABLE lacking ("row id" INTEGER)')
    with pytest.raises(Exception, match="x"):
        cursor.execute(to_sql(make_rules("yes <- x > 2", {"x": None}, ("yes",)), "lacking", dialect))
    if dialect == "postgresql":
        connection.rollback()
    else:
        cursor.execute("DROP TABLE lacking")


def test_a_list_without_rules_predicts_nothing(run: Any) -> None:
    rule_list = RuleList((), (), ("a", "b"))
    assert run(rule_list, Table((), [], 3)).tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("dialect", DIALECTS)
def test_names_that_a_database_cannot_have_are_refused(dialect: str) -> None:
    with pytest.raises(ModelError, match="allows no column or table named"):
        to_sql(make_rules("yes <-", {}, ("yes", "n\0o")), dialect=dialect)
    with pytest.raises(ModelError, match="allows no column or table named ''"):
        to_sql(make_rules("yes <-", {}, ("yes",)), table="", dialect=dialect)


def test_names_that_a_database_cannot_tell_apart_are_refused() -> None:
    rule_list = make_rules("yes <- Area > 1 and area > 2", {"Area": None, "area": None}, ("yes",))
    with pytest.raises(ModelError, match="to SQLite 'Area' and 'area' are the same column"):
        to_sql(rule_list, dialect="sqlite")
    assert "FROM" in to_sql(rule_list, dialect="postgresql")


def test_an_unknown_dialect_names_the_known_ones() -> None:
    with pytest.raises(ModelError, match="there is no SQL dialect 'postgres'; did you mean 'postgresql'"):
        to_sql(make_rules("yes <-", {}, ("yes",)), dialect="postgres")


def test_more_columns_than_a_database_has_are_refused() -> None:
    labels = tuple(f"y{i}" for i in range(2500))
    with pytest.raises(ModelError, match="needs 2500 columns at once, SQLite allows 2000"):
        to_sql(RuleList((), (), labels))
