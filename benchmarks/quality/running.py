"""Running every learner on every set, each fit in a process of its own."""

from __future__ import annotations

import json
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.engine.running import ONE_THREAD, ROOT
from benchmarks.quality.data import save
from benchmarks.quality.fit_once import OURS, SCIKIT_LEARN

from plurule.metrics import METRICS

Result = dict[str, Any]

ALONE = {"parallel_rule_refinement": "false", "parallel_statistic_update": "false"}
PEERS: dict[str, tuple[str, dict[str, str]]] = {
    "SeCo": ("seco", ALONE),
    "SeCo, KLN": ("seco", ALONE | {"head_type": "partial", "lift_function": "kln"}),
    "BOOMER": ("boomer", ALONE),
}
"""The learners of mlrl: as they come, and SeCo with heads of several labels; each in one thread."""

LEARNERS = (*OURS, *PEERS, *SCIKIT_LEARN)
MEASURES = ("micro_f1", "macro_f1", "hamming_accuracy", "subset_accuracy")


@dataclass(frozen=True)
class Settings:
    """What all runs share."""

    data: Path
    scratch: Path
    peer_python: Path | None
    limit: float
    """CPU seconds after which a fit of a peer is given up."""

    def run(self, name: str, learner: str) -> Result:
        """What a learner predicts for the test part of a set, in numbers."""
        ours, theirs = save(name, self.data, self.scratch)
        predictions = self.scratch / "predictions.npy"
        if learner in PEERS:
            if self.peer_python is None:
                return {"skipped": "no Python with mlrl: --peer-python"}
            kind, parameters = PEERS[learner]
            script = str(Path(__file__).with_name("fit_peer.py"))
            command = [str(self.peer_python), script, kind, str(theirs), str(predictions), json.dumps(parameters)]
        else:
            command = [sys.executable, "-m", "benchmarks.quality.fit_once", learner, str(ours), str(predictions)]
        result = self._fit(command, self.limit if learner in PEERS else None)
        if "cpu" in result:
            _, (_, truth) = pickle.loads(ours.read_bytes())
            predicted = np.load(predictions)
            result |= {measure: METRICS[measure](truth, predicted) for measure in MEASURES}
        return result

    @staticmethod
    def _fit(command: list[str], limit: float | None) -> Result:
        def limit_cpu() -> None:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))

        done = subprocess.run(
            command, cwd=ROOT, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, text=True, preexec_fn=limit_cpu
        )
        if limit is not None and done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return {"gave_up": limit}
        if done.returncode != 0:
            raise RuntimeError(f"exit code {done.returncode} of {' '.join(command)}")
        result: Result = json.loads(done.stdout.splitlines()[-1])
        return result
