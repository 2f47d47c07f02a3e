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
from plurule.metrics import micro_f1
from plurule.prediction.constant import best_constant

OUT_OF_THE_BOX, FOR_HAMMING, SEARCHED = "plurule", "plurule, aimed at HA", "plurule, CV"
FOR_MACRO = "plurule, aimed at macro F1"
EXPRESSIVE = "plurule, expressive"
BAGGED = "plurule, votes of 50 lists"
CONSTANT, CONSTANT_FOR_HAMMING = "constant", "constant for HA"
TREE, FOREST, TUNED_FOREST = "tree per label", "random forest", "random forest, tuned"


def tree_per_label() -> Any:
    """As it comes."""
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.tree import DecisionTreeClassifier

    return MultiOutputClassifier(DecisionTreeClassifier(random_state=0))


def random_forest() -> Any:
    """As it comes."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0)


class ConstantLabels:
    """The label set with the best score on the training part, whatever the instance."""

    def __init__(self, scoring: str):
        self.scoring = scoring

    def fit(self, X: Any, Y: Any) -> ConstantLabels:
        """Find the label set."""
        self.labels = best_constant(Y, self.scoring).labels
        return self

    def predict(self, X: Any) -> Any:
        """The label set, for each row."""
        return np.tile(self.labels, (X.shape[0], 1))


class TunedForest:
    """A random forest whose threshold has the best micro F1 out of bag."""

    def fit(self, X: Any, Y: Any) -> TunedForest:
        """Grow the trees for labels that are not always alike, then choose the threshold."""
        self.always = Y.all(axis=0)
        self.varies = np.flatnonzero(Y.any(axis=0) & ~self.always)
        varying = Y[:, self.varies]
        self.forest = random_forest().set_params(oob_score=True).fit(X, varying)
        votes = np.nan_to_num(self.forest.oob_decision_function_[:, 1])
        self.threshold = max(THRESHOLDS, key=lambda threshold: micro_f1(varying, votes >= threshold))
        return self

    def predict(self, X: Any) -> Any:
        """The labels with enough votes."""
        predicted = np.tile(self.always, (X.shape[0], 1))
        predicted[:, self.varies] = np.column_stack([p[:, 1] for p in self.forest.predict_proba(X)]) >= self.threshold
        return predicted


OURS: dict[str, Callable[[], Any]] = {
    OUT_OF_THE_BOX: RuleListClassifier,
    EXPRESSIVE: RuleListClassifier.expressive,
    FOR_HAMMING: lambda: RuleListClassifier(scoring="hamming_accuracy"),
    FOR_MACRO: lambda: RuleListClassifier(scoring="macro_f1"),
    SEARCHED: RuleListClassifierCV,
    BAGGED: BaggedRuleLists,
}
SCIKIT_LEARN: dict[str, Callable[[], Any]] = {
    CONSTANT: lambda: ConstantLabels("micro_f1"),
    CONSTANT_FOR_HAMMING: lambda: ConstantLabels("hamming_accuracy"),
    TREE: tree_per_label,
    FOREST: random_forest,
    TUNED_FOREST: TunedForest,
}
THRESHOLDS = np.arange(1, 100) / 100


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
        rules = [rule for rule_list in lists for rule in rule_list]
        result["several"] = sum(len(rule.head) > 1 or bool(rule.label_conditions) for rule in rules)
        if hasattr(classifier, "chosen_"):
            result["how"] = classifier.chosen_.get("how")
        if hasattr(classifier, "best_params_"):
            result["chosen"] = {name: str(value) for name, value in classifier.best_params_.items()}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
