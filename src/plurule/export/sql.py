"""A rule list as one SQL query that returns the labels of every row of a table.

The query follows the decision list with three devices:

- A rule *fires* if its body holds. Rules that are asked for at several places get a column `rule_7` that is 1 where
  they fire; the others are written out. A body that tests labels asks which rule with that label in its head fired
  first, so its column is made one step later than theirs.
- A label is what the first firing rule with the label in its head says.
- Where there are stop rules, the number of that rule is noted first (`decided_3` for the third label). The first stop
  rule whose number was noted ends the row and is the `last_rule`; what was noted after it does not count. That nothing
  is ended before all is noted does no harm: up to the first stop rule that decides something, nothing would be.

A missing value (NULL, and NaN where a database has it) satisfies no condition but `is missing`. A category that the
attribute does not have is a missing value. A threshold must reach the database as exactly the double it is, or a value
next to it falls on the wrong side.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from plurule.errors import ModelError, amount, nearest
from plurule.model import Attribute, Condition, RuleList
from plurule.model.condition import YES, format_date

Lines: TypeAlias = list[str]
"""Pieces of a query that stand on lines of their own. A name may hold line breaks, so lines are never split again."""


def to_sql(
    rule_list: RuleList,
    table: str | Sequence[str] = "instances",
    dialect: str = "sqlite",
    keys: Sequence[str] = (),
) -> str:
    """Return one SELECT that predicts the labels of the rows of a table.

    Parameters
    ----------
    rule_list
        The rules.
    table
        Name of the table, or its parts: `("schema", "table")`. Its columns have the names of the attributes.
    dialect
        `"sqlite"`, `"duckdb"` or `"postgresql"`.
    keys
        Columns of the table to return before the labels, to know which row is which.

    Returns
    -------
    str
        A query whose result has the keys, and a column of 0 and 1 for each label under its name.

    Examples
    --------
    >>> from plurule.model import Attribute, RuleList
    >>> attributes = ["stripes", Attribute("continent", ("Africa", "Asia"))]
    >>> text = "red <- stripes > 2 and continent = Asia\\nred <- stripes <= 0.5"
    >>> rules = RuleList.from_text(text, attributes, ["red", "white"])
    >>> print(to_sql(rules, "flags", keys=["country"]))
    -- Labels predicted by a list of 2 rules:
    -- 1: red ← stripes > 2 ∧ continent = Asia
    -- 2: red ← stripes <= 0.5
    WITH
      instance AS (
        SELECT
          t."country" AS key_1,
          CAST(NULLIF(t."stripes", '') AS REAL) AS "stripes",
          t."continent" AS "continent"
        FROM "flags" AS t
      )
    SELECT
      s.key_1 AS "country",
      CASE
        WHEN s."stripes" > 2.0 AND s."continent" = 'Asia' THEN 1 -- rule 1
        WHEN s."stripes" <= 0.5 THEN 1 -- rule 2
        ELSE 0
      END AS "red",
      0 AS "white"
    FROM instance AS s
    """
    if dialect not in DIALECTS:
        raise ModelError(f"there is no SQL dialect {dialect!r}{nearest(dialect, DIALECTS)}")
    return _Query(rule_list, (table,) if isinstance(table, str) else tuple(table), DIALECTS[dialect], keys).text()


class _Query:
    """Writes the query, step by step."""

    def __init__(self, rule_list: RuleList, table: tuple[str, ...], dialect: Dialect, keys: Sequence[str]):
        self.rule_list = rule_list
        self.dialect = dialect
        self.keys = keys
        self.source = ".".join(dialect.identifier(part) for part in table)
        self.heads: dict[int, list[tuple[int, bool]]] = defaultdict(list)
        """Per label: the rules that have it in their head, in order, and the value they give."""
        for position, rule in enumerate(rule_list):
            for assignment in rule.head:
                self.heads[assignment.index].append((position, assignment.present))
        self.stops = [position for position, rule in enumerate(rule_list) if rule.stop]
        self.levels = self._levels()
        tested = {i: rule_list.attributes[i].name for i in rule_list.tested_attributes()}
        self._expect_distinct(tested.values())
        words = {i: f"column_{i + 1}" for i, name in tested.items() if name.lower() in dialect.words}
        key_names = [f"key_{i + 1}" for i in range(len(keys))]
        mine = {"nothing", *(f"rule_{k + 1}" for k in self.levels), *key_names, *words.values()}
        self.prefix = self._free_prefix(mine, tested.values())
        """Prefix of the columns that are made here, so that no column of the table has one of their names."""
        steps = {"instance", "decided", "ended", *(f"rules_{level}" for level in self.levels.values())}
        self.step_prefix = self._free_prefix(steps, table)
        """Prefix of the names of steps, so that none hides the table that is read."""
        self.key_columns = [self.prefix + name for name in key_names]
        self.columns = {
            i: self.prefix + words[i] if i in words else dialect.identifier(name) for i, name in tested.items()
        }
        """Names in the query of the columns of the table that are tested."""

    def text(self) -> str:
        """Return the whole query."""
        self._expect_width(len(self.columns) + len(self.keys) + len(self.levels))
        self._expect_width(len(self.keys) + len(self.rule_list.labels) + bool(self.stops))
        steps = {"instance": _select(self._read_columns(), f"{self.source} AS t")}

        def select(columns: list[Lines]) -> Lines:
            return _select(columns, f"{self.step_prefix}{list(steps)[-1]} AS s")

        for level in range(1, max(self.levels.values(), default=0) + 1):
            rules = [k for k, its_level in self.levels.items() if its_level == level]
            fires = (f"CASE WHEN {self._body(k)} THEN 1 ELSE 0 END" if self.rule_list[k].body else "1" for k in rules)
            columns = [[f"{case} AS {self.prefix}rule_{k + 1}"] for k, case in zip(rules, fires, strict=True)]
            steps[f"rules_{level}"] = select([["s.*"], *columns])
        if self.stops:
            steps["decided"] = select(self._decided_columns())
            steps["ended"] = select([["s.*"], self._last_rule()])
        lines = [f"-- Labels predicted by a list of {amount(len(self.rule_list), 'rule')}:"]
        lines += [f"-- {number}: {rule.to_text()}" for number, rule in enumerate(self.rule_list, start=1)]
        lines += [f"-- {line}" for line in self.rule_list.meanings()]
        lines.append("WITH")
        for i, (name, step) in enumerate(steps.items(), start=1):
            # Without being told to keep a step, a database may repeat it at each place where its columns are used.
            keep = "MATERIALIZED " if i > 1 else ""
            end = ")," if i < len(steps) else ")"
            lines += _indented([f"{self.step_prefix}{name} AS {keep}(", *_indented(step), end])
        return "\n".join(lines + select(self._results()))

    def _read_columns(self) -> list[Lines]:
        columns = [
            [f"t.{self.dialect.identifier(name)} AS {column}"]
            for name, column in zip(self.keys, self.key_columns, strict=True)
        ]
        for index, column in self.columns.items():
            attribute = self.rule_list.attributes[index]
            value = f"t.{self.dialect.identifier(attribute.name)}"
            columns.append([f"{_read(attribute, value, self.dialect)} AS {column}"])
        return columns or [[f"1 AS {self.prefix}nothing"]]

    def _results(self) -> list[Lines]:
        names = map(self.dialect.identifier, self.keys)
        keys = [[f"s.{column} AS {name}"] for column, name in zip(self.key_columns, names, strict=True)]
        label = self._ended_label if self.stops else self._label
        return keys + [label(index, self.dialect.identifier(name)) for index, name in enumerate(self.rule_list.labels)]

    # Rules -----------------------------------------------------------------------------------------------------------

    def _levels(self) -> dict[int, int]:
        """Return the rules that get a column, and the step in which they get it."""
        earlier: list[list[int]] = [
            [j for c in rule.label_conditions for j, _ in self.heads[c.index] if j < position]
            for position, rule in enumerate(self.rule_list)
        ]
        often = {j for rules in earlier for j in rules}
        levels: dict[int, int] = {}
        for position, rule in enumerate(self.rule_list):
            if len(rule.head) > 1 or rule.label_conditions or position in often:
                levels[position] = 1 + max((levels[j] for j in earlier[position]), default=0)
        return levels

    def _body(self, position: int) -> str:
        body = self.rule_list[position].body
        return " AND ".join(self._condition(condition, position) for condition in body) or "1 = 1"

    def _condition(self, condition: Condition, position: int) -> str:
        if condition.on_label:
            return condition.sql(self._first(condition.index, position), self.dialect)
        categories = self.rule_list.attributes[condition.index].categories
        return condition.sql(f"s.{self.columns[condition.index]}", self.dialect, categories)

    def _fires(self, position: int) -> str:
        return f"s.{self.prefix}rule_{position + 1} = 1" if position in self.levels else self._body(position)

    def _first(self, label: int, before: int) -> str:
        """Return the value of a label by the first firing rule before a rule; NULL if none fires."""
        cases = [f" WHEN {self._fires(j)} THEN {int(present)}" for j, present in self.heads[label] if j < before]
        return f"CASE{''.join(cases)} END" if cases else "NULL"

    # Labels ----------------------------------------------------------------------------------------------------------

    def _label(self, label: int, name: str) -> Lines:
        cases = [f"WHEN {self._fires(k)} THEN {int(present)} -- rule {k + 1}" for k, present in self.heads[label]]
        return _case([*cases, "ELSE 0"], name) if cases else [f"0 AS {name}"]

    def _decided_columns(self) -> list[Lines]:
        """Return the keys, and for each label the number of the first firing rule that has it in its head."""
        columns = [[f"s.{column} AS {column}"] for column in self.key_columns]
        for label, rules in sorted(self.heads.items()):
            if rules:
                columns.append(_case([f"WHEN {self._fires(k)} THEN {k + 1}" for k, _ in rules], f"decided_{label + 1}"))
        return columns

    def _last_rule(self) -> Lines:
        cases = []
        for position in self.stops:
            decides = " OR ".join(f"s.decided_{a.index + 1} = {position + 1}" for a in self.rule_list[position].head)
            cases.append(f"WHEN {decides} THEN {position + 1}")
        return _case([*cases, f"ELSE {len(self.rule_list)}"], "last_rule")

    def _ended_label(self, label: int, name: str) -> Lines:
        present = [str(k + 1) for k, present in self.heads[label] if present]
        if not present:
            return [f"0 AS {name}"]
        column = f"s.decided_{label + 1}"
        is_present = f" AND {column} IN ({', '.join(present)})" if len(present) < len(self.heads[label]) else ""
        return [f"CASE WHEN {column} <= s.last_rule{is_present} THEN 1 ELSE 0 END AS {name}"]

    # What databases cannot do ----------------------------------------------------------------------------------------

    def _free_prefix(self, mine: set[str], theirs: Iterable[str]) -> str:
        taken = {self.dialect.folded(name).lower() for name in theirs}
        prefix = ""
        while taken & {prefix + name for name in mine}:
            prefix += "_"
        return prefix

    def _expect_distinct(self, names: Iterable[str]) -> None:
        known: dict[str, str] = {}
        for name in names:
            same = known.setdefault(self.dialect.folded(name), name)
            if same != name:
                raise ModelError(f"to {self.dialect.title} {same!r} and {name!r} are the same column; rename one")

    def _expect_width(self, columns: int) -> None:
        if columns > self.dialect.most_columns:
            raise ModelError(
                f"the query needs {columns} columns at once, {self.dialect.title} allows {self.dialect.most_columns}; "
                "simplify the rule list, export a part of it, or use DuckDB"
            )


def _read(attribute: Attribute, value: str, dialect: Dialect) -> str:
    """Return an expression of the value of an attribute, as conditions compare it."""
    if attribute.categories is None:
        return (dialect.date_column if attribute.is_date else dialect.number_column).format(value)
    if not attribute.is_binary:
        return value
    # A truth value is a number in one database, and a word in another.
    absent, present = sorted(attribute.categories, key=lambda category: YES[category.lower()])
    cases = []
    for category, is_present in ((absent, False), (present, True)):
        words = [word for word, truth in YES.items() if truth == is_present]
        listed = ", ".join(dialect.string(word) for word in (*words, f"{int(is_present)}.0"))
        cases.append(f"WHEN LOWER(CAST({value} AS TEXT)) IN ({listed}) THEN {dialect.string(category)}")
    return f"CASE {' '.join(cases)} END"


def _select(columns: list[Lines], source: str) -> Lines:
    for column in columns[:-1]:
        column[-1] += ","
    return ["SELECT", *_indented([line for column in columns for line in column]), f"FROM {source}"]


def _case(cases: Lines, name: str) -> Lines:
    return ["CASE", *_indented(cases), f"END AS {name}"]


def _indented(lines: Lines) -> Lines:
    return ["  " + line for line in lines]


# How databases write names, texts and numbers -----------------------------------------------------------------------


@dataclass(frozen=True)
class Dialect:
    """How one database writes names, texts and numbers."""

    title: str
    most_columns: int
    number_column: str
    """A column, `{}`, read as doubles, NULL where missing."""
    number: Callable[[float], str]
    """A double, exactly."""
    date_column: str
    """A column, `{}`, read as times to the second, in UTC if they have a zone."""
    date_literal: str
    """A time, `{}`."""
    words: frozenset[str] = frozenset()
    """Names, in lower case, that the columns of a subquery cannot be asked for by, even in quotes."""
    longest_name: int | None = None
    """Names with more bytes are cut, and small and capital letters differ; None where neither is so."""
    has_escapes: bool = False
    """Whether a backslash in a text may mean something."""

    def identifier(self, name: str) -> str:
        """Return a column or table name in quotes."""
        if not name or "\0" in name:
            raise ModelError(f"{self.title} allows no column or table named {name!r}; rename it")
        if not self.can_hold(name):
            raise ModelError(f"the name {name!r} is no valid text (half of a character); rename it")
        return '"' + name.replace('"', '""') + '"'

    def string(self, text: str) -> str:
        """Return a text in quotes."""
        quoted = "'" + text.replace("'", "''") + "'"
        # With an E the backslash means the same whatever standard_conforming_strings says.
        return "E" + quoted.replace("\\", "\\\\") if self.has_escapes and "\\" in text else quoted

    def date(self, seconds: float) -> str:
        """Return a time."""
        text = format_date(seconds, " ")
        if text is None:
            raise ModelError(f"a rule compares a date with {seconds!r} seconds, which is no date; change the rule")
        return self.date_literal.format(text if " " in text else f"{text} 00:00:00")

    def can_hold(self, text: str) -> bool:
        """Return whether a column can hold the text at all."""
        return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)

    def folded(self, name: str) -> str:
        """Two names are the same to the database if their folded forms are."""
        if self.longest_name is None:
            return "".join(c.lower() if c.isascii() else c for c in name)
        return name.encode("utf-8", "replace")[: self.longest_name].decode("utf-8", "ignore")


def _sqlite_number(value: float) -> str:
    # SQLite reads decimals with a little more than double precision and then rounds again. Numbers that this
    # could get wrong are written as a whole number times a power of two, which is exact everywhere.
    if value.is_integer() and abs(value) < 2**53:
        return f"{value:.1f}"
    text = repr(value)
    digits = text.lower().split("e")[0].replace(".", "").lstrip("-0")
    distance = abs(Fraction(text) - Fraction(value)) / Fraction(math.ulp(value))
    if len(digits) <= 15 and 1e-22 < abs(value) < 1e22 and distance < Fraction(49, 100):
        return text
    mantissa, exponent = math.frexp(value)
    product = f"{int(mantissa * 2**53)} * 1.0"
    exponent -= 53
    while exponent:
        step = min(abs(exponent), 62)
        product += f" {'*' if exponent > 0 else '/'} {2**step}"
        exponent += -step if exponent > 0 else step
    return f"({product})"


def _duckdb_number(value: float) -> str:
    # Without an exponent it would be a decimal number.
    text = repr(value)
    return text if "e" in text else f"{text}e0"


DIALECTS: dict[str, Dialect] = {
    # From 3.35 on. Columns imported from a CSV file hold texts, and '' where a value is missing.
    "sqlite": Dialect(
        "SQLite",
        2000,
        "CAST(NULLIF({}, '') AS REAL)",
        _sqlite_number,
        # Texts, which are in the order of the times.
        "DATETIME({})",
        "'{}'",
        words=frozenset({"true", "false"}),
    ),
    "duckdb": Dialect(
        "DuckDB",
        100_000,
        "NULLIF(CAST({} AS DOUBLE), 'NaN'::DOUBLE)",
        _duckdb_number,
        "DATE_TRUNC('second', CAST({} AS TIMESTAMP))",
        "TIMESTAMP '{}'",
    ),
    # From 12 on.
    "postgresql": Dialect(
        "PostgreSQL",
        1600,
        "NULLIF(CAST({} AS double precision), 'NaN')",
        "{!r}::float8".format,
        "DATE_TRUNC('second', CAST({} AS timestamp))",
        "TIMESTAMP '{}'",
        longest_name=63,
        has_escapes=True,
    ),
}
