"""How long explanations of many instances take: python benchmarks/explain_speed.py [instances] [rules]."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from plurule.inspection import explain
from plurule.model import Attribute, RuleList
from plurule.model.text import parse_rules


def random_rules(n_rules: int, n_labels: int, n_attributes: int) -> RuleList:
    """Rules with one to three labels and conditions, some on labels, some that stop."""
    chance = random.Random(0)
    attributes = tuple(Attribute(f"x{i}") for i in range(n_attributes))
    labels = tuple(f"y{i}" for i in range(n_labels))
    lines = []
    for _ in range(n_rules):
        head = chance.sample(labels, chance.choice([1, 1, 1, 2, 3]))
        body = [
            f"x{chance.randrange(n_attributes)} > {chance.gauss(0, 1):.3f}" for _ in range(chance.choice([1, 2, 3]))
        ]
        if chance.random() < 0.1:
            body.append(chance.choice([label for label in labels if label not in head]))
        lines.append(f"{', '.join(head)} <- {' and '.join(body)}" + (" [stop]" if chance.random() < 0.1 else ""))
    return RuleList(parse_rules("\n".join(lines), attributes, labels), attributes, labels)


def timed(what: str, do: Callable[[], Any]) -> Any:
    """Do something and print how long it took."""
    start = time.perf_counter()
    result = do()
    print(f"{what}: {time.perf_counter() - start:.2f} s")
    return result


def main() -> None:
    """Explain, and ask for everything that can be asked for."""
    n_instances, n_rules = (int(a) for a in (sys.argv[1:] + ["100000", "100"][len(sys.argv) - 1 :]))
    X = np.random.default_rng(0).normal(size=(n_instances, 20)).round(3)
    rule_list = random_rules(n_rules, 6, 20)
    print(f"{n_instances} instances, {n_rules} rules, 6 labels")
    explanations = timed("explain", lambda: explain(rule_list, X))
    timed("as a frame", explanations.to_frame)
    timed("as objects", lambda: sum(len(explanation.fired) for explanation in explanations))


if __name__ == "__main__":
    main()
