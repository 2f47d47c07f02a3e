"""Which labels go together, and where: patterns of labels, found on some rows and tested on others.

A pattern has parts: the conditions on attributes, taken together, and each of its labels. It is worth its leverage: by
how much everything holds together more often than if one part were independent of the others, for the part of which
that is true the least (Webb, *Self-sufficient itemsets*, 2010). A label that is merely frequent adds nothing to that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plurule._learning import native
from plurule._learning.finish import readable
from plurule._learning.problem import MinPrecision, Options, Problem, check_weights
from plurule._parameters import Allowed, check_jobs, check_parameters, number, whole
from plurule._prediction.apply import ColumnCache
from plurule._rows.rows import covered_bits, unpack, warn_of_copies
from plurule._selection.pool import bodies_of
from plurule.data.inputs import labelled_data
from plurule.data.splitting import copies, iterative_split
from plurule.data.targets import dense
from plurule.errors import DataError
from plurule.heuristics import FMeasure, Gain, Heuristic
from plurule.inspection.data import Records
from plurule.inspection.dependencies import LabelGraph, dependencies
from plurule.inspection.evidence import Recurrence, holm
from plurule.lifts import KLN, as_table
from plurule.model import Assignment, Attribute, Condition, Head, LabelCondition, Rule, RuleList
from plurule.model.condition import join
from plurule.model.naming import excerpt

Mask = NDArray[np.bool_]
Shares = NDArray[np.float64]

HEURISTICS: tuple[Heuristic, ...] = (Gain(0.2), Gain(0.4), FMeasure(1.0))
"""Heuristics of the lists whose bodies are the places to look at."""
RULES_PER_LIST = 30
PAIRS_LEARNED = 30
"""The pairs of labels with most leverage everywhere are learned like labels, which finds where they go together."""
PAIRS_PER_PLACE = 25
GROWN = 300
"""Pairs to which further labels are added, over all places."""
MOST_CANDIDATES = 1000
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
    >>> patterns = discover(load_canteen_dishes(), k=2, max_conditions=0, resamples=0)
    >>> pattern = patterns[1]
    >>> pattern.rule.to_text(), pattern.coverage, pattern.confidence, round(pattern.interest, 2)
    ('sulphites ← alcohol', 200.0, 0.785, 4.7)
    """

    rule: Rule
    """The pattern as a rule: at least two labels in the head, or a label in the body."""
    coverage: float
    """Weight of the test rows on which the body holds, its labels being those of the data."""
    support: float
    """Weight of the test rows on which body and head hold."""
    interest: float
    """The interest factor of association rules: the confidence, divided by the share of all test rows on which the
    whole head holds."""
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
        again = "" if self.stability is None else f", found again in {self.stability:.0%}"
        counted = (
            f"{self.confidence:.0%} of {self.coverage:g}, interest {self.interest:.2f}, p {self.p_holm:.2g}{again}"
        )
        return f"{self.rule.to_text()}   ({counted})"


@dataclass(frozen=True, repr=False, eq=False)
class Patterns(Records, Sequence[Pattern]):
    """Patterns of labels, in the order in which they were chosen: the most that is new first.

    Examples
    --------
    >>> from plurule.datasets import load_canteen_dishes
    >>> patterns = discover(load_canteen_dishes(), k=2, max_conditions=0, resamples=0)
    >>> patterns.rows_searched, patterns.rows_tested
    (1999, 2001)
    >>> print(patterns.significant())
    vegetarian ← vegan   (98% of 415, interest 1.88, p 1.4e-120)
    sulphites ← alcohol   (78% of 200, interest 4.70, p 3.8e-97)
    """

    patterns: tuple[Pattern, ...]
    """The patterns."""
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

    def to_graph(self) -> LabelGraph:
        """Return the labels and what the patterns say about them as a graph."""
        rules = tuple(pattern.rule for pattern in self)
        return dependencies(RuleList(rules, self.attributes, self.labels)).to_graph()

    def to_records(self) -> list[dict[str, Any]]:
        """Return one row per pattern, as dictionaries."""
        records = []
        for position, pattern in enumerate(self, start=1):
            record = {"pattern": position, "head": str(pattern.rule.head), "body": join(pattern.rule.body)}
            for name in ("coverage", "support", "confidence", "interest", "p_value", "p_holm"):
                record[name] = getattr(pattern, name)
            if pattern.stability is not None:
                record["stability"] = pattern.stability
            records.append(record)
        return records


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

    Patterns are searched on a part of the rows and counted on the others.

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
        Random seed of the parts and the resamples. None for another one each time.
    n_jobs
        Threads; -1 for all cores. The patterns do not depend on it.

    Examples
    --------
    >>> from plurule.datasets import load_world_flags
    >>> for pattern in discover(load_world_flags(), k=2, max_conditions=0, exclusions=True, resamples=0):
    ...     print(pattern)
    ¬white ← yellow   (60% of 42, interest 2.16, p 7.9e-10)
    ¬blue ← green   (76% of 41, interest 1.51, p 1.6e-05)
    """
    check_parameters(ALLOWED, {name: value for name, value in locals().items() if name in ALLOWED})
    data, _ = labelled_data(X, Y, sample_weight, label_names)
    if len(data.label_names) < 2:
        raise DataError("discover looks for labels that go together, but Y has only one; give a column per label")
    weights = check_weights(data.weights, len(data), len(data.label_names))
    problem = Problem(data.X, data.label_names, dense(data.Y).view(np.uint8), weights)
    rows = np.flatnonzero(problem.weights > 0)
    if len(rows) < FEWEST_ROWS:
        few = f"discover needs at least {FEWEST_ROWS} rows, got {len(rows)}"
        raise DataError(f"{few}: patterns are looked for on some rows and tested on others")
    rng = np.random.RandomState(random_state)
    groups = copies(problem.table[rows], problem.Y[rows])
    warn_of_copies(groups)
    parts = iterative_split(problem.Y[rows], [1 - test_size, test_size], random_state=rng, groups=groups)
    searched, tested = (problem.take(rows[part]) for part in parts)
    n_searched, n_tested = searched.n_instances, tested.n_instances
    if not n_searched or not n_tested:
        raise DataError(
            f"test_size={test_size} of {len(rows)} rows leaves nothing to {'search' if n_tested else 'test'}"
        )
    options = SearchOptions(k, max_labels, max_conditions, exclusions, min_support, check_jobs(n_jobs))
    rules = search(searched, options)
    counted = [count(rule, tested) for rule in rules]
    corrected = holm([pattern.p_value for pattern in counted])
    patterns = [replace(pattern, p_holm=p) for pattern, p in zip(counted, corrected, strict=True)]
    if resamples:
        draws = [rng.randint(n_searched, size=n_searched) for _ in range(resamples)]
        again = [map(_undirected, search(searched.take(np.sort(draw)), options)) for draw in draws]
        shares = Recurrence(searched.table).shares(map(_undirected, rules), again)
        patterns = [replace(p, stability=share) for p, share in zip(patterns, shares, strict=True)]
    return Patterns(tuple(patterns), data.attributes, data.label_names, n_searched, n_tested)


class SearchOptions(NamedTuple):
    """Parameters of `discover` that the search needs."""

    k: int
    max_labels: int
    max_conditions: int
    exclusions: bool
    min_support: float
    n_jobs: int


def search(problem: Problem, options: SearchOptions) -> list[Rule]:
    """Return the best patterns of some rows, as rules; those that might be rng on these rows are left out."""
    literals = Literals.of(problem, options.exclusions)
    where = places(problem, options.max_conditions, options.n_jobs)
    min_share = options.min_support / float(problem.weights.sum())
    patterns = candidates(literals, where, options.max_labels, min_share)
    p_values = independence([literals.parts(candidate) for candidate in patterns])
    likely = [candidate for candidate, p in zip(patterns, p_values, strict=True) if p <= SIGNIFICANT]
    chosen = islice(choose(likely, problem.n_labels), options.k)
    return [_rule(candidate, literals, problem.labels) for candidate in chosen]


def _rule(candidate: Candidate, literals: Literals, labels: Sequence[str]) -> Rule:
    """Return the pattern with its rarest labels in the body, as few of them as make it true more often than not."""
    shares = literals.holds[:, list(candidate.literals)].T @ literals.weights
    order = [candidate.literals[i] for i in np.argsort(shares, kind="stable").tolist()]
    order.sort(key=lambda literal: literal >= literals.n_labels)  # what is present comes first
    here = literals.weights[candidate.rows].sum()
    premises = 0
    for premises in range(len(order)):
        covered = candidate.covered & literals.all_hold(order[:premises])
        if here >= CONFIDENT * literals.weights[covered].sum():
            break
    stated = [(labels[i % literals.n_labels], i % literals.n_labels, i < literals.n_labels) for i in order]
    body = tuple(LabelCondition(*label) for label in stated[:premises])
    return Rule(Head(tuple(Assignment(*label) for label in stated[premises:])), (*body, *candidate.place))


def _undirected(rule: Rule) -> Rule:
    """Return the pattern with all its labels in the head: whether it is written as A ← B or B ← A does not matter."""
    labels = [Assignment(a.name, a.index, a.present) for a in (*rule.label_conditions, *rule.head)]
    return Rule(Head(tuple(labels)), rule.attribute_conditions)


def count(rule: Rule, problem: Problem) -> Pattern:
    """Return a pattern counted and tested on some rows."""
    truth = problem.Y.view(np.int8)
    columns = ColumnCache(problem.table)
    weights = problem.weights
    parts = [truth[:, label.index] == label.present for label in (*rule.label_conditions, *rule.head)]
    if rule.attribute_conditions:
        parts.append(columns.passing(rule.attribute_conditions, truth)[-1])
    hold = np.stack(parts)
    coverage = float(weights[columns.passing(rule.body, truth)[-1]].sum())
    support = float(weights[hold.all(axis=0)].sum())
    head = np.all([truth[:, a.index] == a.present for a in rule.head.stated], axis=0)
    expected = coverage * float(weights[head].sum() / weights.sum())
    p_value = float(independence([hold])[0])
    return Pattern(rule, coverage, support, support / expected if expected else 0.0, p_value, p_value)


# Search --------------------------------------------------------------------------------------------------------------


def longer(labels: int) -> float:
    """Return the factor of the leverage: a pattern of more labels may have somewhat less of it."""
    return 1 + 0.3 * math.log(labels)


@dataclass(frozen=True)
class Literals:
    """Labels, and their absence where that is asked for, as columns that are true or not."""

    holds: Mask
    n_labels: int
    weights: Shares
    """Weights of the rows; they add up to 1."""

    @staticmethod
    def of(problem: Problem, absent: bool) -> Literals:
        present = problem.Y.astype(bool)
        holds = np.hstack([present, ~present]) if absent else present
        return Literals(holds, problem.n_labels, problem.weights / problem.weights.sum())

    def share(self, rows: Mask) -> Shares:
        """Share of all rows that are among the given ones and have each literal."""
        return np.asarray(self.weights[rows] @ self.holds[rows])

    def together(self, rows: Mask, kept: NDArray[np.intp]) -> Shares:
        """Share of all rows that are among the given ones and have both literals, for each pair."""
        here = self.holds[np.ix_(rows, kept)].astype(np.float64)
        return np.asarray((here * self.weights[rows, None]).T @ here)

    def all_hold(self, literals: Sequence[int]) -> Mask:
        return np.asarray(self.holds[:, list(literals)].all(axis=1))

    def parts(self, candidate: Candidate) -> Mask:
        """Return, per part of a candidate, where it holds."""
        hold = self.holds[:, list(candidate.literals)].T
        return np.vstack([hold, candidate.covered]) if candidate.place else hold

    def clashes(self, kept: NDArray[np.intp]) -> Mask:
        """Pairs that are no pattern: a literal with itself or its opposite, and two labels that are absent."""
        label, absent = kept % self.n_labels, kept >= self.n_labels
        return (label[:, None] == label) | (absent[:, None] & absent)


@dataclass(frozen=True)
class Candidate:
    """Labels that may go together, and where."""

    place: tuple[Condition, ...]
    literals: tuple[int, ...]
    value: float
    covered: Mask
    """Rows on which the conditions hold."""
    rows: Mask
    """Rows on which conditions and labels hold."""

    def labels(self, n_labels: int) -> NDArray[np.intp]:
        """Return the labels it is about, present or absent, in order."""
        return np.sort(np.array(self.literals, dtype=np.intp) % n_labels)


def places(problem: Problem, max_conditions: int, n_jobs: int) -> list[Any]:
    """Bodies on attributes to look at, with the rows that they cover: those of some lists, and what they begin with."""
    bodies_by_rows: dict[bytes, tuple[tuple[Condition, ...], Mask]] = {}
    bodies = bodies_of(_lists(problem, max_conditions, n_jobs) if max_conditions else ())
    (holds,) = covered_bits([bodies], problem.table)
    for body, rows in zip(bodies, unpack(holds, len(problem.table)), strict=True):
        other = bodies_by_rows.get(rows.tobytes())
        if rows.any() and (other is None or len(body) < len(other[0])):
            bodies_by_rows[rows.tobytes()] = body, rows
    return list(bodies_by_rows.values())


def _lists(problem: Problem, max_conditions: int, n_jobs: int) -> Iterator[RuleList]:
    """Lists for the labels, and for the pairs of labels that go together most."""
    literals = Literals.of(problem, absent=False)
    everywhere = np.ones(problem.n_instances, dtype=bool)
    pairs = [pair for _, pair in _pairs(literals, (), everywhere, 0.0, PAIRS_LEARNED)]
    targets: list[tuple[NDArray[np.uint8], Heuristic]] = [(problem.Y, heuristic) for heuristic in HEURISTICS]
    if pairs:
        together = np.stack([literals.all_hold(pair) for pair in pairs], axis=1).astype(np.uint8)
        targets.append((together, FMeasure(1.0)))
    for target, heuristic in targets:
        weights = check_weights(problem.weights, problem.n_instances, target.shape[1])
        labels = tuple(f"y{i}" for i in range(target.shape[1]))
        options = Options(
            lift=as_table(KLN(k=0.07), target.shape[1]),
            heuristic=heuristic,
            min_precision=MinPrecision(0.2),
            n_rules=RULES_PER_LIST,
            max_conditions=max_conditions,
            min_coverage=3,
            max_bins=32,
        )
        learned = native.learn_list(Problem(problem.table, labels, target, weights), options, n_jobs=n_jobs)
        yield readable(learned, problem.table)


def candidates(literals: Literals, where: list[Any], max_labels: int, min_share: float) -> list[Candidate]:
    """Patterns of two labels and more, the most valuable first."""
    pairs = [
        (value, place, rows, pair)
        for place, rows in where
        for value, pair in _pairs(literals, place, rows, min_share, PAIRS_PER_PLACE)
    ]
    pairs.sort(key=lambda pair: -pair[0])
    patterns: dict[tuple[Any, ...], Candidate] = {}
    for i, (value, place, rows, pair) in enumerate(pairs):
        most = max_labels if i < GROWN else 2
        grown, value = _grow(literals, place, rows, pair, value, most, min_share)
        key = place, grown
        everything = rows & literals.all_hold(grown)
        patterns.setdefault(key, Candidate(place, grown, value * longer(len(grown)), rows, everything))
    return sorted(patterns.values(), key=lambda candidate: -candidate.value)[:MOST_CANDIDATES]


def _pairs(
    literals: Literals, place: tuple[Condition, ...], rows: Mask, min_share: float, most: int
) -> list[tuple[float, tuple[int, int]]]:
    """Return the pairs of literals with most leverage in a place, with it."""
    here = literals.share(rows)
    kept = np.flatnonzero(here >= max(min_share, 1e-12))
    if len(kept) < 2:
        return []
    all_rows = np.ones(len(rows), dtype=bool)
    overall, here = literals.share(all_rows)[kept], here[kept]
    both = literals.together(rows, kept)
    expected = np.maximum(np.outer(overall, here), np.outer(here, overall))
    if place:
        covered = float(literals.weights[rows].sum())
        expected = np.maximum(expected, covered * literals.together(all_rows, kept))
    leverage = np.where(literals.clashes(kept) | (both < min_share - 1e-12), -1.0, both - expected)
    first, second = np.triu_indices(len(kept), 1)
    values = leverage[first, second]
    order = np.argsort(-values, kind="stable")[:most]
    return [(float(values[i]), (int(kept[first[i]]), int(kept[second[i]]))) for i in order.tolist() if values[i] > 1e-9]


def _grow(
    literals: Literals,
    place: tuple[Condition, ...],
    rows: Mask,
    grown: tuple[int, ...],
    value: float,
    max_labels: int,
    min_share: float,
) -> tuple[tuple[int, ...], float]:
    """Add the literal that keeps most of the leverage, as long as the longer pattern is worth more."""
    weights = literals.weights
    everything = literals.share(np.ones(len(rows), dtype=bool))
    while len(grown) < max_labels:
        hold = literals.all_hold(grown)
        both = literals.share(rows & hold)
        expected = everything * float(weights[rows & hold].sum())
        if place:
            expected = np.maximum(expected, float(weights[rows].sum()) * literals.share(hold))
        for literal in grown:
            others = literals.all_hold([other for other in grown if other != literal])
            expected = np.maximum(expected, everything[literal] * literals.share(rows & others))
        leverage = both - expected
        leverage[both < min_share - 1e-12] = -1.0
        # Neither what is there already, nor its absence where that is a literal.
        leverage[np.isin(np.arange(len(leverage)) % literals.n_labels, np.array(grown) % literals.n_labels)] = -1.0
        best = int(leverage.argmax())
        if leverage[best] * longer(len(grown) + 1) <= value * longer(len(grown)):
            break
        grown, value = tuple(sorted((*grown, best))), float(leverage[best])
    return grown, value


def choose(patterns: Sequence[Candidate], n_labels: int) -> Iterator[Candidate]:
    """Candidates that are valuable and new, by weighted covering.

    A pair of row and label weighs 1 / (1 + the number of patterns so far that hold for it), and the value of a pattern
    is weighed with the mean over its pairs (after CN2-SD: Lavrač et al., *Subgroup Discovery with CN2-SD*, 2004). The
    same labels are taken again only in a place that shares less than half of its rows with those before.
    """
    left = list(patterns)
    used = np.zeros((len(left[0].rows) if left else 0, n_labels))
    while left:
        worth = [c.value * float(np.mean(1 / (1 + used[np.ix_(c.rows, c.labels(n_labels))]))) for c in left]
        best = left.pop(int(np.argmax(worth)))
        labels = best.labels(n_labels)
        used[np.ix_(best.rows, labels)] += 1
        left = [
            other
            for other in left
            if not np.array_equal(other.labels(n_labels), labels)
            or 2 * np.count_nonzero(other.covered & best.covered) < np.count_nonzero(other.covered | best.covered)
        ]
        yield best


def independence(patterns: Sequence[Mask]) -> Shares:
    """Return, per pattern, the largest p-value of Fisher's exact test of a part against all the others together.

    Each pattern is a matrix with a row per part. The test is one-sided: do they hold together more often than if they
    were independent? Its p-value is the tail of a hypergeometric distribution.
    """
    from scipy.stats import hypergeom

    counts = []
    for position, parts in enumerate(patterns):
        both = parts.all(axis=0).sum()
        for i, part in enumerate(parts):
            rest = np.delete(parts, i, axis=0).all(axis=0)
            counts.append((position, both - 1, len(part), part.sum(), rest.sum()))
    largest = np.zeros(len(patterns))
    if counts:
        positions, *arguments = np.array(counts).T
        np.maximum.at(largest, positions, np.minimum(hypergeom.sf(*arguments), 1.0))
    return largest
