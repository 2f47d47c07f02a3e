"""Learning under constraints: the classifiers and the command line keep to what experts ask for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from plurule import RuleListClassifier, RuleListClassifierCV
from plurule.datasets import load_world_flags
from plurule.errors import ModelError
from plurule.learning import native
from plurule.learning.constraints import Constraints
from plurule.lifts import KLN, NoLift
from plurule.model import RuleList

WISHES = Constraints(
    forbidden_attributes=["un_since", "stars"],
    required_attributes=["continent", "horizontal_stripes", "canton", "cross"],
    forbidden_label_pairs=[("red", "blue"), ("green", "white")],
    required_label_pairs=[("red", "white")],
)


@pytest.fixture(scope="module")
def flags():
    return load_world_flags()


@pytest.mark.parametrize("absence", [False, True])
def test_no_learned_rule_does_what_is_not_allowed(flags, absence: bool):
    names = {"label_names": flags.label_names}
    classifier = RuleListClassifier(predict_absence=absence)
    free = classifier.fit(flags.X, flags.Y, **names).rule_list_
    assert WISHES.violations(free)
    bound = classifier.fit(flags.X, flags.Y, constraints=WISHES, **names).rule_list_
    assert len(bound) > 5
    assert WISHES.violations(bound) == ()


def test_constraints_that_ask_for_nothing_change_nothing(flags):
    names = {"label_names": flags.label_names}
    free = RuleListClassifier().fit(flags.X, flags.Y, **names).rule_list_
    assert RuleListClassifier().fit(flags.X, flags.Y, constraints=Constraints(), **names).rule_list_ == free


def test_initial_rules_may_do_anything(flags):
    given = "blue <- un_since > 1960 and red"
    fitted = RuleListClassifier().fit(flags, constraints=WISHES, initial_rules=given)
    assert fitted.rule_list_[0].locked
    assert fitted.rule_list_[0].to_text() == "blue ← un_since > 1960 ∧ red"
    assert WISHES.violations(fitted.rule_list_) == ()


@pytest.fixture
def learned_lists(monkeypatch: pytest.MonkeyPatch) -> list[RuleList]:
    """Every list that a training run of the native engine gives, those of folds included."""
    seen: list[RuleList] = []
    learn = native.Run.learn

    def watched(run: native.Run, *arguments: Any, **keywords: Any) -> RuleList:
        seen.append(learn(run, *arguments, **keywords))
        return seen[-1]

    monkeypatch.setattr(native.Run, "learn", watched)
    return seen


def test_lists_whose_length_is_chosen_are_constrained_in_every_fold(flags, learned_lists):
    RuleListClassifier(n_rules="auto", cv=3).fit(flags, constraints=WISHES, initial_rules="red <- sun = yes")
    assert len(learned_lists) >= 4
    for rule_list in learned_lists:
        assert WISHES.violations(rule_list) == ()
        assert rule_list[0].locked


@pytest.mark.parametrize("protocol", ["wide", "paper"])
def test_parameters_are_chosen_under_the_constraints(flags, protocol: Any, learned_lists):
    search = RuleListClassifierCV(protocol=protocol, lifts=[NoLift(), KLN(0.1)], cv=2)
    rules = (text for text in ["red <- sun = yes"])  # can be gone through only once
    search.fit(flags, constraints=WISHES, initial_rules=rules)
    assert len(learned_lists) >= 5
    for rule_list in [*learned_lists, search.rule_list_]:
        assert rule_list.labels == flags.label_names
        assert WISHES.violations(rule_list) == ()
        assert rule_list[0].locked


def test_what_is_not_in_the_data_is_named(flags):
    with pytest.raises(ModelError, match="forbidden_attributes: there is no attribute 'cantn'; did you mean 'canton'"):
        RuleListClassifier().fit(flags.X, flags.Y, constraints=Constraints(["cantn"]))
    with pytest.raises(ValueError, match=r"constraints must be None or a plurule.Constraints, got \["):
        RuleListClassifier().fit(flags.X, flags.Y, constraints=["canton"])


def test_too_many_labels_that_go_together_are_refused_where_all_signs_are_tried():
    names = [f"l{i}" for i in range(14)]
    chain = Constraints(required_label_pairs=list(pairwise(names)))
    X, Y = np.arange(4.0).reshape(-1, 1), np.eye(4, 14, dtype=int)
    classifier = RuleListClassifier(heuristic="subset_accuracy", head_search="anti_monotone", predict_absence=True)
    with pytest.raises(ValueError, match="meant for at most 12 of them, got 14; require fewer pairs"):
        classifier.fit(X, Y, label_names=names, constraints=chain)
    fitted = RuleListClassifier(predict_absence=True).fit(X, Y, label_names=names, constraints=chain)
    assert {len(rule.head) for rule in fitted.rule_list_} == {14}
