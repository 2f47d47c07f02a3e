"""Real databases to run queries in: SQLite, DuckDB, and a PostgreSQL server of our own."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow

from helpers.engines import as_text
from plurule.data.dataset import Table
from plurule.export.sql import DIALECTS
from plurule.model import RuleList

NUMBER = {"sqlite": "REAL", "duckdb": "DOUBLE", "postgresql": "double precision"}
MARK = {"sqlite": "?", "postgresql": "%s"}


class NoDatabase(Exception):
    """Why a database cannot be used here."""


def used_attributes(rule_list: RuleList) -> list[int]:
    return rule_list.tested_attributes()


def fill(connection: Any, dialect: str, name: str, rule_list: RuleList, table: Table, missing: float | None) -> None:
    """Make a table with the columns that the rules test; missing numbers become `missing`."""
    sql = DIALECTS[dialect]
    indices = used_attributes(rule_list)
    columns, kinds, values = ['"row id"'], ["INTEGER"], [list(range(len(table)))]
    for index in indices:
        attribute = rule_list.attributes[index]
        column = table.column(index)
        columns.append(sql.identifier(attribute.name))
        if attribute.categories is not None:
            kinds.append("TEXT")
            values.append([None if code < 0 else attribute.categories[code] for code in column.tolist()])
        elif attribute.is_date:
            kinds.append("TEXT" if dialect == "sqlite" else "TIMESTAMP")
            values.append([None if np.isnan(seconds) else as_text(seconds) for seconds in column.tolist()])
        else:
            kinds.append(NUMBER[dialect])
            values.append([missing if np.isnan(v) else v for v in column.astype(np.float64).tolist()])
    defined = ", ".join(f"{c} {kind}" for c, kind in zip(columns, kinds, strict=True))
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE {sql.identifier(name)} ({defined})")
    if dialect == "duckdb":
        frame = pyarrow.table(values, names=[f"c{i}" for i in range(len(values))])
        connection.register("rows_to_insert", frame)
        connection.execute(f"INSERT INTO {sql.identifier(name)} SELECT * FROM rows_to_insert")
        connection.unregister("rows_to_insert")
    else:
        insert(cursor, dialect, sql.identifier(name), list(zip(*values, strict=True)))


def insert(cursor: Any, dialect: str, table: str, rows: Sequence[Sequence[Any]]) -> None:
    if not rows:
        return
    marks = f"({', '.join([MARK[dialect]] * len(rows[0]))})"
    if dialect == "sqlite":
        cursor.executemany(f"INSERT INTO {table} VALUES {marks}", rows)
        return
    # One statement for many rows, which is faster.
    step = max(1, 20_000 // len(rows[0]))
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        cursor.execute(f"INSERT INTO {table} VALUES {', '.join([marks] * len(part))}", [v for row in part for v in row])


def labels_by_query(connection: Any, dialect: str, query: str, labels: Sequence[str]) -> np.ndarray[Any, Any]:
    """Run a query whose first column is the row id; the labels in the order of the rows."""
    cursor = connection.cursor()
    cursor.execute(query)
    names = [column[0] for column in cursor.description]
    if dialect == "postgresql":
        labels = [DIALECTS[dialect].folded(label) for label in labels]
    assert names == ["row id", *labels]
    rows = sorted(cursor.fetchall())
    assert [row[0] for row in rows] == list(range(len(rows)))
    return np.array([row[1:] for row in rows], dtype=np.int8).reshape(len(rows), len(labels))


@contextmanager
def sqlite() -> Iterator[Any]:
    if sqlite3.sqlite_version_info < (3, 35):
        raise NoDatabase(f"SQLite {sqlite3.sqlite_version} is too old, 3.35 is needed")
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


@contextmanager
def duckdb() -> Iterator[Any]:
    try:
        import duckdb as module
    except ImportError as error:
        raise NoDatabase("duckdb is not installed") from error
    connection = module.connect(":memory:")
    yield connection
    connection.close()


def postgresql_program(name: str) -> str | None:
    found = [*sorted(glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True), shutil.which(name)]
    return next((program for program in found if program), None)


@contextmanager
def postgresql() -> Iterator[Any]:
    """A server of our own in a temporary folder, reached through a socket in it."""
    try:
        import psycopg
    except ImportError as error:
        raise NoDatabase("psycopg is not installed") from error
    initdb, pg_ctl = postgresql_program("initdb"), postgresql_program("pg_ctl")
    if initdb is None or pg_ctl is None:
        raise NoDatabase("no PostgreSQL server is installed")
    with tempfile.TemporaryDirectory(prefix="plurule-pg-") as folder:
        data = Path(folder) / "data"
        # PostgreSQL refuses to run as root.
        user: dict[str, Any] = {}
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
            user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        run = {"check": True, "capture_output": True, "cwd": folder, **user}
        try:
            subprocess.run([initdb, "-D", data, "-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync"], **run)
            settings = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
            subprocess.run([pg_ctl, "-D", data, "-w", "-l", Path(folder) / "log", "-o", settings, "start"], **run)
        except (subprocess.CalledProcessError, PermissionError, KeyError) as error:
            detail = getattr(error, "stderr", b"") or b""
            raise NoDatabase(f"a PostgreSQL server cannot be started: {error} {detail.decode()}") from error
        try:
            connection = psycopg.connect(
                host=folder, user="tester", dbname="postgres", cursor_factory=psycopg.ClientCursor
            )
            yield connection
            connection.close()
        finally:
            subprocess.run([pg_ctl, "-D", data, "-m", "immediate", "stop"], **run)


DATABASES = {"sqlite": sqlite, "duckdb": duckdb, "postgresql": postgresql}
