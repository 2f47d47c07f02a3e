"""
Shorter without getting worse
=============================

``simplify`` drops rules and conditions as long as the score on the given data falls by no more than a tolerance. With
a little tolerance much goes, and on new data nothing is lost.
"""

import matplotlib.pyplot as plt

from plurule import RuleListClassifier
from plurule.data import iterative_train_test_split
from plurule.datasets import load_world_flags
from plurule.metrics import micro_f1

train, test = iterative_train_test_split(load_world_flags(), test_size=0.4, random_state=1)
rules = RuleListClassifier(n_rules=None).fit(train).rule_list_

tolerances = (0.0, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05)
found = [rules.simplify(train, tolerance=tolerance, measure="micro_f1") for tolerance in tolerances]
conditions = [sum(len(rule.body) for rule in each.rule_list) for each in found]
f1 = [micro_f1(test.Y, RuleListClassifier.from_rule_list(each.rule_list).predict(test)) for each in found]
before = micro_f1(test.Y, RuleListClassifier.from_rule_list(rules).predict(test))
print(f"{len(rules)} rules with {sum(len(rule.body) for rule in rules)} conditions, micro F1 {before:.3f} on new flags")

# %%
fig, (above, below) = plt.subplots(2, 1, sharex=True)
above.plot(tolerances, conditions, "o-")
above.set_ylabel("conditions")
below.plot(tolerances, f1, "o-")
below.set(xlabel="tolerance", ylabel="micro F1 on new flags")

# %%
# What was dropped, and what that changed on the training data:

print(found[3])
