"""Which labels go together, and where: patterns of labels, found on some rows and tested on others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from plurule._attached import PatternsMethods
from plurule.data.inputs import labelled_data
from plurule.data.splitting import iterative_split
from plurule.errors import DataError
from plurule.inspection.dependencies import dependencies
from plurule.inspection.evidence import holm
from plurule.inspection.label_graph import LabelGraph
from plurule.inspection.pattern_search import Candidate, Literals, candidates, choose, independence, places
from plurule.learning.problem import Problem
from plurule.model import Assignment, Attribute, Head, LabelCondition, Rule, RuleList
from plurule.model.frame import Backend, to_frame, to_records
from plurule.model.naming import excerpt
from plurule.parameters import Allowed, check_jobs, check_parameters, number, whole
from plurule.prediction.decide import Columns
from plurule.prediction.recurrence import Recurrence
from plurule.selection.folds import problem_of, rows_of

FEWEST_ROWS = 20
SIGNIFICANT = 0.05
CONFIDENT = 0.5
"""A pattern is written with as few labels in its body as it takes to be true more often than not."""

ALLOWED: Allowed = {
    "k": [whole(1)],
    "max_labels": [whole(2)],
    "max_conditions": [whole(0)],
    "exclusions": ["boolean"],
    "min_support": [number(0, closed="neither")],
    "test_size": [number(0, 1, closed="neither")],
    "resamples": [whole(0)],
    "random_state": [None, whole(0, 2**32 - 1)],
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """Labels that go together where some conditions hold, as a rule, counted on rows that it was not found on.

    Its *parts* are the conditions on attributes, taken together, and each label of body and head.

    Examples
    --------
    >>> from plurule.datasets import load_canteen_dishes
    >>> found = discover(load_canteen_dishes(), k=2, max_conditions=0, resamples=0)
    >>> found[1].rule.to_text(), found[1].coverage, found[1].confidence, round(found[1].lift, 2)
    ('sulphites ← alcohol', 200.0, 0.835, 5.0)
    """

    rule: Rule
    """The pattern as a rule: at least two labels in the head, or a label in the body."""
    coverage: float
    """Weight of the test rows on which the body holds, its labels being those of the data."""
    support: float
    """Weight of the test rows on which body and head hold."""
    lift: float
    """The confidence, divided by what it would be if the labels of the head were independent of the body and of each
    other: the product of the shares that they have among all test rows."""
    p_value: float
    """The largest p-value of Fisher's exact test (one-sided) of each part against all the others together."""
    p_holm: float
    """The same, corrected for the number of patterns tested (Holm)."""
    stability: float | None = None
    """The share of resamples of the rows it was found on in which it was found again; None if none were drawn."""

    @property
    def confidence(self) -> float:
        """Share of the test rows that the body covers on which the whole head holds (0 if it covers none)."""
        return self.support / self.coverage if self.coverage else 0.0

    @property
    def is_significant(self) -> bool:
        """Whether the corrected p-value is at most 0.05."""
        return self.p_holm <= SIGNIFICANT

    def __str__(self) -> str:
        found = "" if self.stability is None else f", found again in {self.stability:.0%}"
        counted = f"{self.confidence:.0%} of {self.coverage:g}, lift {self.lift:.2f}, p {self.p_holm:.2g}{found}"
        return f"{self.rule.to_text()}   ({counted})"


@dataclass(frozen=True, repr=False, eq=False)
class Patterns(PatternsMethods, Sequence[Pattern]):
    """Patterns of labels, in the order in which they were chosen: the most that is new first.

    Examples
    --------
    >>> from plurule.datasets import load_canteen_dishes
    >>> found = discover(load_canteen_dishes(), k=2, max_conditions=0, resamples=0)
    >>> found.rows_searched, found.rows_tested
    (2000, 2000)
    >>> print(found.significant())
    vegetarian ← vegan   (97% of 415, lift 1.87, p 5.8e-117)
    sulphites ← alcohol   (84% of 200, lift 5.00, p 3.9e-113)
    """

    patterns: tuple[Pattern, ...]
    """What was found."""
    attributes: Sequence[Attribute]
    """The columns of the data, in order."""
    labels: tuple[str, ...]
    """Names of the labels, in order."""
    rows_searched: int
    """How many rows the patterns were looked for on."""
    rows_tested: int
    """How many others they were counted on."""

    @overload
    def __getitem__(self, index: int) -> Pattern: ...
    @overload
    def __getitem__(self, index: slice) -> Patterns: ...
    def __getitem__(self, index: int | slice) -> Pattern | Patterns:
        return replace(self, patterns=self.patterns[index]) if isinstance(index, slice) else self.patterns[index]

    def __len__(self) -> int:
        return len(self.patterns)

    def __str__(self) -> str:
        return "\n".join(map(str, self.patterns)) or "(no labels go together on the rows that were searched)"

    def __repr__(self) -> str:
        significant = sum(pattern.is_significant for pattern in self)
        title = f"Patterns: {len(self)}, {significant} significant on {self.rows_tested} rows that were not searched"
        return excerpt(title, map(str, self), len(self), "patterns")

    def significant(self, alpha: float = SIGNIFICANT) -> Patterns:
        """Only the patterns whose corrected p-value is at most `alpha`."""
        return replace(self, patterns=tuple(p for p in self.patterns if p.p_holm <= alpha))

    def rule_list(self) -> RuleList:
        """The patterns as rules, one after the other; not a list to predict with."""
        return RuleList(tuple(pattern.rule for pattern in self), self.attributes, self.labels)

    def to_graph(self) -> LabelGraph:
        """The labels and what the patterns say about them as a graph."""
        return dependencies(self.rule_list()).to_graph()

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """One row per pattern, as a frame of the given library (pandas or polars)."""
        return to_frame(self._columns(), backend)

    def to_records(self) -> list[dict[str, Any]]:
        """The rows of `to_frame` as dictionaries."""
        return to_records(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        texts = [pattern.rule.to_text().partition(" ←") for pattern in self]
        counted = ("coverage", "support", "confidence", "lift", "p_value", "p_holm")
        columns: dict[str, list[Any]] = {
            "pattern": list(range(1, len(self) + 1)),
            "head": [text[0] for text in texts],
            "body": [text[2].strip() for text in texts],
        }
        columns |= {name: [getattr(pattern, name) for pattern in self] for name in counted}
        if any(pattern.stability is not None for pattern in self):
            columns["stability"] = [pattern.stability for pattern in self]
        return columns


def discover(
    X: Any,
    Y: Any = None,
    *,
    k: int = 10,
    max_labels: int = 4,
    max_conditions: int = 2,
    exclusions: bool = False,
    min_support: float = 5,
    test_size: float = 0.5,
    resamples: int = 10,
    sample_weight: ArrayLike | None = None,
    label_names: Sequence[str] | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Patterns:
    """Find the labels that go together, and where: the best patterns, whatever a predictive rule list looks like.

    Patterns are looked for on a part of the rows; all that is said of them is counted on the others.

    Parameters
    ----------
    X
        A data set, or the attributes: a frame, an array, a sparse matrix, a `Table`; as for `RuleListClassifier.fit`.
    Y
        The labels, 0/1. Left out if `X` is a data set.
    k
        At most so many patterns.
    max_labels
        Most labels of a pattern.
    max_conditions
        Most conditions on attributes; with 0, patterns are about labels alone.
    exclusions
        Whether labels may also be absent: `¬B ← A` says that A rules B out.
    min_support
        Least weight of the rows (their number, if they have none) among those searched on which a pattern holds.
    test_size
        Share of the rows that patterns are not looked for on, but tested on; both parts keep the share of every label.
    resamples
        How often the search is repeated on rows drawn with replacement, to see whether a pattern is found again.
    sample_weight
        Weight of each row. It counts in all shares; in tests a row counts once, whatever it weighs.
    label_names
        Names of the labels, where `Y` has none.
    random_state
        Seed of what is left to chance: the parts and the resamples. None for another one each time.
    n_jobs
        Threads; -1 for all cores. The patterns do not depend on it.

    Examples
    --------
    >>> from plurule.datasets import load_world_flags
    >>> for pattern in discover(load_world_flags(), k=2, max_conditions=0, exclusions=True, resamples=0):
    ...     print(pattern)
    ¬green ← blue   (71% of 49, lift 1.24, p 0.0051)
    ¬yellow, white ←   (55% of 97, lift 1.35, p 2.7e-10)
    """
    check_parameters(ALLOWED, {name: value for name, value in locals().items() if name in ALLOWED})
    data, _ = labelled_data(X, Y, sample_weight, label_names)
    if len(data.label_names) < 2:
        raise DataError("discover looks for labels that go together, but Y has only one; give a column per label")
    problem = problem_of(data)
    rows = np.flatnonzero(problem.weights > 0)
    if len(rows) < FEWEST_ROWS:
        few = f"discover needs at least {FEWEST_ROWS} rows, got {len(rows)}"
        raise DataError(f"{few}: patterns are looked for on some rows and tested on others")
    chance = np.random.RandomState(random_state)
    parts = iterative_split(problem.Y[rows], [1 - test_size, test_size], random_state=chance)
    searched, tested = (rows_of(problem, rows[part]) for part in parts)
    n_searched, n_tested = searched.n_instances, tested.n_instances
    if not n_searched or not n_tested:
        raise DataError(
            f"test_size={test_size} of {len(rows)} rows leaves nothing to {'search' if n_tested else 'test'}"
        )
    asked = k, max_labels, max_conditions, exclusions, min_support, check_jobs(n_jobs)
    rules = search(searched, *asked)
    counted = [count(rule, tested) for rule in rules]
    corrected = holm([pattern.p_value for pattern in counted])
    patterns = [replace(pattern, p_holm=p) for pattern, p in zip(counted, corrected, strict=True)]
    if resamples:
        draws = [chance.randint(n_searched, size=n_searched) for _ in range(resamples)]
        again = [map(_undirected, search(rows_of(searched, np.sort(draw)), *asked)) for draw in draws]
        shares = Recurrence(searched.table).shares(map(_undirected, rules), again)
        patterns = [replace(p, stability=share) for p, share in zip(patterns, shares, strict=True)]
    return Patterns(tuple(patterns), data.attributes, data.label_names, n_searched, n_tested)


def search(
    problem: Problem, k: int, max_labels: int, max_conditions: int, exclusions: bool, min_support: float, n_jobs: int
) -> list[Rule]:
    """The best patterns of some rows, as rules; those that might be chance on these rows are left out."""
    literals = Literals.of(problem, exclusions)
    where = places(problem, max_conditions, n_jobs)
    found = candidates(literals, where, max_labels, min_support / float(problem.weights.sum()))
    p_values = independence([literals.parts(candidate) for candidate in found])
    likely = [candidate for candidate, p in zip(found, p_values, strict=True) if p <= SIGNIFICANT]
    return [_rule(candidate, literals, problem.labels) for candidate in islice(choose(likely, problem.n_labels), k)]


def _rule(candidate: Candidate, literals: Literals, labels: Sequence[str]) -> Rule:
    """The pattern with its rarest labels in the body, as few of them as make it true more often than not."""
    shares = literals.holds[:, list(candidate.literals)].T @ literals.weights
    order = [candidate.literals[i] for i in np.argsort(shares, kind="stable").tolist()]
    order.sort(key=lambda literal: literal >= literals.n_labels)  # what is present comes first
    here = literals.weights[candidate.rows].sum()
    premises = 0
    for premises in range(len(order)):
        covered = candidate.covered & literals.all_hold(order[:premises])
        if here >= CONFIDENT * literals.weights[covered].sum():
            break
    made = [(labels[i % literals.n_labels], i % literals.n_labels, i < literals.n_labels) for i in order]
    body = tuple(LabelCondition(*one) for one in made[:premises])
    return Rule(Head(tuple(Assignment(*one) for one in made[premises:])), (*body, *candidate.place))


def _undirected(rule: Rule) -> Rule:
    """The pattern with all its labels in the head: whether it is written as A ← B or B ← A does not matter."""
    labels = [Assignment(one.name, one.index, one.present) for one in (*rule.label_conditions, *rule.head)]
    return Rule(Head(tuple(labels)), tuple(c for c in rule.body if not isinstance(c, LabelCondition)))


def count(rule: Rule, problem: Problem) -> Pattern:
    """A pattern counted and tested on some rows."""
    truth, columns, weights = problem.Y.view(np.int8), Columns(problem.table), problem.weights
    conditions = [c for c in rule.body if not isinstance(c, LabelCondition)]
    parts = [truth[:, one.index] == one.present for one in (*rule.label_conditions, *rule.head)]
    if conditions:
        parts.append(columns.passing(conditions, truth)[-1])
    hold = np.stack(parts)
    coverage = float(weights[columns.passing(rule.body, truth)[-1]].sum())
    support = float(weights[hold.all(axis=0)].sum())
    head = [weights[truth[:, one.index] == one.present].sum() / weights.sum() for one in rule.head.stated]
    expected = coverage * float(np.prod(head))
    p_value = float(independence([hold])[0])
    return Pattern(rule, coverage, support, support / expected if expected else 0.0, p_value, p_value)
