"""Tables for Excel and as CSV: what is written, and what is read back."""

from __future__ import annotations

import contextlib
import csv
import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from helpers.rule_lists import HOSTILE_NAMES, learned_classes, make_rules, random_rule_list
from plurule.errors import ModelError
from plurule.export.spreadsheet import read_rules, to_csv, to_xlsx
from plurule.model import Assignment, Attribute, Head, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.naming import in_quotes

RULES = "red, ¬blue <- stripes > 2 and 0 < area <= 5\nred <- continent = Asia [stop]\nblue <- red and sun = yes"
NAMES: dict[str, tuple[str, ...] | None] = {
    "stripes": None,
    "area": None,
    "continent": ("Africa", "Asia"),
    "sun": ("no", "yes"),
    "unused": None,
}


@pytest.fixture
def rule_list() -> RuleList:
    return make_rules(RULES, NAMES, ("red", "blue"))


@pytest.fixture
def edited(tmp_path: Path, rule_list: RuleList) -> Callable[..., Path]:
    """Write the table, change cells or the sheet as an expert does, and save it."""

    def write(change: Callable[[Any], None] | None = None, **cells: Any) -> Path:
        path = tmp_path / "rules.xlsx"
        path.write_bytes(to_xlsx(rule_list))
        book = openpyxl.load_workbook(path)
        for address, value in cells.items():
            book.active[address] = value
        if change is not None:
            change(book.active)
        book.save(path)
        return path

    return write


def texts(path: Path, rule_list: RuleList) -> list[str]:
    return [rule.to_text() for rule in read_rules(path, rule_list)]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("suffix", ["xlsx", "csv"])
def test_table_is_read_back_as_it_was(tmp_path: Path, seed: int, suffix: str) -> None:
    rule_list, _ = random_rule_list(seed, HOSTILE_NAMES if seed % 2 else None)
    path = tmp_path / f"rules.{suffix}"
    path.write_bytes(to_xlsx(rule_list) if suffix == "xlsx" else to_csv(rule_list).encode())
    assert read_rules(path, rule_list) == rule_list.rules


def test_table_of_exclusive_classes_is_read_back_as_it_was(tmp_path: Path) -> None:
    rule_list, _ = learned_classes()
    (tmp_path / "rules.csv").write_text(to_csv(rule_list), encoding="utf-8")
    assert read_rules(tmp_path / "rules.csv", rule_list) == rule_list.rules


def test_xlsx_has_a_row_per_rule_filters_and_titles_that_stay(edited: Any) -> None:
    sheet = openpyxl.load_workbook(edited()).active
    lines = list(sheet.iter_rows(values_only=True))
    assert lines[0][:8] == ("rule", "labels", "stripes", "area", "continent", "sun", "earlier labels", "marks")
    assert lines[1][:8] == (1, "red, ¬blue", "> 2", "0 < … <= 5", None, None, None, None)
    assert lines[2][:8] == (2, "red", None, None, "Asia", None, None, "stop")
    assert lines[3][:8] == (3, "blue", None, None, None, "yes", "red", None)
    assert sheet.freeze_panes == "C2"
    assert sheet.auto_filter.ref == sheet.dimensions
    assert sheet["C3"].number_format == "@"


def test_rows_are_reordered_deleted_edited_and_added(edited: Any, rule_list: RuleList) -> None:
    def change(sheet: Any) -> None:
        sheet.delete_rows(3)
        sheet.append([None, "¬red", "<= 1\n> 0", None, "not in {Africa}", "no", None, "locked"])
        sheet["C2"] = ">= 3"

    path = edited(change)
    assert texts(path, rule_list) == [
        "red, ¬blue ← stripes >= 3 ∧ 0 < area <= 5",
        'blue ← red ∧ "sun"',
        '¬red ← stripes <= 1 ∧ stripes > 0 ∧ continent ≠ Africa ∧ no "sun"',
    ]
    assert read_rules(path, rule_list)[-1].locked


def test_a_column_of_another_attribute_can_be_added(edited: Any, rule_list: RuleList) -> None:
    path = edited(O1="unused", O3="> 7")
    assert texts(path, rule_list)[1] == "red ← continent = Asia ∧ unused > 7"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"B2": "red, green"}, "cell B2: there is no label 'green'"),
        ({"B2": None}, "cell B2: expected labels separated by commas, found nothing"),
        ({"B2": "red <- stripes > 2"}, "cell B2: there is no attribute 'stripes'"),
        ({"C2": "> two"}, "cell C2: expected a number after '>'"),
        ({"C2": 7}, "cell C2: expected '<=' or '>' after attribute 'stripes'"),
        ({"E3": "Europe"}, "cell E3: attribute 'continent' has no category 'Europe'"),
        ({"C2": "=1+1"}, "cell C2: a formula; expected text"),
        ({"G4": "green"}, "cell G4: there is no label"),
        ({"H3": "halt"}, "cell H3: expected stop, locked or nothing, found 'halt'"),
        ({"C1": "stripe"}, "cell C1: expected an attribute of the model, found 'stripe'; did you mean 'stripes'"),
        ({"C1": "area"}, "cell D1: a second column 'area'"),
        ({"C1": None}, "cell O1: expected a column 'stripes'"),
        ({"H1": None}, "cell O1: expected a column 'marks'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_cell(
    edited: Any, rule_list: RuleList, cells: dict[str, Any], message: str
) -> None:
    with pytest.raises(ModelError, match=r"rules\.xlsx") as error:
        read_rules(edited(**cells), rule_list)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        ('"species: setosa", "species: virginica"', "of which only one can be present"),
        ("huge, ¬tall", "without tall, which it implies"),
    ],
)
def test_labels_that_contradict_each_other_are_refused_with_their_cell(
    tmp_path: Path, labels: str, problem: str
) -> None:
    rule_list, _ = learned_classes()
    cells = list(csv.reader(io.StringIO(to_csv(rule_list).lstrip("\ufeff"))))
    cells[2][1] = labels
    with (tmp_path / "rules.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(cells)
    with pytest.raises(ModelError, match=r"rules\.csv, cell B3: .*") as error:
        read_rules(tmp_path / "rules.csv", rule_list)
    assert problem in str(error.value)


@pytest.mark.parametrize("name", ["007", "1.0", "1e5", "1-2", "2024-01-05", "5 Mar", "March 2020", "12:30", "TRUE"])
def test_names_that_a_spreadsheet_would_convert_are_quoted(tmp_path: Path, name: str) -> None:
    rule_list = make_rules(f'"{name}" <- "{name}" = "{name}"', {name: (name, "7")}, (name,))
    text = to_csv(rule_list)
    assert text.splitlines()[1].startswith(f'1,"""{name}""","""{name}"""')
    (tmp_path / "rules.csv").write_text(text, encoding="utf-8")
    assert read_rules(tmp_path / "rules.csv", rule_list) == rule_list.rules


@pytest.mark.parametrize("name", ["7", "0", "1st", "march", "mayor", "10 mg", "B12"])
def test_names_that_a_spreadsheet_keeps_are_not_quoted(name: str) -> None:
    rule_list = make_rules(f"a <- c = {name}", {"c": (name, "other")}, ("a",))
    assert to_csv(rule_list).splitlines()[1].startswith(f"1,a,{name},")


def test_merged_cells_are_refused(edited: Any, rule_list: RuleList) -> None:
    with pytest.raises(ModelError, match=r"rules\.xlsx, cells C2:C3: merged"):
        read_rules(edited(lambda sheet: sheet.merge_cells("C2:C3")), rule_list)


def test_a_file_of_another_kind_is_refused(tmp_path: Path, rule_list: RuleList) -> None:
    (tmp_path / "rules.xlsx").write_text("no book")
    with pytest.raises(ModelError, match="is no Excel file that can be read"):
        read_rules(tmp_path / "rules.xlsx", rule_list)
    with pytest.raises(ModelError, match="there is no such file"):
        read_rules(tmp_path / "other.xlsx", rule_list)


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "+x", "-x", "'=x", "\tx", "labels", '"', "…", "is missing"])
def test_no_cell_is_a_formula_whatever_names_say(tmp_path: Path, name: str) -> None:
    attributes = (Attribute(name, (name, "b")), Attribute("x"))
    rule_list = RuleList.from_text("r <-", attributes, ["r", name + " label"])
    rule = rule_list.parse(f"{in_quotes(name + ' label')} <- {in_quotes(name)} = {in_quotes(name)} and x > 1")
    rule_list = rule_list.edit().replace_all([rule]).rule_list
    cells = [cell for line in csv.reader(io.StringIO(to_csv(rule_list).lstrip("\ufeff"))) for cell in line]
    # Conditions begin with a comparison, which no spreadsheet computes.
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "'"))]
    (tmp_path / "rules.xlsx").write_bytes(to_xlsx(rule_list))
    assert read_rules(tmp_path / "rules.xlsx", rule_list) == rule_list.rules


def test_a_cell_that_excel_cannot_hold_is_refused() -> None:
    many = tuple(f"category {i}" for i in range(4000))
    rule = Rule(Head((Assignment("red", 0, True),)), (OneOfCondition("c", 0, many[:3000]),))
    with pytest.raises(ModelError, match=r"cell C2 would hold 4\d+ characters, Excel allows 32767"):
        to_xlsx(RuleList((rule,), (Attribute("c", many),), ("red",)))


def test_more_columns_than_excel_has_are_refused() -> None:
    attributes = tuple(Attribute(f"a{i}") for i in range(16_384))
    body = tuple(RangeCondition(attribute.name, i, above=1) for i, attribute in enumerate(attributes))
    rule_list = RuleList((Rule(Head((Assignment("red", 0, True),)), body),), attributes, ("red",))
    with pytest.raises(ModelError, match="the rules need 16394 columns, Excel allows 16384; export them as csv"):
        to_xlsx(rule_list)


def test_a_row_without_its_last_cells_is_read(tmp_path: Path, rule_list: RuleList) -> None:
    lines = to_csv(rule_list).splitlines()
    (tmp_path / "rules.csv").write_text("\n".join([lines[0], "1,red,> 2"]), encoding="utf-8")
    assert texts(tmp_path / "rules.csv", rule_list) == ["red ← stripes > 2"]


@pytest.mark.parametrize("seed", range(40))
def test_a_damaged_table_is_read_or_refused(tmp_path: Path, rule_list: RuleList, seed: int) -> None:
    random_ = random.Random(seed)
    suffix = "xlsx" if seed % 2 else "csv"
    content = bytearray(to_xlsx(rule_list) if suffix == "xlsx" else to_csv(rule_list).encode())
    for _ in range(random_.randrange(1, 5)):
        content[random_.randrange(len(content))] = random_.randrange(256)
    path = tmp_path / f"rules.{suffix}"
    path.write_bytes(content[: random_.choice([None, None, len(content) // 2])])
    with contextlib.suppress(ModelError):
        read_rules(path, rule_list)


def test_csv_separated_by_semicolons_is_read(tmp_path: Path, rule_list: RuleList) -> None:
    lines = csv.reader(io.StringIO(to_csv(rule_list).lstrip("\ufeff")))
    with (tmp_path / "rules.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=";").writerows(lines)
    assert read_rules(tmp_path / "rules.csv", rule_list) == rule_list.rules


def test_note_says_which_rules_can_never_apply() -> None:
    rule_list = make_rules("red <- x > 1\nred <- x > 2", {"x": None}, ("red",))
    assert "unreachable: rule 1 decides red first" in to_csv(rule_list)


def test_a_rule_that_says_the_same_keeps_its_counts(tmp_path: Path, rule_list: RuleList) -> None:
    frame = pd.DataFrame({"stripes": [3.0], "area": [1.0], "continent": ["Asia"], "sun": ["no"]})
    counted = rule_list.edit(frame, [[1, 0]])
    assert counted.rule_list[0].tp == 2
    assert to_csv(counted.rule_list).splitlines()[1].startswith('1,"red, ¬blue",> 2,0 < … <= 5,,,,,1,2,0,1.0,')
    (tmp_path / "rules.csv").write_text(to_csv(counted.rule_list), encoding="utf-8")
    assert read_rules(tmp_path / "rules.csv", counted.rule_list) == counted.rule_list.rules
