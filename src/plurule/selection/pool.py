"""Rules that are selected from a pool of bodies: again and again the rule that adds the most lifted gain.

A prediction pays for F1 where its precision is above half the F1 that is reached, for accuracy above one half. So a
label gains TP − λ·(TP + FP) by a rule, over the pairs of instance and label that are still open. The head of a body is
found by relaxed pruning: its labels, best first, up to the length n with the highest ρ(n)·(sum of gains). Each
condition costs a share of that value.

Labels that gain for every instance may be predicted by a default rule, which comes last; the other rules then predict
their absence. No two rules before the default rule contradict each other, so predictions do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule.data.table import Table
from plurule.learning.initial_rules import apply_initial_rules
from plurule.learning.problem import Problem
from plurule.lifts import AnyLift, as_table
from plurule.model import Assignment, Condition, Head, RangeCondition, Rule, RuleList
from plurule.model.head import ancestors
from plurule.prediction.apply import OPEN, ColumnCache, recount
from plurule.prediction.staged import Stages

Body: TypeAlias = tuple[Condition, ...]
Values: TypeAlias = NDArray[np.float64]

RARE = 0.1
"""An attribute that fewer instances have is rare: its absence says little."""
CACHED_SUMS = 1 << 22
"""Sums over the bodies of a pool that are kept while rules are selected."""


class Choice(NamedTuple):
    """A body, by its position in its pool, and the labels that it decides."""

    body: int
    head: NDArray[np.intp]
    present: NDArray[np.bool_]
    """Of each label of the head, whether it is predicted as present."""
    decided: NDArray[np.intp]
    """The labels that are decided: those of the head, and with a label of an exclusive group the others of it."""
    is_default: bool = False
    """Whether the rule comes last; other rules predict the absence of its labels."""


class CoverUpdate(NamedTuple):
    """A body that decides a label after other bodies have."""

    body: int
    label: int
    before: tuple[int, ...]


@dataclass(frozen=True)
class SelectionCriterion:
    """What a rule is worth."""

    lam: float
    """λ: the precision above which a prediction gains."""
    condition_price: float = 0.05
    """The share of its gain that a rule pays for each of its conditions."""
    lift: AnyLift = None
    """How much a longer head is preferred."""
    exceptions: bool = False
    """Whether labels that gain for every instance are predicted by a default rule, and others are its exceptions."""
    usual: tuple[int, ...] = ()
    """Per exclusive group, the label that the default rule predicts."""


@dataclass(frozen=True)
class SelectionLimits:
    """What holds for the rules of a selection, whatever the criterion."""

    max_rules: int
    min_precision: float = 0.0
    """The least precision of every label of a head."""
    labels_alike: bool = False
    """Whether a rare label counts as much as a frequent one, as in macro F1."""


def bodies_of(lists: Iterable[RuleList]) -> list[Body]:
    """Return the bodies of lists, their beginnings and the empty body, each once, without conditions on labels.

    A comparison that is a body of its own is joined by its opposite, since what a list decides first has no body for
    the rest.
    """
    bodies: dict[frozenset[int], Body] = {frozenset(): ()}
    numbers: dict[Condition, int] = {}
    for rule_list in lists:
        for rule in rule_list:
            body = rule.attribute_conditions
            numbered = [numbers.setdefault(condition, len(numbers)) for condition in body]
            for length in range(1, len(body) + 1):
                bodies.setdefault(frozenset(numbered[:length]), body[:length])
    for body in list(bodies.values()):
        if len(body) == 1 and isinstance(body[0], RangeCondition) and None in (body[0].above, body[0].at_most):
            opposite = replace(body[0], above=body[0].at_most, at_most=body[0].above)
            bodies.setdefault(frozenset([numbers.setdefault(opposite, len(numbers))]), (opposite,))
    return list(bodies.values())


def satisfied(bodies: Sequence[Body], table: Table) -> NDArray[np.bool_]:
    """Return, per body and row, whether the body covers the row."""
    columns = ColumnCache(table)
    no_labels = np.zeros((len(table), 0), np.int8)
    masks: dict[Condition, NDArray[np.bool_]] = {}
    holds = np.ones((len(bodies), len(table)), np.bool_)
    for row, body in zip(holds, bodies, strict=True):
        for condition in body:
            if condition not in masks:
                masks[condition] = columns.mask(condition, no_labels)
            row &= masks[condition]
    return holds


class Pool:
    """Rows to select by, and what the bodies of a pool cover there.

    `holds` is bodies × rows; `left` and `present` are labels × rows: the pairs that are open, and that have the label.
    """

    def __init__(
        self, holds: NDArray[np.bool_], left: NDArray[np.bool_], present: NDArray[np.bool_], weights: Values | None
    ):
        self.n_labels = len(left)
        self.n_bodies, n_rows = holds.shape
        if weights is not None:  # rows of the same weight are counted together
            order = np.argsort(weights, kind="stable")
            holds, left, present = holds[:, order], left[:, order], present[:, order]
            weights = weights[order]
        self.rows = _core.PoolRows(n_rows, _bits(holds), _bits(left), _bits(present), weights)

    def counts(self) -> Values:
        """Return the weight of the open pairs that bodies cover: (with the label, all) × labels × bodies."""
        # The empty body, the first of a pool, covers everything.
        covered = self.covered([CoverUpdate(0, label, ()) for label in range(self.n_labels)])
        return np.ascontiguousarray(covered.swapaxes(0, 1))

    def covered(self, updates: Sequence[CoverUpdate]) -> Values:
        """Return the weight of the open pairs that bodies share with updates: updates × (with label, all) × bodies."""
        sums = np.zeros((len(updates), 2, self.n_bodies))
        self.rows.take(updates, sums)
        return sums


def _bits(marks: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(np.packbits(marks, axis=1, bitorder="little"))


def pool_of(bodies: Sequence[Body], problem: Problem) -> Pool:
    """Return the pool of bodies over all rows of a problem."""
    left = is_open(initial_decisions(problem), problem.Y.shape)
    return Pool(satisfied(bodies, problem.table), left.T, problem.Y.T == 1, problem.sample_weight)


def initial_decisions(problem: Problem) -> NDArray[np.int8] | None:
    """Return what initial rules decide, rows × labels: present, absent or open; None without initial rules."""
    if not problem.initial_rules:
        return None
    begin = apply_initial_rules(problem)
    # Rows that a stop rule ends have no label that is open.
    return np.where(begin.in_training[:, None], begin.predicted, np.maximum(begin.predicted, 0))


def is_open(decisions: NDArray[np.int8] | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the pairs of row and label that initial rules leave open."""
    return np.ones(shape, np.bool_) if decisions is None else decisions == OPEN


def choices_key(choices: Sequence[Choice]) -> tuple[Any, ...]:
    """Return a key that is equal for the same choices."""
    return tuple((choice.body, choice.is_default, choice.head.tobytes()) for choice in choices)


Covered: TypeAlias = Callable[[list[tuple[int, list[CoverUpdate]]]], Iterable[Values]]


def select_rules(
    pools: Sequence[Sequence[Body]],
    criteria: Sequence[SelectionCriterion],
    limits: SelectionLimits,
    problem: Problem,
    counts: Iterable[Values],
    covered: Covered,
) -> list[list[list[Choice]]]:
    """Return, per pool and criterion, the default rule, if there is one, and the rules that add most, in that order.

    All selections go on step by step together. The caller counts: `counts` are those of each pool, and `covered` gives
    those of cover updates, each with the number of its pool.
    """
    selections = [
        _selection(bodies, sums, criteria, limits, problem) for bodies, sums in zip(pools, counts, strict=True)
    ]
    while requests := [(number, updates) for number, one in enumerate(selections) if (updates := _requested(one))]:
        for (number, _), sums in zip(requests, covered(requests), strict=True):
            selections[number].update(sums)
    return [_chosen(selection, problem) for selection in selections]


def _chosen(selection: _core.PoolSelection, problem: Problem) -> list[list[Choice]]:
    """Return what a selection has chosen by each criterion.

    Rules before a default rule predict the absence of its labels, but for groups.
    """
    grouped = {label for group in problem.groups for label in group}
    known: dict[Any, Choice] = {}  # criteria often choose alike
    by_criterion = []
    for chosen in selection.chosen():
        absent = {label for _, head, is_default, _ in chosen if is_default for label in head} - grouped
        choices = []
        for body, head, is_default, decided in chosen:
            present = [is_default or label not in absent for label in head]
            key = (body, is_default, *head, *present)
            if key not in known:
                arrays = np.array(head, np.intp), np.array(present, np.bool_), np.array(decided, np.intp)
                known[key] = Choice(body, *arrays, is_default)
            choices.append(known[key])
        by_criterion.append(choices)
    return by_criterion


def _selection(
    bodies: Sequence[Body],
    sums: Values,
    criteria: Sequence[SelectionCriterion],
    limits: SelectionLimits,
    problem: Problem,
) -> _core.PoolSelection:
    """Return a selection from a pool, before anything is chosen."""
    n_labels = problem.n_labels
    positives = sums[0, :, 0]
    weights = np.ones(n_labels)
    if limits.labels_alike:
        weights = np.divide(positives.mean(), positives, out=np.zeros_like(positives), where=positives > 0)
    constraints = problem.constraints
    forbidden = np.tile(_says_little(bodies, sums[1]), (2, n_labels, 1))
    excludes: list[list[int]] = []
    if constraints is not None:
        for number, body in enumerate(bodies if constraints.directed else ()):
            forbidden[:, :, number] |= constraints.forbidden_heads(body).any(axis=0).T
        apart = constraints.apart & ~_same_group(problem)
        if apart.any():
            excludes = [np.flatnonzero(row).tolist() for row in apart]
    lifts = {id(lift): as_table(lift, n_labels).tolist() for lift in {id(c.lift): c.lift for c in criteria}.values()}
    return _core.PoolSelection(
        n_conditions=np.array([len(body) for body in bodies], np.float64),
        sums=sums,
        label_weights=weights,
        min_precision=limits.min_precision,
        forbidden=forbidden.view(np.uint8),
        excludes=excludes,
        groups=[list(group) for group in problem.groups],
        hierarchy=ancestors(problem.hierarchy),
        criteria=[(c.lam, c.condition_price, c.exceptions, lifts[id(c.lift)], c.usual) for c in criteria],
        max_rules=limits.max_rules,
        cache_size=CACHED_SUMS // len(bodies),
    )


def _same_group(problem: Problem) -> NDArray[np.bool_]:
    """Return which labels are of one exclusive group: labels × labels."""
    group_of = np.full(problem.n_labels, -1)
    for number, group in enumerate(problem.groups):
        group_of[list(group)] = number
    return (group_of[:, None] == group_of) & (group_of >= 0)


def _says_little(bodies: Sequence[Body], covered: Values) -> NDArray[np.bool_]:
    """Return which bodies only test the absence of attributes that few instances have, such as words of a text."""
    covered = covered.max(axis=0)
    shares = covered / max(covered[0], 1.0)
    few = np.array([1.0 - RARE * len(body) for body in bodies])
    only_absence = np.array([bool(body) and all(condition.tests_absence for condition in body) for body in bodies])
    return only_absence & (shares >= few)


def _requested(selection: _core.PoolSelection) -> list[CoverUpdate]:
    return [CoverUpdate(body, label, tuple(before)) for body, label, before in selection.choose()]


def select_here(
    bodies: Sequence[Body], problem: Problem, criteria: Sequence[SelectionCriterion], limits: SelectionLimits
) -> list[list[Choice]]:
    """Return the selections from one pool, by all rows of a problem."""
    pool = pool_of(bodies, problem)
    selection = _selection(bodies, pool.counts(), criteria, limits, problem)
    pool.rows.select(selection)
    return _chosen(selection, problem)


def rules_of(bodies: Sequence[Body], choices: Sequence[Choice], problem: Problem) -> tuple[Rule, ...]:
    """Return the rules of a selection, the default rule last.

    Labels that one body decides are in one head if they may be, without those that others imply.
    """
    implied = ancestors(problem.hierarchy)
    heads: list[tuple[int, dict[int, bool]]] = []
    heads_of: dict[tuple[int, bool], list[dict[int, bool]]] = {}
    for choice in sorted(choices, key=lambda choice: choice.is_default):
        predicted = dict(zip(choice.head.tolist(), choice.present.tolist(), strict=True))
        of_body = heads_of.setdefault((choice.body, choice.is_default), [])
        # A default rule has labels that must not be related in different heads.
        for labels in related_labels(predicted, problem) if choice.is_default else [predicted]:
            head = next((head for head in of_body if _may_relate(head, labels, problem)), None)
            if head is None:
                head = {}
                of_body.append(head)
                heads.append((choice.body, head))
            head.update({label: predicted[label] for label in labels})
    rules = []
    for body, labels in heads:
        stated = set(labels) - {above for below, above in implied if below in labels}
        head_of_rule = [Assignment(problem.labels[label], label, labels[label]) for label in sorted(stated)]
        rules.append(Rule(Head(tuple(head_of_rule)), bodies[body]))
    return tuple(rules)


def related_labels(labels: Iterable[int], problem: Problem) -> list[list[int]]:
    """Return labels in as many heads as it takes if some must not be related."""
    heads: list[list[int]] = []
    for label in labels:
        head = next((head for head in heads if _may_relate(head, [label], problem)), None)
        if head is None:
            heads.append([label])
        else:
            head.append(label)
    return heads


def _may_relate(some: Iterable[int], others: Iterable[int], problem: Problem) -> bool:
    """Return whether labels may be in the same head."""
    if problem.constraints is None:
        return True
    return not problem.constraints.apart[np.ix_(list(some), list(others))].any()


def counted(rules: tuple[Rule, ...], problem: Problem, lam: float) -> RuleList:
    """Return the initial rules of a problem and these, with their counts, and their gain as their value."""
    initial = apply_initial_rules(problem).rules
    plain = problem.listed((*initial, *rules))
    listed = recount(plain, problem.table, problem.Y, problem.weights)
    valued = [replace(rule, value=gain_of(rule, lam)) for rule in listed[len(initial) :]]
    return replace(listed, rules=(*initial, *valued))


def gain_of(rule: Rule, lam: float) -> float:
    """Return what a rule gains by the pairs that it decides; absence gains where less than λ have the label."""
    gain = 0.0
    for assignment, (right, wrong) in zip(rule.head, rule.decided, strict=True):
        if not assignment.implied:
            least = lam if assignment.present else 1.0 - lam
            gain += right - least * (right + wrong)
    return gain


def staged_selection(
    holds: NDArray[np.bool_],
    choices: Sequence[Choice],
    truth: NDArray[np.bool_],
    weights: Values | None,
    kept: NDArray[np.intp],
    initial: NDArray[np.int8] | None = None,
) -> Stages:
    """Return what is right and wrong after the initial rules (stage 0), the first rule, … of a selection.

    `holds` is of the same rows as the labels, `kept` are the labels to look at, and `initial` is what initial rules
    decide.
    """
    n_rows, n_labels = truth.shape
    never = len(choices) + 1
    is_usual = np.zeros(n_labels, np.bool_)
    if choices and choices[0].is_default:
        is_usual[choices[0].head] = True
    first = np.full((n_labels, n_rows), never, np.int32)
    is_present = np.zeros((n_labels, never), np.bool_)
    for stage, choice in reversed(list(enumerate(choices, start=1))):
        if not choice.is_default:
            rows = holds[choice.body].nonzero()[0]
            first[choice.decided[:, None], rows] = stage
            is_present[choice.head, stage] = choice.present
    first = first[kept]
    left = np.ones(first.shape, np.bool_)
    if initial is not None:
        left = initial.T[kept] == OPEN
    label, row = np.nonzero(left & (first < never))
    stage_of = first[label, row].astype(np.intp)
    present = is_present[kept[label], stage_of]
    # The default rule, which is chosen first, predicts its labels until another rule takes them back.
    changed = np.flatnonzero(present != is_usual[kept[label]])
    changes = [(stage_of[changed], row[changed], label[changed], present[changed])]
    usual, usual_row = np.nonzero(left & is_usual[kept][:, None])
    changes.append((np.ones_like(usual), usual_row, usual, np.ones(len(usual), np.bool_)))
    if initial is not None:
        given, given_row = np.nonzero(initial.T[kept] == 1)
        changes.append((np.zeros_like(given), given_row, given, np.ones(len(given), np.bool_)))
    stages, places, labels, presence = (np.concatenate(arrays) for arrays in zip(*changes, strict=True))
    return Stages(truth[:, kept], weights, never, (stages, places, labels), presence)
