"""Fit or apply a classifier of mlrl, run by the Python of an environment that has it.

python peer_process.py fit seco|boomer DATA.npz MODEL.pickle PARAMETERS_AS_JSON
python peer_process.py predict MODEL.pickle DATA.npz PREDICTIONS.npy
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
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


def read_matrix(arrays: Any, form: Any) -> Any:
    """Return the attributes: dense, or sparse in a form."""
    if "X" in arrays:
        return np.ascontiguousarray(arrays["X"])
    parts = tuple(arrays[name] for name in ("data", "indices", "indptr"))
    return form(sp.csc_matrix(parts, shape=tuple(arrays["shape"])))


def dense_matrix(predicted: Any, n_labels: int) -> Any:
    """Return predictions, or probabilities, as a matrix with a column per label.

    Of a single label, mlrl predicts a vector, and the probabilities of its absence and presence.
    """
    dense = np.asarray(predicted.todense() if sp.issparse(predicted) else predicted)
    return dense.reshape(len(dense), -1)[:, -n_labels:]


def best_threshold(make: Any, X: Any, Y: Any, nominal: list[int], folds: int) -> float:
    """Return the threshold on probabilities with the best micro F1 on rows that were not trained on."""
    part = np.random.default_rng(0).permutation(len(Y)) % folds
    probabilities = np.zeros(Y.shape)
    rows = sp.csr_matrix(X) if sp.issparse(X) else X
    for fold in range(folds):
        training = sp.csc_matrix(rows[part != fold]) if sp.issparse(rows) else rows[part != fold]
        fitted = make().fit(training, Y[part != fold], nominal_feature_indices=nominal)
        if hasattr(fitted, "model_"):
            probabilities[part == fold] = dense_matrix(fitted.predict_proba(rows[part == fold]), Y.shape[1])
        else:
            # mlrl learns no model of labels that are all equal.
            probabilities[part == fold] = Y[part != fold][0]

    def micro_f1(threshold: float) -> float:
        predicted = probabilities >= threshold
        return float(2 * (predicted & (Y == 1)).sum() / max(1, predicted.sum() + Y.sum()))

    return max((np.arange(1, 100) / 100).tolist(), key=micro_f1)


def fit(learner: str, data: str, model: str, parameters: str) -> None:
    """Fit a classifier, keep it in a file, and print times, rules and the version of mlrl."""
    if learner == "boomer":
        from mlrl.boosting import BoomerClassifier as Classifier
    else:
        from mlrl.seco import SeCoClassifier as Classifier
    settings = json.loads(parameters)
    folds = settings.pop("threshold_folds", 0)
    with np.load(data) as arrays:
        X = read_matrix(arrays, sp.csc_matrix)
        Y = arrays["Y"]
        nominal = arrays["nominal"].tolist()
    if folds and sp.issparse(X):
        settings["feature_sampling"] = "none"
    # Whatever is loaded on first use.
    Classifier(max_rules=2).fit(X[:50], Y[:50])
    wall = time.perf_counter()
    cpu = time.process_time()
    threshold = best_threshold(lambda: Classifier(**settings), X, Y, nominal, folds) if folds else None
    classifier = Classifier(**settings).fit(X, Y, nominal_feature_indices=nominal)
    result = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    Path(model).write_bytes(pickle.dumps((classifier, threshold, Y.shape[1])))
    collector = Collector()
    classifier.model_.visit_used(collector)
    print(json.dumps(result | {"rules": collector.rules, "version": version(f"mlrl-{learner}")}))


def predict(model: str, data: str, output: str) -> None:
    """Apply a classifier that was kept."""
    classifier, threshold, n_labels = pickle.loads(Path(model).read_bytes())
    with np.load(data) as arrays:
        X = read_matrix(arrays, sp.csr_matrix)
    if threshold is None:
        predicted = dense_matrix(classifier.predict(X), n_labels)
    else:
        predicted = dense_matrix(classifier.predict_proba(X), n_labels) >= threshold
    np.save(output, predicted.astype(np.uint8))
    print("{}")


if __name__ == "__main__":
    {"fit": fit, "predict": predict}[sys.argv[1]](*sys.argv[2:])
