"""Lists that aim at a measure: what is chosen, and what it keeps to."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer

from plurule import Constraints, RuleListClassifier, load_model, save_model
from plurule.datasets import load_world_flags
from plurule.metrics import METRICS, micro_f1
from plurule.prediction.constant import best_constant
from plurule.prediction.scoring import Scoring
from plurule.selection.aiming import (
    FOR_SEVERAL,
    LEAST_ROWS,
    ConstantLabels,
    Selected,
    Telling,
    Whole,
    choose,
    cross_fitted,
    is_better,
    prices,
)
from plurule.selection.gain_cover import Price
from plurule.selection.lengths import LengthCurve


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


def curve(*scores: list[float], conditions: list[float] | None = None) -> Telling:
    array = np.array(scores)
    told = LengthCurve("micro_f1", array, np.array(conditions or [0.0] * array.shape[1]))
    return Telling(told, np.zeros(array.shape[1]))


def test_the_best_mean_decides_and_of_equals_the_smallest() -> None:
    high, low = curve([0.5, 0.8], [0.5, 0.8]), curve([0.5, 0.7], [0.5, 0.7])
    assert choose({Whole(0.5): low, Whole(1.0): high}, 0.5) == (Whole(1.0), 2)
    longer, shorter = curve([0.8], [0.8], conditions=[3.0]), curve([0.8], [0.8], conditions=[1.0])
    assert choose({Whole(0.5): longer, Whole(1.0): shorter}, 0.5) == (Whole(1.0), 1)


def test_size_and_rules_of_several_labels_count_by_what_the_constant_leaves_to_gain() -> None:
    long, short = curve([0.800], conditions=[60]), curve([0.796], conditions=[0])
    tried = {Whole(0.5): long, Whole(1.0): short}
    assert choose(tried, constant=0.2) == (Whole(1.0), 1)
    assert choose(tried, constant=0.7) == (Whole(0.5), 1)
    losses = {
        how: Telling(replace(told.curve, scores=told.curve.scores - 1), told.share) for how, told in tried.items()
    }
    assert choose(losses, constant=-0.8) == (Whole(1.0), 1)
    assert choose(losses, constant=-0.3) == (Whole(0.5), 1)
    several = {Whole(0.5): curve([0.800]), Whole(1.0): curve([0.790])._replace(share=np.array([1.0]))}
    assert choose(several, constant=0.4) == (Whole(1.0), 1)
    assert choose(several, constant=0.75) == (Whole(0.5), 1)
    assert choose(several, constant=np.nan) == (Whole(0.5), 1)


def test_parts_without_a_score_are_left_out_and_without_any_nothing_is_chosen() -> None:
    some = {Whole(0.5): curve([np.nan, 0.1], [0.5, 0.6]), Whole(1.0): curve([0.9, 0.9], [0.7, 0.5])}
    assert choose(some, 0.5) == (Whole(1.0), 1)
    assert choose({Whole(0.5): curve([np.nan, 0.1])}, 0.5) is None


def test_what_is_tried_depends_on_the_measure() -> None:
    assert {price.lam for price in prices(Scoring("subset_accuracy"))} == {0.5}
    assert all(price.labels_alike for price in prices(Scoring("f1_macro")))
    assert max(price.lam for price in prices(Scoring("micro_f1"))) < 0.5 <= max(p.lam for p in prices(Scoring("score")))
    assert "λ = 0.3, 1 per condition" in str(Selected(Price(0.3, 1.0)))
    assert "λ = 0.4, 0.2 for further labels, 1 per condition" in str(Selected(Price(0.4, 1.0, further=0.5)))


@pytest.mark.parametrize("scoring", ["micro_f1", "macro_f1", "hamming_accuracy", "subset_accuracy", "f1_samples"])
def test_a_fit_says_what_it_chose_and_is_not_below_a_constant(flags: Any, scoring: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = RuleListClassifier(scoring=scoring, cv=3).fit(flags)
    chosen = classifier.chosen_
    assert chosen["score"] >= chosen["constant"] - 0.005
    assert 1 <= chosen["n_rules"] <= 40
    assert len(classifier.rule_list_) <= chosen["n_rules"]
    assert chosen["scoring"] == scoring == classifier.n_rules_curve_.measure
    choice = classifier.rule_list_.length_choice
    assert (choice.how, choice.constant) == (chosen["how"], chosen["constant"])
    if scoring in METRICS:
        truth = flags.Y.toarray() if hasattr(flags.Y, "toarray") else flags.Y
        assert METRICS[scoring](truth, classifier.predict(flags.X)) >= best_constant(flags.Y, scoring).score - 0.01
    save_model(classifier.rule_list_, tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").length_choice == choice


def test_fewer_rules_may_be_asked_for_and_threads_and_engines_change_nothing(flags: Any) -> None:
    short = RuleListClassifier(n_rules=3, cv=2, n_jobs=1).fit(flags)
    assert len(short.rule_list_) <= 3
    for other in ({"n_jobs": 2}, {"engine": "reference"}):
        assert RuleListClassifier(n_rules=3, cv=2, **other).fit(flags).rule_list_ == short.rule_list_


def test_a_scorer_of_ones_own_is_aimed_at(flags: Any) -> None:
    scorer = make_scorer(f1_score, average="micro", zero_division=0.0)
    own = RuleListClassifier(scoring=scorer, cv=2, n_rules=4).fit(flags)
    assert own.chosen_["scoring"] == "score"
    assert own.chosen_["score"] > own.chosen_["constant"]


def test_where_nothing_can_be_learned_the_constant_is_the_model_and_that_is_said() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.random((80, 2)), (rng.random((80, 2)) < [0.8, 0.1]).astype(int)
    with pytest.warns(UserWarning, match="no list is clearly better: it is the model"):
        classifier = RuleListClassifier().fit(X, Y)
    (rule,) = classifier.rule_list_
    assert not rule.body
    assert [a.index for a in rule.head] == [0]
    assert classifier.chosen_["how"] == "the same labels for every instance"
    assert classifier.labels_without_rules_ == {"y1": "no rule for it pays off for micro_f1"}


def test_classes_of_which_little_is_left_still_get_rules() -> None:
    # Together they are a tenth of the rows, which a list may leave alone unless its length is chosen.
    x = np.array([0] * 100 + [1] * 80 + [2] * 10 + [3] * 10)
    kind = np.array(["many", "most", "few", "fewer"])[x]
    assert (RuleListClassifier().fit(x[:, None], kind).predict(x[:, None]) == kind).all()


def test_few_rows_are_no_ground_for_a_choice() -> None:
    X = np.arange(LEAST_ROWS - 1, dtype=float)[:, None]
    Y = np.column_stack([X[:, 0] < 10, X[:, 0] > 30]).astype(int)
    few = RuleListClassifier(n_rules=3).fit(X, Y)
    assert few.chosen_ == {}
    assert (
        few.rule_list_
        == RuleListClassifier(heuristic=few.set_params(heuristic__beta=0.6).heuristic, n_rules=3).fit(X, Y).rule_list_
    )


def test_initial_rules_constraints_and_precision_are_kept_to(flags: Any) -> None:
    given = RuleListClassifier(cv=2, n_rules=8).fit(flags, initial_rules=["red <- sun = yes", "not blue <- stars > 20"])
    assert [rule.locked for rule in given.rule_list_][:3] == [True, True, False]
    assert given.chosen_["n_rules"] >= 2
    used = {c.name for rule in RuleListClassifier(cv=3).fit(flags).rule_list_ for c in rule.body}
    banned = Constraints(sorted(used))
    bound = RuleListClassifier(cv=3).fit(flags, constraints=banned)
    assert used
    assert not used & {c.name for rule in bound.rule_list_ for c in rule.body}
    precise = RuleListClassifier(cv=2, min_precision=0.8).fit(flags)
    assert all(right >= 0.8 * (right + wrong) for rule in precise.rule_list_ for right, wrong in rule.decided)
    both = RuleListClassifier(cv=2, predict_absence=True, scoring="hamming_accuracy").fit(flags)
    assert both.chosen_["how"].startswith("a list learned by F")
    assert any(not a.present for rule in both.rule_list_ for a in rule.head)


def test_weights_of_two_count_as_rows_that_are_there_twice(flags: Any) -> None:
    data = flags[np.arange(120)]
    weighted = RuleListClassifier(cv=2).fit(data.X, data.Y, sample_weight=np.full(120, 2.0))
    plain = RuleListClassifier(cv=2).fit(data.X, data.Y)
    assert weighted.rule_list_ == plain.rule_list_
    assert micro_f1(data.Y, plain.predict(data.X)) > 0.6


def test_an_expressive_list_tells_more_of_several_labels_and_says_what_that_cost(flags: Any) -> None:
    def share(classifier: Any) -> float:
        return float(np.mean([len(rule.head) > 1 or bool(rule.label_conditions) for rule in classifier.rule_list_]))

    plain = RuleListClassifier(cv=4).fit(flags)
    telling = RuleListClassifier.expressive(cost=0.03, cv=4).fit(flags)
    assert share(telling) > share(plain)
    assert 0 <= telling.chosen_["given_up"] <= 0.03 + 1e-9
    assert plain.chosen_["given_up"] <= FOR_SEVERAL
    with pytest.raises(ValueError, match="give_up must be a number"):
        RuleListClassifier(give_up=-1).fit(flags)


def test_the_score_that_is_told_is_of_parts_that_had_no_say_in_the_choice(flags: Any) -> None:
    classifier = RuleListClassifier(cv=4, n_rules=10).fit(flags)
    curve, told = classifier.n_rules_curve_, classifier.chosen_
    assert told["score"] < curve.score(told["n_rules"])  # the best of many flatters itself
    choice = classifier.rule_list_.length_choice
    assert choice.score == pytest.approx((told["score"], told["standard_error"]), rel=1e-5)


def test_a_list_that_is_better_by_luck_gives_way_to_the_constant() -> None:
    rng = np.random.default_rng(5)
    X, Y = rng.random((60, 12)), (rng.random((60, 3)) < [0.6, 0.5, 0.4]).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given_way = [RuleListClassifier(cv=5).fit(X[:, i:], Y).chosen_ for i in range(8)]
    assert all(told["score"] > told["constant"] or told["how"] == str(ConstantLabels()) for told in given_way)
    assert any(told["how"] == str(ConstantLabels()) for told in given_way)


def test_what_nearly_all_instances_have_is_said_last_and_its_exceptions_before() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((400, 3))
    odd = (abs(X[:, :2] - 0.5) < 0.25).all(axis=1, keepdims=True)
    Y = (np.hstack([~odd, ~odd, odd]) & (rng.random((400, 3)) < 0.95)).astype(int)
    classifier = RuleListClassifier().fit(X, Y)
    assert "as exceptions to a last rule" in classifier.chosen_["how"]
    *others, last = classifier.rule_list_
    assert (str(last.head), last.body) == ("y0, y1", ())
    assert {str(rule.head) for rule in others} == {"¬y0, ¬y1, y2"}
    for off in ({"predict_absence": False}, {"min_precision": 0.3}, {"scoring": "f1_micro"}):
        plain = RuleListClassifier(**off).fit(X, Y)
        assert all(a.present for rule in plain.rule_list_ for a in rule.head)
    with pytest.raises(ValueError, match="predict_absence"):
        RuleListClassifier(predict_absence="never").fit(X, Y)


def test_rules_of_several_labels_and_short_lists_speak_for_a_candidate() -> None:
    plain = Telling(_curve([0.5, 0.600, 0.61], [0.5, 0.62, 0.6]), np.array([0.0, 0.0, 0.0]))
    telling = Telling(_curve([0.5, 0.605, 0.55], [0.5, 0.613, 0.55]), np.array([0.0, 0.5, 0.7]))
    told = {Whole(0.5): plain, Whole(1.0): telling}
    assert choose(told, constant=0.5) == (Whole(1.0), 2)
    assert choose(told, constant=0.5, give_up=0.07) == (Whole(1.0), 3)


def _curve(*scores: list[float]) -> LengthCurve:
    return LengthCurve("micro_f1", np.array(scores), np.arange(len(scores[0]), dtype=float))


def test_a_list_is_better_than_the_constant_by_more_than_chance_or_by_more_than_a_little() -> None:
    constant = np.array([0.47, 0.48, 0.46])
    gains = [0.002, 0.001, 0.003], [0.002, -0.001, 0.001], [0.04, -0.01, 0.01]
    assert [is_better(constant + gain, constant) for gain in gains] == [True, False, True]


def test_a_part_is_scored_by_what_the_others_choose() -> None:
    lucky, solid, constant = (
        _curve(*([score] for score in scores)) for scores in ((0.9, 0.4, 0.4), (0.5, 0.52, 0.5), (0.3, 0.3, 0.3))
    )
    told = {Whole(beta): Telling(one, np.zeros(1)) for beta, one in ((0.5, lucky), (1.0, solid))}
    assert cross_fitted(told, constant).tolist() == [0.5, 0.4, 0.4]
