"""Bad input is refused before any training, with a message that says what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from plurule import RelaxedPruningClassifier
from plurule._learning.problem import check_constraints
from plurule.classifier import RuleListClassifier
from plurule.data.dataset import Table
from plurule.errors import DataError, ParameterError
from plurule.heuristics import (
    FMeasure,
    Gain,
    HammingAccuracy,
    Heuristic,
    Laplace,
    MEstimate,
    Precision,
    SubsetAccuracy,
    WeightedRelativeAccuracy,
)
from plurule.lifts import KLN, Peak
from plurule.model import Attribute

X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]])
Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])


@pytest.fixture(autouse=True)
def _no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("training was started")

    monkeypatch.setattr("plurule._learning.native.learn_list", refuse)


def refused(message: str, X: Any = X, Y: Any = Y, weight: Any = None, **parameters: Any) -> None:
    with pytest.raises(ValueError, match=message):
        RelaxedPruningClassifier(**parameters).fit(X, Y, weight)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([[1, 0], [1, 0], [0, 3], [0, 1]]), "label 'y1', row 2: Y contains 3, expected 0 or 1"),
        (np.where(Y == 1, 1, -1), r"label 'y1', row 0: Y contains -1, expected 0 or 1; for labels .* give \(Y > 0\)"),
        (np.where(Y == 1, np.nan, 0.0), "label 'y0', row 0: Y contains NaN, expected 0 or 1; leave out rows"),
        (np.where(Y == 1, np.inf, 0.0), "label 'y0', row 0: Y contains infinity"),
        (Y + 0.5, "label 'y0', row 0: Y contains 1.5, expected 0 or 1"),
        (Y.astype(object) * 2, "label 'y0', row 0: Y contains 2, expected 0 or 1"),
        (Y.astype(complex), "Y must hold 0 and 1 only, got values of type complex"),
        (sp.csr_array(Y * 2), "label 'y0', row 0: Y contains 2, expected 0 or 1"),
        (Y[:, :0], "Y holds no labels"),
        (Y[:0], "Y holds no rows"),
        (Y[:3], "X has 4 rows, Y has 3"),
        (Y.reshape(4, 1, 2), r"Y must be a matrix of instances × labels, got an array of shape \(4, 1, 2\)"),
        ([0.1, 0.2, 0.3, 0.4], "Unknown label type: continuous"),
        ([0, 1, np.nan, 1], "row 2: y contains NaN"),
        (["a", "b", None, "a"], r"row 2: y contains a missing value \(NaN\)"),
        ([], "y holds no rows"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_are_not_0_and_1_are_refused(labels: Any, message: str) -> None:
    refused(message, Y=labels)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_labels_is_refused_by_the_name_of_the_column(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame
    refused("label 'blue', row 1: Y contains 7", Y=frame({"red": [0, 1, 0, 1], "blue": [0, 7, 0, 1]}))
    refused("label 'blue', row 1: Y contains NaN", Y=frame({"red": [0, 1, 0, 1], "blue": [0.0, np.nan, 0.0, 1.0]}))
    refused("label 'blue', row 1: Y contains", Y=frame({"red": [0, 1, 0, 1], "blue": [0, None, 0, 1]}))
    refused("label 'blue', row 0: Y contains 'no'", Y=frame({"red": [0, 1, 0, 1], "blue": ["no", "no", "yes", None]}))
    attributes = frame({"area": [1, 2, 3, 4], "red": [1, 2, 3, 4]})
    refused("a column of X and a label are both named 'red'", attributes, frame({"red": [0, 1, 0, 1]}))


def test_duplicate_names_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    refused("Y has several labels named 'red'", Y=pd.DataFrame(Y, columns=["red", "red"]))
    refused("several columns named 'area'", pd.DataFrame(X, columns=["area", "area"]))
    with pytest.raises(DataError, match="two labels are named 'red'"):
        RuleListClassifier().fit(X, Y, label_names=["red", "red"])
    with pytest.raises(DataError, match="label_names holds 3 names, but Y has 2 labels"):
        RuleListClassifier().fit(X, Y, label_names=["red", "blue", "green"])


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (X[:0], "X holds no rows"),
        (X[:, :0], r"0 feature\(s\) \(shape=\(4, 0\)\)"),
        (np.where(X == 7, np.inf, X), "column 'x1', row 2: .*infinity"),
        (X[:, 0], "X must be two-dimensional"),
        (X.astype(complex), "column 'x0': Complex data not supported"),
        (Table([], [], 4), r"0 feature\(s\)"),
    ],
)
def test_attributes_that_cannot_be_learned_from_are_refused(attributes: Any, message: str) -> None:
    refused(message, attributes)


def test_an_infinite_value_is_refused_by_the_name_of_its_column() -> None:
    pd = pytest.importorskip("pandas")
    refused("column 'area', row 1: .*infinity", pd.DataFrame({"area": [1, -np.inf, 2, 3]}))
    refused("column 'x1'.*infinity", sp.csr_array(np.where(X == 7, np.inf, X)))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2, 3], r"sample_weight has shape \(3,\), expected one weight for each of 4 rows"),
        (np.ones((4, 2)), r"sample_weight has shape \(4, 2\)"),
        ([1, -1, 1, 1], "sample_weight, row 1: -1, expected a finite number of at least 0"),
        ([1, np.nan, 1, 1], "sample_weight, row 1: nan"),
        ([1, np.inf, 1, 1], "sample_weight, row 1: inf"),
        ([0, 0, 0, 0], "sample_weight is zero for every row"),
        (["a", "b", "c", "d"], "sample_weight must hold numbers"),
    ],
)
def test_weights_that_cannot_count_are_refused(weight: Any, message: str) -> None:
    refused(message, weight=weight)


class WithoutShape(Heuristic):
    def evaluate(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
        return np.sum(tp)


class WithNaN(Heuristic):
    def evaluate(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
        with np.errstate(all="ignore"):
            return tp / (tp + fp)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"heuristic": "f_mesure"}, "heuristic 'f_mesure' is unknown; did you mean 'f_measure'"),
        ({"heuristic": FMeasure}, r"heuristic must be an object, not a class: write FMeasure\(\)"),
        ({"heuristic": None}, "heuristic must be an object such as .*got None"),
        ({"heuristic": FMeasure(beta=-1)}, "FMeasure: beta must be a number of at least 0, got -1"),
        ({"heuristic": MEstimate(m=np.inf)}, "MEstimate: m must be a finite number"),
        ({"heuristic": WithoutShape()}, r"evaluate must return one value per confusion matrix.*\(2, 2\) gave .*\(\)"),
        ({"heuristic": WithNaN()}, "evaluate returned NaN"),
        ({"averaging": "mean"}, "averaging must be 'micro' or 'macro', got 'mean'"),
        ({"head_search": "relax"}, "head_search must be 'single', .*got 'relax'; did you mean 'relaxed'"),
        ({"head_search": None}, "head_search must be 'single', .*, got None"),
        ({"lift": KLN(k=-0.1)}, "KLN: k must be a finite number of at least 0, got -0.1"),
        ({"lift": Peak(labels=3)}, "Peak: labels must be at most the number of labels in the data, 2, got 3"),
        ({"lift": KLN(k=-1)}, "KLN: k must be"),
        ({"lift": "kln 3"}, "lift 'kln 3' is unknown: give 'none', 'kln'"),
        ({"lift": lambda labels: 2.0}, "must be 1 for a single label"),
        ({"lift": lambda labels: 2.0 - labels}, "must be a positive number at every length"),
        ({"predict_absence": "yes"}, "predict_absence must be True or False, got 'yes'"),
        ({"fix_head": 1}, "fix_head must be True or False, got 1"),
        ({"beam_width": 0}, "beam_width must be a whole number from 1 to 1000, got 0"),
        ({"beam_width": 10**11}, "beam_width must be a whole number from 1 to 1000, got 100000000000"),
        ({"beam_width": 1.5}, "beam_width must be a whole number"),
        ({"remaining": 1.5}, "remaining must be a number from 0 to 1, got 1.5"),
        ({"stop_threshold": -0.1}, "stop_threshold must be a number from 0 to 1, got -0.1"),
        ({"stop_threshold": float("nan")}, "stop_threshold must be a number"),
        (
            {"min_precision": 1.5},
            "min_precision must be a number from 0 to 1, got 1.5",
        ),
        ({"verbose": "yes"}, "verbose must be .*a callable, got 'yes'"),
        ({"lift": KLN}, r"lift must be a lift such as .*, got a class: write KLN\(\)"),
        ({"max_conditions": -1}, "max_conditions must be None or a whole number of at least 0, got -1"),
        ({"min_coverage": -1}, "min_coverage must be a finite number of at least 0, got -1"),
        ({"max_bins": 1}, "max_bins must be None or a whole number of at least 2, got 1"),
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0"),
        ({"n_jobs": 1.5}, "n_jobs must be a whole number"),
    ],
)
def test_a_parameter_out_of_range_is_refused(parameters: dict[str, Any], message: str) -> None:
    refused(message, **parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"head_search": "decomposable", "heuristic": WeightedRelativeAccuracy()},
            "not decomposable; use 'single' or 'relaxed' or 'exhaustive', or averaging='macro'",
        ),
        ({"head_search": "decomposable", "heuristic": SubsetAccuracy()}, "use 'single' or 'anti_monotone'"),
        ({"head_search": "anti_monotone", "heuristic": Laplace()}, "not anti-monotone; use 'single' or 'relaxed'"),
        ({"head_search": "relaxed", "heuristic": SubsetAccuracy()}, "use 'single' or 'anti_monotone'"),
    ],
)
def test_a_head_search_that_does_not_suit_the_heuristic_is_refused(parameters: dict[str, Any], message: str) -> None:
    refused(message, **parameters)


def test_an_exhaustive_search_over_many_labels_is_refused() -> None:
    many = np.tile(Y, (1, 7))
    refused("at most 12 labels, got 14; use 'single' or .* or 'relaxed'", Y=many, head_search="exhaustive")


def test_every_heuristic_is_known_by_its_name() -> None:
    from plurule._learning.problem import check_heuristic

    assert check_heuristic("f_measure") == FMeasure(beta=0.5)
    assert check_heuristic("hamming_accuracy") == HammingAccuracy()
    assert check_heuristic("m_estimate") == MEstimate()
    assert check_heuristic("precision") == Precision()


def test_a_heuristic_that_gives_no_values_is_named_as_the_parameter() -> None:
    class OneValue(Heuristic):
        def evaluate(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
            return 1.0

    with pytest.raises(ParameterError, match=r"one value per confusion matrix; arrays of shape \(2, 2\)") as refusal:
        RelaxedPruningClassifier(heuristic=OneValue()).fit(X, Y)
    assert refusal.value.parameter == "heuristic"


@pytest.mark.parametrize(
    ("heuristic", "said"),
    [(SubsetAccuracy(), False), (Gain(), False), (WeightedRelativeAccuracy(), True)],
)
def test_averaging_is_only_spoken_of_where_labels_are_averaged(heuristic: Heuristic, said: bool) -> None:
    with pytest.raises(ParameterError, match="is not decomposable") as refusal:
        RelaxedPruningClassifier(heuristic=heuristic, head_search="decomposable").fit(X, Y)
    assert ("with averaging='micro'" in str(refusal.value)) is said


def test_nothing_is_asked_of_rules_unless_someone_or_the_data_ask_for_it() -> None:
    names = (Attribute("a"),), ("y0", "y1")
    assert check_constraints(None, *names, (), ()) is None
    found = check_constraints(None, *names, (), ((0, 1),))
    assert found is not None
    assert found.hierarchy == ((0, 1),)
