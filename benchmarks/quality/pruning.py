"""Whether pruning pays: ways to prune, cross-validated on the training part of a set alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.quality.data import labels

from plurule import RuleListClassifier
from plurule.data import read
from plurule.data.splitting import IterativeStratifiedKFold
from plurule.metrics import hamming_accuracy, micro_f1
from plurule.model import RuleList

FOLDS = 5


def learned(**parameters: Any) -> Callable[[Any, Any], RuleList]:
    """The rules of a classifier with these parameters."""
    return lambda X, Y: RuleListClassifier(**parameters).fit(X, Y).rule_list_


def simplified(tolerance: float) -> Callable[[Any, Any], RuleList]:
    """What is left where the score on the training rows may fall by so much."""

    def learn(X: Any, Y: Any) -> RuleList:
        rules = RuleListClassifier().fit(X, Y).rule_list_
        return rules.simplify(X, Y, tolerance=tolerance, measure="micro_f1").rule_list

    return learn


WAYS: dict[str, Callable[[Any, Any], RuleList]] = {
    "defaults": learned(),
    "prune=0.2": learned(prune=0.2),
    "prune=0.33": learned(prune=0.33),
    "prune=0.33, all rules": learned(prune=0.33, n_rules=None),
    "simplify, tolerance 0": simplified(0.0),
    "simplify, tolerance 0.005": simplified(0.005),
}


def pruning(name: str, folder: Path) -> dict[str, Any]:
    """What each way scores on held-out folds, and how long its lists are."""
    data = read(folder / name, split="train")
    Y = labels(data)
    splits = list(IterativeStratifiedKFold(FOLDS).split(Y, Y))
    results: dict[str, Any] = {}
    for way, learn in WAYS.items():
        found = []
        for train, test in splits:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rules = learn(data.X[train], Y[train])
            predicted = RuleListClassifier.from_rule_list(rules).predict(data.X[test])
            size = rules.characteristics()
            scores = micro_f1(Y[test], predicted), hamming_accuracy(Y[test], predicted)
            found.append((*scores, size["rules"], size["conditions"]))
        means = np.mean(found, axis=0).tolist()
        results[way] = dict(zip(("micro_f1", "hamming_accuracy", "rules", "conditions"), means, strict=True))
    return results
