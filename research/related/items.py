"""Items and frequent itemsets, counted with bitsets: the candidates of learners that need nominal attributes.

An item is a condition on one attribute. A nominal attribute has an item per category, one of few numbers an item per
number, another numeric one an item per bin; bins hold about equally many training instances. Items that hold for nearly
all instances are left out: they say little, and double the number of itemsets (`word = 0` in a text).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurule import ParameterError
from plurule.model import Condition, OneOfCondition, RangeCondition
from research.related.columns import Columns, Mask

Bits = NDArray[np.uint64]
MAX_SHARE = 0.8
"""Items that hold for a larger share of the instances are left out."""


@dataclass(frozen=True, eq=False)
class Items:
    """Conditions, and the instances that satisfy each."""

    conditions: tuple[Condition, ...]
    masks: Mask
    """Items × instances."""


def make_items(columns: Columns, n_bins: int) -> Items:
    """Return the items of all attributes that hold for some instances, but not for nearly all."""
    conditions: list[Condition] = []
    masks: list[Mask] = []
    for index in range(len(columns.attributes)):
        for condition in _conditions(columns, index, n_bins):
            mask = columns.mask(condition)
            if 0 < mask.sum() <= MAX_SHARE * len(mask):
                conditions.append(condition)
                masks.append(mask)
    n_rows = len(columns.values[0]) if columns.values else 0
    return Items(tuple(conditions), np.array(masks, dtype=bool).reshape(len(masks), n_rows))


def _conditions(columns: Columns, index: int, n_bins: int) -> Iterator[Condition]:
    attribute = columns.attributes[index]
    for category in attribute.categories or ():
        yield OneOfCondition(attribute.name, index, (category,))
    if attribute.categories is None:
        thresholds = bin_thresholds(columns.values[index], n_bins)
        for above, at_most in zip([None, *thresholds], [*thresholds, None], strict=True):
            if above is not None or at_most is not None:
                yield RangeCondition(attribute.name, index, above, at_most, is_date=attribute.is_date)


def bin_thresholds(values: NDArray[np.float64], n_bins: int) -> list[float]:
    """Return ascending thresholds between bins that hold about equally many values.

    >>> bin_thresholds(np.array([1.0, 2, 3, 4]), 2), bin_thresholds(np.array([0.0, 0, 0, 0, 1]), 4)
    ([2.5], [0.5])
    """
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) < 2:
        return []
    middles = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
    if len(distinct) <= n_bins:
        return middles.tolist()
    wanted = np.nanquantile(values, np.arange(1, n_bins) / n_bins)
    places = np.searchsorted(distinct, wanted, side="right") - 1
    return middles[np.unique(np.minimum(places, len(middles) - 1))].tolist()


def pack(masks: Mask) -> Bits:
    """Return masks (along the last axis) as words of 64 bits.

    >>> pack(np.array([True, False, True])).tolist()
    [5]
    """
    n_rows = masks.shape[-1]
    padding = [(0, 0)] * (masks.ndim - 1) + [(0, -n_rows % 64)]
    packed = np.packbits(np.pad(masks, padding), axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint64)


def unpack(bits: Bits, n_rows: int) -> Mask:
    """Return the masks of words."""
    return np.unpackbits(bits.view(np.uint8), axis=-1, bitorder="little")[..., :n_rows].astype(bool)


def count(bits: Bits) -> NDArray[np.int32]:
    """Return the number of set bits along the last axis."""
    return np.bitwise_count(bits).sum(axis=-1, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Frequent itemsets with the instances they cover, and how many of these are in each target."""

    items: list[tuple[int, ...]]
    covers: Bits
    """Itemsets × words."""
    counts: NDArray[np.int32]
    """Itemsets × targets."""


def mine(items: Bits, targets: Bits, min_rows: float, max_items: int, max_sets: int) -> Itemsets:
    """Return the itemsets that cover at least `min_rows` instances of some target; longer ones extend frequent ones.

    Raises
    ------
    ParameterError
        If there are more than `max_sets`.
    """
    sets: list[tuple[int, ...]] = []
    covers = [np.empty((0, items.shape[-1]), dtype=np.uint64)]
    counts = [np.empty((0, len(targets)), dtype=np.int32)]
    frequent = np.flatnonzero(_best(items, targets) >= min_rows)
    everything = np.full(items.shape[-1], ~np.uint64(0))
    level: list[tuple[tuple[int, ...], Bits]] = [((), everything)]
    for _ in range(max_items):
        longer: list[tuple[tuple[int, ...], Bits]] = []
        for itemset, cover in level:
            extensions = frequent[frequent > itemset[-1]] if itemset else frequent
            together = cover & items[extensions]
            enough = np.flatnonzero(count(together) >= min_rows)
            in_targets = np.stack([count(together[enough] & target) for target in targets], axis=1)
            kept = in_targets.max(axis=1, initial=0) >= min_rows
            chosen = enough[kept]
            longer += [((*itemset, item), bits) for item, bits in _pairs(extensions[chosen], together[chosen])]
            counts.append(in_targets[kept])
            if len(sets) + len(longer) > max_sets:
                raise _too_many(max_sets, min_rows)
        sets += [itemset for itemset, _ in longer]
        covers += [bits[None] for _, bits in longer]
        level = longer
    return Itemsets(sets, np.concatenate(covers), np.concatenate(counts))


def _pairs(items: NDArray[np.intp], covers: Bits) -> Iterator[tuple[int, Bits]]:
    return zip(items.tolist(), covers, strict=True)


def _best(items: Bits, targets: Bits) -> NDArray[np.int32]:
    """Return for each item the largest number of instances that it shares with a target."""
    return np.stack([count(items & target) for target in targets]).max(axis=0, initial=0)


def _too_many(max_sets: int, min_rows: float) -> ParameterError:
    return ParameterError(
        "min_support",
        min_rows,
        f"lets more than {max_sets} itemsets through ({min_rows:g} rows are enough); set a higher min_support, fewer "
        "max_conditions or fewer n_bins, or allow more max_sets",
    )


def body(itemset: Sequence[int], items: Items) -> tuple[Condition, ...]:
    """Return the conditions of an itemset."""
    return tuple(items.conditions[item] for item in itemset)
