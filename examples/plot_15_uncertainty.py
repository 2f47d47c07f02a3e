"""
How sure is it?
===============

``predict_proba`` gives the precision of the rule that decided. Whether such numbers can be relied on is measured on
data that were held out: by a reliability curve, and by MAPIE, which turns them into decisions with a recall that was
asked for.
"""

import matplotlib.pyplot as plt
import numpy as np
from mapie.risk_control import MultiLabelClassificationController
from sklearn.calibration import calibration_curve

from plurule import RuleListClassifier
from plurule.data import iterative_train_test_split
from plurule.datasets import load_canteen_dishes

train, rest = iterative_train_test_split(load_canteen_dishes(), test_size=0.6, random_state=0)
held_out, test = iterative_train_test_split(rest, test_size=0.5, random_state=0)
classifier = RuleListClassifier(max_rules=80).fit(train)

fig, ax = plt.subplots()
probability = classifier.predict_proba(test)
real, claimed = calibration_curve(test.Y.ravel(), probability.ravel(), n_bins=12, strategy="quantile")
ax.plot(claimed, real, "o-")
ax.plot([0, 1], [0, 1], ":", color="grey")
ax.set(xlabel="probability of the label, as predicted", ylabel="share that has it", title="Reliability on new dishes")

# %%
# A dietician wants to miss next to nothing, and would rather be warned too often. MAPIE chooses the threshold on the
# probabilities that keeps a wanted recall; the data it chooses on are neither those of training nor those of the test.


def probabilities(X):
    """Per label an array of two columns, as MAPIE expects them."""
    present = classifier.predict_proba(X)
    return [np.column_stack([1 - column, column]) for column in present.T]


def recall_and_precision(predicted):
    """Over all pairs of dish and label."""
    right = predicted & (test.Y == 1)
    return right.sum() / test.Y.sum(), right.sum() / predicted.sum()


usual = recall_and_precision(classifier.predict(test) == 1)
levels = (0.8, 0.85, 0.9, 0.95)
X_held_out, X_test = held_out.to_pandas()[0], test.to_pandas()[0]
points = []
for level in levels:
    control = MultiLabelClassificationController(probabilities, risk="recall", target_level=level)
    control.calibrate(X_held_out, held_out.Y)
    points.append(recall_and_precision(control.predict(X_test)[:, :, 0]))
    print(f"asked for a recall of {level:.2f}: recall {points[-1][0]:.3f}, precision {points[-1][1]:.3f} on new dishes")

# %%
fig, ax = plt.subplots()
ax.plot(*zip(*points, strict=True), "o-", label="threshold chosen for a recall")
for level, point in zip(levels, points, strict=True):
    ax.annotate(f" {level:.2f}", point)
ax.plot(*usual, "s", label="usual prediction")
ax.set(xlabel="recall on new dishes", ylabel="precision on new dishes")
ax.legend()
