"""Predictions of a rule list: decisions, probabilities, and scores rule by rule."""
