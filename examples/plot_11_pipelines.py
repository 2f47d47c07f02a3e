"""
Pipelines and grid search
=========================

The classifiers are scikit-learn's in every respect, so they go into pipelines and searches; and rules can be features
for another learner.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline

from plurule import RuleListClassifier
from plurule.data import IterativeStratifiedKFold
from plurule.datasets import load_world_flags
from plurule.export import RuleActivations
from plurule.metrics import SCORERS

X, Y = load_world_flags(return_X_y=True, as_frame=True)
folds = IterativeStratifiedKFold(3, shuffle=True, random_state=0)

# %%
# Parameters of the lift and of the heuristic are searched by their names.

search = GridSearchCV(
    RuleListClassifier(n_rules=15),
    {"lift__k": [0.0, 0.07, 0.15], "heuristic__beta": [0.4, 0.6, 1.0]},
    scoring=SCORERS["macro_f1"],
    cv=folds,
).fit(X, Y)
print(search.best_params_, f"{search.best_score_:.3f}")

# %%
# Rules as features: each rule is a column that says whether it covers the instance. A linear model on top weighs them.

weighed = make_pipeline(
    RuleActivations(RuleListClassifier(n_rules=30)), MultiOutputClassifier(LogisticRegression(C=0.3))
)
results = {
    "rule list": cross_val_score(RuleListClassifier(n_rules=15), X, Y, cv=folds, scoring=SCORERS["micro_f1"]),
    "rules, weighed": cross_val_score(weighed, X, Y, cv=folds, scoring=SCORERS["micro_f1"]),
}
fig, ax = plt.subplots(figsize=(6, 2.5))
ax.barh(
    list(results), [scores.mean() for scores in results.values()], xerr=[scores.std() for scores in results.values()]
)
ax.set(xlabel="micro F1 (mean and standard deviation of three folds)", xlim=(0.5, 1))
