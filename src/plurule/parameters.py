"""Objects with named parameters that scikit-learn can clone, set and search (`lift__k`, `heuristic__beta`)."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class Parametrised(BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Base of heuristics and lifts: equal if of the same class with equal parameters."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Parametrised) and type(self) is type(other) and self.get_params() == other.get_params()

    def __hash__(self) -> int:
        return hash((type(self), *map(repr, self.get_params().items())))

    def __repr__(self, **_: Any) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.get_params(deep=False).items())
        return f"{type(self).__name__}({inside})"
