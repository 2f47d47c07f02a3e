"""How often the rules of a list come back when it is learned from other rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone

from plurule.classifier import RuleListClassifier
from plurule.inspection.data import match_both
from plurule.learning.options import check_engine, check_options
from plurule.learning.problem import Problem
from plurule.learning.weights import check_weights
from plurule.model import RuleList
from plurule.parameters import check_jobs, check_parameters, whole
from plurule.prediction.recurrence import TOLERANCE, Recurrence
from plurule.selection.folds import draw, learn_from_samples


def stability(
    rule_list: RuleList,
    X: Any,
    Y: Any = None,
    *,
    estimator: RuleListClassifier | None = None,
    resamples: int = 20,
    tolerance: float = TOLERANCE,
    sample_weight: ArrayLike | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> RuleList:
    """The same rules, each with the share of lists learned from resampled rows that hold it, too.

    A rule comes back if a list holds one with the same head that tests the same attributes in the same direction, with
    thresholds that few rows lie between. `to_frame` and the report show the share, the model file keeps it.

    Parameters
    ----------
    rule_list
        The rules.
    X, Y
        The data that they were learned from, or a data set as `X`.
    estimator
        The classifier that learned them; one with defaults, unless given. It learns lists of at most as many rules, and
        where it is to choose how (`heuristic="auto"`) chooses again each time, which takes as long as fitting it.
    resamples
        How often as many rows as there are are drawn with replacement.
    tolerance
        Thresholds count as the same if at most this share of the rows lies between them.
    sample_weight
        Weight of each row; those of the data set, unless given.
    random_state
        Seed of the drawing.
    n_jobs
        Threads; -1 for all cores.

    Examples
    --------
    >>> from plurule.datasets import load_world_flags
    >>> from plurule.heuristics import FMeasure
    >>> flags = load_world_flags()
    >>> learner = RuleListClassifier(heuristic=FMeasure(0.6), n_rules=3).fit(flags)
    >>> for rule in stability(learner.rule_list_, flags, estimator=learner):
    ...     print(rule.to_text(), rule.stability)
    red, white ← vertical_bars <= 2 0.45
    red ← 0.4
    green ← continent = Africa ∧ horizontal_stripes <= 5 ∧ stars <= 7 ∧ no "animal" 0.0
    """
    check_parameters({"resamples": [whole(1)]}, {"resamples": resamples})
    table, truth = match_both(rule_list, X, Y)
    given = getattr(X, "weights", None) if sample_weight is None else sample_weight
    problem = Problem(table, rule_list.labels, truth, check_weights(given, len(table), len(rule_list.labels)))
    learner = RuleListClassifier() if estimator is None else estimator
    samples = draw(len(table), resamples, random_state)
    most = max(len(rule_list), 1)
    if learner.heuristic == "auto":
        again = clone(learner).set_params(n_rules=most, n_jobs=n_jobs, verbose=False)
        weighted = (problem.weights * sample for sample in samples)
        lists = [again.fit(table, truth, weights, label_names=rule_list.labels).rule_list_ for weights in weighted]
    else:
        options = check_options(learner.get_params(deep=False), problem.n_labels).up_to(most)
        lists = learn_from_samples(problem, [options], samples, check_engine(learner.engine), check_jobs(n_jobs))
    shares = Recurrence(table, tolerance).shares(rule_list, lists)
    rules = tuple(replace(rule, stability=share) for rule, share in zip(rule_list, shares, strict=True))
    return replace(rule_list, rules=rules)
