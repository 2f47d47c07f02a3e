"""Why a rule list is as long as it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LengthChoice:
    """What lists cut after 1, 2, … rules scored on validation data, and where the list was cut.

    Parameters
    ----------
    measure
        Name of the score.
    mean
        Mean score per length.
    standard_error
        Its standard error per length.
    chosen
        The length that was chosen.

    Examples
    --------
    >>> choice = LengthChoice("micro_f1", (0.4, 0.6, 0.7, 0.5), (0.1, 0.1, 0.1, 0.1), chosen=2)
    >>> choice.best
    3
    """

    measure: str
    mean: tuple[float, ...]
    standard_error: tuple[float, ...]
    chosen: int

    @property
    def best(self) -> int:
        """The length of the highest mean score; the shortest, if there are several."""
        return max(range(len(self.mean)), key=lambda i: (round(self.mean[i], 12), -i)) + 1
