"""Dependencies on real data: those that models of training parts state and that hold on test parts, and a control.

A stated pair of labels *holds* if the labels are together (or apart) on the test part more often than their
probabilities given the attributes explain, where the attribute conditions of a rule that states it hold. The
probabilities are those of a random forest: out of bag, over both parts, recalibrated for each label by logistic
regression. If the labels were independent given the attributes, the number of instances with both would be a sum of
independent trials (Poisson binomial). A pair that is stated for several regions takes the lowest p-value times their
number. The p-values of a model's pairs are corrected together (Holm), which asks more of a model that states more;
pairs that hold *strictly* are corrected for all pairs of labels, which asks the same of all models.

The *control* has the same attributes, and labels that are drawn from these probabilities one by one: no two labels
depend on each other given the attributes, so that whatever holds there is false.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.stats import hypergeom
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from plurule import DataError, Dataset, RuleListClassifier
from plurule.model import Rule
from research import related
from research.data import find_or_build, read_parts
from research.dependencies.statements import stated_pairs
from research.machine import ROOT
from research.matrices import category_codes, label_matrix
from research.paper.journal import Journal
from research.paper.lifts import NONE
from research.paper.objectives import PAPER_OBJECTIVES, find_objective
from research.paper.sets import PAPER_SETS

Probabilities = NDArray[np.float64]
Mask = NDArray[np.bool_]

CHOSEN = ROOT / "docs" / "paper" / "tables" / "chosen-lifts.csv"
"""Lifts that cross-validation on the training parts chose, written by `python -m research.paper`."""
LEVEL = 0.05
TREES = 200
LEAVES = (3, 10, 30, 100)
"""Least numbers of instances in a leaf of a forest."""
SETS = PAPER_SETS


@dataclass(frozen=True)
class Held:
    """What became of the pairs that a model states on a test part."""

    stated: int
    associated: int
    """Pairs whose labels are together (or apart) on the whole test part more often than by chance (Fisher's test)."""
    held: int
    """Pairs that hold given the attributes, where the rule applies; corrected for the pairs that the model states."""
    held_strictly: int
    """Pairs that hold at a level that is the same for all models: corrected for all pairs of labels, and regions."""


# Probabilities --------------------------------------------------------------------------------------------------------


def attribute_matrix(parts: Sequence[Dataset]) -> NDArray[np.float32]:
    """Return the attributes of all parts as numbers: categories by their place, -1 where a value is missing."""
    matrices = [category_codes(part) for part in parts]
    arrays = [matrix.toarray() if sp.issparse(matrix) else matrix for matrix in matrices]
    return np.nan_to_num(np.vstack(arrays), nan=-1.0)


def label_probabilities(X: NDArray[np.float32], Y: Mask, seed: int = 0, trees: int = TREES) -> Probabilities:
    """Return out-of-bag probabilities of the labels given the attributes, recalibrated for each label.

    Each label takes the forest with the size of leaves whose probabilities have the lowest log loss.
    """
    candidates = []
    for leaf in LEAVES:
        # The mean of 0 and 1 in a leaf is a probability; labels that are constant need no care.
        forest = RandomForestRegressor(
            trees, min_samples_leaf=leaf, max_features="sqrt", oob_score=True, random_state=seed, n_jobs=1
        )
        forest.fit(X, Y.astype(np.float64))
        found = np.clip(np.nan_to_num(forest.oob_prediction_.reshape(Y.shape)), 0, 1)
        candidates.append(np.column_stack([recalibrated(found[:, label], Y[:, label]) for label in range(Y.shape[1])]))
    losses = np.array([[log_loss(found[:, label], Y[:, label]) for label in range(Y.shape[1])] for found in candidates])
    best = losses.argmin(axis=0)
    return np.column_stack([candidates[best[label]][:, label] for label in range(Y.shape[1])])


def log_loss(probabilities: Probabilities, present: Mask) -> float:
    """Return the mean of the negative logarithms of the probabilities of what is the case."""
    return float(-np.log(np.clip(np.where(present, probabilities, 1 - probabilities), 1e-9, 1)).mean())


def recalibrated(probabilities: Probabilities, present: Mask) -> Probabilities:
    """Return probabilities whose log-odds are a linear function of the given ones, fitted to the labels."""
    if present.all() or not present.any():
        return np.full(len(present), float(present.mean()))
    odds = (probabilities + 1e-3) / (1 - probabilities + 1e-3)
    logits = np.log(odds)[:, None]
    found = LogisticRegression(C=1e4).fit(logits, present).predict_proba(logits)
    return np.asarray(found[:, 1])


def independent_labels(probabilities: Probabilities, seed: int) -> Mask:
    """Return labels that are drawn one by one, each with its probability."""
    return np.random.default_rng(seed).random(probabilities.shape) < probabilities


# Tests ----------------------------------------------------------------------------------------------------------------


def tail(chances: Probabilities, count: int, above: bool) -> float:
    """Return the probability of at least (or at most) a number of successes of independent trials.

    >>> round(tail(np.array([0.5, 0.5]), 2, above=True), 4), round(tail(np.array([0.5, 0.5]), 0, above=False), 4)
    (0.25, 0.25)
    """
    most = count - 1 if above else count
    if most < 0:
        return 1.0
    share = np.zeros(most + 1)
    share[0] = 1.0
    for chance in chances[chances > 0]:
        share[1:] = share[1:] * (1 - chance) + share[:-1] * chance
        share[0] *= 1 - chance
    below = float(share.sum())
    return max(1.0 - below, 0.0) if above else min(below, 1.0)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values corrected for their number.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    raised = np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values))))
    corrected = np.empty_like(values)
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def count_held(rules: Iterable[Rule], test: Dataset, Y: Mask, probabilities: Probabilities) -> Held:
    """Count the pairs that rules state, and those that hold on a test part."""
    regions: dict[tuple[int, int, bool], list[Mask]] = {}
    for rule in rules:
        pairs = list(stated_pairs(rule))
        rows = rows_of(rule, test) if pairs else None
        for labels, together in pairs:
            first, second = sorted(labels)
            regions.setdefault((first, second, together), []).append(rows)
    if not regions:
        return Held(0, 0, 0, 0)
    alone = holm([fisher(Y, pair) for pair in regions])
    given = np.array([lowest(Y, probabilities, pair, distinct(masks)) for pair, masks in regions.items()])
    # Any two labels may be said to be together, or apart.
    n_claims = Y.shape[1] * (Y.shape[1] - 1)
    return Held(
        len(regions),
        int((alone <= LEVEL).sum()),
        int((holm(given) <= LEVEL).sum()),
        int((given * n_claims <= LEVEL).sum()),
    )


def lowest(Y: Mask, probabilities: Probabilities, pair: tuple[int, int, bool], regions: Sequence[Mask]) -> float:
    """Return the lowest p-value of a pair over some regions, times their number."""
    return min(1.0, len(regions) * min(p_value(Y, probabilities, pair, rows) for rows in regions))


def distinct(masks: Sequence[Mask]) -> list[Mask]:
    """Return masks without repetitions."""
    return list({mask.tobytes(): mask for mask in masks}.values())


def p_value(Y: Mask, probabilities: Probabilities, pair: tuple[int, int, bool], rows: Mask) -> float:
    """Return the probability of as many (or as few) rows with both labels if these were independent."""
    first, second, together = pair
    both = int((Y[rows, first] & Y[rows, second]).sum())
    return tail(probabilities[rows, first] * probabilities[rows, second], both, above=together)


def fisher(Y: Mask, pair: tuple[int, int, bool]) -> float:
    """Return the one-sided p-value of Fisher's exact test of two labels on all rows."""
    first, second, together = pair
    both = int((Y[:, first] & Y[:, second]).sum())
    alone = hypergeom(len(Y), int(Y[:, first].sum()), int(Y[:, second].sum()))
    return float(alone.sf(both - 1) if together else alone.cdf(both))


def rows_of(rule: Rule, data: Dataset) -> Mask:
    """Return the instances that satisfy the attribute conditions of a rule."""
    rows = np.ones(len(data), dtype=bool)
    for condition in rule.attribute_conditions:
        rows &= condition.mask(data.X.column(condition.index), data.attributes[condition.index].categories or ())
    return rows


# The study ------------------------------------------------------------------------------------------------------------


def read_lifts(path: Path = CHOSEN) -> dict[tuple[str, str], str]:
    """Return the chosen lift by data set and objective."""
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        return {(row["set"], row["objective"]): row["lift"] for row in rows}
    except (OSError, KeyError) as error:
        raise DataError(f"{path} cannot be read ({error!r}); python -m research.paper writes it") from None


def learners(name: str, lifts: dict[tuple[str, str], str]) -> dict[str, Callable[[], Any]]:
    """Return the learners by name: the paper's with each objective, the default, and related ones."""
    made: dict[str, Callable[[], Any]] = {}
    for objective in map(find_objective, PAPER_OBJECTIVES):
        if (name, objective.name) not in lifts:
            raise DataError(f"no lift was chosen for {name}, {objective.title}; python -m research.paper chooses it")
        lift = lifts[name, objective.name]
        made[f"normal pruning, {objective.title}"] = lambda objective=objective: objective.learner(NONE)  # type: ignore[misc]
        made[f"relaxed pruning, {objective.title}"] = lambda objective=objective, lift=lift: objective.learner(lift)  # type: ignore[misc]
    return made | {
        "default": RuleListClassifier,
        "StackedRules": related.StackedRules,
        "StackedRules, predictions": lambda: related.StackedRules(second_round="predictions"),
        "AssociationRules": related.AssociationRules,
    }


def run(sets: Sequence[str], n_controls: int, folder: Path | None, journal: Journal) -> list[dict[str, Any]]:
    """Count for every data set, its controls and every learner; what is in the journal is not run again."""
    warnings.simplefilter("ignore")
    lifts = read_lifts()
    rows: list[dict[str, Any]] = []
    for name in sets:
        makers = learners(name, lifts)
        kinds = ["real", *(f"control {i + 1}" for i in range(n_controls))]
        keys = {(kind, learner): f"{name}, {kind}, {learner}" for kind in kinds for learner in makers}
        if any(key not in journal.results for key in keys.values()):
            measure_set(name, folder, kinds, makers, keys, journal)
        rows += [
            {"set": name, "data": kind, "learner": learner} | journal.results[key]
            for (kind, learner), key in keys.items()
        ]
    return rows


def measure_set(
    name: str,
    folder: Path | None,
    kinds: Sequence[str],
    makers: dict[str, Callable[[], Any]],
    keys: dict[tuple[str, str], str],
    journal: Journal,
) -> None:
    """Learn from the labels of a data set, and from those of its controls."""
    train, test = read_parts(find_or_build(name, folder))
    X = attribute_matrix((train, test))
    labels = np.vstack([label_matrix(part) for part in (train, test)]).astype(bool)
    model = label_probabilities(X, labels)
    for number, kind in enumerate(kinds):
        if all(keys[kind, learner] in journal.results for learner in makers):
            continue
        print(f"{name}: {kind}", file=sys.stderr, flush=True)
        Y = labels if kind == "real" else independent_labels(model, seed=number)
        # The test knows the model of the control no better than that of the real labels.
        probabilities = model if kind == "real" else label_probabilities(X, Y)
        n_train = len(train)
        for learner, make in makers.items():
            if keys[kind, learner] not in journal.results:
                fitted = make().fit(train.X, Y[:n_train].astype(np.int8))
                found = count_held(fitted.rule_list_, test, Y[n_train:], probabilities[n_train:])
                journal.add(keys[kind, learner], vars(found) | {"rules": len(fitted.rule_list_)})
