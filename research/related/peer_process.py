"""Fit or apply a classifier of mlrl, run by the Python of an environment that has it.

python peer_process.py fit seco|boomer DATA.npz MODEL.pickle PARAMETERS_AS_JSON
python peer_process.py predict MODEL.pickle DATA.npz PREDICTIONS.npy
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from mlrl.common.cython.rule_model import RuleModelVisitor


class Collector(RuleModelVisitor):
    """Rules as lists of conditions (attribute, comparison, value), and of labels with what is predicted for them."""

    COMPARISONS = ("numerical_leq", "numerical_gr", "nominal_eq", "nominal_neq", "ordinal_leq", "ordinal_gr")

    def __init__(self) -> None:
        self.rules: list[dict[str, Any]] = []
        self.body: list[tuple[int, str, float]] = []

    def visit_empty_body(self, body: Any) -> None:
        """Read a body without conditions."""
        self.body = []

    def visit_conjunctive_body(self, body: Any) -> None:
        """Read the conditions of a body."""
        self.body = []
        for kind in self.COMPARISONS:
            indices = getattr(body, f"{kind}_indices")
            thresholds = getattr(body, f"{kind}_thresholds")
            if indices is not None:
                pairs = zip(indices.tolist(), thresholds.tolist(), strict=True)
                self.body += [(index, kind.partition("_")[2], value) for index, value in pairs]

    def visit_complete_head(self, head: Any) -> None:
        """Read a head of all labels."""
        self._add(range(len(head.scores)), head.scores)

    def visit_partial_head(self, head: Any) -> None:
        """Read a head of some labels."""
        self._add(head.indices.tolist(), head.scores)

    def _add(self, labels: Any, scores: Any) -> None:
        head = [(int(label), float(score)) for label, score in zip(labels, scores.tolist(), strict=True)]
        self.rules.append({"body": self.body, "head": head})


def fit(learner: str, data: str, model: str, parameters: str) -> None:
    """Fit a classifier, keep it in a file, and print CPU seconds and rules."""
    if learner == "boomer":
        from mlrl.boosting import BoomerClassifier as Classifier
    else:
        from mlrl.seco import SeCoClassifier as Classifier
    with np.load(data) as arrays:
        X = np.ascontiguousarray(arrays["X"])
        Y = arrays["Y"]
        nominal = arrays["nominal"].tolist()
    start = time.process_time()
    classifier = Classifier(**json.loads(parameters)).fit(X, Y, nominal_feature_indices=nominal)
    seconds = time.process_time() - start
    Path(model).write_bytes(pickle.dumps(classifier))
    collector = Collector()
    classifier.model_.visit_used(collector)
    print(json.dumps({"cpu": seconds, "rules": collector.rules}))


def predict(model: str, data: str, output: str) -> None:
    """Apply a classifier that was kept."""
    classifier = pickle.loads(Path(model).read_bytes())
    with np.load(data) as arrays:
        X = np.ascontiguousarray(arrays["X"])
    start = time.process_time()
    predicted = classifier.predict(X)
    seconds = time.process_time() - start
    np.save(output, np.asarray(predicted.todense() if hasattr(predicted, "todense") else predicted).astype(np.uint8))
    print(json.dumps({"cpu": seconds}))


if __name__ == "__main__":
    {"fit": fit, "predict": predict}[sys.argv[1]](*sys.argv[2:])
