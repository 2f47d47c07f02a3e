"""Selection of a rule list: candidates are scored on held-out rows at every length, and the best one is chosen."""
