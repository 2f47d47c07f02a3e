"""What data that are not in memory refuse."""

from __future__ import annotations

from typing import Any

import pytest

from plurule.classifier import RuleListClassifier
from plurule.errors import DataError, ParameterError
from plurule.prediction.scoring import check_scoring
from plurule.selection.training_data import TrainingData, check_counted


def check(*others: Any, **given: Any) -> None:
    parameters = RuleListClassifier(**given).get_params(deep=False)
    check_counted(parameters, check_scoring(parameters["scoring"]), *others)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"scoring": "macro_f1", "engine": "native"},
        {"heuristic": "f_measure", "n_rules": 5, "scoring": "roc_auc"},
        {"heuristic": "f_measure", "n_rules": None},
    ],
)
def test_what_can_be_counted_is_allowed(given: dict[str, Any]) -> None:
    check(None, None, None, **given)


@pytest.mark.parametrize(
    ("name", "value", "advice"),
    [
        ("simplify", 0.1, "simplify the list on rows in memory"),
        ("engine", "reference", "leave it out"),
        ("conditions", "all", "leave it out"),
        ("scoring", "roc_auc", "give a measure by name"),
    ],
)
def test_what_needs_all_rows_is_refused_by_name_with_what_to_do(name: str, value: Any, advice: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}.*needs all rows in memory; for data in parts .*{advice}"):
        check(**{name: value})


def test_labels_and_weights_beside_those_of_the_data_are_refused() -> None:
    with pytest.raises(DataError, match="leave out y, sample_weight and label_names"):
        check(None, [1.0, 2.0], None)


def test_training_data_lack_nothing_that_choosing_asks_for() -> None:
    class Nothing(TrainingData):
        pass

    with pytest.raises(TypeError, match=r"counted.*everything.*fingerprints.*held_out.*learn.*selections.*staged"):
        Nothing()  # type: ignore[abstract]
