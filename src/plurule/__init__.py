"""Interpretable multi-label classification rules, learned with relaxed pruning."""
