"""Dependencies on real data: the test, the control, and what is counted."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from plurule import DataError, RuleList
from plurule.datasets import load_world_flags
from research.dependencies.real import (
    Held,
    count_held,
    independent_labels,
    label_probabilities,
    read_lifts,
    recalibrated,
    rows_of,
    tail,
)
from research.dependencies.real_page import differences, summarise
from research.matrices import label_matrix
from research.paper.objectives import PAPER_OBJECTIVES, find_objective


def test_tails_are_those_of_enumeration() -> None:
    chances = np.array([0.1, 0.5, 0.9, 0.3])
    weights = {bits: np.prod(np.where(bits, chances, 1 - chances)) for bits in product([0, 1], repeat=4)}
    for count in range(5):
        above = sum(weight for bits, weight in weights.items() if sum(bits) >= count)
        below = sum(weight for bits, weight in weights.items() if sum(bits) <= count)
        assert tail(chances, count, above=True) == pytest.approx(above)
        assert tail(chances, count, above=False) == pytest.approx(below)


def dependent(n: int, share: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """An attribute, and two labels with equal chances given it; the second copies the first for a share of rows."""
    random = np.random.default_rng(seed)
    X = random.random((n, 1)).astype(np.float32)
    Y = random.random((n, 2)) < 0.2 + 0.6 * X
    copied = random.random(n) < share
    Y[copied, 1] = Y[copied, 0]
    return X, Y


def held(X: np.ndarray, Y: np.ndarray, text: str) -> Held:
    from plurule import read

    frame = pd.DataFrame(X, columns=["x"])
    names = [f"l{i}" for i in range(Y.shape[1])]
    data = read(pd.concat([frame, pd.DataFrame(Y.astype(int), columns=names)], axis=1), names)
    probabilities = label_probabilities(X, Y, trees=30)
    return count_held(RuleList.from_text(text, ["x"], names), data, Y, probabilities)


def test_dependent_labels_hold_given_the_attributes() -> None:
    assert held(*dependent(800, 0.5), "l0, l1 <- x > 0.1") == Held(1, 1, 1, 1)


def test_labels_that_share_an_attribute_are_associated_but_do_not_hold() -> None:
    assert held(*dependent(800, 0.0), "l0, l1 <- x > 0.1") == Held(1, 1, 0, 0)


def test_labels_that_are_together_do_not_hold_as_apart() -> None:
    assert held(*dependent(800, 0.5), "l0, ¬l1 <- x > 0.1") == Held(1, 0, 0, 0)


def test_what_relates_no_labels_is_not_counted() -> None:
    assert held(*dependent(100, 0.5), "l0 <- x > 0.1\n¬l0, ¬l1 <- x > 0.9") == Held(0, 0, 0, 0)


def test_control_keeps_the_dependence_on_attributes_and_loses_that_of_labels() -> None:
    X, Y = dependent(3000, 0.8)
    probabilities = label_probabilities(X, Y, trees=30)
    control = independent_labels(probabilities, seed=1)
    assert np.abs(control.mean(axis=0) - Y.mean(axis=0)).max() < 0.03
    assert abs(np.corrcoef(control[:, 0], X[:, 0])[0, 1] - np.corrcoef(Y[:, 0], X[:, 0])[0, 1]) < 0.07
    residuals = Y - probabilities, control - probabilities
    real, none = (np.corrcoef(one.T)[0, 1] for one in residuals)
    assert real > 0.5
    assert abs(none) < 0.06


def test_recalibration_keeps_the_frequency_and_the_order() -> None:
    random = np.random.default_rng(0)
    truth = random.random(2000)
    present = random.random(2000) < truth
    timid = 0.3 + 0.4 * truth
    found = recalibrated(timid, present)
    assert found.mean() == pytest.approx(present.mean(), abs=0.01)
    assert np.abs(found - truth).mean() < np.abs(timid - truth).mean() / 2
    assert recalibrated(timid, np.zeros(2000, dtype=bool)).max() == 0


def test_rows_of_a_rule_satisfy_its_attribute_conditions() -> None:
    data = load_world_flags()
    frame, _ = data.to_pandas()
    name = next(a.name for a in data.attributes if a.is_nominal)
    value = frame[name].dropna().iloc[0]
    rules = RuleList.from_text(f"{data.label_names[0]} <- {name} = {value}", data.attributes, data.label_names)
    assert np.array_equal(rows_of(next(iter(rules)), data), (frame[name] == value).to_numpy())
    assert label_matrix(data).shape[0] == len(frame)


def test_missing_lifts_are_explained(tmp_path) -> None:
    with pytest.raises(DataError, match=r"python -m research\.paper writes it"):
        read_lifts(tmp_path / "chosen-lifts.csv")


def counted(learner: str, data: str, held: int, name: str = "flags") -> dict[str, object]:
    return {
        "set": name,
        "data": data,
        "learner": learner,
        "stated": 10 * held,
        "associated": held,
        "held": held,
        "held_strictly": held,
    }


def test_summary_adds_objectives_and_averages_controls() -> None:
    rows = [counted("default", "real", 8), counted("default", "control 1", 1), counted("default", "control 2", 2)]
    for objective in PAPER_OBJECTIVES:
        for pruning, held in (("normal pruning", 1), ("relaxed pruning", 2)):
            rows.append(counted(f"{pruning}, {find_objective(objective).title}", "real", held))
            rows.append(counted(f"{pruning}, {find_objective(objective).title}", "control 1", 0))
    sums = summarise(rows)
    assert sums.loc["default", ("held", "real")] == 8
    assert sums.loc["default", ("held", "control")] == 1.5
    assert sums.loc["relaxed pruning", ("held", "real")] == 12
    assert sums.loc["normal pruning", ("stated", "real")] == 60
    assert differences(rows, "held") == dict.fromkeys(PAPER_OBJECTIVES, (1, 0))


def test_pairs_that_hold_strictly_do_not_depend_on_what_else_is_stated() -> None:
    X, Y = dependent(800, 0.5)
    others = np.random.default_rng(1).random((800, 3)) < 0.3
    labels = np.hstack([Y, others])
    alone = held(X, labels, "l0, l1 <- x > 0.1")
    among = held(X, labels, "l0, l1 <- x > 0.1\nl0, l2, l3, l4 <- x > 0.1\nl1, l2, l3, l4 <- x > 0.1")
    assert (alone.stated, among.stated) == (1, 10)
    assert alone.held_strictly == among.held_strictly == 1
