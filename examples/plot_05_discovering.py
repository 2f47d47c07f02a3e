"""
Which labels go together, and where
===================================

A list that predicts well need not say much about labels. ``discover`` looks for patterns of labels instead, and tests
each on rows that the search has not seen.
"""

import matplotlib.pyplot as plt

from plurule import discover
from plurule.datasets import load_world_flags

patterns = discover(load_world_flags(), exclusions=True)
significant = patterns.significant(0.2)
print(f"{len(patterns)} patterns, {len(significant)} of them significant at the level 0.2")
print(significant)

# %%
# How often each holds where its conditions do, and how many times more often than by chance:

frame = significant.to_frame()
fig, ax = plt.subplots()
ax.scatter(frame["confidence"], frame["lift"], s=3 * frame["support"], alpha=0.5)
ax.set(xlabel="confidence", ylabel="lift", yscale="log", title="Patterns; the area is the number of flags")

# %%
# As a graph of labels:

significant.to_graph()
