"""The model file gives back the rule list, and refuses whatever is not one."""

from __future__ import annotations

import gc
import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurule.classifier import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.errors import ModelError
from plurule.model import (
    Assignment,
    Attribute,
    Condition,
    Head,
    LabelCondition,
    LengthChoice,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
    Rule,
    RuleList,
)
from plurule.model import file as model_file
from plurule.relaxed_pruning import RelaxedPruningClassifier

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "model-schema.json").read_text(encoding="utf-8"))
MANY = '"><script>\n\x00\u202e\\'

names = st.one_of(st.text(max_size=5), st.just(MANY), st.sampled_from(["red", "a b", "", "'"]))
counts = st.one_of(st.integers(0, 1000), st.floats(0, 1e9, allow_nan=False))


@st.composite
def rule_lists(draw: st.DrawFn) -> RuleList:
    found = draw(st.lists(names, unique=True, min_size=1, max_size=5))
    categories = st.one_of(st.none(), st.lists(names, unique=True, min_size=1, max_size=3).map(tuple))
    attributes = tuple(Attribute(name, draw(categories), draw(st.booleans())) for name in found)
    labels = tuple(draw(st.lists(names, unique=True, min_size=1, max_size=4)))

    def condition() -> Condition:
        index = draw(st.integers(0, len(attributes) - 1))
        attribute = attributes[index]
        if draw(st.integers(0, 2)) == 0:
            label = draw(st.integers(0, len(labels) - 1))
            return LabelCondition(labels[label], label, draw(st.booleans()))
        if attribute.categories is None:
            threshold = draw(st.floats(allow_nan=False, allow_infinity=False))
            if draw(st.booleans()):
                highest = draw(st.floats(threshold, allow_nan=False, allow_infinity=False))
                return RangeCondition(attribute.name, index, threshold, highest)
            return RangeCondition(attribute.name, index, **{draw(st.sampled_from(["above", "at_most"])): threshold})
        if draw(st.booleans()):
            return MissingCondition(attribute.name, index, draw(st.booleans()))
        some = draw(st.lists(st.sampled_from(attribute.categories), unique=True, min_size=1))
        return OneOfCondition(attribute.name, index, tuple(some), draw(st.booleans()))

    def rule() -> Rule:
        chosen = draw(st.sets(st.integers(0, len(labels) - 1), min_size=1))
        head = Head(tuple(Assignment(labels[i], i, draw(st.booleans())) for i in chosen))
        body = tuple(condition() for _ in range(draw(st.integers(0, 3))))
        decided = tuple((draw(counts), draw(counts)) for _ in head) if draw(st.booleans()) else ()
        value = draw(st.one_of(st.floats(allow_nan=False), st.integers(0, 1)))
        return Rule(head, body, draw(counts), draw(counts), draw(counts), value, draw(st.booleans()), decided)

    rules = tuple(rule() for _ in range(draw(st.integers(0, 4))))
    undecided = tuple((draw(counts), draw(counts)) for _ in labels) if draw(st.booleans()) else ()
    scores = draw(st.lists(st.floats(0, 1), min_size=1, max_size=4))
    made = st.tuples(names, st.none() | st.floats(0, 1), st.none() | st.tuples(st.floats(0, 1), st.floats(0, 1)))
    choice = LengthChoice(
        draw(names), tuple(scores), tuple(scores[::-1]), draw(st.integers(1, len(scores))), *draw(made)
    )
    return RuleList(rules, attributes, labels, undecided, draw(st.sampled_from((None, choice))))


def fits(value: Any) -> bool:
    """Whether a value is as the JSON schema describes it."""
    return bool(jsonschema.Draft202012Validator(SCHEMA).is_valid(value))


@settings(max_examples=200, deadline=None)
@given(rule_lists())
def test_a_rule_list_comes_back_as_it_was(rule_list: RuleList) -> None:
    text = model_file.dumps(rule_list)
    assert model_file.loads(text) == rule_list
    assert model_file.loads(text).length_choice == rule_list.length_choice
    assert fits(json.loads(text))


@settings(max_examples=200, deadline=None)
@given(rule_lists(), st.randoms(use_true_random=False))
def test_what_is_read_fits_the_schema(rule_list: RuleList, chance: random.Random) -> None:
    content = json.loads(model_file.dumps(rule_list))
    damaged = _damage(content, chance)
    try:
        model_file.loads(json.dumps(damaged))
    except ModelError:
        return
    assert fits(damaged)


def _damage(value: Any, chance: random.Random) -> Any:
    """A JSON value with one place changed."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        key = chance.choice(sorted(value))
        if chance.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        if chance.random() < 0.1:
            return value | {"more": 1}
        return value | {key: _damage(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return [*value[:at], _damage(value[at], chance), *value[at + 1 :]]
    return chance.choice([None, True, -1, 0.5, "x", [], {}, "<=", 1, "inf", [[1, 2]]])


def test_numbers_and_truths_of_numpy_are_written_as_those_of_json() -> None:
    head = Head((Assignment("red", 0, np.True_), Assignment("blue", 1, 0)))  # type: ignore[arg-type]
    rule = Rule(head, (LabelCondition("blue", 1, np.True_),), tp=np.int64(3), fp=np.float32(0.5), stop=np.True_)  # type: ignore[arg-type]
    written = model_file.dumps(RuleList((rule,), (), ("red", "blue"), ((np.int32(1), 2), (0, 0))))
    assert '"present": true}, {"label": "blue", "present": false}' in written
    assert model_file.loads(written) == RuleList((rule,), (), ("red", "blue"), ((1, 2), (0, 0)))


def test_a_learned_model_predicts_the_same_after_a_round_trip(tmp_path: Path) -> None:
    flags = load_world_flags()
    model = RelaxedPruningClassifier(max_rules=15).fit(flags)
    model_file.save(model.rule_list_, tmp_path / "model.json")
    again = RuleListClassifier.from_rule_list(model_file.load(tmp_path / "model.json"))
    assert again.rule_list_ == model.rule_list_
    np.testing.assert_array_equal(again.predict(flags.X), model.predict(flags.X))
    np.testing.assert_array_equal(again.predict_proba(flags.X), model.predict_proba(flags.X))


def test_the_file_is_readable_with_a_line_per_rule() -> None:
    head = Head((Assignment("red", 0, True), Assignment("größe", 1, False)))
    rule = Rule(head, (OneOfCondition("sea", 1, ("yes",)),), tp=np.int64(3), fp=np.float64(1), value=0.75)
    text = model_file.dumps(RuleList((rule,), (Attribute("area"), Attribute("sea", ("no", "yes"))), ("red", "größe")))
    assert text == (
        '{\n"format": "plurule rule list",\n"version": 3,\n"attributes": [\n  {"name": "area"},\n'
        '  {"name": "sea", "categories": ["no", "yes"]}\n],\n"labels": ["red", "größe"],\n"rules": [\n'
        '  {"head": [{"label": "red", "present": true}, {"label": "größe", "present": false}], '
        '"body": [{"kind": "one of", "name": "sea", "categories": ["yes"]}], "tp": 3, "fp": 1.0, "value": 0.75}'
        "\n]\n}\n"
    )


GOOD: dict[str, Any] = {
    "format": "plurule rule list",
    "version": 3,
    "attributes": [{"name": "area"}, {"name": "sea", "categories": ["no", "yes"]}],
    "labels": ["red", "blue"],
    "rules": [{"head": [{"label": "red", "present": True}], "body": []}],
}
CHOICE = {"measure": "micro_f1", "mean": [0.5, 0.6], "standard_error": [0.1, 0.1], "chosen": 1}
CONDITION = {"kind": "range", "name": "area", "at_most": 1}
ONE_OF = {"kind": "one of", "name": "sea", "categories": ["yes"]}


def with_rule(**changes: Any) -> dict[str, Any]:
    return GOOD | {"rules": [GOOD["rules"][0] | changes]}


BAD = [
    ("", "line 1: is not a plurule model file or is damaged (expecting value)"),
    ("{", "line 1: is not a plurule model file or is damaged"),
    ('{"format": "plurule rule list",\n"version": 3', "line 2: is not a plurule model file or is damaged"),
    ("[]", "is not a plurule model file"),
    ("{}", "is not a plurule model file"),
    ('{"format": "x"}', "is not a plurule model file"),
    ("[" * 100_000, "is not a plurule model file or is damaged"),
    ('{"format": NaN}', "is damaged: NaN is not a number that a double can hold"),
    ('{"version": ' + "9" * 5000 + "}", "is not a number that a double can hold"),
    (json.dumps(with_rule(tp=1.5)).replace("1.5", "1e999"), "is damaged: 1e999 is not a number that a double can hold"),
    (GOOD | {"version": 2}, "was written by an older plurule (file version 2, expected 3); learn the model again"),
    (GOOD | {"version": 4}, "was written by a newer plurule (file version 4, expected 3); upgrade plurule"),
    (GOOD | {"version": "3"}, "is damaged: its version is '3', expected 3"),
    (GOOD | {"version": True}, "is damaged: its version is True, expected 3"),
    (GOOD | {"length_choice": CHOICE | {"chosen": 3}}, "at least as many as the chosen length - at `$.length_choice`"),
    (GOOD | {"length_choice": CHOICE | {"mean": [0.5]}}, "expected as many means as standard errors"),
    (GOOD | {"length_choice": {}}, "missing required field `measure` - at `$.length_choice`"),
    ({k: v for k, v in GOOD.items() if k != "labels"}, "missing required field `labels`"),
    (GOOD | {"lables": []}, "unknown field `lables`"),
    (GOOD | {"labels": ["red", "red"]}, "two labels are called 'red'"),
    (GOOD | {"labels": ["red", 1]}, "Expected `str`, got `int` - at `$.labels[1]`"),
    (GOOD | {"attributes": [{"name": "a"}, {"name": "a"}]}, "two attributes are called 'a'"),
    (GOOD | {"attributes": [{"name": "a", "categories": ["x", "x"]}]}, "two categories of 'a' are called 'x'"),
    (GOOD | {"rules": {}}, "Expected `array`, got `object` - at `$.rules`"),
    (GOOD | {"undecided": [[1, 2]]}, "undecided has 1 pairs, expected 2, one for each label"),
    (GOOD | {"undecided": [[1, 2], [1]]}, "Expected `array` of length 2, got 1 - at `$.undecided[1]`"),
    (GOOD | {"dictionary": {"rad": {}}}, "the dictionary describes 'rad', which is no attribute or label"),
    (with_rule(head=[]), "Expected `array` of length >= 1 - at `$.rules[0].head`"),
    (with_rule(head=[{"label": "rad", "present": True}]), "rules[0]: there is no label 'rad'; did you mean 'red'?"),
    (with_rule(head=[{"label": "red", "present": 1}]), "Expected `bool`, got `int` - at `$.rules[0].head[0].present`"),
    (with_rule(head=GOOD["rules"][0]["head"] * 2), "rules[0]: a head assigns each label once, got red, red"),
    (with_rule(tp=-1), "Expected `int` >= 0 - at `$.rules[0].tp`"),
    (with_rule(tp=True), "Expected `int | float`, got `bool` - at `$.rules[0].tp`"),
    (with_rule(tp=10**400), "is not a number that a double can hold"),
    (with_rule(value="big"), "Invalid enum value 'big' - at `$.rules[0].value`"),
    (with_rule(stability=1.5), "Expected `float` <= 1.0 - at `$.rules[0].stability`"),
    (with_rule(body=[{}]), "missing required field `kind` - at `$.rules[0].body[0]`"),
    (with_rule(body=[CONDITION | {"kind": "<"}]), "Invalid value '<' - at `$.rules[0].body[0].kind`"),
    (with_rule(body=[CONDITION | {"more": 1}]), "unknown field `more` - at `$.rules[0].body[0]`"),
    (with_rule(body=[{"kind": "range", "name": "area"}]), "rules[0]: the range of 'area' needs a bound"),
    (with_rule(body=[CONDITION | {"name": "sea"}]), "rules[0]: sea <= 1 is a numeric condition, but 'sea' is nom"),
    (with_rule(body=[ONE_OF | {"name": "area"}]), "rules[0]: area = yes is a nominal condition, but 'area' is"),
    (with_rule(body=[ONE_OF | {"categories": ["x"]}]), "rules[0]: attribute 'sea' has no category 'x'"),
    (with_rule(body=[ONE_OF | {"categories": []}]), "Expected `array` of length >= 1 - at `$.rules[0].body[0].categor"),
    (with_rule(body=[ONE_OF | {"categories": ["no", "no"]}]), "rules[0]: a condition on 'sea' needs differ"),
    (with_rule(body=[ONE_OF | {"name": "se"}]), "rules[0]: there is no attribute 'se'; did you mean 'sea'"),
    (with_rule(body=[CONDITION | {"at_most": "1"}]), "got `str` - at `$.rules[0].body[0].at_most`"),
    (with_rule(body=[CONDITION | {"at_most": 10**400}]), "is not a number that a double can hold"),
    (with_rule(decided=[[1, 2], [3, 4]]), "decided has 2 pairs, expected 1, one for each label of the head"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD, ids=range(len(BAD)))
def test_a_damaged_file_is_refused_with_a_sentence(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ModelError) as caught:
        model_file.load(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_files_that_are_no_text_or_not_there_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_bytes(b"\x80\x04\x95")
    with pytest.raises(ModelError, match=r"is not a plurule model file \(not UTF-8 text\)"):
        model_file.load(tmp_path / "m.json")
    with pytest.raises(ModelError, match="there is no such file"):
        model_file.load(tmp_path / "none.json")
    with pytest.raises(ModelError, match="cannot be read"):
        model_file.load(tmp_path)


def test_every_truncation_of_a_file_is_refused() -> None:
    text = json.dumps(with_rule(body=[CONDITION]))
    for end in range(len(text)):
        with pytest.raises(ModelError):
            model_file.loads(text[:end])


def test_names_that_are_not_unique_cannot_be_written() -> None:
    with pytest.raises(ModelError, match="two labels are called 'red'"):
        model_file.dumps(RuleList((), (), ("red", "red")))


def test_loads_leaves_the_garbage_collector_as_it_was() -> None:
    text = model_file.dumps(RuleList((), (), ("red",)))
    model_file.loads(text)
    assert gc.isenabled()
    gc.disable()
    try:
        with pytest.raises(ModelError):
            model_file.loads("{}")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"m\.json: cannot be written \(No such file or directory\)"):
        model_file.save(RuleList((), (), ("red",)), tmp_path / "none" / "m.json")


def test_the_example_in_the_documents_is_a_model_file() -> None:
    document = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    example = document.split("```json\n")[1].split("```")[0]
    assert (
        str(model_file.loads(example)[0])
        == "red, white ← colours > 4.5 ∧ landmass = Europe   (TP 166, FP 38; red 83/19, white 83/19)"
    )


def test_numbers_that_are_not_finite_cannot_be_written() -> None:
    rule = Rule(Head((Assignment("red", 0, True),)), tp=float("inf"))
    with pytest.raises(ModelError, match="the rule list cannot be written"):
        model_file.dumps(RuleList((rule,), (), ("red",)))


def test_schema_in_the_documents_is_current() -> None:
    assert json.dumps(SCHEMA, indent=2) + "\n" == model_file.schema()


def test_what_labels_imply_comes_back_as_it_was() -> None:
    names = (Attribute("x"),), ("jazz", "music", "speech")
    rules = [Rule(Head((Assignment("jazz", 0, True),))), Rule(Head((Assignment("speech", 2, True),)))]
    rules.append(Rule(Head((Assignment("jazz", 0, True), Assignment("music", 1, True)))))
    rule_list = RuleList(tuple(rules), *names, hierarchy=((0, 1),))
    again = model_file.loads(model_file.dumps(rule_list))
    assert again == rule_list
    assert [str(rule.head) for rule in again] == ["jazz", "speech", "jazz, music"] == [str(r.head) for r in rule_list]
    assert [len(rule.head) for rule in again] == [2, 1, 2]
    assert fits(json.loads(model_file.dumps(rule_list)))
    broken = model_file.dumps(rule_list).replace('[["jazz", "music"]]', '[["jazz", "music", "speech"]]')
    with pytest.raises(ModelError, match=r"Expected `array` of length 2, got 3 - at `\$\.hierarchy\[0\]`"):
        model_file.loads(broken)
