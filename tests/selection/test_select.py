"""The choice of a list: lift, criterion and length by scores on held-out rows."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer

from plurule import Constraints, RuleList, RuleListClassifier
from plurule.datasets import load_canteen_dishes, load_world_flags
from plurule.lifts import KLN, Lift, NoLift
from plurule.metrics import METRICS, micro_f1
from plurule.prediction.assessment import best_constant
from plurule.selection.paths import LengthCurve
from plurule.selection.pool import SelectionCriterion
from plurule.selection.select import Path as CriterionPath
from plurule.selection.select import choose, describe_lift

pytestmark = pytest.mark.filterwarnings("ignore:the best constant prediction:UserWarning")


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


@pytest.fixture(scope="module")
def dishes() -> Any:
    """Rows of which rules predict much more than a constant."""
    return load_canteen_dishes()[:500]


def path(*scores: list[float], lift: Lift | None = None, conditions: Any = 0.0, relating: Any = 0.0) -> CriterionPath:
    array = np.array(scores)
    n_lengths = array.shape[1]
    curve = LengthCurve("micro_f1", array, np.broadcast_to(conditions, n_lengths).astype(float))
    return CriterionPath(SelectionCriterion(0.3, lift=lift), curve, np.broadcast_to(relating, n_lengths).astype(float))


# choose ---------------------------------------------------------------------------------------------------------------


def test_choose_takes_the_best_mean() -> None:
    assert choose([path([0.5, 0.7], [0.5, 0.7]), path([0.5, 0.8], [0.5, 0.8])], 0.5) == (1, 2)


def test_choose_takes_the_smallest_of_equals() -> None:
    assert choose([path([0.8], conditions=3.0), path([0.8], conditions=1.0)], 0.5) == (1, 1)


@pytest.mark.parametrize(("constant", "chosen"), [(0.2, 1), (0.97, 0)])
def test_choose_weighs_size_by_what_the_constant_leaves_to_gain(constant: float, chosen: int) -> None:
    paths = [path([0.990], conditions=100), path([0.970], conditions=0)]
    assert choose(paths, constant) == (chosen, 1)
    losses = [replace(one, curve=replace(one.curve, scores=one.curve.scores - 1)) for one in paths]
    assert choose(losses, constant - 1) == (chosen, 1)


def test_choose_takes_the_highest_lift_that_is_not_distinguishably_worse() -> None:
    best = path([0.70], [0.80])
    for score, chosen in ((0.73, 1), (0.71, 0)):
        assert choose([best, path([score], [score], lift=KLN(0.3))], 0.5) == (chosen, 1)


def test_choose_with_a_tolerance_takes_the_largest_share_of_rules_that_relate_labels() -> None:
    paths = [path([0.7, 0.8]), path([0.6, 0.75], relating=[1.0, 0.5])]
    assert choose(paths, 0.5, tolerance=0.01) == (0, 2)
    assert choose(paths, 0.5, tolerance=0.06) == (1, 2)
    assert choose(paths, 0.5, tolerance=0.2) == (1, 1)


def test_choose_leaves_out_folds_without_a_score() -> None:
    assert choose([path([np.nan, 0.1], [0.5, 0.6]), path([0.9, 0.9], [0.7, 0.5])], 0.5) == (1, 1)
    assert choose([path([np.nan, 0.1])], 0.5) is None


def test_choose_never_cuts_initial_rules_off() -> None:
    one = path([0.9, 0.5, 0.6])
    assert choose([replace(one, curve=replace(one.curve, at_least=2))], 0.1) == (0, 3)


def test_describe_lift_is_short() -> None:
    assert [describe_lift(lift) for lift in (None, NoLift(), KLN(0.3))] == ["none", "none", "KLN 0.3"]


# Fits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["micro_f1", "macro_f1", "hamming_accuracy", "subset_accuracy", "example_f1"])
def test_fit_is_not_below_the_best_constant(flags: Any, scoring: str, tmp_path: Path) -> None:
    classifier = RuleListClassifier(scoring=scoring, cv=3).fit(flags)
    chosen = classifier.chosen_
    assert chosen["score"] >= chosen["constant"] - 0.005
    assert len(classifier.rule_list_) <= chosen["n_rules"] <= 40
    assert chosen["scoring"] == scoring == classifier.length_curve_.measure
    truth = np.asarray(flags.Y)
    assert METRICS[scoring](truth, classifier.predict(flags.X)) >= best_constant(truth, scoring).score - 0.01
    choice = classifier.rule_list_.length_choice
    assert (choice.how, choice.constant) == (chosen["how"], chosen["constant"])
    classifier.rule_list_.save(tmp_path / "model.json")
    assert RuleList.load(tmp_path / "model.json").length_choice == choice


def test_fit_says_what_was_chosen_in_a_sentence(flags: Any) -> None:
    classifier = RuleListClassifier(lift=KLN(0.1)).fit(flags)
    chosen = classifier.chosen_
    n_rules = len(classifier.rule_list_)
    start = f"{n_rules} rules, lift KLN 0.1, selected from "
    end = (
        f" candidate rules by 5-fold cross-validation; micro F1 {chosen['score']:.3f} ± "
        f"{chosen['standard_error']:.3f} (standard error) on held-out data, best constant {chosen['constant']:.3f}"
    )
    assert chosen["how"].startswith(start)
    assert chosen["how"].endswith(end)


def test_fit_with_a_share_says_that_rows_were_held_out_once(flags: Any) -> None:
    chosen = RuleListClassifier(cv=0.3, lift=None).fit(flags).chosen_
    assert "by scores on rows that were held out once; micro F1" in chosen["how"]
    assert "on these rows, too high on average, best constant" in chosen["how"]


def test_chosen_names_what_rules_were_selected_by(flags: Any) -> None:
    chosen = RuleListClassifier(cv=3).fit(flags).chosen_
    assert set(chosen) == {
        *("how", "lift", "precision_threshold", "condition_price", "default_labels", "has_exceptions"),
        *("n_rules", "scoring", "score", "standard_error", "constant"),
    }
    y = np.where(np.arange(90) < 60, "usual", "other")
    assert RuleListClassifier(cv=3).fit(np.arange(90.0)[:, None], y).chosen_["default_labels"] == ["usual"]


def test_fit_does_not_depend_on_threads_or_engines(flags: Any) -> None:
    short = RuleListClassifier(max_rules=3, cv=2, n_jobs=1).fit(flags)
    assert len(short.rule_list_) <= 3
    assert RuleListClassifier(max_rules=3, cv=2, n_jobs=2).fit(flags).rule_list_ == short.rule_list_
    reference = RuleListClassifier(max_rules=3, cv=2)
    reference._engine = "reference"
    assert reference.fit(flags).rule_list_ == short.rule_list_


def test_fit_by_a_custom_scorer_scores_better_than_the_constant(dishes: Any) -> None:
    scorer = make_scorer(f1_score, average="micro", zero_division=0.0)
    chosen = RuleListClassifier(scoring=scorer, cv=3, max_rules=6).fit(dishes).chosen_
    assert chosen["scoring"] == "score"
    assert chosen["score"] > chosen["constant"]


def test_fit_of_noise_returns_the_best_constant_with_a_warning() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((80, 2))
    Y = (rng.random((80, 2)) < [0.8, 0.1]).astype(int)
    with pytest.warns(UserWarning, match="beyond chance: the constant is returned"):
        classifier = RuleListClassifier().fit(X, Y)
    (rule,) = classifier.rule_list_
    assert not rule.body
    assert [a.index for a in rule.head] == [0]
    assert classifier.chosen_["how"].startswith("best constant prediction, micro F1 ")
    assert classifier.labels_without_rules_ == {"y1": "no rule improves micro_f1 for this label"}


def test_fit_of_luck_returns_the_best_constant() -> None:
    rng = np.random.default_rng(5)
    X = rng.random((60, 12))
    Y = (rng.random((60, 3)) < [0.6, 0.5, 0.4]).astype(int)
    fits = [RuleListClassifier(cv=5).fit(X[:, i:], Y).chosen_ for i in range(8)]
    constants = [chosen for chosen in fits if chosen["how"].startswith("best constant")]
    assert constants
    assert all(chosen in constants or chosen["score"] > chosen["constant"] for chosen in fits)


def test_fit_of_classes_has_rules_for_rare_ones() -> None:
    x = np.array([0] * 100 + [1] * 80 + [2] * 10 + [3] * 10)
    kind = np.array(["many", "most", "few", "fewer"])[x]
    assert (RuleListClassifier().fit(x[:, None], kind).predict(x[:, None]) == kind).all()


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss"])
def test_fit_of_classes_by_a_scorer_includes_the_default_rule_in_every_length(scoring: str) -> None:
    x = np.repeat([0.0, 1.0, 2.0], 40)
    kind = np.repeat(["a", "b", "c"], 40)
    classifier = RuleListClassifier(scoring=scoring, cv=3).fit(x[:, None], kind)
    assert (classifier.predict(x[:, None]) == kind).all()
    assert len(classifier.rule_list_) == 3


def test_fit_keeps_initial_rules_first(flags: Any) -> None:
    initial = ["red <- sun = yes", "not blue <- stars > 20"]
    classifier = RuleListClassifier(cv=2, max_rules=8).fit(flags, initial_rules=initial)
    assert [rule.locked for rule in classifier.rule_list_][:3] == [True, True, False]
    assert 2 < classifier.chosen_["n_rules"] <= 8


def test_short_lists_are_selected_from_as_many_bodies_as_long_ones(flags: Any) -> None:
    short, long = (RuleListClassifier(max_rules=max_rules).fit(flags) for max_rules in (6, "auto"))
    assert len(short.rule_list_) == 6 < len(long.rule_list_)
    candidates = [re.findall(r"from (\d+) candidate rules", one.chosen_["how"]) for one in (short, long)]
    assert len(candidates[0]) == 1
    assert candidates[0] == candidates[1]


def test_fit_with_more_initial_rules_than_max_rules_keeps_them_all(flags: Any) -> None:
    initial = ["red <- sun = yes", "not blue <- stars > 20", "white <- stars > 3"]
    classifier = RuleListClassifier(cv=2, max_rules=2).fit(flags, initial_rules=initial)
    assert len(classifier.rule_list_) == 3


def test_fit_tests_no_forbidden_attribute(flags: Any) -> None:
    used = {c.name for rule in RuleListClassifier(cv=3).fit(flags).rule_list_ for c in rule.body}
    bound = RuleListClassifier(cv=3, constraints=Constraints(sorted(used))).fit(flags)
    assert used
    assert not used & {c.name for rule in bound.rule_list_ for c in rule.body}


def test_fit_relates_no_forbidden_pair(flags: Any) -> None:
    constraints = Constraints(forbidden_label_pairs=[("green", "yellow"), ("red", "white"), ("green", "black")])
    classifier = RuleListClassifier(cv=3, constraints=constraints).fit(flags)
    assert classifier.rule_list_
    assert not constraints.violations(classifier.rule_list_)


def test_fit_keeps_to_directions_also_for_exceptions() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (300, 2)).astype(float)
    Y = np.column_stack([X[:, 0] > 2, X[:, 1] <= 7]).astype(int)
    constraints = Constraints(increasing=["x0"], decreasing=["x1"])
    classifier = RuleListClassifier(cv=3, constraints=constraints).fit(X, Y)
    assert not constraints.violations(classifier.rule_list_)
    assert micro_f1(Y, classifier.predict(X)) > 0.99
    against = Constraints(decreasing=["x0"], increasing=["x1"])
    assert not against.violations(RuleListClassifier(cv=3, constraints=against).fit(X, Y).rule_list_)


def test_fit_keeps_to_a_hierarchy() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((200, 2))
    jazz = X[:, 0] > 0.6
    Y = np.column_stack([jazz | (X[:, 1] > 0.8), jazz]).astype(int)
    constraints = Constraints(hierarchy={"y1": "y0"})
    classifier = RuleListClassifier(cv=3, constraints=constraints).fit(X, Y)
    predicted = classifier.predict(X)
    assert (predicted[:, 1] <= predicted[:, 0]).all()
    assert micro_f1(Y, predicted) > 0.9


def test_fit_has_the_precision_that_is_asked_for(flags: Any) -> None:
    precise = RuleListClassifier(cv=2, min_precision=0.8).fit(flags)
    assert all(right >= 0.8 * (right + wrong) for rule in precise.rule_list_ for right, wrong in rule.decided)


def test_fit_with_weights_of_two_equals_fit_without(flags: Any) -> None:
    data = flags[np.arange(120)]
    weighted = RuleListClassifier(cv=2).fit(data.X, data.Y, sample_weight=np.full(120, 2.0))
    plain = RuleListClassifier(cv=2).fit(data.X, data.Y)
    assert [rule.to_text() for rule in weighted.rule_list_] == [rule.to_text() for rule in plain.rule_list_]


def test_fit_with_a_score_tolerance_relates_more_labels_and_says_what_that_cost(dishes: Any) -> None:
    def share(classifier: Any) -> float:
        return float(np.mean([len(rule.head.stated) > 1 for rule in classifier.rule_list_]))

    plain = RuleListClassifier(cv=4).fit(dishes)
    expressive = RuleListClassifier(score_tolerance=0.01, cv=4).fit(dishes)
    assert share(expressive) > share(plain) + 0.1
    assert 0 < expressive.score_loss_ <= 0.01 + 1e-9


def test_fit_reports_a_score_below_that_of_the_choice(flags: Any) -> None:
    classifier = RuleListClassifier(cv=4, max_rules=10).fit(flags)
    chosen = classifier.chosen_
    assert chosen["score"] < classifier.length_curve_.score(chosen["n_rules"])
    choice = classifier.rule_list_.length_choice
    assert choice.score == pytest.approx((chosen["score"], chosen["standard_error"]), rel=1e-5)


def test_fit_may_predict_exceptions_to_a_default_rule() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((400, 3))
    odd = (abs(X[:, :2] - 0.5) < 0.25).all(axis=1, keepdims=True)
    Y = (np.hstack([~odd, ~odd, odd]) & (rng.random((400, 3)) < 0.95)).astype(int)
    classifier = RuleListClassifier(max_conditions=4).fit(X, Y)
    *others, last = classifier.rule_list_
    assert (str(last.head), last.body) == ("y0, y1", ())
    assert {str(rule.head) for rule in others} == {"¬y0, ¬y1, y2"}
    for off in ({"predict_absence": False}, {"min_precision": 0.3}):
        plain = RuleListClassifier(**off).fit(X, Y)
        assert all(a.present for rule in plain.rule_list_ for a in rule.head)


@pytest.mark.parametrize("cv", [2, 5, 0.3])
@pytest.mark.parametrize("n_rows", range(1, 11))
def test_fit_of_few_rows_gives_a_model(n_rows: int, cv: Any) -> None:
    rng = np.random.default_rng(n_rows)
    X = rng.random((n_rows, 2))
    Y = (rng.random((n_rows, 3)) < 0.5).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classifier = RuleListClassifier(cv=cv, min_coverage=1).fit(X, Y)
    assert classifier.predict(X).shape == (n_rows, 3)
    assert classifier.chosen_["how"]


def test_fit_of_one_row_returns_the_best_constant_or_the_initial_rules_with_a_warning() -> None:
    learner = RuleListClassifier(min_coverage=1)
    with pytest.warns(UserWarning, match="too few rows to hold some out; the best constant prediction is returned"):
        assert learner.fit([[1.0]], [[1, 0]]).predict([[5.0]]).tolist() == [[1, 0]]
    with pytest.warns(UserWarning, match="too few rows to hold some out; the initial rules are returned"):
        learner.fit([[1.0]], [[1, 0]], initial_rules=["y1 <- x0 > 2"])
    assert [rule.to_text() for rule in learner.rule_list_] == ["y1 ← x0 > 2"]


def test_fit_of_labels_without_positives_predicts_none_of_them() -> None:
    X = np.arange(60.0)[:, None]
    Y = np.column_stack([X[:, 0] < 30, np.zeros(60)]).astype(int)
    classifier = RuleListClassifier().fit(X, Y)
    assert np.array_equal(classifier.predict(X), Y)
    assert classifier.labels_without_rules_ == {"y1": "no training instance has it"}


def test_fit_with_too_large_a_coverage_learns_nothing_with_a_warning(flags: Any) -> None:
    with pytest.warns(UserWarning, match="no rule can cover as much, and none is learned"):
        classifier = RuleListClassifier(min_coverage=1e6).fit(flags)
    assert len(classifier.rule_list_) == 0


def test_lists_of_different_lifts_differ_and_higher_lifts_have_longer_heads(dishes: Any) -> None:
    lifts = (None, KLN(0.1), KLN(0.3), KLN(0.6))
    lists = [RuleListClassifier(lift=lift, cv=3).fit(dishes).rule_list_ for lift in lifts]
    assert len({tuple(rule.to_text() for rule in rule_list) for rule_list in lists}) == 4
    sizes = [np.mean([len(rule.head.stated) for rule in rule_list]) for rule_list in lists]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0] + 0.5


@pytest.mark.parametrize("scoring", ["micro_f1", "hamming_accuracy"])
def test_lists_predict_the_same_in_any_order(flags: Any, scoring: str) -> None:
    rule_list = RuleListClassifier(scoring=scoring, cv=3).fit(flags).rule_list_
    expected = rule_list.predict(flags.X)
    n_defaults = sum(not rule.body for rule in rule_list)
    rng = np.random.default_rng(0)
    assert not rule_list.order_matters
    for _ in range(20):
        order = rng.permutation(len(rule_list) - n_defaults)
        rules = (*(rule_list[int(i)] for i in order), *rule_list.rules[len(order) :])
        assert np.array_equal(replace(rule_list, rules=rules).predict(flags.X), expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lift": "foo"}, "lift must be .*'auto'"),
        ({"lift": 3}, "lift must be .*'auto'"),
        ({"max_rules": 0}, "max_rules must be .*'auto'.* whole number of at least 1"),
        ({"max_rules": 2.5}, "max_rules must be"),
        ({"max_rules": "all"}, "max_rules must be"),
        ({"score_tolerance": -1}, "score_tolerance must be a number .*0.*1"),
        ({"score_tolerance": 2}, "score_tolerance must be a number"),
        ({"min_precision": 1.5}, "min_precision must be"),
        ({"predict_absence": "never"}, "predict_absence"),
        ({"cv": 1}, "cv must be"),
        ({"scoring": "micro_f"}, "unknown scoring 'micro_f'; did you mean 'micro_f1'"),
    ],
    ids=str,
)
def test_fit_refuses_bad_parameters_with_what_is_allowed(flags: Any, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RuleListClassifier(**parameters).fit(flags)
