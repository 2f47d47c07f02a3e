"""What the genetic algorithm of pymoo needs to evolve rules: see `research.related.evolution`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling
from pymoo.core.survival import Survival

from research.related.columns import Mask
from research.related.labels import Labels

Genes = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Niche:
    """What the rules of one label are evaluated on.

    Genes: the item of each condition (or the number of items, for none), then per label whether the head has it.
    """

    masks: Mask
    """Items × instances; the last row is true everywhere."""
    Y: Labels
    label: int
    n_slots: int
    beta: float
    credit: float
    multi_label_heads: bool

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.masks) - 1

    def covers(self, genes: Genes) -> Mask:
        """Return the instances that each rule covers."""
        return self.masks[genes[:, : self.n_slots]].all(axis=1)

    def values(self, genes: Genes) -> Values:
        """Return the F-measure for the label, plus what further labels of the head are better than undecided."""
        covers = self.covers(genes)
        right = covers @ self.Y.astype(np.int64)
        coverage = covers.sum(axis=1)
        weight = self.beta**2
        f_measure = (1 + weight) * right[:, self.label] / (coverage + weight * self.Y[:, self.label].sum())
        precision = right / np.maximum(coverage, 1)[:, None]
        return f_measure + (self.heads(genes) * (precision - self.credit)).sum(axis=1) / self.Y.shape[1]

    def heads(self, genes: Genes) -> Mask:
        """Return the further labels of each head."""
        heads = genes[:, self.n_slots :].astype(bool)
        heads[:, self.label] = False
        return heads & self.multi_label_heads

    def compete(self, genes: Genes, values: Values) -> Values:
        """Return the values times the share of tokens that each rule gets of those it could get.

        The tokens are the instances with the label; each goes to the best rule that covers it.
        """
        tokens = self.covers(genes) & self.Y[:, self.label].astype(bool)
        order = np.argsort(-values, kind="stable")
        taken = np.zeros(tokens.shape[1], dtype=bool)
        shares = np.zeros(len(genes))
        for rule in order:
            shares[rule] = (tokens[rule] & ~taken).sum() / max(tokens[rule].sum(), 1)
            taken |= tokens[rule]
        return values * shares

    def items_of_random_instances(self, n: int, random: np.random.Generator) -> Genes:
        """Draw instances with the label, and an item that each satisfies; the number of items where none is."""
        rows = random.choice(np.flatnonzero(self.Y[:, self.label]), n)
        chances = random.random((self.n_items, n)) * self.masks[:-1, rows]
        return np.where(chances.max(axis=0, initial=0) > 0, chances.argmax(axis=0), self.n_items)


class RuleProblem(Problem):
    """The search for the rules of one label, in the terms of pymoo: values are minimised."""

    def __init__(self, niche: Niche) -> None:
        upper = np.array([niche.n_items] * niche.n_slots + [1] * niche.Y.shape[1])
        super().__init__(n_var=len(upper), n_obj=1, xl=0, xu=upper, vtype=int)
        self.niche = niche

    def _evaluate(self, X: Any, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        out["F"] = -self.niche.values(X)[:, None]


class RandomRules(Sampling):
    """Rules with up to two conditions that a random instance with the label satisfies."""

    def _do(self, problem: Any, n_samples: int, *args: Any, random_state: Any = None, **kwargs: Any) -> Genes:
        niche: Niche = problem.niche
        genes = np.full((n_samples, problem.n_var), niche.n_items)
        genes[:, niche.n_slots :] = 0
        for slot in range(min(2, niche.n_slots)):
            genes[:, slot] = niche.items_of_random_instances(n_samples, random_state)
        return genes


class ChangeRule(Mutation):
    """Replace or remove a condition, and add or remove labels of the head."""

    def _do(self, problem: Any, X: Genes, *args: Any, random_state: Any = None, **kwargs: Any) -> Genes:
        niche: Niche = problem.niche
        genes = X.copy()
        rows = np.arange(len(X))
        slots = random_state.integers(niche.n_slots, size=len(X))
        drawn = niche.items_of_random_instances(len(X), random_state)
        removed = random_state.random(len(X)) < 0.2
        genes[rows, slots] = np.where(removed, niche.n_items, drawn)
        n_labels = niche.Y.shape[1]
        flipped = random_state.random((len(X), n_labels)) < 1 / n_labels
        genes[:, niche.n_slots :] ^= flipped
        return genes


class TokenCompetition(Survival):
    """Keep the rules that do best after token competition; of equal rules only one gets tokens."""

    def _do(self, problem: Any, pop: Any, *args: Any, n_survive: int | None = None, **kwargs: Any) -> Any:
        values = problem.niche.compete(pop.get("X"), -pop.get("F")[:, 0])
        return pop[np.argsort(-values, kind="stable")[:n_survive]]
