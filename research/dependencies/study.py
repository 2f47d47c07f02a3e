"""The study: which share of planted dependencies each learner's model states, and at which precision."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from plurule import RelaxedPruningClassifier, RuleListClassifier, discover
from plurule.lifts import KLN, NoLift
from plurule.metrics import micro_f1
from research import related
from research.dependencies.data import KINDS, DependentLabels, make_dependent_labels
from research.dependencies.statements import count_found, statements
from research.paper.journal import Journal
from research.related.peers import peer_python

LIFTS = (0.0, 0.02, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Factors k of the lift 1 + k·ln x; 0 is normal pruning."""


@dataclass(frozen=True)
class Setting:
    """One way to generate data."""

    name: str
    local: bool = False
    noise: float = 0.05
    frequency: float = 0.25
    n_per_kind: int = 2


SETTINGS = (
    Setting("global"),
    Setting("local", local=True),
    Setting("global, noise 20 %", noise=0.2),
    Setting("global, rare labels", frequency=0.1),
    Setting("global, 4 dependencies", n_per_kind=1),
    Setting("global, 12 dependencies", n_per_kind=3),
)


@dataclass(frozen=True)
class Row:
    """Result of one learner on one generated data set."""

    setting: str
    learner: str
    seed: int
    planted: int
    stated: int
    by_kind: dict[str, list[int]]
    pairs: int
    right: int
    micro_f1: float | None
    """On instances that were not trained on; None for what does not predict."""


def relaxed(k: float, absence: bool = False) -> Any:
    """Return the paper's learner with a lift; normal pruning for 0."""
    lift = KLN(k=k) if k else NoLift()
    return RelaxedPruningClassifier(lift=lift, predict_absence=absence)


class Discovered:
    """The significant patterns of `discover`, as a model that does not predict."""

    def __init__(self, max_conditions: int = 2) -> None:
        self.max_conditions = max_conditions

    def fit(self, X: Any, Y: Any) -> Discovered:
        """Find patterns, also of labels that exclude each other."""
        found = discover(X, Y, max_conditions=self.max_conditions, exclusions=True, resamples=0)
        self.rule_list_ = [pattern.rule for pattern in found.significant()]
        return self


def learners() -> dict[str, Callable[[], Any]]:
    """Return the learners by name."""
    ours: dict[str, Callable[[], Any]] = {
        "normal pruning": lambda: relaxed(0.0),
        "relaxed pruning": lambda: relaxed(0.07),
        "normal pruning, ±": lambda: relaxed(0.0, absence=True),
        "relaxed pruning, ±": lambda: relaxed(0.07, absence=True),
        "default": RuleListClassifier,
        "tolerant": lambda: RuleListClassifier(score_tolerance=0.01),
        "discover": Discovered,
        "discover, labels alone": lambda: Discovered(max_conditions=0),
    }
    others: dict[str, Callable[[], Any]] = {
        "BinaryRelevanceRules": related.BinaryRelevanceRules,
        "StackedRules": related.StackedRules,
        "StackedRules, predictions": lambda: related.StackedRules(second_round="predictions"),
        "AssociationRules": related.AssociationRules,
        "LabelConstraints": related.LabelConstraints,
        "LabelConstraints, confidence 0.8": lambda: related.LabelConstraints(min_confidence=0.8),
        "LabelInference": related.LabelInference,
        "DecisionSets": related.DecisionSets,
        "DecisionSets, label sets": lambda: related.DecisionSets(targets="label_sets"),
        "EvolvedRules": lambda: related.EvolvedRules(population=30, generations=15),
    }
    if peer_python() is not None:
        others["SeCo, KLN"] = lambda: related.SeCo({"head_type": "partial", "lift_function": "kln"})
    return ours | others


def with_lifts() -> dict[str, Callable[[], Any]]:
    """Return the paper's learner with each lift, with and without absent labels in heads."""
    made: dict[str, Callable[[], Any]] = {}
    for k in LIFTS:
        made[f"+ {k}"] = lambda k=k: relaxed(k)  # type: ignore[misc]
        made[f"± {k}"] = lambda k=k: relaxed(k, absence=True)  # type: ignore[misc]
    return made


def run(
    settings: Sequence[Setting], makers: dict[str, Callable[[], Any]], seeds: Sequence[int], n: int, journal: Journal
) -> list[Row]:
    """Fit every learner to every data set, and count what its model states; what is in the journal is not run again."""
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for setting in settings:
        for seed in seeds:
            keys = {name: f"{setting.name}, seed {seed}, {name}" for name in makers}
            if any(key not in journal.results for key in keys.values()):
                print(f"{setting.name}: data set {seed + 1} of {len(seeds)}", file=sys.stderr, flush=True)
            data = _generate(setting, 2 * n, seed)
            for name, make in makers.items():
                if keys[name] not in journal.results:
                    journal.add(keys[name], _measure(make(), data, n))
                rows.append(Row(setting.name, name, seed, **journal.results[keys[name]]))
    return rows


def _measure(learner: Any, data: DependentLabels, n: int) -> dict[str, Any]:
    """Fit a learner to the first rows, and count what its model states; score it on the others."""
    train = replace(data, X=data.X[:n], Y=data.Y[:n])
    model = learner.fit(train.X, train.Y)
    found = count_found(statements(model, train.X), train)
    score = None
    if hasattr(model, "predict"):
        score = micro_f1(data.Y[n:], np.asarray(model.predict(data.X[n:])))
    return asdict(found) | {"micro_f1": score}


def _generate(setting: Setting, n: int, seed: int) -> DependentLabels:
    return make_dependent_labels(
        n,
        n_per_kind=setting.n_per_kind,
        local=setting.local,
        noise=setting.noise,
        frequency=setting.frequency,
        random_state=seed,
    )


@dataclass(frozen=True)
class Summary:
    """Results of one learner in one setting, over all data sets."""

    share: float
    """Share of the planted dependencies that are stated."""
    by_kind: dict[str, float]
    """The same for each kind."""
    precision: float | None
    """Share of the related pairs that were planted; None if no pair is related."""
    pairs: float
    """Related pairs per model."""
    micro_f1: float | None


def summarise(rows: Sequence[Row]) -> Summary:
    """Add up what was counted."""
    pairs = sum(row.pairs for row in rows)
    scores = [row.micro_f1 for row in rows if row.micro_f1 is not None]
    kinds = {
        kind: sum(row.by_kind[kind][0] for row in rows) / sum(row.by_kind[kind][1] for row in rows) for kind in KINDS
    }
    return Summary(
        sum(row.stated for row in rows) / sum(row.planted for row in rows),
        kinds,
        sum(row.right for row in rows) / pairs if pairs else None,
        pairs / len(rows),
        float(np.mean(scores)) if scores else None,
    )
