"""`RuleListClassifierCV`: the lift is chosen by the paper's protocol."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from plurule.classifier import RuleListClassifier
from plurule.classifier_cv import RuleListClassifierCV
from plurule.data.splitting import IterativeStratifiedKFold
from plurule.datasets import load_world_flags
from plurule.heuristics import HammingAccuracy
from plurule.lifts import KLN, NoLift, Peak, paper_lifts
from plurule.metrics import SCORERS, hamming_accuracy, macro_f1, micro_f1
from plurule.selection.executing import processes
from plurule.selection.journal import Journal, JournalError
from plurule.selection.lengths import LengthCurve
from plurule.selection.search import Searched, height


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


SHORT = RuleListClassifier(heuristic="f_measure", n_rules=4, max_conditions=1)
LIFTS = [NoLift(), KLN(0.1), Peak(3, 1.2)]


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
    search = RuleListClassifierCV(protocol="paper", lifts=[Peak(5, 1.1), KLN(0.1)], cv=2).fit(X, Y)
    assert [c["lift"] for c in search.cv_results_["params"]] == [KLN(0.1)]


@pytest.mark.parametrize(
    ("scoring", "measure"), [("hamming_accuracy", hamming_accuracy), ("micro_f1", micro_f1), ("macro_f1", macro_f1)]
)
def test_the_results_are_those_of_cross_validation_by_hand(flags: Any, scoring: str, measure: Any) -> None:
    X, Y = flags.X, flags.Y
    search = RuleListClassifierCV(SHORT, protocol="paper", lifts=LIFTS, scoring=scoring, cv=3, random_state=7).fit(X, Y)
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
    search = RuleListClassifierCV(SHORT, protocol="paper", lifts=LIFTS, cv=2)
    search.fit(flags)
    refitted = clone(SHORT).set_params(lift=search.best_lift_)
    refitted.fit(flags)
    assert search.rule_list_ == search.best_estimator_.rule_list_ == refitted.rule_list_
    np.testing.assert_array_equal(search.predict(flags.X), refitted.predict(flags.X))
    np.testing.assert_array_equal(search.predict_proba(flags.X), refitted.predict_proba(flags.X))
    assert search.label_names_.tolist() == list(flags.label_names)
    assert SHORT.lift == RuleListClassifier().lift


def ranks(lifts: list[Any], *, score: list[float], ha: list[float], subset: list[float]) -> list[int]:
    columns = {"micro_f1": score, "hamming_accuracy": ha, "subset_accuracy": subset}
    size = np.array([1.0])
    curves = [
        {name: LengthCurve(name, np.array([[values[i]]]), size, rules=size) for name, values in columns.items()}
        for i in range(len(lifts))
    ]
    heights = [height(lift, n_labels=5) for lift in lifts]
    searched = Searched([{"lift": lift} for lift in lifts], curves, "micro_f1", 1, heights=heights)
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
    one = RuleListClassifierCV(SHORT, protocol="paper", lifts=LIFTS, cv=2).fit(flags.X, flags.Y)
    two = RuleListClassifierCV(SHORT, protocol="paper", lifts=LIFTS, cv=2, n_jobs=2).fit(flags.X, flags.Y)
    assert one.best_lift_ == two.best_lift_
    for key, value in one.cv_results_.items():
        np.testing.assert_array_equal(value, two.cv_results_[key])


def test_scorers_and_splitters_of_scikit_learn_work(flags: Any) -> None:
    by_name, ours, given = (
        RuleListClassifierCV(SHORT, protocol="paper", lifts=LIFTS, scoring=scoring, cv=KFold(2)).fit(flags.X, flags.Y)
        for scoring in ("f1_micro", "micro_f1", SCORERS["micro_f1"])
    )
    expected = pytest.approx(ours.cv_results_["mean_test_micro_f1"])
    assert by_name.cv_results_["mean_test_f1_micro"] == expected
    assert given.cv_results_["mean_test_score"] == expected


def test_folds_that_keep_the_share_of_every_label_work(flags: Any) -> None:
    search = RuleListClassifierCV(SHORT, protocol="paper", lifts=LIFTS, cv=IterativeStratifiedKFold(3)).fit(
        flags.X, flags.Y
    )
    assert search.cv_results_["split2_test_hamming_accuracy"].shape == (3,)


def test_a_row_of_weight_zero_does_not_decide_where_others_go(flags: Any) -> None:
    X, Y = flags.X, flags.Y
    weights = np.random.default_rng(0).integers(0, 2, size=len(Y))
    kept = np.flatnonzero(weights)
    weighted = RuleListClassifierCV(SHORT, protocol="paper", lifts=LIFTS, cv=3).fit(X, Y, weights)
    removed = RuleListClassifierCV(SHORT, protocol="paper", lifts=LIFTS, cv=3).fit(X[kept], Y[kept])
    np.testing.assert_allclose(
        weighted.cv_results_["mean_test_hamming_accuracy"], removed.cv_results_["mean_test_hamming_accuracy"]
    )
    assert weighted.rule_list_ == removed.rule_list_


def test_lifts_are_compared_by_whole_lists_and_the_length_is_chosen_once(flags: Any) -> None:
    Y = flags.Y.copy()
    Y[:, 1] = 0
    Y[[3, 40], 1] = 1
    auto = RuleListClassifierCV(RuleListClassifier(), protocol="paper", lifts=LIFTS, cv=2)
    with pytest.warns(UserWarning, match="left out of the choice") as warned:
        auto.fit(flags.X, Y)
    assert len(warned) == 1
    whole = clone(auto).set_params(estimator__n_rules=None).fit(flags.X, Y)
    np.testing.assert_array_equal(auto.cv_results_["mean_rules"], whole.cv_results_["mean_rules"])
    assert auto.best_params_ == whole.best_params_
    assert auto.best_estimator_.n_rules == "auto"
    assert auto.rule_list_ == whole.rule_list_[: len(auto.rule_list_)]
    assert len(auto.rule_list_) < len(whole.rule_list_)


def test_parameters_of_the_classifier_inside_can_be_set() -> None:
    search = RuleListClassifierCV(RuleListClassifier(heuristic=HammingAccuracy()), protocol="paper")
    search.set_params(estimator__n_rules=3, estimator__predict_absence=True)
    assert search.estimator is not None
    assert search.estimator.n_rules == 3
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
        ({"estimator": RuleListClassifier(head_search="single")}, "head_search='single' has no lift to choose"),
        ({"estimator": KFold(2)}, "estimator must be a RuleListClassifier or None, got KFold"),
        ({"cv": 1}, "at least one"),
        ({"cv": 50}, "greater than the number of samples"),
    ],
)
def test_what_cannot_be_searched_is_refused(parameters: dict[str, Any], message: str) -> None:
    X, Y = np.arange(8.0).reshape(-1, 1), np.tile([[1, 0], [0, 1]], (4, 1))
    with pytest.raises(ValueError, match=message):
        RuleListClassifierCV(protocol="paper", **parameters).fit(X, Y)


def test_folds_on_which_a_scorer_is_not_defined_are_left_out_and_said_once(flags: Any) -> None:
    def score(classifier: Any, X: Any, Y: Any) -> float:
        return float("nan") if len(Y) == 65 else float((classifier.predict(X) == Y).mean())

    search = RuleListClassifierCV(protocol="paper", lifts=[NoLift(), KLN(0.3)], scoring=score, cv=3)
    with pytest.warns(UserWarning, match="score is not defined on 1 of 3 parts of .*; they are left out") as warned:
        search.fit(flags.X, flags.Y)
    assert len(warned) == 1
    folds = [search.cv_results_[f"split{fold}_test_score"][search.best_index_] for fold in range(3)]
    assert search.best_score_ == pytest.approx(np.nanmean(folds))


def test_a_target_of_two_classes_is_split_evenly() -> None:
    X = np.arange(20.0).reshape(-1, 1)
    y = np.array(["a"] * 15 + ["b"] * 5)
    search = RuleListClassifierCV(protocol="paper", lifts=[NoLift()], cv=5).fit(X, y)
    assert search.classes_.tolist() == ["a", "b"]
    assert set(search.predict(X)) <= {"a", "b"}


def test_a_search_of_lifts_tells_how_far_it_is(flags: Any) -> None:
    told: list[tuple[int, int]] = []
    search = RuleListClassifierCV(
        SHORT, protocol="paper", lifts=LIFTS, cv=2, n_jobs=2, verbose=lambda *counts: told.append(counts)
    )
    search.fit(flags)
    assert told == [(done, 3) for done in range(4)]


@pytest.fixture(scope="module")
def pool() -> Iterator[Any]:
    """Processes, which take longest to start."""
    with processes(2) as pool:
        yield pool


@pytest.mark.parametrize("protocol", ["paper", "wide"])
def test_a_search_goes_on_from_its_journal_on_any_executor(
    flags: Any, protocol: Any, pool: Any, tmp_path: Path
) -> None:
    def search(executor: Any = None, journal: Any = None, **parameters: Any) -> RuleListClassifierCV:
        given: dict[str, Any] = {"protocol": protocol, "lifts": LIFTS, "cv": 2} | parameters
        return RuleListClassifierCV(SHORT, **given).fit(flags, executor=executor, journal=journal)

    alone = search()
    with Journal(tmp_path / "j.jsonl") as journal:
        search(journal=journal)
        total = len(journal.results)
    lines = (tmp_path / "j.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "j.jsonl").write_bytes(b"".join(lines[:7]))
    with Journal(tmp_path / "j.jsonl") as journal:
        assert len(journal.results) == 3
        resumed = search(pool, journal)
        assert len(journal.results) == total
    assert resumed.rule_list_ == alone.rule_list_
    for key, value in alone.cv_results_.items():
        np.testing.assert_array_equal(value, resumed.cv_results_[key])
    changes = ({"cv": 3}, {"scoring": "macro_f1"}, {"lifts": LIFTS[1:]})
    for change, what in zip(changes, ("folds", "candidates", "candidates"), strict=True):
        with Journal(tmp_path / "j.jsonl") as journal, pytest.raises(JournalError, match=f"the {what} have changed"):
            search(journal=journal, **change)
    with Journal(tmp_path / "j.jsonl") as journal, pytest.raises(JournalError, match="the data have changed"):
        RuleListClassifierCV(SHORT, protocol=protocol, cv=2).fit(flags[1:], journal=journal)


@pytest.mark.parametrize("protocol", ["paper", "wide"])
def test_a_search_warns_once_not_once_per_candidate(flags: Any, protocol: Any) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        RuleListClassifierCV(RuleListClassifier(min_coverage=1000), protocol=protocol, cv=2).fit(flags)
    assert ["no rule can cover as much" in str(one.message) for one in said] == [True]
