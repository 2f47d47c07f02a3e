"""
Why this prediction?
====================

Every prediction is made by one rule, or by none. An explanation names it, with the values of the instance, what it
was right about in training, and which later rules would have said otherwise.
"""

import matplotlib.pyplot as plt
import numpy as np

from plurule import RuleListClassifier
from plurule.datasets import load_canteen_dishes

dishes = load_canteen_dishes()
classifier = RuleListClassifier(max_rules=60).fit(dishes)
row = next(i for i, name in enumerate(dishes.row_names) if "ramen" in name.lower())
print(dishes.row_names[row])
explanation = classifier.explain(dishes)[row]
print(explanation)

# %%
# One label, in detail:

decision = explanation["gluten"]
print("rule", decision.number, "·", decision.rule)
for reason in decision.reasons:
    print("  because", reason)
print(f"right in {decision.right:g} of the {decision.decided:g} it decided")

# %%
# Over all dishes: which rules decide how much? A few do most of the work.

numbers = classifier.decide(dishes).decided_by
counts = np.bincount(numbers[numbers >= 0].ravel(), minlength=len(classifier.rule_list_))
fig, ax = plt.subplots()
ax.bar(np.arange(1, len(counts) + 1), counts)
ax.set(xlabel="rule", ylabel="labels of dishes that it decided")
