"""Fits of both libraries in processes of their own."""

from __future__ import annotations

import json
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.processes import Result, run
from research.related.peers import SCRIPT
from research.speed.data import save_for_peer, save_for_us


@dataclass(frozen=True)
class Settings:
    """Settings of all measures."""

    quick: bool
    repeats: int
    peer_python: Path | None
    peer_limit: float
    """CPU seconds after which a fit of the peer is ended; it counts as having taken this long."""
    scratch: Path

    def names(self, *names: str, quick: int) -> tuple[str, ...]:
        """Return the data sets to use: all, or the first few."""
        return names[:quick] if self.quick else names


def ours(specification: dict[str, Any]) -> Result:
    """Fit once with plurule."""
    return run([sys.executable, "-m", "research.speed.fit_once", json.dumps(specification)])


def ours_on(settings: Settings, name: str, **parameters: Any) -> Result:
    """Fit once with plurule on a data set."""
    return ours({"file": str(save_for_us(name, settings.scratch)), "parameters": parameters})


def peer_on(settings: Settings, name: str, parameters: dict[str, Any]) -> Result:
    """Fit once with mlrl-seco on a data set."""
    data = save_for_peer(name, settings.scratch)
    model = settings.scratch / "model.pickle"
    arguments = ["fit", "seco", str(data), str(model), json.dumps(parameters)]
    result = run([str(settings.peer_python), str(SCRIPT), *arguments], settings.peer_limit)
    return result | ({"rules": len(result["rules"])} if "rules" in result else {})


def median(results: list[Result], what: str) -> float:
    """Return the median of some times."""
    return statistics.median(float(result[what]) for result in results)


def least(results: list[Result], what: str) -> float:
    """Return the smallest of some times, which was least disturbed by other work on the machine."""
    return min(float(result[what]) for result in results)
