"""Running single fits in processes of their own, so that neither library nor any earlier fit is in the way."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.engine.data import save

ROOT = Path(__file__).parents[2]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

Result = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What all measures share."""

    quick: bool
    repeats: int
    peer_python: Path | None
    peer_limit: float
    """CPU seconds after which a fit of the peer is given up; it then counts as having taken this long."""
    data: Path | None
    scratch: Path

    def names(self, *names: str, quick: int) -> tuple[str, ...]:
        """The data sets to use: all, or only the first few."""
        return names[:quick] if self.quick else names


def ours(specification: dict[str, Any]) -> Result:
    """One fit with plurule."""
    command = [sys.executable, "-m", "benchmarks.engine.fit_once", json.dumps(specification)]
    return run(command, limit=None)


def ours_on(settings: Settings, name: str, **parameters: Any) -> Result:
    """One fit with plurule on a data set."""
    return ours({"file": str(_files(settings, name)[0]), "parameters": parameters})


def peer_on(settings: Settings, name: str, parameters: dict[str, Any]) -> Result:
    """One fit with mlrl-seco on a data set."""
    script = str(Path(__file__).with_name("fit_peer.py"))
    command = [str(settings.peer_python), script, str(_files(settings, name)[1]), json.dumps(parameters)]
    return run(command, settings.peer_limit)


def _files(settings: Settings, name: str) -> tuple[Path, Path]:
    if settings.data is None:
        raise FileNotFoundError("no folder of Mulan data sets: set PLURULE_DATA or put one at ../shared/data")
    return save(name, settings.data, settings.scratch)


def run(command: list[str], limit: float | None) -> Result:
    """What a command prints last, as JSON; one that takes more CPU seconds than it may is given up."""

    def limit_cpu() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))

    environment = os.environ | ONE_THREAD
    begin, before = time.perf_counter(), cpu_of_children()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, preexec_fn=limit_cpu)
    if limit is not None and done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"cpu": cpu_of_children() - before, "wall": time.perf_counter() - begin, "gave_up": True}
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode} of {' '.join(command)}")
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def cpu_of_children() -> float:
    """CPU seconds of all processes that were run and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def median(results: list[Result], what: str) -> float:
    """The middle of some times."""
    return statistics.median(float(result[what]) for result in results)


def least(results: list[Result], what: str) -> float:
    """The smallest of some times: what was least disturbed by others on the machine."""
    return min(float(result[what]) for result in results)
