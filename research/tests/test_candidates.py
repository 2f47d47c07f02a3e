"""The number of candidate bodies of a learned list."""

from __future__ import annotations

import numpy as np
import pytest

from plurule import RelaxedPruningClassifier, RuleList
from plurule.data import Dataset
from plurule.datasets import load_world_flags
from plurule.model import Attribute
from research.paper.candidates import count_candidates


@pytest.fixture
def data() -> Dataset:
    table_type = type(load_world_flags().X)
    table = table_type([Attribute("x0")], [np.array([1.0, 2.0, 3.0, 4.0])])
    return Dataset(table, np.array([[1, 0], [1, 0], [0, 1], [0, 1]]), ("a", "b"))


def test_candidates_are_counted_by_hand(data: Dataset) -> None:
    model = RelaxedPruningClassifier().fit(data).rule_list_
    assert [rule.to_text() for rule in model] == ["a ← x0 <= 2.5", "b ←"]
    # First rule: the empty body and 3 split points in two directions, then 1 split point among two instances.
    # Second rule: the empty body and 1 split point, since the first rule ended its instances.
    assert count_candidates(model, data) == (1 + 6 + 2) + (1 + 2)


def test_labels_that_rules_predicted_are_candidates(data: Dataset) -> None:
    model = RuleList.from_text("a <- x0 <= 2.5\nb <- a", ["x0"], ["a", "b"])
    # Second rule: the empty body, 3 split points and the label a; then 1 split point and a among its instances.
    assert count_candidates(model, data) == (1 + 6 + 2) + (1 + 6 + 1) + (2 + 1)
