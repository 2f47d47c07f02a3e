"""Heads: labels in order, each once."""

from __future__ import annotations

import pytest

from plurule.errors import ModelError
from plurule.model import Assignment, Head
from plurule.model.rule import bottom_up, relate

RED, GREEN, WHITE = Assignment("red", 0, True), Assignment("green", 1, False), Assignment("white", 4, True)


def test_a_head_keeps_its_labels_in_label_order():
    assert Head((WHITE, RED)) == Head((RED, WHITE))
    assert [a.name for a in Head((WHITE, RED))] == ["red", "white"]


def test_a_head_needs_a_label_and_each_label_once():
    with pytest.raises(ValueError, match="at least one label"):
        Head(())
    with pytest.raises(ValueError, match="each label once"):
        Head((RED, Assignment("red", 0, False)))


def test_what_contradicts_itself_cannot_be_completed():
    labels = ["jazz", "music", "speech"]
    with pytest.raises(ModelError, match="jazz, ¬music predicts jazz without music, which it implies"):
        Head((Assignment("jazz", 0, True), Assignment("music", 1, False))).completed((), labels, ((0, 1),))
    with pytest.raises(ModelError, match="predicts music and speech, of which only one can be present"):
        Head((Assignment("jazz", 0, True), Assignment("speech", 2, True))).completed(((1, 2),), labels, ((0, 1),))


def test_one_implied_label_leads_to_the_next():
    completed = Head((Assignment("jazz", 0, True),)).completed(((1, 2),), ["jazz", "music", "speech"], ((0, 1),))
    assert [str(a) for a in completed] == ["jazz", "music", "¬speech"]
    absent = Head((Assignment("music", 1, False),)).completed((), ["jazz", "music", "speech"], ((0, 1), (2, 0)))
    assert [str(a) for a in absent] == ["¬jazz", "¬music", "¬speech"]
    assert str(absent) == "¬music"


def test_groups_and_hierarchies_are_related_without_all_pairs():
    size = 3000
    group = tuple(range(size))
    relations = relate((group,), tuple((i, i + 1) for i in range(size - 1)))
    assert all(groups == [group] and groups[0] is group for groups in relations.groups.values())
    assert sum(map(len, relations.above.values())) == sum(map(len, relations.below.values())) == size - 1


def test_bottom_up_orders_a_long_chain():
    chain = [(i, i + 1) for i in range(3000)]
    assert bottom_up(tuple(reversed(chain))) == tuple(chain)


def test_bottom_up_refuses_labels_that_imply_each_other():
    with pytest.raises(ModelError, match="hierarchy: labels imply each other"):
        bottom_up(((0, 1), (1, 2), (2, 0)))
