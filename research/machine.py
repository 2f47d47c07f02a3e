"""The machine that numbers were measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from plurule import __version__

ROOT = Path(__file__).parents[1]


def describe() -> dict[str, str | int | float]:
    """Return processor, memory, versions, and the load of the machine."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": processor(),
        "cores": os.cpu_count() or 1,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "plurule": __version__,
        "commit": _commit(),
        "numpy": version("numpy"),
        "load_before": round(os.getloadavg()[0], 1),
    }


def in_words(machine: dict[str, str | int | float]) -> str:
    """Return one line to stand below a table."""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:.0f} GB, {machine['system']}; "
        f"Python {machine['python']}, plurule {machine['plurule']} ({machine['commit']}); {machine['date']}, "
        f"load before: {machine['load_before']}"
    )


def processor() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine())


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or "no checkout"
