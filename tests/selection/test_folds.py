"""Parts of the training data: lists are learned from some rows and scored on others."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from plurule import RuleListClassifier
from plurule.data.targets import TargetForm
from plurule.datasets import load_world_flags
from plurule.errors import PluruleError
from plurule.learning.problem import Options
from plurule.lifts import as_table
from plurule.metrics import SCORERS, Measure, find_measure
from plurule.relaxed_pruning import RelaxedPruningClassifier
from plurule.selection.folds import (
    Folds,
    make_parts,
    problem_of,
)
from plurule.selection.pool import SelectionCriterion, SelectionLimits, bodies_of
from plurule.selection.scoring import Scoring


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


def folds_of(flags: Any, cv: Any = 3, **more: Any) -> Folds:
    problem = problem_of(flags)
    return Folds(problem, make_parts(cv, problem.Y), **more)


def options_of(folds: Folds, **changes: Any) -> Options:
    return Options(lift=as_table(None, folds.problem.n_labels), **changes)


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


# Learning and scoring --------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_bins", [None, 8])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_learn_gives_the_list_of_the_rows_of_a_part(flags: Any, engine: Any, max_bins: int | None) -> None:
    folds = folds_of(flags, engine=engine)
    options = options_of(folds, max_bins=max_bins, n_rules=6)
    classifier = RelaxedPruningClassifier(lift=None, max_bins=max_bins, max_rules=6)
    for number, part in enumerate(folds.parts):
        classifier.fit(flags[part.train])
        held_out = flags[part.groups[0]]
        expected = classifier.predict(held_out.X)
        assert folds.learn(number, options).predict(held_out.X).tolist() == expected.tolist()


def test_selections_by_a_scorer_score_what_the_measure_it_computes_does(flags: Any) -> None:
    folds = folds_of(flags, 0.3)
    pools = [bodies_of([folds.learn(0, options_of(folds, n_rules=8))])]
    criteria = [SelectionCriterion(0.3), SelectionCriterion(0.4, exceptions=True)]
    labels = np.arange(folds.problem.n_labels)
    scores = []
    for measure in (find_measure("micro_f1"), Measure("score", SCORERS["micro_f1"])):
        scoring = Scoring(measure, TargetForm(), labels)
        (selections,) = folds.selections(pools, criteria, SelectionLimits(6), scoring)
        scores.append([selection.scores for selection in selections])
        assert [len(group) for group in selections[0].scores] == [len(selections[0].choices) + 1] * 5
    for ours, theirs in zip(*scores, strict=True):
        np.testing.assert_allclose(ours, theirs)


def test_folds_travel_without_what_was_made_of_them(flags: Any) -> None:
    folds = folds_of(flags)
    options = options_of(folds, n_rules=3)
    expected = folds.learn(1, options)
    assert folds._cache
    arrived = pickle.loads(pickle.dumps(folds))
    assert not arrived._cache
    assert arrived.learn(1, options) == expected


def test_splits_that_leave_nothing_to_learn_from_are_refused(flags: Any) -> None:
    Y = flags.Y.astype(np.uint8)
    with pytest.raises(PluruleError, match="leaves a part of fold 1 empty"):
        make_parts([(np.arange(0), np.arange(len(Y)))], Y)
    with pytest.raises(PluruleError, match=r"cannot split these data: .*greater than the number"):
        make_parts(KFold(1000), Y)


def test_split_does_not_warn_of_groups_that_nobody_gave(flags: Any) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The groups parameter")
        RuleListClassifier(cv=KFold(3)).fit(flags)
    with pytest.warns(UserWarning, match="The groups parameter is ignored by KFold"):
        RuleListClassifier(cv=KFold(3)).fit(flags, groups=np.arange(len(flags)) // 2)
