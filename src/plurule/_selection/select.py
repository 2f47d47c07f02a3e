"""The best short list for a measure. The whole way of a fit is `Selector.fit`:

take    rows → Sample             the rows that lists are grown on: all, up to a limit
split   rows → Roles              int8, folds × rows: 0 trains, 1, 2, … held out, -1 neither
grow    Sample, Roles → pools     lists by the paper's learner (F½ and F1 with relaxed pruning, and gain);
                                  their bodies are the pool of a fold; that of all rows comes last
cover   rows, pools → Covers      which rows each body covers, as bits; attributes are not needed any more
select  Covers → choices          by each criterion (lift, λ, price of a condition, with or without a default
                                  rule): again and again the rule that adds the most lifted gain
score   choices → CriterionScores after 1, 2, … rules, on the rows that are held out
        → choose                  the criterion and the number of rules with the best mean score; of several lifts,
                                  the highest whose score is not distinguishably below the best
        → Estimate                what the choice of the other folds scores on each fold: the best of many scores
                                  is too good; where that is not better than the best constant prediction beyond
                                  chance, the constant is returned
finish  choices → RuleList        the list of that criterion and length from all rows: round thresholds, counts
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, product
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule import _core
from plurule._learning import native
from plurule._learning.finish import readable, warn_if_coverage_impossible
from plurule._learning.problem import MinPrecision, Options, Problem
from plurule._prediction.assessment import best_constant
from plurule._rows.rows import Body, CoverBlock, Covers, PooledChoices, Roles, Rows
from plurule._selection.pool import (
    SelectionCriterion,
    bodies_of,
    gain_of,
    related_labels,
    rules_of,
    select_rules,
)
from plurule._selection.scores import (
    CriterionScores,
    Estimate,
    LengthCurve,
    Scoring,
    Values,
    choose,
    describe_lift,
    estimate,
    extended,
    find_scoring,
    warn_undefined,
)
from plurule.data.targets import TargetForm, enforce_exclusive
from plurule.errors import amount, warn
from plurule.heuristics import FMeasure, Gain
from plurule.lifts import KLN, AnyLift, Lift, NoLift, as_table
from plurule.metrics import MEASURE_TITLES, Measure, best_label_set
from plurule.model import Assignment, Head, LengthChoice, Rule, RuleList

# Where no script is named, a constant was measured nested in training parts by scripts that are not committed.
# That is true of all constants up to DEFAULT_CLASSES.
#
# Ascending: of lifts with (almost) the same score, `choose` takes the last.
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


@dataclass(frozen=True, eq=False)
class SelectedModel:
    """The list that was chosen, learned from all rows, and the scores that it was chosen by."""

    criterion: SelectionCriterion | None
    """None: the best constant prediction, or initial rules alone."""
    rule_list: RuleList
    curve: LengthCurve
    estimate: Estimate
    """The score of lists that are learned and chosen so, on held-out rows that had no part in the choice."""
    label_sums: NDArray[np.float64]
    """The weight of the rows with each label, and last that of all rows."""
    best: float = np.nan
    """The highest mean score of all criteria and lengths."""
    n_candidates: int = 0
    """The number of bodies that rules were selected from."""
    n_folds: int = 0
    grown_on: tuple[int, int] = (0, 0)
    """How many rows lists were grown on, of how many."""

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
                "default_labels": [self.rule_list.labels[label] for label in self.criterion.default_labels],
                "has_exceptions": self.criterion.predict_absence,
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
        grown, everything = self.grown_on
        sampled = f", grown on {grown:,} of {everything:,} rows" if grown < everything else ""
        how, scored_on = f"{self.n_folds}-fold cross-validation", "held-out data"
        if self.n_folds == 1:
            # The list is chosen and scored by the same rows, and the best of many scores is too good.
            how, scored_on = "scores on rows that were held out once", "these rows, too high on average"
        selected = f"selected from {self.n_candidates:,} candidate rules{sampled} by {how}"
        scores = f"{measure} {score:.3f} ± {error:.3f} (standard error) on {scored_on}, best constant {constant}"
        return f"{n_rules}, lift {lift}, {selected}; {scores}"

    def length_choice(self) -> LengthChoice | None:
        """Return what the list keeps of it."""
        choice = self.curve.choice(self.n_rules, self.describe(), self.estimate.constant)
        if choice is None:
            return None
        score, error = self.expected
        return replace(choice, expected=(float(f"{score:.6g}"), float(f"{error:.6g}")))


@dataclass(frozen=True, eq=False)
class Selector:
    """Grow, select and choose."""

    measure: Measure
    form: TargetForm
    """The form of the labels."""
    options: Options
    """Of the lists that give the bodies."""
    lifts: Sequence[AnyLift]
    """The lifts to choose from."""
    max_rules: int
    min_precision: float | None = None
    """Of every label of a head; None for no limit."""
    predict_absence: bool = True
    """Whether rules may predict the absence of labels that a default rule predicts."""
    score_tolerance: float = 0.0
    """How much of the score may be lost for more rules that relate labels."""
    cv: Any = 5
    max_grown_rows: int | None = None
    n_threads: int = 1
    progress: Callable[[float], None] = lambda share: None
    """Called with the share of the folds that are done."""

    # The line ---------------------------------------------------------------------------------------------------------

    def fit(self, rows: Rows) -> SelectedModel:
        """Return the list that is chosen, learned from all rows.

        Where no list can be scored, these are the initial rules, or else the best constant prediction.
        """
        #     sample    a Problem of at most max_grown_rows rows, and their numbers among all rows
        #     roles     int8, folds × all rows
        #     pools     list of bodies for each fold, and last for all rows; the first body of each is empty
        #     covers    bits of all rows: uint8, bodies × bytes for each pool and labels × bytes
        #     scoring   the measure, and the labels that it is defined for
        #
        # Lists are grown on the sample; selected, scored and counted on all rows.
        sample = rows.take(self.max_grown_rows)
        problem = sample.problem
        roles = rows.split(self.cv)
        nothing_covers = warn_if_coverage_impossible(problem, self.options)
        learn = partial(grow, several=self.grown_options(problem), n_threads=self.n_threads)
        may_grow = roles.n_folds > 0 and not nothing_covers
        # Without folds or bodies, pools have the empty body alone: the best constant prediction needs no other.
        pools = rows.grow(learn, roles, self.progress) if may_grow else [[()]] * (roles.n_folds + 1)
        covers = rows.cover(pools, roles)
        scoring = find_scoring(self.measure, self.form, problem, covers, roles)
        selection = Selection(self, rows, problem, pools, covers, roles, scoring)
        if nothing_covers:
            return selection.initial_rules()
        if not roles.n_folds or not len(scoring.labels):
            few = "too few rows to hold some out"
            return selection.unscored(few if len(scoring.labels) else "no label can be scored")
        return replace(selection.best(), grown_on=(len(sample.places), rows.n_rows))

    # Grow -------------------------------------------------------------------------------------------------------------

    def grown_options(self, problem: Problem) -> list[Options]:
        """Return the options of the lists that give the bodies.

        Their minimum precision follows λ, so that labels which are hard to predict have bodies, too.
        """
        n_labels = problem.n_labels
        lam = median(self.measure.gain_thresholds)
        # remaining=0: lists go on to the limit of their rules, as more rules give more bodies. No conditions on labels:
        # bits of a body must not depend on what other rules predict.
        common = replace(
            self.options,
            n_rules=max(self.max_rules, int(np.clip(n_labels, *GROWN_RULES))),
            remaining=0.0,
            label_conditions=False,
            min_precision=MinPrecision(lam if self.min_precision is None else self.min_precision),
        )
        by = GROWN_BY if len(self.lifts) > 1 else [(beta, self.lifts[0]) for beta in (0.5, 1.0)]
        lists = [replace(common, heuristic=FMeasure(beta), lift=as_table(lift, n_labels)) for beta, lift in by]
        # Gain adds up over labels, so its heads need no lift to be long.
        return [*lists, replace(common, heuristic=Gain(lam), lift=as_table(None, n_labels))]

    # Select -----------------------------------------------------------------------------------------------------------

    def criteria(self, lams: Sequence[float], problem: Problem, label_sums: Values) -> list[SelectionCriterion]:
        """Return the criteria to choose from; `label_sums` has the weight of each label, and last that of all rows."""
        lifts = self.lifts
        prices = CONDITION_PRICES if problem.n_labels <= MANY_LABELS else CONDITION_PRICES[-1:]
        # The labels that a default rule predicts: the most frequent one of each exclusive group.
        by_group = [sorted(group, key=lambda label: -label_sums[label]) for group in problem.groups]
        default_labels = [tuple(labels[0] for labels in by_group)]
        if has_classes(problem):
            # Each rule predicts one class, and gains where it is right more often than the default rule, for which
            # several classes are tried.
            default_labels = [(label,) for label in by_group[0][:DEFAULT_CLASSES]]
            lams = CLASS_LAMS
            lifts = lifts[:1]
        criteria = [
            SelectionCriterion(
                lam,
                price,
                lift,
                default_labels=labels,
                max_rules=self.max_rules - len(problem.initial_rules),
                min_precision=self.min_precision or 0.0,
                weighs_labels_equally=self.measure.weighs_labels_equally,
            )
            for lam, price, lift, labels in product(lams, prices, lifts, default_labels)
        ]
        # A default rule gains where a label is more frequent than λ, and its exceptions need a free choice of heads.
        is_bound = problem.groups or problem.hierarchy
        if self.predict_absence and self.min_precision is None and not is_bound:
            frequency = label_sums[:-1].max(initial=0.0) / label_sums[-1]
            criteria += [replace(one, predict_absence=True) for one in criteria if one.lam < frequency]
        return criteria


def grow(problem: Problem, several: Sequence[Options], n_threads: int) -> list[Body]:
    """Return the bodies of the lists that are learned from some rows with several options."""
    derived = problem.with_conditions(several[0].conditions)
    # Ranked once for all lists: they share bins and conditions.
    columns = native.prepare(derived, several[0], n_threads)
    bodies = bodies_of([native.learn(derived, options, n_threads, columns=columns) for options in several])
    if problem.constraints is None:
        return bodies
    # Initial rules may test what learned ones must not.
    allowed = problem.constraints.allowed_attributes
    return [body for body in bodies if all(allowed[condition.index] for condition in body)]


def has_classes(problem: Problem) -> bool:
    """Return whether exactly one of all labels is present."""
    return sum(map(len, problem.groups)) == problem.n_labels and len(problem.groups) == 1


@dataclass(frozen=True, eq=False)
class Selection:
    """The second half of the line: from covers to a finished list."""

    selector: Selector
    rows: Rows
    problem: Problem
    pools: Sequence[Sequence[Body]]
    """Bodies of each fold, and last those of all rows."""
    covers: Covers
    roles: Roles
    scoring: Scoring

    # `fold` below is the number of a fold, and of its pool; None is all rows, whose pool is `n_folds`, the last.
    def best(self) -> SelectedModel:
        """Return the list of the criterion and length that are chosen, or the best constant prediction."""
        n_folds, selector, measure = self.roles.n_folds, self.selector, self.scoring.measure
        constants = [PooledChoices(fold, self.constant(fold), False) for fold in range(n_folds)]
        scores = [
            [self.scoring.score(constants[fold], self.pools[fold], fold, group)] for fold, group in self.roles.held_out
        ]
        constant_curve = LengthCurve(measure.name, np.array(scores), np.zeros(1), self.scoring.left_out())
        candidates = self.candidates(measure.gain_thresholds)
        # Not for classes: `criteria` gives them λ of their own, and STRICT_LAM is one of these.
        if not has_classes(self.problem) and max(one.curve.best_score for one in candidates) >= EASY:
            candidates += self.candidates([STRICT_LAM])
        choice = choose(candidates, constant_curve.score(1), selector.score_tolerance)
        if choice is None:
            return self.unscored(f"{measure.name} is not defined on any fold")
        warn_undefined("RuleListClassifier", constant_curve.measure, [one.curve.scores for one in candidates])
        number, length = choice
        criterion, curve = candidates[number].criterion, candidates[number].curve
        lists = self.nested_lists(candidates, constant_curve)
        # The score of the choice is the best of hundreds, and too good; each of these lists was chosen without the rows
        # that it is scored on.
        expected = estimate(self.scoring, self.pools, lists, constants)
        best = max(one.curve.best_score for one in candidates)
        label_sums = self.covers.total(CoverBlock.label_sums, None)
        # Initial rules and a minimum precision are wishes that the constant does not fulfil.
        may_be_constant = not self.problem.initial_rules and selector.min_precision is None
        if may_be_constant and not expected.is_better:
            warn(
                f"no list has a better {constant_curve.measure} on held-out data than the best constant prediction "
                "beyond chance: the constant is returned"
            )
            constant_curve = replace(constant_curve, cut=1)
            return SelectedModel(None, self.finished(self.constant_rules()), constant_curve, expected, label_sums, best)
        bodies = self.pools[-1]
        # Rules are selected one after the other, so a limit cuts the list off and changes no rule before.
        last = replace(criterion, max_rules=length - len(self.problem.initial_rules))
        (choices,) = select_rules(self.covers, bodies, n_folds, None, [last], self.problem)
        rule_list = self.finished(rules_of(bodies, choices, self.problem), criterion.lam)
        curve = replace(curve, cut=length)
        return SelectedModel(criterion, rule_list, curve, expected, label_sums, best, len(bodies), n_folds)

    # Select and score -------------------------------------------------------------------------------------------------

    def candidates(self, lams: Sequence[float]) -> list[CriterionScores]:
        """Return the scores of all criteria with some λ, by fold and number of rules."""
        # float64[labels + 1] of all rows, so that all folds have the same criteria.
        label_sums = self.covers.total(CoverBlock.label_sums, None)
        criteria = self.selector.criteria(lams, self.problem, label_sums)
        by_fold = []
        for fold in range(self.roles.n_folds):
            bodies = self.pools[fold]
            selections = select_rules(self.covers, bodies, fold, fold, criteria, self.problem)
            keys = [tuple(choices) for choices in selections]
            distinct = list(dict.fromkeys(keys))  # criteria often choose alike
            curves = dict(zip(distinct, self.scoring.curves(fold, bodies, distinct), strict=True))
            by_fold.append([(choices, curves[choices]) for choices in keys])
        # by_fold is folds × criteria; each criterion takes its own of all folds.
        return [
            self._scores(criterion, of_folds)
            for criterion, of_folds in zip(criteria, zip(*by_fold, strict=True), strict=True)
        ]

    def _scores(
        self, criterion: SelectionCriterion, of_folds: Sequence[tuple[Sequence[_core.Choice], Sequence[Values]]]
    ) -> CriterionScores:
        """Return the scores and sizes of what one criterion selects in all folds."""
        initial = self.problem.initial_rules
        scores, conditions, relating = [], [], []
        # Not strict: the last pool is that of all rows, which is not scored.
        for bodies, (choices, curves) in zip(self.pools, of_folds, strict=False):
            lengths = [len(rule.body) for rule in initial] + [len(bodies[choice.body]) for choice in choices]
            relate = [len(rule.head.stated) > 1 for rule in initial] + [len(choice.head) > 1 for choice in choices]
            # From one rule on, unless there is none. Initial rules are always there.
            begin = min(1, len(lengths))
            conditions.append(np.array([0.0, *accumulate(lengths)])[begin:])
            relating.append(np.array([0.0, *(n / k for k, n in enumerate(accumulate(relate), start=1))])[begin:])
            scores += [np.append([curve[0]] * len(initial), curve)[begin:] for curve in curves]
        curve = LengthCurve(
            self.scoring.measure.name,
            extended(scores),
            extended(conditions).mean(axis=0),
            self.scoring.left_out(),
            max(1, len(initial)),
        )
        selections = [choices for choices, _ in of_folds]
        return CriterionScores(criterion, curve, extended(relating).mean(axis=0), selections)

    def nested_lists(self, candidates: Sequence[CriterionScores], constant: LengthCurve) -> list[PooledChoices]:
        """Return, per fold, the list that the other folds choose; of a single fold, that which it chooses itself."""
        n_initial = len(self.problem.initial_rules)
        # A fold may be scored in several groups of rows.
        fold_of = np.array([fold for fold, _ in self.roles.held_out])
        lists = []
        for fold in range(self.roles.n_folds):
            others = np.flatnonzero(fold_of != fold) if self.roles.n_folds > 1 else np.arange(len(fold_of))
            seen = [replace(one, curve=replace(one.curve, scores=one.curve.scores[others])) for one in candidates]
            constant_score = replace(constant, scores=constant.scores[others]).score(1)
            choice = choose(seen, constant_score, self.selector.score_tolerance)
            number, length = (0, n_initial) if choice is None else choice
            # Criterion and length of the others, rules of this fold: learned without the rows that it holds out.
            choices = candidates[number].selections[fold][: max(0, length - n_initial)]
            lists.append(self.scoring.as_list(fold, choices))
        return lists

    # The best constant prediction -------------------------------------------------------------------------------------

    def constant(self, fold: int | None) -> list[_core.Choice]:
        """Return the best constant prediction for the rows that a fold trains on, as rules without conditions."""
        measure = self.scoring.measure
        sums: Values = self.covers.total(CoverBlock.label_sums, fold)
        # Sums per label are enough for most measures; others need the labels of each row, uint8[rows, labels].
        if measure.scorer is None and not measure.is_of_rows:
            labels = best_label_set(sums[:-1], float(sums[-1]), measure)[0]
        else:
            truth = self.covers.gather(CoverBlock.labels, fold)
            weights = self.covers.gather(CoverBlock.row_facts, fold)[:, 0]
            given = None if (weights == 1).all() else weights
            labels = best_constant(truth, measure, given, self.scoring.form).labels
        if self.problem.groups:
            present = np.asarray(labels, dtype=np.int8).reshape(1, -1)
            # Whatever is best for the measure, exactly one label of each group: the most frequent one.
            labels = enforce_exclusive(present, sums[None, :-1], self.problem.groups)[0]
        choices = []
        for labels_of_head in related_labels(np.flatnonzero(labels).tolist(), self.problem):
            head = Head(tuple(Assignment(self.problem.labels[label], label, True) for label in labels_of_head))
            completed = head.completed(self.problem.groups, self.problem.labels, self.problem.hierarchy)
            decided = [assignment.index for assignment in completed]
            # Body 0 is empty: it covers every row. Not a default rule, since there is no other rule to come before it.
            choices.append(_core.Choice(0, labels_of_head, [True] * len(labels_of_head), decided, False))
        return choices

    def constant_rules(self) -> tuple[Rule, ...]:
        """Return the rules of the best constant prediction for all rows."""
        heads = (
            tuple(Assignment(self.problem.labels[i], i, True) for i in choice.head) for choice in self.constant(None)
        )
        return tuple(Rule(Head(head)) for head in heads)

    # Finish -----------------------------------------------------------------------------------------------------------

    def finished(self, rules: Sequence[Rule], lam: float = 0.5) -> RuleList:
        """Return the initial rules and these, with round thresholds, the counts of all rows, and gains as values."""
        initial = self.problem.initial_rules
        plain = readable(self.problem.listed((*initial, *rules)), self.problem.table, len(initial))
        counted = self.rows.count(plain)
        n = len(initial)
        # The value of an initial rule is the one it was given with.
        kept = (replace(rule, value=given.value) for rule, given in zip(counted.rules[:n], initial, strict=True))
        return replace(counted, rules=(*kept, *(replace(rule, value=gain_of(rule, lam)) for rule in counted.rules[n:])))

    def unscored(self, reason: str) -> SelectedModel:
        """Return the initial rules, or else the best constant prediction, with a warning."""
        if self.problem.initial_rules:
            warn(f"no list can be scored: {reason}; the initial rules are returned")
            return self.initial_rules()
        warn(f"no list can be scored: {reason}; the best constant prediction is returned")
        return self._without_score(self.constant_rules())

    def initial_rules(self) -> SelectedModel:
        """Return the initial rules, if there are any, as the model."""
        return self._without_score(())

    def _without_score(self, rules: Sequence[Rule]) -> SelectedModel:
        curve = LengthCurve(self.scoring.measure.name, np.full((1, 1), np.nan), np.zeros(1))
        unknown = Estimate(*[np.nan] * 5)
        return SelectedModel(None, self.finished(rules), curve, unknown, self.covers.total(CoverBlock.label_sums, None))
