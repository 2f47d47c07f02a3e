"""Choosing a lift from the results of cross-validation, as `RuleListClassifierCV` does with protocol `"paper"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurule.lifts import find_lift
from plurule.paper.protocol import Task
from plurule.selection.search import TIE_BREAKERS, best_first, height


@dataclass(frozen=True)
class Candidate:
    """A lift and how it did in cross-validation."""

    lift: str
    scores: Mapping[str, tuple[float, ...]]
    """Per measure, the score on each fold."""
    sizes: Mapping[str, tuple[float, ...]]
    """Per characteristic of the model, its value on each fold."""

    def mean(self, measure: str) -> float:
        """Mean score over the folds."""
        return float(np.mean(self.scores[measure]))

    def deviation(self, measure: str) -> float:
        """Standard deviation of the score over the folds."""
        return float(np.std(self.scores[measure]))

    def mean_size(self, name: str) -> float:
        """Mean of a characteristic over the folds."""
        return float(np.mean(self.sizes[name]))


def candidate(results: Mapping[str, Any], dataset: str, objective: str, lift: str, n_folds: int) -> Candidate:
    """Collect what cross-validation found out about a lift."""
    folds = [results[Task("fold", dataset, objective, lift, fold).key] for fold in range(n_folds)]
    return Candidate(lift, _columns([f["scores"] for f in folds]), _columns([f["size"] for f in folds]))


def ranked(candidates: Sequence[Candidate], measure: str, n_labels: int) -> list[Candidate]:
    """The candidates, best first."""

    def key(one: Candidate) -> tuple[float, ...]:
        return best_first(map(one.mean, (measure, *TIE_BREAKERS)), height(find_lift(one.lift), n_labels))

    return sorted(candidates, key=key)


def _columns(rows: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(float(row[name]) for row in rows) for name in rows[0]}
