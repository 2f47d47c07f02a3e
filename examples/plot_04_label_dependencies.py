"""
What the rules say about labels
===============================

Labels depend on each other: a vegan dish is vegetarian, wine brings sulphites. A rule list says such things in plain
sight, in heads of several labels and in conditions on labels, and they can be listed, measured and drawn.
"""

import matplotlib.pyplot as plt

from plurule import RuleListClassifier
from plurule.datasets import load_canteen_dishes
from plurule.lifts import Peak

dishes = load_canteen_dishes()
classifier = RuleListClassifier(predict_absence=True, lift=Peak(labels=4, lift=1.16), max_rules=40).fit(dishes)
dependencies = classifier.rule_list_.dependencies(dishes)
print(len(dependencies), "statements; those that say most that is not true anyway:")
for statement in sorted(dependencies, key=lambda each: -each.added_value)[:8]:
    print(" ", statement)

# %%
# As a graph, with one line for each pair of labels that the rules relate. A notebook draws it by itself; here it is
# drawn by hand, from its edges and its layout.

graph = dependencies.to_graph()
places = graph.layout()
fig, ax = plt.subplots(figsize=(6, 6))
for edge in graph.edges:
    (x1, y1), (x2, y2) = (places[label] for label in edge.ends)
    ax.plot([x1, x2], [y1, y2], color="C0" if edge.kind == "co-occurrence" else "C3", alpha=0.4, zorder=0)
for label in graph.connected:
    ax.text(*places[label], label, ha="center", va="center", bbox={"boxstyle": "round", "facecolor": "white"})
ax.set(title="Blue: together. Red: one excludes or implies the other")
ax.axis("off")

# %%
graph

# %%
# The statements as data:

dependencies.to_frame().head()
