"""What an experiment runs, as plain data: data sets × objectives × folds × lifts.

A `Plan` holds every argument that decides the numbers. It lists the tasks of each stage; a task is one model to
learn and to measure, small enough to be written to a journal or sent to another machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from plurule.lifts import NONE, PAPER_LIFTS, LiftName, find_lift, peaks_within
from plurule.selection.objectives import PAPER_OBJECTIVES

Kind: TypeAlias = Literal["fold", "final", "sensitivity", "variant", "timing", "reference"]
Variant: TypeAlias = Literal["", "free head", "exhaustive"]

PAPER_SETS = ("flags", "emotions", "birds", "medical", "scene", "yeast", "CAL500")
"""The paper's data sets, those that take least time first."""

DISCRETISED = {"yeast": "yeastD", "CAL500": "CAL500D"}
"""Sets of which the paper's authors also used a discretised version."""

FOLDS = "mulan"
VARIANTS: tuple[tuple[Variant, int, int], ...] = (("free head", 500, 50), ("exhaustive", 200, 8))
"""Learners that differ in one part, and up to how many training rows and labels they are tried by the way."""


@dataclass(frozen=True, slots=True)
class Task:
    """One model to learn and to measure, or for `timing` a pair of models.

    >>> Task("fold", "birds", "ha+", "peak 3: 1.04", part=2).key
    'fold/birds/ha+/peak 3: 1.04/2'
    """

    kind: Kind
    dataset: str
    objective: str
    lift: str
    part: int = 0
    """Number of the fold (`fold`) or of the repetition (`timing`), from 0."""
    variant: Variant = ""
    """How the learner differs from that of the paper."""

    @property
    def key(self) -> str:
        """The task in one line, unlike that of any other."""
        name = f"{self.kind}/{self.dataset}/{self.objective}/{self.lift}/{self.part}"
        return f"{name}/{self.variant}" if self.variant else name


@dataclass(frozen=True)
class Plan:
    """The arguments that decide the numbers.

    >>> plan = Plan(sets=("flags",), objectives=("ha+",), lifts=("kln at 3: 1.08", "peak 9: 1.08"))
    >>> len(plan.fold_tasks("flags", n_labels=7, n_folds=5))
    10
    """

    sets: tuple[str, ...] = PAPER_SETS
    objectives: tuple[str, ...] = PAPER_OBJECTIVES
    lifts: tuple[str, ...] = PAPER_LIFTS
    folds: str = FOLDS
    seed: int = 0
    """Shuffles the folds, and splits data sets that come without a test part."""
    repeats: int = 5
    """How often training times are measured."""
    sensitivity_steps: int = 26
    """How many lifts, from 1 to `sensitivity_top`, the sensitivity analysis tries."""
    sensitivity_top: float = 1.5
    labels: str | None = None
    """Which columns are labels, in data sets that do not say so themselves."""
    reference: str = ""
    """Fingerprint of the table of models to compare with, if there is one."""

    def arguments(self) -> dict[str, Any]:
        """The arguments in a form that JSON knows."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def candidates(self, n_labels: int) -> list[str]:
        """The lifts to choose from; a peak beyond the number of labels is left out."""
        return [lift for lift in self.lifts if peaks_within(find_lift(lift), n_labels)]

    def fold_tasks(self, dataset: str, n_labels: int, n_folds: int) -> list[Task]:
        """Cross-validation: every objective, fold and lift, and no lift for comparison."""
        lifts = dict.fromkeys([NONE, *self.candidates(n_labels)])
        return [
            Task("fold", dataset, objective, lift, fold)
            for fold in range(n_folds)
            for objective in self.objectives
            for lift in lifts
        ]

    def later_tasks(self, dataset: str, n_rows: int, n_labels: int, chosen: Mapping[str, str]) -> list[Task]:
        """What follows the choice: training on the whole training part, with no lift and with the chosen one of each
        objective; on small data what the paper says about parts of the learner, heads searched anew and the best head
        of all; and measuring how long training takes with and without a lift.
        """
        lifts = {objective: dict.fromkeys([NONE, chosen[objective]]) for objective in self.objectives}
        tasks = [Task("final", dataset, objective, lift) for objective in self.objectives for lift in lifts[objective]]
        for variant, most_rows, most_labels in VARIANTS:
            if n_rows <= most_rows and n_labels <= most_labels:
                own = [o for o in self.objectives if variant != "exhaustive" or o.startswith("micro-")]
                tasks += [Task("variant", dataset, objective, chosen[objective], variant=variant) for objective in own]
        repeats = range(self.repeats)
        return tasks + [Task("timing", dataset, o, chosen[o], repeat) for repeat in repeats for o in self.objectives]

    def sensitivity_tasks(self, dataset: str, n_labels: int) -> list[Task]:
        """How models change with the lift: KLN, and Peak at 2, 3 and 5 labels."""
        step = (self.sensitivity_top - 1) / max(self.sensitivity_steps - 1, 1)
        heights = [round(1 + step * i, 4) for i in range(self.sensitivity_steps)]
        kinds = [("kln", 3)] + [("peak", labels) for labels in (2, 3, 5) if labels < n_labels]
        return [
            Task("sensitivity", dataset, objective, str(LiftName(kind, labels, height)))
            for objective in self.objectives
            for kind, labels in kinds
            for height in heights
        ]
