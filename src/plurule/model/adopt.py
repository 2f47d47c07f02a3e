"""Rules of one list in another: attributes and labels are found by name, whatever their places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plurule.errors import ModelError, nearest
from plurule.model.attribute import Attribute
from plurule.model.condition import Condition, LabelCondition, NominalCondition
from plurule.model.head import Assignment, Head
from plurule.model.rule import Rule


def adopt(rule: Rule, attributes: Sequence[Attribute], labels: Sequence[str]) -> Rule:
    """The rule with the places that its attributes and labels have among the given ones.

    >>> rule = Rule(Head((Assignment("red", 7, True),)), (NominalCondition("continent", 3, "Asia"),))
    >>> adopt(rule, [Attribute("continent", ("Africa", "Asia"))], ["red"]).body
    (NominalCondition(name='continent', index=0, category='Asia'),)
    """
    label_places = {name: place for place, name in enumerate(labels)}
    attribute_places = {attribute.name: place for place, attribute in enumerate(attributes)}

    def adopt_condition(condition: Condition) -> Condition:
        if isinstance(condition, LabelCondition):
            return replace(condition, index=_place(condition.name, label_places, "label"))
        place = _place(condition.name, attribute_places, "attribute")
        categories = attributes[place].categories
        if isinstance(condition, NominalCondition) != (categories is not None):
            kind = "numeric" if categories is None else "nominal"
            raise ModelError(f"attribute {condition.name!r} is {kind}, which the condition {condition} does not fit")
        if isinstance(condition, NominalCondition) and categories is not None and condition.category not in categories:
            problem = f"attribute {condition.name!r} has no category {condition.category!r}"
            raise ModelError(problem + nearest(condition.category, categories))
        return replace(condition, index=place)

    head = [Assignment(a.name, _place(a.name, label_places, "label"), a.present) for a in rule.head]
    return replace(rule, head=Head(tuple(head)), body=tuple(map(adopt_condition, rule.body)))


def _place(name: str, places: Mapping[str, int], what: str) -> int:
    if name not in places:
        raise ModelError(f"there is no {what} {name!r}{nearest(name, places)}")
    return places[name]
