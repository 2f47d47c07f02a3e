"""Data in parts, wherever they are, as an estimator is given them: parts become blocks, and blocks are counted."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.fingerprint import digest, pack
from plurule.data.table import Table
from plurule.distributed import pooled
from plurule.distributed.block import Standing
from plurule.distributed.counts import BlockCounts, Values
from plurule.distributed.part import with_classes_of_all
from plurule.distributed.pieces import Blocks, Pieces
from plurule.distributed.preparing import (
    Columns,
    Kept,
    Plan,
    around,
    build,
    columns_of,
    exact_weights_of,
    expect_kept_by,
    label_sets,
    merged_slots,
    most_values,
    rows_of,
    summed_rules,
    surveyed,
    table_of,
    united,
    values_of,
)
from plurule.errors import DataError
from plurule.learning.binning import with_short_thresholds
from plurule.learning.constraints import ResolvedConstraints
from plurule.learning.covering import Progress, cover
from plurule.learning.problem import Options, Problem
from plurule.model import Attribute, NumericCondition, Rule, RuleList
from plurule.model.file import rule_from_json, rule_to_json
from plurule.prediction.counts import recount
from plurule.prediction.staged import Summed, stages_of
from plurule.selection.folds import make_parts
from plurule.selection.gain_cover import Body, Price, gain_of, select
from plurule.selection.journal import Journal
from plurule.selection.training_data import Scores, Selection, TrainingData


class PartitionedData(ABC):
    """Data of which the parts, and the blocks that are made of them, are somewhere."""

    checkpoint: str | os.PathLike[str] | None = None
    """A file in which every rule is kept as soon as it is learned, so that learning goes on where it was ended."""

    @abstractmethod
    def partitions(self, n_jobs: int) -> AbstractContextManager[Pieces]:
        """The parts, and a place for blocks, which is given back at the end."""

    @cached_property
    def columns(self) -> Columns:
        """What the parts agree on, after a look at each of them."""
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
        """The data, ready to be counted; what that takes is given back at the end."""
        if not len(self):
            raise DataError("the source holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
        with contextlib.ExitStack() as stack:
            partitions = stack.enter_context(self.partitions(n_jobs))
            form = self.columns.form
            if form.columns:
                partitions.then = partial(with_classes_of_all, form=form, labels=self.label_names)
            if constraints is not None and (constraints.hierarchy or constraints.exclusive):
                partitions.map(expect_kept_by, constraints)
            journal = None
            if self.checkpoint is not None:
                asked = vars(options) | {"lift": options.lift.tolist()}
                arguments = {"options": repr(asked), "given": repr(given), "constraints": repr(constraints)}
                journal = stack.enter_context(Journal(Path(self.checkpoint), arguments))
            yield BlockFolds(partitions, self.columns, options.max_bins, given, constraints, remember_rows, journal)


@dataclass(eq=False)
class BlockFolds(TrainingData):
    """Rows in blocks, of which some may be held out; every look at the parts is taken once."""

    parts: Pieces
    columns: Columns
    max_bins: int | None
    given: tuple[Rule, ...]
    constraints: ResolvedConstraints | None
    remember_rows: bool
    journal: Journal | None = None
    is_whole: bool = False
    """Whether the only part of the cross-validation is all rows."""
    _made: dict[str, Any] = field(default_factory=dict)
    _lists: Iterator[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        if "kept" in self._made:
            return
        self._made["kept"] = kept = [Kept(weights) for weights in exact_weights_of(self.columns)]
        self._made["surveys"], sets = surveyed(self.parts, self.columns, kept, most_values(self.max_bins))
        self._made["sets"] = {one: number for number, one in enumerate(sets)}
        self._made["sums"] = np.array(list(sets.values()))

    @property
    def kept(self) -> list[Kept]:
        """What is known of the rows of each part."""
        return list(self._made["kept"])

    @property
    def n_groups(self) -> tuple[int, ...]:
        """Of the held-out rows of each part of the cross-validation."""
        return tuple(self._made.get("n_groups", ()))

    @cached_property
    def problem(self) -> Problem:  # type: ignore[override]
        return self._labels(*self._made["sums"].T)

    @property
    def n_parts(self) -> int:
        return 1 if self.is_whole else len(self.n_groups)

    def split(self, cv: Any, positions: NDArray[np.intp] | None = None) -> Self:
        kept, known = self.kept, self._made["sets"]
        if positions is None and self.columns.weights is not None:
            weights = [one.weights for one in kept if one.weights is not None]
            positions = np.flatnonzero(np.concatenate(weights) > 0) if weights else None
        told = self.parts.map(label_sets, each=kept)
        sets = [np.array([known[one] for one in listed], np.uint32)[which] for listed, which in told]
        parts = make_parts(cv, self.label_sets[np.concatenate(sets)], positions)
        roles = np.full((len(parts), sum(map(len, sets))), -1, np.int8)
        for role, part in zip(roles, parts, strict=True):
            role[part.train] = 0
            for number, group in enumerate(part.groups):
                role[group] = number + 1
        each = np.split(roles, np.cumsum([len(which) for which in sets])[:-1], axis=1)
        kept = [one._replace(roles=np.ascontiguousarray(mine)) for one, mine in zip(kept, each, strict=True)]
        for name in ("values", "blocks"):
            self._made.pop(name, None)
        self._made |= {"kept": kept, "sets of rows": sets, "n_groups": [len(part.groups) for part in parts]}
        return self

    def everything(self) -> Self:
        return replace(self, is_whole=True)

    def training(self, part: int) -> Problem:
        return self.problem if self.is_whole else self._in_role(part, 0)

    def held_out(self, part: int) -> list[Problem]:
        return [self._in_role(part, group + 1) for group in range(self.n_groups[part])]

    @property
    def label_sets(self) -> NDArray[np.uint8]:
        """All label sets, one per row."""
        known = self._made["sets"]
        packed = np.frombuffer(b"".join(known), np.uint8).reshape(len(known), -1)
        return np.unpackbits(packed, axis=1, count=len(self.columns.labels))

    def _in_role(self, part: int, role: int) -> Problem:
        """The label sets of the rows that have a role in a part."""
        weights, rows = np.zeros((2, len(self._made["sets"])))
        for which, one in zip(self._made["sets of rows"], self.kept, strict=True):
            assert one.roles is not None
            inside = one.roles[part] == role
            weights += np.bincount(which[inside], one.ones(len(which))[inside], len(weights))
            rows += np.bincount(which[inside], minlength=len(rows))
        return self._labels(weights, rows)

    def _labels(self, weights: NDArray[np.float64], rows: NDArray[np.float64]) -> Problem:
        """Label sets and what they weigh, as a problem of so many rows."""
        there = np.flatnonzero(rows)
        table, Y = table_of(self.columns.attributes, {}, len(there)), self.label_sets[there]
        known = table, self.columns.labels, Y, weights[there], self.given, self.constraints
        return Problem(*known, n_rows=int(rows.sum()))

    @property
    def values(self) -> list[tuple[Values, ...]]:
        """Per sample, the ranks of all attributes."""
        if "values" not in self._made:
            n_samples, surveys = 1 + len(self.n_groups), self._made["surveys"]
            self._made["values"] = values_of(self.parts, self.columns, self.kept, surveys, self.max_bins, n_samples)
        return list(self._made["values"])

    @property
    def blocks(self) -> Blocks:
        """The binned rows."""
        if "blocks" not in self._made:
            samples, merged = self.values, None
            fine = samples[0]
            if len(samples) > 1:
                fine = united(samples)
                merged = merged_slots(samples, fine, len(self.columns.labels))
                self._made["values"] = [
                    tuple(one.within(finer) for one, finer in zip(sample, fine, strict=True)) for sample in samples
                ]
            plan = Plan(self.columns.attributes, fine, self.columns.labels, self.given, self.remember_rows, merged)
            self._made["blocks"], sides = self.parts.make(build, plan, each=self.kept)
            self._made["rules"] = summed_rules([side.given for side in sides])
            self._made["rows"] = [side.rows for side in sides if side.rows is not None]
        blocks: Blocks = self._made["blocks"]
        return blocks

    def learn(self, part: int, options: Options, may_grow: bool = False, progress: Progress | None = None) -> RuleList:
        blocks, number = self.blocks, next(self._lists)
        sample = 0 if self.is_whole else part + 1
        rules, journal, task = list(self._made["rules"]), self.journal, f"list {number}"
        if journal is not None:
            journal.expect("the data", self._fingerprint())
            while (kept := journal.results.get(f"{task}, rule {len(rules)}")) is not None:
                rules.append(rule_from_json(kept, self.columns.attributes, self.columns.labels))

        def note(rule: Rule) -> None:
            rules.append(rule)
            if journal is not None:
                journal.add(f"{task}, rule {len(rules) - 1}", rule_to_json(rule))

        # Blocks may be known to other programs, which number their lists, too.
        standing = Standing((), sample, secrets.randbits(62))
        counts = BlockCounts(blocks, self.problem, self.values[sample], tuple(rules), standing, note)
        return cover(counts, tuple(rules), options, progress)

    def learn_one(self, options: Options, progress: Progress | None = None) -> RuleList:
        learned = self.everything().learn(0, options, progress=progress)
        return with_short_thresholds(learned, self.values_for(learned), len(self.given))

    def _fingerprint(self) -> str:
        """Differs if names, the number of rows, label sets, the ends of ranks or what is held out do."""
        ends = ((values.lowest, values.highest) for values in itertools.chain(*self.values))
        given = self.columns.attributes, self.columns.labels, self.columns.rows, self.label_sets, self._made["sums"]
        return digest(*given, *itertools.chain(*self.kept), *ends)

    def staged(
        self, asked: Sequence[tuple[RuleList, int]], measures: Sequence[str], kept: NDArray[np.intp] | None
    ) -> list[Scores]:
        results: list[Scores] = [[{} for _ in range(self.n_groups[part])] for _, part in asked]
        for measure in measures:
            shared = self.columns.attributes, asked, self.n_groups, kept, measure
            sums = iter(self.parts.total(stage_part, *shared, each=self.kept))
            for group in itertools.chain(*results):
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
        asked = pooled.Pools(self.columns.attributes, self.columns.labels, self.given, pools)
        rows = [Kept(one.weights) for one in self.kept] if self.is_whole else self.kept
        blocks, _ = self.parts.make(pooled.PooledBlock.make, asked, each=rows)
        given = blocks.total(pooled.PooledBlock.counts), partial(blocks.total, pooled.PooledBlock.taken)
        chosen = select(pools, prices, n_rules, self.problem.constraints, *given)
        if measure is None:
            yield from ([Selection(one, []) for one in of_part] for of_part in chosen)
        else:
            yield from pooled.scored(blocks, chosen, self.n_groups, kept, measure)

    def counted(self, part: int, rules: tuple[Rule, ...], lam: float) -> RuleList:
        problem, given = self.problem, self._made["rules"]
        plain = problem.listed((*given, *rules))
        if not self.is_whole:
            return plain  # which is only to be scored
        told = self.parts.map(recount_part, plain, each=self.kept)
        learned = summed_rules([one.rules[len(given) :] for one in told])
        undecided = np.sum([one.undecided for one in told], axis=0).tolist()
        valued = (replace(rule, value=gain_of(rule, lam)) for rule in learned)
        return replace(plain, rules=(*given, *valued), undecided=tuple(map(tuple, undecided)))

    def values_for(self, rule_list: RuleList) -> Table:
        """The ends of ranks, a fraction, and what is around thresholds; the parts are asked where that is in a rank."""
        values = self.values[0]
        tests = [c for rule in rule_list[len(self.given) :] for c in rule.body if isinstance(c, NumericCondition)]
        asked = list(dict.fromkeys((test.index, test.threshold) for test in tests))
        unknown = [(index, t) for index, t in asked if values[index].cuts_rank(t)]
        told = np.array(self.parts.map(around, unknown, each=self.kept)) if unknown else np.zeros((1, 0, 2))
        ends = np.column_stack([told[:, :, 0].max(axis=0), told[:, :, 1].min(axis=0)])
        known = {}
        for index in rule_list.tested_attributes():
            inside = ends[[place for place, (other, _) in enumerate(unknown) if other == index]].ravel()
            one = values[index]
            found = np.unique(np.concatenate([one.lowest, one.highest, inside, [one.fraction]]))
            known[index] = found[np.isfinite(found)]
        return table_of(self.columns.attributes, known)

    def fingerprints(self) -> bytes:
        assert self.blocks is not None
        return pack(np.concatenate(self._made["rows"]))


def stage_part(
    part: Dataset, attributes: Any, asked: Any, n_groups: Sequence[int], labels: Any, measure: str, kept: Kept
) -> list[Summed]:
    """What lists get right and wrong on the rows of a part that are held out from them: of each list and group."""
    table, Y, ones = rows_of(part, attributes, kept)
    found = []
    for rule_list, of in asked:
        for group in range(n_groups[of]):
            assert kept.roles is not None
            rows = np.flatnonzero(kept.roles[of] == group + 1)
            found.append(Summed.of(stages_of(rule_list, table[rows], Y[rows], ones[rows], labels), measure))
    return found


def recount_part(part: Dataset, rule_list: RuleList, kept: Kept) -> RuleList:
    """A list with the counts of the rows of a part."""
    return recount(rule_list, *rows_of(part, rule_list.attributes, kept))
