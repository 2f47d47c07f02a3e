"""Single fits in processes of their own, so that neither library nor an earlier fit is in the way."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from typing import Any

from plurule import PluruleError
from research.machine import ROOT

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

Result = dict[str, Any]


class TookTooLongError(PluruleError):
    """A process was ended after its CPU seconds."""


def run(command: list[str], limit: float | None = None) -> Result:
    """Return the last line that a command prints, read as JSON.

    A command that exceeds its CPU seconds, or those that this process has, is ended.

    Raises
    ------
    PluruleError
        If the command cannot be started, or fails; the last line of what it says is in the message.
    """

    def limit_cpu() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))

    environment = os.environ | ONE_THREAD
    begin = time.perf_counter()
    before = cpu_of_children()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace", preexec_fn=limit_cpu
        )
    except OSError as error:
        raise PluruleError(f"{command[0]} cannot be run ({error.strerror}); name another program") from error
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return {"cpu": cpu_of_children() - before, "wall": time.perf_counter() - begin, "gave_up": True}
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it printed no error"]
        raise PluruleError(f"{lines[-1]} (exit code {done.returncode} of {' '.join(command)})")
    # Warnings are for those who run the experiments.
    sys.stderr.write(done.stderr)
    result: Result = json.loads(done.stdout.splitlines()[-1])
    return result


def cpu_of_children() -> float:
    """Return the CPU seconds of all processes that were run and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
