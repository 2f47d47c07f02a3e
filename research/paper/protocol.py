"""Tasks of an experiment as plain data: data sets × objectives × folds × lifts.

A `Plan` holds every argument that decides the numbers, and lists the tasks of each stage.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from plurule import DataError, PluruleError
from research.paper.folds import MULAN
from research.paper.lifts import NONE, PAPER_LIFTS, LiftName, parse_lifts
from research.paper.objectives import PAPER_OBJECTIVES, find_objective
from research.paper.sets import PAPER_SETS

Kind: TypeAlias = Literal["fold", "final", "near", "sensitivity", "variant", "timing", "reference"]
Variant: TypeAlias = Literal["", "free head", "exhaustive"]

VARIANTS: tuple[tuple[Variant, int, int], ...] = (("free head", 500, 50), ("exhaustive", 200, 8))
"""Learners that differ in one part, and the largest numbers of training rows and labels that they are tried on."""


@dataclass(frozen=True, slots=True)
class Task:
    """One model to learn and to measure, or for `timing` a pair of models."""

    kind: Kind
    dataset: str
    objective: str
    lift: str
    part: int = 0
    """Number of the fold (`fold`) or of the repetition (`timing`), from 0."""
    variant: Variant = ""
    """Difference of the learner from that of the paper."""

    @property
    def key(self) -> str:
        """Name of the task, different from that of every other."""
        name = f"{self.kind}/{self.dataset}/{self.objective}/{self.lift}/{self.part}"
        return f"{name}/{self.variant}" if self.variant else name


@dataclass(frozen=True)
class Plan:
    """The arguments that decide the numbers."""

    sets: tuple[str, ...] = PAPER_SETS
    objectives: tuple[str, ...] = PAPER_OBJECTIVES
    lifts: tuple[str, ...] = PAPER_LIFTS
    folds: str = MULAN
    seed: int = 0
    """Shuffles the folds, and splits data sets that come without a test part."""
    repeats: int = 5
    """Repetitions of the measurement of training times."""
    sensitivity_steps: int = 26
    """Number of lifts, from 1 to `sensitivity_top`, of the sensitivity analysis."""
    sensitivity_top: float = 1.5
    exhaustive: bool = True
    """Whether the best of all heads is searched, too, where labels are few; that takes most of the time of flags."""
    labels: str | None = None
    """Label columns of data sets that do not name them."""
    reference: str = ""
    """Fingerprint of the table of models to compare with."""

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that results depend on, in a form that JSON knows; sets are run one by one."""
        of_results = {name: value for name, value in asdict(self).items() if name != "sets"}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in of_results.items()}

    def candidates(self, n_labels: int) -> list[str]:
        """Return the lifts to choose from, without peaks beyond the number of labels."""
        return [lift for lift in self.lifts if LiftName.parse(lift).fits(n_labels)]

    def fold_tasks(self, dataset: str, n_labels: int, n_folds: int) -> list[Task]:
        """Return the tasks of cross-validation: every objective, fold and lift, and no lift for comparison."""
        lifts = dict.fromkeys([NONE, *self.candidates(n_labels)])
        return [
            Task("fold", dataset, objective, lift, fold)
            for fold in range(n_folds)
            for objective in self.objectives
            for lift in lifts
        ]

    def later_tasks(
        self,
        dataset: str,
        n_rows: int,
        n_labels: int,
        chosen: Mapping[str, str],
        near: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> list[Task]:
        """Return the tasks after the choice of the lifts.

        They are final models, models with lifts that are nearly as good (`near`), variants on small data, and training
        times.
        """
        tasks = [
            Task("final", dataset, objective, lift)
            for objective in self.objectives
            for lift in dict.fromkeys([NONE, chosen[objective]])
        ]
        tasks += [
            Task("near", dataset, objective, lift)
            for objective, lifts in near.items()
            for lift in lifts
            if lift != chosen[objective]
        ]
        for variant, max_rows, max_labels in VARIANTS:
            if n_rows <= max_rows and n_labels <= max_labels and (self.exhaustive or variant != "exhaustive"):
                tasks += [
                    Task("variant", dataset, objective, chosen[objective], variant=variant)
                    for objective in self.objectives
                    if variant != "exhaustive" or objective.startswith("micro-")
                ]
        tasks += [
            Task("timing", dataset, objective, chosen[objective], repeat)
            for repeat in range(self.repeats)
            for objective in self.objectives
        ]
        return tasks

    def sensitivity_tasks(self, dataset: str, n_labels: int) -> list[Task]:
        """Return the tasks of the sensitivity analysis: KLN, and Peak at 2, 3 and 5 labels."""
        step = (self.sensitivity_top - 1) / max(self.sensitivity_steps - 1, 1)
        heights = [round(1 + step * i, 4) for i in range(self.sensitivity_steps)]
        kinds = [("kln", 3)] + [("peak", labels) for labels in (2, 3, 5) if labels < n_labels]
        return [
            Task("sensitivity", dataset, objective, str(LiftName(kind, labels, height)))
            for objective in self.objectives
            for kind, labels in kinds
            for height in heights
        ]


# Models of the paper's own program ----------------------------------------------------------------------------------

COUNTS = ("rules", "conditions", "label_conditions", "multi_label_heads")
_OBJECTIVES = {"HA": "ha", "MicF": "micro-f", "MacF": "macro-f"}
_SCORES = {
    "hamming_accuracy": "test_HA",
    "micro_f1": "test_micro_F1",
    "macro_f1": "test_macro_F1",
    "subset_accuracy": "test_subset_accuracy",
}
_OTHER_SEARCH = "off"
"""Marks models of another search, which are left out."""


@dataclass(frozen=True)
class Reference:
    """Models of the paper's own program."""

    rows: tuple[tuple[Task, dict[str, float]], ...] = ()
    """Task that learns the same model here, and the numbers of the other program."""
    fingerprint: str = ""

    def tasks(self, dataset: str) -> list[Task]:
        """Return the tasks of a data set."""
        return [task for task, _ in self.rows if task.dataset == dataset]


def read_reference(path: Path, sets: Collection[str], objectives: Collection[str]) -> Reference:
    """Read the rows of a table that concern the given data sets and objectives.

    It is a CSV file with the columns dataset, objective (HA, MicF, MacF), signs (+ or +-), lift (`lift1` for none,
    `kln at 3: 1.12`, `peak 3: 1.1`), and counts of rules, conditions and the like.
    """
    try:
        content = path.read_bytes()
        lines = list(csv.DictReader(content.decode("utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error})") from None
    rows = []
    for number, line in enumerate(lines, start=2):
        try:
            if line["lift"] == _OTHER_SEARCH:
                continue
            lift = NONE if line["lift"] == "lift1" else parse_lifts(line["lift"])[0]
            objective = find_objective(_OBJECTIVES.get(line["objective"], line["objective"]) + line["signs"]).name
            numbers = {name: float(line[name]) for name in COUNTS}
            numbers |= {name: float(line[column]) for name, column in _SCORES.items()}
        except (KeyError, TypeError, ValueError, PluruleError) as error:
            raise DataError(f"{path}, line {number} is not understood ({error})") from None
        if line["dataset"] in sets and objective in objectives:
            rows.append((Task("reference", line["dataset"], objective, lift), numbers))
    return Reference(tuple(rows), hashlib.sha256(content).hexdigest()[:16])
