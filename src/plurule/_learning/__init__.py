"""The paper in its own words: from the training problem to a rule list, one rule at a time."""
