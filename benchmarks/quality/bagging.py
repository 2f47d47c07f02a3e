"""Settings of `BaggedRuleLists`, cross-validated on the training parts alone; see README.md."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.engine.machine import in_words
from benchmarks.pages import markdown_table
from benchmarks.quality.data import labels

from plurule import BaggedRuleLists, RuleListClassifier, read
from plurule.data import IterativeStratifiedKFold
from plurule.heuristics import FMeasure, Gain, Heuristic
from plurule.metrics import micro_f1

FOLDS = 3


def bagged(*heuristics: Heuristic, n_estimators: int = 50, **parameters: Any) -> Callable[[], BaggedRuleLists]:
    """Votes of lists by these heuristics, which take turns."""
    given = {"n_rules": 60} | parameters
    return lambda: BaggedRuleLists([RuleListClassifier(heuristic=h, **given) for h in heuristics], n_estimators)


SETTINGS: dict[str, Callable[[], Any]] = {
    "one list, β = 0.6, 60 rules": lambda: RuleListClassifier(heuristic=FMeasure(0.6), n_rules=60),
    "defaults": BaggedRuleLists,
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


def bagging(name: str, folder: Path) -> dict[str, Any]:
    """Micro F1 on held-out folds of the training part, and CPU seconds to train, for each setting."""
    warnings.simplefilter("ignore")
    train = read(folder / name, split="train")
    Y = labels(train)
    found = {}
    for setting, make in SETTINGS.items():
        scores, start = [], time.process_time()
        for rows, held_out in IterativeStratifiedKFold(FOLDS).split(Y, Y):
            scores.append(micro_f1(Y[held_out], make().fit(train[rows]).predict(train.X[held_out])))
        cpu = (time.process_time() - start) / FOLDS
        found[setting] = {"micro_f1": sum(scores) / FOLDS, "cpu": cpu}
    return found


def bagging_page(results: dict[str, Any]) -> str:
    """A table of the settings; others than the defaults as the difference to them, in hundredths."""
    sets = list(results["sets"])
    rows = []
    for setting in SETTINGS:
        values = [results["sets"][name][setting]["micro_f1"] for name in sets]
        defaults = [results["sets"][name]["defaults"]["micro_f1"] for name in sets]
        cells = [
            f"{v:.3f}" if setting == "defaults" else f"{100 * (v - d):+.1f}"
            for v, d in zip(values, defaults, strict=True)
        ]
        mean = sum(values) / len(sets) if setting == "defaults" else sum(values) / len(sets) - sum(defaults) / len(sets)
        cells.append(f"{mean:.3f}" if setting == "defaults" else f"{100 * mean:+.1f}")
        rows.append((setting, *cells, f"{sum(results['sets'][name][setting]['cpu'] for name in sets):.1f}"))
    rows.sort(key=lambda row: row[0] != "defaults")
    said = "Micro F1 on held-out folds of the training parts; others: the difference to the defaults, in hundredths."
    table = markdown_table(("", *sets, "mean", "CPU s"), rows)
    return f"{said}\n\n{table}\n\n{in_words(results['machine'])}\n"
