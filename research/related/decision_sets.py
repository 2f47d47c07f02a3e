"""Interpretable decision sets (IDS): an unordered set of rules that maximises seven terms by local search.

References: H. Lakkaraju, S. H. Bach and J. Leskovec, *Interpretable decision sets: a joint framework for description
and prediction*, KDD 2016; U. Feige, V. S. Mirrokni and J. Vondrák, *Maximizing non-monotone submodular functions*,
FOCS 2007 (smooth local search).

Differs from them: labels are learned one by one (presence and absence are the two classes), or label sets are the
classes; candidates are the `max_candidates` best rules by F-measure, since expectations over thousands make every
single rule worthless; the set is found by deterministic local search, which adds, drops and exchanges rules, unless
`search="smooth"` asks for the published one. In that, expectations are computed exactly instead of by sampling (the
objective is a sum of linear, pairwise and coverage terms, whose expectations have a closed form), and of the two
published ways to round the solution, of the solution as it is, and of several random draws, the best set is returned.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from plurule import ParameterError, RuleList
from plurule.model import Head, Rule
from research.related.base import COUNT, SEED, SHARE, MultiLabelClassifier, counted_rule, make_head
from research.related.columns import read_columns
from research.related.decision_set_search import Objective, local_search, smooth_local_search
from research.related.items import Items, Itemsets, body, count, make_items, mine, pack, unpack
from research.related.labels import Labels


class DecisionSets(MultiLabelClassifier):
    """Decision sets per label, or one over label sets.

    Parameters
    ----------
    targets
        `"labels"` for a set of rules per label, `"label_sets"` for one whose classes are sets of labels.
    search
        `"local"` for deterministic local search, `"smooth"` for smooth local search, as published.
    weights
        Weights of the seven terms: few rules, short rules, little overlap within a class, little overlap between
        classes, a rule for every class, few wrongly covered instances, many rightly covered instances. The weights of
        overlaps are per training instance.
    min_support
        Least share of the training instances that body and class of a rule have in common.
    max_conditions
        Most conditions in a body.
    max_candidates
        Most candidate rules of a class.
    n_bins
        Numeric attributes are split into this many bins, which hold about equally many instances.
    max_sets
        Mining is stopped with an error when there are more itemsets.
    random_state
        Random seed of the sets that smooth local search draws.

    Attributes
    ----------
    rule_list_ : RuleList
        The rules by their F-measure, which decides where several cover an instance; then the default rules.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "targets": [StrOptions({"labels", "label_sets"})],
        "search": [StrOptions({"local", "smooth"})],
        "weights": [tuple, list],
        "min_support": SHARE,
        **dict.fromkeys(("max_conditions", "max_candidates", "n_bins", "max_sets"), COUNT),
        "random_state": SEED,
    }

    def __init__(
        self,
        *,
        targets: str = "labels",
        search: str = "local",
        weights: tuple[float, ...] = (0.5, 0.1, 0.1, 0.1, 1.0, 0.5, 1.0),
        min_support: float = 0.02,
        max_conditions: int = 2,
        max_candidates: int = 20,
        n_bins: int = 5,
        max_sets: int = 500_000,
        random_state: int = 0,
    ) -> None:
        self.targets = targets
        self.search = search
        self.weights = weights
        self.min_support = min_support
        self.max_conditions = max_conditions
        self.max_candidates = max_candidates
        self.n_bins = n_bins
        self.max_sets = max_sets
        self.random_state = random_state

    def _learn(self, X: Any, Y: Labels) -> None:
        are_numbers = all(isinstance(weight, Real) and 0 <= weight < np.inf for weight in self.weights)
        if len(self.weights) != 7 or not are_numbers:
            raise ParameterError("weights", self.weights, f"must be seven numbers of at least 0, got {self.weights!r}")
        columns = read_columns(X)
        items = make_items(columns, self.n_bins)
        random = np.random.default_rng(self.random_state)
        together = [[label] for label in range(Y.shape[1])] if self.targets == "labels" else [list(range(Y.shape[1]))]
        itemsets = self._mine(items, Y)
        coverage = count(itemsets.covers)
        rules: list[Rule] = []
        for labels in together:
            kinds, classes = np.unique(Y[:, labels], axis=0, return_inverse=True)
            heads = [make_head(zip(labels, (kind > 0).tolist(), strict=True), self.label_names_) for kind in kinds]
            right = itemsets.counts.T
            if self.targets == "labels":
                present = itemsets.counts[:, labels[0]]
                right = np.array([present if kind[0] else coverage - present for kind in kinds])
            candidates = self._candidates(right, coverage, np.bincount(classes.ravel()), len(Y))
            rules += self._choose(candidates, itemsets, items, classes.ravel(), heads, Y, random)
        # Where rules disagree, the one with the highest F-measure decides; default rules have none.
        rules.sort(key=lambda rule: -rule.value)
        self.rule_list_ = RuleList(tuple(rules), columns.attributes, self.label_names_)

    def _mine(self, items: Items, Y: Labels) -> Itemsets:
        if self.targets == "labels":
            targets = Y.astype(bool).T
        else:
            kinds, classes = np.unique(Y, axis=0, return_inverse=True)
            targets = classes.ravel() == np.arange(len(kinds))[:, None]
        min_rows = max(1.0, self.min_support * len(Y))
        return mine(pack(items.masks), pack(targets), min_rows, self.max_conditions, self.max_sets)

    def _candidates(self, right: Any, coverage: Any, class_sizes: Any, n_rows: int) -> list[tuple[int, int, float]]:
        """Return itemset, class and F-measure of the best rules of each class; `right` has a row per class."""
        candidates: list[tuple[int, int, float]] = []
        for kind, (hits, size) in enumerate(zip(right, class_sizes, strict=True)):
            values = np.where(hits >= max(self.min_support * n_rows, 1), 2 * hits / (coverage + size), 0.0)
            places = best_candidates(values, self.max_candidates)
            candidates += [(place, kind, float(values[place])) for place in places]
        return candidates

    def _choose(
        self,
        candidates: list[tuple[int, int, float]],
        itemsets: Itemsets,
        items: Items,
        classes: Any,
        heads: list[Head],
        Y: Labels,
        random: np.random.Generator,
    ) -> list[Rule]:
        """Return the chosen rules of some classes, and a default rule."""
        uncovered = np.ones(len(Y), dtype=bool)
        rules: list[Rule] = []
        if candidates:
            places, kinds, values = zip(*candidates, strict=True)
            covers = unpack(itemsets.covers[list(places)], len(Y))
            lengths = np.array([len(itemsets.items[place]) for place in places], dtype=np.float64)
            few, short, same, other, *more = self.weights
            weights = (few, short, same / len(Y), other / len(Y), *more)
            right = covers & (classes == np.array(kinds)[:, None])
            objective = Objective(lengths, np.array(kinds), covers, right, weights)
            is_local = self.search == "local"
            chosen = local_search(objective) if is_local else smooth_local_search(objective, random)
            for i in np.flatnonzero(chosen).tolist():
                conditions = body(itemsets.items[places[i]], items)
                rules.append(counted_rule(heads[kinds[i]], conditions, covers[i], Y, value=values[i]))
                uncovered &= ~covers[i]
        rest = classes[uncovered] if uncovered.any() else classes
        default = heads[int(np.bincount(rest).argmax())]
        # Labels that no rule decides are absent anyway.
        if any(label.present for label in default):
            rules.append(counted_rule(default, (), uncovered, Y))
        return rules

    def _predict(self, X: Any) -> Any:
        return self.rule_list_.predict(X)


def best_candidates(values: NDArray[np.float64], most: int) -> list[int]:
    """Return the places of the highest positive values, best first; among equal ones the first.

    >>> best_candidates(np.array([0.5, 0.0, 0.9, 0.5]), 2)
    [2, 0]
    """
    places = np.flatnonzero(values > 0)
    if len(places) > most:
        lowest = np.partition(values[places], -most)[-most]
        places = places[values[places] >= lowest]
    return places[np.argsort(-values[places], kind="stable")][:most].tolist()
