"""
A first rule list
=================

The colours of the world's flags, from where a country lies and what else its flag shows. A flag has several colours
at once, so this is a *multi-label* problem: one prediction per flag and colour.
"""

from plurule import RuleListClassifier
from plurule.data import iterative_train_test_split
from plurule.datasets import load_world_flags
from plurule.metrics import scores

flags = load_world_flags()
train, test = iterative_train_test_split(flags, test_size=0.3, random_state=0)
classifier = RuleListClassifier().fit(train)
print(classifier.rule_list_)

# %%
# Rules are read from top to bottom. The first that covers a flag and mentions a colour decides that colour; what
# no rule decides is absent. TP and FP count how often the rule was right and wrong when it was learned.
#
# How good is that on flags it has not seen?

for measure, value in scores(test.Y, classifier.predict(test)).items():
    print(f"{measure:20} {value:.3f}")

# %%
# Nobody said how many rules there should be. The list was cut where more rules no longer helped on parts of the
# training data that were held out; the curve shows it.

ax = classifier.length_curve_.plot()
ax.set_title("Where the list was cut")

# %%
# In a notebook a list shows itself as a table.

classifier.rule_list_
