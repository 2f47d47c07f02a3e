"""Rules that are selected from a pool of bodies: again and again the rule that adds the most lifted gain.

A prediction pays for F1 where its precision is above half the F1 that is reached, for accuracy above one half. So a
label gains TP − λ·(TP + FP) by a rule, over the pairs of instance and label that are still open. The head of a body is
found by relaxed pruning: its labels, best first, up to the length n with the highest ρ(n)·(sum of gains). Each
condition costs a share of that value.

Labels that gain for every instance may be predicted by a default rule, which comes last; the other rules then predict
their absence. No two rules before the default rule contradict each other, so predictions do not depend on their order.

The core selects. It asks for sums over the rows, which the blocks of `_rows` give: for 2 labels and 3 bodies

                       (empty)  a > 1  b <= 5
    with   label 0        40      31      12     first sums: (with the label, all) × labels × bodies, over open pairs.
    the    label 1        25       3      20     The empty body is first in every pool: it covers all rows, so its sums
    label                                        are the totals, and what a label gains everywhere is that of a default
    all    label 0       100      45      30     rule.
           label 1       100      45      30

Once `a > 1` is chosen to decide label 0, the pairs it covers are open no longer. The next sums of label 0 are asked for
by `CoverUpdate(body=1, label=0, before=[])`, and where `b <= 5` decides it later, by `CoverUpdate(2, 0, before=[1])`:
what b <= 5 covers, a > 1 does not, and each body shares with that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule._learning.problem import Problem
from plurule._rows.rows import Body, CoverBlock, Covers
from plurule.lifts import AnyLift, as_table
from plurule.model import Assignment, Condition, Head, RangeCondition, Rule, RuleList
from plurule.model.rule import ancestors

Values: TypeAlias = NDArray[np.float64]

RARE = 0.1
"""An attribute that fewer instances have is rare: its absence says little. Not measured by a committed script."""
CACHED_SUMS = 1 << 22
"""Sums over the bodies of a pool that are kept while rules are selected: 32 MB for pairs with the label, and up to as
much for all pairs, whose sums labels often share. Not measured."""


@dataclass(frozen=True)
class SelectionCriterion:
    """What a rule is worth."""

    lam: float
    """λ: the precision above which a prediction gains."""
    condition_price: float = 0.05
    """The share of its gain that a rule pays for each of its conditions."""
    lift: AnyLift = None
    """How much a longer head is preferred."""
    predict_absence: bool = False
    """Whether labels that gain for every instance are predicted by a default rule, and others are its exceptions."""
    default_labels: tuple[int, ...] = ()
    """Per exclusive group, the label that the default rule predicts."""
    max_rules: int = 2**31 - 1
    min_precision: float = 0.0
    """The least precision of every label of a head."""
    weighs_labels_equally: bool = False
    """Whether a rare label counts as much as a frequent one, as in macro F1."""


# What the core is asked and answers, on six rows that all have open pairs of label 0, and weigh 1:
#
#     row         0  1  2  3  4  5
#     0 (empty)   1  1  1  1  1  1      update                            shared pairs of bodies 0, 1, 2 (all)
#     1 a > 1     1  1  1  0  0  0      CoverUpdate(1, 0, before=[])      3  3  1      rows 0, 1 and 2
#     2 b <= 5    0  0  1  1  1  0      CoverUpdate(2, 0, before=[1])     2  0  2      rows 3 and 4: row 2 is decided
#
# The core subtracts them from the sums of the open pairs. So it knows no rows, and blocks answer for their own rows.
def bodies_of(lists: Iterable[RuleList]) -> list[Body]:
    """Return the bodies of lists, their beginnings and the empty body, each once, without conditions on labels.

    A comparison that is a body of its own is joined by its opposite, since what a list decides first has no body for
    the rest.
    """
    # Bodies by the set of their conditions: their order does not matter. The empty one is first, as the core expects.
    bodies: dict[frozenset[int], Body] = {frozenset(): ()}
    numbers: dict[Condition, int] = {}
    for rule_list in lists:
        for rule in rule_list:
            body = rule.attribute_conditions
            numbered = [numbers.setdefault(condition, len(numbers)) for condition in body]
            # Beginnings are what the rule was refined from; a shorter body may be worth more to other labels.
            for length in range(1, len(body) + 1):
                bodies.setdefault(frozenset(numbered[:length]), body[:length])
    for body in list(bodies.values()):
        # `a > t` for `a <= t`, and the other way round: the bounds change places.
        if len(body) == 1 and isinstance(body[0], RangeCondition) and None in (body[0].above, body[0].at_most):
            opposite = replace(body[0], above=body[0].at_most, at_most=body[0].above)
            bodies.setdefault(frozenset([numbers.setdefault(opposite, len(numbers))]), (opposite,))
    return list(bodies.values())


def select_rules(
    covers: Covers,
    bodies: Sequence[Body],
    pool: int,
    fold: int | None,
    criteria: Sequence[SelectionCriterion],
    problem: Problem,
) -> list[list[_core.Choice]]:
    """Return, per criterion, the default rule, if there is one, and the rules that add most, in that order.

    Criteria share all but what a rule is worth: `max_rules` and the like are those of the first.
    """
    # The empty body covers everything, so what it shares with others is all that they cover.
    # Asked as updates, so that blocks need no further question: labels × (with the label, all) × bodies.
    everything = [_core.CoverUpdate(0, label, []) for label in range(problem.n_labels)]
    sums: Values = covers.total(CoverBlock.cover_updates, pool, fold, everything)  # labels × 2 × bodies
    # The core reads (with the label, all) × labels × bodies, contiguous.
    selection = _selection(bodies, np.ascontiguousarray(sums.swapaxes(0, 1)), criteria, problem)
    covers.select(selection, pool, fold)
    return selection.chosen()


def _selection(
    bodies: Sequence[Body], sums: Values, criteria: Sequence[SelectionCriterion], problem: Problem
) -> _core.PoolSelection:
    """Return a selection from a pool, before anything is chosen."""
    n_labels = problem.n_labels
    common = criteria[0]
    # Body 0 is empty: the open pairs that have each label, float64[labels].
    positives = sums[0, :, 0]
    weights = np.ones(n_labels)
    # In macro F1 each label has the same say, so its pairs count by the inverse of their number; 0 for a label
    # without positives, which no rule may predict then.
    if common.weighs_labels_equally:
        weights = np.divide(positives.mean(), positives, out=np.zeros_like(positives), where=positives > 0)
    constraints = problem.constraints
    # bool, (as absent, as present) × labels × bodies.
    forbidden = np.tile(_tests_only_rare_absence(bodies, sums[1]), (2, n_labels, 1))
    excludes: list[list[int]] = []
    if constraints is not None:
        for number, body in enumerate(bodies if constraints.directed else ()):
            # forbidden_heads: conditions × labels × signs; what one condition forbids, the body forbids.
            forbidden[:, :, number] |= constraints.forbidden_heads(body).any(axis=0).T
        # Labels of one exclusive group differ anyway: the core knows that from `groups`.
        apart = constraints.must_differ & ~_same_group(problem)
        if apart.any():
            excludes = [np.flatnonzero(row).tolist() for row in apart]
    # ρ(1), …, ρ(labels), once for each lift.
    # By identity: dozens of criteria share a few lifts.
    lifts = {id(c.lift): as_table(c.lift, n_labels).tolist() for c in {id(c.lift): c for c in criteria}.values()}
    return _core.PoolSelection(
        n_conditions=np.array([len(body) for body in bodies], np.float64),
        sums=sums,
        label_weights=weights,
        min_precision=common.min_precision,
        forbidden=forbidden.view(np.uint8),
        excludes=excludes,
        groups=[list(group) for group in problem.groups],
        hierarchy=ancestors(problem.hierarchy),
        criteria=[
            _core.Criterion(c.lam, c.condition_price, c.predict_absence, lifts[id(c.lift)], list(c.default_labels))
            for c in criteria
        ],
        max_rules=common.max_rules,
        # A result is one sum per body.
        cache_size=CACHED_SUMS // len(bodies),
    )


def _same_group(problem: Problem) -> NDArray[np.bool_]:
    """Return which labels are of one exclusive group: labels × labels."""
    group_of = np.full(problem.n_labels, -1)
    for number, group in enumerate(problem.groups):
        group_of[list(group)] = number
    return (group_of[:, None] == group_of) & (group_of >= 0)


def _tests_only_rare_absence(bodies: Sequence[Body], covered: Values) -> NDArray[np.bool_]:
    """Return which bodies only test the absence of attributes that few instances have, such as words of a text."""
    # Labels × bodies → bodies. Pairs that initial rules decided are missing, of some labels more than of others: the
    # largest sum is nearest to the rows that a body covers.
    covered = covered.max(axis=0)
    shares = covered / max(covered[0], 1.0)
    # Each absence of a rare attribute leaves out less than RARE of the rows, so n of them less than n · RARE.
    few = np.array([1.0 - RARE * len(body) for body in bodies])
    only_absence = np.array([bool(body) and all(condition.tests_absence for condition in body) for body in bodies])
    return only_absence & (shares >= few)


def merged_choices(choices: Sequence[_core.Choice], problem: Problem) -> list[_core.Choice]:
    """Return a choice for each rule of a selection, the default rule last.

    Labels that one body decides are in one head if they may be.
    """
    # In choices, the default rule is first: what it predicts decides whether later choices predict presence or absence.
    # In lists, it is last: it decides the pairs that no other rule does.
    #
    # Per head: body, whether it is the default rule, label → present, and labels that are decided beside the head.
    heads: list[tuple[int, bool, dict[int, bool], set[int]]] = []
    for choice in sorted(choices, key=lambda choice: choice.is_default):
        present = dict(zip(choice.head, choice.present, strict=True))
        beside = set(choice.decided) - set(choice.head)
        # A default rule has labels that must not be related in different heads.
        for labels in related_labels(choice.head, problem) if choice.is_default else [choice.head]:
            # A body may be chosen again for other labels. Rules before the default rule never contradict each other, so
            # its labels can join the head that is there.
            same_body = (head for head in heads if head[:2] == (choice.body, choice.is_default))
            head = next((head for head in same_body if _may_relate(head[2], labels, problem)), None)
            if head is None:
                head = choice.body, choice.is_default, {}, set[int]()
                heads.append(head)
            head[2].update({label: present[label] for label in labels})
            head[3].update(beside)
    return [
        _core.Choice(body, list(labels), list(labels.values()), [*labels, *sorted(beside - set(labels))], is_default)
        for body, is_default, labels, beside in heads
    ]


def rules_of(bodies: Sequence[Body], choices: Sequence[_core.Choice], problem: Problem) -> tuple[Rule, ...]:
    """Return the rules of a selection, the default rule last; heads state no labels that others imply."""
    implied = ancestors(problem.hierarchy)
    rules = []
    for choice in merged_choices(choices, problem):
        present = dict(zip(choice.head, choice.present, strict=True))
        # Heads of the core are complete: with a label also those above it, which a text need not repeat.
        stated = set(present) - {above for below, above in implied if below in present}
        head = tuple(Assignment(problem.labels[label], label, present[label]) for label in sorted(stated))
        rules.append(Rule(Head(head), bodies[choice.body]))
    return tuple(rules)


def related_labels(labels: Sequence[int], problem: Problem) -> list[list[int]]:
    """Return labels in as many heads as it takes if some must not be related."""
    if problem.constraints is None:
        return [list(labels)] if labels else []
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
    return not problem.constraints.must_differ[np.ix_(list(some), list(others))].any()


def gain_of(rule: Rule, lam: float) -> float:
    """Return what a rule gains by the pairs that it decides; absence gains where less than λ have the label."""
    gain = 0.0
    for assignment, (right, wrong) in zip(rule.head, rule.decided, strict=True):
        if not assignment.implied:
            # TP − λ·(TP + FP) of a label that is predicted as present. Absence is right where the label is missing:
            # with (right, wrong) = (all − TP, TP), λ·all − TP is right − (1 − λ)·(right + wrong).
            least = lam if assignment.present else 1.0 - lam
            gain += right - least * (right + wrong)
    return gain
