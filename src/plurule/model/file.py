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
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from operator import methodcaller
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from plurule.errors import ModelError, first_repeated, nearest
from plurule.files import write_text
from plurule.model import (
    Assignment,
    Attribute,
    Condition,
    Head,
    IntervalCondition,
    LabelCondition,
    LengthChoice,
    MissingCondition,
    NominalCondition,
    NumericCondition,
    Rule,
    RuleList,
    SetCondition,
)
from plurule.model.dictionary import Meaning
from plurule.model.names import Names

N = TypeVar("N", bound=Assignment | Condition)

FORMAT = "plurule rule list"
VERSION = 2
"""The newest that is read. A file is written in the oldest version that can say what it says."""

_COUNTS = ("tp", "fp", "coverage")
_NOT_FINITE = ("inf", "-inf", "nan")


def save(rule_list: RuleList, path: str | Path) -> None:
    """Write a rule list to a model file, whole or not at all.

    Parameters
    ----------
    rule_list
        The rules.
    path
        The file; one that is there is replaced.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from plurule import load_model, save_model
    >>> with TemporaryDirectory() as folder:
    ...     save_model(RuleList((), (), ("red",)), f"{folder}/model.json")
    ...     load_model(f"{folder}/model.json").labels
    ('red',)
    """
    try:
        write_text(path, dumps(rule_list))
    except OSError as error:
        raise ModelError(f"{path}: cannot be written ({error.strerror or error})") from error


def load(path: str | Path) -> RuleList:
    """Read the rule list of a model file.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> from plurule import load_model
    >>> load_model("nowhere.json")
    Traceback (most recent call last):
    plurule.errors.ModelError: nowhere.json: there is no such file
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is not a plurule model file (not UTF-8 text)") from None
    return loads(text, source=str(path))


def dumps(rule_list: RuleList) -> str:
    """The text of a model file; one line per attribute and per rule."""
    _expect_unique([a.name for a in rule_list.attributes], "attributes")
    _expect_unique(rule_list.labels, "labels")
    parts = {
        "format": _compact(FORMAT),
        "version": _compact(_version(rule_list)),
        "attributes": _lines(map(_attribute_to_json, rule_list.attributes)),
        "labels": _compact(list(rule_list.labels)),
        "rules": _lines(map(_rule_to_json, rule_list)),
        "undecided": _compact(rule_list.undecided),
    }
    if rule_list.groups:
        parts["groups"] = _compact([[rule_list.labels[i] for i in group] for group in rule_list.groups])
    if rule_list.hierarchy:
        parts["hierarchy"] = _compact([[rule_list.labels[i] for i in pair] for pair in rule_list.hierarchy])
    if rule_list.length_choice is not None:
        choice = asdict(rule_list.length_choice)
        unsaid = [name for name in ("how", "constant", "expected") if choice[name] in ("", None)]
        parts["length_choice"] = _compact({name: value for name, value in choice.items() if name not in unsaid})
    if rule_list.trained_on is not None:
        parts["trained_on"] = _compact(b64encode(rule_list.trained_on).decode("ascii"))
    if rule_list.dictionary:
        said = {name: {k: v for k, v in m._asdict().items() if v} for name, m in rule_list.dictionary.items()}
        parts["dictionary"] = _compact(said)
    return "{\n" + ",\n".join(f'"{key}": {text}' for key, text in parts.items()) + "\n}\n"


def loads(text: str, source: str = "model") -> RuleList:
    """The rule list of the text of a model file; `source` is what complaints call it."""
    try:
        return _read(_Node(json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant), ""))
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    except json.JSONDecodeError as error:
        place = f"{source}, line {error.lineno}"
        raise ModelError(f"{place}: is not a plurule model file or is damaged ({error.msg.lower()})") from None
    except (RecursionError, ValueError) as error:
        raise ModelError(f"{source}: is not a plurule model file or is damaged ({error})") from None


def _expect_unique(names: Iterable[str], what: str) -> None:
    twice = first_repeated(names)
    if twice is not None:
        raise ModelError(f"two {what} are called {twice!r}; a model file tells them apart by name, rename one")


# Writing


def _version(rule_list: RuleList) -> int:
    """1, as long as no condition asks for a set of categories or a missing value."""
    newer = any(isinstance(c, SetCondition | MissingCondition) for rule in rule_list for c in rule.body)
    return 2 if newer else 1


def _compact(value: Any) -> str:
    try:
        # Numbers of numpy are not JSON's.
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=methodcaller("item"))
    except ValueError as error:
        raise ModelError(f"the rule list holds a number that is not finite and cannot be written ({error})") from error


def _lines(values: Iterable[Any]) -> str:
    lines = ",\n".join("  " + _compact(value) for value in values)
    return f"[\n{lines}\n]" if lines else "[]"


def _attribute_to_json(attribute: Attribute) -> dict[str, Any]:
    """What there is to say about an attribute; which values a nominal one has, its categories tell."""
    found: dict[str, Any] = {"name": attribute.name}
    if attribute.categories is not None:
        return found | {"categories": attribute.categories}
    return found | ({"only_0_and_1": True} if attribute.only_0_and_1 else {})


def rule_to_json(rule: Rule) -> Any:
    """A rule as the file has it."""
    return json.loads(_compact(_rule_to_json(rule)))


def rule_from_json(value: Any, attributes: Sequence[Attribute], labels: Sequence[str]) -> Rule:
    """A rule about attributes and labels, from what the file has of it."""
    return _rule(_Node(value, "rule"), Names(attributes, labels))


def _rule_to_json(rule: Rule) -> dict[str, Any]:
    return {
        "head": [_named_to_json(assignment) for assignment in rule.head],
        "body": [_named_to_json(condition) for condition in rule.body],
        **{key: getattr(rule, key) for key in _COUNTS},
        "value": rule.value if math.isfinite(rule.value) else str(float(rule.value)),
        "stop": bool(rule.stop),
        "decided": rule.decided,
        **({"locked": True} if rule.locked else {}),
        **({} if rule.stability is None else {"stability": rule.stability}),
    }


def _named_to_json(named: Assignment | Condition) -> dict[str, Any]:
    """A condition or an assignment: the name of what it is about, and what it says about that."""
    if isinstance(named, Assignment):
        implied = {"implied": True} if named.implied and named.present else {}
        return {"label": named.name, "present": bool(named.present)} | implied
    return {"attribute": named.name} | {key: getattr(named, key) for key in _said(type(named))}


def _said(kind: type[Any]) -> list[str]:
    """What there is to say besides the name and the place."""
    return [field.name for field in fields(kind) if field.name not in ("name", "index", "of_binary", "implied")]


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

    def expect(self, is_right: bool, expected: str) -> Any:
        """The value, if it is right; otherwise the complaint says what was expected instead."""
        if is_right:
            return self.value
        shown = json.dumps(self.value, ensure_ascii=False)
        shown = shown if len(shown) <= 60 else shown[:59] + "…"
        raise ModelError(f"{self.path or 'the file'} is {shown}, expected {expected}")

    def members(self, *required: str, optional: tuple[str, ...] = ()) -> dict[str, _Node]:
        """The members of an object that must have these keys and no others."""
        self.expect(isinstance(self.value, dict), "an object")
        where = f"{self.path}: " if self.path else ""
        for key in required:
            if key not in self.value:
                raise ModelError(f"{where}{key!r} is missing")
        for key in self.value:
            if key not in required and key not in optional:
                raise ModelError(f"{where}{key!r} is not known{nearest(key, [*required, *optional])}")
        return {key: _Node(value, f"{self.path}.{key}" if self.path else key) for key, value in self.value.items()}

    def items(self, least: int = 0) -> list[_Node]:
        self.expect(isinstance(self.value, list), "a list")
        self.expect(len(self.value) >= least, f"a list of at least {least}")
        return [_Node(value, f"{self.path}[{i}]") for i, value in enumerate(self.value)]

    def text(self) -> str:
        return str(self.expect(isinstance(self.value, str), "a text"))

    def truth(self) -> bool:
        return bool(self.expect(isinstance(self.value, bool), "true or false"))

    def operator(self) -> str:
        return str(self.expect(self.text() in ("<=", ">"), '"<=" or ">"'))

    def number(self) -> float:
        self.expect(isinstance(self.value, int | float) and not isinstance(self.value, bool), "a number")
        largest = sys.float_info.max
        found: float = self.expect(-largest <= self.value <= largest, "a number that a double can hold")
        return found

    def threshold(self) -> float:
        return float(self.number())

    def count(self) -> float:
        number: float = self.expect(self.number() >= 0, "a number of at least 0")
        return number

    def share(self) -> float:
        return float(self.expect(0 <= self.number() <= 1, "a number from 0 to 1"))

    def heuristic_value(self) -> float:
        return float(self.value) if self.value in _NOT_FINITE else self.number()

    def texts(self) -> tuple[str, ...]:
        return tuple(item.text() for item in self.items())

    def categories(self) -> tuple[str, ...]:
        found = self.texts()
        self.expect(len(set(found)) == len(found) >= 1, "at least one category, each once")
        return found

    def fingerprints(self) -> bytes:
        try:
            found = b64decode(self.text(), validate=True)
        except ValueError:
            found = b"?"
        self.expect(len(found) % 4 == 0, "numbers of 32 bits, as base64")
        return found

    def pairs(self, length: int, of: str) -> tuple[tuple[float, float], ...]:
        """Pairs of counts, one for each of something, or none at all."""
        items = self.items()
        if items and len(items) != length:
            raise ModelError(f"{self.path} has {len(items)} pairs, expected {length}, one for each {of}")
        for item in items:
            item.expect(len(item.items()) == 2, "a pair of numbers")
        return tuple((first.count(), second.count()) for first, second in (item.items() for item in items))


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
    optional = ("undecided", "length_choice", "trained_on", "groups", "dictionary", "hierarchy")
    members = file.members("format", "version", "attributes", "labels", "rules", optional=optional)
    attributes = tuple(_attribute(item) for item in members["attributes"].items())
    labels = members["labels"].texts()
    _expect_unique([a.name for a in attributes], "attributes")
    _expect_unique(labels, "labels")
    names = Names(attributes, labels)
    rules = tuple(_rule(item, names) for item in members["rules"].items())
    undecided = members["undecided"].pairs(len(labels), "label") if "undecided" in members else ()
    choice = _length_choice(members["length_choice"]) if "length_choice" in members else None
    trained_on = members["trained_on"].fingerprints() if "trained_on" in members else None
    groups = tuple(_group(item, labels) for item in members["groups"].items()) if "groups" in members else ()
    above = tuple(_group(item, labels, 2) for item in members["hierarchy"].items()) if "hierarchy" in members else ()
    meanings = _dictionary(members["dictionary"], names) if "dictionary" in members else {}
    try:
        return RuleList(rules, attributes, labels, undecided, choice, trained_on, groups, meanings, above)
    except ModelError as error:
        raise ModelError(f"rules: {error}") from None


def _group(item: _Node, labels: tuple[str, ...], most: int | None = None) -> tuple[Any, ...]:
    """The places of different labels: those of which exactly one is present, or one and the one above it."""
    found = item.texts()
    item.expect(len(set(found)) == len(found) >= 2, "at least two different labels")
    item.expect(most is None or len(found) <= most, f"at most {most} labels")
    for name in found:
        item.expect(name in labels, f"labels of the file, not {name!r}")
    return tuple(map(labels.index, found))


def _dictionary(item: _Node, names: Names) -> dict[str, Meaning]:
    found = {}
    for name, said in item.members(optional=(*names.attributes, *names.labels)).items():
        found[name] = Meaning(**{key: node.text() for key, node in said.members(optional=Meaning._fields).items()})
    return found


def _length_choice(item: _Node) -> LengthChoice:
    members = item.members("measure", "mean", "standard_error", "chosen", optional=("how", "constant", "expected"))
    mean = tuple(float(value.number()) for value in members["mean"].items(least=1))
    error = tuple(float(value.count()) for value in members["standard_error"].items())
    if len(error) != len(mean):
        raise ModelError(f"{item.path}: mean has {len(mean)} numbers, standard_error has {len(error)}")
    chosen = members["chosen"].number()
    members["chosen"].expect(isinstance(chosen, int) and 1 <= chosen <= len(mean), f"a length from 1 to {len(mean)}")
    how = members["how"].text() if "how" in members else ""
    constant = float(members["constant"].number()) if "constant" in members else None
    expected = None
    if "expected" in members:
        score, spread, *more = members["expected"].items(least=2)
        members["expected"].expect(not more, "a score and its standard error")
        expected = float(score.number()), float(spread.count())
    return LengthChoice(members["measure"].text(), mean, error, int(chosen), how, constant, expected)


def _attribute(item: _Node) -> Attribute:
    members = item.members("name", optional=("categories", "only_0_and_1"))
    name = members["name"].text()
    if "categories" not in members:
        return Attribute(name, only_0_and_1="only_0_and_1" in members and members["only_0_and_1"].truth())
    categories = members["categories"].texts()
    _expect_unique(categories, f"categories of {name!r}")
    return Attribute(name, categories)


_READ: dict[str, Callable[[_Node], Any]] = {
    **dict.fromkeys(_COUNTS, _Node.count),
    **dict.fromkeys(("stop", "locked", "present", "negated", "missing", "implied"), _Node.truth),
    "value": _Node.heuristic_value,
    "stability": _Node.share,
    "category": _Node.text,
    "categories": _Node.categories,
    "operator": _Node.operator,
    **dict.fromkeys(("threshold", "above", "at_most"), _Node.threshold),
}
"""How the members of rules, conditions and assignments are read."""
_OPTIONAL = (*_COUNTS, "value", "stop", "locked", "stability")
"""What a file may leave out of a rule, besides the pairs that it decided."""


def _rule(item: _Node, names: Names) -> Rule:
    members = item.members("head", "body", optional=(*_OPTIONAL, "decided"))
    head = [_named(part, Assignment, names) for part in members["head"].items(least=1)]
    members["head"].expect(len({a.index for a in head}) == len(head), "each label once")
    body = tuple(_condition(part, names) for part in members["body"].items())
    given = {key: _READ[key](members[key]) for key in _OPTIONAL if key in members}
    if "decided" in members:
        given["decided"] = members["decided"].pairs(len(head), "label of the head")
    return Rule(Head(tuple(head)), body, **given)


_KINDS: dict[str, type[Condition]] = {
    "label": LabelCondition,
    "category": NominalCondition,
    "categories": SetCondition,
    "missing": MissingCondition,
    "at_most": IntervalCondition,
}
"""Conditions, by a key that no other kind has."""


def _condition(item: _Node, names: Names) -> Condition:
    keys: set[str] = set(item.value) if isinstance(item.value, dict) else set()
    return _named(item, next((_KINDS[key] for key in _KINDS if key in keys), NumericCondition), names)


def _named(item: _Node, kind: type[N], names: Names) -> N:
    """The inverse of `_named_to_json`."""
    what, said = "label" if issubclass(kind, Assignment) else "attribute", _said(kind)
    more = ("implied",) if kind is Assignment else ()
    members = item.members(what, *said, optional=more)
    given = [key for key in (*said, *more) if key in members]
    named = kind(members[what].text(), 0, **{key: _READ[key](members[key]) for key in given})
    try:
        return names.placed(named)
    except ModelError as error:
        raise ModelError(f"{item.path}: {error}") from None
