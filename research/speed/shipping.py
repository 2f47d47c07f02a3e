"""Measure exported rule lists in their engines: onnxruntime beside `predict`, and decisions per second of zen.

    python -m research.speed.shipping [--rows 100000] [--repeats 5]

Lists of 40 rules are learned from generated data, with conditions on labels and without. onnxruntime and `predict` run
with one thread each and take turns; CPU seconds, medians. zen gets its requests as JSON text, one by one and as a
batch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import zen
from sklearn.datasets import make_multilabel_classification

from plurule import RelaxedPruningClassifier, RuleList
from research.machine import describe, in_words

RULES = 40
REQUESTS = 1000


def learn(label_conditions: bool) -> RuleList:
    """A list of 40 rules about 20 attributes and 10 labels."""
    X, Y = make_multilabel_classification(2000, 20, n_classes=10, n_labels=3, random_state=0)
    classifier = RelaxedPruningClassifier(max_rules=RULES, max_conditions=5, label_conditions=label_conditions)
    return classifier.fit(X, Y).rule_list_


def cpu_seconds(run: Callable[[], Any]) -> float:
    """CPU seconds of one call, in all threads."""
    start = time.process_time()
    run()
    return time.process_time() - start


def measure_onnx(rule_list: RuleList, n_rows: int, repeats: int) -> tuple[float, float]:
    """CPU seconds of `predict` and of onnxruntime for the same rows."""
    X = make_multilabel_classification(n_rows, 20, n_classes=10, n_labels=3, random_state=1)[0]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(rule_list.to_onnx(), options, providers=["CPUExecutionProvider"])
    feeds = {f"x{i}": np.ascontiguousarray(X[:, [i]]) for i in rule_list.tested_attributes()}
    np.testing.assert_array_equal(session.run(["labels"], feeds)[0], rule_list.predict(X))
    ours = []
    theirs = []
    for _ in range(repeats):
        ours.append(cpu_seconds(lambda: rule_list.predict(X)))
        theirs.append(cpu_seconds(lambda: session.run(None, feeds)))
    return statistics.median(ours), statistics.median(theirs)


def measure_zen(rule_list: RuleList, repeats: int) -> tuple[float, float]:
    """Decisions per CPU second of zen, one by one and as a batch."""
    X = make_multilabel_classification(REQUESTS, 20, n_classes=10, n_labels=3, random_state=2)[0]
    requests = [json.dumps({f"x{i}": value for i, value in enumerate(row)}) for row in X.tolist()]
    graph = rule_list.to_jdm()
    decision = zen.ZenEngine().create_decision(graph)
    answer = decision.evaluate(requests[0])["result"]["labels"]
    assert [answer[label] for label in rule_list.labels] == rule_list.predict(X[:1])[0].tolist()
    engine = zen.ZenEngine({"loader": {"type": "static", "content": {"rules": json.loads(graph)}}})
    batch = [{"key": "rules", "context": request} for request in requests]
    alone = [cpu_seconds(lambda: [decision.evaluate(request) for request in requests]) for _ in range(repeats)]
    together = [cpu_seconds(lambda: engine.evaluate_batch(batch)) for _ in range(repeats)]
    return REQUESTS / statistics.median(alone), REQUESTS / statistics.median(together)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print("| 40 rules, 20 attributes, 10 labels | `predict` | onnxruntime | zen, one by one | zen, batch |")
    print("|---|---|---|---|---|")
    for label_conditions in (False, True):
        rule_list = learn(label_conditions)
        ours, theirs = measure_onnx(rule_list, arguments.rows, arguments.repeats)
        alone, together = measure_zen(rule_list, arguments.repeats)
        tests = sum(len(rule.label_conditions) for rule in rule_list)
        print(
            f"| {len(rule_list)} rules, {tests} conditions on labels | {1000 * ours:.1f} ms | {1000 * theirs:.1f} ms "
            f"({theirs / ours:.1f} ×) | {alone:.0f}/s | {together:.0f}/s |"
        )
    print(f"\n{arguments.rows:,} rows; onnxruntime {onnxruntime.__version__}; {in_words(describe())}")


if __name__ == "__main__":
    main()
