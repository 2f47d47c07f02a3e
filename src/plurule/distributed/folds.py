"""Data in parts, wherever they are, as an estimator is given them: parts become blocks, and blocks are counted."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from plurule.constraints import ResolvedConstraints
from plurule.data.dataset import Dataset
from plurule.data.splitting import group_copies, row_keys
from plurule.data.table import Table
from plurule.data.targets import TargetForm
from plurule.distributed.block import LearningState
from plurule.distributed.counts import BlockCounts, Values
from plurule.distributed.parts import (
    Columns,
    Plan,
    RowMetadata,
    around,
    build,
    columns_of,
    expect_kept_by,
    label_sets,
    metadata_of,
    rows_of,
    sum_label_sets,
    summed_rules,
    table_of,
    values_of,
    with_classes_of_all,
)
from plurule.distributed.pieces import Blocks, Pieces
from plurule.distributed.storage import Checkpoint
from plurule.errors import DataError, ParameterError
from plurule.files import digest
from plurule.learning.binning import with_short_thresholds
from plurule.learning.covering import Progress, cover
from plurule.learning.problem import Options, Problem
from plurule.model import Attribute, RangeCondition, Rule, RuleList
from plurule.model.file import rule_from_json, rule_to_json
from plurule.model.head import Hierarchy
from plurule.prediction.apply import decide, recount
from plurule.prediction.staged import StagedSums
from plurule.selection.folds import make_parts, warn_of_copies
from plurule.selection.pool import (
    Body,
    Choice,
    CoverUpdate,
    Pool,
    SelectionCriterion,
    SelectionLimits,
    gain_of,
    initial_decisions,
    is_open,
    satisfied,
    select_rules,
    staged_selection,
)
from plurule.selection.scoring import Scoring
from plurule.selection.training_data import DataInParts, HeldOutRows, Selection, TrainingData

Numbers = NDArray[Any]


class PartitionedData(DataInParts):
    """Data of which the parts, and the blocks that are made of them, are somewhere."""

    checkpoint: str | os.PathLike[str] | None = None
    """A file in which every rule is kept as soon as it is learned, so that learning goes on where it was ended."""

    @abstractmethod
    def partitions(self, n_jobs: int) -> AbstractContextManager[Pieces]:
        """The parts, and a place for blocks, which is given back at the end."""

    @cached_property
    def columns(self) -> Columns:
        """Columns of all parts, after a look at each of them."""
        with self.partitions(1) as partitions:
            return columns_of(partitions)

    @property
    def attributes(self) -> Sequence[Attribute]:
        """Names and kinds of the columns that are no labels."""
        return self.columns.attributes

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels."""
        return self.columns.labels

    @property
    def form(self) -> TargetForm:
        """The form of the labels."""
        return self.columns.form

    @property
    def hierarchy(self) -> Hierarchy:
        """Labels with those above them."""
        return self.columns.hierarchy

    def __len__(self) -> int:
        return self.columns.n_rows

    @contextlib.contextmanager
    def training_data(
        self,
        options: Options,
        given: tuple[Rule, ...],
        constraints: ResolvedConstraints | None,
        n_jobs: int,
    ) -> Iterator[BlockFolds]:
        """The data, ready to be counted; what that takes is given back at the end."""
        if not len(self):
            raise DataError("the source holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
        if options.heuristic.example_based:
            what = "judges instances as a whole, which needs all rows in memory; for data in parts give another one"
            raise ParameterError("heuristic", options.heuristic, what)
        with contextlib.ExitStack() as stack:
            partitions = stack.enter_context(self.partitions(n_jobs))
            form = self.columns.form
            partitions.contents = self.columns.contents
            if form.classes is not None:
                partitions.prepare = partial(with_classes_of_all, form=form, labels=self.label_names)
            if constraints is not None and (constraints.hierarchy or constraints.exclusive):
                partitions.map(expect_kept_by, constraints)
            checkpoint = None
            fit = {}
            if self.checkpoint is not None:
                checkpoint = stack.enter_context(Checkpoint(Path(self.checkpoint)))
                parameters = vars(options) | {"lift": options.lift.tolist()}
                fit = {
                    "parameters": digest(parameters),
                    "initial rules": digest(given),
                    "constraints": repr(constraints),
                }
            yield BlockFolds(partitions, self.columns, options.max_bins, given, constraints, checkpoint, fit)


@dataclass
class FoldState:
    """Results of passes over the parts; folds and all rows as one part share them."""

    rows: list[RowMetadata]
    """The rows of each part, and their roles in the folds."""
    label_sets: dict[bytes, int]
    """The number of each label set, which is packed to bits."""
    set_sums: NDArray[np.float64]
    """Label sets × weight and number of their rows."""
    sets_of_rows: list[NDArray[np.uint32]] = field(default_factory=list)
    """Per part, the label set of each row; known where there are folds."""
    groups: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    """The group of each row; rows of a group are held out together."""
    n_groups: tuple[int, ...] = ()
    """The number of groups of held-out rows of each fold."""
    sample: Sample | None = None
    """The rows that were learned from last."""


class Sample(NamedTuple):
    """All rows, or those that a fold trains on, binned and coded as if there were no others."""

    fold: int | None
    values: tuple[Values, ...]
    """The ranks of all attributes."""
    blocks: Blocks
    initial_rules: tuple[Rule, ...]
    """With their counts."""


@dataclass(eq=False)
class BlockFolds(TrainingData):
    """Rows in blocks, of which some may be held out; every look at the parts is taken once."""

    parts: Pieces
    columns: Columns
    max_bins: int | None
    given: tuple[Rule, ...]
    constraints: ResolvedConstraints | None
    checkpoint: Checkpoint | None = None
    fit: Mapping[str, Any] = field(default_factory=dict)
    """Description of the fit that a checkpoint belongs to, without the data."""
    is_whole: bool = False
    """Whether the only part of the cross-validation is all rows."""
    _lists: Iterator[int] = field(default_factory=itertools.count)
    _shared: FoldState | None = None

    @property
    def state(self) -> FoldState:
        """Rows and label sets of the parts."""
        if self._shared is None:
            rows = metadata_of(self.columns)
            sums = sum_label_sets(self.parts, rows)
            numbers = {packed: number for number, packed in enumerate(sums)}
            self._shared = FoldState(rows, numbers, np.array(list(sums.values())))
        return self._shared

    @cached_property
    def problem(self) -> Problem:  # type: ignore[override]
        return self._labels(*self.state.set_sums.T)

    @property
    def n_parts(self) -> int:
        return 1 if self.is_whole else len(self.state.n_groups)

    def split(self, cv: Any, positions: NDArray[np.intp] | None = None) -> Self:
        state = self.state
        if positions is None and self.columns.weights is not None:
            numbers = np.split(
                np.arange(self.columns.n_rows), np.cumsum([part.n_rows for part in self.columns.contents])[:-1]
            )
            positions = np.concatenate([own[one.places] for own, one in zip(numbers, state.rows, strict=True)])
        sets_of_rows = [
            np.array([state.label_sets[packed] for packed in packed_sets], np.uint32)[which]
            for packed_sets, which in self.parts.map(label_sets, each=state.rows)
        ]
        keys = self.parts.map(keys_of_rows, self.columns.attributes, each=state.rows)
        groups = group_copies(np.concatenate(keys))
        warn_of_copies(groups)
        folds = make_parts(cv, self.label_sets[np.concatenate(sets_of_rows)], positions, groups)
        roles = np.full((len(folds), sum(map(len, sets_of_rows))), -1, np.int8)
        for role, fold in zip(roles, folds, strict=True):
            role[fold.train] = 0
            for number, group in enumerate(fold.groups):
                role[group] = number + 1
        roles_of_parts = np.split(roles, np.cumsum([len(which) for which in sets_of_rows])[:-1], axis=1)
        state.rows = [
            one._replace(roles=np.ascontiguousarray(own)) for one, own in zip(state.rows, roles_of_parts, strict=True)
        ]
        state.sets_of_rows = sets_of_rows
        state.groups = groups
        state.n_groups = tuple(len(fold.groups) for fold in folds)
        return self

    def everything(self) -> Self:
        return replace(self, is_whole=True, _shared=self.state)

    def training(self, part: int) -> Problem:
        return self.problem if self.is_whole else self._in_role(part, 0)

    def held_out(self, part: int) -> list[Problem]:
        return [self._in_role(part, group + 1) for group in range(self.state.n_groups[part])]

    @property
    def label_sets(self) -> NDArray[np.uint8]:
        """All label sets, one per row."""
        packed = np.frombuffer(b"".join(self.state.label_sets), np.uint8).reshape(len(self.state.label_sets), -1)
        return np.unpackbits(packed, axis=1, count=len(self.columns.labels))

    def _in_role(self, part: int, role: int) -> Problem:
        """The label sets of the rows that have a role in a fold."""
        weights, n_rows = np.zeros((2, len(self.state.label_sets)))
        for which, rows in zip(self.state.sets_of_rows, self.state.rows, strict=True):
            inside = rows.in_role(part, role)
            weights += np.bincount(which[inside], rows.ones(len(which))[inside], len(weights))
            n_rows += np.bincount(which[inside], minlength=len(n_rows))
        return self._labels(weights, n_rows)

    def _labels(self, weights: NDArray[np.float64], n_rows: NDArray[np.float64]) -> Problem:
        """Label sets and their weights, as a problem of so many rows."""
        there = np.flatnonzero(n_rows)
        return Problem(
            table_of(self.columns.attributes, {}, len(there)),
            self.columns.labels,
            self.label_sets[there],
            weights[there],
            self.given,
            self.constraints,
            n_rows=int(n_rows.sum()),
        )

    def sample(self, part: int) -> Sample:
        """The rows that lists of a part are learned from; those of one part are kept."""
        state = self.state
        fold = None if self.is_whole else part
        if state.sample is None or state.sample.fold != fold:
            rows = state.rows if fold is None else [one.training(fold) for one in state.rows]
            values = values_of(self.parts, self.columns, rows, self.max_bins)
            plan = Plan(self.columns.attributes, values, self.columns.labels, self.given)
            blocks, counted = self.parts.make(build, plan, each=rows)
            state.sample = Sample(fold, values, blocks, summed_rules(counted))
        return state.sample

    def learn(self, part: int, options: Options, progress: Progress | None = None) -> RuleList:
        sample = self.sample(part)
        number = next(self._lists)
        rules = list(sample.initial_rules)
        checkpoint = self.checkpoint
        if checkpoint is not None:
            checkpoint.expect({**self.fit, "the data": self._digest()})
            attributes, labels = self.columns.attributes, self.columns.labels
            rules += [rule_from_json(rule, attributes, labels) for rule in checkpoint.rules.get(number, ())]

        def note(rule: Rule) -> None:
            rules.append(rule)
            if checkpoint is not None:
                checkpoint.add(number, rule_to_json(rule))

        # Blocks may be known to other programs, which number their lists, too.
        state = LearningState((), secrets.randbits(62))
        counts = BlockCounts(sample.blocks, self.problem, sample.values, tuple(rules), state, note)
        return cover(counts, tuple(rules), options, progress)

    def learn_one(self, options: Options, progress: Progress | None = None) -> RuleList:
        learned = self.everything().learn(0, options, progress=progress)
        return with_short_thresholds(learned, self.values_for(learned), len(self.given))

    def _digest(self) -> str:
        """Differs if names, rows, weights or what is held out do."""
        columns = self.columns
        return digest(columns.attributes, columns.labels, columns.contents, *itertools.chain(*self.state.rows))

    def selections(
        self,
        pools: Sequence[Sequence[Body]],
        criteria: Sequence[SelectionCriterion],
        limits: SelectionLimits,
        scoring: Scoring | None = None,
    ) -> Iterator[list[Selection]]:
        asked = Pools(self.columns.attributes, self.columns.labels, self.given, self.constraints, pools)
        rows = self.state.rows
        if self.is_whole:
            rows = [one._replace(roles=None) for one in rows]
        blocks, _ = self.parts.make(PooledBlock.make, asked, each=rows)
        counts = blocks.total(PooledBlock.counts)
        covered = partial(blocks.total, PooledBlock.covered)
        chosen = select_rules(pools, criteria, limits, self.problem, counts, covered)
        if scoring is None:
            yield from ([Selection(one, []) for one in of_part] for of_part in chosen)
        else:
            yield from score_selections(blocks, chosen, self.state.n_groups, scoring.labels, scoring.measure.name)

    def predicted(self, lists: Sequence[RuleList]) -> HeldOutRows:
        by_part = self.parts.map(predict_part, lists, each=self.state.rows)
        return HeldOutRows.join([self._ordered(fold, rows) for fold, rows in enumerate(zip(*by_part, strict=True))])

    def _ordered(self, fold: int, rows_of_parts: Sequence[HeldOutRows]) -> HeldOutRows:
        """The held-out rows of a fold in the same order as in memory: group by group."""
        rows = HeldOutRows.join(rows_of_parts)
        roles = np.concatenate([one.roles_in(fold) for one in self.state.rows])
        is_held_out = roles > 0
        order = np.argsort(roles[is_held_out], kind="stable")
        groups = self.state.groups[is_held_out][order]
        return HeldOutRows(rows.truth[order], rows.labels[order], rows.weights[order], groups)

    def counted(self, part: int, rules: tuple[Rule, ...], lam: float) -> RuleList:
        if not self.is_whole:
            return self.problem.listed((*self.given, *rules))  # which is only to be scored
        given = self.sample(0).initial_rules
        plain = self.problem.listed((*given, *rules))
        counted = self.parts.map(recount_part, plain, each=self.state.rows)
        learned = summed_rules([one.rules[len(given) :] for one in counted])
        undecided = np.sum([one.undecided for one in counted], axis=0).tolist()
        valued = (replace(rule, value=gain_of(rule, lam)) for rule in learned)
        return replace(plain, rules=(*given, *valued), undecided=tuple(map(tuple, undecided)))

    def values_for(self, rule_list: RuleList) -> Table:
        """The ends of ranks, a fraction, and what is around thresholds; the parts are asked where that is in a rank."""
        values = self.everything().sample(0).values
        tests = [c for rule in rule_list[len(self.given) :] for c in rule.body if isinstance(c, RangeCondition)]
        asked = list(dict.fromkeys((test.index, test.threshold) for test in tests))
        unknown = [(index, t) for index, t in asked if values[index].cuts_rank(t)]
        neighbours = np.array(self.parts.map(around, unknown, each=self.state.rows)) if unknown else np.zeros((1, 0, 2))
        ends = np.column_stack([neighbours[:, :, 0].max(axis=0), neighbours[:, :, 1].min(axis=0)])
        known = {}
        for index in rule_list.tested_attributes():
            inside = ends[[place for place, (other, _) in enumerate(unknown) if other == index]].ravel()
            one = values[index]
            found = np.unique(np.concatenate([one.lowest, one.highest, inside, [one.fraction]]))
            known[index] = found[np.isfinite(found)]
        return table_of(self.columns.attributes, known)


def keys_of_rows(part: Dataset, attributes: Sequence[Attribute], kept: RowMetadata) -> NDArray[np.uint64]:
    """The keys of the rows of a part, by which copies are recognised."""
    table, Y, _ = rows_of(part, attributes, kept)
    return row_keys(table, Y)


def predict_part(part: Dataset, lists: Sequence[RuleList], kept: RowMetadata) -> list[HeldOutRows]:
    """The rows of a part of the data that each fold holds out, with the predictions of its list."""
    table, Y, weights = rows_of(part, lists[0].attributes, kept)
    by_fold = []
    for fold, rule_list in enumerate(lists):
        rows = np.flatnonzero(kept.roles_in(fold) > 0)
        by_fold.append(HeldOutRows(Y[rows], decide(rule_list, table[rows]).labels(), weights[rows], rows))
    return by_fold


def recount_part(part: Dataset, rule_list: RuleList, kept: RowMetadata) -> RuleList:
    """A list with the counts of the rows of a part."""
    return recount(rule_list, *rows_of(part, rule_list.attributes, kept))


# Selecting from pools ------------------------------------------------------------------------------------------------


class Pools(NamedTuple):
    """Pools of bodies, and all that a part needs to count them."""

    attributes: Sequence[Attribute]
    labels: tuple[str, ...]
    given: tuple[Rule, ...]
    constraints: ResolvedConstraints | None
    bodies: Sequence[Sequence[Body]]
    """A pool for each of the parts of a cross-validation, or one for all rows."""


@dataclass
class PooledBlock:
    """Some rows; nothing in it changes."""

    Y: NDArray[np.uint8]
    held: NDArray[np.uint8]
    """Rows × bodies of all pools, one after the other, as bits; each pool begins with a byte."""
    sizes: NDArray[np.int64]
    """The number of bodies of each pool."""
    weights: NDArray[np.float64] | None = None
    roles: NDArray[np.int8] | None = None
    initial: NDArray[np.int8] | None = None
    """Rows × labels: what initial rules decide; None if there are none."""

    @classmethod
    def make(cls, part: Dataset, pools: Pools, kept: RowMetadata) -> tuple[PooledBlock, None]:
        """The rows of a part, and what bodies cover there."""
        table, Y, ones = rows_of(part, pools.attributes, kept)
        sizes = [len(bodies) for bodies in pools.bodies]
        held = [np.packbits(satisfied(bodies, table).T, axis=1) for bodies in pools.bodies]
        initial = initial_decisions(Problem(table, pools.labels, Y, ones, pools.given, pools.constraints))
        weights = None if kept.weights is None else ones
        return cls(Y, np.hstack(held), np.array(sizes), weights, kept.roles, initial), None

    def __len__(self) -> int:
        return len(self.Y)

    def counts(self) -> list[Numbers]:
        """Return the counts of each pool."""
        return [self._pool(part).counts() for part in range(len(self.sizes))]

    def covered(self, asked: Sequence[tuple[int, Sequence[CoverUpdate]]]) -> list[Numbers]:
        """Return the counts of cover updates of the pool of a part."""
        return [self._pool(part).covered(updates) for part, updates in asked]

    def scored(
        self, asked: Sequence[tuple[int, int, Sequence[Choice]]], kept: Numbers, measure: str
    ) -> list[StagedSums]:
        """Count right and wrong predictions of selections on groups of held-out rows."""
        found = []
        for part, group, chosen in asked:
            rows = self._rows(part, group + 1)
            holds = self._holds(part, rows)
            weights = None if self.weights is None else self.weights[rows]
            initial = None if self.initial is None else self.initial[rows]
            stages = staged_selection(holds, chosen, self.Y[rows] == 1, weights, kept, initial)
            found.append(StagedSums.of(stages, measure))
        return found

    def _rows(self, part: int, role: int) -> NDArray[np.intp]:
        if self.roles is None:
            return np.arange(len(self.Y))
        return np.flatnonzero(self.roles[part] == role)

    def _pool(self, part: int) -> Pool:
        """The rows that a part trains on, and what its bodies cover there."""
        rows = self._rows(part, 0)
        initial = None if self.initial is None else self.initial[rows]
        left = is_open(initial, self.Y[rows].shape)
        weights = None if self.weights is None else self.weights[rows]
        return Pool(self._holds(part, rows), left.T, self.Y[rows].T == 1, weights)

    def _begin(self, part: int) -> int:
        return int(sum(-(-size // 8) for size in self.sizes[:part].tolist()))

    def _holds(self, part: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Bodies of a pool × some rows: whether they hold."""
        begin, size = self._begin(part), int(self.sizes[part])
        held = np.unpackbits(self.held[rows, begin : begin + -(-size // 8)], axis=1, count=size)
        return held.T.astype(np.bool_)


def score_selections(
    blocks: Blocks, chosen: Sequence[Sequence[list[Choice]]], n_groups: Sequence[int], kept: Numbers, measure: str
) -> list[list[Selection]]:
    """Per part and criterion, what was selected, with its scores in each group of held-out rows."""
    asked = [(p, g, one) for p, of_part in enumerate(chosen) for one in of_part for g in range(n_groups[p])]
    sums = iter(blocks.total(PooledBlock.scored, asked, kept, measure))
    return [
        [Selection(one, [next(sums).scores(measure)[1:].tolist() for _ in range(n_groups[p])]) for one in of_part]
        for p, of_part in enumerate(chosen)
    ]
