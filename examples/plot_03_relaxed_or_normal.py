"""
Relaxed against normal pruning
==============================

The learner of the paper twice, on the colours of the world's flags. With *normal pruning* a multi-label head must be
exactly as good as its best label, so there is none. With *relaxed pruning* it may be a little worse: the list is
shorter and shows which colours go together, and the score is the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from plurule import RelaxedPruningClassifier
from plurule.data import IterativeStratifiedKFold
from plurule.datasets import load_world_flags
from plurule.lifts import KLN
from plurule.metrics import micro_f1

flags = load_world_flags()
folds = list(IterativeStratifiedKFold(5, shuffle=True, random_state=0).split(flags.X, flags.Y))


def learn(lift):
    """Return the rules, and the micro F1 of five-fold cross-validation."""
    classifier = RelaxedPruningClassifier(lift=lift, max_bins=32)
    predicted = np.zeros_like(flags.Y)
    for train, test in folds:
        predicted[test] = classifier.fit(flags[train]).predict(flags[test])
    return classifier.fit(flags).rule_list_, micro_f1(flags.Y, predicted)


results = {"normal pruning": learn(None), "relaxed pruning": learn(KLN.at(labels=3, lift=1.16))}

# %%
# The rules side by side; multi-label heads are coloured.

fig, axes = plt.subplots(1, 2, figsize=(13, 4.2), facecolor="white")
for ax, (name, (rules, score)) in zip(axes, results.items(), strict=True):
    ax.set_axis_off()
    ax.text(0, 1.06, name, fontsize=15, weight="bold", color="black")
    for line, rule in enumerate(rules[:8]):
        is_multi_label = len(rule.head) > 1
        text = rule.to_text() if len(rule.to_text()) <= 62 else rule.to_text()[:60] + " …"
        style = {"color": "#b3401f", "weight": "bold"} if is_multi_label else {"color": "black"}
        ax.text(0, 0.94 - 0.095 * line, text, fontsize=10, family="monospace", **style)
    if len(rules) > 8:
        ax.text(0, 0.94 - 0.095 * 8, f"… and {len(rules) - 8} more rules", fontsize=10, color="0.35")
    n_conditions = sum(len(rule.body) for rule in rules)
    n_multi_label = sum(len(rule.head) > 1 for rule in rules)
    summary = f"{len(rules)} rules, {n_conditions} conditions, {n_multi_label} multi-label heads\nmicro F1 {score:.3f}"
    ax.text(0, 0.02, summary, fontsize=12, color="black")
fig.tight_layout()

# %%
# The sizes as numbers.

for name, (rules, score) in results.items():
    print(f"{name:16} {len(rules):3} rules   micro F1 {score:.3f}")
