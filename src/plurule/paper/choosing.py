"""Choosing a lift from the results of cross-validation, as `RuleListClassifierCV` does with protocol `"paper"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from plurule.lifts import find_lift
from plurule.selection.search import TIE_BREAKERS, best_first, height


def ranked(scores: Mapping[str, Sequence[Mapping[str, float]]], measure: str, n_labels: int) -> list[str]:
    """The lifts, best first, by the scores that each has on every fold."""

    def key(lift: str) -> tuple[float, ...]:
        means = (float(np.mean([fold[name] for fold in scores[lift]])) for name in (measure, *TIE_BREAKERS))
        return best_first(means, height(find_lift(lift), n_labels))

    return sorted(scores, key=key)
