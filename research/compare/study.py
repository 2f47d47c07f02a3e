"""Studies on training parts alone: settings of the learner, its lift, and lists that are learned from few rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule.data import IterativeStratifiedKFold
from plurule.lifts import KLN, NoLift
from plurule.metrics import micro_f1
from research.compare.baselines import BestConstant
from research.compare.data import parts_of
from research.compare.trials import relates_labels
from research.machine import in_words
from research.matrices import label_matrix
from research.pages import markdown_table, pyplot

FOLDS = 3
DEFAULTS = "defaults"
SETTINGS: dict[str, Callable[[], Any]] = {
    DEFAULTS: RuleListClassifier,
    "the paper's learner": RelaxedPruningClassifier,
    "no lift": lambda: RuleListClassifier(lift=NoLift()),
    "KLN(k=0.3)": lambda: RuleListClassifier(lift=KLN(k=0.3)),
    "max_conditions=2": lambda: RuleListClassifier(max_conditions=2),
    "max_conditions=5": lambda: RuleListClassifier(max_conditions=5),
    "max_rules=20": lambda: RuleListClassifier(max_rules=20),
    "min_coverage=0": lambda: RuleListClassifier(min_coverage=0),
    "min_coverage=5": lambda: RuleListClassifier(min_coverage=5),
    "max_bins=16": lambda: RuleListClassifier(max_bins=16),
    "max_bins=64": lambda: RuleListClassifier(max_bins=64),
    'conditions="all"': lambda: RuleListClassifier(conditions="all"),
    "3 folds": lambda: RuleListClassifier(cv=3),
    "10 folds": lambda: RuleListClassifier(cv=10),
}
"""Each differs from the defaults in what it says."""

LIFTS = {"none": NoLift(), "KLN 0.1": KLN(0.1), "KLN 0.3": KLN(0.3), "KLN 0.6": KLN(0.6)}
"""Lifts of the sensitivity study: those that the default learner chooses from."""
LIFT_RESULTS = {
    "labels": "labels per head",
    "rules": "rules",
    "conditions": "conditions per rule",
    "micro_f1": "micro F1",
}
"""What is measured of each lift, and how tables call it."""

SMALL_ROWS = (60, 100, 250)
SAMPLES = 10
MAX_OTHER_ROWS = 3000
"""Predict at most so many of the rows that are not in a sample."""

Results = dict[str, Any]


def study(name: str) -> Results:
    """Cross-validate each setting on the training part of a data set."""
    warnings.simplefilter("ignore")
    train, _ = parts_of(name)
    Y = label_matrix(train)
    results = {}
    for setting, make in SETTINGS.items():
        scores = []
        rules = 0
        relating = 0
        start = time.process_time()
        for rows, held_out in IterativeStratifiedKFold(FOLDS).split(Y, Y):
            fitted = make().fit(train[rows])
            scores.append(micro_f1(Y[held_out], fitted.predict(train.X[held_out])))
            rules += len(fitted.rule_list_)
            relating += sum(map(relates_labels, fitted.rule_list_))
        results[setting] = {
            "micro_f1": float(np.mean(scores)),
            "cpu": (time.process_time() - start) / FOLDS,
            "rules": rules / FOLDS,
            "several": relating / max(rules, 1),
        }
    return results


def study_page(results: Results) -> str:
    """Return a table of the settings; others than the defaults as the difference to them, in hundredths."""
    sets = list(results["sets"])
    rows = []
    scores = {
        setting: np.array([results["sets"][name][setting]["micro_f1"] for name in sets])
        for setting in results["sets"][sets[0]]
    }
    for setting, values in scores.items():
        values = np.append(values, values.mean())
        if setting == DEFAULTS:
            defaults = values
            cells = [f"{value:.3f}" for value in values]
        else:
            cells = [f"{100 * gain:+.1f}" for gain in values - defaults]
        found = [results["sets"][name][setting] for name in sets]
        n_rules = np.mean([result["rules"] for result in found])
        several = np.mean([result["several"] for result in found])
        seconds = sum(result["cpu"] for result in found)
        rows.append((setting, *cells, f"{n_rules:.0f}", f"{several:.0%}", f"{seconds:.1f}"))
    head = ("", *sets, "mean", "rules", "relate labels", "CPU s")
    note = "Micro F1 on held-out folds of the training parts; others: the difference to the defaults, in hundredths."
    return f"{note}\n\n{markdown_table(head, rows)}\n\n{in_words(results['machine'])}\n"


def lifts(name: str) -> Results:
    """Cross-validate the default learner with each lift on the training part of a data set."""
    warnings.simplefilter("ignore")
    train, _ = parts_of(name)
    Y = label_matrix(train)
    results = {}
    for text, lift in LIFTS.items():
        of_folds = []
        for rows, held_out in IterativeStratifiedKFold(FOLDS).split(Y, Y):
            fitted = RuleListClassifier(lift=lift).fit(train[rows])
            sizes = fitted.rule_list_.characteristics()
            n_rules = max(sizes["rules"], 1)
            labels = sum(len(rule.head) for rule in fitted.rule_list_)
            score = micro_f1(Y[held_out], fitted.predict(train.X[held_out]))
            of_folds.append((labels / n_rules, sizes["rules"], sizes["conditions"] / n_rules, score))
        results[text] = dict(zip(LIFT_RESULTS, np.mean(of_folds, axis=0).tolist(), strict=True))
    return results


def mean_by_lift(results: Results) -> dict[str, dict[str, float]]:
    """Return the mean over the data sets, by lift and what is measured."""
    return {
        lift: {what: float(np.mean([one[lift][what] for one in results["sets"].values()])) for what in LIFT_RESULTS}
        for lift in LIFTS
    }


def lifts_page(results: Results) -> str:
    """Return a table of the means over the data sets by lift."""
    rows = [
        (lift, *(f"{means[what]:.3f}" if what == "micro_f1" else f"{means[what]:.1f}" for what in LIFT_RESULTS))
        for lift, means in mean_by_lift(results).items()
    ]
    note = f"Means over the training parts of {', '.join(results['sets'])}; {FOLDS} folds."
    return f"{markdown_table(('lift', *LIFT_RESULTS.values()), rows)}\n\n{note}\n"


def draw_lifts(results: Results, path: Path) -> None:
    """Draw the means over the data sets against the lift."""
    plt = pyplot()
    means = mean_by_lift(results)
    figure, axes = plt.subplots(1, 3, figsize=(10, 2.8), layout="constrained")
    for axis, what in zip(axes, ("labels", "rules", "micro_f1"), strict=True):
        axis.plot(list(means), [of_lift[what] for of_lift in means.values()], marker="o")
        axis.set(xlabel="lift", ylabel=LIFT_RESULTS[what])
    axes[-1].set_ylim(0, 1)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def small(name: str) -> Results:
    """Learn from few rows of a training part, and predict other rows of it; micro F1 beside the best constant."""
    warnings.simplefilter("ignore")
    train, _ = parts_of(name)
    Y = label_matrix(train)
    results: Results = {}
    for n_rows in (n for n in SMALL_ROWS if n <= len(Y) // 2):
        scores: dict[str, list[float]] = {"constant": [], DEFAULTS: []}
        for sample in range(SAMPLES):
            order = np.random.default_rng(sample).permutation(len(Y))
            rows = np.sort(order[:n_rows])
            others = np.sort(order[n_rows : n_rows + MAX_OTHER_ROWS])
            constant = BestConstant("micro_f1").fit(None, Y[rows])
            scores["constant"].append(micro_f1(Y[others], constant.predict(others)))
            fitted = RuleListClassifier().fit(train[rows])
            scores[DEFAULTS].append(micro_f1(Y[others], fitted.predict(train.X[others])))
        results[str(n_rows)] = scores
    return results


def small_page(results: Results) -> str:
    """Return a table of mean micro F1, and in how many samples it is below that of the constant."""
    rows = []
    for name, by_rows in results["sets"].items():
        for n_rows, scores in by_rows.items():
            constant = np.array(scores["constant"])
            ours = np.array(scores[DEFAULTS])
            below = int((ours < constant - 1e-12).sum())
            rows.append((name, n_rows, f"{constant.mean():.3f}", f"{ours.mean():.3f}", str(below)))
    note = f"Means over {SAMPLES} samples of the training parts; micro F1 on other rows of them."
    table = markdown_table(("", "rows", "constant", DEFAULTS, "below the constant"), rows)
    return f"{note}\n\n{table}\n\n{in_words(results['machine'])}\n"
