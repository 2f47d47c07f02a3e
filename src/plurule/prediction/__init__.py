"""What a rule list says about instances: decisions, probabilities, and all of that rule by rule."""
