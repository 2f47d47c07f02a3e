"""Measures to select by: names and scorers, and what is said of what cannot be one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score, get_scorer, make_scorer, roc_auc_score

from plurule import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.metrics import METRICS, SCORERS, find_measure, micro_f1


def message(scoring: Any) -> str:
    with pytest.raises(ValueError, match="scoring") as error:
        find_measure(scoring)
    return str(error.value)


@pytest.mark.parametrize("scoring", [3, None, "foo"])
def test_what_is_no_scoring_is_refused_with_all_that_is_allowed_once(scoring: Any) -> None:
    said = message(scoring)
    assert all(said.count(repr(name)) == 1 for name in METRICS)
    assert repr(scoring) in said
    assert "a scorer of scikit-learn for several labels, such as 'f1_macro'" in said


def test_a_name_that_was_mistyped_is_suggested() -> None:
    assert message("micro_f").startswith("unknown scoring 'micro_f'; did you mean 'micro_f1'")


@pytest.mark.parametrize("metric", [f1_score, roc_auc_score])
def test_a_metric_is_no_scorer_and_can_be_made_one(metric: Any) -> None:
    assert f"give sklearn.metrics.make_scorer({metric.__name__}, …)" in message(metric)
    scorer = make_scorer(metric, average="micro")
    assert find_measure(scorer).scorer is scorer


def test_a_measure_of_ours_is_given_by_name() -> None:
    assert message(micro_f1).endswith("give its name, 'micro_f1'")
    assert find_measure("micro_f1").scorer is None


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("micro_f1", "f1_micro"),
        ("macro_f1", "f1_macro"),
        ("example_f1", "f1_samples"),
        ("subset_accuracy", "accuracy"),
        ("precision", "precision_micro"),
        ("recall", "recall_micro"),
    ],
)
def test_find_measure_gives_one_measure_for_equivalent_scorers(ours: str, theirs: str) -> None:
    expected = find_measure(ours)
    assert find_measure(theirs) is expected
    assert find_measure(get_scorer(theirs)) is expected
    assert find_measure(SCORERS[ours]) is expected
    truth = np.random.default_rng(0).integers(0, 2, (40, 3))
    predicted = np.random.default_rng(1).integers(0, 2, (40, 3))
    classifier = DummyClassifier(strategy="constant", constant=predicted[0]).fit(truth, truth)
    everywhere = np.tile(predicted[0], (40, 1))
    assert METRICS[ours](truth, everywhere) == pytest.approx(get_scorer(theirs)(classifier, truth, truth))


def test_find_measure_keeps_scorers_that_average_over_the_two_classes_of_one_label() -> None:
    assert find_measure("f1_macro", one_label=True).scorer is not None
    assert find_measure("accuracy", one_label=True) is find_measure("subset_accuracy")
    assert find_measure("micro_f1", one_label=True) is find_measure("micro_f1")


@pytest.mark.parametrize(("ours", "theirs"), [("micro_f1", "f1_micro"), ("macro_f1", "f1_macro")])
def test_equivalent_scorers_give_equal_models_and_scores(ours: str, theirs: str) -> None:
    flags = load_world_flags()
    one = RuleListClassifier(scoring=ours, cv=3).fit(flags)
    for scoring in (theirs, get_scorer(theirs), SCORERS[ours]):
        other = RuleListClassifier(scoring=scoring, cv=3).fit(flags)
        assert other.rule_list_ == one.rule_list_
        assert other.chosen_ == one.chosen_


def test_a_scorer_of_one_label_is_refused_for_several_and_is_micro_f1_for_one() -> None:
    with pytest.raises(
        ValueError, match="scoring 'f1' is of one label, but there are several: give 'hamming_accuracy'"
    ):
        find_measure("f1")
    assert find_measure("f1", one_label=True) is find_measure("micro_f1")


def test_a_scorer_of_samples_is_of_one_label_too() -> None:
    X = np.arange(40.0).reshape(-1, 1)
    assert RuleListClassifier(scoring="f1_samples").fit(X, X[:, 0] > 20).chosen_["scoring"] == "example_f1"
