"""Folds: those of the paper, and any splitter by name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, ShuffleSplit

from plurule.data.splitting import IterativeStratifiedKFold
from plurule.errors import PluruleError
from plurule.selection.folds import make_parts
from plurule.selection.splitters import JavaRandom, MulanKFold, find_splitter


def test_the_generator_gives_the_numbers_of_java():
    random = JavaRandom(42)
    assert [random.next_int(10) for _ in range(10)] == [0, 3, 8, 4, 0, 5, 5, 8, 9, 3]


@given(count=st.integers(2, 200), folds=st.integers(2, 10), seed=st.integers(0, 2**40))
def test_every_instance_is_tested_once_and_folds_are_of_equal_size(count: int, folds: int, seed: int):
    if folds > count:
        return
    tests = [test for _, test in MulanKFold(folds, seed=seed).split(np.zeros(count))]
    assert sorted(np.concatenate(tests).tolist()) == list(range(count))
    assert max(map(len, tests)) - min(map(len, tests)) <= 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", KFold(7, shuffle=True, random_state=3)),
        ("ShuffleSplit(n_splits=4, test_size=0.25, random_state=1)", ShuffleSplit(4, test_size=0.25, random_state=1)),
        ("KFold", KFold()),
        ("KFold(shuffle=True)", KFold(shuffle=True, random_state=3)),
        ("KFold(shuffle=False)", KFold()),
        ("ShuffleSplit(n_splits=4)", ShuffleSplit(4, random_state=3)),
        ("IterativeStratifiedKFold(shuffle=True)", IterativeStratifiedKFold(shuffle=True, random_state=3)),
        ("IterativeStratifiedKFold(n_splits=3)", IterativeStratifiedKFold(3)),
        ("mulan", MulanKFold()),
    ],
)
def test_splitters_can_be_named(text: str, expected: object):
    found = find_splitter(text, seed=3)
    assert type(found) is type(expected)
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1", "at least 2"),
        ("KFlod(3)", "not understood"),
        ("KFlod(n_splits=3)", "did you mean 'KFold'"),
        ("KFold(n_splits=print())", "malformed|literal|not understood"),
        ("KFold(splits=3)", "unexpected keyword"),
        ("__import__('os')", "not understood"),
        ("a b", "not understood"),
        ("", "not understood"),
    ],
)
def test_what_is_no_splitter_is_refused_and_nothing_is_run(text: str, message: str):
    with pytest.raises(PluruleError, match=message):
        find_splitter(text)


def test_splits_are_ascending_rows():
    parts = make_parts(find_splitter("mulan"), np.zeros((23, 2), dtype=np.uint8))
    assert len(parts) == 5
    for part in parts:
        assert (np.diff(part.train) > 0).all()
        assert (np.diff(part.groups[0]) > 0).all()


def test_more_folds_than_instances_are_refused():
    with pytest.raises(PluruleError, match="cannot split"):
        make_parts(find_splitter("5"), np.zeros((3, 2), dtype=np.uint8))


@pytest.mark.parametrize(
    ("text", "splitter"),
    [
        ("10", "KFold(n_splits=10, random_state=0, shuffle=True)"),
        ("RepeatedKFold(n_splits=5, random_state=1)", "RepeatedKFold(n_repeats=10, n_splits=5, random_state=1)"),
        ("RepeatedKFold(n_splits=5, n_repeats=2)", "RepeatedKFold(n_repeats=2, n_splits=5, random_state=0)"),
    ],
)
def test_what_draws_gets_a_seed_unless_it_has_one(text: str, splitter: str) -> None:
    assert repr(find_splitter(text)) == splitter
