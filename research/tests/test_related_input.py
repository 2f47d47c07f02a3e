"""What the related learners are given: attributes and labels in all forms, parameters, wrapped classifiers."""

from __future__ import annotations

import sys
import time
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from plurule import Dataset, PluruleError, RelaxedPruningClassifier
from plurule.datasets import load_world_flags
from research.compare.baselines import TunedForest
from research.processes import run
from research.related import (
    AssociationRules,
    BinaryRelevanceRules,
    Boomer,
    DecisionSets,
    EvolvedRules,
    LabelConstraints,
    LabelInference,
    SeCo,
    StackedRules,
)
from research.related.columns import read_columns
from research.related.inference import choose_inferred, mine_label_rules
from research.related.peers import peer_python

SHORT = RelaxedPruningClassifier(max_rules=4)
NEEDS_PEER = pytest.mark.skipif(peer_python() is None, reason="there is no environment with mlrl: make quality")
LEARNERS = [
    BinaryRelevanceRules(SHORT),
    StackedRules(SHORT, cv=2),
    LabelConstraints(SHORT),
    LabelInference(SHORT),
    AssociationRules(),
    DecisionSets(),
    EvolvedRules(population=16, generations=5),
    pytest.param(SeCo(), marks=NEEDS_PEER),
    pytest.param(Boomer({"max_rules": 50}), marks=NEEDS_PEER),
]
every_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)


@pytest.fixture
def data() -> Dataset:
    return load_world_flags()


# Attributes -----------------------------------------------------------------------------------------------------------


def frame_of_all_types() -> tuple[pd.DataFrame, pd.DataFrame]:
    place = np.arange(80)
    frame = pd.DataFrame(
        {
            "coast": place % 2 == 0,
            "islands": pd.array([None if i % 20 == 0 else i % 4 < 2 for i in place], dtype="boolean"),
            "founded": pd.date_range("1900-01-01", periods=80, freq="YS"),
            "area": place % 7,
        }
    )
    return frame, pd.DataFrame({"red": frame["coast"], "blue": place > 40, "green": place % 4 < 2}).astype(int)


@every_learner
@pytest.mark.filterwarnings("ignore")
def test_booleans_and_dates_are_learned_from_and_predicted(learner: Any) -> None:
    frame, Y = frame_of_all_types()
    predicted = clone(learner).fit(frame, Y).predict(frame)
    assert (predicted == Y.to_numpy()).mean() > 0.75


def test_columns_are_read_as_plurule_reads_them() -> None:
    frame, Y = frame_of_all_types()
    expected = RelaxedPruningClassifier().fit(frame, Y).rule_list_.attributes
    columns = read_columns(frame)
    assert columns.attributes == expected
    assert [attribute.kind for attribute in columns.attributes] == ["nominal", "nominal", "date", "numeric"]
    assert np.all(np.diff(columns.values[2]) > 0)


def test_rules_write_dates_as_dates() -> None:
    learner = AssociationRules().fit(*frame_of_all_types())
    assert "founded > 1963-07-02" in str(learner.rule_list_)


@NEEDS_PEER
def test_categories_of_fewer_rows_are_those_of_training() -> None:
    frame = pd.DataFrame({"kind": ["a", "b", "c", "d"] * 10, "area": np.arange(40) % 3})
    Y = pd.DataFrame({"red": frame["kind"].isin(["b", "d"]), "blue": frame["kind"] == "c"}).astype(int)
    learner = SeCo().fit(frame, Y)
    rows = frame["kind"].isin(["c", "d"])
    assert np.array_equal(learner.predict(frame[rows]), learner.predict(frame)[rows])


def test_a_data_set_is_learned_from_and_predicted(data: Dataset) -> None:
    learner = AssociationRules().fit(data)
    expected = AssociationRules().fit(data.X, data.Y)
    assert learner.label_names_ == data.label_names
    assert np.array_equal(learner.predict(data), expected.predict(data.X))


def test_a_data_set_beside_labels_and_one_with_weights_are_refused(data: Dataset) -> None:
    with pytest.raises(PluruleError, match=r"give data\.X and data\.Y"):
        AssociationRules().fit(data, data.Y)
    with pytest.raises(PluruleError, match=r"give its labels, data\.Y"):
        AssociationRules().fit(data.X, data)
    weighted = Dataset(data.X, data.Y, data.label_names, weights=np.arange(len(data)))
    with pytest.raises(PluruleError, match="AssociationRules takes no weights"):
        AssociationRules().fit(weighted)


# Labels ---------------------------------------------------------------------------------------------------------------

X = np.tile([[0.0], [1.0]], (10, 1))
MATRIX = np.tile([[0, 1], [1, 0]], (10, 1))


@pytest.mark.parametrize("form", [list, set, tuple, np.array])
def test_label_sets_are_learned_and_predicted(form: Any) -> None:
    y = [form(labels) for labels in (["a", "b"], ["c"])] * 10
    learner = AssociationRules().fit(X, y)
    assert learner.label_names_ == ("a", "b", "c")
    assert learner.predict(X[:2]) == [("a", "b"), ("c",)]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (2 * MATRIX - 1, r"label 'y0', row 0: Y contains -1, expected 0 or 1; for labels of -1 and 1 give \(Y > 0\)"),
        (pd.DataFrame(MATRIX * [1, 3], columns=["red", "blue"]), "label 'blue', row 0: Y contains 3, expected 0 or 1"),
        (MATRIX[:, :0], "Y holds no labels; give one column per label"),
        ([set()] * 20, "Y holds no labels; give one column per label"),
        (MATRIX[:, :, None], "Y must be a matrix of instances × labels"),
        (pd.DataFrame(MATRIX, columns=["red", "red"]), "Y has several labels named 'red'"),
    ],
)
def test_labels_that_cannot_be_used_are_explained(y: Any, message: str) -> None:
    with pytest.raises(PluruleError, match=message):
        AssociationRules().fit(X, y)


@pytest.mark.parametrize("form", [pd.DataFrame, lambda columns: pd.Series(columns["red"], name="red")])
def test_the_name_of_a_single_label_is_kept(form: Any) -> None:
    learner = AssociationRules().fit(X, form({"red": MATRIX[:, 0]}))
    assert learner.label_names_ == ("red",)
    assert AssociationRules().fit(X, MATRIX[:, 0]).label_names_ == ("y",)
    assert np.array_equal(learner.predict(X), MATRIX[:, 0])


def test_frames_of_polars_hold_labels() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"red": MATRIX[:, 0], "blue": MATRIX[:, 1]})
    for labels in (frame, frame.lazy()):
        assert AssociationRules().fit(X, labels).label_names_ == ("red", "blue")


def test_classes_of_a_column_are_predicted() -> None:
    y = np.array(["ham", "spam"] * 10)
    assert np.array_equal(AssociationRules().fit(X, y).predict(X), y)


# Parameters -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (DecisionSets(weights=list("abcdefg")), "weights"),
        (DecisionSets(weights=(np.nan,) * 7), "weights"),
        (DecisionSets(weights=(np.inf,) * 7), "weights"),
        (DecisionSets(random_state="a"), "random_state"),
        (EvolvedRules(random_state="a"), "random_state"),
        (EvolvedRules(random_state=-1), "random_state"),
        (EvolvedRules(multi_label_heads="no"), "multi_label_heads"),
        (LabelConstraints(soft="no"), "soft"),
        (SeCo("partial"), "parameters"),
        (SeCo({"head_type": object()}, python="python"), "parameters must hold texts and numbers"),
        (SeCo(python=3), "python"),
        (Boomer(limit=-1), "limit"),
        (Boomer(limit="a"), "limit"),
        (Boomer(limit=np.inf), "limit"),
        (Boomer(tuned="no"), "tuned"),
    ],
)
def test_a_parameter_of_no_meaning_is_refused_by_name(learner: Any, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        learner.fit(X, MATRIX)


def test_a_python_that_is_not_there_is_named() -> None:
    with pytest.raises(PluruleError, match=r"SeCo: /nowhere/python cannot be run \(No such file or directory\)"):
        SeCo(python="/nowhere/python").fit(X, MATRIX)


@NEEDS_PEER
def test_what_mlrl_complains_about_is_said_without_its_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PluruleError, match=r"SeCo: .*ValidationError: .*head_type.*nope"):
        SeCo({"head_type": "nope"}).fit(np.hstack([X, X]), MATRIX)
    assert capfd.readouterr().err == ""


def test_a_command_that_fails_is_reported_with_its_last_line(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(PluruleError, match=r"ValueError: no such rule \(exit code 1 of"):
        run([sys.executable, "-c", "raise ValueError('no such rule')"])
    assert run([sys.executable, "-c", "import sys; print('slow', file=sys.stderr); print('{}')"]) == {}
    assert capfd.readouterr().err == "slow\n"


# One label, and labels that do not vary -------------------------------------------------------------------------------

PEERS = [SeCo(), Boomer({"max_rules": 20}), Boomer({"max_rules": 20}, tuned=True)]


@NEEDS_PEER
@pytest.mark.parametrize("learner", PEERS)
def test_adapters_predict_a_single_label(learner: Any) -> None:
    numbers = np.random.default_rng(0).random((90, 3))
    y = (numbers[:, 0] > 0.5).astype(int)
    predicted = learner.fit(numbers, y).predict(numbers)
    assert predicted.shape == (90,)
    assert (predicted == y).mean() > 0.9


@NEEDS_PEER
@pytest.mark.parametrize("learner", PEERS)
@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("n_labels", [1, 2])
def test_adapters_predict_labels_that_do_not_vary(learner: Any, value: int, n_labels: int) -> None:
    numbers = np.random.default_rng(0).random((30, 3))
    Y = np.full((30, n_labels), value)
    assert np.array_equal(learner.fit(numbers, Y).predict(numbers[:5]), Y[:5] if n_labels > 1 else Y[:5, 0])
    assert learner.n_rules_ == 0


@NEEDS_PEER
def test_a_fold_whose_labels_do_not_vary_does_not_keep_boomer_from_its_threshold() -> None:
    numbers = np.random.default_rng(0).random((30, 3))
    Y = np.zeros((30, 2), dtype=int)
    Y[7] = 1
    assert Boomer({"max_rules": 5}, tuned=True).fit(numbers, Y).predict(numbers).shape == (30, 2)


@pytest.mark.parametrize("constant", [[], [0], [1], [0, 1]])
def test_the_tuned_forest_learns_one_label_that_varies(constant: list[int]) -> None:
    numbers = np.random.default_rng(0).random((60, 3))
    varying = (numbers[:, :1] > 0.5).astype(int)
    Y = np.hstack([varying, np.tile(constant, (60, 1)).astype(int)])
    predicted = TunedForest().fit(numbers, Y).predict(numbers)
    assert predicted.shape == Y.shape
    assert (predicted == Y).mean() > 0.9


def test_the_tuned_forest_predicts_labels_that_do_not_vary() -> None:
    Y = np.tile([0, 1, 1], (20, 1))
    assert np.array_equal(TunedForest().fit(X, Y).predict(X), Y)


# Wrapped classifiers --------------------------------------------------------------------------------------------------


def matrix_classifiers() -> list[Any]:
    tree = DecisionTreeClassifier(random_state=0)
    return [MultiOutputClassifier(tree), ClassifierChain(tree), make_pipeline(StandardScaler(), ClassifierChain(tree))]


@pytest.mark.parametrize("estimator", matrix_classifiers())
def test_a_classifier_that_wants_a_matrix_learns_the_one_label_that_is_not_inferred(estimator: Any) -> None:
    numbers = np.arange(40.0)[:, None]
    Y = np.repeat(numbers < 15, 2, axis=1).astype(int)
    learner = LabelInference(estimator).fit(numbers, Y)
    assert len(learner.trained_) == 1
    assert np.array_equal(learner.predict(numbers), Y)


@pytest.mark.parametrize("estimator", [*matrix_classifiers(), DecisionTreeClassifier()])
@pytest.mark.parametrize("soft", [False, True])
def test_the_predictions_for_one_label_of_any_classifier_are_repaired(estimator: Any, soft: bool) -> None:
    numbers = np.arange(40.0)[:, None]
    y = np.arange(40) // 15 % 2
    assert np.array_equal(LabelConstraints(estimator, soft=soft).fit(numbers, y).predict(numbers), y)


def test_what_a_classifier_refuses_in_either_form_is_said_as_for_a_column() -> None:
    with pytest.raises(ValueError, match="max_depth"):
        LabelConstraints(DecisionTreeClassifier(max_depth=-1)).fit(X, MATRIX[:, 0])


@pytest.mark.parametrize("learner", [BinaryRelevanceRules, StackedRules])
def test_a_classifier_without_rules_is_refused_where_rules_are_needed(learner: Any) -> None:
    with pytest.raises(PluruleError, match=r"estimator must learn a rule list, .*; DecisionTreeClassifier\(\) "):
        learner(DecisionTreeClassifier()).fit(X, MATRIX)


# Implications among labels --------------------------------------------------------------------------------------------


def label_rules_by_definition(Y: Any, min_support: float, min_confidence: float, longest: int) -> list[Any]:
    rules: list[Any] = []
    for size in range(1, longest + 1):
        for premise in combinations(range(Y.shape[1]), size):
            covered = Y[:, premise].all(axis=1)
            for label in set(range(Y.shape[1])) - set(premise):
                support = int(Y[covered, label].sum())
                needed = max(min_support, min_confidence * covered.sum() - 1e-9)
                has_shorter = any(set(other) < set(premise) and conclusion == label for other, conclusion, *_ in rules)
                if covered.any() and support >= needed and not has_shorter:
                    rules.append((premise, label, support / covered.sum(), support))
    return sorted(rules, key=lambda rule: (-rule[2], -rule[3], len(rule[0])))


@pytest.mark.parametrize("seed", range(30))
def test_label_rules_are_those_of_their_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    Y = (random.random((30, 6)) < random.random(6)).astype(np.int8)
    min_support = float(random.choice([0, 0.5, 1, 3]))
    settings = min_support, float(random.choice([0.0, 0.3, 0.6, 1.0])), int(random.integers(1, 6))
    found = [(rule.premise, rule.conclusion, rule.confidence, rule.support) for rule in mine_label_rules(Y, *settings)]
    assert found == label_rules_by_definition(Y, *settings)


def test_long_premises_among_many_labels_are_mined_in_seconds() -> None:
    Y = (np.random.default_rng(0).random((60, 25)) < 0.4).astype(np.int8)
    start = time.process_time()
    assert choose_inferred(mine_label_rules(Y, 1, 0.8, 6), Y, 0.5)
    assert time.process_time() - start < 30


def test_premises_that_are_too_many_are_refused_with_what_to_set() -> None:
    Y = np.random.default_rng(0).random((60, 25)) < 0.5
    with pytest.raises(PluruleError, match=r"more than 1000 premises .* allow more max_sets"):
        LabelInference(max_premise=6, min_support=1, max_sets=1000).fit(np.zeros((60, 1)), Y)
