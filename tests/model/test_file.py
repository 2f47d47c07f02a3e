"""The model file gives back the rule list, and refuses whatever is not one."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

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
    IntervalCondition,
    LabelCondition,
    LengthChoice,
    NominalCondition,
    NumericCondition,
    Rule,
    RuleList,
)
from plurule.model import file as model_file

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
                return IntervalCondition(attribute.name, index, threshold, highest)
            return NumericCondition(attribute.name, index, draw(st.sampled_from(["<=", ">"])), threshold)
        return NominalCondition(attribute.name, index, draw(st.sampled_from(attribute.categories)))

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


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is as a JSON schema describes it; knows the words that ours uses, and fails on others."""
    notes = {"$schema", "$id", "$defs", "title", "description"}
    known = {"$ref", "type", "required", "properties", "additionalProperties", "items", "const", "enum", "oneOf"}
    assert set(schema) <= notes | known | {"uniqueItems", "minItems", "maxItems", "minimum"}
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}
    if "$ref" in schema and not fits(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]):
        return False
    if "type" in schema and not isinstance(value, types[schema["type"]]):
        return False
    if schema.get("type") in ("number", "integer") and (
        isinstance(value, bool) or value < schema.get("minimum", value)
    ):
        return False
    if "const" in schema and (value != schema["const"] or isinstance(value, bool)):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "oneOf" in schema and sum(fits(value, option) for option in schema["oneOf"]) != 1:
        return False
    if isinstance(value, dict) and "properties" in schema:
        properties = schema["properties"]
        return all(key in value for key in schema.get("required", ())) and all(
            key in properties and fits(item, properties[key]) for key, item in value.items()
        )
    if isinstance(value, list):
        long_enough = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        unique = not schema.get("uniqueItems") or len({json.dumps(item) for item in value}) == len(value)
        return long_enough and unique and all(fits(item, schema.get("items", {})) for item in value)
    return True


@settings(max_examples=200, deadline=None)
@given(rule_lists())
def test_a_rule_list_comes_back_as_it_was(rule_list: RuleList) -> None:
    text = model_file.dumps(rule_list)
    assert model_file.loads(text) == rule_list
    assert model_file.loads(text).length_choice == rule_list.length_choice
    assert fits(json.loads(text), SCHEMA)


@settings(max_examples=200, deadline=None)
@given(rule_lists(), st.randoms(use_true_random=False))
def test_what_is_read_fits_the_schema(rule_list: RuleList, chance: random.Random) -> None:
    content = json.loads(model_file.dumps(rule_list))
    damaged = _damage(content, chance)
    try:
        model_file.loads(json.dumps(damaged))
    except ModelError:
        return
    assert fits(damaged, SCHEMA)


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
    rule = Rule(head, (LabelCondition("blue", 1, 1),), tp=np.int64(3), fp=np.float32(0.5), stop=np.True_)  # type: ignore[arg-type]
    written = model_file.dumps(RuleList((rule,), (), ("red", "blue"), ((np.int32(1), 2), (0, 0))))
    assert '"present": true}, {"label": "blue", "present": false}' in written
    assert model_file.loads(written) == RuleList((rule,), (), ("red", "blue"), ((1, 2), (0, 0)))


def test_a_learned_model_predicts_the_same_after_a_round_trip(tmp_path: Path) -> None:
    flags = load_world_flags()
    model = RuleListClassifier(heuristic="f_measure", n_rules=15).fit(flags)
    model_file.save(model.rule_list_, tmp_path / "model.json")
    again = RuleListClassifier.from_rule_list(model_file.load(tmp_path / "model.json"))
    assert again.rule_list_ == model.rule_list_
    np.testing.assert_array_equal(again.predict(flags.X), model.predict(flags.X))
    np.testing.assert_array_equal(again.predict_proba(flags.X), model.predict_proba(flags.X))


def test_the_file_is_readable_with_a_line_per_rule() -> None:
    head = Head((Assignment("red", 0, True), Assignment("größe", 1, False)))
    rule = Rule(head, (NominalCondition("sea", 1, "yes"),), tp=np.int64(3), fp=np.float64(1), value=0.75)
    text = model_file.dumps(RuleList((rule,), (Attribute("area"), Attribute("sea", ("no", "yes"))), ("red", "größe")))
    assert text == (
        '{\n"format": "plurule rule list",\n"version": 1,\n"attributes": [\n  {"name": "area"},\n'
        '  {"name": "sea", "categories": ["no", "yes"]}\n],\n"labels": ["red", "größe"],\n"rules": [\n'
        '  {"head": [{"label": "red", "present": true}, {"label": "größe", "present": false}], '
        '"body": [{"attribute": "sea", "category": "yes"}], "tp": 3, "fp": 1.0, "coverage": 0, "value": 0.75, '
        '"stop": false, "decided": []}\n],\n"undecided": []\n}\n'
    )


GOOD: dict[str, Any] = {
    "format": "plurule rule list",
    "version": 1,
    "attributes": [{"name": "area"}, {"name": "sea", "categories": ["no", "yes"]}],
    "labels": ["red", "blue"],
    "rules": [{"head": [{"label": "red", "present": True}], "body": []}],
}
CHOICE = {"measure": "micro_f1", "mean": [0.5, 0.6], "standard_error": [0.1, 0.1], "chosen": 1}
CONDITION = {"attribute": "area", "operator": "<=", "threshold": 1}


def with_rule(**changes: Any) -> dict[str, Any]:
    return GOOD | {"rules": [GOOD["rules"][0] | changes]}


BAD = [
    ("", "line 1: is not a plurule model file or is damaged (expecting value)"),
    ("{", "line 1: is not a plurule model file or is damaged"),
    ('{"format": "plurule rule list",\n"version": 1', "line 2: is not a plurule model file or is damaged"),
    ("[]", "is not a plurule model file"),
    ("{}", "is not a plurule model file"),
    ('{"format": "x"}', "is not a plurule model file"),
    ("[" * 100_000, "is not a plurule model file or is damaged"),
    ('{"format": NaN}', "is damaged: NaN is not a number of JSON"),
    ('{"format": 1, "format": 1}', "is damaged: an object has the same key twice"),
    ('{"version": ' + "9" * 5000 + "}", "is not a plurule model file"),
    (GOOD | {"version": 3}, "was written by a newer plurule (file version 3, this plurule reads up to 2); upgrade"),
    (GOOD | {"length_choice": CHOICE | {"chosen": 3}}, "length_choice.chosen is 3, expected a length from 1 to 2"),
    (GOOD | {"length_choice": CHOICE | {"mean": [0.5]}}, "mean has 1 numbers, standard_error has 2"),
    (GOOD | {"length_choice": {}}, "length_choice: 'measure' is missing"),
    (GOOD | {"version": "1"}, "is damaged: its version is '1', expected a whole number"),
    (GOOD | {"version": True}, "is damaged: its version is True, expected a whole number"),
    ({k: v for k, v in GOOD.items() if k != "labels"}, "'labels' is missing"),
    (GOOD | {"lables": []}, "'lables' is not known; did you mean 'labels'?"),
    (GOOD | {"labels": ["red", "red"]}, "two labels are called 'red'"),
    (GOOD | {"labels": ["red", 1]}, "labels[1] is 1, expected a text"),
    (GOOD | {"attributes": [{"name": "a"}, {"name": "a"}]}, "two attributes are called 'a'"),
    (GOOD | {"attributes": [{"name": "a", "categories": ["x", "x"]}]}, "two categories of 'a' are called 'x'"),
    (GOOD | {"rules": {}}, "rules is {}, expected a list"),
    (GOOD | {"undecided": [[1, 2]]}, "undecided has 1 pairs, expected 2, one for each label"),
    (GOOD | {"undecided": [[1, 2], [1]]}, "undecided[1] is [1], expected a pair of numbers"),
    (with_rule(head=[]), "rules[0].head is [], expected a list of at least 1"),
    (with_rule(head=[{"label": "rad", "present": True}]), "rules[0].head[0]: there is no label 'rad'; did you mean"),
    (with_rule(head=[{"label": "red", "present": 1}]), "rules[0].head[0].present is 1, expected true or false"),
    (with_rule(head=GOOD["rules"][0]["head"] * 2), "expected each label once"),
    (with_rule(tp=-1), "rules[0].tp is -1, expected a number of at least 0"),
    (with_rule(tp=True), "rules[0].tp is true, expected a number"),
    (with_rule(tp=10**400), "expected a number that a double can hold"),
    (with_rule(value="big"), 'rules[0].value is "big", expected a number'),
    (with_rule(body=[{}]), "rules[0].body[0]: 'attribute' is missing"),
    (with_rule(body=[CONDITION | {"operator": "<"}]), 'rules[0].body[0].operator is "<", expected "<=" or ">"'),
    (with_rule(body=[CONDITION | {"attribute": "sea"}]), "sea <= 1 is a numeric condition, but 'sea' is nominal"),
    (with_rule(body=[{"attribute": "area", "category": "x"}]), "area = x is a nominal condition, but 'area' is"),
    (with_rule(body=[{"attribute": "sea", "category": "x"}]), "rules[0].body[0]: attribute 'sea' has no category 'x'"),
    (with_rule(body=[{"attribute": "se", "category": "x"}]), "body[0]: there is no attribute 'se'; did you mean 'sea'"),
    (with_rule(body=[CONDITION | {"threshold": "1"}]), 'rules[0].body[0].threshold is "1", expected a number'),
    (with_rule(decided=[[1, 2], [3, 4]]), "rules[0].decided has 2 pairs, expected 1, one for each label of the head"),
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


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"m\.json: cannot be written \(No such file or directory\)"):
        model_file.save(RuleList((), (), ("red",)), tmp_path / "none" / "m.json")


def test_the_example_in_the_documents_is_a_model_file() -> None:
    document = (Path(__file__).parents[2] / "docs" / "model-file.md").read_text(encoding="utf-8")
    example = document.split("```json\n")[1].split("```")[0]
    assert str(model_file.loads(example)[0]) == "red, white ← colours > 4.5 ∧ landmass = Europe   (TP 166, FP 38)"


@pytest.mark.parametrize("given", ['"AAA"', '"AAAAAAA="', '"?"', '"AAAA é"', "3", "null"])
def test_fingerprints_that_are_none_are_refused(given: str) -> None:
    text = model_file.dumps(RuleList((), (), ("red",), trained_on=b"\x01\x02\x03\x04"))
    assert model_file.loads(text).trained_on == b"\x01\x02\x03\x04"
    with pytest.raises(ModelError, match=r"trained_on is .*, expected"):
        model_file.loads(text.replace('"AQIDBA=="', given))


def test_what_labels_imply_comes_back_as_it_was() -> None:
    names = (Attribute("x"),), ("jazz", "music", "speech")
    rules = [Rule(Head((Assignment("jazz", 0, True),))), Rule(Head((Assignment("speech", 2, True),)))]
    rules.append(Rule(Head((Assignment("jazz", 0, True), Assignment("music", 1, True)))))
    rule_list = RuleList(tuple(rules), *names, hierarchy=((0, 1),))
    again = model_file.loads(model_file.dumps(rule_list))
    assert again == rule_list
    assert [str(rule.head) for rule in again] == ["jazz", "speech", "jazz, music"] == [str(r.head) for r in rule_list]
    assert [len(rule.head) for rule in again] == [2, 1, 2]
    assert fits(json.loads(model_file.dumps(rule_list)), SCHEMA)
    broken = model_file.dumps(rule_list).replace('[["jazz", "music"]]', '[["jazz", "music", "speech"]]')
    with pytest.raises(ModelError, match=r"hierarchy\[0\] is .*, expected at most 2 labels"):
        model_file.loads(broken)
