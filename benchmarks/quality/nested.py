"""Settings of what chooses by itself, on held-out folds of the training parts alone: aimed lists, votes of lists."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from benchmarks.engine.machine import in_words
from benchmarks.pages import markdown_table
from benchmarks.quality.data import labels

from plurule import BaggedRuleLists, RuleListClassifier, read
from plurule.data import IterativeStratifiedKFold
from plurule.heuristics import FMeasure, Gain, Heuristic
from plurule.metrics import micro_f1
from plurule.selection import aiming as aims

FOLDS = 3
DEFAULTS = "defaults"

Settings = Mapping[str, Callable[[], Any]]


class Aimed:
    """An aimed list, with other constants than those of the module."""

    def __init__(self, **constants: Any):
        self.constants = constants

    def fit(self, data: Any) -> RuleListClassifier:
        """Learn with these constants."""
        with patch.multiple(aims, **self.constants):
            return RuleListClassifier().fit(data)


AIMING: Settings = {
    DEFAULTS: RuleListClassifier,
    "one list, β = 0.6": lambda: RuleListClassifier(heuristic=FMeasure(0.6)),
    "nothing for several labels": lambda: Aimed(FOR_SEVERAL=0.0),
    "three times as much for several labels": lambda: Aimed(FOR_SEVERAL=0.1),
    "nothing against rules and conditions": lambda: Aimed(PER_SIZE=0.0),
    "four times as much against them": lambda: Aimed(PER_SIZE=4e-4),
    "λ = 0.3 alone": lambda: Aimed(LAMBDAS=(0.3,)),
    "conditions cost nothing": lambda: Aimed(PER_CONDITION=(0.0,)),
    "lists by β = 1 alone": lambda: Aimed(BETAS=(1.0,)),
    "lists by β = 0.5, 1, 2": lambda: Aimed(BETAS=(0.5, 1.0, 2.0)),
    "3 folds": lambda: RuleListClassifier(cv=3),
    "10 folds": lambda: RuleListClassifier(cv=10),
    "at most 20 rules": lambda: RuleListClassifier(n_rules=20),
    "at most 80 rules": lambda: RuleListClassifier(n_rules=80),
    "expressive": RuleListClassifier.expressive,
}


def bagged(*heuristics: Heuristic, n_estimators: int = 50, **parameters: Any) -> Callable[[], BaggedRuleLists]:
    """Votes of lists by these heuristics, which take turns."""
    given = {"n_rules": 60} | parameters
    return lambda: BaggedRuleLists([RuleListClassifier(heuristic=h, **given) for h in heuristics], n_estimators)


BAGGING: Settings = {
    DEFAULTS: BaggedRuleLists,
    "one list, β = 0.6, 60 rules": lambda: RuleListClassifier(heuristic=FMeasure(0.6), n_rules=60),
    "β = 0.6": bagged(FMeasure(0.6)),
    "β = 1": bagged(FMeasure(1.0)),
    "β = 0.4, 0.6, 1": bagged(FMeasure(0.4), FMeasure(0.6), FMeasure(1.0)),
    "Gain(0.3)": bagged(Gain(0.3)),
    "min_precision=0.3": bagged(FMeasure(0.6), FMeasure(1.0), min_precision=0.3),
    "n_rules=30": bagged(FMeasure(0.6), FMeasure(1.0), n_rules=30),
    "n_rules=120": bagged(FMeasure(0.6), FMeasure(1.0), n_rules=120),
    "max_conditions=10": bagged(FMeasure(0.6), FMeasure(1.0), max_conditions=10),
    "label_conditions=False": bagged(FMeasure(0.6), FMeasure(1.0), label_conditions=False),
    "10 lists": lambda: BaggedRuleLists(n_estimators=10),
    "25 lists": lambda: BaggedRuleLists(n_estimators=25),
    "100 lists": lambda: BaggedRuleLists(n_estimators=100),
}


def tried(settings: Settings, name: str, folder: Path) -> dict[str, Any]:
    """Micro F1 on held-out folds of the training part, rules, the share that tells of several labels, CPU seconds."""
    warnings.simplefilter("ignore")
    train = read(folder / name, split="train")
    Y = labels(train)
    found = {}
    for setting, make in settings.items():
        scores, rules, start = [], [], time.process_time()
        for rows, held_out in IterativeStratifiedKFold(FOLDS).split(Y, Y):
            fitted = make().fit(train[rows])
            scores.append(micro_f1(Y[held_out], fitted.predict(train.X[held_out])))
            lists = getattr(fitted, "rule_lists_", None) or [fitted.rule_list_]
            rules += [len(rule.head) > 1 or bool(rule.label_conditions) for one in lists for rule in one]
        cpu = (time.process_time() - start) / FOLDS
        sizes = {"rules": len(rules) / FOLDS, "several": float(np.mean(rules)) if rules else 0.0}
        found[setting] = {"micro_f1": float(np.mean(scores)), "cpu": cpu} | sizes
    return found


def nested_page(results: dict[str, Any]) -> str:
    """A table of the settings; others than the defaults as the difference to them, in hundredths."""
    sets = list(results["sets"])
    rows = []
    for setting in results["sets"][sets[0]]:
        found = [results["sets"][name][setting] for name in sets]
        scores = np.array([one["micro_f1"] for one in found])
        scores = np.append(scores, scores.mean())
        if setting == DEFAULTS:
            defaults = scores
        gains = 100 * (scores - defaults)
        cells = [f"{score:.3f}" for score in scores] if setting == DEFAULTS else [f"{gain:+.1f}" for gain in gains]
        sizes = (f"{np.mean([one['rules'] for one in found]):.0f}", f"{np.mean([one['several'] for one in found]):.0%}")
        rows.append((setting, *cells, *sizes, f"{sum(one['cpu'] for one in found):.1f}"))
    said = "Micro F1 on held-out folds of the training parts; others: the difference to the defaults, in hundredths."
    table = markdown_table(("", *sets, "mean", "rules", "of several labels", "CPU s"), rows)
    return f"{said}\n\n{table}\n\n{in_words(results['machine'])}\n"
