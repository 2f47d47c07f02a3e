"""One fit and prediction with plurule or scikit-learn in a process of its own.

python -m benchmarks.quality.fit_once LEARNER DATA.pickle PREDICTIONS.npy
"""

from __future__ import annotations

import json
import pickle
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.quality.data import as_features

from plurule import BaggedRuleLists, RuleListClassifier, RuleListClassifierCV

OUT_OF_THE_BOX, FOR_HAMMING, SEARCHED = "plurule", "plurule, aimed at HA", "plurule, CV"
EXPRESSIVE = "plurule, expressive"
BAGGED = "plurule, votes of 50 lists"
TREE, FOREST = "tree per label", "random forest"


def tree_per_label() -> Any:
    """As it comes."""
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.tree import DecisionTreeClassifier

    return MultiOutputClassifier(DecisionTreeClassifier(random_state=0))


def random_forest() -> Any:
    """As it comes."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0)


OURS: dict[str, Callable[[], Any]] = {
    OUT_OF_THE_BOX: RuleListClassifier,
    EXPRESSIVE: RuleListClassifier.expressive,
    FOR_HAMMING: lambda: RuleListClassifier(scoring="hamming_accuracy"),
    SEARCHED: RuleListClassifierCV,
    BAGGED: BaggedRuleLists,
}
SCIKIT_LEARN: dict[str, Callable[[], Any]] = {TREE: tree_per_label, FOREST: random_forest}


def main() -> None:
    """Fit once, write down what is predicted for the test part, and print times and sizes as JSON."""
    learner, data, output = sys.argv[1:]
    (X, Y), (X_test, _) = pickle.loads(Path(data).read_bytes())
    is_ours = learner in OURS
    if not is_ours:
        X, X_test = as_features(X), as_features(X_test)
    classifier = (OURS | SCIKIT_LEARN)[learner]()
    warnings.simplefilter("ignore")
    wall, cpu = time.perf_counter(), time.process_time()
    classifier.fit(X, Y)
    result: dict[str, Any] = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    np.save(output, np.asarray(classifier.predict(X_test), dtype=np.uint8))
    if is_ours:
        lists = getattr(classifier, "rule_lists_", None) or [classifier.rule_list_]
        sizes = [rule_list.characteristics() for rule_list in lists]
        result |= {key: sum(size[key] for size in sizes) for key in ("rules", "conditions")}
        if hasattr(classifier, "best_params_"):
            result["chosen"] = {name: str(value) for name, value in classifier.best_params_.items()}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
