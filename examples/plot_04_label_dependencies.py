"""
What the rules say about labels
===============================

Labels depend on each other: a vegan dish is vegetarian, wine brings sulphites. A rule list says such things in plain
sight, in heads of several labels and in conditions on labels, and they can be listed, measured and drawn.
"""

from plurule import RuleListClassifier
from plurule.datasets import load_canteen_dishes
from plurule.lifts import Peak

dishes = load_canteen_dishes()
classifier = RuleListClassifier(predict_absence=True, lift=Peak(labels=4, lift=1.16), n_rules=40).fit(dishes)
dependencies = classifier.rule_list_.dependencies(dishes)
print(len(dependencies), "statements; those that say most that is not true anyway:")
for statement in sorted(dependencies, key=lambda each: -each.added_value)[:8]:
    print(" ", statement)

# %%
# As a graph, with one line for each pair of labels that the rules relate:

dependencies.to_graph()

# %%
# The same for Graphviz, and as data:

print(dependencies.to_graph().to_dot()[:400], "…")
dependencies.to_frame().head()
