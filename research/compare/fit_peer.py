"""One fit and prediction with mlrl in a process of its own, run by the Python of the peer's environment.

python fit_peer.py LEARNER DATA.npz PREDICTIONS.npy PARAMETERS_AS_JSON
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp


def matrix(arrays: Any, part: str, form: Any) -> Any:
    """The attributes of one part: dense, or sparse in the form that is asked for."""
    if f"{part}_X" in arrays:
        return np.ascontiguousarray(arrays[f"{part}_X"])
    parts = tuple(arrays[f"{part}_{key}"] for key in ("data", "indices", "indptr"))
    return form(sp.csc_matrix(parts, shape=tuple(arrays[f"{part}_shape"])))


def best_threshold(make: Any, X: Any, Y: Any, nominal: list[int], folds: int) -> float:
    """The threshold on probabilities with the best micro F1 on rows that were not trained on."""
    part = np.random.default_rng(0).permutation(len(Y)) % folds
    found = np.zeros(Y.shape)
    rows = sp.csr_matrix(X) if sp.issparse(X) else X
    for fold in range(folds):
        training = sp.csc_matrix(rows[part != fold]) if sp.issparse(rows) else rows[part != fold]
        fitted = make().fit(training, Y[part != fold], nominal_feature_indices=nominal)
        found[part == fold] = fitted.predict_proba(rows[part == fold])

    def micro_f1(threshold: float) -> float:
        predicted = found >= threshold
        return float(2 * (predicted & (Y == 1)).sum() / max(1, predicted.sum() + Y.sum()))

    return max((np.arange(1, 100) / 100).tolist(), key=micro_f1)


def main() -> None:
    """Fit once, write down what is predicted for the test part, and print times and sizes as JSON."""
    learner, data, output, parameters = sys.argv[1:]
    if learner == "boomer":
        from mlrl.boosting import BoomerClassifier as Classifier
    else:
        from mlrl.seco import SeCoClassifier as Classifier
    given = json.loads(parameters)
    folds = given.pop("threshold_folds", 0)
    with np.load(data) as arrays:
        X, X_test = matrix(arrays, "train", sp.csc_matrix), matrix(arrays, "test", sp.csr_matrix)
        Y, nominal = arrays["train_Y"], arrays["nominal"].tolist()
    wall, cpu = time.perf_counter(), time.process_time()
    if folds and sp.issparse(X):
        # Its own sampling of attributes leaves hardly any that a row has.
        given["feature_sampling"] = "none"
    if folds:
        threshold = best_threshold(lambda: Classifier(**given), X, Y, nominal, folds)
    classifier = Classifier(**given).fit(X, Y, nominal_feature_indices=nominal)
    result = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    predicted = classifier.predict_proba(X_test) >= threshold if folds else classifier.predict(X_test)
    np.save(output, np.asarray(predicted.todense() if sp.issparse(predicted) else predicted).astype(np.uint8))
    rules = classifier.model_.get_num_used_rules()
    print(json.dumps(result | {"rules": rules, "version": version(f"mlrl-{learner}")}))


if __name__ == "__main__":
    main()
