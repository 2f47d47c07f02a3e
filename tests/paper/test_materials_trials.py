"""Running one task: the same models and scores as the estimator's."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from plurule import RuleListClassifier
from plurule.data import Dataset
from plurule.learning.problem import Problem
from plurule.lifts import find_lift
from plurule.metrics import scores
from plurule.paper.materials import EMBEDDED, Material, work_of
from plurule.paper.protocol import Task
from plurule.selection.folds import Part, problem_of
from plurule.selection.objectives import PAPER_OBJECTIVES, find_objective
from plurule.selection.trials import Result


def result_of(material: Material, task: Task) -> Result:
    return work_of(task, material)(material.evaluation())


def trained_on(material: Material, problem: Problem) -> Material:
    rows = np.arange(problem.n_instances)
    parts = [*material.folds.parts[:-2], Part(rows), Part(rows, (rows,))]
    return replace(material, folds=replace(material.folds, problem=problem, parts=parts))


def classifier(objective: str, lift: str) -> RuleListClassifier:
    goal = find_objective(objective)
    return RuleListClassifier.published(
        heuristic=goal.heuristic,
        averaging=goal.averaging,
        predict_absence=goal.predict_absence,
        lift=find_lift(lift),
    )


@pytest.mark.parametrize("objective", PAPER_OBJECTIVES)
def test_a_fold_gives_the_scores_of_the_estimator(objective: str, material: Material):
    part = material.folds.parts[1]
    train, test = part.train, part.groups[0]
    data = material.train
    model = classifier(objective, "peak 3: 1.08").fit(data.X[train], data.Y[train], label_names=data.label_names)
    result = result_of(material, Task("fold", EMBEDDED, objective, "peak 3: 1.08", 1))
    assert result["scores"] == scores(data.Y[test], model.predict(data.X[test]))
    assert result["size"]["rules"] == len(model.rule_list_)


@pytest.mark.parametrize("objective", PAPER_OBJECTIVES)
def test_a_final_task_gives_the_model_of_the_estimator(objective: str, material: Material):
    model = classifier(objective, "kln at 3: 1.12")
    model.fit(material.train.X, material.train.Y, label_names=material.train.label_names)
    result = result_of(material, Task("final", EMBEDDED, objective, "kln at 3: 1.12"))
    assert result["model"].rules == model.rule_list_.rules
    assert result["scores"] == scores(material.test.Y, model.predict(material.test.X))


def test_weights_count_in_training_and_in_scoring(material: Material):
    data = material.train
    weights = np.where(np.arange(len(data)) % 3 == 0, 2.0, 1.0)
    doubled = np.concatenate([np.arange(len(data)), np.flatnonzero(weights == 2)])
    task = Task("final", EMBEDDED, "ha+", "none")
    one, two = (
        result_of(trained_on(material, problem_of(changed)), task)
        for changed in (replace(data, weights=weights), data[doubled])
    )
    assert one["scores"] == two["scores"]
    assert one["size"] == two["size"]


def test_all_results_survive_json(material: Material):
    for kind in ("fold", "final", "sensitivity", "timing", "variant", "reference"):
        result = result_of(material, Task(kind, EMBEDDED, "macro-f+", "peak 2: 1.04"))  # type: ignore[arg-type]
        result.pop("model", None)
        assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_a_timing_measures_normal_relaxed_and_normal_again(material: Material):
    result = result_of(material, Task("timing", EMBEDDED, "ha+", "peak 2: 1.04", 1))
    assert set(result["seconds"]) == {"normal", "relaxed", "normal again"}
    assert all(seconds > 0 for seconds in result["seconds"].values())


def test_a_variant_searches_heads_anew(material: Material):
    published = result_of(material, Task("reference", EMBEDDED, "micro-f+-", "kln at 3: 1.24"))
    free = result_of(material, Task("variant", EMBEDDED, "micro-f+-", "kln at 3: 1.24", variant="free head"))
    assert free["size"] != published["size"]


def test_sparse_labels_are_taken_too(material: Material):
    import scipy.sparse as sp

    data = material.train
    sparse = Dataset(data.X, sp.csr_array(data.Y), data.label_names)
    assert (problem_of(sparse).Y == problem_of(data).Y).all()
