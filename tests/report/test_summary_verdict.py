"""The sentence on top of a report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.rule_lists import make_rules
from plurule._prediction.assessment import Assessed
from plurule.classifier import RuleListClassifier
from plurule.model import LengthChoice, RuleList
from plurule.report import to_html
from plurule.report.summary import verdict

RULES = make_rules("red <- x > 1\nblue <- x <= 3", {"x": None}, ("red", "blue"))
WHAT = "2 rules predict which of 2 labels (red, blue) an instance has; "
CONSTANT = "of the best constant prediction."


def scores(score: float, low: float, high: float, constant: float) -> dict[str, Assessed]:
    return {"micro F1": Assessed(score, low, high, constant, 0.1), "subset accuracy": Assessed(0.5, 0.4, 0.6, 0.3, 0.1)}


def test_verdict_states_the_score_on_the_given_instances() -> None:
    sentence = verdict(RULES, 50, scores(0.8, 0.7, 0.9, 0.6))
    expected = "on the given 50 instances micro F1 is 0.80 (0.70 to 0.90), clearly more than the 0.60"
    assert sentence == f"{WHAT}{expected} {CONSTANT}"


def test_it_says_whether_that_is_more_than_a_constant_prediction_reaches() -> None:
    found = [verdict(RULES, 9, scores(0.8, 0.7, 0.9, constant)) for constant in (0.75, 0.8, 0.95)]
    assert [sentence.split("0.90), ")[1] for sentence in found] == [
        "more than the 0.75 of the best constant prediction, though that may be chance.",
        f"no more than the 0.80 {CONSTANT}",
        f"no more than the 0.95 {CONSTANT}",
    ]


def test_verdict_without_data_states_the_validation_score() -> None:
    choice = LengthChoice("macro_f1", (0.4, 0.5), (0.01, 0.02), chosen=2, constant=0.3)
    rules = replace(RULES, length_choice=choice)
    held_out = f"on rows held out in training macro F1 is 0.50 (0.46 to 0.54), clearly more than the 0.30 {CONSTANT}"
    assert verdict(rules, 0, {}) == WHAT + held_out
    assert "the given 50 instances micro F1 is 0.90" in verdict(rules, 50, scores(0.9, 0.8, 0.99, 0.6))
    # What was measured is about the whole list.
    assert "held out" not in verdict(rules[:1], 0, {})


def test_what_is_not_known_is_said() -> None:
    unknown = "how well is not known: give labelled instances that are new to them."
    assert verdict(RULES, 0, {}) == WHAT + unknown
    assert verdict(RULES, 50, {}) == WHAT + unknown
    assert verdict(RULES, 0, scores(0.0, 0.0, 0.0, 0.0)) == WHAT + unknown


def test_labels_are_named_and_many_are_counted() -> None:
    one = make_rules("red <- x > 1", {"x": None}, ("red",))
    assert verdict(one, 0, {}).startswith("1 rule predicts whether an instance has the label red; ")
    many = RuleList((), RULES.attributes, tuple(f"y{i}" for i in range(20)))
    assert "of 20 labels (y0, y1, y2, y3, y4, y5 and 14 more) an instance has" in verdict(many, 0, {})
    assert verdict(many, 0, {}).startswith("No rules predict ")


def test_classes_are_predicted_rightly_or_not() -> None:
    X, y = np.arange(60.0)[:, None], np.repeat(["a", "b", "c"], 20)
    rules = RuleListClassifier().fit(X[::2], y[::2]).rule_list_
    found = to_html(rules, X[1::2], (y[1::2, None] == ["a", "b", "c"]).astype(int))
    assert (
        "rules predict to which of 3 classes (a, b, c) an instance belongs; on the given 30 instances subset" in found
    )
