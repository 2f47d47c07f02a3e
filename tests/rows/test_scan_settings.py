"""Whatever the parameters, rows in files give the model of the same rows in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import GroupKFold, ShuffleSplit

from helpers.campaigns import numbers
from helpers.native_problems import (
    constrained,
    random_constraints,
    random_options,
    random_problem,
    random_sparse_problem,
)
from helpers.parts import as_fitted, cut_at, learn_in_parts
from helpers.scans import LABELS, learner
from plurule import (
    Constraints,
    RelaxedPruningClassifier,
    RelaxedPruningClassifierCV,
    RuleListClassifier,
    read,
    scan,
)
from plurule._learning import native
from plurule._learning.initial_rules import as_initial_rules
from plurule._learning.problem import MinPrecision, Options, Problem
from plurule.data import Dataset
from plurule.heuristics import FMeasure, Gain, SubsetAccuracy
from plurule.lifts import KLN, NoLift
from plurule.model.file import dumps


@pytest.fixture(scope="module")
def data(frame: pd.DataFrame) -> Dataset:
    return read(frame[:500].round(3), LABELS)


def in_parts(data: Dataset) -> Any:
    """The data in three parts, of which one has no rows."""
    return scan([data[:9], data[9:9], data[9:]])


def assert_same_model(found: Any, expected: Any) -> None:
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    assert found.labels_without_rules_ == expected.labels_without_rules_
    assert getattr(found, "chosen_", None) == getattr(expected, "chosen_", None)
    if hasattr(expected, "length_curve_"):
        np.testing.assert_array_equal(found.length_curve_.scores, expected.length_curve_.scores)


# Both learners -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"cv": 5, "lift": None},
        {"cv": 0.3, "scoring": "macro_f1", "max_rules": 6},
        {"cv": 3, "scoring": "subset_accuracy", "max_bins": 5, "max_conditions": 2, "lift": None},
        {"cv": 2, "scoring": "example_f1", "max_conditions": 2, "lift": None},
        {"cv": 2, "score_tolerance": 0.05, "min_precision": 0.5, "max_rules": 7},
        {"cv": 3, "max_bins": None, "max_rules": 5, "lift": KLN(0.3)},
        {"cv": ShuffleSplit(2, test_size=0.2, random_state=0), "min_coverage": 60, "lift": None},
        {"cv": 2, "scoring": "hamming_accuracy", "predict_absence": False, "lift": None},
        {"cv": 2, "conditions": "all", "lift": None},
        {"cv": 2, "max_grown_rows": 200, "lift": None},
    ],
    ids=str,
)
def test_rule_list_classifier_of_parts_is_that_of_memory(given: dict[str, Any], data: Dataset) -> None:
    expected = RuleListClassifier(**given).fit(data)
    assert len(expected.rule_list_) > 1
    assert_same_model(RuleListClassifier(**given).fit(in_parts(data)), expected)


@pytest.mark.parametrize(
    "given",
    [
        {"predict_absence": True, "heuristic": "hamming_accuracy"},
        {"beam_width": 3, "fix_head": False},
        {"head_search": "single", "max_bins": 6},
        {"max_bins": None, "lift": "peak"},
        {"averaging": "macro", "label_conditions": False},
        {"conditions": "all"},
        {"conditions": "sets", "max_grown_rows": 200},
        {"max_grown_rows": 200},
        {"heuristic": SubsetAccuracy(), "head_search": "single", "max_rules": 2, "max_conditions": 1, "max_bins": 4},
    ],
    ids=str,
)
def test_relaxed_pruning_of_parts_is_that_of_memory(given: dict[str, Any], data: Dataset) -> None:
    expected = learner(**given).fit(data)
    assert_same_model(learner(**given).fit(in_parts(data)), expected)


def scores_few_rules(classifier: Any, X: Any, Y: Any) -> float:
    """A scorer that looks at the rules."""
    return f1_score(Y, classifier.predict(X), average="micro") - 0.01 * len(classifier.rule_list_)


@pytest.mark.parametrize(
    "scoring",
    [
        "roc_auc",
        "average_precision",
        "f1_weighted",
        make_scorer(f1_score, average="samples", zero_division=0.0),
        pytest.param(scores_few_rules, id="scores few rules"),
    ],
    ids=str,
)
def test_every_scorer_chooses_from_parts_what_it_chooses_in_memory(scoring: Any, data: Dataset) -> None:
    given = {"scoring": scoring, "cv": 2, "max_rules": 3, "lift": None}
    two = Dataset(data.X, data.Y[:, :2], data.label_names[:2])
    assert_same_model(RuleListClassifier(**given).fit(in_parts(two)), RuleListClassifier(**given).fit(two))


@pytest.mark.parametrize("scoring", ["neg_log_loss", "balanced_accuracy"])
def test_scorers_of_classes_choose_from_parts_what_they_choose_in_memory(scoring: str) -> None:
    x = np.repeat([0.0, 1.0, 2.0], 40)[:, None]
    y = np.repeat(["a", "b", "c"], 40)
    given = {"scoring": scoring, "cv": 3}
    found = RuleListClassifier(**given).fit(scan([(x[:50], y[:50]), (x[50:], y[50:])]))
    assert_same_model(found, RuleListClassifier(**given).fit(x, y))


@pytest.mark.parametrize("kind", ["sets", "negation", "missing"])
def test_every_kind_of_condition_is_learned_from_parts(kind: str) -> None:
    rng = np.random.default_rng(0)
    colours = rng.choice(["blue", "green", "grey", "red", "white", "yellow"], 300)
    size = np.where(rng.random(300) < 0.4, np.nan, rng.random(300))
    X = pd.DataFrame({"colour": colours, "size": size})
    Y = np.column_stack([np.isin(colours, ["red", "white"]), colours != "grey", np.isnan(size)]).astype(int)
    expected = RelaxedPruningClassifier(conditions=kind).fit(X, Y)
    found = RelaxedPruningClassifier(conditions=kind).fit(scan([(X[:120], Y[:120]), (X[120:], Y[120:])]))
    assert_same_model(found, expected)
    assert expected.rule_list_ != RelaxedPruningClassifier().fit(X, Y).rule_list_


def test_choice_of_the_lift_from_parts_is_that_of_memory(data: Dataset) -> None:
    given = RelaxedPruningClassifier(max_rules=4, max_conditions=2, max_bins=16)
    search = [RelaxedPruningClassifierCV(given, lifts=[NoLift(), KLN(0.1), KLN(0.6)], cv=2) for _ in range(2)]
    expected, found = search[0].fit(data), search[1].fit(in_parts(data))
    assert_same_model(found, expected)
    assert found.best_lift_ == expected.best_lift_
    for name, values in expected.cv_results_.items():
        np.testing.assert_array_equal(found.cv_results_[name], values)


@pytest.mark.parametrize("rules", ["two <- b <= 2", "not three <- b > 6 [stop]\ntwo <- c > 0.5"])
def test_weights_and_initial_rules_from_parts_give_the_model_of_memory(rules: str, data: Dataset) -> None:
    weights = np.random.default_rng(3).choice([0, 0.5, 1, 2.5], len(data))
    weighted = Dataset(data.X, data.Y, data.label_names, weights)
    learners = [RuleListClassifier(cv=2, max_conditions=2, lift=None) for _ in range(2)]
    expected = learners[0].fit(weighted, initial_rules=rules)
    assert_same_model(learners[1].fit(in_parts(weighted), initial_rules=rules), expected)


def test_rows_without_weight_make_no_difference_in_parts(data: Dataset) -> None:
    weights = np.random.default_rng(0).integers(0, 2, len(data)).astype(float)
    weighted = Dataset(data.X, data.Y, data.label_names, weights)
    given = {"cv": 2, "max_rules": 5, "lift": None}
    found = RuleListClassifier(**given).fit(scan([weighted[:100], weighted[100:]]))
    assert_same_model(found, RuleListClassifier(**given).fit(data[np.flatnonzero(weights)]))


def test_splits_count_rows_of_all_parts_also_beside_rows_without_weight(data: Dataset) -> None:
    weights = np.random.default_rng(0).integers(0, 3, len(data)).astype(float)
    weighted = Dataset(data.X, data.Y, data.label_names, weights)
    half = np.arange(len(data)) < 250
    splits = [(np.flatnonzero(half), np.flatnonzero(~half)), (np.flatnonzero(~half), np.flatnonzero(half))]
    given = {"cv": splits, "max_rules": 5, "lift": None}
    assert_same_model(RuleListClassifier(**given).fit(in_parts(weighted)), RuleListClassifier(**given).fit(weighted))


def test_splitter_by_copies_splits_parts_as_memory(data: Dataset) -> None:
    twice = data[np.tile(np.arange(200), 2)]
    given = {"cv": GroupKFold(3), "max_rules": 5, "lift": None}
    with pytest.warns(UserWarning, match="200 of 400 rows are copies of others"):
        expected = RuleListClassifier(**given).fit(twice)
    with pytest.warns(UserWarning, match="200 of 400 rows are copies of others"):
        found = RuleListClassifier(**given).fit(scan([twice[:150], twice[150:]]))
    assert_same_model(found, expected)


# Rows that are sampled -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [None, 500, 501])
def test_max_grown_rows_of_at_least_all_rows_is_none(most: int | None, data: Dataset) -> None:
    given = {"cv": 2, "max_rules": 5, "lift": None}
    found = RuleListClassifier(**given, max_grown_rows=most).fit(data)
    assert "grown on" not in found.chosen_["how"]
    assert_same_model(found, RuleListClassifier(**given).fit(data))


@pytest.mark.parametrize("scanned", [False, True])
def test_max_grown_rows_is_reported_in_how(scanned: bool, data: Dataset) -> None:
    found = RuleListClassifier(cv=2, max_rules=5, max_grown_rows=200).fit(in_parts(data) if scanned else data)
    assert ", grown on 200 of 500 rows by 2-fold cross-validation; " in found.chosen_["how"]


def test_max_grown_rows_leaves_counts_of_all_rows(data: Dataset) -> None:
    for kind in (RuleListClassifier(cv=2, max_grown_rows=100), RelaxedPruningClassifier(max_grown_rows=100)):
        rule_list = kind.fit(data).rule_list_
        assert rule_list.rules
        counted = rule_list.edit(data.X, data.Y).rule_list
        assert [rule.decided for rule in rule_list] == [rule.decided for rule in counted]


def test_max_grown_rows_changes_the_rules(data: Dataset) -> None:
    few, all_rows = (RelaxedPruningClassifier(max_grown_rows=most).fit(data).rule_list_ for most in (50, None))
    assert [rule.to_text() for rule in few] != [rule.to_text() for rule in all_rows]


@pytest.mark.parametrize("kind", [RuleListClassifier, RelaxedPruningClassifier])
@pytest.mark.parametrize("most", [0, -1, 2.5, "all"])
def test_max_grown_rows_must_be_a_number_of_rows(kind: Any, most: Any, data: Dataset) -> None:
    with pytest.raises(ValueError, match="max_grown_rows must be"):
        kind(max_grown_rows=most).fit(data)


# Labels that are related ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [{"max_rules": None}, {"cv": 2, "max_rules": 8}], ids=str)
def test_exclusive_labels_in_parts_are_predicted_as_in_memory(given: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).round(2)
    classes = np.argmax(X[:, :3] + rng.normal(size=(300, 3)) / 2, axis=1)
    Y = np.column_stack([np.eye(3, dtype=int)[classes], X[:, 3] > 0]).astype(int)
    constraints = Constraints(exclusive_labels=[("y0", "y1", "y2")])
    expected = learner(**given, constraints=constraints).fit(X, Y)
    found = learner(**given, constraints=constraints).fit(scan((X, Y), chunk=170))
    assert_same_model(found, expected)
    assert (found.predict(X)[:, :3].sum(axis=1) == 1).all()


def test_exceptions_to_a_default_rule_from_parts_are_those_of_memory() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((400, 2))
    odd = (abs(X - 0.5) < 0.25).all(axis=1, keepdims=True)
    Y = (np.hstack([~odd, ~odd, odd]) & (rng.random((400, 3)) < 0.95)).astype(int)
    frame = pd.DataFrame(np.hstack([X, Y]), columns=["a", "b", *LABELS]).astype(dict.fromkeys(LABELS, int))
    given = {"cv": 3, "max_rules": 6, "max_conditions": 4}
    found = RuleListClassifier(**given).fit(scan([frame[:150], frame[150:]], LABELS))
    *rules, default = found.rule_list_
    assert not default.body
    assert any(not assignment.present for rule in rules for assignment in rule.head)
    assert_same_model(found, RuleListClassifier(**given).fit(read(frame, LABELS)))


def test_threshold_inside_a_bin_is_as_short_as_in_memory() -> None:
    # The first condition leaves rows of bins far apart, so that the middle lies inside another bin.
    rng = np.random.default_rng(4)
    a = rng.normal(size=4000)
    b = (np.abs(a) > 1.2).astype(float)
    Y = np.column_stack([(b == 1) & (a > 0), b == 1, rng.random(4000) < 0.3]).astype(int)
    X = np.column_stack([b, a])
    given = {"max_bins": 6, "head_search": "single"}
    assert_same_model(learner(**given).fit(scan((X, Y), chunk=999)), learner(**given).fit(X, Y))


# Random problems -----------------------------------------------------------------------------------------------------


def assert_same_in_parts(rng: np.random.Generator, problem: Problem, options: Options, folder: Any, what: str) -> None:
    places = rng.integers(0, problem.n_instances + 1, rng.integers(0, 8)).tolist()
    expected = native.learn_list(as_fitted(problem), options)
    found = learn_in_parts(cut_at(problem, places), problem, options, folder)
    assert [repr(rule) for rule in found] == [repr(rule) for rule in expected], f"{what}: {options}"
    assert found == expected, what


@pytest.mark.parametrize("batch", numbers(2, 60))
def test_lists_of_random_problems_are_the_same_from_files(batch: int, tmp_path: Any) -> None:
    for seed in range(batch * 20, (batch + 1) * 20):
        rng = np.random.default_rng([15, seed])
        problem = random_problem(rng)
        assert_same_in_parts(rng, problem, random_options(rng, problem), tmp_path, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(3, 30))
def test_lists_of_larger_problems_are_the_same_from_files(seed: int, tmp_path: Any) -> None:
    rng = np.random.default_rng([16, seed])
    problem = random_problem(rng, most_rows=400, most_columns=8, most_labels=20)
    options = random_options(rng, problem, head_search="relaxed", n_rules=8, max_bins=(2, 5, 32)[seed % 3])
    assert_same_in_parts(rng, problem, options, tmp_path, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(6, 100))
def test_lists_under_constraints_are_the_same_from_files(seed: int, tmp_path: Any) -> None:
    rng = np.random.default_rng([17, seed])
    problem = random_problem(rng)
    problem = constrained(problem, random_constraints(rng, problem))
    options = random_options(rng, problem, head_search="relaxed")
    assert_same_in_parts(rng, problem, options, tmp_path, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(4, 60))
def test_lists_of_sparse_columns_are_the_same_from_parts(seed: int, tmp_path: Any) -> None:
    rng = np.random.default_rng([18, seed])
    problem = random_sparse_problem(rng)
    heuristic = (Gain(0.3), FMeasure(1))[seed % 2]
    least = MinPrecision(0.4, of=("label", "head")[seed % 2], when="finished")
    options = random_options(rng, problem, heuristic=heuristic, min_precision=least, head_search="relaxed")
    assert_same_in_parts(rng, problem, options, tmp_path, f"seed {seed}")


@pytest.mark.parametrize("seed", numbers(4, 60))
def test_lists_after_initial_rules_are_the_same_from_files(seed: int, tmp_path: Any) -> None:
    rng = np.random.default_rng([19, seed])
    problem = random_problem(rng, most_rows=60)
    text = "l0 <-" if problem.n_labels == 1 else f"l0 <- l{problem.n_labels - 1}\nl1 <-\nl0 <- l1"
    if any(not attribute.is_nominal for attribute in problem.table.attributes):
        name = next(attribute.name for attribute in problem.table.attributes if not attribute.is_nominal)
        text = f"l0 <- {name} > 0.35 [stop]\n{text}"
    rules = as_initial_rules(text, problem.table.attributes, problem.labels)
    problem = replace(problem, initial_rules=rules)
    options = random_options(rng, problem, head_search="relaxed")
    assert_same_in_parts(rng, problem, options, tmp_path, f"seed {seed}")
