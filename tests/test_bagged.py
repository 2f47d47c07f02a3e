"""Votes of rule lists."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import f1_score, make_scorer

from plurule import BaggedRuleLists, RuleListClassifier
from plurule.bagged import THRESHOLDS, _centred
from plurule.data.table import Table
from plurule.datasets import load_world_flags
from plurule.errors import DataError, ParameterError
from plurule.heuristics import FMeasure
from plurule.metrics import METRICS
from plurule.model import Attribute

FLAGS = load_world_flags()


def noisy(n_rows: int = 300, seed: int = 0) -> tuple[Any, Any]:
    """Two labels that follow a slope, which short lists approximate by steps; a third is rare."""
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(n_rows, 4))
    noise = chance.normal(scale=0.5, size=(3, n_rows))
    Y = np.stack([X[:, 0] + X[:, 1] + noise[0] > 0, X[:, 1] + X[:, 2] + noise[1] > 0, X[:, 3] + noise[2] > 1.5], axis=1)
    return X, Y.astype(int)


def test_votes_beat_a_single_list_on_new_rows() -> None:
    gains = []
    for seed in range(3):
        X, Y = noisy(900, seed)
        one, many = RuleListClassifier(n_rules=60), BaggedRuleLists(n_estimators=15)
        scores = [METRICS["micro_f1"](Y[200:], c.fit(X[:200], Y[:200]).predict(X[200:])) for c in (one, many)]
        gains.append(scores[1] - scores[0])
    assert sum(gains) > 0.01


def test_votes_are_the_mean_of_what_the_rules_that_decide_were_right() -> None:
    X, Y = noisy()
    votes = BaggedRuleLists(n_estimators=3).fit(X, Y)
    expected = np.zeros((5, 3))
    for rule_list in votes.rule_lists_:
        decided_by = RuleListClassifier.from_rule_list(rule_list).decide(X[:5]).decided_by
        for row, label in np.ndindex(5, 3):
            at = decided_by[row, label]
            if at >= 0:
                place = [a.index for a in rule_list[at].head].index(label)
                right, wrong = rule_list[at].decided[place]
            else:
                wrong, right = rule_list.undecided[label]
            expected[row, label] += (right + 1) / (right + wrong + 2) / 3
    assert votes.votes(X[:5]) == pytest.approx(expected)
    assert (votes.predict(X[:5]) == (expected >= votes.threshold_)).all()


def test_probabilities_are_above_one_half_where_a_label_is_predicted() -> None:
    X, Y = noisy()
    votes = BaggedRuleLists(n_estimators=5).fit(X, Y)
    assert ((votes.predict_proba(X) > 0.5) == votes.predict(X)).all()
    order = np.argsort(votes.votes(X)[:, 0], kind="stable")
    assert (np.diff(votes.predict_proba(X)[order, 0]) >= 0).all()


@pytest.mark.parametrize("scoring", ["micro_f1", "macro_f1", "hamming_accuracy", "subset_accuracy", "example_f1"])
def test_the_threshold_is_the_best_of_the_rows_that_were_not_drawn(scoring: str) -> None:
    votes = BaggedRuleLists(RuleListClassifier(n_rules=10), 4, scoring=scoring).fit(FLAGS)
    known = ~np.isnan(votes.oob_votes_).any(axis=1)
    truth, found = np.asarray(FLAGS.Y)[known], votes.oob_votes_[known]
    scores = [METRICS[scoring](truth, (found >= threshold).astype(int)) for threshold in THRESHOLDS]
    assert votes.oob_score_ == pytest.approx(max(scores))
    assert scores[list(THRESHOLDS).index(votes.threshold_)] == pytest.approx(max(scores))


def test_a_scorer_of_scikit_learn_chooses_the_same_threshold() -> None:
    X, Y = noisy(100)
    ours, theirs = (
        BaggedRuleLists(n_estimators=4, scoring=scoring).fit(X, Y)
        for scoring in ("micro_f1", make_scorer(f1_score, average="micro"))
    )
    assert theirs.threshold_ == ours.threshold_
    assert theirs.oob_score_ == pytest.approx(ours.oob_score_)
    assert BaggedRuleLists(n_estimators=4, scoring="f1_macro").fit(X, Y).oob_score_ > 0.5


def test_rows_are_scored_only_by_lists_that_have_not_seen_them() -> None:
    X, Y = noisy(60)
    votes = BaggedRuleLists(n_estimators=1).fit(X, Y)
    unseen = ~np.isnan(votes.oob_votes_).any(axis=1)
    assert 0.2 < unseen.mean() < 0.55
    assert votes.oob_votes_[unseen] == pytest.approx(votes.votes(X[unseen]))


def test_the_model_depends_on_the_seed_and_not_on_threads() -> None:
    X, Y = noisy()
    one, again, other = (BaggedRuleLists(n_estimators=4, n_jobs=jobs).fit(X, Y) for jobs in (1, 1, 2))
    assert one.rule_lists_ == again.rule_lists_ == other.rule_lists_
    assert one.rule_lists_ != BaggedRuleLists(n_estimators=4, random_state=1).fit(X, Y).rule_lists_
    assert len({rule_list.rules for rule_list in one.rule_lists_}) == 4


def test_lists_are_learned_with_the_estimators_that_are_given_in_turns() -> None:
    X, Y = noisy()
    single = RuleListClassifier(n_rules=2, label_conditions=False)
    assert {len(found) for found in BaggedRuleLists(single, 3).fit(X, Y).rule_lists_} == {2}
    both = BaggedRuleLists([RuleListClassifier(n_rules=1), RuleListClassifier(n_rules=3)], 4).fit(X, Y)
    assert [len(found) for found in both.rule_lists_] == [1, 3, 1, 3]
    reference = clone(single).set_params(engine="reference", max_bins=None)
    native = clone(reference).set_params(engine="native")
    lists = [BaggedRuleLists(one, 2).fit(X[:60], Y[:60]).rule_lists_ for one in (reference, native)]
    assert lists[0] == lists[1]


def test_rows_of_weight_zero_are_not_there() -> None:
    X, Y = noisy(120)
    weights = np.r_[np.ones(100), np.zeros(20)]
    weighted, without = BaggedRuleLists(n_estimators=3), BaggedRuleLists(n_estimators=3)
    weighted.fit(X, Y, weights)
    assert weighted.rule_lists_ == without.fit(X[:100], Y[:100]).rule_lists_
    assert np.isnan(weighted.oob_votes_[100:]).all()


def test_frames_sparse_labels_and_classes_are_taken() -> None:
    X, Y = noisy(100)
    frame = pd.DataFrame(X, columns=list("abcd"))
    votes = BaggedRuleLists(n_estimators=3).fit(frame, pd.DataFrame(Y, columns=["p", "q", "r"]))
    assert list(votes.label_names_) == ["p", "q", "r"]
    assert list(votes.feature_names_in_) == list("abcd")
    assert sp.issparse(BaggedRuleLists(n_estimators=3).fit(X, sp.csr_array(Y)).predict(X))
    classes = BaggedRuleLists(n_estimators=3).fit(X, np.where(Y[:, 0], "yes", "no"))
    assert set(classes.predict(X)) == {"no", "yes"}
    assert classes.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(100))


def test_predictions_come_with_what_the_rows_are_called() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}, index=[7, 5, 3, 1])
    Y = [[1, 0], [1, 0], [0, 1], [0, 1]]
    for classifier in (BaggedRuleLists(n_estimators=3), RuleListClassifier.published()):
        fitted = classifier.fit(X, Y)
        for predict in (fitted.predict, fitted.predict_proba):
            found, ids = predict(X, return_ids=True)
            np.testing.assert_array_equal(found, predict(X))
            assert ids == [7, 5, 3, 1]
        assert fitted.predict(Table([Attribute("a")], [np.zeros(2)]), return_ids=True)[1] == [0, 1]


def test_rules_are_listed_once_with_how_many_lists_hold_them() -> None:
    votes = BaggedRuleLists(n_estimators=8).fit(FLAGS)
    shares = [rule.stability for rule in votes.rules_]
    assert shares == sorted(shares, reverse=True)
    first = votes.rules_[0].to_text()
    holding = sum(any(rule.to_text() == first for rule in found) for found in votes.rule_lists_)
    assert votes.rules_[0].stability >= holding / 8 > 0
    frame = votes.to_frame()
    assert len(frame) == len(votes.rules_) <= sum(map(len, votes.rule_lists_))
    assert list(frame["stability"]) == shares


def test_a_copy_predicts_the_same() -> None:
    X, Y = noisy(100)
    votes = BaggedRuleLists(n_estimators=3).fit(X, Y)
    assert (pickle.loads(pickle.dumps(votes)).predict_proba(X) == votes.predict_proba(X)).all()
    assert clone(BaggedRuleLists([RuleListClassifier(n_rules=3)])).estimator[0].n_rules == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number of at least 1, got 0"),
        ({"estimator": "trees"}, "estimator must be a RuleListClassifier, a list of some, or None"),
        ({"estimator": []}, "estimator must be a RuleListClassifier, a list of some, or None"),
        ({"estimator": RuleListClassifier()}, "needs n_rules as a number or None"),
        ({"random_state": "one"}, "random_state must be"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_is_allowed(parameters: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        BaggedRuleLists(**parameters).fit(*noisy(30))


def test_wrong_data_are_refused() -> None:
    with pytest.raises(DataError, match="X has 20 rows, Y has 30"):
        BaggedRuleLists().fit(noisy(20)[0], noisy(30)[1])
    with pytest.raises(ValueError, match="unknown scoring"):
        BaggedRuleLists(scoring="best").fit(*noisy(20))
    with pytest.raises(NotFittedError):
        BaggedRuleLists().predict(noisy(20)[0])


def test_a_single_row_is_learned_from() -> None:
    votes = BaggedRuleLists(RuleListClassifier(n_rules=3, min_coverage=0, heuristic=FMeasure(1.0)), 2)
    votes.fit([[1.0]], [[1, 0]])
    assert votes.threshold_ == 0.5
    assert np.isnan(votes.oob_score_)
    assert votes.predict([[1.0]]).tolist() == [[1, 0]]


def test_votes_are_stretched_so_that_the_threshold_comes_to_be_one_half() -> None:
    assert _centred(np.array([0.1, 0.2, 0.6]), threshold=0.2).round(3).tolist() == [0.25, 0.5, 0.75]
