"""Running one task: the same models and scores as the estimator's."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from plurule import RuleListClassifier
from plurule.data import Dataset
from plurule.lifts import find_lift
from plurule.metrics import scores
from plurule.model import file as model_file
from plurule.paper.materials import EMBEDDED
from plurule.paper.protocol import Task
from plurule.selection.objectives import PAPER_OBJECTIVES, find_objective
from plurule.selection.trials import Material, Workbench, labels_of, problem_of


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
    train, test = material.splits[1]
    data = material.train
    model = classifier(objective, "peak 3: 1.08").fit(data.X[train], data.Y[train], label_names=data.label_names)
    result = Workbench({EMBEDDED: material}).run(Task("fold", EMBEDDED, objective, "peak 3: 1.08", 1))
    assert result["scores"] == scores(data.Y[test], model.predict(data.X[test]))
    assert result["size"]["rules"] == len(model.rule_list_)


@pytest.mark.parametrize("objective", PAPER_OBJECTIVES)
def test_a_final_task_gives_the_model_of_the_estimator(objective: str, material: Material):
    model = classifier(objective, "kln at 3: 1.12")
    model.fit(material.train.X, material.train.Y, label_names=material.train.label_names)
    result = Workbench({EMBEDDED: material}).run(Task("final", EMBEDDED, objective, "kln at 3: 1.12"))
    assert model_file.loads(result["model"]).rules == model.rule_list_.rules
    assert result["scores"] == scores(material.test.Y, model.predict(material.test.X))


def test_weights_count_in_training_and_in_scoring(material: Material):
    data = material.train
    weights = np.where(np.arange(len(data)) % 3 == 0, 2.0, 1.0)
    doubled = np.concatenate([np.arange(len(data)), np.flatnonzero(weights == 2)])
    weighted = replace(material, train=replace(data, weights=weights))
    repeated = replace(material, train=data[doubled])
    task = Task("final", EMBEDDED, "ha+", "none")
    one, two = (Workbench({EMBEDDED: m}).run(task) for m in (weighted, repeated))
    assert one["scores"] == two["scores"]
    assert one["size"] == two["size"]


def test_all_results_survive_json(material: Material):
    workbench = Workbench({EMBEDDED: material})
    for kind in ("fold", "final", "sensitivity", "timing", "variant", "reference"):
        result = workbench.run(Task(kind, EMBEDDED, "macro-f+", "peak 2: 1.04"))  # type: ignore[arg-type]
        assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_a_timing_measures_normal_relaxed_and_normal_again(material: Material):
    result = Workbench({EMBEDDED: material}).run(Task("timing", EMBEDDED, "ha+", "peak 2: 1.04", 1))
    assert set(result["seconds"]) == {"normal", "relaxed", "normal again"}
    assert all(seconds > 0 for seconds in result["seconds"].values())


def test_a_variant_searches_heads_anew(material: Material):
    workbench = Workbench({EMBEDDED: material})
    published = workbench.run(Task("reference", EMBEDDED, "micro-f+-", "kln at 3: 1.24"))
    free = workbench.run(Task("variant", EMBEDDED, "micro-f+-", "kln at 3: 1.24", variant="free head"))
    assert free["size"] != published["size"]


def test_the_fingerprint_of_data_notices_every_change(material: Material):
    def changed(**parts: object) -> str:
        return replace(material, train=replace(material.train, **parts)).fingerprint()  # type: ignore[arg-type]

    Y = material.train.Y.copy()
    Y[3, 2] = 1 - Y[3, 2]
    prints = {
        material.fingerprint(),
        changed(Y=Y),
        changed(weights=np.full(len(Y), 2.0)),
        changed(label_names=tuple(name.upper() for name in material.train.label_names)),
        replace(material, train=material.train[1:]).fingerprint(),
    }
    assert len(prints) == 5
    assert material.fingerprint() == replace(material, splits=material.splits[:2]).fingerprint()


def test_the_fingerprint_of_folds_notices_every_change(material: Material):
    first, *rest = material.splits
    others = [material.splits[:2], [*rest, first], [(first[0][1:], first[1]), *rest], [first[::-1], *rest]]
    prints = {replace(material, splits=splits).folds_fingerprint() for splits in (material.splits, *others)}
    assert len(prints) == 5


def test_sparse_labels_are_taken_too(material: Material):
    import scipy.sparse as sp

    data = material.train
    sparse = Dataset(data.X, sp.csr_array(data.Y), data.label_names)
    assert (labels_of(sparse) == labels_of(data)).all()
    assert (problem_of(sparse).Y == problem_of(data).Y).all()
