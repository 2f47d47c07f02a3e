"""Data with planted label dependencies."""

from __future__ import annotations

import numpy as np
import pytest

from plurule import ParameterError
from research.dependencies.data import Dependency, make_dependent_labels


def holds(dependency: Dependency, Y: np.ndarray) -> np.ndarray:
    first = Y[:, dependency.first]
    second = Y[:, dependency.second]
    third = second if dependency.third is None else Y[:, dependency.third]
    return {
        "co-occurrence": first == second,
        "implication": second >= first,
        "chain": (second >= first) & (third >= second),
        "exclusion": first + second < 2,
    }[dependency.kind]


@pytest.mark.parametrize("local", [False, True])
def test_planted_dependencies_hold_where_they_were_planted(local: bool) -> None:
    data = make_dependent_labels(500, local=local, noise=0, random_state=2)
    assert len(data.dependencies) == 8
    for dependency in data.dependencies:
        rows = dependency.rows(data.X)
        assert holds(dependency, data.Y)[rows].all()
        assert (rows.mean() < 0.6) == local
        if local:
            assert not holds(dependency, data.Y)[~rows].all()


def test_noise_breaks_dependencies() -> None:
    data = make_dependent_labels(2000, noise=0.3, random_state=0)
    shares = [holds(dependency, data.Y).mean() for dependency in data.dependencies]
    assert all(0.7 < share < 1 for share in shares)


def test_labels_without_a_planted_dependency_are_independent() -> None:
    data = make_dependent_labels(4000, noise=0.1, random_state=0)
    planted = {pair for d in data.dependencies for pair in d.pairs}
    correlation = np.corrcoef(data.Y.T)
    n_labels = data.Y.shape[1]
    others = [correlation[i, j] for i in range(n_labels) for j in range(i) if frozenset((i, j)) not in planted]
    assert np.abs(others).max() < 0.08


def test_frequency_and_number_are_as_asked_for() -> None:
    data = make_dependent_labels(1000, n_per_kind=1, n_independent=3, frequency=0.1, n_irrelevant=0, random_state=0)
    # Three pairs, one chain of three and three others.
    assert data.Y.shape == (1000, 12)
    assert data.X.shape == (1000, 12)
    independent = set(range(12)) - {label for d in data.dependencies for pair in d.pairs for label in pair}
    assert data.Y[:, sorted(independent)].mean() == pytest.approx(0.1, abs=0.02)


def test_noise_and_frequency_are_shares() -> None:
    with pytest.raises(ParameterError, match="noise must be a share"):
        make_dependent_labels(10, noise=2)
    with pytest.raises(ParameterError, match="frequency must be a share"):
        make_dependent_labels(10, frequency=-1)
