"""What speaks for rules on new data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, fisher_exact

from helpers.rule_lists import make_rules, random_rule_list
from plurule._prediction.apply import decide
from plurule.errors import DataError
from plurule.inspection.evidence import Evidence, evidence, holm, wilson

RULES = make_rules("a <- x > 5\n!b <- x > 2\nb <- x > 100", {"x": None}, ("a", "b"))
X = np.arange(10.0)[:, None]
Y = np.array([[0, 1]] * 5 + [[1, 0]] * 4 + [[0, 0]])


@pytest.mark.parametrize(("right", "decided"), [(0, 4), (8, 10), (31, 31), (500, 1000)])
def test_intervals_and_p_values_are_those_of_scipy(right: int, decided: int) -> None:
    expected = binomtest(right, decided).proportion_ci(method="wilson")
    assert wilson(right, decided) == pytest.approx((expected.low, expected.high))


def test_a_rule_is_compared_with_the_frequency_of_its_labels() -> None:
    first, second, third = evidence(RULES, X, Y)
    assert first[:3] == (3, 4, 0.75)
    assert first.expected == pytest.approx(0.4)
    assert first.p_value == pytest.approx(fisher_exact([[3, 1], [1, 5]], alternative="greater").pvalue)
    assert second[:3] == (5, 7, 5 / 7)
    assert second.expected == pytest.approx(0.5)
    assert third.decided == 0
    assert np.isnan([third.precision, third.low, third.p_value, third.p_holm]).all()
    assert first.p_holm == pytest.approx(2 * min(first.p_value, second.p_value))


def test_labels_that_go_together_do_not_count_as_so_many_rows() -> None:
    """A head of ten labels that are one and the same is no better supported than a head of one of them."""
    names = [f"l{i}" for i in range(10)]
    x, y = np.arange(30.0)[:, None], np.repeat([[1], [0], [0]], 10, axis=0)
    alone = evidence(make_rules("l0 <- x <= 8", {"x": None}, names), x, np.tile(y, 10))[0]
    copies = evidence(make_rules(f"{', '.join(names)} <- x <= 8", {"x": None}, names), x, np.tile(y, 10))[0]
    assert (copies.decided, copies.rows, alone.rows) == (90, 9, 9)
    assert (copies.low, copies.high) == pytest.approx((alone.low, alone.high))
    assert copies.p_value == pytest.approx(10 * alone.p_value)


@pytest.mark.parametrize("seed", range(3))
def test_rows_with_a_decided_label_are_counted_once(seed: int) -> None:
    rules, table = random_rule_list(seed)
    truth = np.zeros((len(table), len(rules.labels)), dtype=int)
    decided_by = decide(rules, table).decided_by
    expected = [int((decided_by == position).any(axis=1).sum()) for position in range(len(rules))]
    assert [one.rows for one in evidence(rules, table, truth)] == expected


def test_p_values_of_chance_are_as_small_as_they_say_at_most_as_often() -> None:
    """Labels that depend on each other but not on the body: p < 5 % in at most about 5 % of the cases."""
    generator, small = np.random.default_rng(0), 0
    rules = make_rules("a, b, c <- x > 0", {"x": None}, ("a", "b", "c"))
    for _ in range(400):
        base = generator.random(60) < 0.4
        labels = np.column_stack([base ^ (generator.random(60) < 0.1) for _ in range(3)]).astype(int)
        small += evidence(rules, generator.normal(size=(60, 1)), labels)[0].p_value < 0.05
    assert small <= 400 * 0.05 + 10


def test_p_values_of_later_rules_are_about_the_rows_that_earlier_rules_left_open() -> None:
    """Earlier, `a` is absent; `z` has nothing to do with `a`, although `a` is frequent in what is left."""
    generator, small, smaller = np.random.default_rng(1), 0, 0
    rules = make_rules("!a <- x > 0\na <- z > 0\na <-", {"x": None, "z": None}, ("a",))
    for _ in range(400):
        features = generator.normal(size=(120, 2))
        labels = (generator.random((120, 1)) < np.where(features[:, :1] > 0, 0.1, 0.7)).astype(int)
        first, second, last = evidence(rules, features, labels)
        assert first.p_value < 0.05
        assert last.p_value == 1
        small += second.p_value <= 0.05
        smaller += second.p_holm <= 0.05
    assert 400 * 0.01 <= small <= 400 * 0.05 + 10
    assert smaller <= small


def test_rows_that_a_stop_rule_ended_are_not_open() -> None:
    rules = make_rules("a <- x > 5 [stop]\nb <- z > 0", {"x": None, "z": None}, ("a", "b"))
    x = np.repeat([0.0, 9.0], 20)
    z = np.tile([0.0, 1.0], 20)
    labels = np.column_stack([x > 5, x <= 5]).astype(int)
    second = evidence(rules, np.column_stack([x, z]), labels)[1]
    assert (second.right, second.decided, second.expected, second.p_value) == (10, 10, 1, 1)


def test_correction_keeps_the_order_and_leaves_out_what_was_not_tested() -> None:
    corrected = holm([0.2, 0.01, float("nan"), 0.02])
    assert corrected[:2] == pytest.approx([0.2, 0.03])
    assert corrected[3] == pytest.approx(0.04)
    assert np.isnan(corrected[2])


def test_labels_are_needed() -> None:
    with pytest.raises(DataError, match="true labels"):
        evidence(RULES, X)


def test_evidence_of_a_rule_is_shown_in_a_line() -> None:
    assert repr(evidence(RULES, X, Y)[0]) == "right in 3 of 4, 0.75 (0.30 to 0.95)"


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_what_new_data_say_stands_before_what_training_says(backend: str) -> None:
    pytest.importorskip(backend)
    columns = list(RULES.to_frame(backend, X, Y).columns)
    fields = list(Evidence._fields)
    assert columns[5 : 5 + len(fields)] == fields
    assert columns[5 + len(fields) :][:3] == ["training_tp", "training_fp", "training_precision"]
    assert not set(fields) & set(RULES.to_frame(backend).columns)
