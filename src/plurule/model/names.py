"""The names that rules may speak about and where they stand, so that a rule of one list becomes one of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from plurule.errors import ModelError, nearest
from plurule.model.attribute import Attribute
from plurule.model.condition import Condition, LabelCondition, NominalCondition
from plurule.model.head import Assignment, Head
from plurule.model.rule import Rule


class Names:
    """Attributes and labels, found by name.

    >>> names = Names([Attribute("continent", ("Africa", "Asia"))], ["red"])
    >>> rule = Rule(Head((Assignment("red", 7, True),)), (NominalCondition("continent", 3, "Asia"),))
    >>> names.adopt(rule).body
    (NominalCondition(name='continent', index=0, category='Asia'),)
    """

    def __init__(self, attributes: Sequence[Attribute], labels: Sequence[str]):
        self.declared = attributes
        self.attributes = {attribute.name: place for place, attribute in enumerate(attributes)}
        self.labels = {name: place for place, name in enumerate(labels)}

    def adopt(self, rule: Rule) -> Rule:
        """The rule with the places that its attributes and labels have here."""
        head = Head(tuple(Assignment(a.name, self.label(a.name), a.present) for a in rule.head))
        return replace(rule, head=head, body=tuple(map(self.condition, rule.body)))

    def label(self, name: str) -> int:
        """The place of a label."""
        return _place(name, self.labels, "label")

    def condition(self, condition: Condition) -> Condition:
        """The condition with the place that what it tests has here."""
        if isinstance(condition, LabelCondition):
            return replace(condition, index=self.label(condition.name))
        place = _place(condition.name, self.attributes, "attribute")
        categories = self.declared[place].categories
        if isinstance(condition, NominalCondition) != (categories is not None):
            kinds = {True: "nominal", False: "numeric"}
            kind = isinstance(condition, NominalCondition)
            raise ModelError(f"{condition} is a {kinds[kind]} condition, but {condition.name!r} is {kinds[not kind]}")
        if isinstance(condition, NominalCondition) and categories is not None and condition.category not in categories:
            problem = f"attribute {condition.name!r} has no category {condition.category!r}"
            raise ModelError(problem + nearest(condition.category, categories))
        return replace(condition, index=place)


def _place(name: str, places: Mapping[str, int], what: str) -> int:
    if name not in places:
        raise ModelError(f"there is no {what} {name!r}{nearest(name, places)}")
    return places[name]
