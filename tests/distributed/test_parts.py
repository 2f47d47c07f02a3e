"""What is known of labels beforehand is kept, and rows that go against it are found in their parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers.scans import learner as make_learner
from plurule import Constraints, DataError, RelaxedPruningClassifier, read, scan
from plurule.model.file import dumps

LABELS = ["animal", "dog", "red"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (300, 4)), columns=list("abcd"))
    dog = (X.a == 1) & (X.b > 0)
    return X.assign(animal=((X.a == 1) | (X.c == 2)).astype(int), dog=dog.astype(int), red=(X.d == 0).astype(int))


def cut(frame: pd.DataFrame) -> list[pd.DataFrame]:
    return [frame[:90], frame[90:200], frame[200:]]


@pytest.mark.parametrize("given", [{"max_rules": 6}, {"cv": 2, "max_rules": 5}], ids=str)
def test_labels_that_imply_others_are_learned_in_parts_as_in_memory(given: dict[str, Any], frame: pd.DataFrame):
    whole, constraints = read(frame, LABELS), Constraints(hierarchy={"dog": "animal"})
    expected = make_learner(**given, constraints=constraints).fit(whole).rule_list_
    found = make_learner(**given, constraints=constraints).fit(scan(cut(frame), LABELS)).rule_list_
    assert found.hierarchy == ((1, 0),)
    assert dumps(found) == dumps(expected)
    # … also if the parts say so themselves, as files that nest labels do.
    parts = [replace(read(part, LABELS), hierarchy=((1, 0),)) for part in cut(frame)]
    assert dumps(make_learner(**given).fit(scan(parts)).rule_list_) == dumps(expected)


def test_the_part_with_a_row_that_goes_against_constraints_is_named(frame: pd.DataFrame):
    odd = frame.assign(animal=np.where(np.arange(300) == np.flatnonzero(frame.dog)[-1], 0, frame.animal))
    learner = RelaxedPruningClassifier(max_rules=2)
    with pytest.raises(DataError, match=r"part 2: row \d+ has the label 'dog' without 'animal'"):
        learner.set_params(constraints=Constraints(hierarchy={"dog": "animal"})).fit(scan(cut(odd), LABELS))
    with pytest.raises(DataError, match=r"part 0: .*exactly one"):
        learner.set_params(constraints=Constraints(exclusive_labels=[["animal", "red"]])).fit(scan(cut(frame), LABELS))
