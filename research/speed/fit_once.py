"""One fit (or prediction) with plurule in a process of its own.

    python -m research.speed.fit_once SPECIFICATION_AS_JSON

The specification names the data (a file, or sizes of data to generate), the parameters
that differ from those of the benchmark, and what to time.
"""

from __future__ import annotations

import json
import pickle
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule.heuristics import FMeasure
from plurule.lifts import KLN
from research.speed.data import generate, generate_classes, generate_words


def classifier(parameters: dict[str, Any]) -> Any:
    """The learner of most measures: macro-averaged F-measure with β = 0.5 and the lift 1.08 at three labels.

    With the parameter `default`, the default learner.
    """
    if parameters.get("default"):
        return RuleListClassifier(n_jobs=1)
    chosen = {"heuristic": FMeasure(beta=0.5), "averaging": "macro", "lift": KLN.at(labels=3, lift=1.08)}
    return RelaxedPruningClassifier(**chosen | {"n_jobs": 1} | parameters)


def load(specification: dict[str, Any]) -> tuple[Any, Any]:
    """Attributes and labels."""
    if "file" in specification:
        X, Y = pickle.loads(Path(specification["file"]).read_bytes())
        return X, Y
    if "classes" in specification:
        return generate_classes(**specification["classes"])
    if "words" in specification:
        return generate_words(**specification["words"])
    return generate(**specification["generated"])


def peak_memory() -> int:
    """Bytes that the process has used at most."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    """Do what is asked for and print the times as JSON."""
    specification = json.loads(sys.argv[1])
    learner = classifier(specification.get("parameters", {}))
    warm_up = np.arange(20.0).reshape(10, 2)
    classifier({"max_rules": 1}).fit(warm_up, warm_up > 5).predict(warm_up)
    imports = peak_memory()
    X, Y = load(specification)
    wall, cpu = time.perf_counter(), time.process_time()
    learner.fit(X, Y)
    if "predict" in specification:
        X, _ = generate(**specification["predict"])
        learner.predict(X)  # memory that the process never had before takes longer than the prediction
        wall, cpu = time.perf_counter(), time.process_time()
        learner.predict(X)
    result = {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "rules": len(learner.rule_list_),
        "memory_of_imports": imports,
        "memory": peak_memory(),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
