"""Where in a file something is wrong, and what is shown of it."""

from __future__ import annotations

from plurule.data.place import Place, Source, shown


def test_a_row_stands_on_its_line_or_else_has_a_number() -> None:
    place = Place("flags.csv")
    assert Source(place, lines=[2, 5]).at_row(1) == "flags.csv, line 5"
    assert Source(place).at_row(1) == "flags.csv, row 2"
    assert str(place.at(7).error("is odd")) == "flags.csv, line 7: is odd"


def test_long_texts_are_cut() -> None:
    assert shown("x" * 60) == repr("x" * 60)
    assert shown("x" * 61) == repr("x" * 59 + "…")
