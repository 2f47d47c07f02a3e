"""Models of the paper's own program, to compare with: a table of what it learned with given objectives and lifts.

The table is a CSV file with the columns dataset, objective (HA, MicF, MacF), signs (+ or +-), lift (`lift1` for none,
`kln at 3: 1.12`, `peak 3: 1.1`), and counts of rules, conditions and the like.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from plurule.errors import DataError
from plurule.lifts import NONE, parse_lifts
from plurule.paper.protocol import Task
from plurule.selection.objectives import find_objective

COUNTS = ("rules", "conditions", "label_conditions", "multi_label_heads")
_OBJECTIVES = {"HA": "ha", "MicF": "micro-f", "MacF": "macro-f"}
_SCORES = {
    "hamming_accuracy": "test_HA",
    "micro_f1": "test_micro_F1",
    "macro_f1": "test_macro_F1",
    "subset_accuracy": "test_subset_accuracy",
}
_OTHER_SEARCH = "off"
"""Stands for models of another search (heads searched anew, no constraint), which are left out."""


@dataclass(frozen=True)
class Reference:
    """What another program learned."""

    rows: tuple[tuple[Task, dict[str, float]], ...] = ()
    """The task that learns the same here, and the numbers there."""
    fingerprint: str = ""

    def tasks(self, dataset: str) -> list[Task]:
        return [task for task, _ in self.rows if task.dataset == dataset]


def read_reference(path: Path, sets: Collection[str], objectives: Collection[str]) -> Reference:
    """Read the rows of a table that concern the given data sets and objectives."""
    try:
        content = path.read_bytes()
        lines = list(csv.DictReader(content.decode("utf-8-sig").splitlines()))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: is not UTF-8 text") from None
    rows = []
    for number, line in enumerate(lines, start=2):
        try:
            if line["lift"] == _OTHER_SEARCH:
                continue
            lift = NONE if line["lift"] == "lift1" else parse_lifts(line["lift"])[0]
            objective = find_objective(_OBJECTIVES.get(line["objective"], line["objective"]) + line["signs"]).name
            numbers = {name: float(line[name]) for name in COUNTS}
            numbers |= {name: float(line[column]) for name, column in _SCORES.items()}
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}, line {number}: is not understood ({error})") from None
        if line["dataset"] in sets and objective in objectives:
            rows.append((Task("reference", line["dataset"], objective, lift), numbers))
    return Reference(tuple(rows), hashlib.sha256(content).hexdigest()[:16])
