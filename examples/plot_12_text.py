"""
Text: sparse data
=================

Words as columns make a wide matrix that is almost all zeros. It is learned from as it is. Here the lines of a menu,
without anything else that is known about the dishes.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from plurule import RuleListClassifier
from plurule.data.inputs import encode
from plurule.datasets import load_canteen_dishes
from plurule.metrics import micro_f1
from plurule.model import Attribute

dishes = load_canteen_dishes()
train, test, Y_train, Y_test = train_test_split(dishes.row_names, dishes.Y, random_state=0)
words = CountVectorizer(ngram_range=(1, 2), binary=True, min_df=3)
X_train, X_test = words.fit_transform(train), words.transform(test)
print(
    f"{X_train.shape[1]} words and pairs of words, {X_train.nnz / np.prod(X_train.shape):.1%} of the matrix is not zero"
)

# %%
# A matrix has no names. As a table it gets the words as names of its columns, which makes the rules readable; a frame
# of labels brings theirs.

columns = [Attribute(f"“{word}”") for word in words.get_feature_names_out()]
X_train, X_test = encode(X_train, columns), encode(X_test, columns)
classifier = RuleListClassifier(max_rules=60).fit(X_train, pd.DataFrame(Y_train, columns=dishes.label_names))
print(classifier.rule_list_[:12])

# %%
fig, ax = plt.subplots()
ax.plot(range(1, len(classifier.rule_list_) + 1), classifier.staged_score(X_test, Y_test, "micro_f1"))
ax.set(xlabel="rules", ylabel="micro F1 on new menus")
print(f"micro F1 {micro_f1(Y_test, classifier.predict(X_test)):.3f}")
