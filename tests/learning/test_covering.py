"""Separate and conquer: stop marks, when it ends, and the same rules as a naive learner."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import learning as engine
from helpers.campaigns import numbers
from helpers.learning import ENGINES
from helpers.oracle import Learned
from helpers.problems import (
    as_learned,
    make_options,
    make_problem,
    make_table,
    options_of,
    oracle_of,
    random_problem,
    random_settings,
    take_rows,
)
from plurule._learning.covering import learn
from plurule._learning.problem import MinPrecision, Options, Problem, exact_weights
from plurule._prediction.apply import OPEN, decide, replay
from plurule.data.dataset import SparseColumn, Table
from plurule.heuristics import FMeasure, HammingAccuracy, Heuristic, Precision, ratio
from plurule.lifts import KLN
from plurule.model import Attribute, Rule, RuleList

randoms = st.randoms(use_true_random=False)


def texts(rule_list: RuleList) -> list[str]:
    return [str(rule) for rule in rule_list]


def learned(problem: Problem, lift: Any = None, **changes: Any) -> list[str]:
    return texts(learn(problem, make_options(problem, lift, **changes)))


# By hand ---------------------------------------------------------------------------------------------------


def test_a_rule_that_leaves_nothing_present_open_ends_its_instances():
    problem = make_problem({"a": [1, 1, 2, 2]}, [[1, 0], [1, 0], [0, 1], [0, 1]])
    assert learned(problem) == ["A ← a <= 1.5   (TP 2, FP 0, stop)", "B ←   (TP 2, FP 0, stop)"]


def test_a_rule_that_leaves_a_present_label_open_keeps_its_instances_for_the_next():
    # A covers everything first; B is still open on two instances.
    problem = make_problem({"a": [1, 1, 2, 2]}, [[1, 1], [1, 1], [1, 0], [1, 0]])
    assert learned(problem) == ["A ←   (TP 4, FP 0)", "B ← a <= 1.5   (TP 2, FP 0, stop)"]


def test_with_absence_an_instance_is_finished_only_if_every_label_is_decided():
    problem = make_problem({"a": [1, 1, 2, 2]}, [[1, 0], [1, 0], [1, 0], [1, 0]])
    assert learned(problem, head_search="single") == ["A ←   (TP 4, FP 0, stop)"]
    assert learned(problem, head_search="single", predict_absence=True) == [
        "A ←   (TP 4, FP 0)",
        "¬B ←   (TP 4, FP 0, stop)",
    ]


def stopping(share_open: int) -> Problem:
    """100 instances with A, of which some also have B."""
    rows = [[1, int(i < share_open)] for i in range(100)]
    return make_problem({"a": [0] * 100}, rows)


@pytest.mark.parametrize(("still_open", "threshold", "stops"), [(1, 0.01, True), (2, 0.01, False), (29, 0.29, True)])
def test_a_rule_stops_if_at_most_the_threshold_of_what_it_covers_is_unfinished(still_open, threshold, stops):
    problem = stopping(still_open)
    (rule, *_) = learn(problem, make_options(problem, stop_threshold=threshold, head_search="single"))
    assert rule.stop is stops


def test_the_unfinished_share_is_weighted():
    problem = make_problem({"a": [0, 0]}, [[1, 0], [1, 1]], weights=[99, 1])
    (rule, *_) = learn(problem, make_options(problem, head_search="single"))
    assert rule.stop
    problem = make_problem({"a": [0, 0]}, [[1, 0], [1, 1]], weights=[98, 2])
    (rule, *_) = learn(problem, make_options(problem, head_search="single"))
    assert not rule.stop


@pytest.mark.parametrize(("remaining", "rules"), [(0.0, 3), (0.1, 3), (0.29, 2), (0.3, 2), (0.71, 1), (1.0, 0)])
def test_learning_ends_when_no_more_than_the_remaining_share_is_left(remaining, rules):
    # Rules that stop cover 42, then 29, then 29 of 100 instances.
    sizes = {"x": 42, "y": 29, "z": 29}
    categories = [name for name, size in sizes.items() for _ in range(size)]
    rows = [[int(name == other) for other in sizes] for name in categories]
    problem = make_problem({"a": categories}, rows)
    assert len(learned(problem, remaining=remaining, heuristic=Precision())) == rules


def test_learning_ends_at_n_rules():
    problem = make_problem({"a": [1, 1, 2, 2]}, [[1, 0], [1, 0], [0, 1], [0, 1]])
    assert learned(problem, n_rules=1) == ["A ← a <= 1.5   (TP 2, FP 0, stop)"]


def test_learning_ends_when_no_rule_is_more_right_than_wrong():
    problem = make_problem({"a": [1, 1, 1]}, [[1], [0], [0]])
    assert learned(problem) == []
    assert str(learn(problem, make_options(problem))) == "(no rules: every label is absent)"


def hidden(**columns: list[str]) -> Problem:
    """A is in 2 of 5 wherever one looks, B where a and b are x, of which each alone is more wrong than right."""
    cells = {"xx": [[0, 1]] * 2, "xy": [[1, 0], [1, 0], [0, 0]], "yx": [[1, 0], [1, 0], [0, 0]], "yy": [[0, 0]] * 2}
    names = [cell for cell, rows in cells.items() for _ in rows]
    return make_problem(
        {"a": [name[0] for name in names], "b": [name[1] for name in names], **columns},
        [row for rows in cells.values() for row in rows],
    )


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("of", ["label", "head"])
def test_a_label_for_which_no_finished_rule_stands_is_set_aside_and_the_others_get_their_rules(name, of):
    problem = hidden()
    options = {
        "heuristic": FMeasure(beta=2),
        "head_search": "single",
    }
    growing, finished = (MinPrecision(of=of, when=when) for when in ("growing", "finished"))
    as_published = engine.learn(problem, make_options(problem, min_precision=growing, **options), engine=name)
    assert texts(as_published) == []
    found = engine.learn(problem, make_options(problem, min_precision=finished, **options), engine=name)
    assert texts(found) == ["B ← a = x ∧ b = x   (TP 2, FP 0, stop)"]


@pytest.mark.parametrize("name", ENGINES)
def test_before_it_is_set_aside_a_label_gets_the_rules_that_are_right_on_the_way_too(name):
    # Best for A is still the empty body, with TP 4 and FP 6.
    problem = hidden(c=["x" if i in (2, 5) else "y" for i in range(10)])
    options = make_options(
        problem, heuristic=FMeasure(beta=2), head_search="single", min_precision=MinPrecision(of="head")
    )
    assert texts(engine.learn(problem, options, engine=name))[:2] == [
        "A ← c = x   (TP 2, FP 0, stop)",
        "B ← a = x ∧ b = x   (TP 2, FP 0, stop)",
    ]


def test_a_label_that_is_constant_breaks_nothing():
    problem = make_problem({"a": [1, 2]}, [[1, 0, 1], [0, 0, 1]])
    assert learned(problem) == ["C ←   (TP 2, FP 0)", "A ← a <= 1.5   (TP 1, FP 0, stop)"]
    assert learned(problem, predict_absence=True, heuristic=HammingAccuracy())


def test_a_pair_once_predicted_is_never_overwritten():
    problem = make_problem({"a": [1, 1, 1, 2, 2]}, [[1, 1], [1, 1], [0, 1], [0, 0], [0, 1]])
    rule_list = learn(problem, make_options(problem, predict_absence=True, head_search="single", remaining=0))
    written = np.full(problem.Y.shape, OPEN)
    for step in replay(rule_list, problem.table):
        before = written.copy()
        written = step.decisions.predicted.copy()
        assert (written[before != OPEN] == before[before != OPEN]).all()


def test_a_rule_knows_what_it_covered_and_decided():
    problem = make_problem({"a": [1, 1, 1, 2, 2]}, [[1, 0], [1, 0], [0, 0], [0, 1], [0, 1]])
    rule_list = learn(problem, make_options(problem))
    assert texts(rule_list) == ["B ← a > 1.5   (TP 2, FP 0, stop)", "A ←   (TP 2, FP 1, stop)"]
    assert [rule.coverage for rule in rule_list] == [2, 3]
    assert [rule.decided for rule in rule_list] == [((2, 0),), ((2, 1),)]
    # A is decided by no rule for the last two, B for the first three.
    assert rule_list.undecided == ((2, 0), (3, 0))


def test_numeric_columns_in_bins_have_split_points_between_bins_only():
    problem = make_problem({"a": list(range(12))}, [[int(i <= 1)] for i in range(12)])
    exact = learn(problem, make_options(problem))
    binned = learn(problem, make_options(problem, max_bins=3))
    assert str(exact[0].body[0]) == "a <= 1.5"
    assert str(binned[0].body[0]) == "a <= 3.5"


def test_progress_is_told_after_every_rule():
    problem = make_problem({"a": [1, 1, 2, 2]}, [[1, 0], [1, 0], [0, 1], [0, 1]])
    told: list[tuple[int, float]] = []
    learn(problem, make_options(problem), lambda rules, share: told.append((rules, share)))
    assert told == [(1, 0.25), (2, 0.5)]


def test_a_heuristic_of_ones_own_works_in_training():
    class Odds(Heuristic):
        def evaluate(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
            return ratio(tp, fp + 1)

    problem = make_problem({"a": [1, 1, 2, 2]}, [[1, 0], [1, 0], [0, 1], [0, 1]])
    for averaging in ("micro", "macro"):
        assert learned(problem, heuristic=Odds(), averaging=averaging)[0] == "A ← a <= 1.5   (TP 2, FP 0, stop)"


def test_neighbouring_32_bit_numbers_are_told_apart_in_training_and_prediction():
    low = np.float32(1)
    values = [low]
    for _ in range(3):
        values.append(np.nextafter(values[-1], np.float32(2)))
    Y = np.array([[1], [1], [0], [0]], dtype=np.uint8)
    problem = Problem(Table([Attribute("a")], [np.array(values)]), ("A",), Y, np.ones(4))
    rule_list = learn(problem, make_options(problem))
    assert decide(rule_list, problem.table).labels().tolist() == Y.tolist()
    as_doubles = Table([Attribute("a")], [np.array(values, dtype=np.float64)])
    assert decide(rule_list, as_doubles).labels().tolist() == Y.tolist()


@pytest.mark.parametrize(
    "values", [[-1.7e308, 1.7e308], [0.0, 5e-324], [1.0, np.nextafter(1.0, 2.0)], [1.6e308, 1.7e308]]
)
def test_extreme_numbers_are_told_apart(values):
    problem = make_problem({"a": [values[0]] * 2 + [values[1]] * 2}, [[1], [1], [0], [0]])
    rule_list = learn(problem, make_options(problem))
    assert decide(rule_list, problem.table).labels().tolist() == problem.Y.tolist()


# Properties ------------------------------------------------------------------------------------------------


def rules_of(name: Any, problem: Problem, options: Options) -> list[Learned]:
    return [as_learned(rule) for rule in engine.learn(problem, options, engine=name)]


@given(randoms)
@settings(max_examples=100)
def test_the_rules_are_those_of_a_naive_learner_with_exact_fractions(rng: random.Random):
    problem = random_problem(rng)
    chosen = random_settings(rng, problem.n_labels)
    expected = oracle_of(problem, chosen).learn()
    for name in ENGINES:
        assert rules_of(name, problem, options_of(chosen)) == expected, name


@pytest.mark.parametrize("block", numbers(1, 10))
def test_the_rules_are_those_of_a_naive_learner_on_many_more_problems(block):
    for seed in range(200 * block, 200 * (block + 1)):
        rng = random.Random(seed)
        problem = random_problem(rng, most_rows=8)
        chosen = random_settings(rng, problem.n_labels)
        expected = oracle_of(problem, chosen).learn()
        for name in ENGINES:
            assert rules_of(name, problem, options_of(chosen)) == expected, f"{name} engine, seed {seed}"


@given(randoms)
@settings(max_examples=100)
def test_prediction_repeats_what_training_decided(rng: random.Random):
    problem = random_problem(rng)
    rule_list, predicted = learn_and_keep(problem, options_of(random_settings(rng, problem.n_labels)))
    decisions = decide(rule_list, problem.table)
    closed = predicted != OPEN
    assert (decisions.predicted[closed] == predicted[closed]).all()


@given(randoms)
@settings(max_examples=100)
def test_every_rule_closes_a_pair_so_that_learning_ends(rng: random.Random):
    problem = random_problem(rng)
    rule_list = learn(problem, options_of(random_settings(rng, problem.n_labels)))
    assert len(rule_list) <= problem.Y.size
    for rule in rule_list:
        assert rule.tp > 0
        assert sum(right + wrong for right, wrong in rule.decided) > 0
    total = sum(right + wrong for rule in rule_list for right, wrong in rule.decided)
    left = sum(absent + present for absent, present in rule_list.undecided)
    assert total + left == problem.weights.sum() * problem.n_labels


@given(randoms)
@settings(max_examples=50)
def test_whole_weights_are_repeated_rows(rng: random.Random):
    problem = random_problem(rng, weighted=False)
    counts = [rng.randint(1, 3) for _ in range(problem.n_instances)]
    options = options_of(random_settings(rng, problem.n_labels))
    weighted = Problem(problem.table, problem.labels, problem.Y, np.array(counts, dtype=np.float64))
    repeated = take_rows(problem, np.repeat(np.arange(problem.n_instances), counts).tolist())
    assert learn(weighted, options) == learn(repeated, options)


@given(randoms)
@settings(max_examples=50)
def test_the_order_of_the_rows_changes_nothing(rng: random.Random):
    problem = random_problem(rng)
    order = rng.sample(range(problem.n_instances), problem.n_instances)
    shuffled = Problem(problem.table[order], problem.labels, problem.Y[order], problem.weights[order])
    options = options_of(random_settings(rng, problem.n_labels))
    assert learn(problem, options) == learn(shuffled, options)


@given(randoms, st.lists(st.floats(0.01, 1000), min_size=10, max_size=10))
@settings(max_examples=50)
def test_the_order_of_the_rows_changes_nothing_with_any_weights(rng: random.Random, weights: list[float]):
    problem = random_problem(rng)
    exact = exact_weights(np.array(weights[: problem.n_instances]), problem.n_labels)
    order = rng.sample(range(problem.n_instances), problem.n_instances)
    options = options_of(random_settings(rng, problem.n_labels))
    straight = learn(Problem(problem.table, problem.labels, problem.Y, exact), options)
    shuffled = learn(Problem(problem.table[order], problem.labels, problem.Y[order], exact[order]), options)
    assert straight == shuffled


@given(randoms)
@settings(max_examples=50)
def test_sparse_columns_give_the_model_of_dense_ones(rng: random.Random):
    problem = random_problem(rng)
    columns = []
    for i in range(problem.table.shape[1]):
        dense = problem.table.column(i)
        rows = np.flatnonzero(dense != 0).astype(np.int32)
        columns.append(SparseColumn(rows, dense[rows], len(dense)))
    sparse = Table(problem.table.attributes, columns, problem.n_instances)
    options = options_of(random_settings(rng, problem.n_labels))
    assert learn(problem, options) == learn(Problem(sparse, problem.labels, problem.Y, problem.weights), options)


@given(randoms)
@settings(max_examples=50)
def test_without_lift_relaxed_and_decomposable_learn_the_same_rules(rng: random.Random):
    problem = random_problem(rng)
    chosen = options_of(random_settings(rng, problem.n_labels))
    changes = {"predict_absence": chosen.predict_absence, "fix_head": chosen.fix_head}
    relaxed = learn(problem, make_options(problem, head_search="relaxed", **changes))
    decomposable = learn(problem, make_options(problem, head_search="decomposable", **changes))
    assert relaxed == decomposable


def learn_and_keep(problem: Problem, options: Options) -> tuple[RuleList, Any]:
    """The rule list, and what training predicted: the rules once more, on the instances each was learned from."""
    rule_list = learn(problem, options)
    predicted = np.full(problem.Y.shape, OPEN, dtype=np.int8)
    training = np.ones(problem.n_instances, dtype=bool)
    for rule in rule_list:
        covered = training & covers(rule, problem, predicted)
        assert problem.weights[covered].sum() == rule.coverage
        for assignment in rule.head:
            newly = covered & (predicted[:, assignment.index] == OPEN)
            predicted[newly, assignment.index] = assignment.present
        if rule.stop:
            training &= ~covered
    return rule_list, predicted


def covers(rule: Rule, problem: Problem, predicted: Any) -> Any:
    oracle = oracle_of(problem, random_settings(random.Random(0), problem.n_labels))
    oracle.predicted = [[None if value == OPEN else value for value in row] for row in predicted.tolist()]
    inside = np.zeros(problem.n_instances, dtype=bool)
    inside[oracle.covered(as_learned(rule).body)] = True
    return inside


def test_stronger_lifts_give_longer_heads_and_shorter_lists():
    rng = random.Random(3)
    columns = {f"a{i}": [rng.random() for _ in range(60)] for i in range(3)}
    base = [[v > 0.5 for v in row] for row in zip(*columns.values(), strict=True)]
    rows = [[int(b ^ (rng.random() < 0.15)) for b in (*row, row[0])] for row in base]
    problem = make_problem(columns, rows)
    lists = [learn(problem, make_options(problem, KLN(k=k), predict_absence=True)) for k in (0, 0.1, 0.5)]
    lengths = [np.mean([len(rule.head) for rule in rules]) for rules in lists]
    assert lengths == sorted(lengths)
    assert len(lists[0]) > len(lists[-1])


def test_a_table_without_columns_still_gives_rules():
    problem = Problem(make_table({}, 3), ("A",), np.array([[1], [1], [0]], dtype=np.uint8), np.ones(3))
    assert learned(problem) == ["A ←   (TP 2, FP 1, stop)"]
