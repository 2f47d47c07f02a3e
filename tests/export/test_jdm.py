"""Decision graphs, evaluated by the real engine."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from helpers.engines import evaluate_jdm, run_jdm
from helpers.rule_lists import DATA_SETS, HOSTILE_NAMES, VALUES, learned, learned_classes, make_rules, random_rule_list
from plurule._prediction.apply import decide
from plurule.data.dataset import Table
from plurule.data.inputs import encode
from plurule.errors import ModelError
from plurule.export.jdm import to_jdm
from plurule.model import RuleList


@pytest.mark.parametrize("seed", range(12))
def test_jdm_predicts_labels_and_rules_of_random_lists(seed: int) -> None:
    rule_list, table = random_rule_list(seed, HOSTILE_NAMES if seed % 2 else None, values=VALUES)
    decisions = decide(rule_list, table)
    for row, answer in enumerate(evaluate_jdm(rule_list, table)):
        assert set(answer["result"]["labels"]) == set(rule_list.labels)
        assert [answer["result"]["labels"][l] for l in rule_list.labels] == decisions.labels()[row].tolist()
        numbers = [answer["result"]["rules"][l] or 0 for l in rule_list.labels]
        assert numbers == (decisions.decided_by[row] + 1).tolist()


@pytest.mark.parametrize("name", DATA_SETS)
def test_jdm_predicts_labels_of_real_data(shared_data: Path, name: str) -> None:
    rule_list, test = learned(shared_data, name)
    table = encode(test[:150].X, rule_list.attributes)
    np.testing.assert_array_equal(run_jdm(rule_list, table), decide(rule_list, table).labels())


@pytest.mark.parametrize("seed", range(2))
def test_jdm_predicts_exclusive_classes_and_what_labels_imply(seed: int) -> None:
    rule_list, table = learned_classes(seed)
    np.testing.assert_array_equal(run_jdm(rule_list, table), decide(rule_list, table).labels())


def test_jdm_splits_tables_only_before_a_test_of_a_label_just_decided() -> None:
    rule_list = make_rules("a <- x > 1\nb <- c\nc <- a\nd <- b\na <- c", {"x": None}, tuple("abcd"))
    names = [node["name"] for node in json.loads(to_jdm(rule_list))["nodes"] if node["type"] == "decisionTableNode"]
    assert names == ["rules 1 to 2", "rules 3 to 4", "rules 5 to 5"]


def test_jdm_trace_names_the_rules_that_fire() -> None:
    rule_list = make_rules("a <- x > 1\nb <- x > 5\nc <- a", {"x": None}, tuple("abc"))
    (answer,) = evaluate_jdm(rule_list, Table(rule_list.attributes, [np.array([2.0])]), trace=True)
    nodes = sorted(answer["trace"].values(), key=lambda node: node["order"])
    fired = [line["rule"] for node in nodes if isinstance(node["traceData"], list) for line in node["traceData"]]
    assert [(line["_id"], line["_description"]) for line in fired] == [("rule 1", "a ← x > 1"), ("rule 3", "c ← a")]


def test_jdm_values_next_to_a_threshold_fall_on_the_right_side() -> None:
    random_ = random.Random(1)
    numbers = [round(random_.uniform(-10, 10), random_.randrange(17)) for _ in range(60)]
    numbers += [0.1, 1 / 3, 1e22, 123456.789, 7.9e28, -7.9e28, 2.0**53, 1e-10, 1e-12, 5e-13, -5e-13, 0.0]
    for threshold in numbers:
        rule_list = make_rules(f"high <- x > {threshold!r}", {"x": None}, ("high",))
        values = np.array([math.nextafter(threshold, -math.inf), threshold, math.nextafter(threshold, math.inf)])
        values = values[(np.abs(values) > 1e-28) | (values == 0)]  # what is closer to 0 is 0 to the engine
        table = Table(rule_list.attributes, [values])
        assert run_jdm(rule_list, table).ravel().tolist() == (values > threshold).tolist(), threshold


@pytest.mark.parametrize("threshold", [7e-310, 1e-29, 1.2345678901234567e-15, -4e-13, 8e28, -1e300])
def test_jdm_refuses_thresholds_for_which_decimals_are_too_coarse(threshold: float) -> None:
    rule_list = make_rules(f"a <-\nhigh <- x > {threshold!r}", {"x": None}, ("a", "high"))
    with pytest.raises(ModelError, match=r"rule 2 compares 'x' with .*, which the decimals of the engine cannot tell"):
        to_jdm(rule_list)


def test_jdm_refuses_a_name_that_is_no_text() -> None:
    with pytest.raises(ModelError, match="half of a character"):
        to_jdm(RuleList((), (), ("\ud800",)))


def test_jdm_treats_null_absent_and_unknown_values_as_missing() -> None:
    import zen

    rules = (
        "other <- c ≠ a\ngap <- c is missing\nhere <- c is known\nno <- x is missing\nyes <- x is known\nup <- x > 0"
    )
    rule_list = make_rules(rules, {"x": None, "c": ("a", "b")}, ("other", "gap", "here", "no", "yes", "up"))
    decision = zen.ZenEngine().create_decision(to_jdm(rule_list))
    expected = {
        "{}": {"gap", "no"},
        '{"x": null, "c": null}': {"gap", "no"},
        '{"x": 1, "c": "?"}': {"gap", "yes", "up"},
    }
    for request, present in expected.items():
        labels = decision.evaluate(request)["result"]["labels"]
        assert {label for label, value in labels.items() if value} == present


def test_jdm_of_no_rules_predicts_nothing() -> None:
    rule_list = RuleList((), (), ("red",))
    assert run_jdm(rule_list, Table((), [], 2)).tolist() == [[0], [0]]
