"""What `y` may be, and predictions in its form."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

from plurule import RelaxedPruningClassifier, RuleList
from plurule.classifier import RuleListClassifier
from plurule.data.targets import TargetForm, named_labels, read_target, true_labels
from plurule.errors import DataError

FRAME = {"port": ["Cork", "Cherbourg", "Southampton"], "survived": ["yes", "no", "no"], "crew": [0, 1, 0]}


def test_a_column_of_more_than_two_classes_is_a_group_of_labels() -> None:
    target = read_target(["dog", "cat", "cow", "dog"])
    assert target.names == ("cat", "cow", "dog")
    assert target.Y.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert target.form.groups == ((0, 1, 2),)
    assert target.form.labels(target.Y).tolist() == ["dog", "cat", "cow", "dog"]


def test_classes_that_are_numbers_have_names_as_labels() -> None:
    assert read_target([3, 1, 2]).names == ("class 1", "class 2", "class 3")
    assert read_target(pd.Series([3, 1, 2], name="grade")).names == ("grade: 1", "grade: 2", "grade: 3")


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_of_one_column_of_classes_is_that_column(library: Any) -> None:
    target = read_target(library.DataFrame({"port": ["Cork", "Cherbourg", "Southampton"]}))
    assert target.names == ("port: Cherbourg", "port: Cork", "port: Southampton")
    assert target.form.labels(target.Y).tolist() == ["Cork", "Cherbourg", "Southampton"]


@pytest.mark.parametrize("y", [[[1], [0]], np.array([[1], [0]]), pd.DataFrame({"y0": [1, 0]})])
def test_a_matrix_of_one_column_of_0_and_1_is_a_label_matrix(y: Any) -> None:
    target = read_target(y)
    assert target.names == ("y0",)
    assert target.form.classes is None


@pytest.mark.parametrize("library", [pd, pl])
def test_several_columns_must_hold_0_and_1(library: Any) -> None:
    with pytest.raises(DataError, match="label 'port', row 0: Y contains 'Cork', expected 0 or 1"):
        read_target(library.DataFrame(FRAME))


def test_probabilities_of_classes_sum_to_one() -> None:
    of_group = TargetForm(np.array(["a", "b", "c"])).probabilities(np.array([[0.3, 0.6, 0.3]]), np.array([[0, 1, 0]]))
    assert of_group.tolist() == [pytest.approx([0.25, 0.5, 0.25])]
    of_pair = TargetForm(np.array(["no", "yes"])).probabilities(np.array([[0.9]]), np.array([[1]]))
    assert of_pair.tolist() == [pytest.approx([0.1, 0.9])]


@pytest.mark.parametrize(
    "sets",
    [[{"red", "blue"}, set(), {"blue"}], [["red", "blue"], [], ["blue"]], pd.Series([("red", "blue"), (), ("blue",)])],
)
def test_sets_of_labels_are_a_label_matrix(sets: Any) -> None:
    target = read_target(sets)
    assert target.names == ("blue", "red")
    assert target.Y.tolist() == [[1, 1], [0, 0], [1, 0]]
    assert target.form.labels(target.Y) == [("blue", "red"), (), ("blue",)]
    assert np.array_equal(true_labels(sets, target.form, 2), target.Y)
    with pytest.raises(DataError, match="row 1: 'green' is none of the labels"):
        true_labels([["red"], ["green", "red"], []], target.form, 2)


@pytest.mark.parametrize(
    "y",
    [
        ["dog", "cat", "cow", "dog"],
        pl.Series("kind", ["dog", "cat", "cow", "dog"]),
        [3, 1, 2, 1],
        pd.Series([3, 1, 2, 1], name="grade"),
        ["spam", "ham", "ham", "spam"],
        pd.DataFrame({"port": ["a", "b", "c"]}),
        [{"red", "blue"}, set(), {"blue"}],
    ],
)
def test_classes_and_sets_are_known_by_the_names_of_the_labels_also_if_only_some_occur(y: Any) -> None:
    known = read_target(y)
    assert np.array_equal(named_labels(y, known.names), known.Y)  # type: ignore[arg-type]
    one = y.iloc[:1] if hasattr(y, "iloc") else y[:1]
    assert np.array_equal(named_labels(one, known.names), known.Y[:1])  # type: ignore[arg-type]


def test_a_class_that_no_label_is_of_is_named() -> None:
    with pytest.raises(DataError, match=r"kind, row 1: ant is none of the classes \['kind: cat', 'kind: cow'\]"):
        named_labels(pd.Series(["cat", "ant"], name="kind"), ["kind: cat", "kind: cow"])
    assert named_labels(pd.DataFrame({"wild": ["yes", "maybe"]}), ["wild"]) is None
    assert named_labels([[1, 0], [0, 1]], ["a", "b"]) is None


def test_a_report_takes_the_classes_that_were_learned_from() -> None:
    X, y = ship(80)
    rules = RelaxedPruningClassifier(max_rules=5).fit(X, y).rule_list_
    assert rules.to_html(X, y) == rules.to_html(X, read_target(y).Y)


def test_what_is_missing_among_classes_is_named() -> None:
    with pytest.raises(DataError, match="row 1: y contains a missing value"):
        read_target(pd.Series(["a", None, "b"], dtype=object))
    with pytest.raises(DataError, match="row 2: y contains a missing value"):
        read_target(pd.DataFrame({"port": ["Cork", "Cork", None]}))
    with pytest.raises(DataError, match="label 'y1', row 0: Y contains 2, expected 0 or 1"):
        read_target([[1, 2]])


def test_classes_in_an_array_of_objects_are_of_one_type() -> None:
    assert read_target(np.array([5, 7, 9], dtype=object)).names == ("class 5", "class 7", "class 9")
    with pytest.raises(DataError, match="y holds classes of different types, 1 and 'a'; make all of them text"):
        read_target(np.array([1, "a"], dtype=object))


def ship(n_rows: int = 120, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Passengers of a ship: numbers, text, gaps; and the class in which they travel."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"age": random.integers(1, 80, n_rows).astype(float), "sex": random.choice(["male", "female"], n_rows)}
    )
    X["fare"] = random.gamma(2.0, 20.0, n_rows).round(2)
    X.loc[random.random(n_rows) < 0.1, "age"] = np.nan
    tier = np.where(X.fare > 60, "first", np.where(X.fare > 25, "second", "third"))
    return X, pd.Series(tier, name="tier")


def test_classes_are_predicted_as_scikit_learn_does() -> None:
    X, y = ship()
    ours = RelaxedPruningClassifier(max_rules=8).fit(X, y)
    theirs = DecisionTreeClassifier(max_depth=3).fit(X[["fare"]], y)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    assert ours.predict(X).dtype.kind == theirs.predict(X[["fare"]]).dtype.kind
    assert ours.predict_proba(X).shape == theirs.predict_proba(X[["fare"]]).shape
    assert np.array_equal(ours.classes_[ours.predict_proba(X).argmax(axis=1)], ours.predict(X))
    assert ours.score(X, y) > 0.95


@pytest.mark.parametrize("predict_absence", [False, True])
def test_exactly_one_class_is_predicted(predict_absence: bool) -> None:
    X, y = ship(60)
    classifier = RelaxedPruningClassifier(max_rules=4, predict_absence=predict_absence)
    classifier.fit(X, y)
    assert classifier.predict(X).shape == y.shape
    assert classifier.predict_proba(X).shape == (60, 3)
    new = ship(200, seed=1)[0]
    for decisions in (classifier.decide(X), classifier.decide(new)):
        (group,) = classifier.rule_list_.groups
        assert (decisions.labels()[:, group].sum(axis=1) == 1).all()
    assert classifier.score(X, y) > 0.5


def test_sets_of_labels_are_learned_and_predicted() -> None:
    X = [[float(i)] for i in range(20)]
    y = [{"small"} if i < 10 else {"large", "heavy"} for i in range(20)]
    classifier = RelaxedPruningClassifier().fit(X, y)
    assert classifier.predict([[2.0], [17.0]]) == [("small",), ("heavy", "large")]
    assert classifier.score(X, y) == 1.0


def test_every_form_of_a_list_keeps_to_the_groups(tmp_path: Path) -> None:
    X, y = ship(80)
    classifier = RelaxedPruningClassifier(max_rules=5).fit(X, y)
    rules = classifier.rule_list_
    assert [str(rule.head) for rule in rules][-1].startswith("tier: ")
    rules.save(tmp_path / "model.json")
    loaded = RuleList.load(tmp_path / "model.json")
    assert loaded == rules
    assert [rule.to_text() for rule in loaded] == [rule.to_text() for rule in rules]
    module: dict[str, Any] = {}
    exec(rules.to_python(), module)
    predicted = np.array([list(module["predict"](row).values()) for row in X.to_dict("records")])
    assert np.array_equal(predicted, classifier.decide(X).labels())
    connection = sqlite3.connect(":memory:")
    X.to_sql("instances", connection)
    assert np.array_equal(np.array(connection.execute(rules.to_sql()).fetchall()), predicted)
    assert np.array_equal(RuleListClassifier.from_rule_list(loaded).predict(X), predicted)
