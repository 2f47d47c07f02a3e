"""Roles: which rows each fold trains on and holds out, and what is never divided."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold

from plurule._rows.rows import GROUPS, JACKKNIFE_GROUPS, Roles
from plurule.errors import PluruleError

N_ROWS = 200
ALONE = np.arange(N_ROWS)
PAIRS = np.arange(N_ROWS) // 2

pytestmark = pytest.mark.filterwarnings("ignore:The groups parameter is ignored:UserWarning")


@pytest.fixture(scope="module")
def Y() -> np.ndarray:
    return (np.random.default_rng(0).random((N_ROWS, 3)) < [0.5, 0.2, 0.05]).astype(np.uint8)


def by_hand(*folds: list[int]) -> Roles:
    of_rows = np.array(folds, np.int8)
    return Roles(of_rows, tuple(int(role.max()) for role in of_rows), np.zeros(of_rows.shape[1], np.uint8), 1)


# By hand -------------------------------------------------------------------------------------------------------------


def test_held_out_names_all_groups_of_all_folds() -> None:
    roles = by_hand([1, 0, 0], [0, 2, 1])
    assert roles.n_folds == 2
    assert roles.held_out == [(0, 1), (1, 1), (1, 2)]


# Folds ---------------------------------------------------------------------------------------------------------------


def test_make_of_folds_holds_out_every_row_once(Y: np.ndarray) -> None:
    roles = Roles.make(4, Y, ALONE)
    assert roles.n_groups == (1, 1, 1, 1)
    assert ((roles.of_rows == 1).sum(axis=0) == 1).all()
    assert set(np.unique(roles.of_rows)) == {0, 1}


def test_make_of_folds_keeps_the_share_of_every_label(Y: np.ndarray) -> None:
    for role in Roles.make(4, Y, ALONE).of_rows:
        np.testing.assert_allclose(Y[role == 1].mean(axis=0), Y.mean(axis=0), atol=0.02)


def test_make_of_folds_has_no_more_folds_than_clusters() -> None:
    assert Roles.make(10, np.ones((6, 1), np.uint8), np.array([0, 0, 1, 1, 2, 2])).n_folds == 3


def test_make_of_a_single_cluster_has_no_folds() -> None:
    roles = Roles.make(5, np.ones((6, 1), np.uint8), np.zeros(6, np.intp))
    assert (roles.n_folds, roles.held_out, roles.n_jackknife) == (0, [], 0)


def test_make_of_a_share_holds_it_out_once_in_groups(Y: np.ndarray) -> None:
    roles = Roles.make(0.3, Y, ALONE)
    assert (roles.n_folds, roles.n_groups) == (1, (GROUPS,))
    assert (roles.of_rows > 0).sum() == pytest.approx(0.3 * N_ROWS, abs=3)
    assert (roles.of_rows >= 0).all()


def test_make_of_a_share_keeps_the_share_of_every_label_in_each_group(Y: np.ndarray) -> None:
    (role,) = Roles.make(0.5, Y, ALONE).of_rows
    for group in range(GROUPS + 1):
        np.testing.assert_allclose(Y[role == group].mean(axis=0), Y.mean(axis=0), atol=0.05)


@pytest.mark.parametrize("n_rows", [1, 2])
def test_make_of_a_share_of_too_few_rows_has_no_folds(n_rows: int) -> None:
    assert Roles.make(0.3, np.ones((n_rows, 1), np.uint8), np.arange(n_rows)).n_folds == 0


@pytest.mark.parametrize("given", [KFold(3), list(KFold(3).split(np.zeros(N_ROWS)))], ids=["splitter", "splits"])
def test_make_takes_splitters_and_splits_as_they_are(Y: np.ndarray, given: Any) -> None:
    roles = Roles.make(given, Y, ALONE)
    for role, (train, test) in zip(roles.of_rows, KFold(3).split(Y), strict=True):
        assert np.flatnonzero(role == 0).tolist() == train.tolist()
        assert np.flatnonzero(role == 1).tolist() == test.tolist()


def test_make_of_a_splitter_leaves_out_rows_that_it_leaves_out(Y: np.ndarray) -> None:
    roles = Roles.make(ShuffleSplit(2, train_size=0.5, test_size=0.2, random_state=0), Y, ALONE)
    assert ((roles.of_rows == -1).sum(axis=1) == 60).all()


def test_make_of_a_splitter_takes_one_label_for_classes() -> None:
    y = np.repeat([0, 1], [90, 10]).astype(np.uint8)[:, None]
    roles = Roles.make(StratifiedKFold(5), y, np.arange(100))
    assert [int(y[role == 1].sum()) for role in roles.of_rows] == [2] * 5


def test_make_gives_clusters_to_a_splitter_as_groups(Y: np.ndarray) -> None:
    for role in Roles.make(GroupKFold(4), Y, PAIRS).of_rows:
        assert not set(PAIRS[role == 1]) & set(PAIRS[role == 0])


def test_make_of_splits_counts_rows_in_the_data_that_were_given() -> None:
    positions = np.array([1, 2, 4, 5])  # rows 0 and 3 have no weight
    roles = Roles.make([([0, 1, 2], [3, 4, 5])], np.ones((4, 1), np.uint8), np.arange(4), positions)
    assert roles.of_rows.tolist() == [[0, 0, 1, 1]]


# What is held together -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [4, 0.3])
@pytest.mark.parametrize("most_stratified", [N_ROWS, N_ROWS - 1], ids=["stratified", "unstratified"])
def test_make_never_divides_a_cluster(
    cv: Any, most_stratified: int, Y: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plurule._rows.rows.MOST_STRATIFIED", most_stratified)
    for role in Roles.make(cv, Y, PAIRS).of_rows:
        assert not set(PAIRS[role > 0]) & set(PAIRS[role == 0])


def test_make_leaves_clusters_whole_in_the_jackknife(Y: np.ndarray) -> None:
    roles = Roles.make(4, Y, PAIRS)
    assert roles.n_jackknife == JACKKNIFE_GROUPS == 100
    assert np.array_equal(roles.jackknife[::2], roles.jackknife[1::2])


def test_make_draws_jackknife_groups_of_equal_size(Y: np.ndarray) -> None:
    sizes = np.bincount(Roles.make(4, Y, ALONE).jackknife)
    assert sizes.tolist() == [N_ROWS // JACKKNIFE_GROUPS] * JACKKNIFE_GROUPS


def test_make_has_as_many_jackknife_groups_as_clusters_are_held_out(Y: np.ndarray) -> None:
    (train, test) = np.arange(0, 180), np.arange(180, 200)
    roles = Roles.make([(train, test)], Y, PAIRS)
    assert roles.n_jackknife == 10
    assert set(roles.jackknife[180:]) == set(range(10))


def test_make_of_more_folds_than_stratification_is_for_is_even(Y: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule._rows.rows.MOST_STRATIFIED", 100)
    big = np.zeros((20_000, 1), np.uint8)
    roles = Roles.make(5, big, np.arange(20_000))
    assert ((roles.of_rows == 1).sum(axis=0) == 1).all()
    assert (roles.of_rows == 1).sum(axis=1) == pytest.approx(4000, abs=10)


def test_make_of_a_share_beyond_stratification_is_held_out_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule._rows.rows.MOST_STRATIFIED", 100)
    roles = Roles.make(0.2, np.zeros((20_000, 1), np.uint8), np.arange(20_000))
    sizes = np.bincount(roles.of_rows[0])
    assert sizes[0] == pytest.approx(16_000, abs=10)
    assert sizes[1:] == pytest.approx(np.full(GROUPS, 800), abs=10)


@pytest.mark.parametrize("cv", [5, 0.3])
def test_make_beyond_stratification_leaves_no_fold_without_rows(cv: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule._rows.rows.MOST_STRATIFIED", 10)
    hospitals = np.arange(60) % 3
    roles = Roles.make(cv, np.ones((60, 1), np.uint8), hospitals)
    for fold, group in roles.held_out:
        assert (roles.of_rows[fold] == group).any()
        assert (roles.of_rows[fold] == 0).any()


def test_make_beyond_stratification_has_as_many_folds_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plurule._rows.rows.MOST_STRATIFIED", 10)
    roles = Roles.make(200, np.ones((20_000, 1), np.uint8), np.arange(20_000))
    assert (roles.of_rows == 1).any(axis=1).all()


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [1, 0, -3, 0.0, 1.0, 1.5, "five", None, True, object(), float("nan")])
def test_make_refuses_what_is_no_validation(Y: np.ndarray, cv: Any) -> None:
    with pytest.raises(ValueError, match="cv must be"):
        Roles.make(cv, Y, ALONE)


def test_make_refuses_a_split_without_training_rows(Y: np.ndarray) -> None:
    with pytest.raises(PluruleError, match="leaves a part of fold 1 empty"):
        Roles.make([(np.arange(0), ALONE)], Y, ALONE)


def test_make_refuses_a_splitter_with_more_folds_than_rows(Y: np.ndarray) -> None:
    with pytest.raises(PluruleError, match=r"cannot split these data: .*greater than the number"):
        Roles.make(KFold(1000), Y, ALONE)


@pytest.mark.parametrize(
    ("train", "test"), [([0, 1, 2], [2, 3]), ([0, 0, 1], [2]), ([0, 1], [2, 2])], ids=["both", "train", "test"]
)
def test_make_refuses_a_row_that_is_used_twice(train: list[int], test: list[int]) -> None:
    with pytest.raises(PluruleError, match="uses a row of fold 2 twice"):
        Roles.make([([0, 1], [2, 3]), (train, test)], np.ones((4, 1), np.uint8), np.arange(4))


def test_make_refuses_a_split_of_rows_that_are_not_there() -> None:
    with pytest.raises((PluruleError, IndexError)):
        Roles.make([([0, 1], [2, 99])], np.ones((4, 1), np.uint8), np.arange(4))
