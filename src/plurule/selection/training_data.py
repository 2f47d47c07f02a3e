"""Training data as choosing sees them: lists are learned from some rows and scored on others, wherever the rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from plurule.data.table import Table
from plurule.errors import DataError, ParameterError
from plurule.learning.covering import Progress
from plurule.learning.options import check_conditions
from plurule.learning.problem import Options, Problem
from plurule.model import Rule, RuleList
from plurule.prediction.scoring import Scoring
from plurule.selection.gain_cover import Body, Choice, Price

Values = NDArray[np.float64]
Scores = list[dict[str, Values]]
"""Per group of held-out rows and measure: what a list of no rules, of the first rule, … scores."""


class Selection(NamedTuple):
    """What was selected from a pool, and what no rule, the first rule, … score in each group of held-out rows."""

    chosen: list[Choice]
    scores: list[list[float]]


class TrainingData(ABC):
    """A problem whose rows may be in parts, of which lists are learned and scored on the rest."""

    problem: Problem
    """What is learned; its rows may be elsewhere."""

    @property
    @abstractmethod
    def n_parts(self) -> int:
        """How many ways there are to hold out rows."""

    @abstractmethod
    def split(self, cv: Any, positions: NDArray[np.intp] | None = None) -> Self:
        """The same rows in the parts that `make_parts` gives."""

    @abstractmethod
    def everything(self) -> Self:
        """The same rows, of which one part has all."""

    @abstractmethod
    def training(self, part: int) -> Problem:
        """The labels that lists of a part are learned from; rows that are elsewhere are summed up by label set."""

    @abstractmethod
    def held_out(self, part: int) -> list[Problem]:
        """The labels that lists of a part are scored on, by group; rows that are elsewhere are summed up."""

    @abstractmethod
    def learn(self, part: int, options: Options, may_grow: bool = False) -> RuleList:
        """A list from the rows of one part; it may be asked for again with more rules, if it is said so."""

    @abstractmethod
    def learn_one(self, options: Options, progress: Progress | None = None) -> RuleList:
        """A list from all rows, with short thresholds."""

    @abstractmethod
    def staged(
        self, asked: Sequence[tuple[RuleList, int]], measures: Sequence[str], kept: NDArray[np.intp] | None
    ) -> list[Scores]:
        """What lists score at every length on the rows that their parts hold out, by some labels or all."""

    @abstractmethod
    def selections(
        self,
        pools: Sequence[Sequence[Body]],
        prices: Sequence[Price],
        n_rules: int,
        measure: str | None,
        kept: NDArray[np.intp],
    ) -> Iterator[list[Selection]]:
        """Per part, what is selected from its pool at each price, scored by a measure if one is given."""

    @abstractmethod
    def counted(self, part: int, rules: tuple[Rule, ...], lam: float) -> RuleList:
        """The initial rules and these, with their counts in a part, and what they gain as their value."""

    @abstractmethod
    def values_for(self, rule_list: RuleList) -> Table:
        """Values of the attributes: all, or at least those around the thresholds of a list, and the ends."""

    @abstractmethod
    def fingerprints(self) -> bytes:
        """Fingerprints of the rows, as rule lists keep them."""


def check_counted(parameters: Mapping[str, Any], scoring: Scoring, *others: Any) -> None:
    """Refuse parameters that need all rows in memory, and labels and weights beside those of the data."""
    if any(other is not None for other in others):
        raise DataError("X has labels, names and weights of its own: leave out y, sample_weight and label_names")
    refused = [name for name in ("simplify",) if parameters[name] is not None]
    refused += [name for name in ("engine",) if parameters[name] == "reference"]
    refused += ["conditions"] if check_conditions(parameters["conditions"]) else []
    if "auto" in (parameters["heuristic"], parameters["n_rules"]) and scoring.scorer is not None:
        refused.append("scoring")
    for name in refused:
        advice = {
            "scoring": "give a measure by name",
            "simplify": "leave it out, and simplify the list on rows in memory",
        }
        instead = advice.get(name, "leave it out")
        what = f"is {parameters[name]!r}, which needs all rows in memory; for data in parts {instead}"
        raise ParameterError(name, parameters[name], what)
