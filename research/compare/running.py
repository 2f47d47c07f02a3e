"""Run every learner on every data set, each fit in a process of its own."""

from __future__ import annotations

import json
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurule.metrics import METRICS
from research.compare.data import save
from research.compare.fit_once import OURS, SCIKIT_LEARN
from research.processes import Result, run

ONE_THREAD = {"parallel_rule_refinement": "false", "parallel_statistic_update": "false"}
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "SeCo": ("seco", ONE_THREAD),
    "SeCo, KLN": ("seco", ONE_THREAD | {"head_type": "partial", "lift_function": "kln"}),
    "BOOMER": ("boomer", ONE_THREAD),
    "BOOMER, tuned": ("boomer", ONE_THREAD | {"threshold_folds": 3}),
}
"""Learners of mlrl: with default settings; SeCo with multi-label heads; BOOMER with a threshold chosen on training
rows, and with all attributes on sparse data."""

LEARNERS = (*OURS, *PEERS, *SCIKIT_LEARN)
MEASURES = ("micro_f1", "macro_f1", "hamming_accuracy", "subset_accuracy")


@dataclass(frozen=True)
class Settings:
    """Settings of all runs."""

    scratch: Path
    peer_python: Path | None
    limit: float
    """CPU seconds after which a fit of mlrl is ended."""

    def run(self, name: str, learner: str) -> Result:
        """Return the scores of a learner on the test part of a data set, its times and sizes."""
        if learner in PEERS and self.peer_python is None:
            return {"skipped": "no Python with mlrl: --peer-python"}
        ours, theirs = save(name, self.scratch)
        predictions = self.scratch / "predictions.npy"
        if learner in PEERS:
            kind, parameters = PEERS[learner]
            script = str(Path(__file__).with_name("fit_peer.py"))
            command = [str(self.peer_python), script, kind, str(theirs), str(predictions), json.dumps(parameters)]
            result = run(command, self.limit)
        else:
            result = run([sys.executable, "-m", "research.compare.fit_once", learner, str(ours), str(predictions)])
        if "gave_up" in result:
            return {"gave_up": self.limit}
        _, truth = pickle.loads(ours.read_bytes())["labels"]
        predicted = np.load(predictions)
        return result | {measure: METRICS[measure](truth, predicted) for measure in MEASURES}
