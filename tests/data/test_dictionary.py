"""Data dictionaries: units and descriptions that go with a rule list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.rule_lists import make_rules
from plurule.data.dictionary import apply_dictionary
from plurule.errors import DataError
from plurule.model import RuleList
from plurule.model import file as model_file
from plurule.model.naming import Meaning

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
    ],
)
def test_a_dictionary_is_read_from_csv(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert apply_dictionary(RULES, tmp_path / name).dictionary == MEANINGS
    assert RULES.with_dictionary(str(tmp_path / name)) == RULES


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("d.csv", "name,unit\naera,km²\n", "d.csv: describes 'aera': no attributes or labels; did you mean "
         "'area'?; correct or remove what is unknown"),
        ("d.csv", "name,unit\nx,km²\ny,m\n", "d.csv: describes 'x', 'y': no attributes or labels; known are "
         "'area', 'since', 'red', 'blue'; correct or remove what is unknown"),
        ("d.csv", "column,unit\narea,km²\n", "d.csv, line 1: found the columns 'column', 'unit', expected 'name' and"),
        ("d.csv", "", "d.csv, line 1: found the columns none, expected 'name'"),
        ("d.csv", "name,unit\narea,km²\narea,m\n", "d.csv, line 3: describes 'area' again, expected each name once"),
        ("d.csv", "name,unit\n,km²\n", "d.csv, line 2: a line without a name"),
        ("d.csv", "name,unit\narea," + "x" * 200_000, "d.csv, line 2: field larger than field limit"),
        ("d.json", "{}", "expected a dictionary as a file that ends in .csv or .tsv"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        apply_dictionary(RULES, tmp_path / name)
    assert problem in str(error.value)


def test_a_file_that_is_not_there_and_things_that_are_no_dictionary_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.csv: there is no such file"):
        apply_dictionary(RULES, tmp_path / "gone.csv")
    with pytest.raises(DataError, match="a dictionary is a file or a mapping, found int"):
        apply_dictionary(RULES, 3)


@pytest.mark.parametrize(
    ("dictionary", "problem"),
    [
        ({"area": ["km²"]}, "expected a description, or a mapping with the texts 'unit' and 'description'"),
        ({"area": {"unit": ["km²"]}}, "'area' has \"{'unit': ['km²']}\", expected a description"),
        ({"area": {"units": "km²"}}, "'area' has \"{'units': 'km²'}\", expected a description"),
    ],
)
def test_a_mapping_of_other_things_than_texts_is_refused(dictionary: dict[str, Any], problem: str) -> None:
    with pytest.raises(DataError) as error:
        apply_dictionary(RULES, dictionary)
    assert problem in str(error.value)


def test_a_model_file_keeps_the_dictionary() -> None:
    rules = apply_dictionary(RULES, SAID)
    assert model_file.loads(model_file.dumps(rules)).dictionary == MEANINGS
    assert '"dictionary"' not in model_file.dumps(RULES)
    assert rules[:1].dictionary == MEANINGS
    assert rules.edit().remove(1).rule_list.dictionary == MEANINGS


def test_a_column_of_classes_describes_each_class() -> None:
    rules = RuleList((), RULES.attributes, ("kind: a", "kind: b", "red"), groups=((0, 1),))
    assert set(apply_dictionary(rules, {"kind": "what it is"}).dictionary) == {"kind: a", "kind: b"}


def test_explanations_exports_and_reports_have_units_and_descriptions() -> None:
    rules = apply_dictionary(RULES, SAID | {"since": {"unit": "year\nof"}})
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
