"""Edits give new lists with new counts, and say what they led to."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.rule_lists import make_rules
from plurule import RelaxedPruningClassifier
from plurule.errors import ModelError
from plurule.inspection import Edit
from plurule.model import RuleList
from plurule.model.text import RuleTextError

LABELS = ("red", "blue")
X = np.array([[0.0], [1.0], [2.0], [3.0]])
Y = np.array([[0, 1], [0, 1], [1, 0], [1, 1]])


def texts(edit: Edit) -> list[str]:
    return [rule.to_text() for rule in edit.rule_list]


@pytest.fixture
def rules() -> RuleList:
    return make_rules("red <- x > 2.5\nblue <- x <= 1\nred <- x > 1", {"x": None}, LABELS)


def test_rules_are_added_removed_replaced_and_moved(rules: RuleList) -> None:
    edit = rules.edit()
    assert texts(edit.add("blue <-")) == ["red ← x > 2.5", "blue ← x <= 1", "red ← x > 1", "blue ←"]
    assert texts(edit.add("blue <-", at=1))[0] == "blue ←"
    assert texts(edit.remove(1, 3)) == ["blue ← x <= 1"]
    assert texts(edit.replace(2, "blue <- x <= 2")) == ["red ← x > 2.5", "blue ← x <= 2", "red ← x > 1"]
    assert texts(edit.move(3, to=1)) == ["red ← x > 1", "red ← x > 2.5", "blue ← x <= 1"]
    assert texts(edit) == ["red ← x > 2.5", "blue ← x <= 1", "red ← x > 1"]


def test_a_rule_of_another_list_is_matched_by_name(rules: RuleList) -> None:
    other = make_rules("blue <- x > 9", {"y": None, "x": None}, ("blue", "red"))
    added = rules.edit().add(other[0]).rule_list[3]
    assert added == rules.parse("blue <- x > 9")


def test_counts_are_those_on_the_data(rules: RuleList) -> None:
    first, second, third = rules.edit(X, Y).rule_list
    assert (first.tp, first.fp, first.coverage, first.decided) == (1, 0, 1, ((1, 0),))
    assert (second.tp, second.fp, second.coverage) == (2, 0, 2)
    assert (third.tp, third.fp, third.coverage) == (1, 0, 2)
    edited = rules.edit(X, Y).add("¬blue, red <- x > 1.5 [stop]", at=1).rule_list
    assert [(r.tp, r.fp, r.coverage) for r in edited] == [(3, 1, 2), (0, 0, 0), (2, 0, 2), (0, 0, 0)]
    assert edited[0].decided == ((2, 0), (1, 1))
    assert edited.undecided == ((2, 0), (0, 0))


def test_weights_multiply_the_counts(rules: RuleList) -> None:
    weighted = rules.edit(X, Y, sample_weight=[1, 2, 3, 4]).rule_list
    assert [(r.tp, r.coverage) for r in weighted] == [(4, 4), (3, 3), (3, 7)]


def test_weighted_counts_on_the_training_data_are_those_of_training() -> None:
    random = np.random.default_rng(0)
    X, Y = random.random((40, 3)), (random.random((40, 2)) < 0.5).astype(int)
    for weights in (random.random(40), random.choice([0.1, 0.7, 2.1], 40), random.choice([2, 4], 40)):
        learned = RelaxedPruningClassifier(max_rules=4).fit(X, Y, sample_weight=weights).rule_list_
        assert learned.edit(X, Y, sample_weight=weights).rule_list == learned


def test_the_diff_shows_rules_predictions_and_scores(rules: RuleList) -> None:
    diff = rules.edit(X, Y).remove(2).diff()
    assert [str(change) for change in diff.rules] == ["- rule 2: blue ← x <= 1"]
    assert diff.predictions is not None
    assert diff.predictions.rows.tolist() == [0, 1]
    assert diff.predictions.labels == {"blue": (0, 2)}
    assert diff.scores is not None
    assert diff.scores["hamming_accuracy"] == (7 / 8, 5 / 8)
    assert diff.scores["subset_accuracy"] == (3 / 4, 1 / 4)


def test_without_labels_predictions_are_compared_and_counts_stay(rules: RuleList) -> None:
    edited = rules.edit(X).remove(2)
    assert edited.diff().scores is None
    assert edited.diff().same_predictions is False
    assert edited.rule_list[0] == rules[0]


def test_a_locked_rule_is_not_changed_until_it_is_unlocked(rules: RuleList) -> None:
    locked = rules.edit().lock(2)
    assert [rule.locked for rule in locked.rule_list] == [False, True, False]
    for refused in (lambda: locked.remove(1, 2), lambda: locked.replace(2, "blue <-"), lambda: locked.move(2, 1)):
        with pytest.raises(ModelError, match=r"rule 2, it is locked: blue ← x <= 1\. Unlock it first"):
            refused()
    assert len(locked.remove(1).rule_list) == 2
    assert len(locked.unlock(2).remove(2).rule_list) == 2


@pytest.mark.parametrize("number", [0, 4, -1])
def test_a_number_without_a_rule_is_refused(rules: RuleList, number: int) -> None:
    for edit in (
        lambda: rules.edit().remove(number),
        lambda: rules.edit().lock(number),
        lambda: rules.edit().move(1, number),
    ):
        with pytest.raises(ModelError, match=f"there is no rule {number}; rules are numbered from 1 to 3"):
            edit()


def test_a_text_that_is_no_rule_is_refused(rules: RuleList) -> None:
    with pytest.raises(RuleTextError, match="character 5: expected"):
        rules.edit().add("red x > 2")


@pytest.mark.parametrize(
    ("text", "at", "note"),
    [
        ("blue <- x > 2 and x <= 1", None, "rule 4 (blue ← x > 2 ∧ x <= 1) is contradictory: nothing satisfies x > 2"),
        ("red <- x > 3", None, "rule 4 (red ← x > 3) is unreachable: rule 1 decides red first"),
        ("blue <- ¬red", None, "rule 4 (blue ← ¬red) is unreachable: no earlier rule predicts red as absent"),
        ("¬red, blue <- x > 4", None, "rule 4 (¬red, blue ← x > 4) is pre-empted: rule 1 decides red first, as"),
        ("red <- [stop]", 1, "rule 2 (red ← x > 2.5) is unreachable: rule 1 ends all instances that it would cover"),
        ("red <- blue and red", None, "rule 4 (red ← blue ∧ red) is unreachable: it tests the labels it predicts"),
        ("blue <- x > 99", None, "rule 4 (blue ← x > 99) decides nothing on the data"),
    ],
)  # fmt: skip
def test_an_edit_that_makes_a_rule_useless_is_allowed_but_said(
    rules: RuleList, text: str, at: int | None, note: str
) -> None:
    edited = rules.edit(X, Y).add(text, at)
    assert any(said.startswith(note) for said in edited.notes), edited.notes
    assert f"note: {edited.notes[0]}" in str(edited)


def test_what_was_so_before_is_not_said_again(rules: RuleList) -> None:
    useless = rules.edit(X, Y).add("red <- x > 3")
    assert useless.notes
    assert not useless.add("blue <- x > 2").notes


def test_a_missing_attribute_is_not_counted(rules: RuleList) -> None:
    edited = rules.edit(np.array([[np.nan]]), np.array([[1, 1]]))
    assert [rule.coverage for rule in edited.rule_list] == [0, 0, 0]
    assert edited.rule_list.undecided == ((0, 1), (0, 1))


def test_a_rule_keeps_its_value_as_long_as_it_does_what_it_did() -> None:
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
    learned = RelaxedPruningClassifier().fit(X, Y).rule_list_
    assert [rule.value > 0 for rule in learned] == [True, True]
    unchanged = learned.edit(X, Y)
    assert [rule.value for rule in unchanged.rule_list] == [rule.value for rule in learned]
    edited = unchanged.replace(1, "y0 <- x0 <= 2")
    assert [rule.value for rule in edited.rule_list] == [0.0, 0.0]  # more instances reach the second one
    assert learned.edit(X[:3], Y[:3]).rule_list[0].value == learned[0].value
    assert learned.edit(X[:2], Y[:2]).rule_list[0].value == 0.0


def test_the_scores_of_the_diff_are_weighted(rules: RuleList) -> None:
    once = rules.edit(X[[0, 1, 1, 1]], Y[[0, 1, 1, 1]]).remove(2).diff().scores
    assert rules.edit(X[:2], Y[:2], sample_weight=[1, 3]).remove(2).diff().scores == once


def test_edits_and_differences_show_what_they_say() -> None:
    rules = make_rules("a <- x > 1\nb <- a", {"x": None}, ("a", "b"))
    edited = rules.edit([[2.0], [0.0]], [[1, 1], [0, 0]]).remove(2)
    assert repr(edited) == str(edited)
    assert repr(edited.diff()) == str(edited.diff())
    assert repr(rules.simplify([[2.0]])) == str(rules.simplify([[2.0]]))
