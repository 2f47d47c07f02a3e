"""Does an installed plurule work? Learns, predicts, saves and loads, and prints the rules."""

import tempfile
from pathlib import Path

import numpy as np

import plurule
from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule.datasets import load_canteen_dishes

data = load_canteen_dishes()[:1000]
print(plurule.__version__)
for classifier in (RelaxedPruningClassifier(max_rules=12), RuleListClassifier(max_rules=12)):
    classifier.fit(data)
    with tempfile.TemporaryDirectory() as folder:
        classifier.save(Path(folder) / "model.json")
        loaded = type(classifier).load(Path(folder) / "model.json")
    assert np.array_equal(loaded.predict(data), classifier.predict(data))
    assert float((classifier.predict(data) == data.Y).mean()) > 0.7
    print(classifier.rule_list_)
