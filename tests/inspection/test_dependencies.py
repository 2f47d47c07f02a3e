"""What rules say about labels, checked on data and beside the label matrix alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.rule_lists import make_rules, random_rule_list
from plurule._prediction.apply import ColumnCache
from plurule.inspection.dependencies import dependencies
from plurule.model import RuleList

LABELS = ("red", "white", "blue")
RULES = "red, white, ¬blue <- x > 2\nblue <- red\n¬white <- red and x > 1\nred <- ¬white\n¬red, ¬blue <- x <= 0"


def test_statements_are_of_the_kind_that_the_rule_shows() -> None:
    found = dependencies(make_rules(RULES, {"x": None}, LABELS), joint_absence=True)
    assert [str(statement) for statement in found] == [
        "co-occurrence: red, white where x > 2",
        "exclusion: red, ¬blue where x > 2",
        "exclusion: white, ¬blue where x > 2",
        "implication: blue ← red",
        "exclusion: ¬white ← red where x > 1",
        "alternative: red ← ¬white",
        "joint absence: ¬red, ¬blue where x <= 0",
    ]
    assert [statement.is_global for statement in found] == [False, False, False, True, False, True, False]
    assert len(dependencies(make_rules(RULES, {"x": None}, LABELS))) == 6


def test_the_same_statement_of_several_rules_is_one() -> None:
    found = dependencies(make_rules("blue <- red\n¬white <- red and x > 1\nblue <- red", {"x": None}, LABELS))
    assert [(s.kind, s.rules) for s in found] == [("implication", (1, 3)), ("exclusion", (2,))]


def test_support_and_confidence_stand_beside_those_of_the_labels_alone() -> None:
    rule_list = make_rules("white <- red and x > 2", {"x": None}, LABELS)
    X = np.array([[3.0], [4.0], [5.0], [1.0], [1.0]])
    Y = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]])
    (statement,) = dependencies(rule_list, X, Y)
    assert (statement.on_data.matching, statement.on_data.support, statement.on_data.confidence) == (2, 2, 1.0)  # type: ignore[union-attr]
    assert (statement.on_labels.matching, statement.on_labels.support) == (4, 2)  # type: ignore[union-attr]
    assert statement.added_value == 0.5
    assert str(statement) == "implication: white ← red where x > 2 (100% of 2, 50% anyway)"


@pytest.mark.parametrize("seed", range(10))
def test_statistics_are_those_of_counting_by_hand(seed: int) -> None:
    rule_list, table = random_rule_list(seed)
    Y = np.random.default_rng(seed).integers(0, 2, size=(len(table), len(rule_list.labels))).astype(np.uint8)
    columns = ColumnCache(table)
    for statement in dependencies(rule_list, table, Y, joint_absence=True):
        matching = support = raw = raw_support = 0
        holds = [columns.mask(c, Y.astype(np.int8)) for c in statement.context]
        for row, truth in enumerate(Y):
            premises = all(truth[p.index] == p.present for p in statement.premises)
            right = all(truth[c.index] == c.present for c in statement.conclusions)
            context = all(h[row] for h in holds)
            matching += premises and context
            support += premises and context and right
            raw += premises
            raw_support += premises and right
        assert statement.on_data is not None
        assert statement.on_labels is not None
        assert (statement.on_data.matching, statement.on_data.support) == (matching, support)
        assert (statement.on_labels.matching, statement.on_labels.support) == (raw, raw_support)


def test_the_table_has_a_row_per_statement() -> None:
    rule_list = make_rules(RULES, {"x": None}, LABELS)
    frame = dependencies(rule_list, [[3.0], [0.0]], [[1, 1, 0], [0, 0, 1]]).to_frame()
    assert frame.loc[0, ["kind", "conclusions", "context", "scope", "rules"]].tolist() == [
        "co-occurrence", "red, white", "x > 2", "local", "1",
    ]  # fmt: skip
    assert frame.loc[0, ["support", "confidence", "raw_support", "raw_confidence", "added_value"]].tolist() == [
        1,
        1,
        1,
        0.5,
        0.5,
    ]
    assert math.isnan(dependencies(rule_list).to_frame().loc[0, "confidence"])


def test_statements_show_themselves_short() -> None:
    many = make_rules("\n".join(f"a, b <- x > {i}" for i in range(30)), {"x": None}, ("a", "b"))
    assert repr(many.dependencies()).split("\n")[-1] == "… and 20 more statements"
    assert repr(RuleList((), (), ()).dependencies()) == "Dependencies: 0 statements about 0 labels"
