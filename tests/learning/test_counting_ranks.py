"""Ranks of numeric values and the split points between them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from plurule._learning.counting import midpoint, rank
from plurule._learning.finish import SAME_SPLIT, known_values, shorter, with_short_thresholds
from plurule.data.inputs import encode
from plurule.model import Attribute, RangeCondition, RuleList
from plurule.model.text import parse_rules

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite)
def test_a_split_point_lies_halfway_and_separates_any_two_finite_numbers(one, other):
    assume(one != other)
    below, above = min(one, other), max(one, other)
    split = midpoint(below, above)
    assert below <= split < above
    halfway = float((Fraction(below) + Fraction(above)) / 2)
    assert split == (halfway if halfway < above else below)


@given(finite)
def test_a_split_point_separates_neighbouring_doubles(below):
    above = float(np.nextafter(below, np.inf))
    assume(np.isfinite(above))
    assert below <= midpoint(below, above) < above


def test_a_split_point_of_the_smallest_numbers_is_halfway():
    tiny = 5e-324
    assert midpoint(1 * tiny, 5 * tiny) == 3 * tiny


def test_equal_values_have_equal_rank_and_missing_ones_have_none():
    ranks = rank(np.array([3.0, 1.0, np.nan, 3.0, -2.0]))
    assert ranks.codes.tolist() == [2, 1, -1, 2, 0]
    assert ranks.lowest.tolist() == ranks.highest.tolist() == [-2, 1, 3]


def test_negative_and_positive_zero_are_one_value():
    assert rank(np.array([0.0, -0.0, 1.0])).codes.tolist() == [0, 0, 1]


def test_a_column_of_missing_values_has_no_ranks():
    ranks = rank(np.array([np.nan, np.nan]), max_bins=2)
    assert ranks.codes.tolist() == [-1, -1]
    assert len(ranks.lowest) == 0


def test_bins_hold_about_equally_many_instances_and_know_their_ends():
    ranks = rank(np.arange(12.0), max_bins=3)
    assert ranks.codes.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert ranks.lowest.tolist() == [0, 4, 8]
    assert ranks.highest.tolist() == [3, 7, 11]


def test_few_distinct_values_keep_their_own_ranks_however_many_bins_are_allowed():
    assert rank(np.array([1.0, 2.0, 2.0, 5.0]), max_bins=3).codes.tolist() == [0, 1, 1, 2]


@given(
    st.lists(st.integers(-5, 20).map(float) | st.just(float("nan")), min_size=1, max_size=30),
    st.integers(2, 6),
)
def test_bins_keep_the_order_of_the_values_and_are_never_too_many(values, max_bins):
    column = np.array(values)
    ranks = rank(column, max_bins)
    known = ~np.isnan(column)
    assert ((ranks.codes >= 0) == known).all()
    assert len(ranks.lowest) <= max_bins
    assert sorted(set(ranks.codes[known].tolist())) == list(range(len(ranks.lowest)))
    for code, low, high in zip(range(len(ranks.lowest)), ranks.lowest, ranks.highest, strict=True):
        inside = column[ranks.codes == code]
        assert inside.min() == low
        assert inside.max() == high
    assert (ranks.highest[:-1] < ranks.lowest[1:]).all()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), min_size=1, max_size=15), st.integers(2, 5))
def test_bins_of_weighted_values_are_those_of_repeated_values(pairs, max_bins):
    values, counts = np.array([float(v) for v, _ in pairs]), np.array([c for _, c in pairs])
    weighted = rank(values, max_bins, counts.astype(float))
    repeated = rank(np.repeat(values, counts), max_bins)
    assert np.repeat(weighted.codes, counts).tolist() == repeated.codes.tolist()


def test_ranks_of_32_bit_numbers_have_double_ends():
    ranks = rank(np.array([0.1, 0.2], dtype=np.float32))
    assert ranks.lowest.dtype == np.float64
    assert ranks.lowest[0] == pytest.approx(0.1, rel=1e-6)


@given(finite, finite, st.floats(0, 1))
def test_a_shorter_threshold_parts_the_same_values_and_hardly_moves(one, other, share):
    assume(one != other)
    below, above = min(one, other), max(one, other)
    threshold = below + share * (above / 2 - below / 2)
    short = shorter(threshold, below, above)
    assert below <= short < above
    assert abs(Fraction(short) - Fraction(threshold)) <= (Fraction(above) - Fraction(below)) * Fraction(SAME_SPLIT)
    assert len(repr(short)) <= len(repr(threshold)) or short == float(f"{short:.6g}")


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [
        (2.892507, 2.9, 2.8962535),
        (5, 6, 5.5),
        (0.1, 0.2, 0.15),
        (-1, 1 + 1e-15, 0.0),
        (1, 1 + 2**-52, 1.0),
        (1, 2**40, 549756e6),
    ],
)
def test_thresholds_are_as_short_as_they_can_be(below, above, expected):
    assert shorter(midpoint(below, above), below, above) == expected


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array, lambda X: np.asarray(X, dtype=np.float32)])
def test_learned_thresholds_lie_in_the_gap_of_all_rows_and_given_ones_stay(form):
    names = (Attribute("x0"),), ("red", "blue")
    halfway = 2.3333333333333335
    rules = parse_rules(f"red <- x0 > {halfway}\nblue <- x0 > {halfway} and x0 <= 0.30000000000000004", *names)
    table = encode(form([[0.0], [1.0], [3.0], [2.3333332538604736], [np.nan]]), names[0])
    given, learned = with_short_thresholds(RuleList(rules, *names), table, n_given=1)
    assert given.body[0].threshold == halfway
    assert [c.threshold for c in learned.body] == [2.3333333, 0.3]
    assert isinstance(learned.body[0], RangeCondition)


@pytest.mark.parametrize("sign", [1, -1])
def test_halfway_is_found_where_the_sum_of_two_numbers_is_too_large(sign):
    below, above = sorted((sign * 1.5e308, sign * 1.7e308))
    assert midpoint(below, above) == pytest.approx(sign * 1.6e308, rel=1e-12)


def test_a_shorter_threshold_is_never_the_value_above_it():
    assert shorter(math.nextafter(3.0, 0), below=2, above=3) == math.nextafter(3.0, 0)


@pytest.mark.parametrize(("threshold", "expected"), [(0.123456789, 0.123457), (5.300000001, 5.300000001)])
def test_a_threshold_may_be_a_value_itself_or_lie_beyond_all_of_them(threshold, expected):
    names = (Attribute("x0"),), ("red",)
    rules = RuleList(parse_rules(f"red <- x0 > {threshold}", *names), *names)
    (short,) = with_short_thresholds(rules, encode([[0.123456789], [0.9]], names[0]))
    assert [c.threshold for c in short.body] == [expected]


def test_a_sparse_column_holds_a_0_unless_every_row_is_listed():
    columns = encode(sp.csc_array([[2.0, 0.0], [3.0, 4.0]])).columns
    assert [sorted(known_values(columns[i]).tolist()) for i in range(2)] == [[2.0, 3.0], [0.0, 4.0]]
