"""Training data as choosing sees them: lists are learned from some rows and scored on others, wherever the rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from plurule.constraints import ResolvedConstraints
from plurule.data.table import Table
from plurule.data.targets import TargetForm
from plurule.errors import ParameterError
from plurule.learning.covering import Progress
from plurule.learning.options import check_conditions
from plurule.learning.problem import Options, Problem
from plurule.metrics import Measure
from plurule.model import Attribute, Rule, RuleList
from plurule.model.head import Hierarchy
from plurule.selection.pool import Body, Choice, SelectionCriterion, SelectionLimits
from plurule.selection.scoring import Scoring


class Selection(NamedTuple):
    """The choices from a pool, and the scores after none, the first, … in each group of held-out rows."""

    choices: list[Choice]
    scores: list[list[float]]


class HeldOutRows(NamedTuple):
    """Held-out rows, and the labels that a list predicts for them."""

    truth: NDArray[np.uint8]
    labels: NDArray[np.int8]
    weights: NDArray[np.float64]
    groups: NDArray[np.intp]
    """Rows of a group are not independent."""

    @classmethod
    def join(cls, folds: Sequence[HeldOutRows]) -> HeldOutRows:
        """Return the rows of several folds."""
        return cls(*map(np.concatenate, zip(*folds, strict=True)))


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
    def learn(self, part: int, options: Options) -> RuleList:
        """A list from the rows of one part."""

    @abstractmethod
    def learn_one(self, options: Options, progress: Progress | None = None) -> RuleList:
        """A list from all rows, with short thresholds."""

    @abstractmethod
    def selections(
        self,
        pools: Sequence[Sequence[Body]],
        criteria: Sequence[SelectionCriterion],
        limits: SelectionLimits,
        scoring: Scoring | None = None,
    ) -> Iterator[list[Selection]]:
        """Return, per part, what is selected from its pool by each criterion, with its scores if they are asked for."""

    @abstractmethod
    def predicted(self, lists: Sequence[RuleList]) -> HeldOutRows:
        """The held-out rows of all parts, with the predictions of the list of each part."""

    def held_out_rows(self, part: int) -> tuple[Problem, NDArray[np.intp]]:
        """The held-out rows of a part and their groups; only where all rows are in memory."""
        raise NotImplementedError

    @abstractmethod
    def counted(self, part: int, rules: tuple[Rule, ...], lam: float) -> RuleList:
        """The initial rules and these, with their counts in a part, and what they gain as their value."""

    @abstractmethod
    def values_for(self, rule_list: RuleList) -> Table:
        """Values of the attributes: all, or at least those around the thresholds of a list, and the ends."""


class DataInParts(ABC):
    """Data with labels, names and weights of their own that are not in memory, and are counted where they are."""

    @property
    @abstractmethod
    def attributes(self) -> Sequence[Attribute]:
        """The attributes."""

    @property
    @abstractmethod
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""

    @property
    @abstractmethod
    def form(self) -> TargetForm:
        """The form of the labels."""

    @property
    @abstractmethod
    def hierarchy(self) -> Hierarchy:
        """Labels with those above them."""

    @abstractmethod
    def training_data(
        self, options: Options, given: tuple[Rule, ...], constraints: ResolvedConstraints | None, n_jobs: int
    ) -> AbstractContextManager[TrainingData]:
        """The data, ready to be counted."""


def check_in_parts(conditions: Any, scoring: Measure | None = None) -> None:
    """Raise a `ParameterError` about the first parameter that needs all rows in memory."""
    if check_conditions(conditions):
        _refuse("conditions", conditions, "leave it out")
    if scoring is not None and scoring.scorer is not None:
        _refuse("scoring", scoring.name, "give a measure by name")


def _refuse(name: str, value: Any, instead: str) -> None:
    what = f"is {value!r}, which needs all rows in memory; for data in parts {instead}"
    raise ParameterError(name, value, what)
