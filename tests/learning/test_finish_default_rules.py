"""Where exactly one label of a group is present, a rule without conditions decides what no other does."""

from __future__ import annotations

import numpy as np
import pytest

from plurule import Constraints, RelaxedPruningClassifier, RuleListClassifier
from plurule.errors import DataError, ModelError

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])
ONE_OF = Constraints(exclusive_labels=[["y0", "y1", "y2"]])


def test_what_no_rule_decides_is_the_most_frequent_class_there() -> None:
    learned = RelaxedPruningClassifier(max_rules=1, constraints=ONE_OF).fit(X, Y).rule_list_
    assert [rule.to_text() for rule in learned] == ["y0 ← x0 <= 1.5", "y1 ←"]
    assert [str(a) for a in learned[1].head] == ["¬y0", "y1", "¬y2"]
    assert (learned[1].tp, learned[1].fp, learned[1].coverage) == (3, 1, 4)
    assert learned[1].decided == ((4.0, 0.0), (3.0, 1.0), (3.0, 1.0))
    assert learned.undecided == ((0, 0),) * 3


def test_exclusive_labels_are_predicted_one_at_a_time() -> None:
    classifier = RelaxedPruningClassifier(constraints=ONE_OF).fit(X, Y)
    assert (classifier.predict(np.linspace(-5, 9, 50)[:, None]).sum(axis=1) == 1).all()
    assert classifier.rule_list_.characteristics()["multi_label_heads"] == 0


def test_a_rule_may_not_predict_two_of_a_group() -> None:
    learned = RelaxedPruningClassifier(constraints=ONE_OF).fit(X, Y).rule_list_
    assert str(learned.parse("y2 <- x0 > 3").head) == "y2"
    with pytest.raises(ModelError, match="predicts y0 and y2, of which only one can be present"):
        learned.parse("y0, y2 <- x0 > 3")


def test_a_row_with_none_or_two_of_a_group_is_refused() -> None:
    for row, found in (([0, 0, 0], "none of them"), ([1, 0, 1], "'y0' and 'y2'")):
        wrong = np.vstack([Y[:4], row, Y[5:]])
        with pytest.raises(
            DataError, match=f"row 4: exactly one of the labels 'y0', 'y1', 'y2' must be .*, found {found}"
        ):
            RuleListClassifier(constraints=ONE_OF).fit(X, wrong)


def test_groups_that_cannot_be_are_refused() -> None:
    for groups in (["ab"], [["a"]], [["a", "a"]]):
        with pytest.raises(ModelError, match="exclusive_labels must be a list of groups of different labels"):
            Constraints(exclusive_labels=groups)
    with pytest.raises(ModelError, match="'b' is in two groups"):
        Constraints(exclusive_labels=[["a", "b"], ["b", "c"]])
    with pytest.raises(ModelError, match="exclusive_labels: there is no label 'y9'"):
        RuleListClassifier(constraints=Constraints(exclusive_labels=[["y0", "y9"]])).fit(X, Y)
