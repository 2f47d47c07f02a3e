"""
What experts know: rules, constraints
=====================================

The price tells a lot about whether a dish is vegetarian, and a dietician will not sign a list that says so. Constraints
say what rules must not use, initial rules say what is known already.
"""

import matplotlib.pyplot as plt

from plurule import Constraints, RuleListClassifier
from plurule.data import iterative_train_test_split
from plurule.datasets import load_canteen_dishes
from plurule.metrics import micro_f1

train, test = iterative_train_test_split(load_canteen_dishes(), test_size=0.3, random_state=0)
free = RuleListClassifier(max_rules=60).fit(train)
dubious = [rule for rule in free.rule_list_ if any(each.name in ("price", "energy") for each in rule.body)]
assert dubious
print(*dubious[:6], sep="\n")

# %%
# Without price, energy and the kitchen; and with two rules to start from.

wishes = Constraints(forbidden_attributes=["price", "energy", "kitchen", "season"])
known = """
vegetarian, vegan <- main_ingredient = tofu and fat = rapeseed oil and sauce = soy sauce
alcohol, sulphites <- sauce = red wine
"""
constrained = RuleListClassifier(max_rules=60, constraints=wishes).fit(train)
guided = RuleListClassifier(max_rules=60, constraints=wishes).fit(train, initial_rules=known)
print(guided.rule_list_[:4])

# %%
# No learned rule breaks the constraints. What does it cost?

assert wishes.violations(guided.rule_list_) == ()
fig, ax = plt.subplots()
for name, classifier in {"free": free, "constrained": constrained, "constrained, with initial rules": guided}.items():
    ax.plot(range(1, len(classifier.rule_list_) + 1), classifier.staged_score(test, scoring="micro_f1"), label=name)
    print(f"{name:32} micro F1 {micro_f1(test.Y, classifier.predict(test)):.3f}")
ax.set(xlabel="rules", ylabel="micro F1 on new dishes")
ax.legend()
