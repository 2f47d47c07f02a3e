"""Validation inside training: parts of the data, early stopping, and the choice of the length."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from plurule.classifier import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.errors import PluruleError
from plurule.heuristics import HammingAccuracy
from plurule.learning.problem import Options
from plurule.lifts import as_table
from plurule.metrics import SCORERS, micro_f1
from plurule.prediction.scoring import Scoring
from plurule.selection import folds as folds_module
from plurule.selection import search as search_module
from plurule.selection.folds import (
    Folds,
    Part,
    data_fingerprint,
    make_parts,
    parts_fingerprint,
    problem_of,
)
from plurule.selection.search import Curves, is_far_enough, search
from plurule.selection.trials import Evaluation, Trial


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


def evaluation_of(flags: Any, cv: Any = 3, scoring: Scoring | None = None, **more: Any) -> Evaluation:
    problem = problem_of(flags)
    folds = Folds(problem, make_parts(cv, problem.Y), **more)
    return Evaluation(folds, scoring or Scoring("micro_f1"), ("hamming_accuracy",))


def options_of(evaluation: Evaluation, **changes: Any) -> Options:
    return Options(lift=as_table(None, evaluation.folds.problem.n_labels), **changes)


def curves_of(evaluation: Evaluation, **changes: Any) -> Curves:
    (curves,) = search(evaluation, [options_of(evaluation, **changes)])
    return curves


# Parts -----------------------------------------------------------------------------------------------------


def test_folds_hold_out_every_row_once_and_keep_the_share_of_every_label(flags: Any) -> None:
    Y = flags.Y.astype(np.uint8)
    parts = make_parts(4, Y)
    held_out = np.concatenate([part.groups[0] for part in parts])
    assert sorted(held_out) == list(range(len(Y)))
    for part in parts:
        assert not set(part.train) & set(part.groups[0])
        np.testing.assert_allclose(Y[part.groups[0]].mean(axis=0), Y.mean(axis=0), atol=0.07)


def test_a_share_is_held_out_once_and_scored_in_groups(flags: Any) -> None:
    Y = flags.Y.astype(np.uint8)
    (part,) = make_parts(0.3, Y)
    held_out = np.concatenate(part.groups)
    assert len(part.groups) == 5
    assert len(held_out) == pytest.approx(0.3 * len(Y), abs=3)
    assert sorted([*part.train, *held_out]) == list(range(len(Y)))


def test_splitters_and_splits_are_taken_as_they_are(flags: Any) -> None:
    Y = flags.Y.astype(np.uint8)
    for given in (KFold(3), list(KFold(3).split(Y))):
        parts = make_parts(given, Y)
        assert [part.groups[0].tolist() for part in parts] == [test.tolist() for _, test in KFold(3).split(Y)]


@pytest.mark.parametrize("cv", [1, 0, -3, 0.0, 1.0, 1.5, "five", None, True, object()])
def test_what_is_no_validation_is_refused(flags: Any, cv: Any) -> None:
    with pytest.raises(ValueError, match="cv must be"):
        make_parts(cv, flags.Y.astype(np.uint8))


# Curves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [None, 8])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_curve_is_that_of_lists_trained_and_scored_by_hand(flags: Any, engine: Any, max_bins: int | None) -> None:
    evaluation = evaluation_of(flags, engine=engine)
    curves = curves_of(evaluation, max_bins=max_bins, n_rules=6)
    assert set(curves) == {"micro_f1", "hamming_accuracy"}
    by_hand = []
    for part in evaluation.folds.parts:
        classifier = RuleListClassifier.published(lift=None, max_bins=max_bins, n_rules=6)
        classifier.fit(flags[part.train])
        by_hand.append(classifier.staged_score(flags[part.groups[0]], scoring="micro_f1"))
    np.testing.assert_allclose(curves["micro_f1"].scores, by_hand)


def test_a_scorer_gives_the_curve_of_the_measure_it_computes(flags: Any) -> None:
    ours = curves_of(evaluation_of(flags, 0.3), n_rules=5)["micro_f1"]
    theirs = curves_of(evaluation_of(flags, 0.3, Scoring("score", SCORERS["micro_f1"])), n_rules=5)["score"]
    assert ours.scores.shape == (5, 5)
    np.testing.assert_allclose(ours.scores, theirs.scores)


def test_lists_grow_only_as_long_as_the_best_length_may_lie_further_on(
    flags: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluation = evaluation_of(flags)
    whole = curves_of(evaluation)["micro_f1"]
    asked: list[int | None] = []
    learn = Folds.learn

    def watched(self: Folds, part: int, options: Options, may_grow: bool) -> Any:
        asked.append(options.n_rules)
        return learn(self, part, options, may_grow)

    monkeypatch.setattr(Folds, "learn", watched)
    monkeypatch.setattr(search_module, "FIRST_LIMIT", 2)
    curve = curves_of(evaluation)["micro_f1"]
    length = curve.scores.shape[1]
    n_parts = len(evaluation.folds.parts)
    assert asked[: 2 * n_parts] == [2] * n_parts + [4] * n_parts
    np.testing.assert_array_equal(curve.scores, whole.scores[:, :length])
    assert length == whole.scores.shape[1] or is_far_enough(curve, length)


def test_no_rules_give_no_curve(flags: Any) -> None:
    assert curves_of(evaluation_of(flags), min_coverage=1e9) == {}


def test_a_list_goes_on_from_a_shorter_one_of_the_same_options(flags: Any) -> None:
    folds = evaluation_of(flags).folds
    for changes in ({}, {"heuristic": HammingAccuracy(), "predict_absence": True}, {"max_bins": 4}):
        options = options_of(evaluation_of(flags), **changes)
        for n_rules in (2, 4, 3, 4, 8, None):
            part = folds.learn(1, replace(options, n_rules=n_rules), may_grow=True)
            assert part == evaluation_of(flags).folds.learn(1, replace(options, n_rules=n_rules))


def test_so_many_of_the_latest_runs_are_kept_to_go_on_as_memory_allows(
    flags: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kept(*min_coverages: int, may_grow: bool = True) -> int:
        evaluation = evaluation_of(flags)
        for min_coverage in min_coverages:
            options = options_of(evaluation, n_rules=1, min_coverage=min_coverage)
            evaluation.folds.learn(0, options, may_grow)
        return sum(key[0] == "run" for key in evaluation.folds._made)

    assert kept(*range(12)) == 12
    assert kept(*range(12), may_grow=False) == 0
    rows, columns = len(evaluation_of(flags).folds.training(0).Y), len(flags.attributes)
    size = rows * len(flags.label_names) * columns
    monkeypatch.setattr(folds_module, "MOST_COUNTS_IN_ALL", 5 * size)
    assert kept(*range(12)) == 5
    monkeypatch.setattr(folds_module, "MOST_COUNTS", size - 1)
    assert kept(*range(3)) == 0


def test_folds_travel_without_what_was_made_of_them(flags: Any) -> None:
    evaluation = evaluation_of(flags)
    trial = Trial(options_of(evaluation, n_rules=3), part=1)
    expected = trial(evaluation)
    assert evaluation.folds._made
    arrived = pickle.loads(pickle.dumps(evaluation))
    assert not arrived.folds._made
    assert trial(arrived)["scores"] == expected["scores"]


def test_splits_that_leave_nothing_to_learn_from_are_refused(flags: Any) -> None:
    Y = flags.Y.astype(np.uint8)
    with pytest.raises(PluruleError, match="leaves a part of fold 1 empty"):
        make_parts([(np.arange(0), np.arange(len(Y)))], Y)
    with pytest.raises(PluruleError, match=r"cannot split these data: .*greater than the number"):
        make_parts(KFold(1000), Y)


def test_the_fingerprint_of_data_notices_every_change(flags: Any) -> None:
    Y = flags.Y.copy()
    Y[3, 2] = 1 - Y[3, 2]
    changed = [
        flags,
        replace(flags, Y=Y),
        replace(flags, weights=np.arange(1.0, len(Y) + 1)),
        replace(flags, label_names=tuple(name.upper() for name in flags.label_names)),
        flags[1:],
    ]
    assert len({data_fingerprint(problem_of(data)) for data in changed}) == 5
    assert data_fingerprint(problem_of(flags)) != data_fingerprint(problem_of(flags), problem_of(flags[1:]))


def test_the_fingerprint_of_parts_notices_every_change(flags: Any) -> None:
    parts = make_parts(KFold(4), flags.Y.astype(np.uint8))
    first, *rest = parts
    swapped = Part(first.groups[0], (first.train,))
    others = [parts, parts[:2], [*rest, first], [Part(first.train[1:], first.groups), *rest], [swapped, *rest]]
    assert len({parts_fingerprint(one) for one in others}) == 5


# n_rules ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [5, 0.25, KFold(4)])
@pytest.mark.parametrize("scoring", ["micro_f1", "hamming_accuracy", "f1_macro", SCORERS["subset_accuracy"]])
def test_auto_cuts_the_list_of_all_rows_where_validation_says(flags: Any, cv: Any, scoring: Any) -> None:
    X, Y = flags.X, flags.Y
    auto = RuleListClassifier(heuristic="f_measure", n_rules="auto", cv=cv, scoring=scoring).fit(X, Y)
    whole = RuleListClassifier(heuristic="f_measure", n_rules=None).fit(X, Y)
    curve = auto.n_rules_curve_
    assert curve is not None
    assert auto.rule_list_ == whole.rule_list_[: curve.chosen]
    assert curve.chosen <= curve.best <= curve.scores.shape[1]
    assert curve.score(curve.chosen) >= curve.mean.max() - curve.standard_error[curve.best - 1] - 1e-9
    assert whole.n_rules_curve_ is None


def test_auto_cuts_what_fits_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    noisy = (X[:, 0] > 0) ^ (rng.random(300) < 0.2)
    Y = np.column_stack([noisy, X[:, 1] > 0.5]).astype(int)
    parameters = {"min_coverage": 0, "max_bins": None}
    whole = RuleListClassifier(heuristic="f_measure", n_rules=None, **parameters).fit(X, Y)
    auto = RuleListClassifier(heuristic="f_measure", n_rules="auto", **parameters).fit(X, Y)
    assert len(auto.rule_list_) < 6 < len(whole.rule_list_)
    test = rng.normal(size=(2000, 6))
    truth = np.column_stack([test[:, 0] > 0, test[:, 1] > 0.5]).astype(int)
    assert micro_f1(truth, auto.predict(test)) > micro_f1(truth, whole.predict(test))


def test_auto_is_the_same_every_time_and_with_any_number_of_threads(flags: Any) -> None:
    lists = {
        RuleListClassifier(heuristic="f_measure", n_rules="auto", n_jobs=jobs).fit(flags.X, flags.Y).rule_list_
        for jobs in (None, 1, 2, 2)
    }
    assert len(lists) == 1


def test_a_label_without_a_positive_in_some_part_is_left_out_and_said_once(flags: Any) -> None:
    X, Y = flags.X, flags.Y.copy()
    Y[:, 1] = 0
    Y[[3, 40], 1] = 1
    classifier = RuleListClassifier(heuristic="f_measure", n_rules="auto")
    with pytest.warns(UserWarning, match="no positive of 'green' in some part.*left out of the choice") as warned:
        classifier.fit(X, Y, label_names=flags.label_names)
    assert len([w for w in warned if "left out" in str(w.message)]) == 1
    assert classifier.n_rules_curve_ is not None
    assert classifier.n_rules_curve_.left_out == (flags.label_names[1],)


def test_where_nothing_can_be_held_out_all_rules_are_kept() -> None:
    X, Y = [[1.0], [2.0], [3.0]], [[1, 0], [0, 1], [0, 0]]
    classifier = RuleListClassifier(heuristic="f_measure", n_rules="auto", min_coverage=0)
    with pytest.warns(UserWarning, match="no positive of 'y0', 'y1' in some part.*nothing is chosen"):
        classifier.fit(X, Y)
    assert classifier.n_rules_curve_ is None
    assert classifier.rule_list_ == clone(classifier).set_params(n_rules=None).fit(X, Y).rule_list_
    with pytest.warns(UserWarning, match="too few rows to hold some out; nothing is chosen"):
        RuleListClassifier(heuristic="f_measure", n_rules="auto", min_coverage=0).fit([[1.0]], [[1, 0]])


def test_a_chosen_length_needs_no_warning(flags: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RuleListClassifier(heuristic="f_measure", n_rules="auto").fit(flags.X, flags.Y)


def test_a_row_of_weight_zero_does_not_decide_where_others_go(flags: Any) -> None:
    X, Y = flags.X, flags.Y
    weights = np.random.default_rng(0).integers(0, 2, size=len(Y))
    kept = np.flatnonzero(weights)
    weighted = RuleListClassifier(heuristic="f_measure", n_rules="auto").fit(X, Y, weights)
    removed = RuleListClassifier(heuristic="f_measure", n_rules="auto").fit(X[kept], Y[kept])
    assert weighted.rule_list_ == removed.rule_list_


def one_label_everywhere_in_a_fold(flags: Any) -> Any:
    """The flags with a label that is present in all rows of the first of four folds, but not in the others."""
    Y = flags.Y.copy()
    Y[: len(Y) // 4 + 1, 1] = 1
    return flags.X, Y


def test_where_a_scorer_needs_negatives_a_label_without_is_left_out_and_said(flags: Any) -> None:
    X, Y = one_label_everywhere_in_a_fold(flags)
    classifier = RuleListClassifier(heuristic="f_measure", scoring="roc_auc", cv=KFold(4))
    with pytest.warns(UserWarning, match="no positive, or no negative, of 'green' in some part") as warned:
        classifier.fit(X, Y, label_names=flags.label_names)
    assert len(warned) == 1
    curve = classifier.n_rules_curve_
    assert curve is not None
    assert np.isfinite(curve.scores).all()
    assert "green" in curve.left_out
    assert len(classifier.rule_list_) == curve.chosen > 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RuleListClassifier(heuristic="f_measure", scoring="f1_macro", cv=KFold(4)).fit(X, Y)


def sometimes_undefined(classifier: Any, X: Any, Y: Any) -> float:
    return float("nan") if len(Y) == 49 else micro_f1(Y, classifier.predict(X))


def never_defined(classifier: Any, X: Any, Y: Any) -> float:
    return float("nan")


def test_parts_on_which_a_scorer_is_not_defined_are_left_out_and_said_once(flags: Any) -> None:
    X, Y = flags.X, flags.Y
    with pytest.warns(UserWarning, match="score is not defined on 1 of 4 parts.*left out of the choice") as warned:
        classifier = RuleListClassifier(heuristic="f_measure", scoring=sometimes_undefined, cv=KFold(4)).fit(X, Y)
    assert len(warned) == 1
    curve = classifier.n_rules_curve_
    assert curve is not None
    assert len(curve.defined) == 3
    assert len(classifier.rule_list_) == curve.chosen > 1


def test_where_a_scorer_is_never_defined_nothing_is_chosen(flags: Any) -> None:
    with pytest.warns(UserWarning, match="score is not defined on 4 of 4 parts.*nothing is chosen") as warned:
        classifier = RuleListClassifier(heuristic="f_measure", scoring=never_defined, cv=4).fit(flags.X, flags.Y)
    assert len(warned) == 1
    assert classifier.n_rules_curve_ is None
    assert (
        classifier.rule_list_
        == RuleListClassifier(heuristic="f_measure", n_rules=None).fit(flags.X, flags.Y).rule_list_
    )


@pytest.mark.parametrize("n_rules", [0, -1, 2.5, "all", True, [3]])
def test_what_is_no_number_of_rules_is_refused(flags: Any, n_rules: Any) -> None:
    with pytest.raises(ValueError, match="n_rules must be 'auto', None or a whole number of at least 1"):
        RuleListClassifier(heuristic="f_measure", n_rules=n_rules).fit(flags.X, flags.Y)


def test_an_unknown_scorer_is_refused_with_what_is_allowed(flags: Any) -> None:
    with pytest.raises(ValueError, match=r"unknown scoring 'micro_f'; did you mean 'micro_f1'.*'hamming_accuracy'"):
        RuleListClassifier(heuristic="f_measure", n_rules="auto", scoring="micro_f").fit(flags.X, flags.Y)
