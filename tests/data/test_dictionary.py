"""Data dictionaries: units and descriptions that go with a rule list."""

from __future__ import annotations

import builtins
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.rule_lists import make_rules
from plurule.data import describe
from plurule.errors import DataError
from plurule.model import RuleList
from plurule.model import file as model_file
from plurule.model.dictionary import Meaning

RULES = make_rules(
    "red <- area > 5 and 1948 <= since <= 1990\n¬blue <- red", {"area": None, "since": None}, ("red", "blue")
)
SAID = {"area": {"unit": "km²", "description": "land, without lakes"}, "red": "a colour"}
MEANINGS = {"area": Meaning("km²", "land, without lakes"), "red": Meaning(description="a colour")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.csv", 'name,unit,description\narea,km²,"land, without lakes"\nred,,a colour\n'),
        ("d.csv", "\ufeffName;Description;Unit;source\r\narea;land, without lakes;km²;UN\r\nred; a colour ;;\r\n"),
        ("d.tsv", "name\tunit\tdescription\narea\tkm²\tland, without lakes\nred\t\ta colour\n"),
        ("d.yaml", "area:\n  unit: km²\n  description: land, without lakes\nred: a colour\n"),
        ("d.yml", "area: {unit: km², description: 'land, without lakes'}\nred: {description: a colour}\n"),
    ],
)
def test_a_dictionary_is_read_from_csv_and_yaml(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert describe(RULES, tmp_path / name).dictionary == MEANINGS
    assert RULES.describe(str(tmp_path / name)) == RULES


def test_words_of_yaml_that_other_readers_take_for_values_are_texts(tmp_path: Path) -> None:
    rules = make_rules("yes <- no > 1", {"no": None}, ("yes",))
    (tmp_path / "d.yaml").write_text("no: {unit: 1}\nyes: 2020-01-01\n")
    assert describe(rules, tmp_path / "d.yaml").dictionary == {"no": Meaning("1"), "yes": Meaning("", "2020-01-01")}


BOMB = "[&a [x], " + ", ".join(f"&{b} [{', '.join([f'*{a}'] * 20)}]" for a, b in pairwise("abcdefgh")) + "]"
"""Lists of lists that would be a text of more than 20 ** 7 letters."""


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("d.csv", "name,unit\naera,km²\n", "d.csv: describes 'aera', which is no attribute or label; did you mean "
         "'area'? Correct the name, or take it out of the dictionary"),
        ("d.csv", "name,unit\nx,km²\ny,m\n", "d.csv: describes 'x', 'y', which are none; known are 'area', 'since', "
         "'red', 'blue'. Correct the names, or take them out of the dictionary"),
        ("d.csv", "column,unit\narea,km²\n", "d.csv, line 1: found the columns 'column', 'unit', expected 'name' and"),
        ("d.csv", "", "d.csv, line 1: found the columns none, expected 'name'"),
        ("d.csv", "name,unit\narea,km²\narea,m\n", "d.csv, line 3: describes 'area' again, expected each name once"),
        ("d.csv", "name,unit\n,km²\n", "d.csv, line 2: a line without a name"),
        ("d.yaml", "area: [km²]\n", "d.yaml: 'area' has a list, expected a description, or a unit and a description"),
        ("d.yaml", f"area: {BOMB}\n", "d.yaml: 'area' has a list, expected a description"),
        ("d.yaml", f"area: {{unit: {BOMB}}}\n", "d.yaml: 'area' has more than a text as its unit"),
        ("d.yaml", "area: " + "[" * 5000 + "]" * 5000, "d.yaml: is no YAML (maximum recursion depth exceeded"),
        ("d.csv", "name,unit\narea," + "x" * 200_000, "d.csv, line 2: field larger than field limit"),
        ("d.yaml", "area: {units: km²}\n", "d.yaml: 'area' has 'units'; did you mean 'unit'?"),
        ("d.yaml", "- area\n", "d.yaml: expected names, each with a description"),
        ("d.yaml", "red: x\narea: {unit: \n", "d.yaml, line 3: is no YAML"),
        ("d.json", "{}", "expected a dictionary as a file that ends in .csv, .tsv, .yaml or .yml"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        describe(RULES, tmp_path / name)
    assert problem in str(error.value)


def test_a_file_that_is_not_there_and_things_that_are_no_dictionary_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.csv: there is no such file"):
        describe(RULES, tmp_path / "gone.csv")
    with pytest.raises(DataError, match="a dictionary is a file or a mapping, found int"):
        describe(RULES, 3)


def test_yaml_without_pyyaml_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_yaml(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "yaml":
            raise ImportError(name)
        return real(name, *arguments, **named)

    (tmp_path / "d.yaml").write_text("red: a colour\n")
    monkeypatch.setattr(builtins, "__import__", without_yaml)
    with pytest.raises(ImportError, match=r"pip install 'plurule\[yaml\]'; CSV needs nothing"):
        describe(RULES, tmp_path / "d.yaml")


def test_a_model_file_keeps_the_dictionary() -> None:
    rules = describe(RULES, SAID)
    assert model_file.loads(model_file.dumps(rules)).dictionary == MEANINGS
    assert '"dictionary"' not in model_file.dumps(RULES)
    assert rules[:1].dictionary == MEANINGS
    assert rules.edit().remove(1).rule_list.dictionary == MEANINGS


def test_a_column_of_classes_describes_each_class() -> None:
    rules = RuleList((), RULES.attributes, ("kind: a", "kind: b", "red"), groups=((0, 1),))
    assert set(describe(rules, {"kind": "what it is"}).dictionary) == {"kind: a", "kind: b"}


def test_explanations_exports_and_reports_have_units_and_descriptions() -> None:
    rules = describe(RULES, SAID | {"since": {"unit": "year\nof"}})
    assert "since area = 6 km² > 5 and 1948 <= since = 1950 year\\nof <= 1990" in str(rules.explain([[6.0, 1950.0]])[0])
    lines = ["area (km²): land, without lakes", "since (year\\nof)", "red: a colour"]
    for text, mark in ((rules.to_sql(), "-- "), (rules.to_python(), "# "), (rules.to_latex(), "% ")):
        assert [f"{mark}{line}" in text.split("\n") for line in lines] == [True] * 3
    module: dict[str, Any] = {}
    exec(rules.to_python(), module)
    assert module["predict"]({"area": 6, "since": 1950}) == {"red": 1, "blue": 0}
    assert rules.to_markdown().endswith(
        "\n\n- area \\(km²\\): land, without lakes\n- since \\(year\\\\nof\\)\n- red: a colour"
    )
    page = rules.to_html(np.array([[6.0, 1950.0]]))
    for text in (
        "What the names mean",
        "area (km²): land, without lakes",
        ">5 km²</bdi>",
        '"unit":"km²"',
        '"a colour"',
    ):
        assert text in page
    assert "What the names mean" not in RULES.to_html()
    assert "(it is 6 km²)" in rules.explain([[6.0, 1950.0]]).to_html()
