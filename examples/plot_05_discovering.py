"""
Which labels go together, and where
===================================

A list that predicts well need not say much about labels. ``discover`` looks for patterns of labels instead, and tests
each on rows that the search has not seen.
"""

import matplotlib.pyplot as plt

from plurule import discover
from plurule.datasets import load_canteen_dishes

patterns = discover(load_canteen_dishes(), max_conditions=1, resamples=0)
significant = patterns.significant()
print(f"{len(patterns)} patterns, {len(significant)} of them significant at the level 0.05")
print(significant)

# %%
# How often each holds where its conditions do, and how often it does in all dishes:

texts = [pattern.rule.to_text() for pattern in significant]
confidence = [pattern.confidence for pattern in significant]
anywhere = [pattern.confidence / pattern.interest for pattern in significant]
fig, ax = plt.subplots(layout="constrained")
ax.barh(texts, confidence, alpha=0.6, label="confidence")
ax.plot(anywhere, texts, "k|", markersize=14, label="in all dishes")
ax.invert_yaxis()
ax.set(xlabel="share of the dishes that the body covers", xlim=(0, 1))
ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2)

# %%
# As a graph of labels:

significant.to_graph()
