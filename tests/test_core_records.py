"""The structs that the core gives and takes: read, compared, hashed, printed and pickled by their fields."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from helpers.core import start_run
from plurule import _core

CONDITION = _core.Condition("<=", 3, 0.5)
RECORDS: list[tuple[type, dict[str, Any]]] = [
    (_core.Condition, {"operator": "=", "index": 3, "value": 2}),
    (
        _core.LearnedRule,
        {
            "labels": (1, 2),
            "present": (True, False),
            "body": (CONDITION,),
            "tp": 3.0,
            "fp": 1.0,
            "coverage": 2.0,
            "value": 0.75,
            "stop": True,
            "decided": ((2.0, 0.0), (1.0, 1.0)),
        },
    ),
    (
        _core.Criterion,
        {"lam": 0.4, "condition_price": 0.05, "exceptions": True, "lift": (1.0, 1.1), "default_labels": (1,)},
    ),
    (_core.CoverUpdate, {"body": 4, "label": 1, "before": (2, 3)}),
    (_core.Choice, {"body": 4, "head": (0, 2), "present": (True, False), "decided": (0, 1, 2), "is_default": False}),
]
every_record = pytest.mark.parametrize(("kind", "fields"), RECORDS, ids=lambda value: getattr(value, "__name__", ""))


@every_record
def test_record_has_the_fields_it_was_made_of(kind: type, fields: dict[str, Any]):
    record = kind(**fields)
    assert {name: getattr(record, name) for name in fields} == fields
    assert kind(*fields.values()) == record
    for name, value in fields.items():
        assert type(getattr(record, name)) is type(value)
        with pytest.raises(AttributeError):
            setattr(record, name, value)


@every_record
def test_record_says_its_fields(kind: type, fields: dict[str, Any]):
    stated = ", ".join(f"{name}={value!r}" for name, value in fields.items())
    assert repr(kind(**fields)) == f"{kind.__name__}({stated})"


@every_record
def test_records_are_equal_and_hash_alike_if_their_fields_are(kind: type, fields: dict[str, Any]):
    record = kind(**fields)
    assert record == kind(**fields)
    assert hash(record) == hash(kind(**fields))
    assert record != tuple(fields.values())
    first = next(iter(fields))
    other = kind(**fields | {first: ">" if first == "operator" else (0, 7) if first == "labels" else 9})
    assert record != other
    assert len({record, other, kind(**fields)}) == 2


@every_record
def test_record_survives_pickling(kind: type, fields: dict[str, Any]):
    record = kind(**fields)
    assert pickle.loads(pickle.dumps(record)) == record


@every_record
def test_record_refuses_what_does_not_fit(kind: type, fields: dict[str, Any]):
    for name in fields:
        with pytest.raises(TypeError):
            kind(**fields | {name: object()})


def test_value_of_a_condition_is_a_number_of_its_kind():
    values = [_core.Condition(*fields).value for fields in (("<=", 0, 1.0), ("=", 0, 1), ("label", 0, 1))]
    assert [type(value) for value in values] == [float, int, int]


def test_bodies_of_a_run_are_those_of_its_rules():
    run = start_run()
    run.learn()
    assert [tuple(body) for body in run.bodies()] == [rule.body for rule in run.rules()]
    assert any(run.bodies())
