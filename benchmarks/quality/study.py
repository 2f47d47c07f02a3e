"""Where the defaults of single lists come from: settings, cross-validated on the training part of a set alone."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from benchmarks.quality.data import labels
from sklearn.base import clone

from plurule import RuleListClassifier, RuleListClassifierCV
from plurule.data import read
from plurule.heuristics import FMeasure
from plurule.learning.min_precision import MinPrecision
from plurule.lifts import KLN, NoLift

AS_PUBLISHED: dict[str, Any] = {
    "heuristic__beta": 0.5,
    "min_precision": MinPrecision(0.5, of="head", when="growing"),
    "predict_absence": False,
    "max_conditions": None,
    "min_coverage": 0,
    "max_bins": None,
    "readable": False,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "as published": AS_PUBLISHED,
    "β = 0.4": {"heuristic__beta": 0.4},
    "β = 0.5": {"heuristic__beta": 0.5},
    "β = 0.7": {"heuristic__beta": 0.7},
    "β = 0.8": {"heuristic__beta": 0.8},
    "β = 1": {"heuristic__beta": 1.0},
    'min_precision: when="growing"': {"min_precision": MinPrecision(0.5, when="growing")},
    'min_precision: of="head"': {"min_precision": MinPrecision(0.5, of="head")},
    "no lift": {"lift": NoLift()},
    "KLN(k=0.03)": {"lift": KLN(k=0.03)},
    "KLN(k=0.15)": {"lift": KLN(k=0.15)},
    "max_conditions=3": {"max_conditions": 3},
    "max_conditions=4": {"max_conditions": 4},
    "max_conditions=8": {"max_conditions": 8},
    "min_coverage=0": {"min_coverage": 0},
    "min_coverage=5": {"min_coverage": 5},
    "max_bins=16": {"max_bins": 16},
    "max_bins=64": {"max_bins": 64},
    "no bins": {"max_bins": None},
    "beam_width=3": {"beam_width": 3},
    "fix_head=False": {"fix_head": False},
    "label_conditions=False": {"label_conditions": False},
    'averaging="macro"': {"averaging": "macro"},
    "predict_absence=True": {"predict_absence": True},
}
"""Each differs from the defaults in what it says."""
MAX_RULES = 150
ONE_LIST = RuleListClassifier(heuristic=FMeasure(beta=0.6))
"""What every setting starts from: the settings are those of single lists."""


def study(name: str, folder: Path) -> dict[str, Any]:
    """What each setting scores on the held-out folds of a training part, at the length it would be cut to."""
    data = read(folder / name, split="train")
    results: dict[str, Any] = {}
    for setting, parameters in SETTINGS.items():
        grid = {key: [value] for key, value in parameters.items()} or {"max_bins": [32]}
        search = RuleListClassifierCV(clone(ONE_LIST).set_params(n_rules=MAX_RULES), param_grid=grid, length="shortest")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            search.fit(data.X, labels(data))
        curve, table = search.curves_[0], search.cv_results_
        if curve is None:
            continue
        results[setting] = {
            "best": curve.score(curve.best),
            "micro_f1": curve.score(curve.chosen),
            "standard_error": float(curve.standard_error[curve.best - 1]),
            "hamming_accuracy": float(table["mean_test_hamming_accuracy"][0]),
            "subset_accuracy": float(table["mean_test_subset_accuracy"][0]),
            "rules": curve.chosen,
            "conditions": float(table["mean_conditions"][0]),
        }
    return results
