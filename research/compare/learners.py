"""The learners of the comparison by name, and any classifier by its import path."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from plurule import DataError, RelaxedPruningClassifier, RuleListClassifier
from plurule.lifts import NoLift
from research import related
from research.compare.fit_once import FOREST, TREE, TUNED_FOREST, TunedForest, random_forest, tree_per_label
from research.related.base import MultiLabelClassifier
from research.related.peers import peer_python

Factory = Callable[[], Any]

OURS: dict[str, Factory] = {
    "default": RuleListClassifier,
    "tolerant": lambda: RuleListClassifier(score_tolerance=0.01),
    "relaxed pruning": RelaxedPruningClassifier,
    "normal pruning": lambda: RelaxedPruningClassifier(lift=NoLift()),
}
RELATED: dict[str, Factory] = {
    "BinaryRelevanceRules": lambda: related.BinaryRelevanceRules(),
    "StackedRules": lambda: related.StackedRules(),
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
}
SCIKIT_LEARN: dict[str, Factory] = {TREE: tree_per_label, FOREST: random_forest, TUNED_FOREST: TunedForest}
NAMED = OURS | RELATED | PEERS | SCIKIT_LEARN


def default_learners() -> list[str]:
    """Return all named learners; those of mlrl only if there is an environment with it."""
    return [name for name in NAMED if name not in PEERS or peer_python() is not None]


def make_learner(name: str) -> Any:
    """Return a learner by its name, or by its import path with default settings."""
    if name in NAMED:
        return NAMED[name]()
    module, _, kind = name.replace(":", ".").rpartition(".")
    try:
        return getattr(import_module(module), kind)()
    except (ImportError, AttributeError, ValueError) as error:
        known = ", ".join(NAMED)
        raise DataError(f"no learner is called {name!r} ({error}); known are {known}, and import paths") from error


def wants_table(learner: Any) -> bool:
    """Return whether a learner takes attributes as plurule has them; others get an array of numbers."""
    return isinstance(learner, MultiLabelClassifier) or type(learner).__module__.startswith("plurule.")
