"""`RelaxedPruningClassifier` and the choice of its lift by cross-validation."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from plurule._learning.derived import CONDITION_KINDS
from plurule._rows.rows import MemoryRows, Roles, Sample
from plurule.constraints import Constraints
from plurule.data.splitting import IterativeStratifiedKFold
from plurule.datasets import load_world_flags
from plurule.heuristics import FMeasure, HammingAccuracy
from plurule.lifts import KLN, NoLift, Peak, paper_lifts
from plurule.metrics import SCORERS, hamming_accuracy, macro_f1, micro_f1
from plurule.relaxed_pruning import (
    LiftScores,
    RelaxedPruningClassifier,
    RelaxedPruningClassifierCV,
    Result,
    folds_of,
    height,
)


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


SHORT = RelaxedPruningClassifier(max_rules=4, max_conditions=1)
LIFTS = [NoLift(), KLN(0.1), Peak(3, 1.2)]


def test_the_defaults_are_those_of_the_paper() -> None:
    parameters = RelaxedPruningClassifier().get_params(deep=False)
    assert parameters["heuristic"] == FMeasure(beta=0.5)
    assert parameters["min_precision"] == 0.5
    assert not parameters["predict_absence"]
    unlimited = ("max_rules", "max_conditions", "max_bins", "constraints")
    assert all(parameters[name] is None for name in unlimited)
    options = RelaxedPruningClassifier()._make_options(n_labels=3)
    assert (options.min_precision.of, options.min_precision.when) == ("head", "growing")


def test_other_parameters_of_the_estimator_are_used_as_they_are(flags: Any) -> None:
    learner = RelaxedPruningClassifier(heuristic=HammingAccuracy(), max_rules=3, predict_absence=True)
    search = RelaxedPruningClassifierCV(learner, lifts=[KLN(0.1)], cv=2).fit(flags)
    assert search.rule_list_ == clone(learner).set_params(lift=KLN(0.1)).fit(flags).rule_list_


def test_the_candidates_are_the_28_of_the_paper() -> None:
    lifts = paper_lifts(n_labels=10)
    assert len(set(lifts)) == 28
    assert sum(isinstance(lift, KLN) for lift in lifts) == 7
    heights = {1.02, 1.04, 1.08, 1.12, 1.16, 1.20, 1.24}
    assert {round(height(lift, 10), 9) for lift in lifts} == heights
    assert {lift.labels for lift in lifts if isinstance(lift, Peak)} == {2, 3, 5}
    assert all(lift.curvature == 2 for lift in lifts if isinstance(lift, Peak))


def test_a_peak_beyond_the_number_of_labels_is_left_out() -> None:
    assert {lift.labels for lift in paper_lifts(4) if isinstance(lift, Peak)} == {2, 3}
    assert all(isinstance(lift, KLN) for lift in paper_lifts(1))
    X = np.arange(8.0).reshape(-1, 1)
    Y = np.tile([[1, 0], [0, 1]], (4, 1))
    search = RelaxedPruningClassifierCV(lifts=[Peak(5, 1.1), KLN(0.1)], cv=2).fit(X, Y)
    assert [c["lift"] for c in search.cv_results_["params"]] == [KLN(0.1)]


@pytest.mark.parametrize(
    ("scoring", "measure"), [("hamming_accuracy", hamming_accuracy), ("micro_f1", micro_f1), ("macro_f1", macro_f1)]
)
def test_the_results_are_those_of_cross_validation_by_hand(flags: Any, scoring: str, measure: Any) -> None:
    X, Y = flags.X, flags.Y
    search = RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, scoring=scoring, cv=3, random_state=7).fit(X, Y)
    for i, lift in enumerate(LIFTS):
        by_hand = []
        for train, test in KFold(3, shuffle=True, random_state=7).split(Y):
            classifier = clone(SHORT).set_params(lift=lift).fit(X[train], Y[train])
            by_hand.append(measure(Y[test], classifier.predict(X[test])))
        results = [search.cv_results_[f"split{fold}_test_{scoring}"][i] for fold in range(3)]
        assert results == by_hand
        assert search.cv_results_[f"mean_test_{scoring}"][i] == pytest.approx(np.mean(by_hand))
    means = search.cv_results_[f"mean_test_{scoring}"]
    assert means[search.best_index_] == means.max() == search.best_score_
    assert search.best_lift_ == LIFTS[search.best_index_]


def test_the_best_candidate_is_trained_on_everything(flags: Any) -> None:
    search = RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=2)
    search.fit(flags)
    refitted = clone(SHORT).set_params(lift=search.best_lift_)
    refitted.fit(flags)
    assert search.rule_list_ == search.best_estimator_.rule_list_ == refitted.rule_list_
    np.testing.assert_array_equal(search.predict(flags.X), refitted.predict(flags.X))
    np.testing.assert_array_equal(search.predict_proba(flags.X), refitted.predict_proba(flags.X))
    assert search.label_names_.tolist() == list(flags.label_names)
    assert SHORT.lift == RelaxedPruningClassifier().lift


def ranks(lifts: list[Any], *, score: list[float], ha: list[float], subset: list[float]) -> list[int]:
    columns = {"micro_f1": score, "hamming_accuracy": ha, "subset_accuracy": subset}
    results = [[Result({name: values[i] for name, values in columns.items()}, 1, 1)] for i in range(len(lifts))]
    heights = [height(lift, n_labels=5) for lift in lifts]
    searched = LiftScores(lifts, results, "micro_f1", heights)
    return searched.tabulate()["rank_test_score"].tolist()


def test_ties_go_to_hamming_accuracy_then_subset_accuracy_then_the_higher_lift_then_the_first() -> None:
    low, high, as_high = KLN.at(3, 1.02), Peak(5, 1.24), KLN.at(3, 1.24)
    same = [0.5, 0.5, 0.5]
    assert ranks([low, high, as_high], score=[0.6, 0.5, 0.5], ha=[0.1, 0.9, 0.9], subset=same) == [1, 2, 3]
    assert ranks([low, high, as_high], score=same, ha=[0.6, 0.5, 0.5], subset=[0.1, 0.2, 0.3]) == [1, 3, 2]
    assert ranks([low, high, as_high], score=same, ha=same, subset=[0.6, 0.5, 0.5]) == [1, 2, 3]
    assert ranks([low, high, as_high], score=same, ha=same, subset=same) == [3, 1, 2]
    almost = [0.5, 0.5 - 1e-16, 0.5 + 1e-16]
    assert ranks([low, high, as_high], score=almost, ha=same, subset=same) == [3, 1, 2]


def test_the_choice_does_not_depend_on_the_number_of_jobs(flags: Any) -> None:
    one = RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=2).fit(flags.X, flags.Y)
    two = RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=2, n_jobs=2).fit(flags.X, flags.Y)
    assert one.best_lift_ == two.best_lift_
    for key, value in one.cv_results_.items():
        np.testing.assert_array_equal(value, two.cv_results_[key])


def test_scorers_and_splitters_of_scikit_learn_work(flags: Any) -> None:
    by_name, ours, given = (
        RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, scoring=scoring, cv=KFold(2)).fit(flags.X, flags.Y)
        for scoring in ("f1_micro", "micro_f1", SCORERS["micro_f1"])
    )
    for other in (by_name, given):
        assert other.best_score_ == ours.best_score_
        assert other.cv_results_.keys() == ours.cv_results_.keys()


def test_folds_that_keep_the_share_of_every_label_work(flags: Any) -> None:
    search = RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=IterativeStratifiedKFold(3)).fit(flags.X, flags.Y)
    assert search.cv_results_["split2_test_hamming_accuracy"].shape == (3,)


def test_a_row_of_weight_zero_does_not_decide_where_others_go(flags: Any) -> None:
    X, Y = flags.X, flags.Y
    weights = np.random.default_rng(0).integers(0, 2, size=len(Y))
    kept = np.flatnonzero(weights)
    weighted = RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=3).fit(X, Y, weights)
    removed = RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=3).fit(X[kept], Y[kept])
    np.testing.assert_allclose(
        weighted.cv_results_["mean_test_hamming_accuracy"], removed.cv_results_["mean_test_hamming_accuracy"]
    )
    assert weighted.rule_list_ == removed.rule_list_


def test_parameters_of_the_classifier_inside_can_be_set() -> None:
    search = RelaxedPruningClassifierCV(RelaxedPruningClassifier(heuristic=HammingAccuracy()))
    search.set_params(estimator__max_rules=3, estimator__predict_absence=True)
    assert search.estimator is not None
    assert search.estimator.max_rules == 3
    assert "estimator__heuristic" in search.get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scoring": "micro_f"}, "unknown scoring 'micro_f'; did you mean 'micro_f1'.*hamming_accuracy"),
        ({"scoring": 3}, "scoring must be the name of a measure or a scorer, got 3"),
        ({"lifts": "papers"}, "lifts must be 'paper' or a list of lifts, got 'papers'"),
        ({"lifts": []}, "no lift that fits 2 labels"),
        ({"lifts": [Peak(3)]}, "no lift that fits 2 labels"),
        ({"lifts": [KLN(-1)]}, "KLN: k must be"),
        (
            {"estimator": RelaxedPruningClassifier(head_search="single")},
            "head_search is 'single', which knows no lift to choose",
        ),
        ({"estimator": KFold(2)}, "estimator must be a RelaxedPruningClassifier or None, got KFold"),
        ({"cv": 1}, "at least one"),
        ({"cv": 50}, "greater than the number of samples"),
    ],
)
def test_what_cannot_be_searched_is_refused(parameters: dict[str, Any], message: str) -> None:
    X, Y = np.arange(8.0).reshape(-1, 1), np.tile([[1, 0], [0, 1]], (4, 1))
    with pytest.raises(ValueError, match=message):
        RelaxedPruningClassifierCV(**parameters).fit(X, Y)


def test_folds_on_which_a_scorer_is_not_defined_are_left_out_and_said_once(flags: Any) -> None:
    def score(classifier: Any, X: Any, Y: Any) -> float:
        return float("nan") if len(Y) == 65 else float((classifier.predict(X) == Y).mean())

    search = RelaxedPruningClassifierCV(lifts=[NoLift(), KLN(0.3)], scoring=score, cv=3)
    with pytest.warns(UserWarning, match="score is not defined on fold . of 3; left out of the choice") as warned:
        search.fit(flags.X, flags.Y)
    assert sum("not defined" in str(one.message) for one in warned) == 1
    folds = [search.cv_results_[f"split{fold}_test_score"][search.best_index_] for fold in range(3)]
    assert search.best_score_ == pytest.approx(np.nanmean(folds))


def test_a_target_of_no_and_yes_is_split_evenly() -> None:
    X = np.arange(20.0).reshape(-1, 1)
    y = np.array(["no"] * 15 + ["yes"] * 5)
    search = RelaxedPruningClassifierCV(lifts=[NoLift()], cv=5).fit(X, y)
    assert search.classes_.tolist() == ["no", "yes"]
    assert set(search.predict(X)) <= {"no", "yes"}


def test_a_search_of_lifts_tells_how_far_it_is(flags: Any) -> None:
    told: list[tuple[int, int]] = []
    search = RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=2, n_jobs=2, verbose=lambda *counts: told.append(counts))
    search.fit(flags)
    assert told == [(done, 3) for done in range(4)]


def test_a_search_warns_once_not_once_per_candidate(flags: Any) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        RelaxedPruningClassifierCV(RelaxedPruningClassifier(min_coverage=1000), cv=2).fit(flags)
    assert sum("no rule can cover as much" in str(one.message) for one in said) == 1


@pytest.mark.parametrize("seed", range(5))
def test_one_label_of_an_exclusive_group_is_predicted_also_with_predict_absence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3)).round(1)
    Y = np.eye(3, dtype=int)[np.where(X[:, 0] > 0.5, 0, rng.integers(0, 3, 80))]
    classifier = RelaxedPruningClassifier(
        predict_absence=True, constraints=Constraints(exclusive_labels=[("y0", "y1", "y2")])
    )
    with pytest.warns(UserWarning, match="predict_absence has no effect: some labels exclude each other"):
        classifier.fit(X, Y)
    assert (classifier.predict(rng.normal(size=(200, 3))).sum(axis=1) == 1).all()


def test_folds_of_a_sample_know_nothing_of_their_held_out_rows(flags: Any) -> None:
    problem = MemoryRows.of(flags).problem
    half = np.arange(problem.n_instances) % 2 == 0
    changed = replace(problem, Y=np.where(half[:, None], problem.Y, 1 - problem.Y))
    roles = Roles((~half)[None].astype(np.int8), (1,), np.zeros(len(half), np.uint8), 1)
    derived = [
        folds_of(Sample(one, np.arange(len(half))), roles, CONDITION_KINDS)[0].training.derived
        for one in (problem, changed)
    ]
    assert derived[0] == derived[1]
    assert changed.with_conditions(CONDITION_KINDS).derived != problem.with_conditions(CONDITION_KINDS).derived


def test_folds_of_several_groups_of_held_out_rows_are_refused(flags: Any) -> None:
    with pytest.raises(ValueError, match="give folds or splits"):
        RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=0.3).fit(flags)


@pytest.mark.parametrize("cv", [True, None, 0, "five"])
def test_cv_that_is_no_validation_is_refused(flags: Any, cv: Any) -> None:
    with pytest.raises(ValueError, match=r"cv|at least one|n_splits"):
        RelaxedPruningClassifierCV(SHORT, lifts=LIFTS, cv=cv).fit(flags)
