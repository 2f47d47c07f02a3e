"""Classes and related labels that are spread over parts are learned as in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers.scans import learner, model
from plurule import Constraints, DataError, PluruleError, RelaxedPruningClassifier, read, scan
from plurule.model.file import dumps

# Classes -------------------------------------------------------------------------------------------------------------


def make_classes(kind: str) -> tuple[np.ndarray, Any]:
    """Return rows and their classes; sorted, so that parts have only some of them."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3)).round(2)
    number = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.7, 0.0, 0.8])
    order = np.argsort(number, kind="stable")
    X, number = X[order], number[order]
    return X, {
        "none or one": (number > 1).astype(int),
        "two": np.array(["ham", "spam"])[number // 2],
        "text": np.array(["ant", "bee", "cow", "dog"])[number],
        "numbers": number * 3.0,
        "named": pd.Series(np.array(["ant", "bee", "cow", "dog"])[number], name="animal"),
        "like an attribute": pd.Series(number, name="x1"),
        "one of them": np.full(200, "ant"),
    }[kind]


KINDS = ["none or one", "two", "text", "numbers", "named", "like an attribute", "one of them"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", [{"max_rules": None}, {"cv": 2, "max_rules": 6}], ids=str)
def test_classes_that_some_parts_do_not_have_are_learned_as_in_memory(given: dict[str, Any], kind: str) -> None:
    X, y = make_classes(kind)
    expected = learner(**given).fit(X, y)
    found = learner(**given).fit(scan([(X[a:b], y[a:b]) for a, b in ((0, 40), (40, 40), (40, 120), (120, 200))]))
    assert dumps(found.rule_list_) == dumps(expected.rule_list_)
    assert np.array_equal(found.predict(X), expected.predict(X))
    assert np.array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert np.array_equal(found.classes_, expected.classes_)


def test_numbers_of_which_a_part_has_only_zeros_are_one_label() -> None:
    X = np.arange(400.0)[:, None]
    data = scan((X, (X[:, 0] >= 250).astype(int)), chunk=100)
    assert str(learner().fit(data).rule_list_) == "y ← x0 > 249.5   (TP 150, FP 0, stop)"


def test_classes_of_text_in_some_parts_and_numbers_in_others_are_refused() -> None:
    X, y = make_classes("numbers")
    with pytest.raises(DataError, match="y holds text in some parts and numbers in others"):
        model(scan([(X[:90], y[:90]), (X[90:], y[90:].astype(str))]))


def test_classes_in_one_part_and_a_matrix_in_another_are_refused() -> None:
    X, y = make_classes("numbers")
    with pytest.raises(DataError, match="part 1: other labels than part 0"):
        model(scan([(X[:90], y[:90]), (X[90:], np.eye(2, dtype=int)[y[90:].astype(int) % 2])]))


def test_column_of_classes_of_a_file_is_refused(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": ["x", "y", "z"]}).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(DataError, match="a column of classes needs all rows in memory; give X and y apart"):
        model(scan(tmp_path / "a.csv", ["kind"]))


def test_column_of_classes_that_are_named_is_learned_as_in_memory(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": ["x", "y", "z"]}).to_csv(tmp_path / "a.csv", index=False)
    names = [f"kind: {name}" for name in "xyz"]
    found = learner(constraints=Constraints(exclusive_labels=[names])).fit(scan(tmp_path / "a.csv", names, chunk=5))
    assert dumps(found.rule_list_) == model(read(tmp_path / "a.csv", ["kind"]))


@pytest.mark.parametrize("is_scanned", [False, True])
def test_initial_rule_that_predicts_two_of_several_classes_is_refused(is_scanned: bool) -> None:
    X, y = np.arange(30.0).reshape(-1, 1), np.repeat(["a", "b", "c"], 10)
    data = (scan([(X[:15], y[:15]), (X[15:], y[15:])]), None) if is_scanned else (X, y)
    with pytest.raises(PluruleError, match="a, b"):
        RelaxedPruningClassifier().fit(*data, initial_rules="a, b <- x0 > 3")


# Related labels ------------------------------------------------------------------------------------------------------

ANIMALS = ["animal", "dog", "red"]


@pytest.fixture(scope="module")
def animals() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (300, 4)), columns=list("abcd"))
    dog = (X.a == 1) & (X.b > 0)
    return X.assign(animal=((X.a == 1) | (X.c == 2)).astype(int), dog=dog.astype(int), red=(X.d == 0).astype(int))


def parts_of(frame: pd.DataFrame) -> list[pd.DataFrame]:
    return [frame[:90], frame[90:200], frame[200:]]


@pytest.mark.parametrize("given", [{"max_rules": 6}, {"cv": 2, "max_rules": 5}], ids=str)
def test_labels_that_imply_others_are_learned_from_parts_as_in_memory(
    given: dict[str, Any], animals: pd.DataFrame
) -> None:
    constraints = Constraints(hierarchy={"dog": "animal"})
    expected = learner(**given, constraints=constraints).fit(read(animals, ANIMALS)).rule_list_
    found = learner(**given, constraints=constraints).fit(scan(parts_of(animals), ANIMALS)).rule_list_
    assert found.hierarchy == ((1, 0),)
    assert dumps(found) == dumps(expected)


def test_hierarchy_that_parts_have_themselves_is_kept(animals: pd.DataFrame) -> None:
    parts = [replace(read(part, ANIMALS), hierarchy=((1, 0),)) for part in parts_of(animals)]
    assert model(scan(parts)) == model(replace(read(animals, ANIMALS), hierarchy=((1, 0),)))


def test_row_that_has_a_label_without_those_above_it_is_refused(animals: pd.DataFrame) -> None:
    odd = animals.assign(animal=np.where(np.arange(300) == np.flatnonzero(animals.dog)[-1], 0, animals.animal))
    with pytest.raises(DataError, match=r"row \d+ has the label 'dog' without 'animal'"):
        learner(constraints=Constraints(hierarchy={"dog": "animal"})).fit(scan(parts_of(odd), ANIMALS))


def test_rows_without_exactly_one_of_exclusive_labels_are_refused(animals: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="exactly one"):
        learner(constraints=Constraints(exclusive_labels=[["animal", "red"]])).fit(scan(parts_of(animals), ANIMALS))
