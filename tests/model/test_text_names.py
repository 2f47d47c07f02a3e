"""Rules of one list in another."""

from __future__ import annotations

import pytest

from helpers.rule_lists import make_rules
from plurule.errors import ModelError
from plurule.model.text import Names

COLUMNS = {"area": None, "zone": ("N", "S")}


def test_a_rule_is_found_its_places_by_name_and_keeps_all_else() -> None:
    (rule,) = make_rules("blue, ¬red <- zone = N and area > 2 and green [stop]", COLUMNS, ("red", "green", "blue"))
    there = make_rules("", {"zone": ("S", "N"), "x": None, "area": None}, ("green", "blue", "red"))
    adopted = Names(there.attributes, there.labels).adopt(rule)
    assert [a.index for a in adopted.head] == [1, 2]
    assert [c.index for c in adopted.body] == [0, 2, 0]
    assert adopted.stop
    here = make_rules("", COLUMNS, ("red", "green", "blue"))
    assert Names(here.attributes, here.labels).adopt(adopted) == rule


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("blue <-", "there is no label 'blue'; known are 'red'"),
        ("red <- green", "there is no label 'green'"),
        ("red <- aera > 2", "there is no attribute 'aera'; did you mean 'area'?"),
        ("red <- zone = X", "attribute 'zone' has no category 'X'"),
        ("red <- zone2 = N", "there is no attribute 'zone2'; did you mean 'zone'?"),
        ("red <- area = N", "area = N is a nominal condition, but 'area' is numeric"),
    ],
)
def test_a_name_that_is_not_there_is_named(text: str, problem: str) -> None:
    columns = {"aera": None, "area": ("N",), "zone": ("X",), "zone2": ("N",)}
    (rule,) = make_rules(text, columns, ("red", "green", "blue"))
    names = make_rules("", COLUMNS, ("red",))
    with pytest.raises(ModelError) as caught:
        Names(names.attributes, names.labels).adopt(rule)
    assert problem in str(caught.value)
