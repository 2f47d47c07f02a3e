"""How often rules come back."""

from __future__ import annotations

import numpy as np
import pytest

from plurule import RelaxedPruningClassifier, RuleList, RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.errors import DataError, ParameterError
from plurule.heuristics import FMeasure
from plurule.inspection.evidence import stability

F = FMeasure(0.6)
CHANCE = np.random.default_rng(0)
X = CHANCE.normal(size=(200, 5))
Y = np.stack([X[:, 0] > 0.3, CHANCE.random(200) < 0.3], axis=1).astype(int)


def test_a_rule_that_is_there_comes_back_and_one_of_chance_does_not() -> None:
    learner = RelaxedPruningClassifier(heuristic=F, max_rules=6).fit(X, Y)
    found = stability(learner.rule_list_, X, Y, estimator=learner)
    assert found == learner.rule_list_
    assert found[0].to_text().startswith("y0 ← x0 > 0.")
    assert found[0].stability == 1.0
    assert max(rule.stability or 0 for rule in found if "y1" in str(rule.head)) < 0.5


def test_a_learner_that_chooses_chooses_again_each_time() -> None:
    learner = RuleListClassifier(cv=3, lift=None).fit(X, Y[:, :1])
    found = stability(learner.rule_list_, X, Y[:, :1], estimator=learner, resamples=2)
    assert {rule.stability for rule in found} <= {0.0, 0.5, 1.0}
    assert found[0].stability


def test_a_wider_tolerance_finds_more() -> None:
    flags = load_world_flags()
    learner = RelaxedPruningClassifier(heuristic=F, max_rules=10).fit(flags)
    rules = learner.rule_list_
    narrow, wide = (
        [rule.stability for rule in rules.stability(flags, estimator=learner, resamples=10, tolerance=tolerance)]
        for tolerance in (0.0, 1.0)
    )
    assert sum(wide) > sum(narrow)
    assert all(a <= b for a, b in zip(narrow, wide, strict=True))


def test_frame_report_and_model_file_show_it(tmp_path: object) -> None:
    rules = RelaxedPruningClassifier(heuristic=F, max_rules=3).fit(X, Y).rule_list_
    assert "stability" not in rules.to_frame()
    known = rules.stability(X, Y, estimator=RelaxedPruningClassifier(heuristic=F), resamples=4)
    assert list(known.to_frame()["stability"]) == [rule.stability for rule in known]
    assert "comes back in" not in rules.to_html()
    assert known.to_html().count("comes back in") == 3
    path = f"{tmp_path}/model.json"
    known.save(path)
    assert [rule.stability for rule in RuleList.load(path)] == [rule.stability for rule in known]


def test_simplify_forgets_the_stability_of_changed_rules() -> None:
    rules = (
        RelaxedPruningClassifier(heuristic=F, max_rules=3)
        .fit(X, Y)
        .rule_list_.stability(X, Y, estimator=RelaxedPruningClassifier(heuristic=F), resamples=2)
    )
    shorter = rules.simplify(X, Y, tolerance=0.2).rule_list
    before = {rule.body: rule.stability for rule in rules}
    assert all(rule.stability == before.get(rule.body) for rule in shorter)


def test_bad_input_is_refused() -> None:
    rules = RelaxedPruningClassifier(heuristic=F, max_rules=3).fit(X, Y).rule_list_
    with pytest.raises(ParameterError, match="resamples must be a whole number of at least 1"):
        stability(rules, X, Y, resamples=0)
    with pytest.raises(DataError, match="true labels are needed"):
        stability(rules, X)
