"""A rule list as a table for Excel or as CSV, which experts edit and `read_rules` reads back.

A row is a rule. Each attribute that rules test has a column; a cell holds the conditions on it as in the text of a
rule, without the name: `> 2`, `2 < … <= 5`, `Asia`, `in {Africa, Asia}`, `is missing`, several on lines of their own.
Rows may be reordered, deleted, edited and added, and a column may be added for any other attribute of the model.
Counts and notes are for reading only.

No cell can be taken for a formula: a name that looks like one is put in double quotes, as in the text of a rule.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from plurule._files import escape_formula
from plurule.errors import ModelError, nearest
from plurule.inspection.check import check
from plurule.model import Attribute, Condition, OneOfCondition, Rule, RuleList
from plurule.model.condition import format_count
from plurule.model.naming import in_quotes, quoted
from plurule.model.text import RuleTextError, parse, presence

MOST_CHARACTERS = 32_767
MOST_COLUMNS = 16_384
"""Limits of Excel."""
NUMBER, LABELS, EARLIER, MARKS = "rule", "labels", "earlier labels", "marks"
COUNTS = ("coverage", "right", "wrong", "precision", "right per label", "note")
TITLES = (NUMBER, LABELS, EARLIER, MARKS, *COUNTS)
"""Columns that are no attributes; an attribute of such a name stands in quotes."""
NAME = "…"
"""Stands for the name of the attribute in a cell."""
PRESENT, ABSENT = "yes", "no"
"""Cells of an attribute that instances have or not."""

MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
CONVERTED = re.compile(
    rf"(?!(?:0|[1-9]\d{{0,14}})$)[\d.][\d.,:/e% -]*|\d+\W?{MONTH}(?:\W?\d+)?|{MONTH}\W?\d+|true|false", re.IGNORECASE
)
"""Text that a spreadsheet takes for a date, a truth value or another number when it opens CSV."""
OPERATOR = re.compile(r"[=≠]|!=|(not\s+)?in\s*\{|is\s+(missing|known)$", re.IGNORECASE)
"""Beginning of a cell of a nominal attribute, unless it is a category."""

Cell = str | float | None


def to_xlsx(rule_list: RuleList) -> bytes:
    """Return an Excel file with one row per rule, filters on and titles that stay in view (needs openpyxl).

    Parameters
    ----------
    rule_list
        The rules.

    Returns
    -------
    bytes
        The file; `plurule edit model.json --from rules.xlsx` reads it back.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"])
    >>> to_xlsx(rules)[:2]
    b'PK'
    """
    openpyxl = _openpyxl()
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    width = len(TITLES) + len(rule_list.tested_attributes())
    if width > MOST_COLUMNS:
        raise ModelError(f"the rules need {width} columns, Excel allows {MOST_COLUMNS}; export them as csv")
    rows = _rows(rule_list)
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "rules"
    for row, cells in enumerate(rows, start=1):
        for column, value in enumerate(cells, start=1):
            if isinstance(value, str) and len(value) > MOST_CHARACTERS:
                raise ModelError(
                    f"cell {get_column_letter(column)}{row} would hold {len(value)} characters, Excel allows "
                    f"{MOST_CHARACTERS}; export the rules as csv or text"
                )
            cell = sheet.cell(row, column, value)
            if isinstance(value, str):
                cell.data_type = "s"
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            if row == 1:
                cell.font = Font(bold=True)
            elif cells[column - 1] is None or isinstance(value, str):
                # As text, so that Excel keeps what is typed.
                cell.number_format = "@"
    for column in range(1, width + 1):
        longest = max(len(line) for row in rows for line in str(row[column - 1] or "").split("\n"))
        sheet.column_dimensions[get_column_letter(column)].width = min(max(longest, 6), 50) + 2
    sheet.freeze_panes = "C2"
    sheet.auto_filter.ref = sheet.dimensions
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def to_csv(rule_list: RuleList) -> str:
    """Return the same table as CSV, with the mark by which Excel knows UTF-8.

    Parameters
    ----------
    rule_list
        The rules.

    Examples
    --------
    >>> from plurule import RuleList
    >>> print(to_csv(RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"])).lstrip("\\ufeff"))
    rule,labels,stripes,earlier labels,marks,coverage,right,wrong,precision,right per label,note
    1,red,> 2,,,0,0,0,,,
    """
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(_rows(rule_list))
    return f"\ufeff{buffer.getvalue()}"


def _rows(rule_list: RuleList) -> list[list[Cell]]:
    """Return titles and cells."""
    tested = rule_list.tested_attributes()
    notes: dict[int, list[str]] = {}
    for finding in check(rule_list):
        notes.setdefault(finding.number, []).append(f"{finding.problem}: {finding.reason}")
    names = [_title(rule_list.attributes[index].name) for index in tested]
    rows: list[list[Cell]] = [[NUMBER, LABELS, *names, EARLIER, MARKS, *COUNTS]]
    for number, rule in enumerate(rule_list, start=1):
        row: list[Cell] = [number, ", ".join(_signed(a.name, a.present) for a in rule.head.stated)]
        cells: dict[int, list[str]] = {}
        for condition in rule.attribute_conditions:
            cells.setdefault(condition.index, []).append(_cell(condition, rule_list.attributes[condition.index]))
        row += ["\n".join(cells[index]) if index in cells else None for index in tested]
        row.append(" and ".join(_signed(c.name, c.present) for c in rule.label_conditions) or None)
        row.append(", ".join(rule.marks) or None)
        row += [_count(rule.coverage), _count(rule.tp), _count(rule.fp)]
        row.append(round(rule.precision, 6) if rule.tp + rule.fp else None)
        row.append(_counts_per_label(rule) or None)
        row.append("; ".join(notes.get(number, [])) or None)
        rows.append(row)
    return rows


def _count(value: float) -> float:
    """Return a count, without a decimal point unless weights make it a fraction."""
    return int(value) if value == int(value) else value


def _counts_per_label(rule: Rule) -> str:
    texts = []
    for assignment, (right, wrong) in zip(rule.head, rule.decided, strict=False):
        if not assignment.implied:
            counts = f"{format_count(right)} of {format_count(right + wrong)}"
            texts.append(f"{_signed(assignment.name, assignment.present)}: {counts}")
    return ", ".join(texts)


def _title(name: str) -> str:
    return in_quotes(name) if name in TITLES else _safe(name)


def _signed(name: str, present: bool) -> str:
    return _safe(name) if present else f"¬{_safe(name)}"


def _safe(name: str) -> str:
    """Return a name as in the text of a rule, in quotes also where a spreadsheet would take it for something else."""
    text = quoted(name)
    return text if _is_safe(text) else in_quotes(name)


def _is_safe(text: str) -> bool:
    return escape_formula(text) == text and not text.startswith("'") and not CONVERTED.fullmatch(text)


def _cell(condition: Condition, attribute: Attribute) -> str:
    """Return a condition without the name of its attribute; a category alone if it is read back as the same."""
    before, after = condition.parts()
    if not after:
        return ABSENT if before else PRESENT
    if isinstance(condition, OneOfCondition) and condition.determines_value:
        (category,) = condition.categories
        is_read_back = _is_safe(quoted(category)) and _conditions(quoted(category), attribute) == [
            replace(condition, index=0)
        ]
        return quoted(category) if is_read_back else in_quotes(category)
    return " ".join((*before, *([NAME] if before else []), *after))


# Reading back --------------------------------------------------------------------------------------------------------


def read_rules(path: str | Path, rule_list: RuleList) -> tuple[Rule, ...]:
    """Return the rules of a table that was made from a rule list and edited since.

    Parameters
    ----------
    path
        An Excel file (needs openpyxl) or a CSV file.
    rule_list
        The rules that were exported. A rule that says the same as one of them keeps its counts; others have none.

    Returns
    -------
    tuple of Rule
        The rules in the order of the rows. What cannot be read is refused with the address of its cell.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rules.csv"
    ...     _ = path.write_text(to_csv(rules).replace("> 2", "> 3"), encoding="utf-8")
    ...     read_rules(path, rules)
    (red ← stripes > 3   (TP 0, FP 0),)
    """
    path = Path(path)
    rows = _read_xlsx(path) if path.suffix.lower() == ".xlsx" else _read_csv(path)
    reader = _Reader(path.name, rule_list)
    columns = reader.titles(rows[0] if rows else [])
    exported: dict[Any, list[Rule]] = {}
    for rule in rule_list:
        exported.setdefault((rule.head, frozenset(rule.body)), []).append(rule)
    rules = []
    for number, row in enumerate(rows[1:], start=2):
        full = [*row, *[""] * (len(rows[0]) - len(row))]
        cells = {meaning: (full[i].strip(), _address(i, number)) for i, meaning in columns.items()}
        if any(cells[meaning][0] for meaning in cells if meaning not in (NUMBER, *COUNTS)):
            rule = reader.rule(cells, number)
            same = exported.get((rule.head, frozenset(rule.body)))
            rules.append(replace(same.pop(0), stop=rule.stop, locked=rule.locked) if same else rule)
    return tuple(rules)


class _Reader:
    """Reads rows as rules."""

    def __init__(self, file: str, rule_list: RuleList) -> None:
        self.file = file
        self.rule_list = rule_list

    def fail(self, address: str, problem: str) -> NoReturn:
        raise ModelError(f"{self.file}, cell {address}: {problem}")

    def titles(self, titles: Sequence[str]) -> dict[int, str | int]:
        """Return the meaning of each column: one of `TITLES`, or the position of an attribute."""
        attributes = self.rule_list.attributes
        meanings: dict[str, str | int] = {attribute.name: i for i, attribute in enumerate(attributes)}
        meanings |= {_title(attribute.name): i for i, attribute in enumerate(attributes)}
        meanings |= {title: title for title in TITLES}
        columns: dict[int, str | int] = {}
        for column, title in enumerate(titles):
            if title and title not in meanings:
                problem = f"expected an attribute of the model, found {title!r}{nearest(title, meanings)}"
                self.fail(_address(column, 1), problem)
            if title and meanings[title] in columns.values():
                self.fail(_address(column, 1), f"a second column {title!r}; expected each column once")
            if title:
                columns[column] = meanings[title]
        expected: list[str | int] = [LABELS, EARLIER, MARKS, *self.rule_list.tested_attributes()]
        for needed in expected:
            if needed not in columns.values():
                title = needed if isinstance(needed, str) else _title(attributes[needed].name)
                self.fail(_address(len(titles), 1), f"expected a column {title!r}, as the exported table has it")
        return columns

    def rule(self, cells: dict[str | int, tuple[str, str]], row: int) -> Rule:
        labels = self.rule_list.labels
        if not cells[LABELS][0]:
            self.fail(cells[LABELS][1], "expected labels separated by commas, found nothing")
        head = self.parse(f"{cells[LABELS][0]} <-", *cells[LABELS], labels=labels)
        if head.body or head.marks:
            self.fail(cells[LABELS][1], f"expected labels separated by commas, found {cells[LABELS][0]!r}")
        body: list[Condition] = []
        for meaning, (text, address) in cells.items():
            if isinstance(meaning, int) and text:
                try:
                    conditions = _conditions(text, self.rule_list.attributes[meaning])
                except RuleTextError as error:
                    self.fail(address, f"{error.problem}; the cell holds {text!r}")
                body += [replace(condition, index=meaning) for condition in conditions]
        text, address = cells[EARLIER]
        body += self.parse(f"{in_quotes(labels[0])} <- {text}", text, address, labels=labels).body
        text, address = cells[MARKS]
        marks = [mark.strip().lower() for mark in text.split(",") if mark.strip()]
        for mark in marks:
            if mark not in ("stop", "locked"):
                self.fail(address, f"expected stop, locked or nothing, found {mark!r}")
        try:
            rule = self.rule_list.parse(f"{cells[LABELS][0]} <-")
        except ModelError as error:
            self.fail(cells[LABELS][1], str(error))
        return replace(rule, body=tuple(body), stop="stop" in marks, locked="locked" in marks)

    def parse(self, rule: str, text: str, address: str, labels: Sequence[str]) -> Rule:
        try:
            return parse(rule, (), labels)
        except RuleTextError as error:
            self.fail(address, f"{error.problem}; the cell holds {text!r}")


def _conditions(text: str, attribute: Attribute) -> list[Condition]:
    """Return the conditions of a cell, one per line, as if the attribute were the only one."""
    conditions: list[Condition] = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        name = in_quotes(attribute.name)
        if attribute.is_binary and line.lower() in (PRESENT, ABSENT):
            conditions.append(presence(attribute, 0, line.lower() == PRESENT))
            continue
        if NAME in line and not attribute.is_nominal:
            test = line.replace(NAME, name)
        elif attribute.is_nominal and not OPERATOR.match(line):
            test = f"{name} = {line}"
        else:
            test = f"{name} {line}"
        conditions += parse(f"{LABELS} <- {test}", [attribute], [LABELS]).body
    return conditions


def _read_csv(path: Path) -> list[list[str]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is not UTF-8 text; save it as CSV UTF-8") from None
    # Excel separates cells as the language of the computer does; the first title is followed by it.
    after = text[len(NUMBER) : len(NUMBER) + 1]
    delimiter = after if text.startswith(NUMBER) and after in ";\t" and after else ","
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def _read_xlsx(path: Path) -> list[list[str]]:
    """Return the texts of the first sheet."""
    openpyxl = _openpyxl()
    if not path.is_file():
        raise ModelError(f"{path}: there is no such file")
    try:
        sheet = openpyxl.load_workbook(path).worksheets[0]
    except Exception as error:
        # The reader of damaged files raises whatever it meets.
        raise ModelError(f"{path}: is no Excel file that can be read ({error}); save it as .xlsx") from error
    merged = next(iter(sheet.merged_cells.ranges), None)
    if merged is not None:
        raise ModelError(
            f"{path.name}, cells {merged.coord}: merged; expected one cell per row and column, unmerge them"
        )
    rows = []
    for cells in sheet.iter_rows():
        for cell in cells:
            if cell.data_type in ("f", "e"):
                kind = "a formula" if cell.data_type == "f" else "an error"
                raise ModelError(f"{path.name}, cell {cell.coordinate}: {kind}; expected text, such as > 2")
        rows.append([_text(cell.value) for cell in cells])
    return rows


def _text(value: Any) -> str:
    """Return what a cell says; a whole number without a decimal point."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _address(column: int, row: int) -> str:
    """Return the address of a cell; columns are counted from 0.

    >>> _address(0, 1), _address(27, 4)
    ('A1', 'AB4')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row}"


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError("Excel files need openpyxl: pip install 'plurule[excel]'") from error
    return openpyxl
