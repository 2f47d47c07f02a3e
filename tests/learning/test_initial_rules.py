"""Rules given beforehand: they stay first, and what they decide is not learned again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.native_problems import random_options, random_problem
from helpers.problems import make_problem
from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule._learning import covering, native
from plurule._learning.initial_rules import apply_initial_rules
from plurule.datasets import load_world_flags
from plurule.errors import ModelError
from plurule.model import Assignment, Head, RangeCondition, Rule


@pytest.fixture(scope="module")
def flags():
    return load_world_flags()


def test_initial_rules_stay_first_and_carry_the_counts_of_the_data(flags):
    text = "red <- continent = Africa\nblue <- red and stars > 2"
    fitted = RuleListClassifier().fit(flags, initial_rules=text)
    first, second = fitted.rule_list_[:2]
    africa = flags.X.column(flags.X.names.index("continent")) == flags.X.attributes[
        flags.X.names.index("continent")
    ].categories.index("Africa")
    red = flags.Y[:, flags.label_names.index("red")] == 1
    assert (first.tp, first.fp, first.coverage) == ((africa & red).sum(), (africa & ~red).sum(), africa.sum())
    assert first.locked
    assert second.locked
    assert len(fitted.rule_list_) > 2


def test_what_an_initial_rule_decides_is_not_learned_again(flags):
    names = {"label_names": flags.label_names}
    everything = ", ".join(flags.label_names)
    fitted = RelaxedPruningClassifier(remaining=0).fit(flags.X, flags.Y, initial_rules=f"{everything} <-", **names)
    assert len(fitted.rule_list_) == 1


def test_a_stop_rule_given_beforehand_ends_instances(flags):
    fitted = RelaxedPruningClassifier(remaining=0).fit(flags, initial_rules="red <- [stop]")
    assert len(fitted.rule_list_) == 1
    assert fitted.predict(flags.X).sum() == len(flags.Y)


def test_both_engines_go_on_from_initial_rules_in_the_same_way():
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng)
        options = random_options(rng, problem)
        learned = native.learn(problem, options)
        given = tuple(replace(rule, stop=bool(rng.integers(2))) for rule in list(learned)[::-1][:3])
        guided = replace(problem, initial_rules=given)
        assert native.learn(guided, options) == covering.learn(guided, options)
        compared += bool(given)
    assert compared > 30


def test_an_initial_rule_with_an_unknown_name_is_refused(flags):
    with pytest.raises(ModelError, match="contnent"):
        RuleListClassifier().fit(flags, initial_rules="red <- contnent = Africa")


def test_learning_starts_with_locked_rules_and_only_the_labels_of_their_heads_can_be_tested():
    problem = make_problem({"a": [1, 2, 3]}, [[1, 0, 1], [1, 1, 0], [0, 0, 1]])
    given = (Rule(Head((Assignment("B", 1, True),)), (RangeCondition("a", 0, above=1.5),)),)
    begin = apply_initial_rules(replace(problem, initial_rules=given))
    assert begin.rules == (replace(given[0], tp=1, fp=1, coverage=2, decided=((1, 1),), locked=True),)
    assert begin.head_labels.tolist() == [False, True, False]
    assert begin.head_labels.dtype == bool
    assert not apply_initial_rules(problem).head_labels.any()
