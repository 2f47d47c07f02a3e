"""Three checks of the related learners on more than the tests look at; prints what research/related/README.md says.

python -m research.related_checks [--data DIR]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from plurule import PluruleError
from research.data import find_or_build, read_parts
from research.related import DecisionSets
from research.related.constraint_mining import Constraints, mine_constraints
from research.related.constraints import soften
from research.related.decision_set_search import Objective, local_search

SETS = ("flags", "emotions", "birds", "medical", "yeast")
N_OBJECTIVES = 300
N_CONSTRAINTS = 200


def random_objective(seed: int, n_rows: int = 30) -> Objective:
    """Return an objective of 4 to 10 random rules of three classes, with the weights of the learner."""
    random = np.random.default_rng(seed)
    n_rules = int(random.integers(4, 11))
    covers = random.random((n_rules, n_rows)) < random.random((n_rules, 1))
    classes = random.integers(3, size=n_rules)
    right = covers & (random.integers(3, size=n_rows) == classes[:, None])
    few, short, same, other, *more = DecisionSets().weights
    lengths = random.integers(1, 4, size=n_rules).astype(float)
    return Objective(lengths, classes, covers, right, (few, short, same / n_rows, other / n_rows, *more))


def share_of_best(objective: Objective) -> float:
    """Return what the search gains over the empty set, as a share of what the best of all sets gains."""
    n_rules = len(objective.lengths)
    best = max(objective.value(np.array(chosen, dtype=float)) for chosen in product([0, 1], repeat=n_rules))
    possible = best - objective.constant
    return (
        float((objective.value(local_search(objective).astype(float)) - objective.constant) / possible)
        if possible > 1e-9
        else 1.0
    )


def posterior_error(seed: int) -> float:
    """Return the largest error of probabilities given random constraints, against enumeration of all label sets."""
    random = np.random.default_rng(seed)
    n_labels = int(random.integers(2, 9))
    Y = (random.random((30, n_labels)) < random.random(n_labels)).astype(np.int8)
    constraints: Constraints = mine_constraints(Y, 1, float(random.choice([0.7, 0.9, 1.0])), 0.5)
    probabilities = random.uniform(0.01, 0.99, (7, n_labels))
    states = np.array(list(product([0, 1], repeat=n_labels)), dtype=np.int8)
    states = states[[constraints.violations(state[None]) == 0 for state in states]]
    weights = np.prod(np.where(states[None] == 1, probabilities[:, None], 1 - probabilities[:, None]), axis=2)
    exact = weights @ states / weights.sum(axis=1, keepdims=True)
    return float(np.abs(exact - soften(probabilities, constraints)).max())


def chosen_rules(name: str, folder: Path | None, search: str) -> int:
    """Return how many rules with a body decision sets of label sets choose on the training part of a data set."""
    train, _ = read_parts(find_or_build(name, folder))
    model = DecisionSets(targets="label_sets", search=search).fit(train)
    return sum(bool(rule.body) for rule in model.rule_list_)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the checks and print their numbers."""
    parser = argparse.ArgumentParser(prog="python -m research.related_checks", description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", type=Path, help="folder of data sets, a folder each (PLURULE_DATA, the cache)")
    given = parser.parse_args(arguments)
    shares = [share_of_best(random_objective(seed)) for seed in range(N_OBJECTIVES)]
    n_best = sum(share > 1 - 1e-9 for share in shares)
    print(f"local search: best of all sets in {n_best} of {N_OBJECTIVES} cases, at least {min(shares):.1%} of its gain")
    errors = [posterior_error(seed) for seed in range(N_CONSTRAINTS)]
    print(f"posterior: largest error {max(errors):.1e} in {N_CONSTRAINTS} cases")
    try:
        for name in SETS:
            local, smooth = (chosen_rules(name, given.data, search) for search in ("local", "smooth"))
            print(
                f"decision sets of label sets, {name}: {local} rules by local search, {smooth} by smooth local search"
            )
    except PluruleError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
