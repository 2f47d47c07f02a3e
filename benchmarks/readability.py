"""How rules read, beside how well they predict: kinds of conditions and simplification, on training rows only.

Five folds of the training part of each data set. Per setting: micro F1 on the fold that was left out, rules, conditions
and characters per rule, the share of conditions that remove less than 2 % of the rows which the ones before leave, and
the share of those that test whether something is absent (`no "apple"`).

    python benchmarks/readability.py ../shared/data flags yeastD

`world_flags` is the data set of that name that comes with plurule. A name may have the numbers of settings behind it:
`enron:0,2` is as it is, and simplified.
"""

from __future__ import annotations

import sys
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from plurule import Constraints, RuleListClassifier
from plurule.data import Dataset, read
from plurule.data.encoding import encode
from plurule.data.splitting import IterativeStratifiedKFold
from plurule.datasets import load_world_flags
from plurule.label_matrix import dense
from plurule.metrics import METRICS
from plurule.prediction.decide import replay

PRESENT = Constraints(test_absence=False)
SETTINGS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "conditions=all": {"conditions": "all"},
    "simplify=0.005": {"simplify": 0.005},
    "both": {"conditions": "all", "simplify": 0.005},
    "test_absence=False": {"constraints": PRESENT},
    "that and simplify": {"constraints": PRESENT, "simplify": 0.005},
}
LITTLE = 0.02


def figures(classifier: RuleListClassifier, train: Dataset, test: Dataset) -> list[float]:
    """What the table shows of one list."""
    rules, table = classifier.rule_list_, encode(train.X, classifier.rule_list_.attributes)
    removed, absent = [], [c.parts()[0] == ("no",) for rule in rules for c in rule.body if hasattr(c, "parts")]
    for step in replay(rules, table):
        left = [int(holds.sum()) for holds in step.passing]
        removed += [1 - after / max(before, 1) for before, after in pairwise(left)]
    predicted = classifier.decide(test).labels()
    return [
        METRICS["micro_f1"](dense(test.Y), predicted),
        len(rules),
        sum(len(rule.body) for rule in rules) / max(len(rules), 1),
        float(np.mean([len(rule.to_text()) for rule in rules])),
        float(np.mean(np.array(removed) < LITTLE)) if removed else 0.0,
        sum(absent) / max(len(removed), 1),
    ]


def main(folder: str, *names: str) -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("| data | setting | micro F1 | rules | conditions per rule | characters per rule | remove < 2 % | absent |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for name, _, numbers in (name.partition(":") for name in names):
        data = load_world_flags() if name == "world_flags" else read(Path(folder) / name, split="train")
        truth = dense(data.Y)
        wanted = [list(SETTINGS)[int(number)] for number in numbers.split(",")] if numbers else SETTINGS
        for title, parameters in ((title, dict(SETTINGS[title])) for title in wanted):
            constraints = parameters.pop("constraints", None)
            learner = RuleListClassifier(**parameters)
            found = [
                figures(learner.fit(data[train], constraints=constraints), data[train], data[test])
                for train, test in IterativeStratifiedKFold(5).split(truth, truth)
            ]
            f1, rules, conditions, characters, little, absent = np.mean(found, axis=0)
            error = np.std([row[0] for row in found], ddof=1) / len(found) ** 0.5
            shown = f"{f1:.3f} ± {error:.3f} | {rules:.1f} | {conditions:.2f} | {characters:.0f} | {little:.0%}"
            shown += f" | {absent:.0%}"
            print(f"| {name} | {title} | {shown} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
