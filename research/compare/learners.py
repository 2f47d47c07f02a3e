"""The learners of the comparison by name, and any classifier by its import path."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from plurule import DataError, RelaxedPruningClassifier, RuleListClassifier
from plurule.lifts import NoLift
from research import related
from research.compare.baselines import BestConstant, TunedForest, random_forest, tree_per_label
from research.related.base import MultiLabelClassifier
from research.related.peers import peer_python

Factory = Callable[[], Any]

CONSTANT = "constant"
CONSTANT_FOR_HAMMING = "constant for HA"
TREE = "tree per label"
FOREST = "random forest"
TUNED_FOREST = "random forest, tuned"

OURS: dict[str, Factory] = {
    "default": RuleListClassifier,
    "tolerant": lambda: RuleListClassifier(score_tolerance=0.01),
    "for HA": lambda: RuleListClassifier(scoring="hamming_accuracy"),
    "for macro F1": lambda: RuleListClassifier(scoring="macro_f1"),
    "relaxed pruning": RelaxedPruningClassifier,
    "normal pruning": lambda: RelaxedPruningClassifier(lift=NoLift()),
}
RELATED: dict[str, Factory] = {
    "BinaryRelevanceRules": lambda: related.BinaryRelevanceRules(),
    "StackedRules": lambda: related.StackedRules(),
    "StackedRules, predictions": lambda: related.StackedRules(second_round="predictions"),
    "AssociationRules": lambda: related.AssociationRules(),
    "AssociationRules, first": lambda: related.AssociationRules(combine="first"),
    "LabelConstraints": lambda: related.LabelConstraints(),
    "LabelConstraints, soft": lambda: related.LabelConstraints(soft=True),
    "LabelInference": lambda: related.LabelInference(),
    "DecisionSets": lambda: related.DecisionSets(),
    "DecisionSets, label sets": lambda: related.DecisionSets(targets="label_sets"),
    "EvolvedRules": lambda: related.EvolvedRules(),
}
PEERS: dict[str, Factory] = {
    "SeCo": lambda: related.SeCo(),
    "SeCo, KLN": lambda: related.SeCo({"head_type": "partial", "lift_function": "kln"}),
    "BOOMER": lambda: related.Boomer(),
    "BOOMER, tuned": lambda: related.Boomer(tuned=True),
}
OTHERS: dict[str, Factory] = {
    CONSTANT: lambda: BestConstant("micro_f1"),
    CONSTANT_FOR_HAMMING: lambda: BestConstant("hamming_accuracy"),
    TREE: tree_per_label,
    FOREST: random_forest,
    TUNED_FOREST: TunedForest,
}
NAMED = OURS | RELATED | PEERS | OTHERS
NOT_BY_DEFAULT = ("for HA", "for macro F1", "BOOMER, tuned", CONSTANT_FOR_HAMMING)
"""Learners that `make compare` runs only if they are named."""


def default_learners() -> list[str]:
    """Return the learners that are compared unless others are named; those of mlrl where there is an environment."""
    return [name for name in NAMED if name not in NOT_BY_DEFAULT and is_available(name)]


def is_available(name: str) -> bool:
    """Return whether there is an environment for a learner."""
    return name not in PEERS or peer_python() is not None


def make_learner(name: str) -> Any:
    """Return a learner by its name, or by its import path with default settings."""
    if name in NAMED:
        return NAMED[name]()
    module, _, kind = name.replace(":", ".").rpartition(".")
    try:
        factory = getattr(import_module(module), kind)
    except (ImportError, AttributeError, ValueError) as error:
        known = ", ".join(map(repr, NAMED))
        raise DataError(f"no learner is called {name!r} ({error}); known are {known}, and import paths") from error
    try:
        learner = factory()
    except Exception as error:
        raise DataError(
            f"{name} cannot be made without arguments ({error}); write a function without arguments that returns the "
            "learner, and give its import path"
        ) from error
    if not (hasattr(learner, "fit") and hasattr(learner, "predict")):
        raise DataError(f"{name} is no classifier: it has no fit and predict")
    return learner


def learner_version(name: str) -> str:
    """Return nothing for a learner with a name, else a short text that differs if its module does."""
    if name in NAMED:
        return ""
    module = import_module(name.replace(":", ".").rpartition(".")[0])
    file = getattr(module, "__file__", None)
    return f" {hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12]}" if file else ""


def wants_table(learner: Any) -> bool:
    """Return whether a learner takes attributes as plurule has them; others get an array of numbers."""
    return isinstance(learner, MultiLabelClassifier) or type(learner).__module__.startswith("plurule.")
