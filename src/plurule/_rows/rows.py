"""Rows to learn from, and what a fit asks of them. Nobody else knows where rows are.

    take    the rows that lists are grown on                                  Sample
    split   which rows each fold trains on, and which it holds out            Roles
    grow    something learned from the training rows of each fold, all last   (bodies)
    cover   which rows bodies cover, as bits; attributes are not needed then  Covers
    count   the counts of a finished list                                     RuleList

Rows in files are spooled to columns once (`parts`) and are `MemoryRows` from then on; those of a cluster are in `dask`.
"""

from __future__ import annotations

import functools
import operator
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule._learning.initial_rules import apply_initial_rules, as_initial_rules
from plurule._learning.problem import Problem, check_constraints, check_weights
from plurule._prediction.apply import OPEN, ColumnCache, added_counts, recount
from plurule.constraints import Constraints
from plurule.data.dataset import Dataset, Table
from plurule.data.splitting import group_copies, iterative_split, number_groups, row_keys
from plurule.data.targets import dense
from plurule.errors import DataError, ParameterError, PluruleError, warn
from plurule.metrics import PredictionCounts
from plurule.model import Condition, Rule, RuleList

Body: TypeAlias = tuple[Condition, ...]
Bits: TypeAlias = NDArray[np.uint8]
"""Lines of marks, one bit per row: bit r % 8 of byte r // 8 is row r."""
Places: TypeAlias = NDArray[np.intp]
Values: TypeAlias = NDArray[np.float64]
T = TypeVar("T")

MANY_COPIES = 0.01
"""More copies than this share of the rows are reported. Not measured: a wish of users."""
GROUPS = 5
"""Rows that are held out once are scored in so many groups, to know how far the score can be trusted. Not measured."""
JACKKNIFE_GROUPS = 100
"""Groups of rows that a jackknife leaves out, one after the other. Not measured: more are slower, fewer are noisier."""
MOST_STRATIFIED = 5_000_000
"""Beyond so many rows, folds are drawn by the number of a row, since all labels that can be learned are in each fold:
stratification visits the rows one by one. Not measured."""
BLOCK_ROWS = 1 << 18
"""Rows of a block, where columns are mapped to memory: 300 bodies in each of 6 pools take 59 MB."""


class Sample(NamedTuple):
    """The rows that lists are grown on, and the number of each among all rows; all of them up to a limit."""

    problem: Problem
    places: Places


# Splitting -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Roles:
    """What each fold does with each row.

        fold 0    1  0  0  0  1  0      rows 0 and 4 are held out, the list is learned from the others
        fold 1    0  0  1  0  0 -1      row 5 is neither held out nor learned from

    Copies of a row, and rows of a group that the user named, are held out together: a list that was learned from one
    of them knows the others, and their score would say nothing about new rows.
    """

    of_rows: NDArray[np.int8]
    """Folds × rows: 0 trains, 1, 2, … is held out, in that group; -1 is neither."""
    n_groups: tuple[int, ...]
    """Per fold, the number of its groups of held-out rows: 1, or `GROUPS` where rows are held out only once."""
    jackknife: NDArray[np.uint8]
    """Per row, the group that a jackknife leaves out together."""
    n_jackknife: int
    """The number of these groups."""

    @property
    def n_folds(self) -> int:
        """How many ways there are to hold out rows."""
        return len(self.of_rows)

    @property
    def held_out(self) -> list[tuple[int, int]]:
        """Fold and group of all groups of held-out rows."""
        return [(fold, group) for fold, n_groups in enumerate(self.n_groups) for group in range(1, n_groups + 1)]

    @classmethod
    def make(cls, cv: Any, Y: NDArray[np.uint8], clusters: Places, positions: Places | None = None) -> Roles:
        """Return the roles by folds that keep the share of every label and never divide a cluster.

        Parameters
        ----------
        cv
            A number of folds, a share to hold out, a splitter of scikit-learn, or splits.
        Y
            The labels.
        clusters
            Per row, the number of its cluster: of its copies, or of a group that the user named.
        positions
            Of each row in the data that were given, of which rows without weight are left out; splits are about these.
        """
        splits = _splits(cv, Y, clusters, positions)
        # -1 stays where a split names a row neither for training nor for scoring.
        roles = np.full((len(splits), len(Y)), -1, np.int8)
        for role, (train, groups) in zip(roles, splits, strict=True):
            role[train] = 0
            for number, rows in enumerate(groups, start=1):
                role[rows] = number
        held_out = np.asarray((roles > 0).any(axis=0))
        # A jackknife leaves out groups of clusters, drawn at random.
        # A cluster is left out as a whole: without one of its copies, the others would still count for it.
        _, which = np.unique(clusters[held_out], return_inverse=True)
        n_clusters = int(which.max(initial=-1)) + 1
        n_jackknife = min(JACKKNIFE_GROUPS, n_clusters)
        # The remainder of a random number: groups whose numbers of clusters differ by at most 1.
        order = np.random.default_rng(0).permutation(n_clusters)
        jackknife = np.zeros(len(Y), np.uint8)
        jackknife[held_out] = order[which.ravel()] % max(n_jackknife, 1)
        return cls(roles, tuple(len(groups) for _, groups in splits), jackknife, n_jackknife)


Split: TypeAlias = tuple[Places, Sequence[Places]]
"""Rows to train on, and groups of rows that are held out."""


def _splits(cv: Any, Y: NDArray[np.uint8], clusters: Places, positions: Places | None) -> list[Split]:
    is_number = isinstance(cv, Real) and not isinstance(cv, bool)
    if is_number and not (0 < float(cv) < 1 or (isinstance(cv, Integral) and int(cv) >= 2)):
        raise ParameterError.expected("cv", cv, "at least 2 folds, or a share between 0 and 1")
    if not is_number:
        return [(train, (test,)) for train, test in _given_splits(cv, Y, clusters, positions)]
    if len(Y) > MOST_STRATIFIED:
        return _unstratified(float(cv), clusters)
    if isinstance(cv, Integral):
        # At least one cluster for each fold. No splits at all tell the caller that nothing can be held out.
        n_folds = min(int(cv), len(np.unique(clusters)))
        if n_folds < 2:
            return []
        folds = iterative_split(Y, [1.0] * n_folds, shuffle=False, groups=clusters)
        return [(np.delete(np.arange(len(Y)), test), (test,)) for test in folds]
    train, test = iterative_split(Y, [1 - float(cv), float(cv)], shuffle=False, groups=clusters)
    n_groups = min(GROUPS, len(test))
    if n_groups < 2 or not len(train):
        return []
    # Clusters may be divided between these groups: nothing is learned from any of them.
    groups = iterative_split(Y[test], [1.0] * n_groups, shuffle=False)
    return [(train, [test[group] for group in groups if len(group)])]


def _unstratified(cv: float, clusters: Places) -> list[Split]:
    """Return splits of clusters in random order, which have the numbers 0, 1, …"""
    n_clusters = int(clusters.max()) + 1
    # order[cluster] is a random place of the cluster, each once; remainders of places give folds of equal size.
    order = np.random.default_rng(0).permutation(n_clusters)
    if cv >= 2:
        n_folds = min(int(cv), n_clusters)
        fold_of = order[clusters] % n_folds
        folds = range(n_folds if n_folds >= 2 else 0)
        return [(np.flatnonzero(fold_of != fold), [np.flatnonzero(fold_of == fold)]) for fold in folds]
    n_held_out = int(n_clusters * cv)
    n_groups = min(GROUPS, n_held_out)
    if n_groups < 2 or n_held_out == n_clusters:
        return []
    # Per row: 0, 1, …, n_groups - 1 is held out in that group, n_groups trains.
    group_of = np.where(order < n_held_out, order % n_groups, n_groups)[clusters]
    return [(np.flatnonzero(group_of == n_groups), [np.flatnonzero(group_of == group) for group in range(n_groups)])]


def _given_splits(
    cv: Any, Y: NDArray[np.uint8], clusters: Places, positions: Places | None
) -> list[tuple[Places, Places]]:
    """Return what a splitter, or splits, give; rows ascending."""
    from sklearn.model_selection import check_cv

    allowed = "a number of folds, a share between 0 and 1, a splitter of scikit-learn or splits"
    if isinstance(cv, bool | str) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise ParameterError.expected("cv", cv, allowed)
    # One label as a vector, so that scikit-learn stratifies by it.
    truth = Y[:, 0] if Y.shape[1] == 1 else Y
    try:
        splits = list(check_cv(cv, truth, classifier=True).split(np.zeros((len(Y), 1)), truth, clusters))
    except (TypeError, ValueError) as error:
        raise PluruleError(f"{cv!r} cannot split these data: {error}") from None
    # Splits are about the rows that were given, of which those without weight are gone: numbers change. A splitter
    # was called with the rows that are left.
    if positions is not None and not hasattr(cv, "split"):
        splits = [tuple(np.flatnonzero(np.isin(positions, rows)) for rows in split) for split in splits]
    splits = [(np.sort(np.asarray(a, dtype=np.intp)), np.sort(np.asarray(b, dtype=np.intp))) for a, b in splits]
    for number, (train, test) in enumerate(splits, start=1):
        if not len(train) or not len(test):
            raise PluruleError(f"{cv!r} leaves a part of fold {number} empty; use fewer folds")
        both = np.concatenate([train, test])
        if len(np.unique(both)) < len(both):
            raise PluruleError(f"{cv!r} uses a row of fold {number} twice; a row is either trained on or held out")
    return splits


def warn_of_copies(clusters: Places) -> None:
    """Warn if many rows are copies of others."""
    n_copies = len(clusters) - len(np.unique(clusters))
    if n_copies > MANY_COPIES * len(clusters):
        many = f"{n_copies} of {len(clusters)} rows are copies of others, with the same attributes and labels"
        warn(f"{many}; a row and its copies are held out together")


# Bits ----------------------------------------------------------------------------------------------------------------


# One line of bits is one body, or one label, over all rows of a block. With 10 rows:
#
#     row      0  1  2  3  4  5  6  7 | 8  9
#     a > 1    1  0  1  1  0  0  0  0 | 1  0      bytes 13 and 1: row 0 is the lowest bit of the first byte
#
# A line has ceil(rows / 8) bytes. Bits beyond the last row are 0, so that bits can be counted without looking at rows;
# the core refuses others.
def pack(marks: NDArray[np.bool_]) -> Bits:
    """Return marks along the last axis as bits."""
    return np.packbits(np.ascontiguousarray(marks), axis=-1, bitorder="little")


def unpack(bits: Bits, n_rows: int) -> NDArray[np.bool_]:
    """Return bits as marks along the last axis."""
    return np.unpackbits(bits, axis=-1, count=n_rows, bitorder="little").view(np.bool_)


def covered_bits(pools: Sequence[Sequence[Body]], table: Table) -> tuple[Bits, ...]:
    """Return, per pool, which rows of a table each body covers: bodies × bytes."""
    columns = ColumnCache(table)
    # Bodies of a pool have no conditions on labels, so their masks need no predictions.
    no_labels = np.zeros((len(table), 0), np.int8)
    everything = pack(np.ones(len(table), np.bool_))
    known: dict[Condition, Bits] = {}  # pools of different folds share most conditions
    covered = []
    for bodies in pools:
        # All ones, then one AND per condition; the empty body stays as it is. Bits beyond the rows are 0 all the time.
        holds = np.tile(everything, (len(bodies), 1))
        for line, body in zip(holds, bodies, strict=True):
            for condition in body:
                if condition not in known:
                    known[condition] = pack(columns.mask(condition, no_labels))
                # `line` is a view: this writes into `holds`.
                line &= known[condition]
        covered.append(holds)
    return tuple(covered)


class InitialBits(NamedTuple):
    """What initial rules decide for the rows of a block."""

    open: Bits
    """Labels × bytes: the pairs of label and row that they leave to other rules."""
    present: Bits
    """Labels × bytes: the pairs that they predict as present."""
    decided_by: NDArray[np.int32]
    """Rows × labels: the number of the initial rule that decides, -1 for none."""

    @classmethod
    def of(cls, problem: Problem) -> InitialBits:
        """Return what the initial rules of a problem decide."""
        # begin.predicted is int8[rows, labels]; bits are labels × rows.
        begin = apply_initial_rules(problem)
        # Rows that a stop rule ends have no label that is open.
        is_open = (begin.predicted == OPEN) & begin.in_training[:, None]
        return cls(pack(is_open.T), pack(begin.predicted.T == 1), begin.decided_by)


@dataclass(frozen=True, eq=False)
class CoverBlock:
    """Some rows as bits: which bodies cover them, and which labels they have. Nothing in it changes.

    A row takes a bit per body and label, and a byte per fold: 225 + 8 bytes with 300 bodies in each of 6 pools, and 20
    labels. All methods give sums over the rows, which add up over blocks.

    A *role* is 0 for the rows that a fold trains on, 1, 2, … for a group of its held-out rows, None for all of these; a
    fold that is None trains on all rows.
    """

    # Arrays are uint8, int8 or float64 and C-contiguous, as the core reads them; n_bytes = ceil(n_rows / 8).
    #
    #     holds[pool]   bodies × n_bytes    line 0, the empty body, is all ones
    #     truth         labels × n_bytes    1 where the row has the label
    #     roles         folds × n_rows      one byte each, as in `Roles`
    #     jackknife     n_rows              uint8, since there are at most JACKKNIFE_GROUPS groups
    n_rows: int
    holds: Sequence[Bits]
    """Per pool: bodies × bytes; the first body of each is empty, and covers all rows."""
    truth: Bits
    """Labels × bytes."""
    roles: NDArray[np.int8]
    """Folds × rows, as in `Roles`."""
    jackknife: NDArray[np.uint8]
    """Per row, the group that a jackknife leaves out together."""
    weights: Values | None
    """Per row; None if all weigh 1."""
    initial: InitialBits | None
    """What initial rules decide, if there are any."""

    @classmethod
    def of(cls, problem: Problem, pools: Sequence[Sequence[Body]], roles: Roles, rows: slice) -> CoverBlock:
        """Return the block of some rows of a problem, or of a problem that has only these rows."""
        # The problem of a partition has only the rows of its block.
        if problem.n_instances != rows.stop - rows.start:
            problem = problem.take(rows)
        return cls(
            len(problem.Y),
            covered_bits(pools, problem.table),
            pack(problem.Y.T == 1),
            roles.of_rows[:, rows],
            roles.jackknife[rows],
            problem.sample_weight,
            InitialBits.of(problem) if problem.initial_rules else None,
        )

    def rows(self, pool: int, fold: int | None, role: int | None = 0, with_initial: bool = True) -> _core.PoolRows:
        """Return the rows in a role, with what the bodies of a pool cover there, as the core counts them."""
        initial = self.initial if with_initial else None
        # The core reads `holds`, `truth` and the bits of initial rules where they are, and keeps them alive; it copies
        # weights. So this costs a mask of the rows, uint8[n_bytes], and no copy of the bits.
        return _core.PoolRows(
            n_rows=self.n_rows,
            rows=pack(self._in_role(fold, role)),
            holds=self.holds[pool],
            present=self.truth,
            open=None if initial is None else initial.open,
            predicted=None if initial is None else initial.present,
            weights=self.weights,
        )

    def _in_role(self, fold: int | None, role: int | None) -> NDArray[np.bool_]:
        if fold is None:
            return np.ones(self.n_rows, np.bool_)
        return self.roles[fold] > 0 if role is None else self.roles[fold] == role

    def label_sums(self, fold: int | None, role: int = 0) -> Values:
        """Return the weight of the rows with each label, and last that of all rows."""
        # Labels do not depend on bodies: any pool will do.
        counts = self.rows(0, fold, role, with_initial=False).prefix_counts([], range(len(self.truth)), False)
        return np.append(counts.positives, counts.weight)

    def cover_updates(self, pool: int, fold: int | None, updates: Sequence[_core.CoverUpdate]) -> Values:
        """Return the weight of the open pairs that updates share with bodies: updates × (with label, all) × bodies."""
        return self.rows(pool, fold).cover_updates(updates)

    def prefix_counts(
        self,
        pool: int,
        fold: int,
        group: int,
        selections: Sequence[Choices],
        labels: Places,
        by_row: bool,
        with_initial: bool = True,
    ) -> list[PredictionCounts]:
        """Return the counts of held-out rows after the initial rules, the first choice, … of each selection."""
        rows = self.rows(pool, fold, group, with_initial)
        # Per selection: tp and fp are float64[choices + 1, labels], positives float64[labels]; stage 0 has no choice.
        counts = (rows.prefix_counts(choices, labels.tolist(), by_row) for choices in selections)
        return [PredictionCounts(c.tp, c.fp, c.positives, np.full(len(c.tp), c.weight), tuple(c.rows)) for c in counts]

    def jackknife_counts(
        self, lists: Sequence[PooledChoices], n_groups: int, labels: Places, by_row: bool
    ) -> PredictionCounts:
        """Return the counts of held-out rows by the group that a jackknife leaves out; each fold has its own list."""
        # Held-out rows of all folds one after the other: labels × rows, and their weights and groups.
        truth, predicted, weights, groups = [], [], [], []
        ones = np.ones(self.n_rows) if self.weights is None else self.weights
        for fold, one in enumerate(lists):
            # bool[n_rows]: held out by this fold, in whichever group; `present` is uint8[labels, n_bytes].
            inside = self._in_role(fold, None)
            present = self.rows(one.pool, fold, None, one.with_initial).decide(one.choices)[0]
            truth.append(unpack(self.truth[labels], self.n_rows)[:, inside])
            predicted.append(unpack(present[labels], self.n_rows)[:, inside])
            weights.append(ones[inside])
            # With a single group nothing is left out: the remainder is 0 for all rows.
            groups.append(self.jackknife[inside] % n_groups)
        joined = np.hstack(truth), np.hstack(predicted), np.concatenate(weights), np.concatenate(groups)
        return PredictionCounts.by_group(*joined, n_groups, by_row)

    def labels(self, fold: int | None, role: int = 0) -> NDArray[np.uint8]:
        """Return the labels of the rows in a role: rows × labels."""
        return unpack(self.truth, self.n_rows)[:, self._in_role(fold, role)].T.view(np.uint8)

    def row_facts(self, fold: int | None, role: int = 0) -> NDArray[np.float64]:
        """Return weight and jackknife group of the rows in a role: rows × 2."""
        inside = self._in_role(fold, role)
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        return np.column_stack([weights, self.jackknife])[inside]

    def decided_by(self, one: PooledChoices, fold: int | None, role: int = 0) -> NDArray[np.int32]:
        """Return what decides each pair of the rows in a role, rows × labels: -1 nothing, then initial rules, choices.

        Choices come in the order of the rules that are made of them.
        """
        # Labels × rows until the end, as the bits are, so that a label is one contiguous line.
        decided = np.full((len(self.truth), self.n_rows), -1, np.int32)
        n_initial = 0
        if one.with_initial and self.initial is not None:
            decided = np.ascontiguousarray(self.initial.decided_by.T)
            n_initial = one.n_initial
            is_open = unpack(self.initial.open, self.n_rows)
        else:
            is_open = np.ones(decided.shape, np.bool_)
        for number, choice in enumerate(one.choices, start=n_initial):
            covered = unpack(self.holds[one.pool][choice.body], self.n_rows)
            # A pair is decided once: by the first rule that covers it.
            for label in choice.decided:
                newly = covered & is_open[label]
                decided[label, newly] = number
                is_open[label] &= ~newly
        return decided[:, self._in_role(fold, role)].T

    def rule_counts(self, one: PooledChoices, fold: int | None) -> Values:
        """Return the weight of absent and present pairs that each rule decides: (rules, last: none) × labels × 2."""
        decided, truth = self.decided_by(one, fold), self.labels(fold)
        weights = self.row_facts(fold)[:, 0]
        n_rules, n_labels = one.n_initial + len(one.choices), truth.shape[1]
        # The place of each pair in an array of (rules + 1) × labels × (absent, present), flattened; what no rule
        # decides goes to the last of its first axis. One bincount then sums all pairs.
        places = (np.where(decided < 0, n_rules, decided) * n_labels + np.arange(n_labels)) * 2 + truth
        weighted = np.broadcast_to(weights[:, None], truth.shape)
        sums = np.bincount(places.ravel(), weighted.ravel(), (n_rules + 1) * n_labels * 2)
        return sums.reshape(n_rules + 1, n_labels, 2).astype(np.float64)


Choices: TypeAlias = Sequence[_core.Choice]


class PooledChoices(NamedTuple):
    """A list of rules: choices from a pool, after initial rules or without them."""

    pool: int
    choices: Choices
    with_initial: bool = True
    # How many initial rules come before the choices; `CoverBlock.decided_by` numbers them first.
    n_initial: int = 0


class Covers(Protocol):
    """Blocks of all rows, wherever they are."""

    def total(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Return the sum of a method of `CoverBlock` over all blocks."""

    def gather(self, question: Callable[..., NDArray[Any]], *arguments: Any) -> NDArray[Any]:
        """Return the rows that a method of `CoverBlock` gives, of all blocks in order."""

    def select(self, selection: _core.PoolSelection, pool: int, fold: int | None) -> None:
        """Select from a pool by the rows that a fold trains on."""


@dataclass(frozen=True)
class LocalCovers(Covers):
    """Blocks in this process."""

    blocks: Sequence[CoverBlock]

    # Sums are exact (`exact_weights`), so they are the same for any number of blocks and any order of adding.
    def total(self, question: Callable[..., Any], *arguments: Any) -> Any:
        if len(self.blocks) == 1:
            return question(self.blocks[0], *arguments)
        return added_up(question(block, *arguments) for block in self.blocks)

    def gather(self, question: Callable[..., NDArray[Any]], *arguments: Any) -> NDArray[Any]:
        return np.concatenate([question(block, *arguments) for block in self.blocks])

    def select(self, selection: _core.PoolSelection, pool: int, fold: int | None) -> None:
        # The core then asks the only block itself, without a way through Python for each choice. Choices are the same.
        # What the core prepares for the rows of a block serves all steps.
        rows = [block.rows(pool, fold) for block in self.blocks]
        if len(rows) == 1:
            rows[0].select(selection)
            return
        while updates := selection.choose():
            selection.update(added_up(one.cover_updates(updates) for one in rows))


def select_in_steps(covers: Covers, selection: _core.PoolSelection, pool: int, fold: int | None) -> None:
    """Select by all criteria side by side, so that each step asks the blocks only once."""
    # Updates of several criteria in one question; the answer is float64[updates, 2, bodies].
    while updates := selection.choose():
        selection.update(covers.total(CoverBlock.cover_updates, pool, fold, updates))


def added_up(results: Iterable[Any]) -> Any:
    """Return the sum of results; lists are added member by member."""
    first, *others = results
    if not others:
        return first
    if isinstance(first, list):
        return [added_up(members) for members in zip(first, *others, strict=True)]
    return functools.reduce(operator.add, others, first)


class MappedBits(Sequence[Bits]):
    """The bits of pools in files, each mapped to memory when it is asked for, and let go with the array."""

    def __init__(self, folder: Path, name: str, pools: Sequence[Bits]):
        self.paths = [folder / f"{name}-pool-{number}" for number in range(len(pools))]
        self.shapes = [bits.shape for bits in pools]
        try:
            for path, bits in zip(self.paths, pools, strict=True):
                path.write_bytes(bits.data)  # as they are in memory: bodies × bytes, row by row
        except OSError as error:
            raise PluruleError(f"{folder}: the bits could not be written ({error.strerror})") from error

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, pool: Any) -> Any:
        # Mapped again each time: the pages are given back as soon as nobody reads the pool.
        return np.memmap(self.paths[pool], np.uint8, "r", shape=self.shapes[pool]).view(np.ndarray)


# Rows ----------------------------------------------------------------------------------------------------------------


class Rows(Protocol):
    """All rows to learn from."""

    problem: Problem
    """The labels and attributes, and what is known about them; the rows themselves may be elsewhere."""
    n_rows: int
    """How many rows there are."""

    def take(self, most: int | None) -> Sample:
        """Return the rows that lists are grown on: all, or so many that are drawn by their numbers."""

    def split(self, cv: Any) -> Roles:
        """Return which rows each fold trains on, and which it holds out."""

    def grow(self, learn: Callable[[Problem], T], roles: Roles, progress: Callable[[float], None]) -> list[T]:
        """Return what is learned from the rows of the sample that each fold trains on, and last from all of them."""

    def cover(self, pools: Sequence[Sequence[Body]], roles: Roles) -> Covers:
        """Return all rows as bits."""

    def count(self, rule_list: RuleList) -> RuleList:
        """Return the same rules with the counts of all rows."""


def drawn(n_rows: int, most: int | None) -> Places:
    """Return the numbers of rows to grow lists on, ascending: all, or some that depend on nothing but `n_rows`."""
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    # By numbers and a fixed seed, so that memory, files and a cluster draw the same rows.
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


InitialRules: TypeAlias = RuleList | str | Iterable[Rule | str]


class MemoryRows(Rows):
    """Rows of which the columns are in memory, or in files that are mapped to memory.

    Parameters
    ----------
    problem
        The rows.
    groups
        Per row, the group that it belongs to, which is held out together; None if there are none.
    positions
        Of each row in the data that were given; None if none were left out.
    folder
        Where columns are mapped to memory, bits go to files there, too, block by block.
    """

    def __init__(
        self,
        problem: Problem,
        groups: Places | None = None,
        positions: Places | None = None,
        folder: Path | None = None,
        block_rows: int | None = None,
    ):
        self.problem = problem
        self.n_rows = problem.n_instances
        self.groups = groups
        self.positions = positions
        self.folder = folder
        # In memory all rows are one block.
        starts = range(0, self.n_rows, block_rows or (self.n_rows if folder is None else BLOCK_ROWS))
        self.blocks = [slice(start, min(start + starts.step, self.n_rows)) for start in starts]
        self.sample = Sample(problem, np.arange(0))

    @classmethod
    def of(
        cls,
        data: Dataset,
        initial_rules: InitialRules = (),
        constraints: Constraints | None = None,
        groups: Any = None,
        folder: Path | None = None,
    ) -> MemoryRows:
        """Return the rows of a data set that have a weight, with what is known about them."""
        # Rows that weigh 0 change no count, and are left out before anything else looks at them.
        weights = check_weights(data.weights, len(data), len(data.label_names))
        positions = np.flatnonzero(weights)
        if groups is not None:
            if len(groups) != len(data):
                raise DataError(f"groups has {len(groups)} rows, expected one for each of the {len(data)} rows of X")
            groups = number_groups(np.asarray(groups)[positions])
        if len(positions) < len(data):
            data = data[positions]
            weights = weights[positions]
        initial = as_initial_rules(initial_rules, data.attributes, data.label_names) if initial_rules else ()
        known = data.groups, data.hierarchy, initial, data.Y
        resolved = check_constraints(constraints, data.attributes, data.label_names, *known)
        Y = dense(data.Y).view(np.uint8)
        return cls(Problem(data.X, data.label_names, Y, weights, initial, resolved), groups, positions, folder)

    def take(self, most: int | None) -> Sample:
        places = drawn(self.n_rows, most)
        is_all = len(places) == self.n_rows
        self.sample = Sample(self.problem if is_all else self.problem.take(places), places)
        return self.sample

    def split(self, cv: Any) -> Roles:
        # Groups that the user named replace those of copies: they say which rows belong together.
        if self.groups is not None:
            return Roles.make(cv, self.problem.Y, self.groups, self.positions)
        clusters = group_copies(row_keys(self.problem.table, self.problem.Y))
        warn_of_copies(clusters)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The groups parameter is ignored")  # nobody gave any
            return Roles.make(cv, self.problem.Y, clusters, self.positions)

    def grow(self, learn: Callable[[Problem], T], roles: Roles, progress: Callable[[float], None]) -> list[T]:
        # Roles are about all rows, the sample has some of them: `places` are their columns in the roles.
        problem, places = self.sample
        learned = []
        for fold in range(roles.n_folds):
            learned.append(learn(problem.take(np.flatnonzero(roles.of_rows[fold, places] == 0))))
            progress((fold + 1) / (roles.n_folds + 1))
        return [*learned, learn(problem)]

    def cover(self, pools: Sequence[Sequence[Body]], roles: Roles) -> Covers:
        blocks = []
        for rows in self.blocks:
            block = CoverBlock.of(self.problem, pools, roles, rows)
            if self.folder is not None:
                block = replace(block, holds=MappedBits(self.folder, f"rows-{rows.start}", block.holds))
            blocks.append(block)
        return LocalCovers(blocks)

    def count(self, rule_list: RuleList) -> RuleList:
        if len(self.blocks) == 1:
            return recount(rule_list, self.problem.table, self.problem.Y, self.problem.weights)
        # Block by block, since counting holds int8 and int32 arrays of rows × labels.
        problems = map(self.problem.take, self.blocks)
        return added_counts(rule_list, [recount(rule_list, one.table, one.Y, one.weights) for one in problems])
