"""
A heuristic of one's own
========================

What makes a rule good is a function of its confusion matrix. A heuristic of one's own is a class with one method; it
can be cloned and searched by scikit-learn like those that come with the library.
"""

import matplotlib.pyplot as plt

from plurule import RelaxedPruningClassifier
from plurule.data import iterative_train_test_split
from plurule.datasets import load_world_flags
from plurule.heuristics import FMeasure, Heuristic, ratio
from plurule.metrics import precision, recall


class Costs(Heuristic):
    """Right predictions, with wrong ones counted `price` times."""

    micro_decomposable = False

    def __init__(self, price=2.0):
        self.price = price

    def evaluate(self, tp, fp, tn, fn):
        """One value per confusion matrix."""
        return ratio(tp, tp + self.price * fp + fn)


train, test = iterative_train_test_split(load_world_flags(), test_size=0.3, random_state=0)

# %%
# The more a wrong prediction costs, the more careful the rules: precision rises and recall falls.

prices = (0.25, 0.5, 1, 2, 4, 8)
points = []
for price in prices:
    classifier = RelaxedPruningClassifier(heuristic=Costs(price), max_rules=20).fit(train)
    predicted = classifier.predict(test)
    points.append((recall(test.Y, predicted), precision(test.Y, predicted)))

fig, ax = plt.subplots()
ax.plot(*zip(*points, strict=True), "o-", label="own heuristic")
for price, point in zip(prices, points, strict=True):
    ax.annotate(f" {price:g}", point)
usual = RelaxedPruningClassifier(heuristic=FMeasure(0.6), max_rules=20).fit(train).predict(test)
ax.plot(recall(test.Y, usual), precision(test.Y, usual), "s", label="F-measure, β = 0.6")
ax.set(xlabel="recall on new flags", ylabel="precision on new flags", title="Price of a wrong prediction")
ax.legend()

# %%
# Its parameter is a parameter of the classifier as well:

print(RelaxedPruningClassifier(heuristic=Costs()).set_params(heuristic__price=3).heuristic)
