"""The least precision of rules."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import learning as engine
from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule._learning.problem import UNBOUND, MinPrecision, Options, Problem
from plurule.data.inputs import encode
from plurule.errors import ParameterError

counts = st.integers(0, 10**6)


@given(counts, counts, st.integers(0, 100))
def test_counts_that_reach_it_in_exact_arithmetic_reach_it(tp: int, fp: int, percent: int) -> None:
    reached = MinPrecision(percent / 100).reached(np.array(float(tp)), np.array(float(fp)))
    assert bool(reached) == (tp >= Fraction(percent, 100) * (tp + fp))


@given(counts, counts)
def test_one_half_asks_for_as_many_right_as_wrong_and_nothing_for_nothing(tp: int, fp: int) -> None:
    right, wrong = np.array(float(tp)), np.array(float(fp))
    assert bool(MinPrecision(0.5).reached(right, wrong)) == (tp >= fp)
    assert UNBOUND.reached(right, wrong)


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), True, "half", [0.5]])
@pytest.mark.parametrize("kind", [RelaxedPruningClassifier, RuleListClassifier])
def test_a_number_outside_0_to_1_is_refused_with_what_is_allowed(kind: Any, value: Any) -> None:
    with pytest.raises(ParameterError, match=r"min_precision must be .*a number from 0 to 1") as error:
        kind(min_precision=value).fit([[1.0], [2.0]], [[1], [0]])
    assert error.value.parameter == "min_precision"
    assert error.value.value is value


def test_a_lower_threshold_lets_rules_for_rare_labels_in_and_a_higher_one_keeps_rules_out() -> None:
    X = np.zeros((10, 1))
    Y = np.array([[1, 1]] * 3 + [[0, 1]] * 7)
    Y[9, 1] = 0
    problem = Problem(encode(X), ("y0", "y1"), Y.astype(np.uint8), np.ones(len(X)))
    found = {}
    for share in (0.2, 0.3, 0.31, 0.5, 0.9, 0.91):
        options = Options(lift=np.ones(2), min_precision=MinPrecision(share, of="label", when="finished"))
        found[share] = [str(a) for rule in engine.learn(problem, options) for a in rule.head]
    assert sorted(found[0.2]) == sorted(found[0.3]) == ["y0", "y1"]
    assert found[0.31] == found[0.5] == found[0.9] == ["y1"]
    assert found[0.91] == []


@pytest.mark.parametrize("threshold", [0.05, 0.1, 0.15, 0.3, 0.4, 0.6, 0.7, 0.9])
def test_both_engines_take_a_rule_that_has_just_the_precision_that_is_asked_for(threshold: float) -> None:
    for n_covered in (n for n in range(5, 101) if abs(threshold * n - round(threshold * n)) < 1e-9):
        X = np.repeat([1.0, 0.0], [n_covered, 150])[:, None]
        Y = np.zeros((len(X), 2), dtype=int)
        Y[: round(threshold * n_covered), 0] = Y[-1, 1] = 1
        for of in ("head", "label"):
            bar = MinPrecision(threshold, of, when="growing")
            problem = Problem(encode(X), ("y0", "y1"), Y.astype(np.uint8), np.ones(len(X)))
            options = Options(lift=np.ones(2), min_precision=bar, n_rules=1)
            native, reference = (engine.learn(problem, options, name) for name in engine.ENGINES)
            assert native == reference
            assert [str(c) for c in native[0].body] == ["x0 > 0.5"]
