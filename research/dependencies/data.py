"""Data whose label dependencies are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plurule import ParameterError
from plurule.model import RangeCondition

Kind = Literal["co-occurrence", "implication", "chain", "exclusion"]
KINDS: tuple[Kind, ...] = ("co-occurrence", "implication", "chain", "exclusion")
_N_LABELS = {"chain": 3}


@dataclass(frozen=True)
class Dependency:
    """A planted dependency of two labels, or a chain of three.

    Co-occurrence: `second` is present exactly where `first` is. Implication: `second` is present where `first` is.
    Chain: moreover, `third` is present where `second` is. Exclusion: the labels are not present together.
    """

    kind: Kind
    first: int
    second: int
    region: RangeCondition | None = None
    """Where it holds; everywhere if None."""
    third: int | None = None
    """Last label of a chain."""

    @property
    def links(self) -> tuple[frozenset[int], ...]:
        """The pairs of labels that have to be stated for it to be found."""
        pair = frozenset((self.first, self.second))
        return (pair,) if self.third is None else (pair, frozenset((self.second, self.third)))

    @property
    def pairs(self) -> tuple[frozenset[int], ...]:
        """All pairs of labels that it makes dependent."""
        return self.links if self.third is None else (*self.links, frozenset((self.first, self.third)))

    def rows(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the instances for which it holds."""
        if self.region is None:
            return np.ones(len(X), dtype=bool)
        return self.region.mask(X[:, self.region.index])


@dataclass(frozen=True, eq=False)
class DependentLabels:
    """Instances, their labels, and the dependencies that were planted."""

    X: NDArray[np.float64]
    Y: NDArray[np.int8]
    dependencies: tuple[Dependency, ...]


def make_dependent_labels(
    n: int,
    *,
    n_per_kind: int = 2,
    n_independent: int = 2,
    local: bool = False,
    noise: float = 0.05,
    frequency: float = 0.25,
    n_irrelevant: int = 5,
    random_state: int = 0,
) -> DependentLabels:
    """Generate labels of which some depend on each other, and all on attributes.

    Each label has an attribute of its own, which is uniform on [0, 1], and is present where that is among the largest
    values. Pairs and chains of labels are then made dependent. No other two labels depend on each other.

    Parameters
    ----------
    n
        Number of instances.
    n_per_kind
        Number of dependencies of each kind, each of labels of its own.
    n_independent
        Number of labels without a dependency.
    local
        Whether a dependency holds only where a further attribute, which is nobody else's, is above 0.5.
    noise
        Share of the pairs of instance and label that are redrawn at random before dependencies are planted, and share
        of the instances that ignore a dependency.
    frequency
        Share of the instances that have a label, before dependencies are planted.
    n_irrelevant
        Number of attributes without meaning.
    random_state
        Random seed.

    Examples
    --------
    >>> data = make_dependent_labels(200, noise=0, random_state=1)
    >>> pair = data.dependencies[0]
    >>> pair.kind, bool((data.Y[:, pair.first] == data.Y[:, pair.second]).all())
    ('co-occurrence', True)
    """
    for name, share in (("noise", noise), ("frequency", frequency)):
        if not 0 <= share <= 1:
            raise ParameterError(name, share, "must be a share from 0 to 1")
    random = np.random.default_rng(random_state)
    kinds = [kind for kind in KINDS for _ in range(n_per_kind)]
    sizes = [_N_LABELS.get(kind, 2) for kind in kinds]
    n_labels = sum(sizes) + n_independent
    X = random.random((n, n_labels + len(kinds) * local + n_irrelevant))
    Y = (X[:, :n_labels] > 1 - frequency).astype(np.int8)
    redrawn = random.random(Y.shape) < noise
    Y[redrawn] = random.random(int(redrawn.sum())) < frequency
    groups = np.split(random.permutation(n_labels)[: sum(sizes)], np.cumsum(sizes)[:-1])
    dependencies: list[Dependency] = []
    for i, (kind, labels) in enumerate(zip(kinds, groups, strict=True)):
        place = n_labels + i
        region = RangeCondition(f"x{place}", place, above=0.5) if local else None
        first, second, *third = labels.tolist()
        dependency = Dependency(kind, first, second, region, *third)
        _plant(dependency, dependency.rows(X) & (random.random(n) >= noise), Y)
        dependencies.append(dependency)
    return DependentLabels(X, Y, tuple(dependencies))


def _plant(dependency: Dependency, rows: NDArray[np.bool_], Y: NDArray[np.int8]) -> None:
    """Change the second label of some rows, and the third of a chain, so that the dependency holds."""
    first = Y[rows, dependency.first]
    second = Y[rows, dependency.second]
    Y[rows, dependency.second] = {
        "co-occurrence": first,
        "implication": first | second,
        "chain": first | second,
        "exclusion": second & (1 - first),
    }[dependency.kind]
    if dependency.third is not None:
        Y[rows, dependency.third] |= Y[rows, dependency.second]
