"""One fit and prediction with plurule or scikit-learn in a process of its own.

python -m research.compare.fit_once LEARNER DATA.pickle PREDICTIONS.npy
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

from plurule import RuleListClassifier
from plurule.metrics import METRICS, micro_f1
from research.compare.data import features_of

DEFAULT = "plurule"
FOR_HAMMING = "plurule, for HA"
FOR_MACRO = "plurule, for macro F1"
EXPRESSIVE = "plurule, expressive"
CONSTANT = "constant"
CONSTANT_FOR_HAMMING = "constant for HA"
TREE = "tree per label"
FOREST = "random forest"
TUNED_FOREST = "random forest, tuned"
THRESHOLDS = np.arange(1, 100) / 100


def tree_per_label() -> Any:
    """Return a decision tree per label, with default settings."""
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.tree import DecisionTreeClassifier

    return MultiOutputClassifier(DecisionTreeClassifier(random_state=0))


def random_forest() -> Any:
    """Return a random forest with default settings."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0)


class BestConstant:
    """The label set with the best score on the training part, among the most frequent labels."""

    def __init__(self, scoring: str):
        self.scoring = scoring

    def fit(self, X: Any, Y: Any) -> BestConstant:
        """Find the label set."""
        order = np.argsort(-Y.sum(axis=0, dtype=np.int64), kind="stable")
        candidates = np.zeros((Y.shape[1] + 1, Y.shape[1]), dtype=np.uint8)
        for size in range(1, Y.shape[1] + 1):
            candidates[size, order[:size]] = 1
        measure = METRICS[self.scoring]
        self.labels = max(candidates, key=lambda labels: measure(Y, np.broadcast_to(labels, Y.shape)))
        return self

    def predict(self, X: Any) -> Any:
        """Return the label set, for each row."""
        return np.tile(self.labels, (X.shape[0], 1))


class TunedForest:
    """A random forest whose threshold has the best micro F1 out of bag."""

    def fit(self, X: Any, Y: Any) -> TunedForest:
        """Grow the trees for labels that vary, then choose the threshold."""
        self.always = Y.all(axis=0)
        self.varies = np.flatnonzero(Y.any(axis=0) & ~self.always)
        varying = Y[:, self.varies]
        self.forest = random_forest().set_params(oob_score=True).fit(X, varying)
        votes = np.nan_to_num(self.forest.oob_decision_function_[:, 1])
        self.threshold = max(THRESHOLDS, key=lambda threshold: micro_f1(varying, votes >= threshold))
        return self

    def predict(self, X: Any) -> Any:
        """Return the labels with enough votes."""
        predicted = np.tile(self.always, (X.shape[0], 1))
        votes = np.column_stack([label[:, 1] for label in self.forest.predict_proba(X)])
        predicted[:, self.varies] = votes >= self.threshold
        return predicted


OURS: dict[str, Callable[[], Any]] = {
    DEFAULT: RuleListClassifier,
    EXPRESSIVE: lambda: RuleListClassifier(score_tolerance=0.01),
    FOR_HAMMING: lambda: RuleListClassifier(scoring="hamming_accuracy"),
    FOR_MACRO: lambda: RuleListClassifier(scoring="macro_f1"),
}
SCIKIT_LEARN: dict[str, Callable[[], Any]] = {
    CONSTANT: lambda: BestConstant("micro_f1"),
    CONSTANT_FOR_HAMMING: lambda: BestConstant("hamming_accuracy"),
    TREE: tree_per_label,
    FOREST: random_forest,
    TUNED_FOREST: TunedForest,
}


def relating_rules(rules: Any) -> int:
    """Count the rules that relate labels: multi-label heads, or label conditions."""
    return sum(len(rule.head) > 1 or bool(rule.label_conditions) for rule in rules)


def main() -> None:
    """Fit once, write the predictions for the test part, and print times and sizes as JSON."""
    learner, data, output = sys.argv[1:]
    parts = pickle.loads(Path(data).read_bytes())
    Y, _ = parts["labels"]
    classifier = (OURS | SCIKIT_LEARN)[learner]()
    if learner in OURS:
        X, X_test = parts["train"].X, parts["test"].X
    else:
        X, X_test = features_of(parts["train"], parts["test"])
    warnings.simplefilter("ignore")
    wall = time.perf_counter()
    cpu = time.process_time()
    classifier.fit(X, Y)
    result: dict[str, Any] = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    np.save(output, np.asarray(classifier.predict(X_test), dtype=np.uint8))
    if learner in OURS:
        rule_list = classifier.rule_list_
        sizes = rule_list.characteristics()
        result |= {"rules": sizes["rules"], "conditions": sizes["conditions"], "several": relating_rules(rule_list)}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
