"""Explanations: the rule that decided, why, and the rules that came too late."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers.rule_lists import HOSTILE_NAMES, make_rules, random_rule_list
from plurule._prediction.apply import decide
from plurule.classifier import RuleListClassifier
from plurule.data.dataset import Table
from plurule.datasets import load_world_flags
from plurule.errors import DataError
from plurule.inspection.explain import Explanations, explain
from plurule.model import (
    Condition,
    LabelCondition,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
    RuleList,
)
from plurule.relaxed_pruning import RelaxedPruningClassifier


def holds(condition: Condition, values: dict[str, Any], decided: dict[int, tuple[int, bool]]) -> bool:
    if isinstance(condition, LabelCondition):
        return condition.index in decided and decided[condition.index][1] == condition.present
    value = values[condition.name]
    if isinstance(condition, MissingCondition):
        return (value is None or value != value) == condition.missing
    if isinstance(condition, OneOfCondition):
        return value is not None and (value in condition.categories) != condition.negated
    assert isinstance(condition, RangeCondition)
    lowest = -math.inf if condition.above is None else condition.above
    highest = math.inf if condition.at_most is None else condition.at_most
    return bool(lowest < value <= highest)


def explain_slowly(rule_list: RuleList, values: dict[str, Any]) -> list[tuple[int, bool, list[int], list[int]]]:
    """Per label: number of the deciding rule (0 for none), prediction, later rules that agree, and that do not."""
    decided: dict[int, tuple[int, bool]] = {}
    late: list[tuple[int, int, bool]] = []
    ended = False
    for number, rule in enumerate(rule_list, start=1):
        if not all(holds(c, values, decided) for c in rule.body):
            continue
        newly = [a for a in rule.head if a.index not in decided and not ended]
        late += [(a.index, number, a.present) for a in rule.head if a not in newly]
        decided.update({a.index: (number, a.present) for a in newly})
        ended = ended or bool(rule.stop and newly)
    result = []
    for label in range(len(rule_list.labels)):
        number, present = decided.get(label, (0, False))
        agreed = [n for l, n, says in late if l == label and says == present]
        preempted = [n for l, n, says in late if l == label and says != present]
        result.append((number, present, agreed, preempted))
    return result


def values_of(table: Table, row: int) -> dict[str, Any]:
    values = {}
    for index, attribute in enumerate(table.attributes):
        value = table.column(index)[row]
        values[attribute.name] = value if attribute.categories is None else (*attribute.categories, None)[value]
    return values


@pytest.mark.parametrize("seed", range(30))
def test_explanations_are_those_of_following_the_list_by_hand(seed: int) -> None:
    rule_list, table = random_rule_list(seed, n_rules=20)
    for row, explanation in enumerate(explain(rule_list, table)):
        expected = explain_slowly(rule_list, values_of(table, row))
        found = [(d.number or 0, d.present, list(d.agreed), list(d.preempted)) for d in explanation.decisions]
        assert found == expected
        assert explanation.fired == tuple(sorted({n for n, *_ in expected} - {0}))
        stopping = [n for n in explanation.fired if rule_list[n - 1].stop]
        assert explanation.stopped_by == (stopping[0] if stopping else None)


@pytest.mark.parametrize("seed", range(5))
def test_predictions_are_those_of_decide(seed: int) -> None:
    rule_list, table = random_rule_list(seed)
    predicted = decide(rule_list, table).labels()
    explained = [[d.present for d in e.decisions] for e in explain(rule_list, table)]
    np.testing.assert_array_equal(np.array(explained), predicted == 1)


@pytest.mark.parametrize("backend", ["pandas", "polars"])
@pytest.mark.parametrize("seed", range(4))
def test_the_frame_says_the_same_as_the_objects(seed: int, backend: Any) -> None:
    rule_list, table = random_rule_list(seed, n_rules=20)
    explanations = explain(rule_list, table)
    frame = explanations.to_frame(backend)
    rows = frame.to_dict("records") if isinstance(frame, pd.DataFrame) else frame.to_dicts()
    objects = [(e, d) for e in explanations for d in e.decisions]
    for row, (explanation, decision) in zip(rows, objects, strict=True):
        assert row["instance"] == explanation.instance
        assert row["label"] == decision.label
        assert row["predicted"] == decision.present
        assert row["rule"] == (decision.number or 0)
        assert row["because"] == " and ".join(map(str, decision.reasons))
        assert row["agreed"] == ", ".join(map(str, decision.agreed))
        assert row["preempted"] == ", ".join(map(str, decision.preempted))
        if decision.rule is None:
            assert row["text"] == "no rule: absent by default"
            assert np.isnan(row["precision"])
        else:
            assert row["text"] == decision.rule.to_text()
            for name in ("right", "decided", "precision"):
                assert row[name] == pytest.approx(getattr(decision, name) if decision.decided else np.nan, nan_ok=True)


def example() -> Explanations:
    rule_list = make_rules(
        "red <- stripes > 2 and continent = Asia\nwhite, ¬blue <- red\nblue <- stripes > 1 [stop]\nwhite <-",
        {"stripes": None, "continent": ("Africa", "Asia")},
        ("red", "white", "blue", "green"),
    )
    frame = pd.DataFrame({"continent": ["Asia", "Africa", None], "stripes": [3.5, 2.0, np.nan]})
    return explain(rule_list, frame)


def test_reasons_carry_the_values_of_the_instance() -> None:
    first = example()[0]
    assert [str(reason) for reason in first["red"].reasons] == ["stripes = 3.5 > 2", "continent = Asia"]
    assert [reason.value for reason in first["red"].reasons] == [3.5, "Asia"]
    assert str(first["white"].reasons[0]) == "red (by rule 1)"
    assert first["blue"].preempted == (3,)
    assert first["green"].rule is None
    assert first.labels == ("red", "white")
    with pytest.raises(KeyError):
        first["violet"]


def test_a_rule_after_the_end_of_an_instance_is_pre_empted() -> None:
    second = example()[1]
    assert second.stopped_by == 3
    assert not second["white"].present
    assert second["white"].number is None
    assert second["white"].preempted == (4,)


def test_text_says_which_rule_decided_and_what_is_absent_by_default() -> None:
    text = example().to_text(limit=2)
    assert "instance 0: red, white\n" in text
    assert "  white: present by rule 2, since red (by rule 1); agreed: rule 4\n" in text
    assert "  blue: absent by rule 2, since red (by rule 1); pre-empted: rule 3\n" in text
    assert "  green: no rule: absent by default\n" in text
    assert "instance 1: blue (ended by rule 3)" in text
    assert text.endswith("… and 1 more instances")


def test_explanations_are_a_sequence() -> None:
    explanations = example()
    assert len(explanations) == 3
    assert explanations[-1].instance == 2
    assert [e.instance for e in explanations[1:]] == [1, 2]
    with pytest.raises(IndexError):
        explanations[3]


def test_a_decision_says_how_often_the_rule_was_right_where_it_decided_that_label() -> None:
    rule_list = make_rules("blue <- x > 3\nred, blue <- x > 1", {"x": None}, ("red", "blue"))
    counted = rule_list.edit([[2.0], [3.0], [4.0], [0.0]], [[1, 1], [1, 0], [0, 0], [0, 0]]).rule_list
    red, blue = counted.explain([[2.5]])[0].decisions
    assert (red.right, red.decided, red.precision) == (2, 3, 2 / 3)
    assert (blue.right, blue.decided, blue.precision) == (1, 2, 1 / 2)
    assert str(red).endswith("(right in 2 of the 3 it decided)")
    assert counted[1].coverage == 3
    frame = counted.explain([[2.5]]).to_frame()
    assert frame[["right", "decided", "precision"]].to_numpy().tolist() == [[2, 3, 2 / 3], [1, 2, 1 / 2]]
    assert '<td class="count">1 of 2</td>' in counted.explain([[2.5]]).to_html()


def test_a_label_that_a_rule_never_decided_in_training_is_said_to_be_so() -> None:
    rule_list = make_rules("blue <- x > 1\nred, blue <- x > 0", {"x": None}, ("red", "blue"))
    blue = rule_list.edit([[2.0]], [[1, 1]]).rule_list.explain([[0.5]])[0]["blue"]
    assert (blue.decided, blue.precision) == (0, None)
    assert str(blue).endswith("(it decided none in training)")


def test_explanations_agree_with_the_probabilities_of_the_classifier() -> None:
    frame = pd.DataFrame({"x": np.arange(40.0) % 7, "c": list("ab") * 20})
    Y = pd.DataFrame({"high": frame["x"] > 3, "even": (frame["c"] == "a") & (frame["x"] > 1)}).astype(int)
    classifier = RuleListClassifier(max_rules=3, predict_absence=True).fit(frame, Y)
    probabilities = classifier.predict_proba(frame)
    for row, explanation in enumerate(classifier.explain(frame)):
        for label, decision in enumerate(explanation.decisions):
            if decision.right is not None and decision.decided:
                smoothed = (decision.right + 1) / (decision.decided + 2)
                assert probabilities[row, label] == pytest.approx(smoothed if decision.present else 1 - smoothed)


def test_a_classifier_explains_what_it_predicts() -> None:
    frame = pd.DataFrame({"x": np.arange(20.0), "c": list("ab") * 10})
    Y = pd.DataFrame({"high": frame["x"] > 9, "even": frame["c"] == "a"}).astype(int)
    classifier = RuleListClassifier().fit(frame, Y)
    explained = [[d.present for d in explanation.decisions] for explanation in classifier.explain(frame)]
    np.testing.assert_array_equal(np.array(explained), classifier.predict(frame) == 1)
    assert classifier.explain(frame)[0].decisions[0].label == "high"


def test_hostile_names_stay_on_their_line() -> None:
    rule_list, table = random_rule_list(2, HOSTILE_NAMES)
    text = explain(rule_list, table).to_text()
    assert len(text.split("\n")) == len(table) * (1 + len(rule_list.labels))
    assert all(c.isprintable() or c == "\n" for c in text)


def test_nothing_is_explained_for_no_instances_and_by_no_rules() -> None:
    rule_list, table = random_rule_list(0)
    assert len(explain(rule_list, table[:0]).to_frame("polars")) == 0
    empty = RuleList((), rule_list.attributes, rule_list.labels)
    assert explain(empty, table).to_frame("polars")["rule"].sum() == 0
    assert isinstance(explain(empty, table).to_frame("polars"), pl.DataFrame)


def test_instances_are_called_as_in_their_data() -> None:
    rules = make_rules("red <- stripes > 2", {"stripes": None}, ("red",))
    frame = pd.DataFrame({"stripes": [3.0, 1.0]}, index=["Peru", "two\nlines"])
    classifier = RuleListClassifier.from_rule_list(rules)
    for explanations in (rules.explain(frame), classifier.explain(frame)):
        assert [one.instance for one in explanations] == ["Peru", "two\nlines"]
        assert explanations[1].title == "instance two\\nlines: no label"
        assert explanations.to_frame()["instance"].tolist() == ["Peru", "two\nlines"]
        assert explanations.to_records()[0]["instance"] == "Peru"
    assert [one.instance for one in rules.explain(frame, ids=[(1, 2), (3, 4)])] == [(1, 2), (3, 4)]
    with pytest.raises(DataError, match="1 ids for 2 rows"):
        rules.explain(frame, ids=["Peru"])
    flags = load_world_flags()
    tree = RelaxedPruningClassifier().fit(flags[:60])
    assert tree.explain(flags[[5]])[0].instance == flags.row_names[5]
    assert '"name":"Peru"' in rules.to_html(frame)


def test_explanations_show_themselves_short() -> None:
    rules = make_rules("a, b <- x > 1\nc <- a", {"x": None}, ("a", "b", "c"))
    explanations = rules.explain([[2.0]] * 100)
    assert repr(explanations).split("\n")[:2] == [
        "Explanations: 100 instances, 2 rules; print one to see why",
        "instance 0: a, b, c",
    ]
    assert repr(explanations).endswith("… and 90 more instances")
    assert repr(explanations[0]) == str(explanations[0])
    labels = tuple(f"label {i}" for i in range(300))
    wide = make_rules(", ".join(labels) + " <- x > 1", {"x": None}, labels)
    for shown in map(repr, (wide, wide.explain([[2.0]]), wide.explain([[2.0]])[0], wide.dependencies())):
        assert len(shown.split("\n")) <= 12
        assert max(map(len, shown.split("\n"))) <= 120
