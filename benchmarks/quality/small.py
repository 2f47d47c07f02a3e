"""Small samples of training parts: is the list that is chosen better than a constant on the rows that are left?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.engine.machine import in_words
from benchmarks.pages import markdown_table
from benchmarks.quality.data import labels, parts_of
from benchmarks.quality.nested import DEFAULTS, Aimed

from plurule import RuleListClassifier
from plurule.metrics import micro_f1
from plurule.prediction.constant import best_constant
from plurule.prediction.scoring import Scoring

ROWS = (60, 100, 250)
SAMPLES = 10
NEW_ROWS = 3000
"""At most so many of the rows that are left are predicted."""
BY_THE_BEST_MEAN = "whatever has the best mean"

SETTINGS: dict[str, Callable[[], Any]] = {
    DEFAULTS: RuleListClassifier,
    BY_THE_BEST_MEAN: lambda: Aimed(is_better=lambda scores, constant: True),
}


def small(name: str, folder: Path) -> dict[str, Any]:
    """Per number of rows: micro F1 on rows that are left, of each setting and of the constant."""
    warnings.simplefilter("ignore")
    train, _ = parts_of(name, folder)
    Y = labels(train)
    found: dict[str, Any] = {}
    for n_rows in (n for n in ROWS if n <= len(Y) // 2):
        scores: dict[str, list[float]] = {key: [] for key in (*SETTINGS, "constant")}
        for sample in range(SAMPLES):
            drawn = np.random.default_rng(sample).permutation(len(Y))
            rows, new = np.sort(drawn[:n_rows]), np.sort(drawn[n_rows : n_rows + NEW_ROWS])
            constant, _ = best_constant(Y[rows], Scoring("micro_f1"))
            scores["constant"].append(micro_f1(Y[new], np.tile(np.asarray(constant, np.int8), (len(new), 1))))
            for setting, make in SETTINGS.items():
                fitted = make().fit(train[rows])
                scores[setting].append(micro_f1(Y[new], fitted.predict(train.X[new])))
        found[str(n_rows)] = scores
    return found


def small_page(results: dict[str, Any]) -> str:
    """A table: mean micro F1, and in how many samples it is below that of the constant."""
    rows = []
    for name, by_rows in results["sets"].items():
        for n_rows, scores in by_rows.items():
            constant = np.array(scores["constant"])
            cells = [f"{constant.mean():.3f}"]
            for setting in SETTINGS:
                found = np.array(scores[setting])
                cells += [f"{found.mean():.3f}", str(int((found < constant - 1e-12).sum()))]
            rows.append((name, n_rows, *cells))
    heads = [head for setting in SETTINGS for head in (setting, "below the constant")]
    said = f"Means over {SAMPLES} samples of the training parts; micro F1 on other rows of them."
    table = markdown_table(("", "rows", "constant", *heads), rows)
    return f"{said}\n\n{table}\n\n{in_words(results['machine'])}\n"
