"""One fit with mlrl-seco in a process of its own, run by the Python of the peer's environment.

python fit_peer.py DATA.npz PARAMETERS_AS_JSON
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp
from mlrl.seco import SeCoClassifier


def load(path: str) -> tuple[Any, Any, Any]:
    """Attributes (dense, or sparse by columns), labels, and which attributes are nominal."""
    with np.load(path) as arrays:
        nominal, Y = arrays["nominal"], arrays["Y"]
        if "X" in arrays:
            return arrays["X"], Y, nominal
        X = sp.csc_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
        return X, Y, nominal


def main() -> None:
    """Fit once and print the times as JSON."""
    X, Y, nominal = load(sys.argv[1])
    classifier = SeCoClassifier(**json.loads(sys.argv[2]))
    SeCoClassifier(max_rules=2).fit(X[:50], Y[:50])  # whatever is loaded on first use
    wall, cpu = time.perf_counter(), time.process_time()
    classifier.fit(X, Y, nominal_feature_indices=nominal.tolist())
    result = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    rules = classifier.model_.get_num_used_rules()
    print(json.dumps(result | {"rules": rules, "version": version("mlrl-seco")}))


if __name__ == "__main__":
    main()
