"""Rules as features of a scikit-learn pipeline."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from helpers.rule_lists import make_rules, random_rule_list
from plurule.classifier import RuleListClassifier
from plurule.export.activation import RuleActivations
from plurule.inspection import explain
from plurule.prediction.decide import decide


@pytest.mark.parametrize("seed", range(6))
def test_the_active_rules_are_those_that_decide(seed: int) -> None:
    rule_list, table = random_rule_list(seed)
    active = RuleActivations(rule_list, active="decides").fit(table).transform(table)
    for row, explanation in zip(active, explain(rule_list, table), strict=True):
        assert tuple(np.flatnonzero(row) + 1) == explanation.fired


@pytest.mark.parametrize("seed", range(6))
def test_predictions_can_be_read_off_the_active_rules(seed: int) -> None:
    rule_list, table = random_rule_list(seed)
    active = RuleActivations(rule_list).fit(table).transform(table)
    for row, labels in zip(active, decide(rule_list, table).labels(), strict=True):
        said: dict[int, bool] = {}
        for position in np.flatnonzero(row):
            for assignment in rule_list[int(position)].head:
                said.setdefault(assignment.index, assignment.present)
        assert [said.get(label, False) for label in range(len(labels))] == labels.astype(bool).tolist()


def test_a_sparse_matrix_holds_the_same() -> None:
    rule_list, table = random_rule_list(1)
    dense = RuleActivations(rule_list).fit_transform(table)
    sparse = RuleActivations(rule_list, sparse_output=True).fit_transform(table)
    assert sp.issparse(sparse)
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_in_a_pipeline_the_rules_are_learned_first() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    Y = np.stack([X[:, 0] > 0, (X[:, 1] > 0) & (X[:, 2] > 0)], axis=1).astype(int)
    pipeline = make_pipeline(
        RuleActivations(RuleListClassifier(heuristic="f_measure", n_rules=5)),
        MultiOutputClassifier(LogisticRegression()),
    )
    pipeline.fit(X, Y)
    assert (pipeline.predict(X) == Y).mean() > 0.9
    assert clone(pipeline).get_params()["ruleactivations__rules__n_rules"] == 5
    names = pipeline[0].get_feature_names_out()
    assert len(names) == pipeline[0].transform(X).shape[1] == len(pipeline[0].rule_list_)


def test_frames_come_out_with_the_rules_as_names() -> None:
    rule_list = make_rules("red <- x > 2\nblue <-", {"x": None}, ("red", "blue"))
    frame = RuleActivations(rule_list).set_output(transform="pandas").fit_transform([[1.0], [3.0]])
    assert frame.columns.tolist() == ["1: red ← x > 2", "2: blue ←"]
    assert frame.to_numpy().tolist() == [[0, 1], [1, 1]]


def test_a_list_without_rules_gives_no_features() -> None:
    rule_list = make_rules("", {"x": None}, ("red",))
    assert RuleActivations(rule_list).fit_transform([[1.0], [2.0]]).shape == (2, 0)
    assert RuleActivations(rule_list, sparse_output=True).fit_transform([[1.0]]).shape == (1, 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_finds_nothing_wrong() -> None:
    check_estimator(RuleActivations(RuleListClassifier(heuristic="f_measure", n_rules=3)))


def test_wrong_use_is_said() -> None:
    rule_list = make_rules("red <-", {"x": None}, ("red",))
    with pytest.raises(NotFittedError):
        RuleActivations(rule_list).transform([[1.0]])
    with pytest.raises(ValueError, match="active must be 'covers' or 'decides', got 'fires'"):
        RuleActivations(rule_list, active="fires").fit([[1.0]])  # type: ignore[arg-type]
