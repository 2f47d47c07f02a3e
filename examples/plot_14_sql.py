"""
Ship it as SQL
==============

A rule list is one ``SELECT``: no Python, no model server. Here it runs in DuckDB over a Parquet file; SQLite and
PostgreSQL are dialects too. The database says the same as the classifier, missing values included.
"""

import duckdb
import matplotlib.pyplot as plt
import numpy as np

from plurule import RuleListClassifier
from plurule.datasets import load_canteen_dishes

X, Y = load_canteen_dishes(return_X_y=True, as_frame=True)
classifier = RuleListClassifier(max_rules=40).fit(X, Y)
query = classifier.rule_list_.to_sql(table="dishes", dialect="duckdb", keys=["dish"])
print(query[:1200], "…", sep="\n")

# %%
dishes = X.reset_index(drop=True).astype({name: "string" for name in X.columns if X[name].dtype.name == "category"})
dishes.insert(0, "dish", np.arange(len(dishes)))
with duckdb.connect() as database:
    database.register("dishes", dishes)
    answered = database.execute(query).df().sort_values("dish")
assert np.array_equal(answered[Y.columns].to_numpy(), classifier.predict(X))
print("The database and the classifier agree on", answered[Y.columns].size, "predictions.")

# %%
# Reports are a query away: how often is each label declared, by the rules and by the kitchens?

fig, ax = plt.subplots(figsize=(7, 4))
places = np.arange(Y.shape[1])
ax.bar(places - 0.2, Y.mean(), width=0.4, label="kitchens")
ax.bar(places + 0.2, answered[Y.columns].mean(), width=0.4, label="rules")
ax.set_xticks(places, Y.columns, rotation=60, ha="right")
ax.set_ylabel("share of the dishes")
ax.legend()
fig.tight_layout()
