"""Data in parts: what they refuse, and what they have to offer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plurule.classifier import RuleListClassifier
from plurule.distributed.scan import scan
from plurule.errors import DataError, ParameterError
from plurule.metrics import find_measure
from plurule.relaxed_pruning import RelaxedPruningClassifier
from plurule.selection.training_data import TrainingData, check_in_parts

DATA = scan((np.arange(8.0)[:, None], np.eye(8, 2)))


def test_check_in_parts_allows_what_can_be_counted() -> None:
    check_in_parts("paper")
    check_in_parts([], find_measure("macro_f1"))


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [("conditions", "all", "leave it out"), ("scoring", "roc_auc", "give a measure by name")],
)
def test_fit_refuses_by_name_what_needs_all_rows(name: str, value: Any, advice: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}.*needs all rows in memory; for data in parts .*{advice}"):
        RuleListClassifier(**{name: value}).fit(DATA)


@pytest.mark.parametrize("kind", [RuleListClassifier, RelaxedPruningClassifier])
@pytest.mark.parametrize(
    "argument", [{"y": [0, 1]}, {"sample_weight": [1, 2]}, {"label_names": ["a"]}, {"feature_names": ["a"]}]
)
def test_fit_refuses_labels_names_and_weights_beside_those_of_the_data(kind: Any, argument: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="X has labels, names and weights of its own"):
        kind().fit(DATA, **argument)


def test_training_data_have_all_methods_that_the_selection_uses() -> None:
    class Nothing(TrainingData):
        pass

    with pytest.raises(TypeError, match=r"counted.*everything.*held_out.*learn.*selections"):
        Nothing()  # type: ignore[abstract]
