"""Scores of rule lists on held-out rows: by length, as a choice between criteria, and as an estimate for new data.

Each fold is predicted by the list that the other folds choose. The standard error is about the score of the list that
is returned, on new data. It has two parts:

- held-out rows are a sample: a jackknife leaves out groups of them (folds are drawn so that they are alike, and their
  scores vary less than those of new data), and its variance is raised by the ratio of held-out to training rows, as
  Nadeau and Bengio (2003) do, since the rows that a list is scored on are missing from its training;
- the list of all rows is another one than those of the folds: how much these differ by their scores on the same rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule._learning.problem import Problem
from plurule._prediction.apply import enforce_hierarchy
from plurule._prediction.staged import PrecomputedClassifier
from plurule._rows.rows import Body, CoverBlock, Covers, PooledChoices, Roles
from plurule._selection.pool import SelectionCriterion, merged_choices, rules_of
from plurule.data.targets import TargetForm
from plurule.errors import amount, warn
from plurule.lifts import KLN, AnyLift, NoLift, axes_for
from plurule.metrics import Measure, PredictionCounts
from plurule.model import LengthChoice, RuleList

Values = NDArray[np.float64]

SHOWN = 5
"""More labels than this are counted, not named. Not measured: a matter of reading."""
SCORER_GROUPS = 20
"""Groups that the jackknife leaves out where every score is a call of a scorer. Not measured: calls take long."""
Z = 1.6448536269514722
"""The 95 % quantile of the normal distribution: a list replaces the constant if chance does so in one of 20 cases."""
SIZE_PENALTY = 3e-4
"""What a rule or a condition must add to the score, as a share of what the best constant leaves to be gained. Not
measured by a committed script."""
TIED_ERRORS = 0.5
"""A lift is as good as the best if its score is at most so many standard errors below. Not measured by a committed
script."""

# Curves --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class LengthCurve:
    """Scores of lists truncated after 1, 2, … rules, on held-out rows.

    Parameters
    ----------
    measure
        Name of the score.
    scores
        Per fold and length. A list that ended earlier keeps its last score. A fold on which the score is not defined
        (NaN) at some length is left out of the mean.
    conditions
        Per length, the mean number of conditions of the lists.
    left_out
        Labels that were left out, because some fold has no positive of them.
    at_least
        The least length to choose: the number of initial rules, if there are any.
    cut
        The length that was chosen, if one was.

    Examples
    --------
    >>> curve = LengthCurve("micro_f1", np.array([[0.4, 0.6, 0.7, 0.6], [0.5, 0.8, 0.8, 0.7]]), np.arange(1, 5))
    >>> curve.best
    3
    >>> replace(curve, cut=2)
    LengthCurve: micro_f1 of 1 to 4 rules on 2 folds; best 0.750 with 3, chosen 0.700 with 2
    """

    # scores: float64[folds or groups of held-out rows, lengths]; column k is that of k + 1 rules.
    # conditions: float64[lengths].
    measure: str
    scores: Values
    conditions: Values
    left_out: tuple[str, ...] = ()
    at_least: int = 1
    cut: int | None = None

    def __repr__(self) -> str:
        shown = f"LengthCurve: {self.measure} of 1 to {self.scores.shape[1]} rules on {len(self.scores)} folds"
        if not len(self.defined):
            return f"{shown}; not defined on any"
        shown = f"{shown}; best {self.score(self.best):.3f} with {self.best}"
        return shown if self.cut is None else f"{shown}, chosen {self.score(self.cut):.3f} with {self.cut}"

    @property
    def defined(self) -> Values:
        """The scores of the folds on which the score is defined."""
        return self.scores[np.isfinite(self.scores).all(axis=1)]

    @property
    def mean(self) -> Values:
        """Mean score per length; NaN if the score is not defined on any fold."""
        defined = self.defined
        return defined.mean(axis=0) if len(defined) else np.full(self.scores.shape[1], np.nan)

    @property
    def standard_error(self) -> Values:
        """Standard error of the mean, per length; 0 with a single fold."""
        return standard_error(self.defined)

    @property
    def best(self) -> int:
        """The length of the highest mean score; the shortest, if there are several."""
        mean = self.mean[self.at_least - 1 :]
        # argmax of marks is the first one: the shortest list within rounding errors of the best.
        return int(np.argmax(mean >= mean.max() - 1e-12)) + self.at_least

    def score(self, length: int) -> float:
        """Mean score of the lists cut after that many rules."""
        return float(self.mean[min(length, self.scores.shape[1]) - 1])

    @property
    def best_score(self) -> float:
        """Mean score at the best length; less than any other if the score is not defined."""
        return self.score(self.best) if len(self.defined) else -np.inf

    def choice(self, length: int, how: str = "", constant: float | None = None) -> LengthChoice | None:
        """What a list that was cut after so many rules keeps of the curve; None if no score is defined."""
        if not len(self.defined) or not 1 <= length <= self.scores.shape[1]:
            return None
        mean, error = (tuple(float(f"{v:.6g}") for v in values) for values in (self.mean, standard_error(self.defined)))
        return LengthChoice(self.measure, mean, error, length, how, constant)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve and the chosen length; return the matplotlib axes."""
        ax = axes_for(ax)
        lengths = np.arange(1, self.scores.shape[1] + 1)
        mean, spread = self.mean, self.standard_error
        (line,) = ax.plot(lengths, mean, label="mean of the folds")
        ax.fill_between(lengths, mean - spread, mean + spread, alpha=0.2, color=line.get_color(), linewidth=0)
        if self.cut is not None:
            chosen = f"chosen: {amount(self.cut, 'rule')}"
            ax.axvline(self.cut, linestyle="--", linewidth=1, color="black", label=chosen)
        ax.set(xlabel="rules", ylabel=self.measure.replace("_", " "))
        ax.legend()
        return ax


def standard_error(values: Values) -> Values:
    """Of the mean over the first axis; 0 of a single value."""
    several = len(values) > 1
    return values.std(axis=0, ddof=1) / np.sqrt(len(values)) if several else np.zeros(values.shape[1:])


def extended(curves: Sequence[Values]) -> Values:
    """Return curves of different lengths along the last axis as one array: what has ended goes on as it ended."""
    longest = max(values.shape[-1] for values in curves)
    # Beyond its end, the index of a curve stays at its last value.
    last = np.arange(longest)
    return np.array(
        [v if v.shape[-1] == longest else v[..., np.minimum(last, v.shape[-1] - 1)] for v in curves], np.float64
    )


def warn_undefined(who: str, measure: str, scores: Sequence[Values]) -> None:
    """Warn if scores, each folds × lengths, are not defined on some folds."""
    undefined = max((np.flatnonzero(~np.isfinite(curve).all(axis=1)) + 1 for curve in scores), key=len)
    if len(undefined):
        n_folds = len(scores[0])
        folds = f"fold{'s' * (len(undefined) > 1)} {', '.join(map(str, undefined))} of {n_folds}"
        outcome = "left out of the choice" if len(undefined) < n_folds else "nothing is chosen by it"
        warn(f"{who}: {measure} is not defined on {folds}; {outcome}")


# Scoring -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scoring:
    """A measure, and what it is computed from."""

    measure: Measure
    form: TargetForm
    """The form of labels that a scorer expects."""
    labels: NDArray[np.intp]
    """The labels that are looked at."""
    covers: Covers
    """The rows."""
    roles: Roles
    problem: Problem
    """The labels, and what is known about them."""

    # One fold and group of held-out rows is asked at a time. The answers are counts, PredictionCounts with
    #
    #     tp, fp       float64[choices + 1, labels]    of every beginning of a selection; stage 0: initial rules alone
    #     positives    float64[labels]
    #
    # so that all lengths of a list are scored by one pass over the rows.
    def left_out(self) -> tuple[str, ...]:
        """Return the names of the labels that are not looked at."""
        kept = set(self.labels.tolist())
        return tuple(name for label, name in enumerate(self.problem.labels) if label not in kept)

    def curves(self, fold: int, bodies: Sequence[Body], selections: Sequence[Any]) -> list[list[Values]]:
        """Return, per selection and group of held-out rows, the scores after the initial rules, the first choice, …"""
        groups = range(1, self.roles.n_groups[fold] + 1)
        if self.measure.scorer is not None:
            return [[self._curve_of_scorer(fold, group, bodies, one) for group in groups] for one in selections]
        asked = (self.labels, self.measure.is_of_rows)
        of_groups = (
            self.covers.total(CoverBlock.prefix_counts, fold, fold, group, selections, *asked) for group in groups
        )
        # Groups × selections, turned to selections × groups: a curve of float64[choices + 1] each.
        scores = ([counts.scores(self.measure) for counts in of_group] for of_group in of_groups)
        return [list(of_selection) for of_selection in zip(*scores, strict=True)]

    def score(self, one: PooledChoices, bodies: Sequence[Body], fold: int, group: int) -> float:
        """Return the score of a list on a group of held-out rows."""
        if self.measure.scorer is not None:
            return self.predictions(one, bodies, fold, group).score(self)
        asked = (self.labels, self.measure.is_of_rows, one.with_initial)
        (counts,) = self.covers.total(CoverBlock.prefix_counts, one.pool, fold, group, [one.choices], *asked)
        return float(counts.scores(self.measure)[-1])

    def _curve_of_scorer(self, fold: int, group: int, bodies: Sequence[Body], choices: Sequence[Any]) -> Values:
        lists = (self.as_list(fold, choices[:length]) for length in range(len(choices) + 1))
        return np.array([self.predictions(one, bodies, fold, group).score(self) for one in lists])

    def as_list(self, fold: int, choices: Sequence[Any]) -> PooledChoices:
        """Return the rules that are made of choices, after the initial rules."""
        if self.measure.scorer is not None:
            # Scorers see a list of rules, as it would be returned; counts do not depend on that.
            choices = merged_choices(choices, self.problem)
        return PooledChoices(fold, choices, True, len(self.problem.initial_rules))

    def predictions(self, one: PooledChoices, bodies: Sequence[Body], fold: int, group: int) -> Predictions:
        """Return what a list predicts for a group of held-out rows; only scorers need each row."""
        n_labels = self.problem.n_labels
        decided_by = self.covers.gather(CoverBlock.decided_by, one, fold, group)
        facts = self.covers.gather(CoverBlock.row_facts, fold, group)
        # (Rules, last: none) × labels × (absent, present): weights of the training pairs that each rule decides.
        counts: Values = self.covers.total(CoverBlock.rule_counts, one, one.pool)
        is_present = np.zeros(counts.shape[:2], np.int8)  # the last row is that of pairs that no rule decides
        # In the order by which `decided_by` numbers rules: initial ones, then choices.
        heads = [[(a.index, a.present) for a in rule.head] for rule in self.problem.initial_rules[: one.n_initial]]
        heads += [list(zip(choice.head, choice.present, strict=True)) for choice in one.choices]
        for number, head in enumerate(heads):
            for label, present in head:
                is_present[number, label] = present
        # One right and one wrong pair are added to every count, as in `predict_proba`.
        shares = (counts[:, :, 1] + 1) / (counts.sum(axis=2) + 2)
        labels = np.arange(n_labels)
        # decided_by is int32[rows, labels]; its -1 picks the last line of both tables.
        return Predictions(
            self.covers.gather(CoverBlock.labels, fold, group),
            is_present[decided_by, labels],
            enforce_hierarchy(shares[decided_by, labels], self.problem.hierarchy),
            facts[:, 0],
            facts[:, 1].astype(np.intp),
            np.flatnonzero(self.roles.of_rows[fold] == group),
            lambda: _counted_list(one, bodies, counts, self.problem),
        )


def _counted_list(one: PooledChoices, bodies: Sequence[Body], counts: Values, problem: Problem) -> RuleList:
    """Return choices as rules, with the counts of the pairs that they decide."""
    initial = problem.initial_rules[: one.n_initial]
    rules = problem.listed((*initial, *rules_of(bodies, one.choices, problem))).rules
    counted = []
    for rule, of_rule in zip(rules, counts, strict=False):
        # (Absent, present) becomes (right, wrong): the column of what the rule predicts is right.
        pairs = tuple(tuple(of_rule[a.index, [int(a.present), int(not a.present)]].tolist()) for a in rule.head)
        stated = [pair for pair, a in zip(pairs, rule.head, strict=True) if not a.implied]
        tp, fp = (float(sum(values)) for values in zip(*stated, strict=True))
        counted.append(replace(rule, decided=pairs, tp=tp, fp=fp))
    return replace(problem.listed(counted), undecided=tuple(map(tuple, counts[-1].tolist())))


class Predictions(NamedTuple):
    """Held-out rows × labels: what is true, what a list predicts, and what else a scorer may ask for."""

    # truth, predicted and shares are rows × labels; weights, jackknife and numbers have one value per row.
    truth: NDArray[np.uint8]
    predicted: NDArray[np.int8]
    shares: Values
    """The probabilities of the labels."""
    weights: Values
    jackknife: NDArray[np.intp]
    """The group of each row."""
    numbers: NDArray[np.intp]
    """The number of each row in the training data, which scorers are given for `X`."""
    rules: Callable[[], RuleList]

    def some(self, rows: NDArray[np.intp]) -> Predictions:
        """Return those of some rows."""
        arrays: list[Any] = [array[rows] for array in self[:-1]]
        return Predictions(*arrays, self.rules)  # type: ignore[call-arg]

    def score(self, scoring: Scoring) -> float:
        """Return the score by a scorer; NaN where it is not defined."""
        assert scoring.measure.scorer is not None
        kept = scoring.labels
        # Without some of their labels, classes are none.
        form = scoring.form if len(kept) == self.truth.shape[1] else TargetForm()
        classifier = PrecomputedClassifier(form, self.predicted[:, kept], lambda: self.shares[:, kept], self.rules)
        weights = None if (self.weights == 1).all() else self.weights
        # rows × 1: scorers that look at X get the numbers of rows, since attributes are not needed any more.
        score = classifier.score_by(scoring.measure.scorer, self.numbers[:, None], self.truth[:, kept], weights)
        return float(score) if np.isfinite(score) else np.nan


def find_scoring(measure: Measure, form: TargetForm, problem: Problem, covers: Covers, roles: Roles) -> Scoring:
    """Return how lists are scored on groups of held-out rows.

    Where the measure is not defined without positives of a label, labels of which some group has none are left out,
    with a warning; where it is not defined without negatives either, those that lack them, too.
    """
    everything = Scoring(measure, form, np.arange(problem.n_labels), covers, roles, problem)
    if not measure.needs_positives or not roles.held_out:
        return everything
    # Groups of held-out rows × (labels, last: all rows).
    sums = np.array([covers.total(CoverBlock.label_sums, fold, group) for fold, group in roles.held_out])
    positive = (sums[:, :-1] > 0).all(axis=0)
    scoring = replace(everything, labels=np.flatnonzero(positive))
    missing = "no positive"
    # Whether a scorer needs negatives, too (as ROC AUC does), is tried out.
    if measure.scorer is not None and positive.any() and not _is_defined(scoring):
        scoring = replace(everything, labels=np.flatnonzero(positive & (sums[:, :-1] < sums[:, -1:]).all(axis=0)))
        missing = "no positive, or no negative,"
    left_out = scoring.left_out()
    if left_out:
        names = ", ".join(repr(name) for name in left_out[:SHOWN])
        more = f" and {len(left_out) - SHOWN} more" if len(left_out) > SHOWN else ""
        outcome = "left out of the choice" if len(scoring.labels) else "no list can be scored"
        warn(f"{measure.name}: {missing} of {names}{more} in some fold; {outcome}")
    return scoring


def _is_defined(scoring: Scoring) -> bool:
    """Return whether a list without rules has a score on all held-out rows."""
    # No choice is made of a pool, so its number 0 and its bodies `[()]` do not matter.
    nothing = PooledChoices(0, [], False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        groups = scoring.roles.held_out
        return all(
            np.isfinite(scoring.predictions(nothing, [()], fold, group).score(scoring)) for fold, group in groups
        )


# Choosing ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CriterionScores:
    """What the lists of one criterion score, by fold and number of rules."""

    criterion: SelectionCriterion
    curve: LengthCurve
    relating: Values
    """Per number of rules, the mean share of rules whose heads have several labels."""
    selections: Sequence[Sequence[_core.Choice]] = ()
    """Per fold, the rules in the order in which they were selected."""


def choose(candidates: Sequence[CriterionScores], constant: float, tolerance: float = 0.0) -> tuple[int, int] | None:
    """Return the number of a criterion and of its rules; None if no score is defined.

    Rules and conditions cost a little. The best criterion and length of each lift compete, and the highest lift wins
    whose score is not distinguishably below the best. With a tolerance, of all that score at most so much below the
    best, the largest share of rules that relate labels wins.
    """
    scores = extended([one.curve.scores for one in candidates])  # criteria × folds × lengths
    # A fold counts for all criteria and lengths, or for none: means over different folds cannot be compared.
    scores = scores[:, np.isfinite(scores).all(axis=(0, 2))]
    if not scores.shape[1]:
        return None
    lengths = np.arange(1, scores.shape[2] + 1)
    allowed = np.array([lengths >= one.curve.at_least for one in candidates])
    # Criteria × lengths. Rounded to 12 digits, since equal lists may differ in the last bits of their means.
    mean = np.where(allowed, np.round(scores.mean(axis=1), 12), -np.inf)
    # Rules and conditions pay for a share of what the constant leaves: scores end at 1, negated losses at 0.
    left_to_gain = (1.0 if constant >= 0 else 0.0) - constant if np.isfinite(constant) else 0.0
    # In score: SIZE_PENALTY per rule and condition, times what could be gained at all. A list of 20 rules with 40
    # conditions pays 60 · 0.0003 = 1.8 % of it.
    penalty = SIZE_PENALTY * left_to_gain * (extended([one.curve.conditions for one in candidates]) + lengths)
    worth = np.round(mean - penalty, 12)
    if tolerance:
        relating = extended([one.relating for one in candidates])
        # A share counts len(candidates) times as much as a score, which so decides between (almost) equal shares only.
        close = mean >= mean.max() - tolerance - 1e-12
        worth = np.where(close, worth + relating * len(candidates), -np.inf)
        number, length = np.unravel_index(np.argmax(worth), worth.shape)
        return int(number), int(length) + 1
    # argmax takes the first of equal places: the earlier criterion, then the shorter list.
    lifts = [describe_lift(one.criterion.lift) for one in candidates]
    best_of_lift = []
    for lift in dict.fromkeys(lifts):
        of_lift = np.array([other == lift for other in lifts])
        best_of_lift.append(np.unravel_index(np.argmax(np.where(of_lift[:, None], worth, -np.inf)), worth.shape))
    # Lifts are compared by scores, without the penalty: a place is (criterion, length - 1).
    top = max(best_of_lift, key=lambda place: mean[place])
    # Over the folds, or over the groups of rows that are held out once.
    error = standard_error(scores[top[0], :, top[1]])
    close_enough = [place for place in best_of_lift if mean[place] >= mean[top] - TIED_ERRORS * error - 1e-12]
    number, length = close_enough[-1]  # lifts ascend
    return int(number), int(length) + 1


def describe_lift(lift: AnyLift) -> str:
    """Return a lift in short: `KLN 0.3`, `none`."""
    if isinstance(lift, KLN):
        return f"KLN {lift.k:g}"
    return "none" if lift is None or isinstance(lift, NoLift) else str(lift)


# Estimating ----------------------------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A score on held-out rows, beside that of the best constant prediction."""

    score: float
    error: float
    """Its standard error."""
    constant: float
    constant_error: float
    gain_error: float
    """The standard error of the difference of the two scores."""

    @property
    def is_better(self) -> bool:
        """Whether the score is above that of the constant by more than chance."""
        return bool(self.score - self.constant > Z * self.gain_error)


def estimate(
    scoring: Scoring,
    pools: Sequence[Sequence[Body]],
    lists: Sequence[PooledChoices],
    constants: Sequence[PooledChoices],
) -> Estimate:
    """Return the score of a list for each fold, which its held-out rows had no part in, and of constants."""
    # Each float64[1 + groups]: the score of all held-out rows, then those without one group each.
    by_list, by_constant = (_leave_groups_out(scoring, pools, each) for each in (lists, constants))
    of_single_lists = [_leave_groups_out(scoring, pools, [one] * len(lists), leave_out=False)[0] for one in lists]
    # The list of one fold on the held-out rows of all folds: rows are the same, so only the lists make a difference.
    by_learning = float(np.var(of_single_lists, ddof=1)) if len(lists) > 1 else 0.0
    sums, roles = scoring.covers.total, scoring.roles
    # Weights of rows: last of the sums is that of all rows in the role, and role 0 trains.
    held_out = sum(sums(CoverBlock.label_sums, fold, group)[-1] for fold, group in roles.held_out)
    training = sum(sums(CoverBlock.label_sums, fold, 0)[-1] for fold in range(roles.n_folds))
    by_rows = jackknife_error(by_list[1:]) ** 2 * (1 + float(held_out / training))
    # 1 + 1/n: the list that is returned is one more draw, whose deviation adds to that of the mean of n lists. The
    # difference to the constant has an error of its own, since both are scored on the same rows.
    return Estimate(
        float(by_list[0]),
        float(np.sqrt(by_rows + by_learning * (1 + 1 / len(lists)))),
        float(by_constant[0]),
        jackknife_error(by_constant[1:]),
        jackknife_error(by_list[1:] - by_constant[1:]),
    )


def jackknife_error(scores: Values) -> float:
    """Return the standard error of a score from its values without each of some groups of equal size.

    >>> values = np.arange(10.0)
    >>> without_each = (values.sum() - values) / 9
    >>> bool(np.isclose(jackknife_error(without_each), values.std(ddof=1) / 10**0.5))
    True
    """
    if len(scores) < 2:
        return 0.0
    # (g − 1)/g times the sum of squares: without one of g groups, a mean deviates by 1/(g − 1) of what the group does.
    return float(np.sqrt((len(scores) - 1) * np.mean((scores - scores.mean()) ** 2)))


def _leave_groups_out(
    scoring: Scoring, pools: Sequence[Sequence[Body]], lists: Sequence[PooledChoices], leave_out: bool = True
) -> Values:
    """Return the score of all held-out rows, and without each group of them; each fold has its own list."""
    if scoring.measure.scorer is not None:
        return np.array(list(_leave_groups_out_of_scorer(scoring, pools, lists, leave_out)))
    n_groups = scoring.roles.n_jackknife if leave_out else 1
    counts: PredictionCounts = scoring.covers.total(
        CoverBlock.jackknife_counts, lists, n_groups, scoring.labels, scoring.measure.is_of_rows
    )
    return counts.without_each().scores(scoring.measure)


def _leave_groups_out_of_scorer(
    scoring: Scoring, pools: Sequence[Sequence[Body]], lists: Sequence[PooledChoices], leave_out: bool
) -> Iterator[float]:
    """Return the same for a scorer: the mean over the folds on which it is defined."""
    n_groups = min(SCORER_GROUPS, scoring.roles.n_jackknife) if leave_out else 0
    held_out = []
    for fold, one in enumerate(lists):
        groups = [
            scoring.predictions(one, pools[one.pool], fold, group)
            for group in range(1, scoring.roles.n_groups[fold] + 1)
        ]
        arrays: list[Any] = [np.concatenate(parts) for parts in zip(*(group[:-1] for group in groups), strict=True)]
        held_out.append(Predictions(*arrays, groups[0].rules))  # type: ignore[call-arg]
    # -1 leaves nothing out. Groups of the rows, up to 100, are put together to at most SCORER_GROUPS.
    for left_out in range(-1, n_groups):
        scores = []
        for rows in held_out:
            kept = np.flatnonzero(rows.jackknife % max(n_groups, 1) != left_out)
            if len(kept):
                scores.append(rows.some(kept).score(scoring))
        yield float(np.nanmean(scores)) if np.isfinite(scores).any() else np.nan
