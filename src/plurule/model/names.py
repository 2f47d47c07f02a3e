"""The names that rules may speak about and where they stand, so that a rule of one list becomes one of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from plurule.errors import ModelError, nearest
from plurule.model.condition import (
    Attribute,
    Condition,
    IntervalCondition,
    MissingCondition,
    NominalCondition,
    SetCondition,
)
from plurule.model.head import Assignment, Head
from plurule.model.rule import Rule

N = TypeVar("N", bound=Assignment | Condition)


class Names:
    """Attributes and labels, found by name.

    >>> names = Names([Attribute("continent", ("Africa", "Asia"))], ["red"])
    >>> rule = Rule(Head((Assignment("red", 7, True),)), (NominalCondition("continent", 3, "Asia"),))
    >>> names.adopt(rule).body
    (NominalCondition(name='continent', index=0, category='Asia', of_binary=False),)
    """

    def __init__(self, attributes: Sequence[Attribute], labels: Sequence[str]):
        self.declared = attributes
        self.attributes = {attribute.name: place for place, attribute in enumerate(attributes)}
        self.labels = {name: place for place, name in enumerate(labels)}

    def adopt(self, rule: Rule) -> Rule:
        """The rule with the places that its attributes and labels have here."""
        head = Head(tuple(map(self.placed, rule.head)))
        return replace(rule, head=head, body=tuple(map(self.placed, rule.body)))

    def placed(self, named: N) -> N:
        """The condition or assignment with the place that what it is about has here."""
        if isinstance(named, Assignment):
            return replace(named, index=_place(named.name, self.labels, "label"))
        place = _place(named.name, self.attributes, "attribute")
        if isinstance(named, MissingCondition):
            return replace(named, index=place)
        categories, kind = self.declared[place].categories, isinstance(named, NominalCondition | SetCondition)
        if kind != (categories is not None):
            kinds = {True: "nominal", False: "numeric"}
            raise ModelError(f"{named} is a {kinds[kind]} condition, but {named.name!r} is {kinds[not kind]}")
        asked: tuple[str, ...] = ()
        if isinstance(named, NominalCondition | SetCondition):
            asked = named.categories if isinstance(named, SetCondition) else (named.category,)
        unknown = next((category for category in asked if category not in (categories or ())), None)
        if unknown is not None:
            problem = f"attribute {named.name!r} has no category {unknown!r}"
            raise ModelError(problem + nearest(unknown, categories or ()))
        if isinstance(named, IntervalCondition | SetCondition):
            return replace(named, index=place)
        return replace(named, index=place, of_binary=self.declared[place].is_binary)


def _place(name: str, places: Mapping[str, int], what: str) -> int:
    if name not in places:
        raise ModelError(f"there is no {what} {name!r}{nearest(name, places)}")
    return places[name]
