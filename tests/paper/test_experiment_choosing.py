"""The choice of a lift: as the estimator chooses."""

from __future__ import annotations

import numpy as np
import pytest

from plurule import RuleListClassifier, RuleListClassifierCV
from plurule.lifts import find_lift
from plurule.paper.experiment import Results
from plurule.paper.materials import EMBEDDED, Material
from plurule.paper.protocol import Task
from plurule.selection.lengths import LengthCurve
from plurule.selection.objectives import PAPER_OBJECTIVES, find_objective
from plurule.selection.search import Searched, height
from plurule.selection.splitters import MulanKFold

Scores = tuple[str, dict[str, float]]


def made(lift: str, **scores: float) -> Scores:
    return lift, {"micro_f1": 0.5, "hamming_accuracy": 0.5, "subset_accuracy": 0.5} | scores


def order(*candidates: Scores) -> list[str]:
    curves = [
        {name: LengthCurve(name, np.full((2, 1), score), np.zeros(1)) for name, score in scores.items()}
        for _, scores in candidates
    ]
    heights = [height(find_lift(lift), n_labels=7) for lift, _ in candidates]
    found = Searched([{} for _ in candidates], curves, "micro_f1", n_parts=2, heights=heights)
    return [candidates[i][0] for i in found.order]


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
def test_the_choice_is_that_of_the_estimator(objective: str, results: Results, material: Material):
    goal, lifts = find_objective(objective), results.plan.lifts
    estimator = RuleListClassifier.published(
        heuristic=goal.heuristic, averaging=goal.averaging, predict_absence=goal.predict_absence
    )
    search = RuleListClassifierCV(
        estimator, protocol="paper", lifts=[find_lift(name) for name in lifts], scoring=goal.measure, cv=MulanKFold()
    )
    search.fit(material.train)
    best = results.sets[EMBEDDED].chosen(objective)
    assert find_lift(best) == search.best_lift_
    folds = [results.records[Task("fold", EMBEDDED, objective, best, fold).key] for fold in range(5)]
    assert np.mean([fold["scores"][goal.measure] for fold in folds]) == search.best_score_
