"""
A first rule list
=================

Allergens and diet labels of canteen dishes, from their ingredients. A dish has several labels at once, so this is a
*multi-label* problem: one prediction per dish and label.
"""

from plurule import RuleListClassifier
from plurule.data import iterative_train_test_split
from plurule.datasets import load_canteen_dishes
from plurule.metrics import scores

dishes = load_canteen_dishes()
train, test = iterative_train_test_split(dishes, test_size=0.3, random_state=0)
classifier = RuleListClassifier().fit(train)
print(classifier.rule_list_[:10])

# %%
# Each rule can be read on its own: if its conditions hold, its labels are present (or absent, with a ``¬``). The last
# rule of the list has no conditions and is about all dishes that no other rule decides; what no rule decides is absent.
# TP and FP count how often a rule was right and wrong on the training data; behind them are these counts by label.
#
# How good is that on dishes it has not seen?

for measure, value in scores(test.Y, classifier.predict(test)).items():
    print(f"{measure:20} {value:.3f}")

# %%
# Nobody said how many rules there should be. They were chosen by cross-validation on the training data:

print(classifier.chosen_["how"])
ax = classifier.length_curve_.plot()
ax.set_title("Score by number of rules")

# %%
# In a notebook a list shows itself as a table.

classifier.rule_list_[:10]
