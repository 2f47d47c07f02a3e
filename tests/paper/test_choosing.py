"""The choice of a lift: as the estimator chooses."""

from __future__ import annotations

import pytest

from plurule import RuleListClassifier, RuleListClassifierCV
from plurule.lifts import PAPER_LIFTS, find_lift
from plurule.paper.choosing import Candidate, ranked
from plurule.paper.experiment import NoWatch
from plurule.paper.tuning import Tuning
from plurule.selection.objectives import PAPER_OBJECTIVES, find_objective
from plurule.selection.trials import Material


def made(lift: str, **scores: float) -> Candidate:
    filled = {"micro_f1": 0.5, "hamming_accuracy": 0.5, "subset_accuracy": 0.5} | scores
    return Candidate(lift, {name: (value, value) for name, value in filled.items()}, {})


def order(*candidates: Candidate) -> list[str]:
    return [one.lift for one in ranked(candidates, "micro_f1", n_labels=7)]


def test_the_best_mean_of_the_measure_wins():
    assert order(made("peak 2: 1.24", micro_f1=0.4), made("peak 2: 1.02"))[0] == "peak 2: 1.02"


def test_ties_go_to_hamming_accuracy_then_subset_accuracy_then_the_higher_lift_then_the_first():
    assert order(made("peak 2: 1.24"), made("peak 2: 1.02", hamming_accuracy=0.6))[0] == "peak 2: 1.02"
    assert order(made("peak 2: 1.24"), made("peak 2: 1.02", subset_accuracy=0.6))[0] == "peak 2: 1.02"
    assert order(made("peak 2: 1.02"), made("kln at 3: 1.04"))[0] == "kln at 3: 1.04"
    assert order(made("peak 3: 1.04"), made("kln at 3: 1.04"), made("peak 2: 1.04"))[0] == "peak 3: 1.04"


def test_means_that_differ_by_rounding_only_are_ties():
    assert order(made("peak 2: 1.02", micro_f1=0.1 + 0.2), made("peak 2: 1.24", micro_f1=0.3))[0] == "peak 2: 1.24"


@pytest.mark.parametrize("objective", PAPER_OBJECTIVES)
def test_the_choice_is_that_of_the_estimator(objective: str, material: Material):
    goal, data = find_objective(objective), material.train
    estimator = RuleListClassifier.published(
        heuristic=goal.heuristic, averaging=goal.averaging, predict_absence=goal.predict_absence
    )
    lifts = PAPER_LIFTS[::4]
    search = RuleListClassifierCV(
        estimator, protocol="paper", lifts=[find_lift(name) for name in lifts], scoring=goal.measure, cv=3
    )
    search.fit(data.X, data.Y, label_names=data.label_names)
    tuning = Tuning(data, objective, lifts, goal.measure, folds="3", seed=0)
    ranking, _, _ = tuning.run(NoWatch(), jobs=2)
    assert find_lift(ranking[0].lift) == search.best_lift_
    assert ranking[0].mean(goal.measure) == pytest.approx(search.best_score_)
