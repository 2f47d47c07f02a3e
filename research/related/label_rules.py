"""Implications among labels, mined and chosen for `research.related.inference`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule import ParameterError
from research.related.columns import Mask
from research.related.labels import Labels

Premise = tuple[int, ...]
CELLS = 4_000_000
"""Rows times premises that are counted at once."""


class Extensible(NamedTuple):
    """What is known of a premise that may be part of a longer one that implies something else."""

    implied: int
    """Labels that it or a part of it implies, as bits."""
    labels: list[int]
    """Later labels that enough rows have, too."""


@dataclass(frozen=True)
class LabelRule:
    """Labels that imply another label."""

    premise: Premise
    conclusion: int
    confidence: float
    support: int
    """Training rows with the premise and the conclusion."""


def mine_label_rules(
    Y: Labels, min_support: float, min_confidence: float, max_premise: int, max_sets: int = 500_000
) -> list[LabelRule]:
    """Return implications among labels with least premises, by confidence, support and length of the premise.

    >>> [(rule.premise, rule.conclusion) for rule in mine_label_rules(np.array([[1, 1], [1, 1], [0, 1]]), 2, 0.9, 1)]
    [((0,), 1)]

    Raises
    ------
    ParameterError
        If there are more than `max_sets` premises.
    """
    # A premise that no row has implies nothing.
    min_rows = max(min_support, 1)
    rules: list[LabelRule] = []
    n_premises = 0
    frequent = np.flatnonzero(Y.sum(axis=0, dtype=np.int64) >= min_rows).tolist()
    level: dict[Premise, Extensible] = {(): Extensible(0, frequent)}
    for _ in range(max_premise):
        premises: dict[Premise, int] = {}
        for premise, implied in _longer(level):
            premises[premise] = implied
            if n_premises + len(premises) > max_sets:
                raise _too_many(max_sets, min_rows)
        n_premises += len(premises)
        level = {}
        for premise, counts, coverage in _counted(Y, list(premises)):
            enough = counts >= min_support
            concluded = enough & (counts >= min_confidence * coverage - 1e-9)
            # A rule whose premise holds that of another one infers nothing more.
            shorter = premises[premise]
            rules += [
                LabelRule(premise, label, float(counts[label] / coverage), int(counts[label]))
                for label in np.flatnonzero(concluded).tolist()
                if not shorter >> label & 1
            ]
            implied = shorter | _as_bits(concluded)
            if _as_bits(enough) & ~implied:
                beyond = premise[-1] + 1
                level[premise] = Extensible(implied, (beyond + np.flatnonzero(counts[beyond:] >= min_rows)).tolist())
    return sorted(rules, key=lambda rule: (-rule.confidence, -rule.support, len(rule.premise)))


def _longer(level: dict[Premise, Extensible]) -> Iterator[tuple[Premise, int]]:
    """Return premises with one more label, and what parts of them imply; those that may imply something else."""
    for premise, extensible in level.items():
        for label in extensible.labels:
            parts = [(*premise[:i], *premise[i + 1 :], label) for i in range(len(premise))]
            if all(part in level for part in parts):
                yield (*premise, label), reduce(or_, [level[part].implied for part in parts], extensible.implied)


def _counted(Y: Labels, premises: list[Premise]) -> Iterator[tuple[Premise, NDArray[np.int32], int]]:
    """Return for each premise how many of its rows have each label (-1 for its own labels), and how many it has."""
    present = Y.astype(bool).T
    labels = sp.csr_array(Y.astype(np.int32))
    at_once = max(1, CELLS // max(len(Y), 1))
    for start in range(0, len(premises), at_once):
        chunk = np.array(premises[start : start + at_once])
        rows = present[chunk[:, 0]]
        for place in range(1, chunk.shape[1]):
            rows &= present[chunk[:, place]]
        counts = (sp.csr_array(rows.astype(np.int32)) @ labels).toarray()
        np.put_along_axis(counts, chunk, -1, axis=1)
        yield from zip(premises[start : start + at_once], counts, rows.sum(axis=1).tolist(), strict=True)


def _as_bits(mask: Mask) -> int:
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def _too_many(max_sets: int, min_rows: float) -> ParameterError:
    return ParameterError(
        "min_support",
        min_rows,
        f"lets more than {max_sets} premises through ({min_rows:g} rows are enough); set a higher min_support or a "
        "lower max_premise, or allow more max_sets",
    )


def choose_inferred(rules: list[LabelRule], Y: Labels, min_recall: float) -> list[LabelRule]:
    """Return the rules of the labels to leave out; no premise holds one of these."""
    present = Y.astype(bool)
    needed: set[int] = set()
    left_out: set[int] = set()
    inferred: list[LabelRule] = []
    by_conclusion: dict[int, list[LabelRule]] = {}
    for rule in rules:
        by_conclusion.setdefault(rule.conclusion, []).append(rule)
    for label, concluding in by_conclusion.items():
        if label in needed:
            continue
        usable = [rule for rule in concluding if left_out.isdisjoint(rule.premise)]
        if not usable:
            continue
        found = np.zeros(len(Y), dtype=bool)
        for rule in usable:
            found |= present[:, rule.premise].all(axis=1)
        if (found & present[:, label]).sum() >= min_recall * present[:, label].sum():
            inferred += usable
            left_out.add(label)
            needed |= {premise for rule in usable for premise in rule.premise}
    return inferred
