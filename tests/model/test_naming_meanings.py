"""What attributes and labels mean, as it is written beside them."""

from __future__ import annotations

from plurule.model.naming import Meaning, meanings, unit_of

DICTIONARY = {"area": Meaning("km²", "land"), "time": Meaning("s"), "red": Meaning(description="a colour")}


def test_a_meaning_is_its_unit_and_its_description_where_there_are_any() -> None:
    assert [str(meaning) for meaning in (*DICTIONARY.values(), Meaning())] == ["km²: land", "s", "a colour", ""]


def test_a_unit_stands_after_a_number_and_commands_no_terminal() -> None:
    assert [unit_of(DICTIONARY, name) for name in ("area", "red", "unknown")] == [" km²", "", ""]
    assert "\x1b" not in unit_of({"a": Meaning("\x1b[31m")}, "a")


def test_there_is_a_line_for_each_name_that_is_described_in_the_order_of_the_names() -> None:
    assert meanings(DICTIONARY, ["red", "x", "time", "area"]) == ["red: a colour", "time (s)", "area (km²): land"]
    assert "\n" not in meanings({"a\nb": Meaning("c\nd", "e\nf")}, ["a\nb"])[0]
