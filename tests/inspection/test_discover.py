"""Patterns of labels: found on some rows, counted and tested on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import fisher_exact

from plurule import Dataset, discover
from plurule._learning.problem import Problem
from plurule.data.inputs import encode
from plurule.errors import DataError, ParameterError
from plurule.inspection.discover import Patterns, count
from plurule.inspection.evidence import holm
from plurule.model import Attribute
from plurule.model.text import parse

NAMES = (Attribute("x0"), Attribute("x1")), ("a", "b", "c")


def planted(n_rows: int = 400, seed: int = 0) -> tuple[Any, Any]:
    """Labels a and b are the same where x0 is high and independent elsewhere; c is never with d; e is noise."""
    chance = np.random.default_rng(seed)
    X = chance.normal(size=(n_rows, 3))
    a, b, c, e = (chance.random((4, n_rows)) < 0.4).astype(int)
    b = np.where(X[:, 0] > 0.2, a, b)
    d = (1 - c) * (chance.random(n_rows) < 0.6)
    return X, np.stack([a, b, c, d, e], axis=1)


def said(patterns: Patterns) -> list[str]:
    return [pattern.rule.to_text() for pattern in patterns]


def test_planted_labels_are_found_where_they_go_together() -> None:
    X, Y = planted()
    patterns = discover(X, Y, label_names=list("abcde"), max_conditions=1, resamples=0)
    best = patterns[0]
    assert {a.name for a in best.rule.head} | {c.name for c in best.rule.label_conditions} == {"a", "b"}
    assert best.is_significant
    assert any("x0 > " in text for text in said(patterns))
    assert not any("e" in text.replace("x", "") for text in said(patterns.significant()))


def test_labels_that_rule_each_other_out_are_found_if_asked_for() -> None:
    X, Y = planted()
    without, found = (
        discover(X, Y, label_names=list("abcde"), exclusions=asked, resamples=0) for asked in (False, True)
    )
    assert not any("¬" in text for text in said(without))
    assert "¬d ← c" in said(found) or "¬c ← d" in said(found)
    exclusion = next(pattern for pattern in found if {"¬d ← c", "¬c ← d"} & {pattern.rule.to_text()})
    assert exclusion.confidence == 1.0


def test_labels_of_chance_are_rarely_significant() -> None:
    wrong = 0
    for seed in range(20):
        chance = np.random.default_rng(seed)
        X, Y = chance.normal(size=(200, 4)), chance.random((200, 6)) < 0.4
        wrong += len(discover(X, Y.astype(int), resamples=0, random_state=seed).significant()) > 0
    assert wrong <= 4  # at 5 % more than that happens once in 400 times


def test_a_pattern_is_counted_as_by_hand() -> None:
    X = np.array([[1.0, 0], [1, 0], [1, 0], [1, 0], [0, 0], [0, 0], [0, 0], [0, 0]])
    Y = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]])
    part = Problem(encode(X), NAMES[1], Y.astype(np.uint8), np.ones(8))
    pattern = count(parse("a, b <- x0 > 0.5", *NAMES), part)
    assert (pattern.coverage, pattern.support, pattern.confidence) == (4, 2, 0.5)
    assert pattern.interest == pytest.approx(0.5 / (2 / 8))  # a and b are both there on 2 of 8 rows
    # The part that says least is b: it is there on 2 of the 3 rows where the others hold, and on 1 of the other 5.
    assert pattern.p_value == pytest.approx(fisher_exact([[2, 1], [1, 4]], alternative="greater").pvalue)
    implied = count(parse("b <- a and x0 > 0.5", *NAMES), part)
    assert (implied.coverage, implied.support, implied.p_value) == (3, 2, pattern.p_value)
    assert implied.interest == pytest.approx(2 / 3 / (3 / 8))


def test_weights_count_in_shares_and_not_in_tests() -> None:
    X, Y = np.zeros((4, 2)), np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=np.uint8)
    rule = parse("b <- a", *NAMES)
    heavy, light = (
        count(rule, Problem(encode(X), NAMES[1], Y, np.array(w, float))) for w in ([3, 1, 1, 1], [1, 1, 1, 1])
    )
    assert (heavy.coverage, heavy.support) == (4, 3)
    assert heavy.p_value == light.p_value


def test_p_values_are_corrected_after_holm() -> None:
    patterns = discover(*planted(), resamples=0)
    assert [pattern.p_holm for pattern in patterns] == holm([pattern.p_value for pattern in patterns])
    assert patterns.significant(0.0).to_records() == []


@pytest.mark.parametrize("form", ["frame", "sparse", "data set"])
def test_data_in_any_form_gives_the_same_patterns(form: str) -> None:
    X, Y = planted(200)
    names = list("abcde")
    expected = discover(X, Y, label_names=names, resamples=1)
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    given: dict[str, Any] = {
        "frame": lambda: discover(frame, pd.DataFrame(Y, columns=names), resamples=1),
        "sparse": lambda: discover(X, sp.csr_array(Y), label_names=names, resamples=1),
        "data set": lambda: discover(Dataset(encode(frame), Y, tuple(names)), resamples=1),
    }
    assert given[form]().to_records() == expected.to_records()


def test_rows_without_weight_are_not_there() -> None:
    X, Y = planted(240)
    weights = np.r_[np.ones(200), np.zeros(40)]
    weighted = discover(X, Y, sample_weight=weights, resamples=0)
    assert weighted.to_records() == discover(X[:200], Y[:200], resamples=0).to_records()


def test_patterns_of_resamples_say_how_often_a_pattern_comes_back() -> None:
    patterns = discover(*planted(), max_conditions=0, resamples=5)
    assert patterns[0].stability == 0.8
    assert "found again in 80%" in str(patterns[0])
    assert discover(*planted(), k=1, resamples=0)[0].stability is None


def test_patterns_are_a_sequence_with_a_frame_and_a_graph() -> None:
    patterns = discover(*planted(), k=4, exclusions=True, resamples=1)
    assert len(patterns[:2]) == 2
    assert len(patterns) == 4
    frame = patterns.to_frame()
    assert list(frame["pattern"]) == [1, 2, 3, 4]
    assert frame["stability"].between(0, 1).all()
    assert repr(patterns).startswith("Patterns: 4, ")
    assert len(patterns.to_graph().edges) >= 2


def test_nothing_is_found_where_no_labels_occur() -> None:
    patterns = discover(np.arange(40.0).reshape(-1, 1), np.zeros((40, 3), int))
    assert str(patterns) == "(no labels go together on the rows that were searched)"
    assert len(patterns.to_frame()) == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0}, "k must be a whole number of at least 1, got 0"),
        ({"max_labels": 1}, "max_labels must be a whole number of at least 2"),
        ({"test_size": 1.0}, "test_size must be"),
        ({"min_support": -1}, "min_support must be"),
        ({"resamples": "many"}, "resamples must be a whole number"),
    ],
)
def test_a_wrong_parameter_is_named_with_what_is_allowed(parameters: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        discover(*planted(), **parameters)


def test_data_without_enough_labels_or_rows_is_refused() -> None:
    with pytest.raises(DataError, match="only one; give a column per label"):
        discover(np.zeros((30, 1)), np.ones((30, 1), int))
    with pytest.raises(DataError, match="at least 20 rows, got 5"):
        discover(np.zeros((5, 1)), np.ones((5, 2), int))
    with pytest.raises(DataError, match="leaves nothing to test"):
        discover(np.zeros((20, 1)), np.ones((20, 2), int), test_size=0.01)
