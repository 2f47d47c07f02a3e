"""Lists that aim at a measure: how a list is made, and how long it is, is chosen by what it scores on new rows.

Per part of the data, whole lists are learned by F with two values of β, and by gain. Candidates are the lists by F
themselves, what is selected from the bodies of all of them at several prices (`plurule.selection.gain_cover`), and the
best constant label set. Of all of them at all lengths, the best mean score decides, with a little for rules that tell
of several labels and a little against rules and conditions. The best of many scores flatters itself: what users are
told is what the parts score that had no say in the choice, and a list that is better than the constant by chance and
little at most, by that, gives way to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule.data.targets import TargetForm, settled
from plurule.heuristics import FMeasure, Gain
from plurule.learning.problem import Options, Problem
from plurule.lifts import KLN, NoLift, as_table
from plurule.metrics import METRICS
from plurule.model import Assignment, Head, LengthChoice, Rule, RuleList
from plurule.prediction.constant import best_constant
from plurule.prediction.scoring import Scoring
from plurule.selection.gain_cover import Body, Price, bodies_of, counted, rules_of
from plurule.selection.lengths import LengthCurve, extended, standard_error
from plurule.selection.search import say_undefined
from plurule.selection.training_data import TrainingData
from plurule.selection.trials import Evaluation, Result, evaluation_to_choose_by

MOST_RULES = 40
"""A list whose length is chosen has at most so many rules."""
BETAS = (0.5, 1.0)
"""Lists are learned by F with each of these."""
LAMBDAS = (0.15, 0.22, 0.3, 0.38, 0.45)
"""For F-measures: half of what can be reached."""
PER_CONDITION = (0.0, 1.0, 2.0)
EXCEPTIONS = ((0.0, 10.0), (2.0, 10.0))
"""Where other rules are exceptions to the last: prices per condition, with what shares are shrunken by."""
LEAST_ROWS = 50
"""With fewer rows than this, ways to make a list cannot be told apart."""
PER_SIZE = 1e-4
"""What a rule or a condition must gain, as a share of what the constant leaves to be gained."""
FOR_SEVERAL = 0.03
"""What a list is worth more, in the same unit, whose rules all tell of several labels."""
LITTLE = 0.01
"""What is gained over the constant is little, in the same unit, up to here."""
HIGHER_LIFTS = (0.2, 0.5)
"""Also tried, as KLN, where heads of several labels may cost something …"""
FURTHER = (1.0, 0.7, 0.45)
"""… and what further labels of a head need gain."""


@dataclass(frozen=True)
class ConstantLabels:
    """The candidate that looks at no attribute."""

    def __str__(self) -> str:
        return "the same labels for every instance"


@dataclass(frozen=True)
class Whole:
    """The candidate that is a list as it was learned."""

    beta: float
    k: float | None = None
    """Of a lift that is higher than asked for."""

    def __str__(self) -> str:
        lifted = "" if self.k is None else f" and a lift of KLN(k={self.k:g})"
        return f"a list learned by F with β = {self.beta:g}{lifted}"


@dataclass(frozen=True)
class Selected:
    """The candidate that is selected from the bodies of all lists."""

    price: Price

    def __str__(self) -> str:
        lists = f"lists by F with β = {', '.join(f'{beta:g}' for beta in BETAS)} and by gain"
        return f"selected from the bodies of {lists}, by {self.price}"


Candidate: TypeAlias = ConstantLabels | Whole | Selected


def prices(scoring: Scoring, least_precision: float = 0.0, further: Sequence[float] = (1.0,)) -> list[Price]:
    """What is worth trying for a measure."""
    if "accuracy" in scoring.name:
        lams: Sequence[float] = (0.5,)
    else:
        lams = LAMBDAS if "f1" in scoring.name else (*LAMBDAS, 0.5)
    alike = "macro" in scoring.name
    every = product(lams, PER_CONDITION, further)
    return [Price(lam, cost, alike, least_precision, more) for lam, cost, more in every]


def evaluation_to_aim_by(folds: TrainingData, scoring: Scoring, form: TargetForm) -> Evaluation | None:
    """How candidates are compared; None if there is nothing to compare by.

    Measures of counts over all labels have a value whichever labels a part has; for others some labels are left out.
    """
    if not folds.n_parts or folds.problem.n_instances < LEAST_ROWS:
        return None
    if scoring.name in METRICS and "macro" not in scoring.name:
        return Evaluation(folds, scoring, form=form)
    return evaluation_to_choose_by("scoring", folds, scoring, form)


@dataclass(frozen=True, eq=False)
class Aim:
    """What lists are learned from and scored by, and the most rules they may have."""

    evaluation: Evaluation
    options: Options
    n_rules: int
    least_precision: float = 0.0
    exceptions: bool = False
    """Whether rules may say that a label which the last rule predicts is absent."""
    give_up: float = 0.0
    """How much of the score rules that tell of several labels may cost."""
    progress: Callable[[float], None] = lambda share: None
    """Told the share of lists that are learned."""

    @cached_property
    def prices(self) -> list[Price]:
        """The prices to select at; none, if presence, free heads and any body are not what was asked for."""
        problem = self.evaluation.folds.problem
        bounds = problem.constraints
        bound = bounds is not None and (bounds.binds_labels or bounds.requires_attribute)
        if self.options.head_search != "relaxed" or self.options.predict_absence or bound:
            return []
        found = prices(self.evaluation.scoring, self.least_precision, FURTHER if self.give_up else FURTHER[:1])
        tied = problem.groups or problem.hierarchy or (bounds is not None and bounds.directed)
        if self.exceptions and not self.least_precision and not self._as_lists and not tied:
            often = problem.label_weights.max(initial=0.0) / problem.total_weight
            likely = dict.fromkeys((p.lam, p.labels_alike, p.further) for p in found if p.lam < often)
            every = product(likely, EXCEPTIONS)
            found += [Price(lam, cost, alike, 0.0, more, True, m) for (lam, alike, more), (cost, m) in every]
        return found

    @property
    def _as_lists(self) -> bool:
        """Whether what is selected is scored as lists are, prefix by prefix."""
        return bool(self.evaluation.folds.problem.initial_rules) or self.evaluation.scoring.name not in METRICS

    @property
    def grown(self) -> int:
        """How long the lists are whose bodies are selected from: long enough for a rule per label."""
        return max(self.n_rules, self.evaluation.folds.problem.n_labels)

    def curves(self) -> dict[Candidate, Telling]:
        """What the candidates score and tell by length; the constant is always the first."""
        name = self.evaluation.scoring.name
        return {
            candidate: Telling(self.evaluation.curves(results, of_nothing=True)[name], _share_of_several(results))
            for candidate, results in self._results()
        }

    def _results(self) -> Iterator[tuple[Candidate, list[Result]]]:
        """Per candidate, what its lists of all parts score."""
        folds, parts = self.evaluation.folds, range(self.evaluation.folds.n_parts)
        constants = [self._constant(replace(folds.training(part), initial_rules=())) for part in parts]
        tried: dict[Candidate, list[RuleList]] = {ConstantLabels(): constants}
        pools = []
        for part in parts:
            lists = self._lists(folds, part)
            for beta, learned in zip(BETAS, lists, strict=False):
                tried.setdefault(Whole(beta), []).append(learned[: self.n_rules])
            for k in HIGHER_LIFTS if self.give_up else ():
                learned = folds.learn(part, self._options(Whole(1.0, k), self.n_rules))
                tried.setdefault(Whole(1.0, k), []).append(learned)
            pools.append(bodies_of(lists))
            self.progress((part + 1) / (len(parts) + 1))
        yield from self._scored(tried)
        if self.prices:
            yield from self._selected(pools)

    def _scored(self, tried: Mapping[Candidate, Sequence[RuleList]]) -> Iterator[tuple[Candidate, list[Result]]]:
        """The candidates with the scores of their lists, one of each part."""
        asked = [(learned, part) for lists in tried.values() for part, learned in enumerate(lists)]
        scored = iter(self.evaluation.scores(asked))
        for candidate, lists in tried.items():
            yield candidate, [next(scored) | _several(learned) for learned in lists]

    def _selected(self, pools: Sequence[Sequence[Body]]) -> Iterator[tuple[Candidate, list[Result]]]:
        """The candidates that are selected from a pool of each part."""
        evaluation, problem = self.evaluation, self.evaluation.folds.problem
        folds, measure = evaluation.folds, evaluation.scoring.name
        kept = np.arange(problem.n_labels) if evaluation.labels is None else evaluation.labels
        most = self.n_rules - len(problem.initial_rules)
        found: dict[Candidate, list[Result]] = {Selected(price): [] for price in self.prices}
        made: dict[Candidate, list[RuleList]] = {candidate: [] for candidate in found}
        every = folds.selections(pools, self.prices, most, None if self._as_lists else measure, kept)
        for part, (bodies, selections) in enumerate(zip(pools, every, strict=True)):
            for price, (chosen, scores) in zip(self.prices, selections, strict=True):
                if self._as_lists:
                    rules = rules_of(bodies, chosen, problem)
                    made[Selected(price)].append(folds.counted(part, rules, price.lam))
                    continue
                conditions = np.cumsum([0, *(len(bodies[choice.body]) for choice in chosen)]).tolist()
                several = np.cumsum([0, *(len(choice.head) > 1 for choice in chosen)]).tolist()
                result = {"scores": {measure: scores}, "conditions": conditions, "several": several}
                found[Selected(price)].append(result)
        yield from self._scored(made) if self._as_lists else found.items()

    def _lists(self, folds: TrainingData, part: int) -> list[RuleList]:
        """The lists by F, and the one by gain if bodies are selected."""
        most = self.grown if self.prices else self.n_rules
        tried = [self._options(Whole(beta), most) for beta in BETAS]
        if self.prices:
            gain = Gain(median(price.lam for price in self.prices))  # which adds up over labels, and knows no lift
            tried.append(replace(tried[0], heuristic=gain, lift=as_table(NoLift(), len(self.options.lift))))
        return [folds.learn(part, options) for options in tried]

    def _options(self, candidate: Whole, n_rules: int) -> Options:
        # Lists end where they score best, not before.
        options = replace(self.options, heuristic=FMeasure(beta=candidate.beta), n_rules=n_rules, remaining=0.0)
        return options if candidate.k is None else replace(options, lift=as_table(KLN(candidate.k), len(options.lift)))

    def _constant(self, problem: Problem) -> RuleList:
        labels, _ = best_constant(problem.Y, self.evaluation.scoring, problem.sample_weight, self.evaluation.form)
        often = problem.label_weights[None, :]
        labels = settled(np.asarray(labels, dtype=np.int8).reshape(1, -1), often, problem.groups)[0]
        said = tuple(Assignment(problem.labels[i], i, True) for i in np.flatnonzero(labels).tolist())
        return counted((Rule(Head(said)),) if said else (), problem, 0.5)

    def hit(self) -> Hit | None:
        """The list that was chosen, learned from all rows; None if no score is defined."""
        told = self.curves()
        say_undefined("scoring", [one.curve for one in told.values()])
        constant = told[ConstantLabels()].curve
        given = self.evaluation.folds.problem.initial_rules or self.least_precision or not self.prices
        if given:
            del told[ConstantLabels()]
        found = choose(told, constant.score(1), self.give_up)
        if found is None:
            return None
        (how, length), scores = found, cross_fitted(told, constant, self.give_up)
        curve, best = told[how].curve, max(one.curve.best_score for one in told.values())
        if not given and not is_better(scores, constant.scores[:, 0]):
            how, length, curve, scores = ConstantLabels(), 1, constant, constant.scores[:, 0]
        return Hit(how, length, self.learn(how, length), curve.cut_after(length), constant.score(1), scores, best)

    def learn(self, candidate: Candidate, length: int) -> RuleList:
        """The list of that candidate from all rows, cut after so many rules."""
        problem, everything = self.evaluation.folds.problem, self.evaluation.folds.everything()
        if isinstance(candidate, ConstantLabels):
            return self._constant(everything.training(0))
        if isinstance(candidate, Whole):
            return everything.learn(0, self._options(candidate, length))
        bodies, most = bodies_of(self._lists(everything, 0)), length - len(problem.initial_rules)
        ((selection,),) = everything.selections([bodies], [candidate.price], most, None, np.zeros(0, np.intp))
        return everything.counted(0, rules_of(bodies, selection.chosen, problem), candidate.price.lam)


class Hit(NamedTuple):
    """A list that was chosen, and what was known of it before it was learned from all rows."""

    how: Candidate
    length: int
    rule_list: RuleList
    curve: LengthCurve
    constant: float
    """What the best constant label set scores."""
    scores: NDArray[np.float64]
    """Per part, what lists chosen by the other parts score on it."""
    best: float
    """The highest score of all that was tried."""

    @property
    def expected(self) -> tuple[float, float]:
        """What lists made and chosen so score on new rows, and its standard error."""
        scores = self.scores[np.isfinite(self.scores)]
        return float(scores.mean()), float(standard_error(scores))

    def told(self) -> dict[str, Any]:
        """What users are told of the choice."""
        score, error = self.expected
        scores = {"score": score, "standard_error": error, "constant": self.constant}
        chosen = {"how": str(self.how), "n_rules": self.length, "scoring": self.curve.measure}
        return chosen | scores | {"given_up": max(0.0, self.best - self.curve.score(self.length))}

    def choice(self) -> LengthChoice | None:
        """What the list keeps of it."""
        score, error = (float(f"{value:.6g}") for value in self.expected)
        found = self.curve.choice(self.length, str(self.how), self.constant)
        return None if found is None else replace(found, expected=(score, error))


class Telling(NamedTuple):
    """What lists score by length, and the share of their rules that tell of several labels."""

    curve: LengthCurve
    share: NDArray[np.float64]
    """Per length: the share of rules with several labels in the head, or with a label in the body."""


def _several(rule_list: RuleList) -> Result:
    telling = [len(rule.head.stated) > 1 or bool(rule.label_conditions) for rule in rule_list]
    return {"several": np.cumsum([0, *telling]).tolist()}


def _share_of_several(results: Sequence[Result]) -> NDArray[np.float64]:
    counts = [np.array(result["several"][1:] or [0]) for result in results]
    shares = [count / np.arange(1, len(count) + 1) for count in counts]
    return extended(shares).mean(axis=0)


def choose(told: Mapping[Candidate, Telling], constant: float, give_up: float = 0.0) -> tuple[Candidate, int] | None:
    """The candidate and the length to take; None if no score is defined.

    Rules that tell of several labels speak for a list, its size against it, each with a small share of what the best
    constant label set leaves to be gained. Where something is to be given up, the list is taken, of those that score at
    most so much less than the best, with the largest share of such rules.
    """
    curves = [one.curve for one in told.values()]
    scores = extended([curve.scores for curve in curves])
    size = extended([c.conditions + np.arange(1, len(c.conditions) + 1) for c in curves])
    share = extended([one.share for one in told.values()])
    scores = scores[:, np.isfinite(scores).all(axis=(0, 2))]
    if not scores.shape[1]:
        return None
    allowed = np.array([np.arange(1, scores.shape[2] + 1) >= curve.at_least for curve in curves])
    mean = np.where(allowed, np.round(scores.mean(axis=1), 12), -np.inf)
    to_gain = left_to_gain(constant)
    worth = mean - to_gain * PER_SIZE * size
    if give_up:
        worth = np.where(mean >= mean.max() - give_up - 1e-12, worth + share / PER_SIZE, -np.inf)
    else:
        worth += to_gain * FOR_SEVERAL * share
    candidate, length = np.unravel_index(np.argmax(np.round(worth, 12)), mean.shape)
    return list(told)[candidate], int(length) + 1


def is_better(scores: NDArray[np.float64], constant: NDArray[np.float64]) -> bool:
    """Whether scores of parts are above those of the constant, by more than chance or by more than a little."""
    gains = (scores - constant)[np.isfinite(scores - constant)]
    least = min(standard_error(gains), LITTLE * left_to_gain(float(np.nanmean(constant))))
    return bool(len(gains)) and bool(np.round(gains.mean() - least, 12) > 0)


def left_to_gain(constant: float) -> float:
    """What a score leaves to be gained: scores end at one, those that are losses with another sign at nothing."""
    return (1.0 if constant >= 0 else 0.0) - constant if np.isfinite(constant) else 0.0


def cross_fitted(told: Mapping[Candidate, Telling], constant: LengthCurve, give_up: float = 0.0) -> NDArray[np.float64]:
    """Per part, the score on it of what the other parts choose; of a single part, of what it chooses itself."""
    parts = np.arange(len(constant.scores))
    found = np.full(len(parts), np.nan)
    for part in parts:
        others = parts[parts != part] if len(parts) > 1 else parts
        seen = {how: one._replace(curve=one.curve.on(others)) for how, one in told.items()}
        choice = choose(seen, constant.on(others).score(1), give_up)
        if choice is not None:
            scores = told[choice[0]].curve.scores[part]
            found[part] = scores[min(choice[1], len(scores)) - 1]
    return found
