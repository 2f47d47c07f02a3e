"""
Beside trees and forests
========================

A rule list, a decision tree per label and a random forest on the same data: how well they predict, and how much there
is to read. The forest is the better predictor; the list is what a person can check. The `comparison with BOOMER and
SeCo <../quality.html>`_ on ten data sets is a run of its own, because those need a Python environment of their own.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from plurule import RuleListClassifier
from plurule.datasets import load_canteen_dishes
from plurule.metrics import micro_f1

X, Y = load_canteen_dishes(return_X_y=True, as_frame=True)
coded = pd.get_dummies(X).astype(float)  # trees of scikit-learn want numbers; missing values stay missing
train, test = train_test_split(range(len(X)), random_state=0)

points = {}
for rules in (20, 60, 200):
    classifier = RuleListClassifier(max_rules=rules).fit(X.iloc[train], Y.iloc[train])
    conditions = sum(len(rule.body) for rule in classifier.rule_list_)
    points[f"{len(classifier.rule_list_)} rules"] = conditions, micro_f1(Y.iloc[test], classifier.predict(X.iloc[test]))

trees = [
    DecisionTreeClassifier(max_depth=5, random_state=0).fit(coded.iloc[train], Y.iloc[train, i])
    for i in range(Y.shape[1])
]
predicted = pd.DataFrame({name: tree.predict(coded.iloc[test]) for name, tree in zip(Y, trees, strict=True)})
nodes = sum((tree.tree_.node_count - 1) // 2 for tree in trees)
points["a tree of depth 5 per label"] = nodes, micro_f1(Y.iloc[test], predicted.to_numpy())

forest = RandomForestClassifier(100, random_state=0, n_jobs=2).fit(coded.iloc[train], Y.iloc[train])
nodes = sum((tree.tree_.node_count - 1) // 2 for tree in forest.estimators_)
points["forest of 100 trees"] = nodes, micro_f1(Y.iloc[test], forest.predict(coded.iloc[test]))

# %%
fig, ax = plt.subplots()
for name, (size, score) in points.items():
    ax.plot(size, score, "o")
    ax.annotate(f" {name}", (size, score), rotation=25)
    print(f"{name:30} {size:8} conditions, micro F1 {score:.3f}")
ax.set(xscale="log", xlabel="conditions to read", ylabel="micro F1 on new dishes", xlim=(10, 3e6))
ax.margins(y=0.3)
