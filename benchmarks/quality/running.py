"""Running every learner on every set, each fit in a process of its own."""

from __future__ import annotations

import json
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.engine.running import run
from benchmarks.quality.data import save
from benchmarks.quality.fit_once import OURS, SCIKIT_LEARN

from plurule.metrics import METRICS

Result = dict[str, Any]

ALONE = {"parallel_rule_refinement": "false", "parallel_statistic_update": "false"}
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SeCo": ("seco", ALONE),
    "SeCo, KLN": ("seco", ALONE | {"head_type": "partial", "lift_function": "kln"}),
    "BOOMER": ("boomer", ALONE),
    "BOOMER, tuned": ("boomer", ALONE | {"threshold_folds": 3}),
}
"""The learners of mlrl: as they come; SeCo with heads of several labels; BOOMER with a threshold chosen on training
rows, and with all attributes on sparse data. Each in one thread."""

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
        result = run(command, self.limit if learner in PEERS else None)
        if "gave_up" in result:
            return {"gave_up": self.limit}
        if "cpu" in result:
            _, (_, truth) = pickle.loads(ours.read_bytes())
            predicted = np.load(predictions)
            result |= {measure: METRICS[measure](truth, predicted) for measure in MEASURES}
        return result
