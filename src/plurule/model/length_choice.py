"""Why a rule list is as long as it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, repr=False)
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
    >>> choice
    LengthChoice: 2 rules, micro_f1 0.6 ± 0.1; the best of 1 to 4 is 3, 0.7 ± 0.1
    """

    measure: str
    mean: tuple[float, ...]
    standard_error: tuple[float, ...]
    chosen: int

    def __repr__(self) -> str:
        chosen, best = (f"{self.mean[n - 1]:.3g} ± {self.standard_error[n - 1]:.2g}" for n in (self.chosen, self.best))
        return (
            f"LengthChoice: {self.chosen} rules, {self.measure} {chosen}; "
            f"the best of 1 to {len(self.mean)} is {self.best}, {best}"
        )

    @property
    def best(self) -> int:
        """The length of the highest mean score; the shortest, if there are several."""
        return max(range(len(self.mean)), key=lambda i: (round(self.mean[i], 12), -i)) + 1
