"""Which rules are shown side by side."""

from __future__ import annotations

import pytest

from plurule.model import Assignment, Attribute, Head, LabelCondition, RangeCondition, Rule, RuleList
from research.files import EMBEDDED
from research.paper.selected_rules import choose_labels, equivalences, main, rules_about


def rule(head: str, *body: object, tp: float = 1) -> Rule:
    labels = ("a", "b", "c")
    assignments = tuple(Assignment(name, labels.index(name), True) for name in head.split())
    return Rule(Head(assignments), tuple(body), tp=tp)  # type: ignore[arg-type]


WIDE = RangeCondition("width", 0, above=2.0)
IF_A = LabelCondition("a", 0, True)
ATTRIBUTES, LABELS = (Attribute("width"),), ("a", "b", "c")


def test_a_label_condition_and_a_head_that_say_the_same_are_found():
    normal = RuleList((rule("a", WIDE), rule("b", IF_A), rule("c", WIDE)), ATTRIBUTES, LABELS)
    relaxed = RuleList((rule("a b", WIDE), rule("c")), ATTRIBUTES, LABELS)
    (found,) = equivalences(normal, relaxed, "a")
    assert (found.condition_rule, found.label_rule, found.joint_rule) == (normal[0], normal[1], relaxed[0])
    assert equivalences(normal, relaxed, "c") == []
    assert choose_labels(normal, relaxed, 1) == ["a"]


def test_conditions_in_the_other_direction_say_something_else():
    normal = RuleList((rule("a", WIDE), rule("b", IF_A)), ATTRIBUTES, LABELS)
    wider = RuleList((rule("a b", RangeCondition("width", 0, above=3.0)),), ATTRIBUTES, LABELS)
    narrow = RuleList((rule("a b", RangeCondition("width", 0, at_most=1.0)),), ATTRIBUTES, LABELS)
    assert len(equivalences(normal, wider, "a")) == 1
    assert equivalences(normal, narrow, "a") == []


def test_lifts_with_such_a_pair_are_counted(capsys: pytest.CaptureFixture[str]):
    main([EMBEDDED, "macro-f+"])
    *lines, total = capsys.readouterr().out.splitlines()
    without = sum(line.endswith(": no such pair") for line in lines)
    assert len(lines) == 28
    assert total.startswith(f"{28 - without} of 28 lifts: ")
    with pytest.raises(SystemExit):
        main([EMBEDDED, "micro"])
    assert "micro-f+" in capsys.readouterr().err


def test_labels_that_are_never_predicted_together_with_others_are_not_chosen():
    model = RuleList((rule("a", WIDE), rule("b")), ATTRIBUTES, LABELS)
    assert choose_labels(model, model, 2) == []


def test_rules_about_a_label_predict_it_or_ask_for_it():
    model = RuleList((rule("a", WIDE), rule("b", IF_A), rule("c")), ATTRIBUTES, LABELS)
    assert rules_about(model, "a") == model.rules[:2]
