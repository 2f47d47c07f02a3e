"""Probabilities of labels: shares of right decisions in training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.rule_lists import make_rules
from plurule import RelaxedPruningClassifier
from plurule._prediction.apply import decide, is_counted, probabilities, probability_by_rule, recount
from plurule.data.inputs import encode


def test_what_a_rule_decides_has_its_share_in_training_and_the_rest_that_of_the_undecided() -> None:
    rules = make_rules("a, ¬b <- x > 1\nb <- x > 0", {"x": None}, ("a", "b"))
    first, second = rules
    counted = (replace(first, decided=((3, 1), (5, 0))), replace(second, decided=((0, 2),)))
    rules = replace(rules, rules=counted, undecided=((6, 2), (1, 0)))
    found = probability_by_rule(rules)
    assert found[0].tolist() == [4 / 6, 1 / 7]
    assert found[1, 1] == 1 / 4
    assert found[-1].tolist() == [3 / 10, 1 / 3]
    table = encode([[2.0], [0.5], [-1.0]], rules.attributes)
    said = probabilities(rules, decide(rules, table))
    # Label b is predicted in the second row, although it was wrong there in training: a probability is a rate.
    assert said == pytest.approx(np.array([[4 / 6, 1 / 7], [3 / 10, 1 / 4], [3 / 10, 1 / 3]]))


def test_a_rule_that_was_written_by_hand_has_the_counts_of_the_whole_rule() -> None:
    (rule,) = make_rules("a, b <-", {}, ("a", "b"))
    assert not is_counted(rule)
    rules = make_rules("a, b <-", {}, ("a", "b"))
    assert probability_by_rule(rules)[0].tolist() == [0.5, 0.5]
    rules = replace(rules, rules=(replace(rule, tp=2, fp=0),))
    assert is_counted(rules[0])
    assert probability_by_rule(rules)[0].tolist() == [0.75, 0.75]
    # Nothing is known of the pairs that it leaves undecided.
    assert probability_by_rule(rules)[-1].tolist() == [0.5, 0.5]


def test_a_rule_is_counted_if_it_was_ever_only_wrong_or_decided_nothing() -> None:
    (rule,) = make_rules("a <-", {}, ("a",))
    assert is_counted(replace(rule, fp=2))
    assert is_counted(replace(rule, decided=((0, 0),)))


def test_probabilities_are_the_rates_that_new_data_have() -> None:
    """A label may be predicted where it is right in three cases of ten; its probability is that rate."""
    generator = np.random.default_rng(0)
    rules = make_rules("a, b <- x > 0", {"x": None}, ("a", "b"))

    def draw(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        x = generator.normal(size=(n_rows, 1))
        rates = np.where(x > 0, (0.7, 0.3), (0.05, 0.02))
        return x, (generator.random((n_rows, 2)) < rates).astype(int)

    x, truth = draw(4000)
    counted = recount(rules, encode(x, rules.attributes), truth)
    x, truth = draw(4000)
    said = counted.predict_proba(x)
    for label in range(2):
        for value in np.unique(said[:, label]):
            assert truth[said[:, label] == value, label].mean() == pytest.approx(value, abs=0.05)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_predicted_class_is_the_most_probable(n_classes: int) -> None:
    generator = np.random.default_rng(n_classes)
    x = generator.normal(size=(200, 2))
    y = np.where(x[:, 0] > 0.3, generator.integers(n_classes, size=200), 0)
    classifier = RelaxedPruningClassifier(max_rules=6, min_precision=0).fit(x, y)
    probability = classifier.predict_proba(x)
    assert (classifier.classes_[probability.argmax(axis=1)] == classifier.predict(x)).all()
    assert probability.sum(axis=1) == pytest.approx(1)
