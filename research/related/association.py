"""Association rules (MMAC): mined for each label, pruned by database coverage, and merged into multi-label rules.

References: F. Thabtah, P. Cowling and Y. Peng, *MMAC: a new multi-class, multi-label associative classification
approach*, ICDM 2004; *Multiple labels associative classification*, Knowledge and Information Systems 9, 2006;
B. Li, H. Li, M. Wu and P. Li, *Multi-label classification based on association rules with application to scene
classification*, 2008.

Differs from them: an instance with several labels counts for each of them, and database coverage removes pairs of an
instance and a label; rows without labels stay in every round as counterexamples. All rules that cover an instance give
its labels by default, since the first alone, as published, gives one or two; with the first alone, instances that no
rule covers get the labels of at least half of such training instances, instead of the most frequent class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from plurule import RuleList
from plurule.model import Rule
from research.related.base import COUNT, SHARE, MultiLabelClassifier, counted_rule, make_head
from research.related.columns import Mask, read_columns
from research.related.items import Bits, Items, Itemsets, body, count, make_items, mine, pack, unpack
from research.related.labels import Labels

CHUNK = 4096
"""Candidates whose gain is computed at once."""


@dataclass(frozen=True)
class LabelRules:
    """Rules `itemset → label` in their order: confidence, support, fewer conditions, then as mined."""

    itemset: Any
    """Place of the itemset of each rule."""
    label: Any
    support: Any
    """Rows with the itemset and the label."""
    confidence: Any


def rank_rules(itemsets: Itemsets, min_rows: float, min_confidence: float) -> LabelRules:
    """Return the rules with enough support and confidence, best first."""
    coverage = count(itemsets.covers)
    confidence = itemsets.counts / np.maximum(coverage, 1)[:, None]
    itemset, label = np.nonzero((itemsets.counts >= min_rows) & (confidence >= min_confidence - 1e-12))
    support = itemsets.counts[itemset, label]
    confidence = confidence[itemset, label]
    length = np.array([len(items) for items in itemsets.items], dtype=np.int64)[itemset]
    order = np.lexsort((itemset, length, -support, -confidence))
    return LabelRules(itemset[order], label[order], support[order], confidence[order])


def database_coverage(rules: LabelRules, covers: Bits, open_pairs: Bits) -> list[int]:
    """Return the rules that are right for at least one open pair when their turn comes; close these pairs."""
    kept: list[int] = []
    for start in range(0, len(rules.label), CHUNK):
        chunk = np.arange(start, min(start + CHUNK, len(rules.label)))
        gains = count(covers[rules.itemset[chunk]] & open_pairs[rules.label[chunk]])
        for rule in chunk[gains > 0].tolist():
            cover = covers[rules.itemset[rule]]
            label = rules.label[rule]
            if (cover & open_pairs[label]).any():
                kept.append(rule)
                open_pairs[label] &= ~cover
        if not open_pairs.any():
            break
    return kept


class AssociationRules(MultiLabelClassifier):
    """Class association rules, learned in rounds from what earlier rounds leave uncovered.

    Parameters
    ----------
    min_support
        Least share of the training instances that body and label of a rule have in common.
    min_confidence
        Least share of the covered instances that have the label.
    max_conditions
        Most conditions in a body.
    n_bins
        Numeric attributes are split into this many bins, which hold about equally many instances.
    combine
        `"all"`: all rules that cover an instance give its labels; `"first"`: the first of them does, as published.
    max_rounds
        Most rounds.
    max_sets
        Mining is stopped with an error when there are more itemsets.

    Attributes
    ----------
    rule_list_ : RuleList
        The merged rules in their order.
    label_ranks_ : list of list of int
        The labels of each rule, by support.

    Examples
    --------
    >>> X, Y = [[0], [0], [1], [1]], [[1, 1], [1, 1], [0, 1], [0, 0]]
    >>> print(AssociationRules(min_support=0.25, min_confidence=0.5).fit(X, Y).rule_list_)
    y0, y1 ← x0 <= 0.5   (TP 4, FP 0)
    y1 ← x0 > 0.5   (TP 1, FP 1)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("min_support", "min_confidence"), SHARE),
        **dict.fromkeys(("max_conditions", "n_bins", "max_rounds", "max_sets"), COUNT),
        "combine": [StrOptions({"all", "first"})],
    }

    def __init__(
        self,
        *,
        min_support: float = 0.02,
        min_confidence: float = 0.7,
        max_conditions: int = 2,
        n_bins: int = 5,
        combine: str = "all",
        max_rounds: int = 10,
        max_sets: int = 500_000,
    ) -> None:
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.max_conditions = max_conditions
        self.n_bins = n_bins
        self.combine = combine
        self.max_rounds = max_rounds
        self.max_sets = max_sets

    def _learn(self, X: Any, Y: Labels) -> None:
        columns = read_columns(X)
        items = make_items(columns, self.n_bins)
        present = Y.astype(bool).T
        open_pairs = pack(present)
        ranked: dict[tuple[int, ...], dict[int, int]] = {}
        rows = np.ones(len(Y), dtype=bool)
        for _ in range(self.max_rounds):
            found = self._learn_round(items, rows, open_pairs, self.min_support * len(Y))
            for itemset, label, support in found:
                ranked.setdefault(itemset, {}).setdefault(label, support)
            remaining = unpack(open_pairs, len(Y)).any(axis=0)
            rows = remaining | ~present.any(axis=0)
            if not found or not remaining.any():
                break
        self._store(columns.attributes, items, Y, ranked)

    def _learn_round(
        self, items: Items, rows: Mask, open_pairs: Bits, min_rows: float
    ) -> list[tuple[tuple[int, ...], int, int]]:
        """Return bodies with a label and its support, learned from some rows; close the pairs they are right for."""
        if not len(items.conditions):
            return []
        packed = pack(items.masks & rows)
        min_rows = max(min_rows, 1)
        itemsets = mine(packed, open_pairs & pack(rows), min_rows, self.max_conditions, self.max_sets)
        rules = rank_rules(itemsets, min_rows, self.min_confidence)
        kept = database_coverage(rules, itemsets.covers, open_pairs)
        return [
            (itemsets.items[rules.itemset[rule]], int(rules.label[rule]), int(rules.support[rule])) for rule in kept
        ]

    def _store(self, attributes: Any, items: Items, Y: Labels, ranked: dict[tuple[int, ...], dict[int, int]]) -> None:
        """Make one rule of the labels with the same body, and a last one for what no rule covers."""
        is_last = self.combine == "first"
        rules: list[Rule] = []
        self.label_ranks_: list[list[int]] = []
        uncovered = np.ones(len(Y), dtype=bool)
        for itemset, supports in ranked.items():
            covered = items.masks[list(itemset)].all(axis=0)
            head = make_head([(label, True) for label in supports], self.label_names_)
            rules.append(counted_rule(head, body(itemset, items), covered, Y, stop=is_last))
            self.label_ranks_.append(sorted(supports, key=lambda label: -supports[label]))
            uncovered &= ~covered
        frequent = np.flatnonzero(Y[uncovered].mean(axis=0) >= 0.5).tolist() if uncovered.any() else []
        if frequent and is_last:
            head = make_head([(label, True) for label in frequent], self.label_names_)
            rules.append(counted_rule(head, (), uncovered, Y, stop=True))
            self.label_ranks_.append(frequent)
        self.rule_list_ = RuleList(tuple(rules), attributes, self.label_names_)

    def _predict(self, X: Any) -> Any:
        return self.rule_list_.predict(X)
