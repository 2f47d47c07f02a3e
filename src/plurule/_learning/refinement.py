"""Growing a rule: find a head with the first condition, then specialise the body condition by condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule._learning.counting import Candidates, LabelWeights, Mask, State
from plurule._learning.head_search import (
    NOT_IN_HEAD,
    Heads,
    find_heads,
    has_gain,
    sum_in_order,
    tie_threshold,
    value_of,
)
from plurule._learning.problem import UNBOUND, Options
from plurule.model import Condition


@dataclass
class Candidate:
    """A rule in the making."""

    body: tuple[Condition, ...]
    covered: Any
    """Instances that its body covers, in the form of the data."""
    # covered: bool[rows]; signs: int8[labels].
    signs: NDArray[np.int8]
    """Per label: 1 present, 0 absent, -1 not in the head."""
    value: float
    tp: float
    fp: float

    @property
    def identity(self) -> tuple[frozenset[Condition], bytes]:
        """Equal for rules that differ only in the order of their conditions."""
        return frozenset(self.body), self.signs.tobytes()


@dataclass
class Pass:
    """The scores of many candidates, in the order of candidates."""

    # parents: the rules that are refined. blocks: number of the parent, candidates of one attribute, and their heads.
    parents: list[Candidate]
    blocks: list[tuple[int, Candidates, Heads]]

    def best(self, width: int) -> list[Candidate]:
        """The best `width` of them, best first, no two the same."""
        if not self.blocks:
            return []
        # All candidates of all blocks, one after the other. A copy: winners are struck out below.
        value = np.concatenate([heads.value for _, _, heads in self.blocks])
        tp = np.concatenate([heads.tp for _, _, heads in self.blocks])
        sizes = [len(heads.value) for _, _, heads in self.blocks]
        conditions = np.repeat([len(self.parents[parent].body) + c.added for parent, c, _ in self.blocks], sizes)
        starts = np.cumsum([0, *sizes])
        chosen: list[Candidate] = []
        while len(chosen) < width and (value > -np.inf).any():
            winner = best_index(value, tp, conditions)
            value[winner] = -np.inf
            block = int(np.searchsorted(starts, winner, side="right")) - 1
            rule = self._candidate(block, winner - int(starts[block]))
            # Two parents may be refined to the same rule, by conditions in different order.
            if all(rule.identity != other.identity for other in chosen):
                chosen.append(rule)
        return chosen

    def _candidate(self, block: int, position: int) -> Candidate:
        parent_index, candidates, heads = self.blocks[block]
        parent = self.parents[parent_index]
        condition = candidates.condition(position)
        return Candidate(
            body=parent.body if condition is None else (*parent.body, condition),
            covered=parent.covered,
            signs=heads.signs[position],
            value=float(heads.value[position]),
            tp=float(heads.tp[position]),
            fp=float(heads.fp[position]),
        )


def best_index(value: NDArray[np.float64], tp: NDArray[np.float64], conditions: NDArray[Any]) -> int:
    """Higher value, then more TP, then fewer conditions, then first; values in tolerance of the highest are equal."""
    tied = np.flatnonzero(value >= tie_threshold(value.max()))
    # lexsort: the last key comes first.
    return int(tied[np.lexsort((tied, conditions[tied], -tp[tied]))[0]])


def best_rule(state: State, options: Options) -> Candidate | None:
    """The best rule for the open pairs of the instances still in training, or None.

    Where the least precision is asked of finished rules, those on the way need not reach it. One that does not in the
    end is in nobody's way: its failing labels are searched by themselves, with every candidate asked, and set aside if
    that finds nothing.
    """
    if options.min_precision.when == "growing":
        return grow(state, options)
    while (found := grow(state, replace(options, min_precision=UNBOUND))) is not None:
        failing = failing_labels(state, found, options)
        if not failing.any():
            return found
        # Only the failing labels may be in heads here, and every candidate must reach the minimum precision.
        found = grow(state.with_set_aside(~failing), options)
        if found is not None:
            return found
        state.set_aside |= failing
    return None


def failing_labels(state: State, rule: Candidate, options: Options) -> Mask:
    """The labels for which a finished rule is not precise enough.

    Those that are not, where that is asked of labels and there are some; or else all of its head. None where it is
    precise enough.
    """
    failing = np.zeros(state.problem.n_labels, dtype=bool)
    if options.min_precision.of == "label":
        labels = np.flatnonzero(rule.signs != NOT_IN_HEAD)
        weights = state.head_pairs(labels, rule.signs[labels], whole=False)
        counts = weights.confusion(state.unrefined(rule.covered))
        failing[labels] = ~options.min_precision.reached(counts.tp[0], counts.fp[0])
    precise = bool(options.min_precision.reached(np.array(rule.tp), np.array(rule.fp)))
    return failing if failing.any() or precise else rule.signs != NOT_IN_HEAD


def grow(state: State, options: Options) -> Candidate | None:
    """The best rule that hill climbing finds, or None."""
    beam = first_pass(state, options)
    if not beam:
        return None
    best = best_of(beam)
    while beam:
        beam = refine(state, beam, options)
        best = best_of([best, *beam])
    return best


def may_grow(rule: Candidate, options: Options) -> bool:
    """Whether the rule may get another condition."""
    return options.max_conditions is None or len(rule.body) < options.max_conditions


def best_of(rules: list[Candidate]) -> Candidate:
    """The best of some rules; the first on a full tie."""
    value, tp, conditions = np.array([(rule.value, rule.tp, len(rule.body)) for rule in rules]).T
    return rules[best_index(value, tp, conditions)]


def first_pass(state: State, options: Options) -> list[Candidate]:
    """The empty body and every body of one condition, each with its own best head."""
    nothing = np.full(state.problem.n_labels, NOT_IN_HEAD, dtype=np.int8)
    # Covers the rows in training; -inf, so that any head is better.
    start = Candidate((), state.in_training, nothing, -np.inf, 0, 0)
    weights = state.open_pairs()
    candidates: list[Candidates] = [state.unrefined(start.covered)]
    if may_grow(start, options):
        candidates += state.refinements(start.covered, options.label_conditions)
    blocks = [(0, c, score_free(state, c, weights, start, options)) for c in candidates]
    return [with_coverage(state, rule) for rule in Pass([start], blocks).best(options.beam_width)]


def refine(state: State, beam: list[Candidate], options: Options) -> list[Candidate]:
    """The best rules that add one condition to a rule of the beam and are better than it."""
    blocks: list[tuple[int, Candidates, Heads]] = []
    for parent, rule in enumerate(beam):
        if not may_grow(rule, options):
            continue
        weights = head_weights(state, rule) if options.fix_head else state.open_pairs()
        for c in state.refinements(rule.covered, options.label_conditions):
            heads = (score_fixed if options.fix_head else score_free)(state, c, weights, rule, options)
            keep_improvements(heads, rule)
            blocks.append((parent, c, heads))
    return [with_coverage(state, rule) for rule in Pass(beam, blocks).best(options.beam_width)]


def keep_improvements(heads: Heads, rule: Candidate) -> None:
    """Give up candidates that are not better than the rule they refine."""
    # Values within the tolerance are equal, whichever is the higher one; then more TP is better.
    above = np.maximum(heads.value, rule.value)
    below = np.minimum(heads.value, rule.value)
    tied = below >= tie_threshold(above)
    better = np.where(tied, heads.tp > rule.tp, heads.value > rule.value)
    heads.value[~better] = -np.inf


def with_coverage(state: State, rule: Candidate) -> Candidate:
    """The rule with the instances that its last condition leaves."""
    if not rule.body:
        return rule
    return replace(rule, covered=state.restricted(rule.covered, rule.body[-1]))


def score_free(state: State, candidates: Candidates, weights: LabelWeights, rule: Candidate, options: Options) -> Heads:
    """The best head of each candidate."""
    confusion = weights.confusion(candidates)
    forbidden = forbidden_heads(state, candidates, len(confusion.tp), rule.body)
    heads = find_heads(state, candidates, confusion, options, forbidden)
    return enough_covered(state, candidates, heads, options)


def forbidden_heads(
    state: State, candidates: Candidates, n_candidates: int, body: Sequence[Condition] = ()
) -> Mask | None:
    """Per candidate, label and sign, whether it may not be in the head; None if all may.

    What a body tests may not, nor what must be apart from that, nor what directions of attributes do not allow.
    """
    constraints, tested = state.problem.constraints, candidates.tested
    in_body = [c.index for c in body if c.on_label]
    directed = constraints is not None and constraints.directed
    if tested is None and not in_body and not directed:
        return None
    # Candidates × labels × (absent, present).
    forbidden = np.zeros((n_candidates, state.problem.n_labels, 2), dtype=bool)
    forbidden[:, in_body] = True
    if tested is not None:
        forbidden[np.arange(n_candidates), tested] = True
    if constraints is not None:
        # labels × 1, for both signs and all candidates.
        forbidden |= constraints.must_differ[in_body].any(axis=0, keepdims=True).T
        if tested is not None:
            # candidates × labels × 1: what must differ from the label that each candidate tests.
            forbidden |= constraints.must_differ[tested][:, :, None]
        if directed:
            forbidden |= constraints.forbidden_heads([candidates.condition(i) for i in range(n_candidates)])
            forbidden |= constraints.forbidden_heads(body).any(axis=0)
    return forbidden


def head_weights(state: State, rule: Candidate) -> LabelWeights:
    """Return the counted weights of the labels of a fixed head.

    As published, an instance with an open label of the head counts with all of them.
    """
    labels = np.flatnonzero(rule.signs != NOT_IN_HEAD)
    return state.head_pairs(labels, rule.signs[labels], whole=True)


def score_fixed(
    state: State, candidates: Candidates, weights: LabelWeights, rule: Candidate, options: Options
) -> Heads:
    """The head of the rule, kept, on each candidate that it may go with."""
    heads = count_fixed(state, candidates, weights, rule, options)
    heads.value[heads.tp == 0] = -np.inf
    heads.value[~(options.min_precision.reached(heads.tp, heads.fp) & has_gain(heads.value, options))] = -np.inf
    # Without the body: its conditions were tried against this head when they were added.
    forbidden = forbidden_heads(state, candidates, len(heads.value))
    if forbidden is not None:
        labels = np.flatnonzero(rule.signs != NOT_IN_HEAD)
        heads.value[forbidden[:, labels, rule.signs[labels]].any(axis=1)] = -np.inf
    return enough_covered(state, candidates, heads, options)


def count_fixed(
    state: State, candidates: Candidates, weights: LabelWeights, rule: Candidate, options: Options
) -> Heads:
    """Value and counts of a kept head.

    As published, the value is the plain one, but must beat the lifted value of the first condition: a multi-label head
    is refined only if that gains more than its lift.
    """
    labels = np.flatnonzero(rule.signs != NOT_IN_HEAD)
    confusion = weights.confusion(candidates)
    h = value_of(state, candidates, confusion, labels.tolist(), rule.signs[labels].tolist(), options)
    signs = np.broadcast_to(rule.signs, (len(h), len(rule.signs)))
    return Heads(h, sum_in_order(confusion.tp.T), sum_in_order(confusion.fp.T), signs)


def enough_covered(state: State, candidates: Candidates, heads: Heads, options: Options) -> Heads:
    """Give up candidates that cover less than `min_coverage`."""
    if options.min_coverage > 0:
        coverage = state.coverage(candidates)
        heads.value[coverage < options.min_coverage] = -np.inf
    return heads
