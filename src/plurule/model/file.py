"""The model file: a rule list as JSON that people and other programs can read.

The file uses the names of attributes, categories and labels, states its version, and is described by a JSON schema,
`docs/model-schema.json`, which `python -m plurule.model.file` writes from the classes below. Reading a file builds
objects from plain text and numbers and can run nothing; whatever is not as described is refused with a sentence that
says what and where.

>>> from plurule.model import Assignment, Attribute, Head, RangeCondition, Rule, RuleList
>>> rule = Rule(Head((Assignment("red", 0, True),)), (RangeCondition("stripes", 0, above=2.5),), tp=3, fp=1)
>>> rule_list = RuleList((rule,), (Attribute("stripes"),), ("red",))
>>> loads(dumps(rule_list)) == rule_list
True
"""

from __future__ import annotations

import gc
import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from plurule._files import write_text
from plurule.errors import ModelError, first_repeated
from plurule.model.condition import (
    Attribute,
    Condition,
    LabelCondition,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
)
from plurule.model.naming import Meaning
from plurule.model.rule import Assignment, Head, Rule
from plurule.model.rule_list import LengthChoice, RuleList
from plurule.model.text import Names

FORMAT: Final = "plurule rule list"
VERSION: Final = 3

Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0)] | Annotated[float, Meta(ge=0)]
Pair = tuple[Count, Count]


class _Entry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An object of the file. Keys that are not described are refused, defaults are left out."""


class AttributeEntry(_Entry, frozen=True):
    """A column of the data: numeric, nominal with its categories in their order, or a date."""

    name: str
    categories: tuple[str, ...] | None = None
    only_0_and_1: bool = False
    # Bounds of ranges are then seconds since 1970-01-01.
    is_date: bool = False


class RangeEntry(_Entry, frozen=True, tag_field="kind", tag="range"):
    """A numeric attribute is larger than `above`, and at most `at_most`; one of the two may be left out."""

    name: str
    above: float | None = None
    at_most: float | None = None


class OneOfEntry(_Entry, frozen=True, tag_field="kind", tag="one of"):
    """A nominal attribute has one of some categories or, if negated, another one."""

    name: str
    categories: Annotated[tuple[str, ...], Meta(min_length=1)]
    negated: bool = False


class MissingEntry(_Entry, frozen=True, tag_field="kind", tag="missing"):
    """The value of an attribute is missing or, if `missing` is false, known."""

    name: str
    missing: bool


class LabelEntry(_Entry, frozen=True, tag_field="kind", tag="label"):
    """Earlier rules predicted a label as present or absent."""

    name: str
    present: bool


ENTRIES: dict[type[Condition], type[_Entry]] = {
    RangeCondition: RangeEntry,
    OneOfCondition: OneOfEntry,
    MissingCondition: MissingEntry,
    LabelCondition: LabelEntry,
}
CONDITIONS: dict[type[_Entry], Any] = {entry: condition for condition, entry in ENTRIES.items()}


class AssignmentEntry(_Entry, frozen=True):
    """A label that a rule predicts as present or absent; `implied` if others of the head imply its presence."""

    label: str
    present: bool
    implied: bool = False


class RuleEntry(_Entry, frozen=True):
    """A rule: if all conditions of the body hold, the labels of the head are predicted."""

    head: Annotated[tuple[AssignmentEntry, ...], Meta(min_length=1)]
    body: tuple[RangeEntry | OneOfEntry | MissingEntry | LabelEntry, ...]
    tp: Count = 0
    fp: Count = 0
    coverage: Count = 0
    value: float | Literal["inf", "-inf", "nan"] = 0.0
    stop: bool = False
    decided: tuple[Pair, ...] = ()
    locked: bool = False
    stability: Share | None = None

    def __post_init__(self) -> None:
        _expect_length(self.decided, len(self.head), "decided", "label of the head")


COUNTS = RuleEntry.__struct_fields__[2:]
"""Members of a rule that are the same in the file: counts and marks."""


class LengthChoiceEntry(_Entry, frozen=True):
    """Validation scores of lists of 1, 2, … rules, and the length that was chosen."""

    measure: str
    mean: Annotated[tuple[float, ...], Meta(min_length=1)]
    standard_error: tuple[Annotated[float, Meta(ge=0)], ...]
    chosen: Annotated[int, Meta(ge=1)]
    how: str = ""
    constant: float | None = None
    expected: tuple[float, Annotated[float, Meta(ge=0)]] | None = None

    def __post_init__(self) -> None:
        if not self.chosen <= len(self.mean) == len(self.standard_error):
            raise ValueError("expected as many means as standard errors, at least as many as the chosen length")


class MeaningEntry(_Entry, frozen=True):
    """Unit and description of an attribute or a label."""

    unit: str = ""
    description: str = ""


class ModelFile(_Entry, frozen=True):
    """A rule list: rules are applied in order, each label is decided once, undecided labels are absent."""

    format: Literal["plurule rule list"]
    version: Literal[3]
    attributes: tuple[AttributeEntry, ...]
    labels: tuple[str, ...]
    rules: tuple[RuleEntry, ...]
    # Per label: absent and present among the training pairs of instance and label that no rule decided.
    undecided: tuple[Pair, ...] = ()
    # Labels of which exactly one is present.
    groups: tuple[Annotated[tuple[str, ...], Meta(min_length=2)], ...] = ()
    # Pairs of a label and another one that it implies.
    hierarchy: tuple[tuple[str, str], ...] = ()
    length_choice: LengthChoiceEntry | None = None
    dictionary: dict[str, MeaningEntry] = {}  # msgspec copies it

    def __post_init__(self) -> None:
        names = [attribute.name for attribute in self.attributes]
        _expect_unique(names, "attributes")
        _expect_unique(self.labels, "labels")
        for attribute in self.attributes:
            _expect_unique(attribute.categories or (), f"categories of {attribute.name!r}")
        for group in (*self.groups, *self.hierarchy):
            _expect_unique(group, "labels of a group")
        for name in self.dictionary:
            if name not in names and name not in self.labels:
                raise ValueError(f"the dictionary describes {name!r}, which is no attribute or label")
        _expect_length(self.undecided, len(self.labels), "undecided", "label")


def _expect_unique(names: Iterable[str], what: str) -> None:
    twice = first_repeated(names)
    if twice is not None:
        raise ValueError(f"two {what} are called {twice!r}, expected different names")


def _expect_length(pairs: tuple[Pair, ...], length: int, name: str, of: str) -> None:
    if pairs and len(pairs) != length:
        raise ValueError(f"{name} has {len(pairs)} pairs, expected {length}, one for each {of}")


# Writing -------------------------------------------------------------------------------------------------------------


def save(rule_list: RuleList, path: str | Path) -> None:
    """Write a rule list to a model file, whole or not at all; one that is there is replaced."""
    try:
        write_text(path, dumps(rule_list))
    except OSError as error:
        raise ModelError(f"{path}: cannot be written ({error.strerror or error})") from error


def dumps(rule_list: RuleList) -> str:
    """Return the text of a model file; one line per attribute and per rule."""
    labels = rule_list.labels
    choice = rule_list.length_choice
    try:
        model = ModelFile(
            format=FORMAT,
            version=VERSION,
            attributes=tuple(
                AttributeEntry(a.name, a.categories, a.only_0_and_1, a.is_date) for a in rule_list.attributes
            ),
            labels=labels,
            rules=tuple(map(_rule_entry, rule_list)),
            undecided=rule_list.undecided,
            groups=tuple(tuple(labels[i] for i in group) for group in rule_list.groups),
            hierarchy=tuple((labels[below], labels[above]) for below, above in rule_list.hierarchy),
            length_choice=None if choice is None else LengthChoiceEntry(**asdict(choice)),
            dictionary={name: MeaningEntry(*meaning) for name, meaning in rule_list.dictionary.items()},
        )
        parts = {key: _write(value) for key, value in _to_builtins(model).items()}
    except ValueError as error:
        raise ModelError(f"the rule list cannot be written: {error}") from error
    return "{\n" + ",\n".join(f'"{key}": {text}' for key, text in parts.items()) + "\n}\n"


def _write(value: Any) -> str:
    """Return JSON with one line for each of several objects."""
    if isinstance(value, tuple) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(f"  {_write(entry)}" for entry in value) + "\n]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _to_builtins(entry: _Entry) -> Any:
    # Numbers of numpy are not JSON's.
    return msgspec.to_builtins(entry, enc_hook=lambda number: number.item(), builtin_types=())


def _rule_entry(rule: Rule) -> RuleEntry:
    counts = {name: getattr(rule, name) for name in COUNTS}
    if not math.isfinite(rule.value):
        counts["value"] = str(float(rule.value))
    return RuleEntry(
        head=tuple(AssignmentEntry(a.name, bool(a.present), a.implied and a.present) for a in rule.head),
        body=tuple(map(_condition_entry, rule.body)),
        **counts,
    )


def _condition_entry(condition: Condition) -> Any:
    entry = ENTRIES[type(condition)]
    return entry(**{name: getattr(condition, name) for name in entry.__struct_fields__})


# Reading -------------------------------------------------------------------------------------------------------------


def load(path: str | Path) -> RuleList:
    """Read the rule list of a model file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is not a plurule model file (not UTF-8 text)") from None
    return loads(text, source=str(path))


def loads(text: str, source: str = "model") -> RuleList:
    """Return the rule list of the text of a model file; `source` is its name in errors."""
    collects = gc.isenabled()
    try:
        gc.disable()  # which would look at all rules again and again, and nothing is thrown away
        content = json.loads(text, parse_constant=_float, parse_float=_float, parse_int=_int)
        _check_version(content)
        return _rule_list(msgspec.convert(content, ModelFile))
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from None
    except msgspec.ValidationError as error:
        raise ModelError(f"{source}: is damaged: {error}") from None
    except json.JSONDecodeError as error:
        place = f"{source}, line {error.lineno}"
        raise ModelError(f"{place}: is not a plurule model file or is damaged ({error.msg.lower()})") from None
    except (RecursionError, ValueError, OverflowError) as error:
        raise ModelError(f"{source}: is not a plurule model file or is damaged ({error})") from None
    finally:
        if collects:
            gc.enable()


def _float(text: str) -> float:
    if not math.isfinite(float(text)):
        raise ModelError(f"is damaged: {text[:20]} is not a number that a double can hold")
    return float(text)


def _int(text: str) -> int:
    _float(text)
    return int(text)


def _check_version(content: Any) -> None:
    # The version comes first: another file may look different in every other respect.
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelError("is not a plurule model file")
    version = content.get("version")
    if isinstance(version, bool) or not isinstance(version, int):
        raise ModelError(f"is damaged: its version is {version!r}, expected {VERSION}")
    if version != VERSION:
        age = "a newer" if version > VERSION else "an older"
        hint = "upgrade plurule" if version > VERSION else "learn the model again"
        raise ModelError(f"was written by {age} plurule (file version {version}, expected {VERSION}); {hint}")


def _rule_list(model: ModelFile) -> RuleList:
    attributes = tuple(Attribute(a.name, a.categories, a.only_0_and_1, a.is_date) for a in model.attributes)
    names = Names(attributes, model.labels)
    rules = []
    for position, entry in enumerate(model.rules):
        try:
            rules.append(_rule(entry, names))
        except ValueError as error:
            raise ModelError(f"rules[{position}]: {error}") from None
    choice = model.length_choice
    return RuleList(
        tuple(rules),
        attributes,
        model.labels,
        undecided=model.undecided,
        length_choice=None if choice is None else LengthChoice(**msgspec.structs.asdict(choice)),
        groups=tuple(tuple(map(names.label, group)) for group in model.groups),
        hierarchy=tuple((names.label(below), names.label(above)) for below, above in model.hierarchy),
        dictionary={name: Meaning(entry.unit, entry.description) for name, entry in model.dictionary.items()},
    )


def _rule(entry: RuleEntry, names: Names) -> Rule:
    head = Head(tuple(Assignment(a.label, names.label(a.label), a.present, a.implied) for a in entry.head))
    body = tuple(names.placed(_condition(condition)) for condition in entry.body)
    counts = {name: getattr(entry, name) for name in COUNTS}
    return Rule(head, body, **(counts | {"value": float(entry.value)}))


def _condition(entry: _Entry) -> Condition:
    condition: Condition = CONDITIONS[type(entry)](index=0, **msgspec.structs.asdict(entry))
    return condition


def schema() -> str:
    """Return the JSON schema of the model file."""
    about = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "plurule model file",
        "description": "A rule list as plurule writes it; see docs/data.md.",
    }
    return json.dumps(about | msgspec.json.schema(ModelFile), indent=2) + "\n"


if __name__ == "__main__":
    print(schema(), end="")
