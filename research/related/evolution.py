"""Evolved rules: a genetic algorithm whose individuals are rules, and whose niches keep rules for different instances.

References: J. L. Ávila-Jiménez, E. Gibaja and S. Ventura, *Evolving multi-label classification rules with gene
expression programming: a preliminary study*, HAIS 2010 (a rule set per label, niching by token competition);
M. Allamanis, F. A. Tzima and P. A. Mitkas, *Effective rule-based multi-label classification with learning classifier
systems*, ICANNGA 2013 (heads that leave labels undecided, which earn a fixed credit).

Differs from them: bodies are conjunctions of at most `max_conditions` items instead of expression trees; heads hold
present labels only; there is no voting and no reinforcement learning; the genetic algorithm is that of pymoo.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from pymoo.algorithms.soo.nonconvex.ga import GA
from pymoo.operators.crossover.ux import UniformCrossover
from pymoo.optimize import minimize
from sklearn.utils._param_validation import Interval

from plurule import RuleList
from plurule.model import Rule
from research.related.base import COUNT, NUMBER, SEED, SHARE, MultiLabelClassifier, counted_rule, make_head
from research.related.columns import read_columns
from research.related.evolution_operators import ChangeRule, Niche, RandomRules, RuleProblem, TokenCompetition
from research.related.items import Items, body, make_items
from research.related.labels import Labels


class EvolvedRules(MultiLabelClassifier):
    """Rule sets that are evolved, one for each label.

    Parameters
    ----------
    population, generations
        Rules that are kept, and how often new ones are made.
    max_conditions
        Most conditions in a body.
    beta
        The F-measure that rules are evaluated by: a smaller value prefers precise rules.
    multi_label_heads
        Whether heads may hold further labels.
    credit
        What a label earns that a head leaves undecided: the precision from which on it is worth to be in the head.
    min_precision
        Least precision of a rule that is kept in the end.
    n_bins
        Numeric attributes are split into this many bins, which hold about equally many instances.
    random_state
        Random seed.

    Attributes
    ----------
    rule_list_ : RuleList
        The rules of all labels; all that cover an instance give its labels.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "population": [Interval(Integral, 2, None, closed="left")],
        **dict.fromkeys(("generations", "max_conditions", "n_bins"), COUNT),
        **dict.fromkeys(("credit", "min_precision"), SHARE),
        "beta": NUMBER,
        "multi_label_heads": ["boolean"],
        "random_state": SEED,
    }

    def __init__(
        self,
        *,
        population: int = 40,
        generations: int = 30,
        max_conditions: int = 4,
        beta: float = 0.5,
        multi_label_heads: bool = True,
        credit: float = 0.7,
        min_precision: float = 0.6,
        n_bins: int = 5,
        random_state: int = 0,
    ) -> None:
        self.population = population
        self.generations = generations
        self.max_conditions = max_conditions
        self.beta = beta
        self.multi_label_heads = multi_label_heads
        self.credit = credit
        self.min_precision = min_precision
        self.n_bins = n_bins
        self.random_state = random_state

    def _learn(self, X: Any, Y: Labels) -> None:
        columns = read_columns(X)
        items = make_items(columns, self.n_bins)
        masks = np.vstack([items.masks, np.ones((1, len(Y)), dtype=bool)])
        rules: list[Rule] = []
        for label in np.flatnonzero(Y.any(axis=0)).tolist() if items.conditions else ():
            niche = Niche(masks, Y, label, self.max_conditions, self.beta, self.credit, self.multi_label_heads)
            rules += self._evolve(niche, items)
        self.rule_list_ = RuleList(tuple(rules), columns.attributes, self.label_names_)

    def _evolve(self, niche: Niche, items: Items) -> list[Rule]:
        """Return the rules of one label that get tokens in the last generation and are precise enough."""
        algorithm = GA(
            pop_size=self.population,
            sampling=RandomRules(),
            crossover=UniformCrossover(),
            mutation=ChangeRule(prob=1.0),
            survival=TokenCompetition(),
            eliminate_duplicates=True,
        )
        end = ("n_gen", self.generations)
        result = minimize(RuleProblem(niche), algorithm, end, seed=self.random_state, copy_algorithm=False)
        genes = result.pop.get("X")
        covers = niche.covers(genes)
        values = niche.compete(genes, niche.values(genes))
        rules: list[Rule] = []
        for i in np.argsort(-values, kind="stable").tolist():
            right = niche.Y[covers[i], niche.label].mean() if covers[i].any() else 0.0
            if values[i] > 0 and right >= self.min_precision:
                labels = [niche.label, *np.flatnonzero(niche.heads(genes[i : i + 1])[0]).tolist()]
                head = make_head([(label, True) for label in labels], self.label_names_)
                itemset = sorted({item for item in genes[i, : niche.n_slots].tolist() if item < niche.n_items})
                rules.append(counted_rule(head, body(itemset, items), covers[i], niche.Y, value=float(values[i])))
        return rules

    def _predict(self, X: Any) -> Any:
        return self.rule_list_.predict(X)
