"""The best short list for a measure: grow lists, select rules from them, choose among the selections.

    for each fold:
        grow      lists by the paper's learner (F½ and F1 with relaxed pruning, and gain); their bodies are the pool
        select    by each criterion (lift, λ, price of a condition, with or without a default rule): again and again
                  the rule that adds the most lifted gain
        score     what is selected, after 1, 2, … rules, on the rows that are held out
    choose        the criterion and the number of rules with the best mean score; of several lifts, the highest whose
                  score is not distinguishably below the best
    learn         the list of that criterion and length from all rows

The best of many scores is too good. Reported is what the choice of the other folds scores on each fold, and where that
is not better than the best constant prediction beyond chance, the constant is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.targets import enforce_exclusive
from plurule.errors import warn
from plurule.heuristics import FMeasure, Gain
from plurule.learning.problem import MinPrecision, Options, Problem
from plurule.lifts import KLN, AnyLift, Lift, NoLift, as_table
from plurule.model import Assignment, Head, LengthChoice, Rule, RuleList
from plurule.model.naming import amount
from plurule.prediction.assessment import best_constant
from plurule.selection.estimate import Estimate, estimate
from plurule.selection.paths import LengthCurve, extended, standard_error, warn_undefined
from plurule.selection.pool import (
    Body,
    Choice,
    SelectionCriterion,
    SelectionLimits,
    bodies_of,
    counted,
    related_labels,
    rules_of,
)
from plurule.selection.scoring import Scoring
from plurule.selection.training_data import Selection, TrainingData
from plurule.titles import MEASURE_TITLES

Values = NDArray[np.float64]

AUTO_LIFTS: tuple[Lift, ...] = (NoLift(), KLN(0.1), KLN(0.3), KLN(0.6))
"""The lifts to choose from."""
GROWN_BY = ((0.5, KLN(0.1)), (1.0, KLN(0.3)))
"""β and the lift of the lists by F that give the bodies, where the lift is chosen."""
GROWN_RULES = (40, 100)
"""Least limit of these lists, since a short list is selected from as many bodies as a long one, and the largest limit
that the number of labels sets."""
CONDITION_PRICES = (0.05, 0.1)
"""Shares of its gain that a rule pays for each condition, to choose from."""
MANY_LABELS = 20
"""With more labels, the last of these prices is the only one, since each takes as long as the other."""
EASY = 0.85
"""Where so high a score is reached, a stricter λ is tried, too: a precise rule must not be preempted by a broad one."""
STRICT_LAM = 0.75
"""That λ."""
CLASS_LAMS = (0.0, 0.5, 0.75)
"""λ of rules that predict one of several classes, to choose from."""
DEFAULT_CLASSES = 5
"""Of classes, so many of the most frequent ones are tried as that of the default rule."""
SIZE_PENALTY = 3e-4
"""What a rule or a condition must add to the score, as a share of what the best constant leaves to be gained."""
TIED_ERRORS = 0.5
"""A lift is as good as the best if its score is at most so many standard errors below."""


@dataclass(frozen=True, eq=False)
class Path:
    """What the lists of one criterion score, by fold and number of rules."""

    criterion: SelectionCriterion | None
    """None: the best constant prediction."""
    curve: LengthCurve
    relating: Values
    """Per number of rules, the mean share of rules whose heads have several labels."""
    choices: Sequence[Sequence[Choice]] = ()
    """Per fold, the rules in the order in which they were selected."""

    @property
    def size(self) -> Values:
        """Rules and conditions, per number of rules."""
        return self.curve.conditions + np.arange(1, len(self.curve.conditions) + 1)


@dataclass(frozen=True, eq=False)
class SelectedModel:
    """The list that was chosen, learned from all rows, and the scores that it was chosen by."""

    criterion: SelectionCriterion | None
    rule_list: RuleList
    curve: LengthCurve
    estimate: Estimate
    """The score of lists that are learned and chosen so, on held-out rows that had no part in the choice."""
    best: float
    """The highest mean score of all criteria and lengths."""
    n_candidates: int
    """The number of bodies that rules were selected from."""
    n_folds: int = 0

    @property
    def how(self) -> str:
        """How rows were held out."""
        return f"{self.n_folds}-fold cross-validation" if self.n_folds > 1 else "scores on rows that were held out once"

    @property
    def scored_on(self) -> str:
        """The rows of the score; a single part is chosen and scored by, and the best of many scores is too good."""
        return "held-out data" if self.n_folds > 1 else "these rows, too high on average"

    @property
    def n_rules(self) -> int:
        return self.curve.cut or len(self.rule_list)

    @property
    def expected(self) -> tuple[float, float]:
        """The score on held-out rows, and its standard error."""
        if self.criterion is None:
            return self.estimate.constant, self.estimate.constant_error
        return self.estimate.score, self.estimate.error

    @property
    def score_loss(self) -> float:
        """How much below the best of all that was tried the score is."""
        loss = self.best - self.curve.score(self.n_rules)
        return max(0.0, loss) if np.isfinite(loss) else 0.0

    def summary(self) -> dict[str, Any]:
        """Return the choice as plain data."""
        score, error = self.expected
        criterion: dict[str, Any] = {}
        if self.criterion is not None:
            criterion = {
                "lift": describe_lift(self.criterion.lift),
                "precision_threshold": self.criterion.lam,
                "condition_price": self.criterion.condition_price,
                "default_labels": [self.rule_list.labels[label] for label in self.criterion.usual],
                "has_exceptions": self.criterion.exceptions,
            }
        return criterion | {
            "how": self.describe(),
            "n_rules": self.n_rules,
            "scoring": self.curve.measure,
            "score": score,
            "standard_error": error,
            "constant": self.estimate.constant,
        }

    def describe(self) -> str:
        """Return the choice as a sentence."""
        measure = MEASURE_TITLES.get(self.curve.measure, self.curve.measure)
        score, error = self.expected
        if not np.isfinite(score):
            return f"{amount(len(self.rule_list), 'rule')}: no list can be scored"
        if self.criterion is None:
            scores = f"{measure} {score:.3f} ± {error:.3f} (standard error) on held-out data"
            return f"best constant prediction, {scores}; no list is better beyond chance"
        constant = f"{self.estimate.constant:.3f}"
        n_rules = amount(len(self.rule_list), "rule")
        lift = describe_lift(self.criterion.lift)
        selected = f"selected from {self.n_candidates:,} candidate rules by {self.how}"
        scores = f"{measure} {score:.3f} ± {error:.3f} (standard error) on {self.scored_on}, best constant {constant}"
        return f"{n_rules}, lift {lift}, {selected}; {scores}"

    def length_choice(self) -> LengthChoice | None:
        """Return what the list keeps of it."""
        choice = self.curve.choice(self.n_rules, self.describe(), self.estimate.constant)
        if choice is None:
            return None
        score, error = self.expected
        return replace(choice, expected=(float(f"{score:.6g}"), float(f"{error:.6g}")))


def describe_lift(lift: AnyLift) -> str:
    """Return a lift in short: `KLN 0.3`, `none`."""
    if isinstance(lift, KLN):
        return f"KLN {lift.k:g}"
    return "none" if lift is None or isinstance(lift, NoLift) else str(lift)


@dataclass(frozen=True, eq=False)
class Selector:
    """Grow, select and choose."""

    folds: TrainingData
    scoring: Scoring
    options: Options
    """Of the lists that give the bodies."""
    lifts: Sequence[AnyLift]
    """The lifts to choose from."""
    max_rules: int
    min_precision: float | None = None
    """Of every label of a head; None for no limit."""
    exceptions: bool = True
    """Whether rules may predict the absence of labels that a default rule predicts."""
    score_tolerance: float = 0.0
    """How much of the score may be lost for more rules that relate labels."""
    progress: Callable[[float], None] = lambda share: None
    """Called with the share of the folds that are done."""

    @property
    def problem(self) -> Problem:
        """The problem of all rows."""
        return self.folds.problem

    # Grow -------------------------------------------------------------------------------------------------------------

    @cached_property
    def grown_options(self) -> list[Options]:
        """The options of the lists that give the bodies.

        Their minimum precision follows λ, so that labels which are hard to predict have bodies, too.
        """
        n_labels = self.problem.n_labels
        lam = median(self.scoring.measure.gain_thresholds)
        common = replace(
            self.options,
            n_rules=max(self.max_rules, int(np.clip(n_labels, *GROWN_RULES))),
            remaining=0.0,
            label_conditions=False,
            min_precision=MinPrecision(lam if self.min_precision is None else self.min_precision),
        )
        by = GROWN_BY if len(self.lifts) > 1 else [(beta, self.lifts[0]) for beta in (0.5, 1.0)]
        lists = [replace(common, heuristic=FMeasure(beta), lift=as_table(lift, n_labels)) for beta, lift in by]
        return [*lists, replace(common, heuristic=Gain(lam), lift=as_table(None, n_labels))]

    def grow(self, data: TrainingData, fold: int) -> list[Body]:
        """Return the bodies of the lists that are learned from the rows of a fold."""
        bodies = bodies_of([data.learn(fold, options) for options in self.grown_options])
        if self.problem.constraints is None:
            return bodies
        # Initial rules may test what learned ones must not.
        allowed = self.problem.constraints.allowed_attributes
        return [body for body in bodies if all(allowed[condition.index] for condition in body)]

    # Select -----------------------------------------------------------------------------------------------------------

    def criteria(self, lams: Sequence[float]) -> list[SelectionCriterion]:
        """Return the criteria to choose from."""
        lifts = self.lifts
        prices = CONDITION_PRICES if self.problem.n_labels <= MANY_LABELS else CONDITION_PRICES[-1:]
        if self.has_classes:
            # Each rule predicts one class, and gains where it is right more often than the default rule.
            lams = CLASS_LAMS
            lifts = lifts[:1]
        criteria = [
            SelectionCriterion(lam, price, lift, usual=usual)
            for lam, price, lift, usual in product(lams, prices, lifts, self._usual())
        ]
        # A default rule gains where a label is more frequent than λ, and its exceptions need a free choice of heads.
        is_bound = self.problem.groups or self.problem.hierarchy
        if self.exceptions and self.min_precision is None and not is_bound:
            frequency = self.problem.label_weights.max(initial=0.0) / self.problem.total_weight
            criteria += [replace(criterion, exceptions=True) for criterion in criteria if criterion.lam < frequency]
        return criteria

    @property
    def has_classes(self) -> bool:
        """Whether exactly one of all labels is present."""
        return sum(map(len, self.problem.groups)) == self.problem.n_labels and len(self.problem.groups) == 1

    def _usual(self) -> list[tuple[int, ...]]:
        """Return the labels that default rules may predict, one for each group; of classes, several to try."""
        frequency = self.problem.label_weights
        by_group = [sorted(group, key=lambda label: -frequency[label]) for group in self.problem.groups]
        if self.has_classes:
            return [(label,) for label in by_group[0][:DEFAULT_CLASSES]]
        return [tuple(labels[0] for labels in by_group)]

    @property
    def limits(self) -> SelectionLimits:
        """The limits of every selection."""
        return SelectionLimits(
            self.max_rules - len(self.problem.initial_rules),
            self.min_precision or 0.0,
            self.scoring.measure.weighs_labels_equally,
        )

    def pools(self) -> list[list[Body]]:
        """Return the bodies of each fold."""
        pools = []
        for fold in range(self.folds.n_parts):
            pools.append(self.grow(self.folds, fold))
            self.progress((fold + 1) / (self.folds.n_parts + 1))
        return pools

    def constants(self) -> list[RuleList]:
        """Return the best constant prediction of each fold."""
        training = [self.folds.training(fold) for fold in range(self.folds.n_parts)]
        return [self.constant(replace(problem, initial_rules=())) for problem in training]

    def constant_curve(self, constants: Sequence[RuleList]) -> LengthCurve:
        """Return the scores of the best constant predictions."""
        scores = [
            self.scoring.score(constant, rows)
            for fold, constant in enumerate(constants)
            for rows in self.folds.held_out(fold)
        ]
        left_out = self.scoring.left_out(self.problem.labels)
        return LengthCurve(self.scoring.measure.name, np.array(scores)[:, None], np.zeros(1), left_out)

    def paths(self, pools: Sequence[Sequence[Body]]) -> list[Path]:
        """Return the scores of all criteria by fold and number of rules."""
        paths = self._paths(pools, self.criteria(self.scoring.measure.gain_thresholds))
        if not self.has_classes and max(path.curve.best_score for path in paths) >= EASY:
            paths += self._paths(pools, self.criteria([STRICT_LAM]))
        return paths

    def _paths(self, pools: Sequence[Sequence[Body]], criteria: Sequence[SelectionCriterion]) -> list[Path]:
        by_fold = list(self.folds.selections(pools, criteria, self.limits, self.scoring))
        by_criterion = zip(*by_fold, strict=True)
        return [
            self._path(criterion, pools, selections)
            for criterion, selections in zip(criteria, by_criterion, strict=True)
        ]

    def _path(
        self, criterion: SelectionCriterion, pools: Sequence[Sequence[Body]], selections: Sequence[Selection]
    ) -> Path:
        """Return the scores and sizes of what one criterion selects in all folds."""
        initial = self.problem.initial_rules
        scores = []
        conditions = []
        relating = []
        for bodies, selection in zip(pools, selections, strict=True):
            lengths = [len(rule.body) for rule in initial]
            lengths += [len(bodies[choice.body]) for choice in selection.choices]
            relate = [len(rule.head.stated) > 1 for rule in initial]
            relate += [len(choice.head) > 1 for choice in selection.choices]
            n_rules = np.arange(1, len(lengths) + 1)
            conditions.append(_from_one_rule(np.cumsum([0, *lengths])))
            relating.append(_from_one_rule(np.append(0.0, np.cumsum(relate) / n_rules)))
            # Initial rules are always there.
            scores += [_from_one_rule(np.array([group[0]] * len(initial) + group)) for group in selection.scores]
        curve = LengthCurve(
            self.scoring.measure.name,
            extended(scores),
            extended(conditions).mean(axis=0),
            self.scoring.left_out(self.problem.labels),
            max(1, len(initial)),
        )
        return Path(criterion, curve, extended(relating).mean(axis=0), [selection.choices for selection in selections])

    def constant(self, problem: Problem) -> RuleList:
        """Return the list that predicts the best constant label set."""
        labels, _ = best_constant(problem.Y, self.scoring.measure, problem.sample_weight, self.scoring.form)
        frequency = problem.label_weights[None, :]
        kept = enforce_exclusive(np.asarray(labels, dtype=np.int8).reshape(1, -1), frequency, problem.groups)[0]
        heads = related_labels(np.flatnonzero(kept).tolist(), problem)
        rules = [Rule(Head(tuple(Assignment(problem.labels[i], i, True) for i in head))) for head in heads]
        return counted(tuple(rules), problem, 0.5)

    # Choose -----------------------------------------------------------------------------------------------------------

    def fit_best(self) -> SelectedModel:
        """Return the list that is chosen, learned from all rows.

        Where no list can be scored, these are the initial rules, or else the best constant prediction.
        """
        everything = self.folds.everything()
        if not self.folds.n_parts or not len(self.scoring.labels):
            reason = "too few rows to hold some out" if len(self.scoring.labels) else "no label can be scored"
            return self._unscored(reason)
        pools = self.pools()
        constants = self.constants()
        constant_curve = self.constant_curve(constants)
        paths = self.paths(pools)
        choice = choose(paths, constant_curve.score(1), self.score_tolerance)
        if choice is None:
            return self._unscored(f"{self.scoring.measure.name} is not defined on any fold")
        warn_undefined("RuleListClassifier", constant_curve.measure, [path.curve.scores for path in paths])
        number, length = choice
        path = paths[number]
        lists = self.nested_lists(pools, paths, constant_curve)
        expected = estimate(self.folds, self.scoring, lists, constants)
        best = max(path.curve.best_score for path in paths)
        # Initial rules and a minimum precision are wishes that the constant does not fulfil.
        may_be_constant = not self.problem.initial_rules and self.min_precision is None
        if may_be_constant and not expected.is_better:
            rule_list = self.constant(everything.training(0))
            warn(
                f"no list has a better {constant_curve.measure} on held-out data than the best constant prediction "
                "beyond chance: the constant is returned"
            )
            return SelectedModel(None, rule_list, constant_curve.cut_after(1), expected, best, 0)
        assert path.criterion is not None
        bodies = self.grow(everything, 0)
        rule_list = self.learn(bodies, path.criterion, length)
        curve = path.curve.cut_after(length)
        return SelectedModel(path.criterion, rule_list, curve, expected, best, len(bodies), self.folds.n_parts)

    def nested_lists(
        self, pools: Sequence[Sequence[Body]], paths: Sequence[Path], constant: LengthCurve
    ) -> list[RuleList]:
        """Return, per fold, the list that the other folds choose; of a single fold, that which it chooses itself."""
        n_initial = len(self.problem.initial_rules)
        # A fold may be scored in several groups of rows.
        n_groups = len(constant.scores) // self.folds.n_parts
        group_fold = np.repeat(np.arange(self.folds.n_parts), n_groups)
        lists = []
        for fold, bodies in enumerate(pools):
            others = np.flatnonzero(group_fold != fold) if len(pools) > 1 else np.arange(n_groups)
            seen = [replace(path, curve=path.curve.on(others)) for path in paths]
            choice = choose(seen, constant.on(others).score(1), self.score_tolerance)
            number, length = (0, n_initial) if choice is None else choice
            choices = paths[number].choices[fold][: max(0, length - n_initial)]
            lists.append(self.folds.counted(fold, rules_of(bodies, choices, self.problem), 0.5))
        return lists

    def _unscored(self, reason: str) -> SelectedModel:
        """Return the initial rules, or else the best constant prediction, with a warning."""
        if self.problem.initial_rules:
            warn(f"no list can be scored: {reason}; the initial rules are returned")
            return self.initial_rules()
        warn(f"no list can be scored: {reason}; the best constant prediction is returned")
        return self._without_score(self.constant(self.folds.everything().training(0)))

    def initial_rules(self) -> SelectedModel:
        """Return the initial rules, if there are any, as the model."""
        return self._without_score(self.folds.everything().counted(0, (), 0.5))

    def _without_score(self, rule_list: RuleList) -> SelectedModel:
        nothing = np.full((1, 1), np.nan)
        curve = LengthCurve(self.scoring.measure.name, nothing, np.zeros(1))
        return SelectedModel(None, rule_list, curve, Estimate(*[np.nan] * 5), np.nan, 0)

    def learn(self, bodies: Sequence[Body], criterion: SelectionCriterion, length: int) -> RuleList:
        """Return the list that is selected from bodies by all rows, with at most so many rules."""
        everything = self.folds.everything()
        limits = replace(self.limits, max_rules=length - len(self.problem.initial_rules))
        ((selection,),) = everything.selections([bodies], [criterion], limits)
        return everything.counted(0, rules_of(bodies, selection.choices, self.problem), criterion.lam)


def _from_one_rule(values: Values) -> Values:
    """Return values by number of rules without that of no rule, unless it is all there is."""
    return values[1:] if len(values) > 1 else values


def choose(paths: Sequence[Path], constant: float, tolerance: float = 0.0) -> tuple[int, int] | None:
    """Return the number of a path and of its rules; None if no score is defined.

    Rules and conditions cost a little. The best path and length of each lift compete, and the highest lift wins whose
    score is not distinguishably below the best. With a tolerance, of all that score at most so much below the best,
    the largest share of rules that relate labels wins.
    """
    scores = extended([path.curve.scores for path in paths])
    scores = scores[:, np.isfinite(scores).all(axis=(0, 2))]
    if not scores.shape[1]:
        return None
    lengths = np.arange(1, scores.shape[2] + 1)
    allowed = np.array([lengths >= path.curve.at_least for path in paths])
    mean = np.where(allowed, np.round(scores.mean(axis=1), 12), -np.inf)
    penalty = SIZE_PENALTY * left_to_gain(constant) * extended([path.size for path in paths])
    worth = np.round(mean - penalty, 12)
    if tolerance:
        relating = extended([path.relating for path in paths])
        close = mean >= mean.max() - tolerance - 1e-12
        worth = np.where(close, worth + relating * len(paths), -np.inf)
        number, length = np.unravel_index(np.argmax(worth), worth.shape)
        return int(number), int(length) + 1
    lifts = [path.criterion.lift if path.criterion is not None else None for path in paths]
    best_of_lift = []
    for lift in dict.fromkeys(map(describe_lift, lifts)):
        of_lift = np.array([describe_lift(other) == lift for other in lifts])
        best_of_lift.append(np.unravel_index(np.argmax(np.where(of_lift[:, None], worth, -np.inf)), worth.shape))
    top = max(best_of_lift, key=lambda place: mean[place])
    error = standard_error(scores[top[0], :, top[1]])
    close_enough = [place for place in best_of_lift if mean[place] >= mean[top] - TIED_ERRORS * error - 1e-12]
    number, length = close_enough[-1]  # lifts ascend
    return int(number), int(length) + 1


def left_to_gain(constant: float) -> float:
    """Return what a score leaves to be gained: scores end at 1, negated losses at 0."""
    if not np.isfinite(constant):
        return 0.0
    return (1.0 if constant >= 0 else 0.0) - constant
