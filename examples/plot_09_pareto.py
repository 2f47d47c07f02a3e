"""
Everything chosen together: the Pareto front
============================================

``RuleListClassifierCV`` tries parameters by cross-validation and every length of every list on the way. What no other
candidate beats in score and in size at once is the Pareto front; any point of it can be had without training again.
"""

from plurule import RuleListClassifierCV
from plurule.datasets import load_world_flags

flags = load_world_flags()
search = RuleListClassifierCV(scoring="micro_f1", cv=3).fit(flags)
print(search.best_params_)
print(f"{search.best_score_:.3f} with {len(search.rule_list_)} rules")
search.plot_pareto().set_title("What was tried, and what nothing beats")

# %%
# The best list of at most four rules:

print(search.select(max_rules=4).rule_list_)

# %%
# The front as a table:

search.pareto_front_
