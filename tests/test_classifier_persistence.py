"""A model survives pickle, joblib, clone and the model file with identical predictions."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from plurule.classifier import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.errors import DataError
from plurule.heuristics import HammingAccuracy
from plurule.lifts import KLN, NoLift, Peak
from plurule.model import Assignment, Attribute, Head, RangeCondition, Rule, RuleList
from plurule.model import file as model_file
from plurule.relaxed_pruning import RelaxedPruningClassifier, RelaxedPruningClassifierCV

FLAGS = load_world_flags()
SHORT: dict[str, Any] = {"max_rules": 6, "max_conditions": 2}

MODELS = {
    "presence": RuleListClassifier(**SHORT),
    "absence": RelaxedPruningClassifier(predict_absence=True, heuristic=HammingAccuracy(), lift=Peak(3, 1.1), **SHORT),
    "chosen lift": RelaxedPruningClassifierCV(RelaxedPruningClassifier(**SHORT), lifts=[NoLift(), KLN(0.2)], cv=2),
}


@pytest.fixture(params=MODELS)
def fitted(request: pytest.FixtureRequest) -> Any:
    model = clone(MODELS[request.param])
    return model.fit(FLAGS)


def assert_same(one: Any, other: Any) -> None:
    assert other.rule_list_ == one.rule_list_
    assert other.label_names_.tolist() == one.label_names_.tolist()
    np.testing.assert_array_equal(other.predict(FLAGS.X), one.predict(FLAGS.X))
    np.testing.assert_array_equal(other.predict_proba(FLAGS.X), one.predict_proba(FLAGS.X))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_model_survives_pickle(fitted: Any, protocol: int) -> None:
    assert_same(fitted, pickle.loads(pickle.dumps(fitted, protocol)))


def test_a_model_survives_joblib(fitted: Any, tmp_path: Path) -> None:
    joblib.dump(fitted, tmp_path / "model.joblib", compress=3)
    assert_same(fitted, joblib.load(tmp_path / "model.joblib"))


def test_a_model_survives_the_model_file(fitted: Any, tmp_path: Path) -> None:
    model_file.save(fitted.rule_list_, tmp_path / "model.json")
    assert_same(fitted, RuleListClassifier.from_rule_list(model_file.load(tmp_path / "model.json")))


def test_save_and_load_keep_the_predictions(fitted: Any, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model.json")
    for kind in (RuleListClassifier, RelaxedPruningClassifier):
        assert_same(fitted, kind.load(tmp_path / "model.json"))
    assert RuleList.load(tmp_path / "model.json") == fitted.rule_list_
    with pytest.raises(NotFittedError):
        RuleListClassifier().save(tmp_path / "other.json")


def test_a_clone_trained_again_is_the_same_model(fitted: Any) -> None:
    again = clone(fitted).fit(FLAGS)
    assert_same(fitted, again)


def test_a_rule_list_alone_predicts_as_the_model_it_came_from(fitted: Any) -> None:
    again = RuleListClassifier.from_rule_list(pickle.loads(pickle.dumps(fitted.rule_list_)))
    assert_same(fitted, again)


def test_rules_and_rule_lists_can_be_compared_and_hashed(fitted: Any) -> None:
    copy = pickle.loads(pickle.dumps(fitted.rule_list_))
    assert hash(copy) == hash(fitted.rule_list_)
    assert len({*copy, *fitted.rule_list_}) == len(set(fitted.rule_list_))


def test_classes_and_sparse_labels_are_remembered() -> None:
    X = np.array([[1.0], [2.0], [3.0]])
    two_classes = pickle.loads(pickle.dumps(RelaxedPruningClassifier().fit(X, ["no", "yes", "yes"])))
    assert two_classes.predict(X).tolist() == ["no", "yes", "yes"]
    sparse = pickle.loads(pickle.dumps(RelaxedPruningClassifier().fit(X, sp.csr_array([[0], [1], [1]]))))
    assert sp.issparse(sparse.predict(X))


def test_a_given_rule_list_asks_a_frame_only_for_what_rules_test() -> None:
    pd = pytest.importorskip("pandas")
    rule = Rule(Head((Assignment("red", 0, True),)), (RangeCondition("area", 0, above=2.0),))
    rule_list = RuleList((rule,), (Attribute("area"), Attribute("name", ("x", "y"))), ("red",))
    given = RuleListClassifier.from_rule_list(rule_list)
    frame = pd.DataFrame({"other": ["?", "!"], "area": [1.0, 3.0]}, index=["a", "b"])
    with pytest.warns(UserWarning, match="the data lack 1 of the model's columns, which no rule tests"):
        labels = given.predict(frame)
    assert labels.tolist() == [[0], [1]]
    with pytest.raises(DataError, match="lack 1 of the columns the model was trained on: 'area'"):
        given.predict(frame[["other"]])
    # Once it is fitted, frames are asked for all columns, as scikit-learn asks for them.
    given.fit(pd.DataFrame({"area": [1.0, 3.0], "name": [1.0, 2.0]}), [[0], [1]])
    with pytest.raises(ValueError, match="feature names should match"):
        given.predict(frame)
