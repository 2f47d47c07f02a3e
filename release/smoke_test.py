"""Does an installed plurule work? Learns, predicts, saves and loads, and prints the rules."""

import tempfile
from pathlib import Path

import numpy as np

import plurule
from plurule import RuleListClassifier, load_model, save_model
from plurule.datasets import load_world_flags

data = load_world_flags()
native = RuleListClassifier(n_rules=12, engine="native").fit(data)
assert native.rule_list_ == RuleListClassifier(n_rules=12, engine="reference").fit(data).rule_list_
with tempfile.TemporaryDirectory() as folder:
    save_model(native.rule_list_, Path(folder) / "model.json")
    loaded = RuleListClassifier.from_rule_list(load_model(Path(folder) / "model.json"))
assert np.array_equal(loaded.predict(data), native.predict(data))
assert float((native.predict(data) == data.Y).mean()) > 0.7
print(plurule.__version__)
print(native.rule_list_)
