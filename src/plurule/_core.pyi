"""The compiled core: it learns rule lists, applies them, and selects rules from a pool of bodies.

This file is the contract. Arrays must have the dtype that is stated and be C-contiguous unless something else is said;
others are refused, nothing is converted. Structs (`Condition`, `LearnedRule`, `Criterion`, `CoverUpdate`, `Choice`) are
immutable, compared and hashed by their fields, and can be pickled; they take any sequence where a tuple is stated.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

class Columns:
    def __init__(self, n_rows: int, max_bins: int, weights: NDArray[np.float64] | None, n_threads: int = 1) -> None: ...
    def add_dense(self, columns: list[NDArray[Any]], categories: NDArray[np.int32]) -> None: ...
    def add_sparse(
        self,
        ends: NDArray[np.int64],
        rows: NDArray[np.int32],
        values: NDArray[Any],
        picked: NDArray[np.int64],
        categories: NDArray[np.int32],
    ) -> None: ...

class Formula(Enum):
    f_measure = ...
    accuracy = ...
    precision = ...
    recall = ...
    laplace = ...
    m_estimate = ...
    relative_accuracy = ...
    gain = ...
    custom = ...

class HeadSearch(Enum):
    single = ...
    decomposable = ...
    relaxed = ...

class Options:
    averages_labels: bool
    head_search: HeadSearch
    lift: list[float]
    predict_absence: bool
    label_conditions: bool
    fix_head: bool
    beam_width: int
    remaining: float
    stop_threshold: float
    max_conditions: int
    min_coverage: float
    allowed_attributes: list[int]
    def set_heuristic(self, formula: Formula, parameter: float = 0.0) -> None: ...
    def set_custom_heuristic(self, function: Callable[..., NDArray[np.float64]]) -> None: ...
    def set_labels_apart(self, apart: NDArray[np.uint8]) -> None: ...
    def set_exclusive_labels(self, groups: NDArray[np.int32]) -> None: ...
    def set_hierarchy(self, above: NDArray[np.uint8]) -> None: ...
    def set_directions(self, forbidden: NDArray[np.uint8], nominal: NDArray[np.uint8], by_label: bool) -> None: ...
    def set_min_precision(self, threshold: float, of_label: bool, when_finished: bool) -> None: ...

class Condition:
    """A condition of a learned rule."""

    operator: str
    """`"<="`, `">"` (numeric attributes), `"="` (nominal attributes) or `"label"` (what earlier rules predicted)."""
    index: int
    """Position of the attribute, or of the label."""
    value: float | int
    """A threshold (float), the code of a category (int), or whether the label is predicted as present (1 or 0)."""
    def __init__(self, operator: str, index: int, value: float) -> None: ...

class LearnedRule:
    """A rule that a training run has learned, with its counts at that time."""

    labels: tuple[int, ...]
    """The labels of the head, as the search found them: without what groups and the hierarchy imply."""
    present: tuple[bool, ...]
    """Of each label of the head, whether it is predicted as present."""
    body: tuple[Condition, ...]
    tp: float
    """Weight of the pairs of row and head label that are predicted right, and wrong (`fp`)."""
    fp: float
    coverage: float
    """Weight of the rows that the rule covers, of those that no stop rule has ended."""
    value: float
    """Value of the heuristic, with its lift."""
    stop: bool
    """Whether the rule ends the rows for which it decides a label."""
    decided: tuple[tuple[float, float], ...]
    """Per label of the completed head (with what groups and the hierarchy imply, ascending): the weight of the pairs
    that the rule decides right, and wrong."""
    def __init__(
        self,
        labels: Sequence[int],
        present: Sequence[bool],
        body: Sequence[Condition],
        tp: float,
        fp: float,
        coverage: float,
        value: float,
        stop: bool,
        decided: Sequence[tuple[float, float]],
    ) -> None: ...

class Run:
    """A training run: separate and conquer."""

    def __init__(
        self,
        columns: Columns,
        truth: NDArray[np.uint8],
        weights: NDArray[np.float64] | None,
        options: Options,
        n_threads: int = 1,
        predicted: NDArray[np.int8] | None = None,
        in_training: NDArray[np.uint8] | None = None,
        head_labels: NDArray[np.uint8] | None = None,
    ) -> None: ...
    def learn(
        self,
        n_rules: int | None = None,
        progress: Callable[[int, float], None] | None = None,
        rules_before: int = 0,
    ) -> None: ...
    def rules(self) -> list[LearnedRule]: ...
    def bodies(self) -> list[list[Condition]]:
        """Return only the bodies of the rules, which is faster."""
    def undecided(self) -> list[tuple[float, float]]:
        """Return, per label, the weight of the absent and of the present pairs that no rule decided."""

def decide(
    n_rows: int,
    columns: list[NDArray[Any] | tuple[NDArray[np.int32], NDArray[Any]]],
    conditions: list[tuple[int, int, float]],
    rules: list[tuple[list[int], list[tuple[int, bool]], bool]],
    predicted: NDArray[np.int8],
    decided_by: NDArray[np.int32] | None,
    going_on: NDArray[np.bool_] | None,
    n_threads: int,
) -> None: ...
def has_avx2() -> bool: ...

class Criterion:
    """What a selected rule is worth: see `SelectionCriterion`."""

    lam: float
    """λ: the precision above which a prediction gains."""
    condition_price: float
    """The share of its gain that a rule pays for each of its conditions."""
    exceptions: bool
    """Whether labels that gain for every row are predicted by a default rule, and others are its exceptions."""
    lift: tuple[float, ...]
    """ρ(1), …, ρ(labels)."""
    default_labels: tuple[int, ...]
    """Per exclusive group, the label that the default rule predicts."""
    def __init__(
        self,
        lam: float,
        condition_price: float,
        exceptions: bool,
        lift: Sequence[float],
        default_labels: Sequence[int],
    ) -> None: ...

class CoverUpdate:
    """A body that decides a label after other bodies have: the pairs of the label that it covers first.

    With three bodies, `CoverUpdate(2, 0, (1,))` is about the open pairs of label 0 that body 2 covers and body 1
    does not.
    """

    body: int
    label: int
    before: tuple[int, ...]
    """The bodies that have decided the label before, ascending."""
    def __init__(self, body: int, label: int, before: Sequence[int]) -> None: ...

class Choice:
    """A body, by its position in its pool, and the labels that it decides."""

    body: int
    head: tuple[int, ...]
    present: tuple[bool, ...]
    """Of each label of the head, whether it is predicted as present. Rules before a default rule predict the absence
    of its labels, but for exclusive groups."""
    decided: tuple[int, ...]
    """The labels that are decided, ascending: those of the head, and with a label of an exclusive group the others of
    it, which are absent."""
    is_default: bool
    """Whether this is the default rule: the first choice, and the last rule of the list."""
    def __init__(
        self, body: int, head: Sequence[int], present: Sequence[bool], decided: Sequence[int], is_default: bool
    ) -> None: ...

class PoolSelection:
    """Rules selected from a pool of bodies, by several criteria side by side: again and again the best one is added.

    It knows no rows. The caller counts: once for the whole pool, then for each cover update that is asked for:

        while updates := selection.choose():
            selection.update(rows.cover_updates(updates))  # or the sum of it over many `PoolRows`
        selection.chosen()
    """

    def __init__(
        self,
        n_conditions: NDArray[np.float64],
        sums: NDArray[np.float64],
        label_weights: NDArray[np.float64],
        min_precision: float,
        forbidden: NDArray[np.uint8],
        excludes: Sequence[Sequence[int]],
        groups: Sequence[Sequence[int]],
        hierarchy: Sequence[tuple[int, int]],
        criteria: Sequence[Criterion],
        max_rules: int,
        cache_size: int,
    ) -> None:
        """Begin a selection.

        Parameters
        ----------
        n_conditions
            float64[bodies]. The first body of a pool is the empty one.
        sums
            float64[2, labels, bodies]: the weight of the open pairs of a label that a body covers: of those that have
            the label, and of all.
        label_weights
            float64[labels]: factors of what labels gain; 0 for a label that no rule may predict.
        min_precision
            The least precision of every label of a head.
        forbidden
            uint8[2, labels, bodies]: whether a body must not predict a label, as absent and as present.
        excludes
            Per label, the labels that must not stand beside it in a head; empty if all may.
        groups
            Exclusive labels, of which each row has exactly one.
        hierarchy
            Pairs of labels, of which the first implies the second.
        criteria
            What rules are worth; one selection is made by each.
        max_rules
            The most choices of a selection.
        cache_size
            How many results of cover updates are kept, since criteria often choose alike.
        """
    def choose(self) -> list[CoverUpdate]:
        """Choose until cover updates are needed, and return these; none at the end."""
    def update(self, covered: NDArray[np.float64]) -> None:
        """Continue with the results of these cover updates: float64[updates, 2, bodies]."""
    def alike(self) -> list[int]:
        """Return, per criterion, the number of the first one that chooses the same."""
    def chosen(self) -> list[list[Choice]]:
        """Return what is chosen so far, per criterion; equal choices are the same object."""

class PrefixCounts:
    """Counts of predictions of presence after the initial rules (stage 0), the first choice, the second, …

    All are sums over rows: those of different `PoolRows` add up.
    """

    tp: NDArray[np.float64]
    """float64[choices + 1, labels]: weight of the pairs that are predicted as present and are, and are not (`fp`)."""
    fp: NDArray[np.float64]
    positives: NDArray[np.float64]
    """float64[labels]: weight of the pairs that have the label."""
    weight: float
    """Weight of the rows."""
    rows: tuple[NDArray[np.float64], ...]
    """Per stage, float64[k, 4], sorted: numbers of right, predicted and present labels, and the weight of the rows that
    have so many. Counts without weight are left out; empty unless asked for."""
    def __init__(
        self,
        tp: NDArray[np.float64],
        fp: NDArray[np.float64],
        positives: NDArray[np.float64],
        weight: float,
        rows: Sequence[NDArray[np.float64]],
    ) -> None: ...

class RuleCounts:
    """Weights of the pairs that each choice of a list decides."""

    decided: tuple[tuple[tuple[float, float], ...], ...]
    """Per choice, and label of its `decided`: the weight of the pairs that are right, and wrong."""
    undecided: tuple[tuple[float, float], ...]
    """Per label, the weight of the absent and of the present pairs that nothing decides."""
    def __init__(
        self, decided: Sequence[Sequence[tuple[float, float]]], undecided: Sequence[tuple[float, float]]
    ) -> None: ...

class PoolRows:
    """Some rows as bits, and what the bodies of a pool cover there: it answers what is asked about the rows.

    Bits are in little order: bit r % 8 of byte r // 8 is row r; n_bytes = ceil(n_rows / 8), and bits beyond the rows
    must
    be 0. The arrays of bits are read where they are, not copied: they must not change.
    """

    def __init__(
        self,
        n_rows: int,
        rows: NDArray[np.uint8],
        holds: NDArray[np.uint8],
        present: NDArray[np.uint8],
        open: NDArray[np.uint8] | None,
        predicted: NDArray[np.uint8] | None,
        weights: NDArray[np.float64] | None,
    ) -> None:
        """Take rows.

        Parameters
        ----------
        rows
            uint8[n_bytes]: the rows that count; everything else is masked by it.
        holds
            uint8[bodies, n_bytes]: the rows that bodies cover. The empty body, the first of a pool, covers all.
        present
            uint8[labels, n_bytes]: the pairs that have the label.
        open
            uint8[labels, n_bytes]: the pairs that initial rules leave open; None for all.
        predicted
            uint8[labels, n_bytes]: the pairs that initial rules predict as present; None for none. They are not open.
        weights
            float64[n_rows], multiples of a unit such that all sums are exact; None if every row counts 1.
        """
    def cover_updates(self, updates: Sequence[CoverUpdate]) -> NDArray[np.float64]:
        """Return float64[updates, 2, bodies]: the weight of the open pairs that updates share with each body.

        First of the pairs that have the label, then of all. Updates that share `body` and `before` should be
        neighbours.
        """
    def select(self, selection: PoolSelection) -> None:
        """Choose by a selection, counting by these rows, until nothing more is chosen."""
    def prefix_counts(self, choices: Sequence[Choice], labels: Sequence[int], by_row: bool) -> PrefixCounts:
        """Return the counts of every beginning of the choices, for some labels (in their order).

        The default rule, which only the first choice may be, predicts its labels until another choice decides them.
        `by_row`: whether to count the labels of each row, too.
        """
    def decide(self, choices: Sequence[Choice]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Return uint8[labels, n_bytes] twice: the pairs that are predicted as present, and those that are decided
        at all.

        By the initial rules, the choices in their order, and the default rule at the end.
        """
    def rule_counts(self, choices: Sequence[Choice]) -> RuleCounts:
        """Return what each choice decides; choices decide in their order, the default rule at the end."""
