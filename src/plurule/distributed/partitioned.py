"""Data in parts, wherever they are, as an estimator is given them: parts become blocks, and blocks are counted."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.fingerprint import PACKED
from plurule.data.table import Table
from plurule.data.targets import TargetForm
from plurule.distributed import pooled
from plurule.distributed.block import Standing
from plurule.distributed.counts import BlockCounts, Blocks, Values
from plurule.distributed.preparing import (
    Columns,
    Kept,
    Partitions,
    Plan,
    around,
    build,
    columns_of,
    exact_weights_of,
    merged_slots,
    most_values,
    rows_of,
    summed_rules,
    surveyed,
    table_of,
    united,
    values_of,
)
from plurule.errors import DataError, ParameterError
from plurule.learning.binning import with_short_thresholds
from plurule.learning.constraints import ResolvedConstraints
from plurule.learning.covering import Progress, cover
from plurule.learning.problem import Options, Problem
from plurule.model import Attribute, NumericCondition, Rule, RuleList
from plurule.model.file import rule_from_json, rule_to_json
from plurule.prediction.counts import recount
from plurule.prediction.staged import Summed, tallied
from plurule.selection.folds import make_parts
from plurule.selection.gain_cover import Body, Price
from plurule.selection.journal import Journal
from plurule.selection.training_data import CountedData, Scores, Selection, TrainingData


class PartitionedData(CountedData):
    """Data of which the parts, and the blocks that are made of them, are somewhere."""

    form = TargetForm()
    checkpoint: str | os.PathLike[str] | None = None
    """A file in which every rule is kept as soon as it is learned, so that learning goes on where it was ended."""

    @abstractmethod
    def partitions(self, n_jobs: int) -> AbstractContextManager[Partitions]:
        """The parts, and a place for blocks, which is given back at the end."""

    @cached_property
    def columns(self) -> Columns:
        """What the parts agree on, after a look at each of them."""
        with self.partitions(1) as partitions:
            return columns_of(partitions)

    @property
    def attributes(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        """Names and kinds of the columns that are no labels."""
        return self.columns.attributes

    @property
    def label_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the labels."""
        return self.columns.labels

    def __len__(self) -> int:
        return sum(self.columns.rows)

    @contextlib.contextmanager
    def training_data(
        self,
        options: Options,
        given: tuple[Rule, ...],
        constraints: ResolvedConstraints | None,
        n_jobs: int,
        remember_rows: bool,
    ) -> Iterator[BlockFolds]:
        if not len(self):
            raise DataError("the source holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
        if options.heuristic.example_based:
            what = "judges instances as a whole, which is not counted in blocks; use another one, or data in memory"
            raise ParameterError("heuristic", options.heuristic, f"{options.heuristic!r} {what}")
        with contextlib.ExitStack() as stack:
            partitions = stack.enter_context(self.partitions(n_jobs))
            journal = None
            if self.checkpoint is not None:
                asked = vars(options) | {"lift": options.lift.tolist()}
                arguments = {"options": repr(asked), "given": repr(given), "constraints": repr(constraints)}
                journal = stack.enter_context(Journal(Path(self.checkpoint), arguments))
            bins = options.max_bins
            yield BlockFolds(Source(partitions, self.columns, bins, given, constraints, remember_rows, journal))


@dataclass(frozen=True)
class RemoteProblem(Problem):
    """A problem whose rows are elsewhere; what is known of them are the label sets, and what each of them weighs."""

    n_rows: int = 0

    @property
    def n_instances(self) -> int:
        return self.n_rows


@dataclass(eq=False)
class Source:
    """Parts, and what was made of them: every look at them is taken once."""

    partitions: Partitions
    columns: Columns
    max_bins: int | None
    given: tuple[Rule, ...]
    constraints: ResolvedConstraints | None
    remember_rows: bool
    journal: Journal | None = None
    kept: list[Kept] = field(init=False)
    n_groups: tuple[int, ...] = ()
    """Of the held-out rows of each part of a cross-validation."""
    _made: dict[str, Any] = field(default_factory=dict)
    _runs: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        self.kept = [Kept(weights) for weights in exact_weights_of(self.columns)]
        self.surveys, sets = surveyed(
            self.partitions, self.columns, self.kept, most_values(self.max_bins), label_sets=True
        )
        known: dict[bytes, int] = {}
        self.set_of_rows = [
            np.array([known.setdefault(one, len(known)) for one in listed], np.uint32)[which] for listed, which in sets
        ]
        """Per part and row, the number of its label set."""
        packed = np.frombuffer(b"".join(known), np.uint8).reshape(len(known), -1)
        self.label_sets = np.unpackbits(packed, axis=1, count=len(self.columns.labels))

    def split(self, cv: Any, positions: NDArray[np.intp] | None) -> None:
        """Give every row its role in each part of a cross-validation."""
        if positions is None and self.columns.weights is not None:
            weights = [one.weights for one in self.kept if one.weights is not None]
            positions = np.flatnonzero(np.concatenate(weights) > 0) if weights else None
        sizes = [len(which) for which in self.set_of_rows]
        parts = make_parts(cv, self.label_sets[np.concatenate(self.set_of_rows)], positions)
        roles = np.full((len(parts), sum(sizes)), -1, np.int8)
        for role, part in zip(roles, parts, strict=True):
            role[part.train] = 0
            for number, group in enumerate(part.groups):
                role[group] = number + 1
        each = np.split(roles, np.cumsum(sizes)[:-1], axis=1)
        self.kept = [replace_roles(one, mine) for one, mine in zip(self.kept, each, strict=True)]
        self.n_groups = tuple(len(part.groups) for part in parts)
        self._made.clear()

    def labels(self, part: int | None, role: int) -> RemoteProblem:
        """The label sets of the rows that have a role in a part (all, if it is None), and what they weigh."""
        weights, rows = np.zeros(len(self.label_sets)), np.zeros(len(self.label_sets), np.int64)
        for which, one in zip(self.set_of_rows, self.kept, strict=True):
            inside: Any = slice(None) if part is None or one.roles is None else one.roles[part] == role
            weights += np.bincount(which[inside], one.ones(len(which))[inside], len(weights))
            rows += np.bincount(which[inside], minlength=len(weights))
        there = np.flatnonzero(rows)
        table = table_of(self.columns.attributes, {}, len(there))
        labels, Y = self.columns.labels, self.label_sets[there]
        known = table, labels, Y, weights[there], self.given, self.constraints
        return RemoteProblem(*known, n_rows=int(rows.sum()))

    @property
    def values(self) -> list[tuple[Values, ...]]:
        """Per sample, the ranks of all attributes."""
        if "values" not in self._made:
            n_samples = 1 + len(self.n_groups)
            given = self.partitions, self.columns, self.kept, self.surveys, self.max_bins, n_samples
            self._made["values"] = values_of(*given)
        found: list[tuple[Values, ...]] = self._made["values"]
        return found

    @property
    def blocks(self) -> Blocks:
        """The binned rows."""
        if "blocks" not in self._made:
            fine, merged = self.values[0], None
            if len(self.values) > 1:
                fine = united(self.values)
                merged = merged_slots(self.values, fine, len(self.columns.labels))
                self._made["values"] = [
                    tuple(one.within(finer) for one, finer in zip(sample, fine, strict=True)) for sample in self.values
                ]
            plan = Plan(self.columns.attributes, fine, self.columns.labels, self.given, self.remember_rows, merged)
            self._made["blocks"], sides = self.partitions.blocks(build, plan, self.kept)
            self.rules = summed_rules([side.given for side in sides])
            self.rows = [side.rows for side in sides if side.rows is not None]
        found: Blocks = self._made["blocks"]
        return found

    def learn(self, problem: Problem, sample: int, options: Options, progress: Progress | None = None) -> RuleList:
        """A list from the rows of a sample."""
        blocks, standing = self.blocks, Standing((), sample, next(self._runs))
        rules, journal, task = list(self.rules), self.journal, f"list {standing.run}"
        if journal is not None:
            journal.expect("the data", self._fingerprint())
            while (kept := journal.results.get(f"{task}, rule {len(rules)}")) is not None:
                rules.append(rule_from_json(kept, self.columns.attributes, self.columns.labels))

        def note(rule: Rule) -> None:
            rules.append(rule)
            if journal is not None:
                journal.add(f"{task}, rule {len(rules) - 1}", rule_to_json(rule))

        counts = BlockCounts(blocks, problem, self.values[sample], tuple(rules), standing, note)
        return cover(counts, tuple(rules), options, progress)

    def _fingerprint(self) -> str:
        """Differs if names, the number of rows, label sets, the ends of ranks or what is held out do."""
        digest = hashlib.sha256(repr((self.columns.attributes, self.columns.labels, self.columns.rows)).encode())
        digest.update(self.label_sets.tobytes())
        for which, one in zip(self.set_of_rows, self.kept, strict=True):
            digest.update(which.tobytes() + b"".join(part.tobytes() for part in one if part is not None))
        for values in itertools.chain(*self.values):
            digest.update(values.lowest.tobytes() + values.highest.tobytes())
        return digest.hexdigest()[:16]


def replace_roles(kept: Kept, roles: NDArray[np.int8]) -> Kept:
    """The same rows in other roles."""
    return kept._replace(roles=np.ascontiguousarray(roles))


@dataclass(frozen=True, eq=False)
class BlockFolds(TrainingData):
    """Rows in blocks, of which some may be held out."""

    source: Source
    is_whole: bool = False
    """Whether the only part is all rows."""

    @cached_property
    def problem(self) -> Problem:  # type: ignore[override]
        return self.source.labels(None, 0)

    @property
    def n_parts(self) -> int:
        return 1 if self.is_whole else len(self.source.n_groups)

    def split(self, cv: Any, positions: NDArray[np.intp] | None = None) -> Self:
        self.source.split(cv, positions)
        return replace(self)

    def everything(self) -> Self:
        return replace(self, is_whole=True)

    def training(self, part: int) -> Problem:
        return self.source.labels(None if self.is_whole else part, 0)

    def held_out(self, part: int) -> list[Problem]:
        return [self.source.labels(part, group + 1) for group in range(self.source.n_groups[part])]

    def learn(self, part: int, options: Options) -> RuleList:
        return self.source.learn(self.problem, 0 if self.is_whole else part + 1, options)

    def learn_one(self, options: Options, progress: Progress | None = None) -> RuleList:
        learned = self.source.learn(self.problem, 0, options, progress)
        return with_short_thresholds(learned, self.values_for(learned), len(self.source.given))

    def staged(
        self, asked: Sequence[tuple[RuleList, int]], measures: Sequence[str], kept: NDArray[np.intp] | None
    ) -> list[Scores]:
        source = self.source
        results: list[list[dict[str, NDArray[np.float64]]]] = [
            [{} for _ in range(source.n_groups[part])] for _, part in asked
        ]
        for measure in measures:
            shared = source.columns.attributes, asked, source.n_groups, kept, measure
            sums = iter(source.partitions.total(stage_part, shared, source.kept))
            for of_list in results:
                for group in of_list:
                    group[measure] = next(sums).scores(measure)
        return results

    def selections(
        self,
        pools: Sequence[Sequence[Body]],
        prices: Sequence[Price],
        n_rules: int,
        measure: str | None,
        kept: NDArray[np.intp],
    ) -> Iterator[list[Selection]]:
        source = self.source
        asked = pooled.Pools(source.columns.attributes, source.columns.labels, source.given, pools)
        rows = [Kept(one.weights) for one in source.kept] if self.is_whole else source.kept
        blocks, _ = source.partitions.blocks(pooled.PooledBlock.make, asked, rows)
        chosen = pooled.select(blocks, pools, prices, n_rules)
        if measure is None:
            yield from ([Selection(one, []) for one in of_part] for of_part in chosen)
        else:
            yield from pooled.scored(blocks, chosen, source.n_groups, kept, measure)

    def counted(self, part: int, rules: tuple[Rule, ...], lam: float) -> RuleList:
        source, problem = self.source, self.problem
        given = source.rules
        plain = RuleList((*given, *rules), problem.table.attributes, problem.labels, groups=problem.groups)
        if not self.is_whole:
            return plain  # which is only to be scored
        told = source.partitions.map(recount_part, plain, source.kept)
        learned = summed_rules([one.rules[len(given) :] for one in told])
        undecided = np.sum([one.undecided for one in told], axis=0).tolist()
        valued = (replace(rule, value=rule.tp - lam * (rule.tp + rule.fp)) for rule in learned)
        return replace(plain, rules=(*given, *valued), undecided=tuple(map(tuple, undecided)))

    def values_for(self, rule_list: RuleList) -> Table:
        """The ends of ranks, a fraction, and what is around thresholds; the parts are asked where that is in a rank."""
        source, values = self.source, self.source.values[0]
        tests = [c for rule in rule_list[len(source.given) :] for c in rule.body if isinstance(c, NumericCondition)]
        asked = list(dict.fromkeys((test.index, test.threshold) for test in tests))
        unknown = [(index, t) for index, t in asked if values[index].cuts_rank(t)]
        told = np.array(source.partitions.map(around, unknown, source.kept)) if unknown else np.zeros((1, 0, 2))
        ends = np.column_stack([told[:, :, 0].max(axis=0), told[:, :, 1].min(axis=0)])
        known = {}
        for index in rule_list.tested_attributes():
            inside = ends[[place for place, (other, _) in enumerate(unknown) if other == index]].ravel()
            one = values[index]
            found = np.unique(np.concatenate([one.lowest, one.highest, inside, [one.fraction]]))
            known[index] = found[np.isfinite(found)]
        return table_of(source.columns.attributes, known)

    def fingerprints(self) -> bytes:
        assert self.source.blocks is not None
        return np.unique(np.concatenate(self.source.rows)).astype(PACKED).tobytes()


def stage_part(part: Dataset, shared: Any, kept: Kept) -> list[Summed]:
    """What lists get right and wrong on the rows of a part that are held out from them: of each list and group."""
    attributes, asked, n_groups, labels, measure = shared
    table, Y, ones = rows_of(part, attributes, kept)
    found = []
    for rule_list, of in asked:
        for group in range(n_groups[of]):
            assert kept.roles is not None
            rows = np.flatnonzero(kept.roles[of] == group + 1)
            found.append(Summed.of(tallied(rule_list, table[rows], Y[rows], ones[rows], labels), measure))
    return found


def recount_part(part: Dataset, rule_list: RuleList, kept: Kept) -> RuleList:
    """A list with the counts of the rows of a part."""
    return recount(rule_list, *rows_of(part, rule_list.attributes, kept))
