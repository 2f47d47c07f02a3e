"""`RuleListClassifierCV` with protocol "wide": parameters and length are chosen together."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from plurule.classifier import RuleListClassifier
from plurule.classifier_cv import RuleListClassifierCV
from plurule.datasets import load_world_flags
from plurule.heuristics import HammingAccuracy, Laplace
from plurule.lifts import KLN, NoLift, Peak
from plurule.metrics import METRICS
from plurule.selection.lengths import LengthCurve, best_within, front, points
from plurule.selection.search import LOW_BARS, best_first, height, is_far_enough

GRID = {"heuristic__beta": [0.5, 1.0], "predict_absence": [False, True]}


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


@pytest.fixture(scope="module")
def search(flags: Any) -> RuleListClassifierCV:
    return RuleListClassifierCV(param_grid=GRID, cv=3).fit(flags)


@pytest.mark.parametrize("scoring", ["micro_f1", "hamming_accuracy"])
def test_the_scores_are_those_of_lists_trained_on_folds_and_cut_by_hand(flags: Any, scoring: str) -> None:
    X, Y, splits = flags.X, flags.Y, list(KFold(3).split(flags.Y))
    search = RuleListClassifierCV(param_grid=GRID, cv=splits, scoring=scoring).fit(X, Y)
    results = search.cv_results_
    for i, params in enumerate(results["params"]):
        for fold, (train, test) in enumerate(splits):
            by_hand = RuleListClassifier(n_rules=int(results["n_rules"][i]), readable=False).set_params(**params)
            predicted = by_hand.fit(X[train], Y[train]).predict(X[test])
            kept = np.logical_and.reduce([Y[test].any(axis=0) for _, test in splits])
            expected = METRICS[scoring](Y[test][:, kept], predicted[:, kept])
            assert results[f"split{fold}_test_{scoring}"][i] == pytest.approx(expected)


def test_the_candidate_with_the_best_length_is_chosen_and_cut_there(search: Any) -> None:
    best = [curve.score(curve.best) for curve in search.curves_]
    assert best[search.best_index_] == max(best) == search.best_score_
    assert search.best_params_["n_rules"] == search.curves_[search.best_index_].best
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    assert sorted(search.cv_results_["rank_test_score"]) == [1, 2, 3, 4]


def test_the_shortest_list_within_one_standard_error_is_taken_if_asked_for(flags: Any, search: Any) -> None:
    short = clone(search).set_params(length="shortest").fit(flags)
    assert short.best_index_ == search.best_index_
    assert short.best_params_["n_rules"] == search.curves_[search.best_index_].chosen
    assert len(short.rule_list_) <= len(search.rule_list_)


def test_the_best_classifier_is_that_of_the_chosen_parameters(flags: Any, search: Any) -> None:
    by_hand = RuleListClassifier().set_params(**search.best_params_)
    by_hand.fit(flags)
    assert search.rule_list_ == search.best_estimator_.rule_list_ == by_hand.rule_list_
    np.testing.assert_array_equal(search.predict(flags.X), by_hand.predict(flags.X))
    assert search.best_estimator_.get_params()["heuristic__beta"] == search.best_params_["heuristic__beta"]


def test_the_chosen_parameters_hold_all_that_candidates_differ_in(flags: Any) -> None:
    grid = [{"heuristic__beta": [0.5], "predict_absence": [True]}, {"heuristic": [Laplace()], "fix_head": [False]}]
    for first in grid:
        search = RuleListClassifierCV(param_grid=[first, {"lift": [NoLift()], "max_conditions": [1]}], cv=2)
        search.fit(flags.X, flags.Y)
        assert set(search.best_params_) == {*first, "lift", "max_conditions", "n_rules"}
        values = search.best_estimator_.get_params()
        assert all(values[name] == value for name, value in search.best_params_.items())
    both = RuleListClassifierCV(param_grid=grid, cv=2).fit(flags.X, flags.Y)
    assert {"predict_absence", "heuristic", "fix_head", "n_rules"} <= set(both.best_params_)
    RuleListClassifier().set_params(**both.best_params_)


def test_no_point_of_the_front_is_beaten_and_every_other_point_is(search: Any) -> None:
    every = [
        point for i, curve in enumerate(search.curves_) for point in points(i, search.cv_results_["params"][i], curve)
    ]

    def beaten(point: Any) -> bool:
        return any(
            other.score >= point.score
            and other.rules <= point.rules
            and other.conditions <= point.conditions
            and (other.score, -other.rules, -other.conditions) != (point.score, -point.rules, -point.conditions)
            for other in every
        )

    kept = {(point.score, point.rules, point.conditions) for point in search.pareto_front_}
    assert kept == {(p.score, p.rules, p.conditions) for p in every if not beaten(p)}
    assert [p.rules for p in search.pareto_front_] == sorted(p.rules for p in search.pareto_front_)


def test_select_gives_the_best_list_of_a_size_without_training(
    flags: Any, search: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RuleListClassifier, "fit", None)
    for limit in (1, 3, 8, 100):
        small = search.select(max_rules=limit)
        point = best_within(search.pareto_front_, limit)
        assert point is not None
        assert len(small.rule_list_) <= limit
        assert small.n_rules == point.rules
        assert small.rule_list_ == search._trained[point.candidate].rule_list_[: point.rules]
    few = search.select(max_conditions=3)
    assert few.predict(flags.X).shape == flags.Y.shape
    with pytest.raises(ValueError, match=r"no list keeps to max_rules=0 .*the smallest: 1 rules"):
        search.select(max_rules=0)


def test_initial_rules_are_never_cut_off(flags: Any) -> None:
    # Rules that are wrong, so that the best lists would be those without them.
    given = ["orange <- coast = island", "black <- coast = island", "blue <- coast = island"]
    parameters = {"label_names": flags.label_names, "initial_rules": given}
    search = RuleListClassifierCV(param_grid=GRID, cv=2, length="shortest").fit(flags.X, flags.Y, **parameters)
    auto = RuleListClassifier(heuristic="f_measure").fit(flags.X, flags.Y, **parameters)
    for classifier in (search, auto, search.select(max_rules=3)):
        assert all(rule.locked for rule in classifier.rule_list_[:3])
        assert len(classifier.rule_list_) >= 3
        assert classifier.n_rules_curve_ is not None
        assert min(classifier.n_rules_curve_.best, classifier.n_rules_curve_.chosen) >= 3
    assert min(point.rules for point in search.pareto_front_) >= 3
    with pytest.raises(ValueError, match=r"no list keeps to max_rules=2 .*3 initial rules are never cut off"):
        search.select(max_rules=2)


@pytest.mark.parametrize("limits", [{"max_rules": "x"}, {"max_conditions": "x"}, {"max_rules": True}])
def test_a_limit_that_is_no_number_is_refused(search: Any, limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be a number or None"):
        search.select(**limits)


def test_a_search_does_all_that_its_best_classifier_does(flags: Any, search: Any) -> None:
    X, Y, best = flags.X, flags.Y, search.best_estimator_
    assert search.n_rules_curve_ is best.n_rules_curve_
    np.testing.assert_array_equal(search.staged_score(X, Y), best.staged_score(X, Y, "micro_f1"))
    np.testing.assert_array_equal(search.staged_score(X, Y, "recall"), best.staged_score(X, Y, "recall"))
    np.testing.assert_array_equal(list(search.staged_predict(X))[-1], search.predict(X))
    np.testing.assert_array_equal(search.decide(X).decided_by, best.decide(X).decided_by)
    assert str(search.explain(X[:2])) == str(best.explain(X[:2]))


def test_the_curve_of_a_list_knows_where_that_list_was_cut(flags: Any, search: Any) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    auto = RuleListClassifier(heuristic="f_measure").fit(flags.X, flags.Y)
    for classifier in (auto, search.best_estimator_, search.select(max_rules=5), search.select(max_rules=2)):
        length = len(classifier.rule_list_)
        assert classifier.n_rules_curve_.cut == classifier.rule_list_.length_choice.chosen == length
        labels = [text.get_text() for text in classifier.n_rules_curve_.plot().get_legend().get_texts()]
        assert f"cut after {length} rules" in labels


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_finished_candidate_is_told(flags: Any, n_jobs: int) -> None:
    told: list[tuple[int, int]] = []
    search = RuleListClassifierCV(param_grid=GRID, cv=2, n_jobs=n_jobs, verbose=lambda *counts: told.append(counts))
    search.fit(flags.X, flags.Y)
    assert told == [(done, 4) for done in range(5)]


def test_the_choice_does_not_depend_on_the_number_of_threads(flags: Any, search: Any) -> None:
    two = clone(search).set_params(n_jobs=2).fit(flags)
    assert two.rule_list_ == search.rule_list_
    assert two.pareto_front_ == search.pareto_front_


def test_any_scorer_of_scikit_learn_can_be_chosen_by(flags: Any) -> None:
    parameters: dict[str, Any] = {"param_grid": GRID, "cv": 3}
    theirs = RuleListClassifierCV(scoring="f1_micro", **parameters).fit(flags.X, flags.Y)
    ours = RuleListClassifierCV(scoring="micro_f1", **parameters).fit(flags.X, flags.Y)
    assert theirs.cv_results_["mean_test_f1_micro"] == pytest.approx(ours.cv_results_["mean_test_micro_f1"])
    assert theirs.rule_list_ == ours.rule_list_


def test_the_default_grid_turns_beta_lift_signs_and_head_mode(flags: Any) -> None:
    params = RuleListClassifierCV(cv=2).fit(flags.X, flags.Y).cv_results_["params"]
    assert len(params) == 17
    assert {len({str(p.get(name)) for p in params}) > 1 for name in ("heuristic__beta", "lift")} == {True}
    assert any(p.get("predict_absence") for p in params)
    assert any(p.get("fix_head") is False for p in params)


def test_where_good_rules_are_rare_a_low_bar_is_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    Y = (rng.random((300, 3)) < np.where(X[:, :1] < 0.5, 0.35, 0.1)).astype(int)
    search = RuleListClassifierCV(cv=3).fit(X, Y)
    assert search.best_params_["min_precision"] in LOW_BARS
    bare = RuleListClassifierCV(cv=3, param_grid={"heuristic__beta": [1.0]}).fit(X, Y)
    assert search.best_score_ > bare.best_score_ + 0.05


def test_a_heuristic_without_beta_or_a_search_without_lift_is_searched_in_the_rest(flags: Any) -> None:
    no_beta = RuleListClassifierCV(RuleListClassifier(heuristic=HammingAccuracy()), cv=2)
    assert "param_heuristic__beta" not in no_beta.fit(flags.X, flags.Y).cv_results_
    no_lift = RuleListClassifierCV(RuleListClassifier(head_search="single", heuristic=Laplace()), cv=2)
    assert "param_lift" not in no_lift.fit(flags.X, flags.Y).cv_results_


def test_lifts_that_are_given_take_the_place_of_those_in_the_grid(flags: Any) -> None:
    search = RuleListClassifierCV(lifts=[NoLift(), KLN(0.5)], cv=2).fit(flags.X, flags.Y)
    assert {p["lift"] for p in search.cv_results_["params"] if "lift" in p} == {NoLift(), KLN(0.5)}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"protocol": "narrow"}, "protocol must be 'wide' or 'paper', got 'narrow'"),
        ({"length": "short"}, "length must be 'best' or 'shortest', got 'short'"),
        ({"param_grid": {"heuristic__bet": [1]}}, "no parameter 'heuristic__bet'; did you mean 'heuristic__beta'"),
        ({"param_grid": {"n_rules": [1]}}, "the length is always chosen"),
        ({"param_grid": []}, "param_grid holds no candidate|Parameter grid"),
        ({"param_grid": GRID, "lifts": [NoLift()]}, "either param_grid or lifts"),
        ({"param_grid": GRID, "protocol": "paper"}, "param_grid is for protocol='wide'"),
        ({"scoring": "micro_f"}, "did you mean 'micro_f1'"),
        ({"cv": 1}, "cv must be at least 2 folds"),
        ({"param_grid": {"simplify": [None, 0.01]}}, "simplify does not go with protocol='wide'"),
        ({"estimator": RuleListClassifier(simplify=0.0), "param_grid": GRID}, "simplify does not go with protocol='w"),
    ],
)
def test_what_cannot_be_searched_is_refused(flags: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RuleListClassifierCV(**parameters).fit(flags.X, flags.Y)


def test_a_grid_may_say_that_nothing_is_simplified(flags: Any) -> None:
    search = RuleListClassifierCV(RuleListClassifier(simplify=0.01), param_grid={"simplify": [None]}, cv=2)
    assert search.fit(flags.X, flags.Y).best_params_["n_rules"] == len(search.rule_list_)


def test_a_list_that_ends_by_itself_was_not_cut() -> None:
    # The noise of half of the rows takes more rules than that of all.
    rng = np.random.default_rng(10)
    X = rng.integers(0, 3, size=(60, 3)).astype(float)
    Y = np.column_stack([X[:, 0] > 0, rng.random(60) < 0.5]).astype(int)
    auto = RuleListClassifier(heuristic="f_measure", min_coverage=0).fit(X, Y)
    search = RuleListClassifierCV(param_grid={"min_coverage": [0]}, cv=KFold(2, shuffle=True, random_state=0)).fit(X, Y)
    for classifier in (auto, search.best_estimator_):
        curve = classifier.n_rules_curve_
        assert curve is not None
        assert len(classifier.rule_list_) == curve.cut < curve.chosen
        assert classifier.rule_list_.length_choice is None


def test_the_paper_protocol_has_no_front(flags: Any) -> None:
    paper = RuleListClassifierCV(protocol="paper", lifts=[NoLift()], cv=2).fit(flags.X, flags.Y)
    assert paper.best_estimator_.get_params()["heuristic__beta"] == 0.5
    with pytest.raises(ValueError, match="select needs protocol='wide'"):
        paper.select(max_rules=3)


def test_labels_without_positives_are_said_once_and_nothing_breaks() -> None:
    X = np.arange(12.0).reshape(-1, 1)
    Y = np.zeros((12, 2), dtype=int)
    Y[0, 0] = 1
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        search = RuleListClassifierCV(cv=3).fit(X, Y)
    assert len(said) == 1
    assert "nothing is chosen" in str(said[0].message)
    assert search.pareto_front_ == []
    assert np.isnan(search.best_score_)
    assert search.predict(X).shape == (12, 2)


def undefined_on(rows: int) -> Any:
    def score(classifier: Any, X: Any, Y: Any) -> float:
        return float("nan") if len(Y) in (rows, 0) or not rows else METRICS["micro_f1"](Y, classifier.predict(X))

    return score


def test_parts_on_which_a_scorer_is_not_defined_are_left_out_of_a_search(flags: Any) -> None:
    search = RuleListClassifierCV(param_grid=GRID, cv=KFold(3), scoring=undefined_on(65))
    with pytest.warns(UserWarning, match="score is not defined on 1 of 3 parts") as warned:
        search.fit(flags.X, flags.Y)
    assert len(warned) == 1
    assert search.best_score_ == pytest.approx(search.curves_[search.best_index_].score(search.best_params_["n_rules"]))
    search.set_params(scoring=undefined_on(0))
    with pytest.warns(UserWarning, match="score is not defined on 3 of 3 parts.*nothing is chosen"):
        search.fit(flags.X, flags.Y)
    assert search.best_params_["n_rules"] is None
    assert search.pareto_front_ == []


def test_what_was_searched_survives_pickle(flags: Any, search: Any) -> None:
    copy = pickle.loads(pickle.dumps(search))
    assert copy.select(max_rules=3).rule_list_ == search.select(max_rules=3).rule_list_


def test_the_front_is_drawn_against_rules_and_conditions(search: Any) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    assert search.plot_pareto().get_xlabel() == "rules"
    assert search.plot_pareto(against="conditions").get_xlabel() == "conditions"
    with pytest.raises(ValueError, match="against must be"):
        search.plot_pareto(against="labels")


def test_equal_points_are_on_the_front_once() -> None:
    curve = LengthCurve("micro_f1", np.array([[0.5, 0.5, 0.6]]), np.array([1.0, 2.0, 3.0]))
    assert [(p.candidate, p.rules) for p in front([*points(1, {}, curve), *points(0, {}, curve)])] == [(0, 1), (0, 3)]


def test_a_lift_is_as_high_as_its_peak_or_as_at_three_labels() -> None:
    assert [height(lift, n_labels=7) for lift in (Peak(5, 1.2), KLN.at(3, 1.08), None)] == [1.2, 1.08, 1.0]


def test_ties_go_to_the_higher_lift() -> None:
    found = sorted([(0.5, 1.2), (0.6, 1.0), (0.5, 1.3)], key=lambda one: best_first(one[:1], one[1]))
    assert found == [(0.6, 1.0), (0.5, 1.3), (0.5, 1.2)]


def test_lists_are_long_enough_where_the_second_half_gained_no_more_than_chance() -> None:
    flat, rising = np.array([[0.5, 0.6, 0.62, 0.61], [0.4, 0.6, 0.58, 0.6]]), np.array([[0.1, 0.2, 0.3, 0.4]] * 2)
    curves = [LengthCurve("micro_f1", scores, np.arange(4.0)) for scores in (flat, rising)]
    assert [is_far_enough(curve, grown=4) for curve in curves] == [True, False]
