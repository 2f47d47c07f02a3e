"""Scores on held-out rows: curves by length, the choice between criteria, what is left out, and estimates."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.model_selection import KFold

from helpers.rows import random_bodies, random_rows
from plurule import RuleListClassifier
from plurule._rows.rows import MemoryRows, PooledChoices
from plurule._selection.pool import SelectionCriterion, select_rules
from plurule._selection.scores import (
    CriterionScores,
    Estimate,
    LengthCurve,
    Scoring,
    choose,
    describe_lift,
    estimate,
    extended,
    find_scoring,
    jackknife_error,
)
from plurule.data import Dataset
from plurule.data.targets import TargetForm
from plurule.datasets import load_world_flags
from plurule.lifts import KLN, Lift, NoLift
from plurule.metrics import METRICS, SCORERS, Measure, find_measure, micro_f1

# Curves --------------------------------------------------------------------------------------------------------------


def curve(*scores: list[float]) -> LengthCurve:
    return LengthCurve("micro_f1", np.array(scores), np.arange(1.0, len(scores[0]) + 1))


def test_length_curve_has_the_mean_and_its_standard_error() -> None:
    scores = curve([0.50, 0.58, 0.60, 0.64, 0.60], [0.50, 0.60, 0.64, 0.64, 0.60], [0.50, 0.62, 0.65, 0.70, 0.60])
    assert scores.best == 4
    assert scores.standard_error[3] == pytest.approx(0.02)
    assert scores.mean[2] == pytest.approx(0.63)


def test_length_curve_takes_the_first_of_equally_good_lengths_for_the_best() -> None:
    assert curve([0.5, 0.7, 0.6, 0.7]).best == 2


def test_length_curve_of_a_single_fold_has_no_error() -> None:
    assert curve([0.5, 0.7, 0.6]).standard_error.tolist() == [0, 0, 0]


def test_length_curve_keeps_the_score_of_the_last_length() -> None:
    assert curve([0.1, 0.2], [0.3, 0.4]).score(99) == pytest.approx(0.3)


def test_length_curve_leaves_out_folds_on_which_the_score_is_not_defined() -> None:
    nan = float("nan")
    scores = curve([0.5, 0.7, 0.6], [nan, nan, nan], [0.7, 0.9, 0.8], [0.1, nan, 0.9])
    assert scores.mean.tolist() == pytest.approx([0.6, 0.8, 0.7])
    assert scores.standard_error.tolist() == pytest.approx([0.1, 0.1, 0.1])
    assert scores.best == 2


def test_length_curve_shows_the_best_length() -> None:
    assert repr(curve([0.1, 0.2])) == "LengthCurve: micro_f1 of 1 to 2 rules on 1 folds; best 0.200 with 2"
    assert repr(curve([np.nan, 0.2])).endswith("not defined on any")


def test_length_curve_plots_the_chosen_length() -> None:
    mpl.use("Agg")
    axes = replace(curve([0.5, 0.6, 0.7], [0.4, 0.7, 0.7]), cut=1).plot()
    assert axes.get_xlabel() == "rules"
    assert axes.get_ylabel() == "micro f1"
    assert "chosen: 1 rule" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_length_choice_has_means_and_errors() -> None:
    choice = LengthCurve("micro_f1", np.array([[0.4, 0.6], [0.5, 0.8]]), np.array([1.0, 2.0])).choice(1)
    assert choice is not None
    assert (choice.mean, choice.chosen, choice.best) == ((0.45, 0.7), 1, 2)


def test_length_choice_of_a_score_that_is_not_defined_is_none() -> None:
    assert curve([0.4, 0.6]).choice(3) is None
    assert LengthCurve("roc_auc", np.array([[np.nan, 0.6]]), np.array([1.0, 2.0])).choice(1) is None


def test_extended_keeps_the_last_value_of_a_shorter_curve() -> None:
    assert extended([np.array([0.1, 0.2]), np.array([0.3])]).tolist() == [[0.1, 0.2], [0.3, 0.3]]


# Choosing ------------------------------------------------------------------------------------------------------------


def candidate(
    *scores: list[float], lift: Lift | None = None, conditions: Any = 0.0, relating: Any = 0.0
) -> CriterionScores:
    array = np.array(scores)
    n_lengths = array.shape[1]
    lengths = LengthCurve("micro_f1", array, np.broadcast_to(conditions, n_lengths).astype(float))
    return CriterionScores(
        SelectionCriterion(0.3, lift=lift), lengths, np.broadcast_to(relating, n_lengths).astype(float)
    )


def test_choose_takes_the_best_mean() -> None:
    assert choose([candidate([0.5, 0.7], [0.5, 0.7]), candidate([0.5, 0.8], [0.5, 0.8])], 0.5) == (1, 2)


def test_choose_takes_the_smallest_of_equals() -> None:
    assert choose([candidate([0.8], conditions=3.0), candidate([0.8], conditions=1.0)], 0.5) == (1, 1)


def test_choose_takes_the_shortest_of_equals() -> None:
    assert choose([candidate([0.8, 0.8, 0.8])], 0.5) == (0, 1)


@pytest.mark.parametrize(("constant", "chosen"), [(0.2, 1), (0.97, 0)])
def test_choose_weighs_size_by_what_the_constant_leaves_to_gain(constant: float, chosen: int) -> None:
    candidates = [candidate([0.990], conditions=100), candidate([0.970], conditions=0)]
    assert choose(candidates, constant) == (chosen, 1)
    losses = [replace(one, curve=replace(one.curve, scores=one.curve.scores - 1)) for one in candidates]
    assert choose(losses, constant - 1) == (chosen, 1)


def test_choose_takes_the_highest_lift_that_is_not_distinguishably_worse() -> None:
    best = candidate([0.70], [0.80])
    for score, chosen in ((0.73, 1), (0.71, 0)):
        assert choose([best, candidate([score], [score], lift=KLN(0.3))], 0.5) == (chosen, 1)


def test_choose_with_a_tolerance_takes_the_largest_share_of_rules_that_relate_labels() -> None:
    candidates = [candidate([0.7, 0.8]), candidate([0.6, 0.75], relating=[1.0, 0.5])]
    assert choose(candidates, 0.5, tolerance=0.01) == (0, 2)
    assert choose(candidates, 0.5, tolerance=0.06) == (1, 2)
    assert choose(candidates, 0.5, tolerance=0.2) == (1, 1)


def test_choose_leaves_out_folds_without_a_score() -> None:
    assert choose([candidate([np.nan, 0.1], [0.5, 0.6]), candidate([0.9, 0.9], [0.7, 0.5])], 0.5) == (1, 1)
    assert choose([candidate([np.nan, 0.1])], 0.5) is None


def test_choose_never_cuts_initial_rules_off() -> None:
    one = candidate([0.9, 0.5, 0.6])
    assert choose([replace(one, curve=replace(one.curve, at_least=2))], 0.1) == (0, 3)


def test_describe_lift_is_short() -> None:
    assert [describe_lift(lift) for lift in (None, NoLift(), KLN(0.3))] == ["none", "none", "KLN 0.3"]


# Scoring -------------------------------------------------------------------------------------------------------------


def make_scoring(cv: Any, measure: Measure, weighted: bool = False) -> tuple[Scoring, list[Any]]:
    """Return a scoring of random rows, and a pool of bodies for each fold."""
    rng = np.random.default_rng(4)
    problem = random_rows(rng, weighted=weighted)
    rows = MemoryRows(problem)
    roles = rows.split(cv)
    pools = [random_bodies(rng, 15) for _ in range(roles.n_folds)]
    return find_scoring(measure, TargetForm(), problem, rows.cover(pools, roles), roles), pools


@pytest.mark.parametrize("cv", [3, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["micro_f1", "macro_f1", "example_f1"])
def test_scoring_by_a_scorer_is_that_of_the_measure_that_it_computes(name: str, weighted: bool, cv: Any) -> None:
    scores = []
    for measure in (find_measure(name), Measure("score", SCORERS[name])):
        scoring, pools = make_scoring(cv, measure, weighted)
        criteria = [SelectionCriterion(0.3, max_rules=5), SelectionCriterion(0.4, predict_absence=True, max_rules=5)]
        selections = select_rules(scoring.covers, pools[0], 0, 0, criteria, scoring.problem)
        curves = scoring.curves(0, pools[0], selections)
        n_groups = 1 if cv == 3 else 5
        assert [len(of_groups) for of_groups in curves] == [n_groups] * 2
        assert [len(of_groups[0]) for of_groups in curves] == [len(choices) + 1 for choices in selections]
        scores.append([np.concatenate(of_groups) for of_groups in curves])
    for ours, theirs in zip(*scores, strict=True):
        np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("name", ["micro_f1", "subset_accuracy"])
def test_score_of_a_list_is_the_end_of_its_curve(name: str) -> None:
    scoring, pools = make_scoring(3, find_measure(name))
    (choices,) = select_rules(scoring.covers, pools[1], 1, 1, [SelectionCriterion(0.3, max_rules=4)], scoring.problem)
    ((end,),) = scoring.curves(1, pools[1], [choices])
    assert scoring.score(PooledChoices(1, choices), pools[1], 1, 1) == end[-1]


@pytest.fixture(scope="module")
def flags() -> Dataset:
    return load_world_flags()


def test_label_without_a_positive_in_some_fold_is_left_out_with_one_warning(flags: Dataset) -> None:
    Y = flags.Y.copy()
    Y[:, 1] = 0
    Y[[3, 40], 1] = 1
    classifier = RuleListClassifier(scoring="macro_f1", cv=3, lift=None)
    with pytest.warns(UserWarning, match="no positive of 'green' in some fold; left out of the choice") as warned:
        classifier.fit(flags.X, Y, label_names=flags.label_names)
    assert len([w for w in warned if "left out" in str(w.message)]) == 1
    assert warned[0].filename == __file__
    assert classifier.length_curve_.left_out == (flags.label_names[1],)


def test_label_without_a_negative_in_some_fold_is_left_out_where_a_scorer_needs_one(flags: Dataset) -> None:
    Y = flags.Y.copy()
    Y[: len(Y) // 4 + 1, 1] = 1
    classifier = RuleListClassifier(scoring="roc_auc", cv=KFold(4), max_rules=2, max_conditions=1, lift=None)
    with pytest.warns(UserWarning, match="no positive, or no negative, of 'green' in some fold") as warned:
        classifier.fit(flags.X, Y, label_names=flags.label_names)
    assert len([w for w in warned if "left out" in str(w.message)]) == 1
    assert np.isfinite(classifier.length_curve_.scores).all()
    assert "green" in classifier.length_curve_.left_out


def sometimes_undefined(classifier: Any, X: Any, Y: Any) -> float:
    return float("nan") if len(Y) == 49 else micro_f1(Y, classifier.predict(X))


def never_defined(classifier: Any, X: Any, Y: Any) -> float:
    return float("nan")


def test_fold_on_which_a_scorer_is_not_defined_is_left_out_with_one_warning(flags: Dataset) -> None:
    classifier = RuleListClassifier(scoring=sometimes_undefined, cv=KFold(4), max_rules=3, lift=None)
    with pytest.warns(UserWarning, match="score is not defined on fold 1 of 4; left out of the choice") as warned:
        classifier.fit(flags.X, flags.Y)
    assert len([w for w in warned if "not defined" in str(w.message)]) == 1
    assert len(classifier.length_curve_.defined) == 3


def test_scorer_that_is_never_defined_gives_the_best_constant_with_a_warning(flags: Dataset) -> None:
    classifier = RuleListClassifier(scoring=never_defined, cv=4, max_rules=3, lift=None)
    with pytest.warns(UserWarning, match=r"score is not defined on any fold; the best constant .* is returned"):
        classifier.fit(flags.X, flags.Y)
    assert all(not rule.body for rule in classifier.rule_list_)
    assert classifier.chosen_["how"] == "1 rule: no list can be scored"


def test_labels_that_no_fold_can_score_give_the_best_constant_with_a_warning() -> None:
    X = np.arange(12.0)[:, None]
    Y = np.eye(12, 2, dtype=int)
    with pytest.warns(UserWarning, match="no label can be scored; the best constant prediction is returned"):
        classifier = RuleListClassifier(scoring="macro_f1", cv=3).fit(X, Y)
    assert np.isnan(classifier.chosen_["constant"])


def test_scorer_sees_the_rows_that_were_given_by_their_numbers() -> None:
    seen: set[int] = set()

    def score(classifier: Any, X: Any, Y: Any) -> float:
        seen.update(np.ravel(X).tolist())
        return micro_f1(Y, classifier.predict(X))

    scoring, pools = make_scoring(3, Measure("score", score))
    seen.clear()
    scoring.score(PooledChoices(0, []), pools[0], 0, 1)
    assert seen == set(np.flatnonzero(scoring.roles.of_rows[0] == 1).tolist())


# Estimates -----------------------------------------------------------------------------------------------------------


def test_estimate_is_better_if_the_gain_is_more_than_chance() -> None:
    assert Estimate(0.52, 0.03, 0.50, 0.03, gain_error=0.01).is_better
    assert not Estimate(0.52, 0.01, 0.50, 0.01, gain_error=0.02).is_better
    assert not Estimate(0.50, 0.0, 0.50, 0.0, gain_error=0.0).is_better


def test_jackknife_error_of_a_mean_is_its_standard_error() -> None:
    values = np.random.default_rng(0).normal(size=50)
    without_each = (values.sum() - values) / 49
    assert jackknife_error(without_each) == pytest.approx(values.std(ddof=1) / 50**0.5)


@pytest.mark.parametrize("name", ["micro_f1", "example_f1"])
def test_estimate_scores_each_fold_by_its_own_list(name: str) -> None:
    scoring, pools = make_scoring(3, find_measure(name), weighted=True)
    lists = []
    for fold, bodies in enumerate(pools):
        criterion = SelectionCriterion(0.3, max_rules=4)
        (choices,) = select_rules(scoring.covers, bodies, fold, fold, [criterion], scoring.problem)
        lists.append(PooledChoices(fold, choices))
    found = estimate(scoring, pools, lists, [PooledChoices(fold, [], False) for fold in range(3)])
    truth, predicted, weights = [], [], []
    for fold, one in enumerate(lists):
        held_out = scoring.predictions(one, pools[fold], fold, 1)
        truth.append(held_out.truth)
        predicted.append(held_out.predicted)
        weights.append(held_out.weights)
    together = np.concatenate(truth), np.concatenate(predicted)
    assert found.score == pytest.approx(METRICS[name](*together, sample_weight=np.concatenate(weights)))
    assert found.constant == 0.0


def draw(generator: np.random.Generator, n_rows: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which labels depend on nothing, on two attributes by thresholds, or smoothly on all: hard for rules."""
    X = generator.normal(size=(n_rows, 6))
    rates = np.tile([0.5, 0.3, 0.2, 0.4], (n_rows, 1))
    if kind == "thresholds":
        rates[:, 0] = np.where(X[:, 0] > 0.3, 0.8, 0.15)
        rates[:, 1] = np.where((X[:, 0] > 0.3) & (X[:, 1] < 0.5), 0.7, 0.1)
    elif kind == "smooth":
        rates = 1 / (1 + np.exp(0.8 - 1.2 * X[:, :4] - 0.8 * X[:, [1, 2, 3, 0]]))
    return X, (generator.random(rates.shape) < rates).astype(int)


def simulate(n_rows: int, kind: str, times: int) -> tuple[float, float]:
    """Return how often the 95 % interval covers the score on new data, and how often a list is learned."""
    generator = np.random.default_rng(n_rows)
    covered = 0
    lists = 0
    for _ in range(times):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier = RuleListClassifier().fit(*draw(generator, n_rows, kind))
        X, Y = draw(generator, 20_000, kind)
        chosen = classifier.chosen_
        covered += abs(micro_f1(Y, classifier.predict(X)) - chosen["score"]) <= 1.96 * chosen["standard_error"]
        lists += any(rule.body for rule in classifier.rule_list_)
    return covered / times, lists / times


@pytest.mark.parametrize("n_rows", [60, 200])
def test_estimate_of_noise_covers_the_score_of_the_constant(n_rows: int) -> None:
    covered, lists = simulate(n_rows, "noise", times=20)
    assert covered >= 0.7
    assert lists <= 0.15


@pytest.mark.parametrize("kind", ["thresholds", "smooth"])
def test_estimate_of_signal_covers_the_score_of_a_list(kind: str) -> None:
    covered, lists = simulate(200, kind, times=10)
    assert covered >= 0.7
    assert lists >= 0.7


@pytest.mark.long
@pytest.mark.parametrize("n_rows", [60, 200, 800, 2000])
@pytest.mark.parametrize("kind", ["noise", "thresholds", "smooth"])
def test_estimate_covers_the_score_on_new_data(n_rows: int, kind: str) -> None:
    covered, lists = simulate(n_rows, kind, times=300)
    assert covered >= (0.85 if n_rows == 60 else 0.9)
    assert n_rows == 60 or covered <= 0.98
    if kind == "noise":
        assert lists <= 0.05
    elif n_rows >= 200:
        assert lists >= 0.85
