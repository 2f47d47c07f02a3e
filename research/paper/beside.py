"""Tables of an earlier run on numeric data, shown beside those of a run on the authors' data."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plurule import DataError
from research.paper.published import MEASURES
from research.paper.statistics import Tally


@dataclass(frozen=True)
class Beside:
    """Wins, losses and ties of an earlier run, and its verdicts and numbers per statement."""

    wins: dict[str, dict[str, Tally]] = field(default_factory=dict)
    judged: Mapping[str, tuple[str, str]] = field(default_factory=dict)


def read_beside(folder: Path) -> Beside:
    """Read `wins.csv` (its rows of numeric data) and `statements.csv` of a folder of tables."""
    wins: dict[str, dict[str, Tally]] = {}
    judged: dict[str, tuple[str, str]] = {}
    try:
        for row in _rows(folder / "wins.csv"):
            if row["sets"] == "numeric":
                cell = Tally(int(row["wins"]), int(row["losses"]), int(row["ties"]))
                wins.setdefault(row["objective"], {})[row["measure"]] = cell
        for row in _rows(folder / "statements.csv"):
            numbers = "_numeric" if "verdict_numeric" in row else ""
            judged[row["statement"]] = row[f"verdict{numbers}"], row[f"numbers{numbers}"]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"--beside {folder}: its tables cannot be read ({error!r})") from None
    if not wins or any(set(cells) != set(MEASURES) for cells in wins.values()):
        raise DataError(f"--beside {folder}: wins.csv has no complete table of numeric data")
    return Beside(wins, judged)


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
