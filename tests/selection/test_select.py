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
from plurule._learning.problem import Options
from plurule._prediction.assessment import best_constant
from plurule._rows.rows import MemoryRows
from plurule._selection.select import Selector, grow
from plurule.data import Dataset
from plurule.data.targets import TargetForm
from plurule.datasets import load_canteen_dishes, load_world_flags
from plurule.lifts import KLN, as_table
from plurule.metrics import METRICS, find_measure, micro_f1

pytestmark = pytest.mark.filterwarnings("ignore:the best constant prediction:UserWarning")


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


@pytest.fixture(scope="module")
def dishes() -> Any:
    """Rows of which rules predict much more than a constant."""
    return load_canteen_dishes()[:500]


@pytest.fixture(scope="module")
def fitted(flags: Any) -> RuleListClassifier:
    """The default list of three folds."""
    return RuleListClassifier(cv=3).fit(flags)


@pytest.fixture(scope="module")
def simple(flags: Any) -> RuleListClassifier:
    """A list by a given lift."""
    return RuleListClassifier(lift=KLN(0.1)).fit(flags)


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


def test_fit_says_what_was_chosen_in_a_sentence(simple: RuleListClassifier) -> None:
    chosen = simple.chosen_
    n_rules = len(simple.rule_list_)
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


def test_chosen_names_what_rules_were_selected_by(fitted: RuleListClassifier) -> None:
    assert set(fitted.chosen_) == {
        *("how", "lift", "precision_threshold", "condition_price", "default_labels", "has_exceptions"),
        *("n_rules", "scoring", "score", "standard_error", "constant"),
    }


def test_chosen_names_the_class_of_the_default_rule() -> None:
    y = np.where(np.arange(90) < 60, "usual", "other")
    assert RuleListClassifier(cv=3).fit(np.arange(90.0)[:, None], y).chosen_["default_labels"] == ["usual"]


SHORT: dict[str, Any] = {"max_rules": 3, "cv": 2}


@pytest.fixture(scope="module")
def short(flags: Any) -> RuleListClassifier:
    return RuleListClassifier(**SHORT).fit(flags[:100])


def test_fit_has_no_more_rules_than_max_rules(short: RuleListClassifier) -> None:
    assert 0 < len(short.rule_list_) <= 3


def test_fit_does_not_depend_on_threads(flags: Any, short: RuleListClassifier) -> None:
    assert RuleListClassifier(**SHORT, n_jobs=2).fit(flags[:100]).rule_list_ == short.rule_list_


def test_fit_by_the_reference_engine_gives_the_same_list(flags: Any, short: RuleListClassifier) -> None:
    reference = RuleListClassifier(**SHORT)
    reference._engine = "reference"
    reference.fit(flags[:100])
    assert reference.rule_list_ == short.rule_list_
    assert reference.chosen_ == short.chosen_


@pytest.mark.parametrize(
    "given", [{"max_bins": None}, {"conditions": "all", "max_bins": 8}, {"lift": None, "scoring": "macro_f1"}], ids=str
)
def test_fit_by_the_reference_engine_gives_the_same_list_with_other_parameters(given: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (80, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    Y = np.column_stack([X[:, 0] > 2, X[:, 1] <= 1, rng.random(80) < 0.3]).astype(int)
    native, reference = (RuleListClassifier(**(SHORT | given)) for _ in range(2))
    reference._engine = "reference"
    assert reference.fit(X, Y).rule_list_ == native.fit(X, Y).rule_list_


def test_fit_by_a_custom_scorer_scores_better_than_the_constant(dishes: Any) -> None:
    scorer = make_scorer(f1_score, average="micro", zero_division=0.0)
    chosen = RuleListClassifier(scoring=scorer, cv=2, max_rules=3, lift=None).fit(dishes).chosen_
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
    candidates = [re.findall(r"from ([\d,]+) candidate rules", one.chosen_["how"]) for one in (short, long)]
    assert len(candidates[0]) == 1
    assert candidates[0] == candidates[1]


def test_fit_with_more_initial_rules_than_max_rules_keeps_them_all(flags: Any) -> None:
    initial = ["red <- sun = yes", "not blue <- stars > 20", "white <- stars > 3"]
    classifier = RuleListClassifier(cv=2, max_rules=2).fit(flags, initial_rules=initial)
    assert len(classifier.rule_list_) == 3


def test_fit_tests_no_forbidden_attribute(flags: Any, fitted: RuleListClassifier) -> None:
    used = {c.name for rule in fitted.rule_list_ for c in rule.body}
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


# Grow -----------------------------------------------------------------------------------------------------------------


def selector_of(data: Dataset, **more: Any) -> Selector:
    options = Options(as_table(None, len(data.label_names)), max_conditions=3, min_coverage=3, **more)
    return Selector(find_measure("micro_f1"), TargetForm(), options, [KLN(0.1)], max_rules=5)


@pytest.mark.parametrize("conditions", [(), ("sets", "negation", "missing")], ids=str)
def test_grow_of_a_fold_knows_nothing_of_its_held_out_rows(flags: Dataset, conditions: tuple[str, ...]) -> None:
    selector = selector_of(flags, conditions=conditions)
    problem = MemoryRows.of(flags).problem
    half = np.arange(problem.n_instances) % 2 == 0
    changed = replace(problem, Y=np.where(half[:, None], problem.Y, 1 - problem.Y))
    options = selector.grown_options(problem)
    bodies = [grow(one.take(np.flatnonzero(half)), options, 1) for one in (problem, changed)]
    assert bodies[0] == bodies[1]
    assert grow(problem, options, 1) != grow(changed, options, 1)


def test_grow_puts_the_empty_body_first(flags: Dataset) -> None:
    problem = MemoryRows.of(flags).problem
    first, *others = grow(problem, selector_of(flags).grown_options(problem), 1)
    assert first == ()
    assert all(others)


def test_grow_leaves_out_attributes_that_learned_rules_must_not_test(flags: Dataset) -> None:
    constraints = Constraints(forbidden_attributes=["sun"])
    problem = MemoryRows.of(flags, "red <- sun = yes", constraints).problem
    bodies = grow(problem, selector_of(flags).grown_options(problem), 1)
    assert "sun" not in {condition.name for body in bodies for condition in body}
