"""ONNX models, run by onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from skl2onnx import convert_sklearn
from skl2onnx import to_onnx as convert
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from helpers.engines import evaluate_onnx
from helpers.rule_lists import DATA_SETS, HOSTILE_NAMES, learned, learned_classes, make_rules, random_rule_list
from plurule import RelaxedPruningClassifier
from plurule._prediction.apply import decide, probabilities
from plurule.data.dataset import Table
from plurule.data.inputs import encode
from plurule.errors import ModelError
from plurule.export.onnx import to_onnx
from plurule.model import Attribute, RuleList


def assert_same(rule_list: RuleList, table: Table) -> None:
    labels, shares, numbers = evaluate_onnx(rule_list, table)
    decisions = decide(rule_list, table)
    np.testing.assert_array_equal(labels, decisions.labels())
    np.testing.assert_array_equal(shares, probabilities(rule_list, decisions))
    np.testing.assert_array_equal(numbers, decisions.decided_by + 1)


@pytest.mark.parametrize("seed", range(12))
def test_onnx_gives_labels_probabilities_and_rules_of_random_lists(seed: int) -> None:
    assert_same(*random_rule_list(seed, HOSTILE_NAMES if seed % 2 else None))


@pytest.mark.parametrize("name", DATA_SETS)
def test_onnx_gives_labels_probabilities_and_rules_of_real_data(shared_data: Path, name: str) -> None:
    rule_list, test = learned(shared_data, name)
    assert_same(rule_list, encode(test.X, rule_list.attributes))


@pytest.mark.parametrize("seed", range(2))
def test_onnx_keeps_to_groups_and_hierarchy(seed: int) -> None:
    assert_same(*learned_classes(seed))


def test_onnx_needs_an_input_to_count_rows() -> None:
    always = make_rules("a <-\n¬b <-", {"x": None}, ("a", "b"))
    assert_same(always, Table(always.attributes, [np.array([1.0, np.nan])]))
    with pytest.raises(ModelError, match="no input says how many rows"):
        to_onnx(RuleList((), (), ("red",)))


def test_onnx_refuses_an_attribute_without_a_name() -> None:
    with pytest.raises(ModelError, match="ONNX allows no input named ''"):
        to_onnx(RuleList((), (Attribute(""),), ("red",)))


def test_onnx_renames_outputs_that_an_attribute_is_called() -> None:
    rule_list = make_rules("red <- labels > 1", {"labels": None}, ("red",))
    assert_same(rule_list, Table(rule_list.attributes, [np.array([0.0, 2.0])]))
    outputs = [output.name for output in onnx.load_from_string(to_onnx(rule_list)).graph.output]
    assert outputs == ["labels_", "probabilities_", "rules_"]


# Pipelines -----------------------------------------------------------------------------------------------------------


def assert_converted(model: Any, given: Any, X: Any, inputs: dict[str, Any]) -> None:
    onnx.checker.check_model(given)
    session = onnxruntime.InferenceSession(given.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, shares, rules = session.run(["label", "probabilities", "rules"], inputs)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    assert rules.max() > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_skl2onnx_converts_a_pipeline_with_a_scaler(dtype: Any) -> None:
    X, Y = make_multilabel_classification(200, 6, n_classes=4, random_state=0)
    X = X.astype(dtype)
    pipeline = make_pipeline(StandardScaler(), RelaxedPruningClassifier(max_rules=10)).fit(X, Y)
    assert_converted(pipeline, convert(pipeline, X[:1]), X, {"X": X})


@pytest.mark.parametrize("classes", [np.arange(3), np.array(["a", "b", "c"]), np.array([0, 1, 1]), np.array([*"nyn"])])
def test_skl2onnx_gives_classes_where_the_target_has_them(classes: Any) -> None:
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), RelaxedPruningClassifier(max_rules=10)).fit(X, classes[y])
    assert_converted(pipeline, convert(pipeline, X[:1]), X, {"X": X})


@pytest.fixture
def mixed() -> tuple[pd.DataFrame, Any]:
    frame = pd.DataFrame({"n": [1.0, 2, 3, 4, 5, 6] * 20, "c": ["a", "b", "c", "a", "b", "d"] * 20})
    return frame, np.c_[frame.n > 3, frame.c == "a", (frame.n > 3) & (frame.c == "b")].astype(int)


TYPES = [("n", DoubleTensorType([None, 1])), ("c", StringTensorType([None, 1]))]


def test_skl2onnx_converts_a_pipeline_with_an_encoder(mixed: tuple[pd.DataFrame, Any]) -> None:
    frame, Y = mixed
    columns = ColumnTransformer([("n", StandardScaler(), ["n"]), ("c", OneHotEncoder(sparse_output=False), ["c"])])
    pipeline = make_pipeline(columns, RelaxedPruningClassifier()).fit(frame, Y)
    inputs = {"n": frame[["n"]].to_numpy(), "c": frame[["c"]].to_numpy()}
    assert_converted(pipeline, convert_sklearn(pipeline, initial_types=TYPES), frame, inputs)


def test_skl2onnx_converts_a_classifier_of_nominal_attributes(mixed: tuple[pd.DataFrame, Any]) -> None:
    frame, Y = mixed
    classifier = RelaxedPruningClassifier().fit(frame, Y)
    inputs = {"n": frame[["n"]].to_numpy(), "c": frame[["c"]].to_numpy()}
    assert_converted(classifier, convert_sklearn(classifier, initial_types=TYPES), frame, inputs)


def test_skl2onnx_refuses_inputs_of_another_kind(mixed: tuple[pd.DataFrame, Any]) -> None:
    classifier = RelaxedPruningClassifier().fit(*mixed)
    numbers = [("n", FloatTensorType([None, 1])), ("c", FloatTensorType([None, 1]))]
    with pytest.raises(ModelError, match="the attribute 'c' takes strings, but 'c' holds others"):
        convert_sklearn(classifier, initial_types=numbers)
