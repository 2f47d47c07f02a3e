"""
Relaxed against normal pruning
==============================

The same learner twice, as published: once with *normal pruning*, where a head of several labels must be exactly as
good as the best single label, and once with *relaxed pruning*, where it may be a little worse. Dishes of canteens,
signs on (``predict_absence=True``), so that rules also say what is not in a dish.
"""

import matplotlib.pyplot as plt
import numpy as np

from plurule import RuleListClassifier
from plurule.data import iterative_train_test_split
from plurule.datasets import load_canteen_dishes
from plurule.lifts import NoLift, Peak
from plurule.metrics import hamming_accuracy, micro_f1

train, test = iterative_train_test_split(load_canteen_dishes(), test_size=0.5, random_state=0)
lists = {}
for name, lift in (("normal", NoLift()), ("relaxed", Peak(labels=5, lift=1.12))):
    classifier = RuleListClassifier.published(lift=lift, predict_absence=True, n_rules=60, max_bins=32).fit(train)
    predicted = classifier.predict(test)
    lists[name] = classifier.rule_list_
    print(
        f"{name:8} {len(classifier.rule_list_)} rules, Hamming accuracy {hamming_accuracy(test.Y, predicted):.3f}, "
        f"micro F1 {micro_f1(test.Y, predicted):.3f}"
    )

# %%
# The heads differ: with relaxed pruning most rules speak about several labels.

sizes = {name: np.bincount([len(rule.head) for rule in rules], minlength=8) for name, rules in lists.items()}
width = max(map(len, sizes.values()))
fig, ax = plt.subplots()
for offset, (name, counts) in zip((-0.2, 0.2), sizes.items(), strict=True):
    ax.bar(np.arange(len(counts)) + offset, counts, width=0.4, label=name)
ax.set(xlabel="labels in the head", ylabel="rules", xlim=(0.4, width))
ax.legend()

# %%
# The longest head of the relaxed list:

print(max(lists["relaxed"], key=lambda rule: len(rule.head)))
