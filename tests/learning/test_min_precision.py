"""The least precision of rules."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from plurule import RuleListClassifier
from plurule.errors import ParameterError
from plurule.learning.min_precision import UNBOUND, MinPrecision, as_min_precision

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


@pytest.mark.parametrize("value", [-0.1, 1.5, float("nan"), True, "half", None, [0.5]])
def test_a_number_outside_0_to_1_is_refused_with_what_is_allowed(value: Any) -> None:
    with pytest.raises(ParameterError, match="min_precision must be a number from 0 to 1") as error:
        as_min_precision(value)
    assert error.value.parameter == "min_precision"
    assert error.value.value is value
    with pytest.raises(ParameterError, match="MinPrecision: threshold must be a number from 0 to 1"):
        as_min_precision(MinPrecision(value))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"of": "labels"}, "MinPrecision: of must be 'label' or 'head', got 'labels'; did you mean 'label'"),
        ({"when": "end"}, "MinPrecision: when must be 'finished' or 'growing', got 'end'"),
    ],
)
def test_words_that_mean_nothing_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        as_min_precision(MinPrecision(**wrong))


def test_its_parts_can_be_searched_also_where_it_is_a_number() -> None:
    classifier = RuleListClassifier().set_params(min_precision__threshold=0.3)
    assert classifier.min_precision == MinPrecision(0.3)
    published = RuleListClassifier.published()
    changed = clone(published).set_params(min_precision__when="finished")
    assert changed.min_precision == MinPrecision(of="head", when="finished")
    assert published.min_precision == MinPrecision(of="head", when="growing")
    X = np.arange(20.0).reshape(-1, 1)
    Y = np.column_stack([X[:, 0] > 9, X[:, 0] % 4 == 0]).astype(int)
    search = GridSearchCV(RuleListClassifier(n_rules=3), {"min_precision__threshold": [0.2, 0.5]}, cv=2).fit(X, Y)
    assert search.best_params_["min_precision__threshold"] in (0.2, 0.5)


def test_a_lower_threshold_lets_rules_for_rare_labels_in_and_a_higher_one_keeps_rules_out() -> None:
    X = np.zeros((10, 1))
    Y = np.array([[1, 1]] * 3 + [[0, 1]] * 7)
    Y[9, 1] = 0
    found = {
        share: [
            str(a)
            for rule in RuleListClassifier(min_precision=share, n_rules=None).fit(X, Y).rule_list_
            for a in rule.head
        ]
        for share in (0.2, 0.3, 0.31, 0.5, 0.9, 0.91)
    }
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
            native, reference = (
                RuleListClassifier.published(min_precision=bar, n_rules=1, engine=engine).fit(X, Y).rule_list_
                for engine in ("native", "reference")
            )
            assert native == reference
            assert [str(c) for c in native[0].body] == ["x0 > 0.5"]
