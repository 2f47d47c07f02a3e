"""What the core counts of rows as bits, against plain Python."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pytest

from helpers.pool_rows import Rows, pack, random_choices, random_rows, random_updates, unpack
from plurule import _core

SIZES = [0, 1, 7, 8, 55, 56, 57, 63, 64, 65, 200]
every_size = pytest.mark.parametrize("n_rows", SIZES)
SEEDS = range(6)


def problem(n_rows: int, seed: int, **sizes: int) -> tuple[Rows, _core.PoolRows, np.random.Generator]:
    rng = np.random.default_rng([n_rows, seed])
    rows = random_rows(rng, n_rows, **sizes)
    return rows, rows.core(), rng


@every_size
def test_cover_updates_are_those_of_plain_python(n_rows: int):
    for seed in SEEDS:
        rows, core, rng = problem(n_rows, seed)
        updates = random_updates(rng, rows)
        sums = core.cover_updates(updates)
        assert sums.dtype == np.float64
        assert np.array_equal(sums, rows.cover_updates(updates))


@pytest.mark.parametrize("share", [0.002, 0.05, 1.0])
def test_cover_updates_agree_however_they_are_counted(share: float):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        rows = random_rows(rng, 2000, n_bodies=150)
        rows.holds[7] = rng.random(2000) < share
        updates = [_core.CoverUpdate(7, 1, ()), _core.CoverUpdate(7, 2, (3,)), _core.CoverUpdate(0, 1, (7,))]
        assert np.array_equal(rows.core().cover_updates(updates), rows.cover_updates(updates))


def test_many_rows_and_bodies_are_counted_without_a_byte_for_each():
    rng = np.random.default_rng(0)
    rows = random_rows(rng, 70_000, n_bodies=1000, n_labels=2)
    updates = [_core.CoverUpdate(1, 0, ()), _core.CoverUpdate(2, 1, (3, 4))]
    assert np.array_equal(rows.core().cover_updates(updates), rows.cover_updates(updates))


@every_size
def test_prefix_counts_are_those_of_every_beginning(n_rows: int):
    for seed in SEEDS:
        rows, core, rng = problem(n_rows, seed)
        choices = random_choices(rng, rows)
        labels = rng.permutation(rows.n_labels)[: rng.integers(1, rows.n_labels + 1)].tolist()
        expected = rows.prefix_counts(choices, labels)
        counts = core.prefix_counts(choices, labels, True)
        for name in ("tp", "fp", "positives"):
            assert np.array_equal(getattr(counts, name), expected[name])
        assert counts.weight == expected["weight"]
        assert [list(map(tuple, table.tolist())) for table in counts.rows] == expected["rows"]
        without = core.prefix_counts(choices, labels, False)
        assert np.array_equal(without.tp, expected["tp"])
        assert without.rows == ()


@every_size
def test_decide_gives_the_bits_of_present_and_decided_pairs(n_rows: int):
    for seed in SEEDS:
        rows, core, rng = problem(n_rows, seed)
        choices = random_choices(rng, rows)
        decisions, _ = rows.decide(choices)
        present, decided = core.decide(choices)
        assert present.shape == decided.shape == (rows.n_labels, (n_rows + 7) // 8)
        assert np.array_equal(unpack(present, n_rows), decisions == 1)
        assert np.array_equal(unpack(decided, n_rows), (decisions != -1) & rows.rows)
        assert np.array_equal(pack(unpack(present, n_rows)), present)


@every_size
def test_rule_counts_are_those_of_plain_python(n_rows: int):
    for seed in SEEDS:
        rows, core, rng = problem(n_rows, seed)
        choices = random_choices(rng, rows)
        assert core.rule_counts(choices) == rows.rule_counts(choices)


def test_prefix_counts_can_be_made_and_pickled():
    rows, core, rng = problem(60, 1)
    counts = core.prefix_counts(random_choices(rng, rows), [0, 1], True)
    for copy in (
        pickle.loads(pickle.dumps(counts)),
        _core.PrefixCounts(counts.tp, counts.fp, counts.positives, counts.weight, counts.rows),
    ):
        assert np.array_equal(copy.tp, counts.tp)
        assert copy.weight == counts.weight
        assert all(map(np.array_equal, copy.rows, counts.rows))


def test_select_chooses_what_counting_by_cover_updates_does():
    for seed in SEEDS:
        rows, core, _ = problem(200, seed)
        by_rows, by_updates = (selection(rows) for _ in range(2))
        core.select(by_rows)
        while updates := by_updates.choose():
            by_updates.update(rows.cover_updates(updates))
        assert by_rows.chosen() == by_updates.chosen()
        assert any(by_rows.chosen())


def test_alike_gives_the_first_criterion_that_chooses_the_same():
    rows, core, _ = problem(200, 0)
    one = selection(rows)
    core.select(one)
    chosen = one.chosen()
    assert one.alike() == [chosen.index(choices) for choices in chosen]
    assert len(set(one.alike())) < len(chosen)


def test_rules_before_a_default_rule_predict_the_absence_of_its_labels_but_for_groups():
    for seed in SEEDS:
        rows, core, _ = problem(200, seed)
        one = selection(rows)
        core.select(one)
        for choices in one.chosen():
            default = {label for choice in choices if choice.is_default for label in choice.head}
            for choice in choices:
                present = [choice.is_default or label < 2 or label not in default for label in choice.head]
                assert list(choice.present) == present
                assert set(choice.decided) == {*choice.head, *([0, 1] if {0, 1} & {*choice.head} else [])}


def selection(rows: Rows) -> _core.PoolSelection:
    """Return a selection by rows, before anything is chosen, of which labels 0 and 1 are a group."""
    n_bodies, n_labels = len(rows.holds), rows.n_labels
    begin = [_core.CoverUpdate(0, label, ()) for label in range(n_labels)]
    lift = [1 + 0.05 * i for i in range(n_labels)]
    return _core.PoolSelection(
        n_conditions=np.arange(n_bodies) % 3 * 1.0,
        sums=np.ascontiguousarray(rows.cover_updates(begin).swapaxes(0, 1)),
        label_weights=np.ones(n_labels),
        min_precision=0.0,
        forbidden=np.zeros((2, n_labels, n_bodies), np.uint8),
        excludes=[],
        groups=[[0, 1]],
        hierarchy=[],
        criteria=[
            _core.Criterion(lam, 0.05, exceptions, lift, [0])
            for lam in (0.2, 0.21, 0.5)
            for exceptions in (False, True)
            for _ in range(2)
        ],
        max_rules=6,
        cache_size=100,
    )


def test_rows_do_not_copy_what_bodies_cover():
    holds = np.zeros((3, 100), np.uint8)
    references = sys.getrefcount(holds)
    core = _core.PoolRows(800, np.full(100, 255, np.uint8), holds, np.zeros((2, 100), np.uint8), None, None, None)
    assert sys.getrefcount(holds) > references
    del core
    assert sys.getrefcount(holds) == references


GOOD: dict[str, Any] = {
    "n_rows": 12,
    "rows": np.array([255, 15], np.uint8),
    "holds": np.array([[255, 15], [1, 0]], np.uint8),
    "present": np.zeros((3, 2), np.uint8),
    "open": None,
    "predicted": None,
    "weights": None,
}


@pytest.mark.parametrize(
    "change",
    [
        {"n_rows": 17},
        {"n_rows": 11},
        {"rows": np.array([255, 31], np.uint8)},
        {"rows": np.array([255], np.uint8)},
        {"holds": np.array([[255, 16]], np.uint8)},
        {"present": np.full((3, 2), 128, np.uint8)},
        {"open": np.zeros((2, 2), np.uint8)},
        {"predicted": np.zeros((3, 3), np.uint8)},
        {"weights": np.ones(11)},
        {"weights": np.full(12, np.nan)},
        {"weights": np.full(12, -1.0)},
    ],
)
def test_rows_that_do_not_fit_together_are_refused(change: dict[str, Any]):
    _core.PoolRows(**GOOD)
    with pytest.raises(ValueError, match=r"\w"):
        _core.PoolRows(**GOOD | change)


@pytest.mark.parametrize(
    "choices",
    [
        [_core.Choice(2, [0], [True], [0], False)],
        [_core.Choice(0, [3], [True], [0], False)],
        [_core.Choice(0, [0], [True], [3], False)],
        [_core.Choice(0, [0], [], [0], False)],
        [_core.Choice(0, [0], [True], [0, 0], False)],
        [_core.Choice(0, [0], [True], [0], False), _core.Choice(0, [1], [True], [1], True)],
    ],
)
def test_choices_that_cannot_be_are_refused(choices: list[_core.Choice]):
    rows = _core.PoolRows(**GOOD)
    for question in (rows.decide, rows.rule_counts, lambda chosen: rows.prefix_counts(chosen, [0], False)):
        with pytest.raises(ValueError, match=r"label|choice|body|head"):
            question(choices)


@pytest.mark.parametrize("labels", [[3], [0, 0]])
def test_labels_that_are_not_there_are_refused(labels: list[int]):
    with pytest.raises(ValueError, match=r"the same label twice|a label that is not there"):
        _core.PoolRows(**GOOD).prefix_counts([], labels, False)


@pytest.mark.parametrize("fields", [(2, 0, ()), (0, 3, ()), (0, 0, (2,))])
def test_cover_updates_of_what_is_not_there_are_refused(fields: tuple[Any, ...]):
    with pytest.raises(ValueError, match="a cover update of a body or label that is not there"):
        _core.PoolRows(**GOOD).cover_updates([_core.CoverUpdate(*fields)])
