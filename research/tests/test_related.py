"""The related learners: hand-computed cases, brute force, and the conventions of scikit-learn."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from plurule import PluruleError, RelaxedPruningClassifier
from plurule.datasets import load_world_flags
from plurule.model import OneOfCondition, RangeCondition
from research.dependencies.data import make_dependent_labels
from research.dependencies.statements import count_found, statements
from research.processes import TookTooLongError
from research.related import (
    AssociationRules,
    BinaryRelevanceRules,
    Boomer,
    DecisionSets,
    EvolvedRules,
    LabelConstraints,
    LabelInference,
    SeCo,
    StackedRules,
)
from research.related.association import database_coverage, rank_rules
from research.related.columns import Columns, read_columns
from research.related.constraints import Constraints, allowed_states, mine_constraints, repair, soften
from research.related.decision_set_search import Objective, local_search, smooth_local_search
from research.related.evolution_operators import Niche
from research.related.inference import choose_inferred, mine_label_rules
from research.related.items import bin_thresholds, count, make_items, mine, pack, unpack
from research.related.labels import Labels
from research.related.peer_data import read_condition
from research.related.peers import peer_python

SHORT = RelaxedPruningClassifier(max_rules=4)
CHECKED = [
    BinaryRelevanceRules(),
    StackedRules(cv=2),
    LabelConstraints(SHORT),
    LabelInference(SHORT),
    AssociationRules(),
    DecisionSets(),
    EvolvedRules(population=16, generations=5),
]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED)
def test_related_learners_keep_the_conventions_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("learner", CHECKED, ids=lambda learner: type(learner).__name__)
def test_related_learners_take_frames_with_nominal_attributes_and_tables(learner: Any) -> None:
    flags = load_world_flags()
    frame, labels = flags.to_pandas()
    of_frame = learner.fit(frame, labels).predict(frame)
    of_table = learner.fit(flags.X, np.asarray(labels)).predict(flags.X)
    assert np.array_equal(of_frame, of_table)
    assert of_frame.shape == labels.shape
    assert of_frame.any()


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (AssociationRules(combine="frist"), "combine"),
        (AssociationRules(min_support=2), "min_support"),
        (AssociationRules(n_bins=0), "n_bins"),
        (DecisionSets(targets="label"), "targets"),
        (DecisionSets(weights=(1.0, 2.0)), "weights"),
        (DecisionSets(search="greedy"), "search"),
        (EvolvedRules(population=0), "population"),
        (LabelConstraints(min_confidence=2), "min_confidence"),
        (LabelInference(max_premise=0), "max_premise"),
        (StackedRules(cv=1), "cv"),
        (StackedRules(second_round="both"), "second_round"),
    ],
)
def test_a_parameter_of_no_meaning_is_refused_by_name(learner: Any, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        learner.fit([[0.0], [1.0]], [[0, 1], [1, 0]])


# Rules per label and stacking -----------------------------------------------------------------------------------------


def test_binary_relevance_predicts_as_a_list_per_label() -> None:
    X = np.random.default_rng(0).random((60, 3))
    Y = (X > [0.3, 0.6, 0.8]).astype(int)
    together = BinaryRelevanceRules(SHORT).fit(X, Y).predict(X)
    for label in range(3):
        alone = RelaxedPruningClassifier(max_rules=4).fit(X, Y[:, [label]]).predict(X)
        assert np.array_equal(together[:, label], alone[:, 0])


def test_stacking_uses_a_label_that_is_easier_to_predict() -> None:
    # The second label is that of the first unless x1 says otherwise, which attributes alone need more rules for.
    random = np.random.default_rng(0)
    X = random.random((300, 2))
    first = (X[:, 0] > 0.35) & (X[:, 0] < 0.8)
    Y = np.column_stack([first, first & (X[:, 1] > 0.2)]).astype(int)
    stacked = StackedRules().fit(X, Y)
    assert any(rule.label_conditions for rule in stacked.rule_list_ if rule.head.assignments[0].index == 1)
    assert (stacked.predict(X) == Y).mean() > 0.95


def test_stacking_repeats_the_second_round_until_nothing_changes() -> None:
    stacked = StackedRules(cv=2).fit(np.arange(40.0)[:, None], np.tile([[1, 0], [0, 1]], (20, 1)))
    X = np.arange(40.0)[:, None]
    once = stacked.predict(X)
    assert np.array_equal(stacked.set_params(max_rounds=100).predict(X), once)


def test_stacking_on_true_labels_states_planted_dependencies() -> None:
    found: dict[str, int] = {}
    for seed in range(3):
        data = make_dependent_labels(600, random_state=seed)
        for kind, (stated, _) in count_found(
            statements(StackedRules().fit(data.X, data.Y), data.X), data
        ).by_kind.items():
            found[kind] = found.get(kind, 0) + stated
    # Six of each kind are planted.
    assert {kind: found[kind] for kind in ("co-occurrence", "implication", "chain")} == dict.fromkeys(
        ("co-occurrence", "implication", "chain"), 6
    )
    assert found["exclusion"] >= 5


def test_stacking_on_predictions_hides_planted_dependencies() -> None:
    data = make_dependent_labels(600, random_state=0)
    model = StackedRules(second_round="predictions").fit(data.X, data.Y)
    assert count_found(statements(model, data.X), data).stated <= 1


# Items and association rules ------------------------------------------------------------------------------------------


def test_bins_hold_equally_many_values() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    thresholds = bin_thresholds(values, 5)
    assert np.histogram(values, [-np.inf, *thresholds, np.inf])[0].tolist() == [200] * 5
    assert bin_thresholds(np.array([np.nan, 3.0, 3.0]), 5) == []


def test_items_are_categories_and_bins_but_not_what_nearly_all_instances_have() -> None:
    frame = pd.DataFrame({"colour": ["red", "blue", "blue", None], "size": [1.0, 2.0, 3.0, np.nan], "one": 1.0})
    items = make_items(read_columns(frame), 3)
    texts = [str(condition) for condition in items.conditions]
    assert texts == ["colour = blue", "colour = red", "size <= 1.5", "1.5 < size <= 2.5", "size > 2.5"]
    assert items.masks.sum(axis=1).tolist() == [2, 1, 1, 1, 1]


def test_bitsets_count_as_masks_do() -> None:
    masks = np.random.default_rng(0).random((5, 130)) < 0.3
    assert count(pack(masks)).tolist() == masks.sum(axis=1).tolist()
    assert np.array_equal(unpack(pack(masks), 130), masks)


def random_baskets() -> tuple[Any, Any]:
    random = np.random.default_rng(3)
    return random.random((8, 100)) < 0.4, random.random((3, 100)) < 0.4


def test_mining_finds_what_brute_force_does() -> None:
    items, targets = random_baskets()
    mined = mine(pack(items), pack(targets), min_rows=6, max_items=3, max_sets=1000)
    expected = {}
    for size in (1, 2, 3):
        for itemset in combinations(range(8), size):
            counts = (items[list(itemset)].all(axis=0) & targets).sum(axis=1)
            if counts.max() >= 6:
                expected[itemset] = counts.tolist()
    assert dict(zip(mined.items, mined.counts.tolist(), strict=True)) == expected


def test_mining_finds_what_fp_growth_does() -> None:
    from mlxtend.frequent_patterns import fpgrowth

    items, _ = random_baskets()
    everything = np.ones((1, 100), dtype=bool)
    mined = mine(pack(items), pack(everything), min_rows=10, max_items=8, max_sets=1000)
    theirs = fpgrowth(pd.DataFrame(items.T), min_support=0.1)
    expected = {tuple(sorted(row.itemsets)): round(row.support * 100) for row in theirs.itertuples()}
    assert dict(zip(mined.items, mined.counts[:, 0].tolist(), strict=True)) == expected


def test_mining_too_many_itemsets_says_how_many_and_what_to_set() -> None:
    X = np.random.default_rng(0).random((50, 30))
    with pytest.raises(PluruleError, match=r"more than 100 itemsets .* higher min_support"):
        AssociationRules(min_support=0.001, max_sets=100).fit(X, X[:, :2] > 0.5)


def test_association_rules_are_ranked_by_confidence_support_and_length() -> None:
    #              item 0 holds for rows 0-3, item 1 for rows 0-1 and 4
    items = np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 1]], dtype=bool)
    label = np.array([[1, 1, 1, 0, 0]], dtype=bool)
    mined = mine(pack(items), pack(label), min_rows=1, max_items=2, max_sets=10)
    rules = rank_rules(mined, 1, 0.5)
    assert [mined.items[i] for i in rules.itemset] == [(0, 1), (0,), (1,)]
    assert rules.confidence.tolist() == [1.0, 0.75, 2 / 3]
    assert rules.support.tolist() == [2, 3, 2]
    # The first closes rows 0 and 1, the second row 2, and nothing is left for the third.
    assert database_coverage(rules, mined.covers, pack(label)) == [0, 1]


def test_association_rules_with_equal_bodies_are_merged_with_labels_by_support() -> None:
    X = [["a"]] * 4 + [["b"]] * 4
    Y = [[1, 1]] * 3 + [[0, 1]] + [[0, 0]] * 4
    frame = pd.DataFrame(X, columns=["kind"])
    learner = AssociationRules(min_support=0.1, min_confidence=0.7).fit(frame, np.array(Y))
    assert [rule.to_text() for rule in learner.rule_list_] == ["y0, y1 ← kind = a"]
    assert learner.label_ranks_ == [[1, 0]]


def rules_by_brute_force(
    items: Any, Y: Any, min_rows: float, min_confidence: float, max_conditions: int
) -> dict[tuple[int, ...], set[int]]:
    """MMAC as it is described, row by row: labels by itemset."""
    n_rows, n_labels = Y.shape
    open_pairs = {(row, label) for row in range(n_rows) for label in range(n_labels) if Y[row, label]}
    rows = set(range(n_rows))
    merged: dict[tuple[int, ...], set[int]] = {}
    while open_pairs:
        ranked = []
        for size in range(1, max_conditions + 1):
            for itemset in combinations(range(len(items)), size):
                covered = {row for row in rows if all(items[item][row] for item in itemset)}
                for label in range(n_labels):
                    support = sum((row, label) in open_pairs for row in covered)
                    if support >= min_rows and support >= min_confidence * len(covered) - 1e-9:
                        ranked.append((-support / len(covered), -support, size, itemset, label, covered))
        n_before = len(open_pairs)
        for *_, itemset, label, covered in sorted(ranked, key=lambda rule: rule[:5]):
            right = {(row, label) for row in covered} & open_pairs
            if right:
                merged.setdefault(itemset, set()).add(label)
                open_pairs -= right
        if len(open_pairs) == n_before:
            break
        rows = {row for row, _ in open_pairs} | {row for row in range(n_rows) if not Y[row].any()}
    return merged


@pytest.mark.parametrize("seed", range(8))
def test_association_rules_are_those_of_brute_force(seed: int) -> None:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.choice(["a", "b", "c"], size=(40, 4)), columns=list("wxyz"))
    chances = np.where(frame[["w", "x", "y"]] == "a", 0.9, 0.3)
    Y = (random.random((40, 3)) < chances).astype(int)
    learner = AssociationRules(min_support=0.05, min_confidence=0.6).fit(frame, Y)
    items = make_items(read_columns(frame), 5)
    expected = rules_by_brute_force(items.masks.tolist(), Y, 2, 0.6, 2)
    texts = {
        " ∧ ".join(sorted(str(items.conditions[item]) for item in itemset)): labels
        for itemset, labels in expected.items()
    }
    assert len(texts) > 5
    assert {
        " ∧ ".join(sorted(map(str, rule.body))): {label.index for label in rule.head} for rule in learner.rule_list_
    } == texts


def test_association_rules_by_the_first_rule_stop_there() -> None:
    flags = load_world_flags()
    Y = np.asarray(flags.to_pandas()[1])
    first = AssociationRules(combine="first").fit(flags.X, Y).predict(flags.X)
    every = AssociationRules().fit(flags.X, Y).predict(flags.X)
    assert (first.sum(axis=1) <= every.sum(axis=1)).mean() > 0.9


# Constraints and inference --------------------------------------------------------------------------------------------


def random_constraints(random: np.random.Generator, n_labels: int) -> Constraints:
    Y = (random.random((30, n_labels)) < random.random(n_labels)).astype(np.int8)
    return mine_constraints(Y, 1, float(random.choice([0.7, 0.9, 1.0])), 0.5)


def test_constraints_are_closed_under_implication_and_never_contradict_themselves() -> None:
    Y = np.array([[1, 1, 1, 0]] * 5 + [[0, 1, 1, 0]] * 5 + [[0, 0, 1, 0]] * 5 + [[0, 0, 0, 1]] * 9, dtype=np.int8)
    found = mine_constraints(Y, 5, 1.0, 1)
    assert [pair for pair in found.pairs() if pair[0] == "implies"] == [
        ("implies", 0, 1),
        ("implies", 0, 2),
        ("implies", 1, 2),
    ]
    assert [pair[1:] for pair in found.pairs() if pair[0] == "excludes"] == [(0, 3), (1, 3), (2, 3)]
    assert found.violations(Y) == 0


def test_repair_leaves_no_violated_constraint() -> None:
    random = np.random.default_rng(0)
    violated = 0
    for _ in range(60):
        constraints = random_constraints(random, 6)
        predicted = (random.random((20, 6)) < 0.5).astype(np.int8)
        violated += constraints.violations(predicted)
        assert constraints.violations(repair(predicted, random.random((20, 6)), constraints)) == 0
    assert violated > 0


def test_repair_keeps_what_violates_nothing_and_the_more_confident_label() -> None:
    implies = np.zeros((3, 3), dtype=bool)
    implies[0, 1] = True
    excludes = np.zeros((3, 3), dtype=bool)
    excludes[1, 2] = excludes[2, 1] = True
    constraints = Constraints(implies, excludes)
    predicted = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 0]], dtype=np.int8)
    confidence = np.array([[0.4, 0.1, 0.0], [0.1, 0.4, 0.0], [0.0, 0.1, 0.3], [0.0, 0.0, 0.0]])
    assert repair(predicted, confidence, constraints).tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_label_constraints_repair_any_classifier(soft: bool) -> None:
    random = np.random.default_rng(0)
    X = random.random((200, 4))
    first = X[:, 0] > 0.6
    Y = np.column_stack([first, first | (X[:, 1] > 0.7), ~first & (X[:, 2] > 0.5)]).astype(int)
    forest = RandomForestClassifier(n_estimators=5, max_depth=1, random_state=0)
    learner = LabelConstraints(forest, soft=soft).fit(X[:100], Y[:100])
    assert learner.constraints_.pairs() == [("implies", 0, 1), ("excludes", 0, 2)]
    assert learner.constraints_.violations(learner.predict(X)) == 0


def posterior_by_enumeration(probabilities: Any, constraints: Constraints) -> Any:
    """The probability of each label over all label sets that violate nothing."""
    n_labels = probabilities.shape[1]
    states = np.array(list(product([0, 1], repeat=n_labels)), dtype=np.int8)
    states = states[[constraints.violations(state[None]) == 0 for state in states]]
    weights = np.prod(np.where(states[None] == 1, probabilities[:, None], 1 - probabilities[:, None]), axis=2)
    return weights @ states / weights.sum(axis=1, keepdims=True)


def test_softened_probabilities_are_the_exact_posterior() -> None:
    random = np.random.default_rng(0)
    n_constraints = 0
    for _ in range(60):
        constraints = random_constraints(random, int(random.integers(2, 9)))
        probabilities = random.uniform(0.01, 0.99, (5, len(constraints.implies)))
        expected = posterior_by_enumeration(probabilities, constraints)
        assert np.abs(soften(probabilities, constraints) - expected).max() < 1e-9
        n_constraints += len(constraints.pairs())
    assert n_constraints > 100


def test_softened_probabilities_count_a_shared_cause_once() -> None:
    # 0 implies 1 and 2, and 1 implies 2: the allowed sets are none, 2, 12 and 012.
    implies = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    result = soften(np.full((1, 3), 0.5), Constraints(implies, np.zeros((3, 3), dtype=bool)))
    assert result[0] == pytest.approx([1 / 4, 2 / 4, 3 / 4])


def test_allowed_states_leave_out_the_weakest_constraint_of_a_large_group() -> None:
    excludes = np.zeros((3, 3), dtype=bool)
    excludes[0, 1] = excludes[1, 0] = excludes[1, 2] = excludes[2, 1] = True
    strength = np.array([[0, 1, 0], [1, 0, 9], [0, 9, 0]], dtype=float)
    constraints = Constraints(np.zeros((3, 3), dtype=bool), excludes, strength)
    assert [labels for labels, _ in allowed_states(constraints, 5)] == [[0, 1, 2]]
    ((labels, states),) = allowed_states(constraints, 4)
    assert (labels, states.tolist()) == ([1, 2], [[0, 0], [0, 1], [1, 0]])


def test_label_rules_are_counted_by_hand() -> None:
    Y = np.array([[1, 1, 0]] * 3 + [[1, 0, 0]] + [[0, 1, 1]] * 2, dtype=np.int8)
    rules = mine_label_rules(Y, min_support=2, min_confidence=0.7, max_premise=1)
    assert [(rule.premise, rule.conclusion, rule.confidence, rule.support) for rule in rules] == [
        ((2,), 1, 1.0, 2),
        ((0,), 1, 0.75, 3),
    ]
    assert choose_inferred(rules, Y, min_recall=1.0) == rules
    assert choose_inferred(rules[:1], Y, min_recall=0.5) == []


def test_label_inference_trains_without_what_it_infers() -> None:
    X = np.arange(40.0)[:, None]
    first = np.arange(40) < 15
    Y = np.column_stack([first, first, np.arange(40) % 2]).astype(int)
    learner = LabelInference(RelaxedPruningClassifier()).fit(X, Y)
    assert learner.trained_.tolist() == [0, 2] or learner.trained_.tolist() == [1, 2]
    predicted = learner.predict(X)
    assert np.array_equal(predicted[:, 0], predicted[:, 1])


# Decision sets --------------------------------------------------------------------------------------------------------


def random_objective(n_rules: int = 6, n_rows: int = 12) -> Objective:
    random = np.random.default_rng(1)
    covers = random.random((n_rules, n_rows)) < 0.5
    classes = random.integers(2, size=n_rules)
    right = covers & (random.integers(2, size=n_rows) == classes[:, None])
    lengths = random.integers(1, 4, size=n_rules).astype(float)
    return Objective(lengths, classes, covers, right, (1.0, 0.5, 0.3, 0.2, 2.0, 0.7, 1.5))


def by_definition(objective: Objective, chosen: tuple[int, ...]) -> float:
    """The seven terms as the paper writes them."""
    n_rules, n_rows = objective.covers.shape
    overlaps = {True: 0, False: 0}
    for i, j in combinations(chosen, 2):
        both = int((objective.covers[i] & objective.covers[j]).sum())
        overlaps[bool(objective.classes[i] == objective.classes[j])] += both
    wrong = sum(int((objective.covers[i] & ~objective.right[i]).sum()) for i in chosen)
    rightly = objective.right[list(chosen)].any(axis=0).sum() if chosen else 0
    terms = (
        n_rules - len(chosen),
        objective.lengths.max() * n_rules - sum(objective.lengths[i] for i in chosen),
        n_rows * n_rules**2 - overlaps[True],
        n_rows * n_rules**2 - overlaps[False],
        len({int(objective.classes[i]) for i in chosen}),
        n_rows * n_rules - wrong,
        int(rightly),
    )
    return float(np.dot(objective.weights, terms))


def all_subsets(n_rules: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(n_rules + 1) for chosen in combinations(range(n_rules), size)]


def test_objective_of_decision_sets_is_that_of_its_definition() -> None:
    objective = random_objective()
    for chosen in all_subsets(6):
        as_numbers = np.isin(np.arange(6), chosen).astype(float)
        assert objective.value(as_numbers) == pytest.approx(by_definition(objective, chosen))


def test_expected_gains_are_averages_over_all_sets() -> None:
    objective = random_objective(n_rules=4)
    chances = np.array([2 / 3, 1 / 3, 1 / 3, 2 / 3])
    gains = np.zeros(4)
    for chosen in all_subsets(4):
        weight = np.prod(np.where(np.isin(np.arange(4), chosen), chances, 1 - chances))
        for rule in range(4):
            with_it = by_definition(objective, tuple(sorted({*chosen, rule})))
            without = by_definition(objective, tuple(i for i in chosen if i != rule))
            gains[rule] += weight * (with_it - without)
    assert objective.gains(chances) == pytest.approx(gains)


def test_gains_of_a_set_are_differences_of_its_value() -> None:
    objective = random_objective()
    for chosen in all_subsets(6):
        gains = objective.set_gains(np.isin(np.arange(6), chosen))
        for rule in range(6):
            with_it = by_definition(objective, tuple(sorted({*chosen, rule})))
            without = by_definition(objective, tuple(i for i in chosen if i != rule))
            assert gains[rule] == pytest.approx(with_it - without)


def test_local_search_reaches_nearly_the_best_of_all_sets() -> None:
    n_best = 0
    for seed in range(40):
        objective = weighted_as_by_default(seed)
        subsets = all_subsets(8)
        best = max(by_definition(objective, chosen) for chosen in subsets)
        value = by_definition(objective, tuple(np.flatnonzero(local_search(objective)).tolist()))
        n_best += value == pytest.approx(best)
        assert value - objective.constant >= 0.9 * (best - objective.constant) - 1e-9
    assert n_best >= 38


def weighted_as_by_default(seed: int, n_rules: int = 8, n_rows: int = 30) -> Objective:
    """An objective of random rules of three classes with the weights of the learner."""
    random = np.random.default_rng(seed)
    covers = random.random((n_rules, n_rows)) < random.random((n_rules, 1))
    classes = random.integers(3, size=n_rules)
    right = covers & (random.integers(3, size=n_rows) == classes[:, None])
    lengths = random.integers(1, 4, size=n_rules).astype(float)
    return Objective(lengths, classes, covers, right, (0.5, 0.1, 0.1 / n_rows, 0.1 / n_rows, 1.0, 0.5, 1.0))


def test_local_search_exchanges_a_rule() -> None:
    # The first rule covers most, and the last fits the second better than the first: overlaps are dear.
    covers = np.zeros((3, 17), dtype=bool)
    covers[0, :10] = True
    covers[1, 8:16] = True
    covers[2, [*range(8), 16]] = True
    objective = Objective(np.ones(3), np.zeros(3, dtype=int), covers, covers, (0.1, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0))
    assert local_search(objective).tolist() == [False, True, True]


@pytest.mark.parametrize("targets", ["labels", "label_sets"])
def test_decision_sets_choose_rules_on_real_data(targets: str) -> None:
    flags = load_world_flags()
    model = DecisionSets(targets=targets).fit(flags)
    assert sum(bool(rule.body) for rule in model.rule_list_) >= 3


def test_smooth_local_search_takes_the_rule_that_is_right() -> None:
    covers = np.zeros((4, 20), dtype=bool)
    covers[0, :10] = True
    covers[1:, 10:] = True
    right = covers & (np.arange(4) == 0)[:, None]
    objective = Objective(np.ones(4), np.zeros(4, dtype=int), covers, right, (0.5, 0.1, 0.0, 0.0, 0.0, 0.1, 1.0))
    assert smooth_local_search(objective, np.random.default_rng(0)).tolist() == [True, False, False, False]


@pytest.mark.parametrize("targets", ["labels", "label_sets"])
def test_decision_sets_learn_a_clear_concept(targets: str) -> None:
    X = np.tile([[0.0], [1.0]], (20, 1))
    Y = np.tile([[1, 1, 0], [0, 0, 1]], (20, 1))
    assert np.array_equal(DecisionSets(targets=targets).fit(X, Y).predict(X), Y)


# Evolution ------------------------------------------------------------------------------------------------------------


def small_niche(Y: Labels) -> Niche:
    masks = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]], dtype=bool)
    return Niche(masks, Y, label=0, n_slots=2, beta=1.0, credit=0.5, multi_label_heads=True)


def test_value_of_an_evolved_rule_is_f_measure_plus_credit_of_its_head() -> None:
    niche = small_niche(np.array([[1, 1], [1, 1], [1, 0], [0, 0]], dtype=np.int8))
    #                  item 0, none, head with label 1;  item 1, none, no further label
    genes = np.array([[0, 2, 0, 1], [1, 2, 0, 0]])
    assert niche.values(genes).tolist() == pytest.approx([2 * 2 / (2 + 3) + (1.0 - 0.5) / 2, 1.0])


def test_token_competition_leaves_nothing_to_a_rule_whose_instances_are_taken() -> None:
    niche = small_niche(np.array([[1], [1], [1], [0]], dtype=np.int8))
    genes = np.array([[0, 2, 0], [1, 2, 0]])
    assert niche.compete(genes, np.array([0.8, 1.0])).tolist() == [0.0, 1.0]
    assert niche.compete(genes, np.array([1.0, 0.9])).tolist() == pytest.approx([1.0, 0.3])


def test_evolution_finds_a_rule_with_two_labels() -> None:
    X = np.random.default_rng(0).random((200, 5))
    Y = np.repeat((X[:, [0]] > 0.8) & (X[:, [1]] > 0.4), 2, axis=1).astype(int)
    learner = EvolvedRules(population=20, generations=10).fit(X, Y)
    assert any(len(rule.head) == 2 for rule in learner.rule_list_)
    assert (learner.predict(X) == Y).mean() > 0.95


# Adapters -------------------------------------------------------------------------------------------------------------


def test_conditions_of_mlrl_are_read() -> None:
    columns: Columns = read_columns(pd.DataFrame({"area": [1.5], "sea": ["no"]}))
    assert read_condition(0, "leq", 2.5, columns) == RangeCondition("area", 0, at_most=2.5)
    assert read_condition(0, "gr", 2.5, columns) == RangeCondition("area", 0, above=2.5)
    assert read_condition(1, "neq", 0.0, columns) == OneOfCondition("sea", 1, ("no",), negated=True)


def test_adapter_without_an_environment_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLURULE_PEER_PYTHON", "/nowhere/python")
    with pytest.raises(PluruleError, match="make quality"):
        SeCo().fit([[1.0], [2.0]], [[1, 0], [0, 1]])


@pytest.mark.parametrize("learner", [SeCo(), Boomer({"max_rules": 20}), Boomer({"max_rules": 20}, tuned=True)])
@pytest.mark.parametrize("sparse", [False, True])
def test_adapters_fit_and_predict(learner: Any, sparse: bool) -> None:
    if peer_python() is None:
        pytest.skip("there is no environment with mlrl: make quality")
    random = np.random.default_rng(0)
    X = random.random((120, 4)) * (random.random((120, 4)) < (0.08 if sparse else 1))
    Y = (X[:, :2] > 0).astype(int) if sparse else (X[:, :2] > 0.6).astype(int)
    predicted = learner.fit(X, Y).predict(X)
    assert (predicted == Y).mean() > 0.9
    assert learner.fit_seconds_ >= 0


def test_an_adapter_that_takes_too_long_is_ended() -> None:
    if peer_python() is None:
        pytest.skip("there is no environment with mlrl: make quality")
    random = np.random.default_rng(0)
    with pytest.raises(TookTooLongError, match="SeCo took longer than its CPU seconds"):
        SeCo(limit=1).fit(random.random((20_000, 50)), random.random((20_000, 10)) > 0.5)
