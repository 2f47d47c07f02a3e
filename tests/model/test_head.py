"""Heads: labels in order, each once."""

from __future__ import annotations

import pytest

from plurule.model import (
    Assignment,
    Head,
)

RED, GREEN, WHITE = Assignment("red", 0, True), Assignment("green", 1, False), Assignment("white", 4, True)


def test_a_head_keeps_its_labels_in_label_order():
    assert Head((WHITE, RED)) == Head((RED, WHITE))
    assert [a.name for a in Head((WHITE, RED))] == ["red", "white"]


def test_a_head_needs_a_label_and_each_label_once():
    with pytest.raises(ValueError, match="at least one label"):
        Head(())
    with pytest.raises(ValueError, match="each label once"):
        Head((RED, Assignment("red", 0, False)))
