"""Where the numbers come from."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.engine.running import ROOT

from plurule import __version__


def describe() -> dict[str, str | int | float]:
    """Processor, memory, versions, and how busy the machine is with other things."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": _processor(),
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
    """One line below a table."""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:.0f} GB, {machine['system']}; "
        f"Python {machine['python']}, plurule {machine['plurule']} ({machine['commit']}); {machine['date']}, "
        f"load before: {machine['load_before']}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or "no checkout"
