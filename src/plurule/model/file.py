"""The model file: a rule list as JSON that people and other programs can read.

The file speaks in names (of attributes, categories and labels), states its version, and is described by
`docs/model-schema.json`. Reading one builds objects from plain text and numbers and can run nothing; whatever is
not as described is refused with a sentence that says what and where.

>>> from plurule.model import Assignment, Attribute, Head, NumericCondition, Rule, RuleList
>>> rule = Rule(Head((Assignment("red", 0, True),)), (NumericCondition("stripes", 0, ">", 2.5),), tp=3, fp=1)
>>> rule_list = RuleList((rule,), (Attribute("stripes"),), ("red",))
>>> loads(dumps(rule_list)) == rule_list
True
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar

from plurule.errors import ModelError, nearest
from plurule.files import write_text
from plurule.model import (
    Assignment,
    Attribute,
    Condition,
    Head,
    LabelCondition,
    LengthChoice,
    NominalCondition,
    NumericCondition,
    Rule,
    RuleList,
)
from plurule.model.names import Names

S = TypeVar("S")
T = TypeVar("T")

__all__ = ["FORMAT", "VERSION", "dumps", "load", "loads", "save"]

FORMAT = "plurule rule list"
VERSION = 1

_OPERATORS: dict[str, Literal["<=", ">"]] = {"<=": "<=", ">": ">"}
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def save(rule_list: RuleList, path: str | Path) -> None:
    """Write a rule list to a model file, whole or not at all."""
    try:
        write_text(path, dumps(rule_list))
    except OSError as error:
        raise ModelError(f"{path}: cannot be written ({error.strerror or error})") from error


def load(path: str | Path) -> RuleList:
    """Read the rule list of a model file."""
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is not a plurule model file (not UTF-8 text)") from None
    return loads(text, source=str(path))


def dumps(rule_list: RuleList) -> str:
    """The text of a model file; one line per attribute and per rule."""
    _expect_unique([a.name for a in rule_list.attributes], "attributes")
    _expect_unique(rule_list.labels, "labels")
    parts = {
        "format": _compact(FORMAT),
        "version": _compact(VERSION),
        "attributes": _lines(map(_attribute_to_json, rule_list.attributes)),
        "labels": _compact(list(rule_list.labels)),
        "rules": _lines(map(_rule_to_json, rule_list)),
        "undecided": _compact(_pairs_to_json(rule_list.undecided)),
    }
    if rule_list.length_choice is not None:
        parts["length_choice"] = _compact(_choice_to_json(rule_list.length_choice))
    return "{\n" + ",\n".join(f'"{key}": {text}' for key, text in parts.items()) + "\n}\n"


def loads(text: str, source: str = "model") -> RuleList:
    """The rule list of the text of a model file; `source` is what complaints call it."""
    try:
        content = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    except json.JSONDecodeError as error:
        raise ModelError(
            f"{source}, line {error.lineno}: is not a plurule model file or is damaged ({error.msg.lower()})"
        ) from None
    except (RecursionError, ValueError) as error:
        raise ModelError(f"{source}: is not a plurule model file or is damaged ({error})") from None
    try:
        return _read(_Node(content, ""))
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None


def _expect_unique(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelError(f"two {what} are called {name!r}; a model file tells them apart by name, rename one")
        seen.add(name)


# Writing


def _compact(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ModelError(f"the rule list holds a number that is not finite and cannot be written ({error})") from error


def _lines(values: Iterable[Any]) -> str:
    lines = ",\n".join("  " + _compact(value) for value in values)
    return f"[\n{lines}\n]" if lines else "[]"


def _attribute_to_json(attribute: Attribute) -> dict[str, Any]:
    if attribute.categories is None:
        return {"name": attribute.name}
    return {"name": attribute.name, "categories": list(attribute.categories)}


def _rule_to_json(rule: Rule) -> dict[str, Any]:
    value = _number_to_json(rule.value)
    return {
        "head": [{"label": a.name, "present": bool(a.present)} for a in rule.head],
        "body": [_condition_to_json(condition) for condition in rule.body],
        "tp": _number_to_json(rule.tp),
        "fp": _number_to_json(rule.fp),
        "coverage": _number_to_json(rule.coverage),
        "value": value if math.isfinite(value) else str(float(value)),
        "stop": bool(rule.stop),
        "decided": _pairs_to_json(rule.decided),
    } | ({"locked": True} if rule.locked else {})


def _condition_to_json(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, NumericCondition):
        threshold = _number_to_json(condition.threshold)
        return {"attribute": condition.name, "operator": condition.operator, "threshold": threshold}
    if isinstance(condition, NominalCondition):
        return {"attribute": condition.name, "category": condition.category}
    return {"label": condition.name, "present": bool(condition.present)}


def _pairs_to_json(pairs: Iterable[tuple[float, float]]) -> list[list[float]]:
    return [[_number_to_json(first), _number_to_json(second)] for first, second in pairs]


def _choice_to_json(choice: LengthChoice) -> dict[str, Any]:
    return {
        "measure": choice.measure,
        "mean": [_number_to_json(value) for value in choice.mean],
        "standard_error": [_number_to_json(value) for value in choice.standard_error],
        "chosen": choice.chosen,
    }


def _number_to_json(value: float) -> float:
    """A plain number: numpy's are not JSON's."""
    plain: float = value.item() if hasattr(value, "item") else value
    return plain


# Reading


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ModelError("is damaged: an object has the same key twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ModelError(f"is damaged: {name} is not a number of JSON")


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of the file and the way to it, for complaints."""

    value: Any
    path: str

    def wrong(self, expected: str) -> ModelError:
        shown = json.dumps(self.value, ensure_ascii=False)
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        return ModelError(f"{self.path or 'the file'} is {shown}, expected {expected}")

    def fields(self, *required: str, optional: tuple[str, ...] = ()) -> dict[str, _Node]:
        """The members of an object that must have these keys and no others."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        where = f"{self.path}: " if self.path else ""
        for key in required:
            if key not in self.value:
                raise ModelError(f"{where}{key!r} is missing")
        for key in self.value:
            if key not in required and key not in optional:
                raise ModelError(f"{where}{key!r} is not known{nearest(key, [*required, *optional])}")
        return {key: _Node(value, f"{self.path}.{key}" if self.path else key) for key, value in self.value.items()}

    def items(self, least: int = 0) -> list[_Node]:
        if not isinstance(self.value, list) or len(self.value) < least:
            raise self.wrong("a list" if not least else f"a list of at least {least}")
        return [_Node(value, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self.value

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong("a number")
        try:
            finite = math.isfinite(self.value)
        except OverflowError:
            finite = False
        if not finite:
            raise self.wrong("a number that a double can hold")
        return self.value

    def count(self) -> float:
        number = self.number()
        if number < 0:
            raise self.wrong("a number of at least 0")
        return number

    def pairs(self, length: int, of: str) -> tuple[tuple[float, float], ...]:
        """Pairs of counts, one for each of something, or none at all."""
        items = self.items()
        if items and len(items) != length:
            raise ModelError(f"{self.path} has {len(items)} pairs, expected {length}, one for each {of}")
        found = []
        for item in items:
            pair = item.items()
            if len(pair) != 2:
                raise item.wrong("a pair of numbers")
            found.append((pair[0].count(), pair[1].count()))
        return tuple(found)

    def found(self, find: Callable[[S], T], name: S) -> T:
        """What is found for a name, or for something with a name in it."""
        try:
            return find(name)
        except ModelError as error:
            raise ModelError(f"{self.path}: {error}") from None


def _read(file: _Node) -> RuleList:
    # The version comes first: a newer file may look different in every other respect.
    if not isinstance(file.value, dict) or file.value.get("format") != FORMAT:
        raise ModelError("is not a plurule model file")
    version = file.value.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ModelError(f"is damaged: its version is {version!r}, expected a whole number")
    if version > VERSION:
        raise ModelError(
            f"was written by a newer plurule (file version {version}, this plurule reads up to {VERSION}); "
            "upgrade plurule to read it"
        )
    fields = file.fields("format", "version", "attributes", "labels", "rules", optional=("undecided", "length_choice"))
    attributes = tuple(_attribute(item) for item in fields["attributes"].items())
    labels = tuple(item.text() for item in fields["labels"].items())
    _expect_unique([a.name for a in attributes], "attributes")
    _expect_unique(labels, "labels")
    names = Names(attributes, labels)
    rules = tuple(_rule(item, names) for item in fields["rules"].items())
    undecided = fields["undecided"].pairs(len(labels), "label") if "undecided" in fields else ()
    choice = _length_choice(fields["length_choice"]) if "length_choice" in fields else None
    return RuleList(rules, attributes, labels, undecided, choice)


def _length_choice(item: _Node) -> LengthChoice:
    fields = item.fields("measure", "mean", "standard_error", "chosen")
    mean = tuple(float(value.number()) for value in fields["mean"].items(least=1))
    error = tuple(float(value.count()) for value in fields["standard_error"].items())
    if len(error) != len(mean):
        raise ModelError(f"{item.path}: mean has {len(mean)} numbers, standard_error has {len(error)}")
    chosen = fields["chosen"].number()
    if not isinstance(chosen, int) or not 1 <= chosen <= len(mean):
        raise fields["chosen"].wrong(f"a length from 1 to {len(mean)}")
    return LengthChoice(fields["measure"].text(), mean, error, chosen)


def _attribute(item: _Node) -> Attribute:
    fields = item.fields("name", optional=("categories",))
    name = fields["name"].text()
    if "categories" not in fields:
        return Attribute(name)
    categories = tuple(category.text() for category in fields["categories"].items())
    _expect_unique(categories, f"categories of {name!r}")
    return Attribute(name, categories)


def _rule(item: _Node, names: Names) -> Rule:
    fields = item.fields("head", "body", optional=("tp", "fp", "coverage", "value", "stop", "decided", "locked"))
    assignments = [_assignment(part, names) for part in fields["head"].items(least=1)]
    if len({a.index for a in assignments}) < len(assignments):
        raise fields["head"].wrong("each label once")
    head = Head(tuple(assignments))
    body = tuple(_condition(part, names) for part in fields["body"].items())

    def optional(key: str, read: Callable[[_Node], Any], default: Any) -> Any:
        return read(fields[key]) if key in fields else default

    return Rule(
        head,
        body,
        tp=optional("tp", _Node.count, 0),
        fp=optional("fp", _Node.count, 0),
        coverage=optional("coverage", _Node.count, 0),
        value=optional("value", _value, 0.0),
        stop=optional("stop", _Node.truth, False),
        locked=optional("locked", _Node.truth, False),
        decided=optional("decided", lambda node: node.pairs(len(head), "label of the head"), ()),
    )


def _value(node: _Node) -> float:
    if isinstance(node.value, str) and node.value in _NOT_FINITE:
        return _NOT_FINITE[node.value]
    return node.number()


def _assignment(item: _Node, names: Names) -> Assignment:
    fields = item.fields("label", "present")
    name = fields["label"].text()
    return Assignment(name, item.found(names.label, name), fields["present"].truth())


def _condition(item: _Node, names: Names) -> Condition:
    keys: set[str] = set(item.value) if isinstance(item.value, dict) else set()
    condition: Condition
    if "label" in keys:
        fields = item.fields("label", "present")
        condition = LabelCondition(fields["label"].text(), 0, fields["present"].truth())
    elif "category" in keys:
        fields = item.fields("attribute", "category")
        condition = NominalCondition(fields["attribute"].text(), 0, fields["category"].text())
    else:
        fields = item.fields("attribute", "operator", "threshold")
        operator = _OPERATORS.get(fields["operator"].text())
        if operator is None:
            raise fields["operator"].wrong('"<=" or ">"')
        condition = NumericCondition(fields["attribute"].text(), 0, operator, float(fields["threshold"].number()))
    return item.found(names.condition, condition)
