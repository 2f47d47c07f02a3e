"""How much of the table of wins is chance: the same table with lifts that cross-validation does not tell apart.

For each data set and objective, any lift whose cross-validated score is within one standard error of the best could as
well have been chosen. A draw takes one of them at random for each data set, and counts wins, losses and ties again.

The paper's own program breaks ties of equally good candidates at random. Where models of it are known, further draws
take the scores of its model without lift, or with the drawn lift, or of both, instead of those of the models here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from research.paper.published import MEASURES, WINS
from research.paper.statistics import DIGITS, Tally

DRAWS = 20_000
INTERVAL = (5, 95)
"""Percentiles of the draws between which a published value counts as possible."""

Differences = NDArray[np.float64]
"""Scores with a lift minus those without, of one data set: lifts × measures, or lifts × ways to break ties × measures.
"""


@dataclass(frozen=True, eq=False)
class Certainty:
    """Wins, losses and ties that are drawn for each objective: draws × measures × 3."""

    drawn: Mapping[str, NDArray[np.int64]]
    n_lifts: Mapping[str, Sequence[int]]
    """Lifts to draw from, per objective and data set."""
    here: Mapping[str, Mapping[str, Tally]]
    """The table with the chosen lifts."""
    with_program: Certainty | None = None
    """The same with models of the paper's own program, where some are known."""

    def leads(self, objective: str, measure: str | None = None) -> NDArray[np.int64]:
        """Return wins minus losses per draw, of one measure or of all together."""
        lead = self.drawn[objective][:, :, 0] - self.drawn[objective][:, :, 1]
        total: NDArray[np.int64] = lead.sum(axis=1) if measure is None else lead[:, MEASURES.index(measure)]
        return total

    def share_of(self, objective: str, measure: str, tally: Tally) -> float:
        """Return the share of the draws that give exactly these wins, losses and ties."""
        cells = self.drawn[objective][:, MEASURES.index(measure)]
        return float((cells == (tally.wins, tally.losses, tally.ties)).all(axis=1).mean())

    def within(self, objective: str, measure: str | None, lead: int) -> bool:
        """Return whether a lead is between the percentiles of the draws."""
        low, high = np.percentile(self.leads(objective, measure), INTERVAL)
        return bool(low <= lead <= high)

    def by_objective(self) -> pd.DataFrame:
        """Return the leads over all measures: here, drawn and published."""
        rows = []
        for objective in self.drawn:
            lead = self.leads(objective)
            low, high = np.percentile(lead, INTERVAL)
            total = sum(self.here[objective].values(), Tally())
            published = sum(WINS[objective].values(), Tally()) if objective in WINS else None
            rows.append(
                {"objective": objective, "lifts_per_set": " ".join(map(str, self.n_lifts[objective]))}
                | {"here": str(total), "lead": total.lead, "low": low, "median": np.median(lead), "high": high}
                | {"lowest": int(lead.min()), "highest": int(lead.max())}
                | {"published": str(published or ""), "published_lead": published.lead if published else None}
            )
            if self.with_program is not None:
                low, high = np.percentile(self.with_program.leads(objective), INTERVAL)
                rows[-1] |= {"low_with_program": low, "high_with_program": high}
        return pd.DataFrame(rows)


def draw(sets: Sequence[Differences], n_draws: int = DRAWS, seed: int = 0) -> NDArray[np.int64]:
    """Return wins, losses and ties (draws × measures × 3) with a lift drawn for each data set.

    >>> draw([np.array([[0.1, -0.1]]), np.array([[0.1, 0.0]])], n_draws=1).tolist()
    [[[2, 0, 0], [0, 1, 1]]]
    """
    random = np.random.default_rng(seed)
    signs = [np.sign(np.round(differences, DIGITS)).astype(np.int64) for differences in sets]
    tallies = np.zeros((n_draws, signs[0].shape[-1], 3), dtype=np.int64)
    for of_set in signs:
        drawn = of_set[random.integers(len(of_set), size=n_draws)]
        if drawn.ndim == 3:
            drawn = drawn[np.arange(n_draws), random.integers(drawn.shape[1], size=n_draws)]
        tallies += np.stack([drawn == sign for sign in (1, -1, 0)], axis=2)
    return tallies


# The published table --------------------------------------------------------------------------------------------------

Wins = Mapping[str, Mapping[str, Tally]]


def equal_ties(ours: Wins) -> int:
    """Return how many cells of the published table have as many ties."""
    return sum(ours[objective][measure].ties == cell.ties for objective, measure, cell in _published(ours))


def distance(ours: Wins) -> int:
    """Return the distance from the published table: differences of wins, losses and ties, summed over all cells."""
    return sum(_distance(ours[objective][measure], cell) for objective, measure, cell in _published(ours))


def _published(ours: Wins) -> list[tuple[str, str, Tally]]:
    return [(objective, measure, WINS[objective][measure]) for objective in ours for measure in MEASURES]


def _distance(one: Tally, other: Tally) -> int:
    return abs(one.wins - other.wins) + abs(one.losses - other.losses) + abs(one.ties - other.ties)


def published_cells(
    here: Wins,
    mulan: Wins,
    numeric: Wins | None,
    certainty: Certainty | None,
    constant_ties: Mapping[tuple[str, str], int],
) -> pd.DataFrame:
    """Return a row per cell of the published table: published, here, on numeric data, and why they differ.

    `mulan` is the table here with Mulan's macro F1; `constant_ties` are the ties of two models that predict the same
    labels for every instance, by objective and measure.
    """
    rows = []
    for objective, measure, cell in _published(here):
        ours = here[objective][measure]
        low = high = share = None
        if certainty is not None:
            low, high = np.percentile(certainty.leads(objective, measure), INTERVAL)
            share = certainty.share_of(objective, measure, cell)
        rows.append(
            {"objective": objective, "measure": measure, "published": str(cell), "here": str(ours)}
            | {"numeric": str(numeric[objective][measure]) if numeric else None}
            | {"distance": _distance(ours, cell)}
            | {"distance_numeric": _distance(numeric[objective][measure], cell) if numeric else None}
            | {"ties_of_constants": constant_ties.get((objective, measure), 0)}
            | {"low": low, "high": high, "drawn_exactly": share}
            | {"reason": _reason(objective, measure, cell, ours, mulan[objective][measure], certainty)}
        )
    return pd.DataFrame(rows)


def _reason(objective: str, measure: str, cell: Tally, ours: Tally, mulan: Tally, certainty: Certainty | None) -> str:
    """Return why a cell differs from the published one, as far as it is known."""
    if ours == cell:
        return "equal"
    if mulan == cell:
        return "0/0: equal with the F1 of Mulan"
    if certainty is None:
        return "not explained"
    kinds = {"choice": certainty}
    if certainty.with_program is not None:
        kinds["choice and ties"] = certainty.with_program
    for kind, draws in kinds.items():
        if draws.within(objective, measure, cell.lead):
            return f"{kind}: {_percent(draws.share_of(objective, measure, cell))} of the draws give this cell"
    for kind, draws in kinds.items():
        share = draws.share_of(objective, measure, cell)
        if share > 0:
            return f"{kind}, but rare: {_percent(share)} of the draws give this cell"
    return "not explained"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "less than 1 %" if share else "none"
