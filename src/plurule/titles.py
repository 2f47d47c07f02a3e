"""Titles of measures and characteristics of a model in text for people."""

from __future__ import annotations

MEASURE_TITLES = {
    "hamming_accuracy": "Hamming accuracy",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "subset_accuracy": "subset accuracy",
    "example_f1": "example-based F1",
    "precision": "precision (micro)",
    "recall": "recall (micro)",
}
"""The measures of `plurule.metrics`."""

SHORT_MEASURES = {"hamming_accuracy": "HA", "micro_f1": "Mic F1", "macro_f1": "Mac F1", "subset_accuracy": "SA"}
"""Those of the paper, as it abbreviates them."""

CHARACTERISTICS = {
    "rules": "rules",
    "conditions": "conditions",
    "label_conditions": "conditions on labels",
    "multi_label_heads": "multi-label heads",
    "labels_per_multi_label_head": "labels per multi-label head",
    "stop_rules": "stop rules",
}
"""Counts of `RuleList.characteristics`."""
