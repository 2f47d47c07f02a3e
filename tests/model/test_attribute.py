"""What a column is."""

from __future__ import annotations

from plurule.model import (
    Attribute,
)


def test_an_attribute_with_categories_is_nominal():
    assert Attribute("landmass", ("Asia", "Europe")).is_nominal
    assert Attribute("landmass", ()).is_nominal
    assert not Attribute("colours").is_nominal
