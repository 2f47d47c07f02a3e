"""`RuleListClassifierCV`: chooses parameters by cross-validation, then trains on everything.

Two protocols of one search: `"wide"` chooses β, the lift, signs, head mode and length together; `"paper"` chooses the
lift alone, among 28, by 5-fold cross-validation on the training data (see `plurule.selection.search`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from plurule.classifier import RuleListClassifier, problem_for
from plurule.data.targets import TargetForm
from plurule.errors import nearest
from plurule.learning.binning import with_short_thresholds
from plurule.learning.constraints import Constraints
from plurule.learning.default_rules import with_default_rules
from plurule.learning.missing_labels import can_learn, labels_without_rules, why_training_ended
from plurule.learning.options import LIFTED_SEARCHES, check_engine, check_heuristic, check_options
from plurule.learning.problem import Options, Problem
from plurule.lifts import as_table, paper_lifts, peaks_within
from plurule.metrics import METRICS
from plurule.model import Rule, RuleList
from plurule.parameters import check_jobs, check_parameters, words
from plurule.prediction.predictor import RuleListPredictor
from plurule.prediction.scoring import Scorer, Scoring, check_scoring
from plurule.progress import told
from plurule.selection.executing import Shared, run, threads
from plurule.selection.folds import Folds, Rows, make_parts
from plurule.selection.journal import Journal
from plurule.selection.lengths import LengthCurve, Point, Size, best_within, plot_front
from plurule.selection.search import (
    TIE_BREAKERS,
    AnyLift,
    Curves,
    Grid,
    Parameters,
    Progress,
    Searched,
    default_grid,
    height,
    say_undefined,
    search,
)
from plurule.selection.trials import Evaluation, Trial, evaluation_to_choose_by

Protocol: TypeAlias = Literal["wide", "paper"]


@dataclass(repr=False, eq=False)
class RuleListClassifierCV(RuleListPredictor):
    """A `RuleListClassifier` whose parameters are chosen by cross-validation.

    Parameters
    ----------
    estimator
        The classifier to start from, with all that is not chosen; `None` for `RuleListClassifier()`, with protocol
        `"paper"` for `RuleListClassifier.published()`.
    protocol
        `"wide"` chooses β, the lift, signs, the head mode and the length of the list together; `"paper"` chooses the
        lift, as the paper does. (If the estimator has `n_rules="auto"`, lifts are compared by whole lists, and the
        length is chosen for the one that wins.)
    param_grid
        With protocol `"wide"`, the candidates as for scikit-learn's `ParameterGrid`: parameters of the classifier with
        the values to try, or several such. The length is chosen for each of them. `None` for a grid of 17 candidates.
    lifts
        The lifts to try: lifts, functions of the number of labels, or `None` among them; `None` for those of the
        protocol, `"paper"` for the 28 of the paper. A `Peak` beyond the number of labels is left out.
    length
        With protocol `"wide"`, where a list is cut: at the `"best"` length, or at the `"shortest"` that is within one
        standard error of it.
    scoring
        The measure to choose by: a name in `plurule.metrics` such as `"hamming_accuracy"`, `"micro_f1"` or
        `"macro_f1"`, or what scikit-learn knows as a scorer, by name or as a function of classifier, X and Y. `None`
        for micro F1, with protocol `"paper"` for Hamming accuracy.
    cv
        Number of folds, or a scikit-learn splitter, or the splits themselves. With protocol `"wide"` a number of folds
        keeps the share of every label in all of them, and a share of the rows may be held out instead.
    random_state
        With protocol `"paper"`, decides which rows make up which fold if `cv` is a number.
    n_jobs
        Threads to train in; -1 for all cores. The choice does not depend on it.
    verbose
        Whether to show a bar of how many candidates are finished; or a function, which is called at first and whenever
        one is, with the number of those that are and of all.

    Attributes
    ----------
    best_params_ : dict
        What was chosen: the value of every parameter that some candidate changes, and with protocol `"wide"` `n_rules`.
    best_lift_ : Lift
        The lift of the best classifier.
    best_score_ : float
        Its mean score over the folds.
    best_index_ : int
        Its position in `cv_results_`.
    best_estimator_ : RuleListClassifier
        The classifier with what was chosen, trained on all the data.
    cv_results_ : dict of str to array
        What was tried (`params`, `param_lift`, …) and, for every measure, the score on each fold
        (`split0_test_hamming_accuracy`, …), `mean_test_…` and `std_test_…`; the size of the models (`mean_rules`, or
        `n_rules` as chosen; `mean_conditions`); `rank_test_score` after ties were broken.
    curves_ : list of LengthCurve or None
        With protocol `"wide"`, the scores of each candidate by length.
    pareto_front_ : list of Point
        With protocol `"wide"`, the candidates and lengths that no other beats in score, rules and conditions at once,
        shortest first.
    rule_list_, n_rules_curve_, labels_without_rules_, label_names_, classes_, n_features_in_, feature_names_in_
        Those of the best classifier.

    Examples
    --------
    >>> from plurule.datasets import load_world_flags
    >>> X, Y = load_world_flags(return_X_y=True)
    >>> search = RuleListClassifierCV(param_grid={"heuristic__beta": [0.5, 1.0]}).fit(X, Y)
    >>> search.best_params_["heuristic__beta"] in (0.5, 1.0)
    True
    >>> len(search.select(max_rules=5).rule_list_) <= 5
    True
    """

    estimator: RuleListClassifier | None = None
    _: KW_ONLY
    protocol: Protocol = "wide"
    param_grid: Grid | None = None
    lifts: Sequence[AnyLift] | str | None = None
    length: Literal["best", "shortest"] = "best"
    scoring: str | Scorer | None = None  # type: ignore[assignment]  # None is for the measure of the protocol
    cv: Any = 5
    random_state: int | None = 0
    n_jobs: int | None = None
    verbose: bool | int | Progress = False

    best_params_: Parameters = field(init=False, repr=False, compare=False)
    best_lift_: Any = field(init=False, repr=False, compare=False)
    best_score_: float = field(init=False, repr=False, compare=False)
    best_index_: int = field(init=False, repr=False, compare=False)
    best_estimator_: RuleListClassifier = field(init=False, repr=False, compare=False)
    cv_results_: dict[str, Any] = field(init=False, repr=False, compare=False)
    curves_: list[LengthCurve | None] = field(init=False, repr=False, compare=False)
    pareto_front_: list[Point] = field(init=False, repr=False, compare=False)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        initial_rules: RuleList | str | Iterable[Rule | str] = (),
        constraints: Constraints | None = None,
        executor: Executor | None = None,
        journal: Journal | None = None,
    ) -> Self:
        """Choose, then train on everything; the arguments are those of `RuleListClassifier.fit`, and two more.

        Parameters
        ----------
        X, y, sample_weight, label_names, initial_rules, constraints
            As for `RuleListClassifier.fit`.
        executor
            What runs the trials, any `concurrent.futures.Executor`: of threads, processes, or a Dask cluster
            (`client.get_executor()`). The choice does not depend on it. Unless given, `n_jobs` threads.
        journal
            A `plurule.selection.Journal` that keeps what is finished: a search that was ended goes on from there.
        """
        check_parameters({"protocol": [words("wide", "paper")], "length": [words("best", "shortest")]}, vars(self))
        estimator = self.estimator
        if estimator is None:
            estimator = RuleListClassifier() if self.protocol == "wide" else RuleListClassifier.published()
        if not isinstance(estimator, RuleListClassifier):
            raise ValueError(f"estimator must be a RuleListClassifier or None, got {estimator!r}")
        template = clone(estimator)
        if isinstance(template.heuristic, str):
            # What is chosen here is not chosen a second time inside.
            template.heuristic = check_heuristic(template.heuristic)
        given = X, y, sample_weight, label_names, initial_rules, constraints
        problem, counts = problem_for(template, template.head_search, *given)
        with threads(check_jobs(self.n_jobs)) if executor is None else nullcontext(executor) as runner:
            choose = self._choose_all if self.protocol == "wide" else self._choose_lift
            self.best_estimator_ = choose(template, problem, np.flatnonzero(counts), runner, journal)
        self.best_lift_ = self.best_estimator_.lift
        parameters = self.best_estimator_.get_params(deep=False)
        # What the best classifier knows of rules, attributes and labels.
        self.__dict__.update({name: v for name, v in vars(self.best_estimator_).items() if name not in parameters})
        return self

    def staged_score(
        self, X: Any, y: Any = None, scoring: str | Scorer | None = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Scores of the first rule of the best classifier, of its first two, and so on; by `scoring` unless given."""
        check_is_fitted(self)
        return self.best_estimator_.staged_score(X, y, self.scoring if scoring is None else scoring, sample_weight)

    def select(self, max_rules: int | None = None, max_conditions: float | None = None) -> RuleListClassifier:
        """The classifier of another point of the Pareto front; nothing is trained again.

        Parameters
        ----------
        max_rules
            Most rules of the list; initial rules are never cut off.
        max_conditions
            Most conditions, as the mean over the folds.

        Returns
        -------
        RuleListClassifier
            The best by validation score that is not larger, trained on all the data.
        """
        self._check_wide("select")
        for name, value in (("max_rules", max_rules), ("max_conditions", max_conditions)):
            if value is not None and (not isinstance(value, Real) or isinstance(value, bool)):
                raise ValueError(f"{name} must be a number or None, got {value!r}")
        point = best_within(self.pareto_front_, max_rules, max_conditions)
        if point is None:
            smallest = self.pareto_front_[0] if self.pareto_front_ else "none was learned"
            limits = f"max_rules={max_rules} and max_conditions={max_conditions}"
            locked = sum(rule.locked for rule in self.rule_list_)
            initial = f" ({locked} initial rules are never cut off)" if locked else ""
            raise ValueError(f"no list keeps to {limits}; the smallest: {smallest}{initial}")
        return _cut(self._trained[point.candidate], point.rules)

    def plot_pareto(self, against: Size = "rules", ax: Any = None) -> Any:
        """Draw what the candidates score against their number of rules or conditions; gives the matplotlib axes."""
        self._check_wide("plot_pareto")
        if against not in ("rules", "conditions"):
            raise ValueError(f"against must be 'rules' or 'conditions', got {against!r}")
        length = self._searched.length(self.best_index_)
        every = self._searched.every_point
        chosen = next((p for p in every if p.candidate == self.best_index_ and p.rules == length), None)
        return plot_front(every, chosen, self._searched.measure, against, ax)

    def _check_wide(self, method: str) -> None:
        check_is_fitted(self)
        if self.protocol != "wide":
            raise ValueError(f"{method} needs protocol='wide': protocol='paper' does not look at lengths")

    # Everything together --------------------------------------------------------------------------------------

    def _choose_all(
        self, template: RuleListClassifier, problem: Problem, rows: Rows, runner: Executor | None, journal: Any
    ) -> RuleListClassifier:
        scoring = check_scoring("micro_f1" if self.scoring is None else self.scoring)
        candidates = self._grid(template, problem.n_labels)
        if any(candidate.get("simplify", template.simplify) is not None for candidate in candidates):
            raise ValueError(
                "simplify does not go with protocol='wide', which scores lists by length as they were learned; "
                "leave it out and simplify what was chosen: search.rule_list_.simplify(X_new, Y_new)"
            )
        options = [_options(template, candidate, problem) for candidate in candidates]
        folds = Folds(problem, make_parts(self.cv, problem.Y, rows), engine=check_engine(template.engine))
        evaluation = evaluation_to_choose_by("RuleListClassifierCV", folds, scoring, template._form, TIE_BREAKERS)
        curves: list[Curves] = [{} for _ in candidates]
        if evaluation is not None:
            with told(self.verbose, "candidates") as progress:
                curves = search(evaluation, options, runner, journal, progress)
            say_undefined("RuleListClassifierCV", [found[scoring.name] for found in curves if found])
            curves = [found if found and len(found[scoring.name].defined) else {} for found in curves]
        n_parts = sum(len(part.groups) for part in folds.parts)
        searched = self._note(Searched(candidates, curves, scoring.name, n_parts, self.length == "shortest"))
        self._searched = searched
        self.curves_ = [found.get(scoring.name) for found in curves]
        self.pareto_front_ = searched.front
        longest = {self.best_index_: searched.length(self.best_index_)}
        for point in searched.front:
            longest[point.candidate] = max(point.rules, longest.get(point.candidate) or 0)
        can_learn(problem, options[self.best_index_])
        self._trained = self._train(template, folds, options, longest, runner)
        best = _cut(self._trained[self.best_index_], searched.length(self.best_index_))
        found = best.rule_list_, problem, options[self.best_index_]
        best.labels_without_rules_ = labels_without_rules(*found, why_training_ended(*found, len(best.rule_list_)))
        values = best.get_params()
        tried = dict.fromkeys(name for candidate in candidates for name in candidate)
        # What this candidate left as it was is chosen, too: others changed it.
        self.best_params_ = {name: values[name] for name in (*tried, "n_rules") if name in values}
        return best

    def _train(
        self,
        template: RuleListClassifier,
        folds: Folds,
        options: Sequence[Options],
        lengths: Mapping[int, int | None],
        runner: Executor | None,
    ) -> dict[int, RuleListClassifier]:
        """Train the candidates on everything, each to its length."""
        everything = folds.everything()
        trials = {str(i): Trial(options[i].up_to(length), keep_model=True) for i, length in lengths.items()}
        trained = {}
        for key, result in run(Shared(Evaluation(everything, Scoring("micro_f1"))), trials, runner):
            parameters = self._searched.candidates[int(key)] | {"n_rules": lengths[int(key)]}
            given = folds.problem.table, len(folds.problem.initial_rules)
            model = template._finished(with_short_thresholds(result["model"], *given), folds)
            trained[int(key)] = _like(template, parameters)
            trained[int(key)].rule_list_, trained[int(key)].n_rules_curve_ = model, self.curves_[int(key)]
        return trained

    def _note(self, searched: Searched) -> Searched:
        """Keep what was found out, and which candidate is the best."""
        self.cv_results_ = searched.tabulate()
        self.best_index_ = searched.order[0]
        means = self.cv_results_.get(f"mean_test_{searched.measure}")
        self.best_score_ = float("nan") if means is None else float(means[self.best_index_])
        return searched

    def _grid(self, estimator: RuleListClassifier, n_labels: int) -> list[Parameters]:
        from sklearn.model_selection import ParameterGrid

        has_lift = estimator.head_search in LIFTED_SEARCHES
        lifts = None if self.lifts is None else self._lifts(n_labels)
        grid = self.param_grid
        if grid is None:
            grid = default_grid(hasattr(estimator.heuristic, "beta"), has_lift, lifts)
        elif lifts is not None:
            raise ValueError("give either param_grid or lifts: a grid says which lifts to try")
        candidates = list(ParameterGrid(grid))
        allowed = set(estimator.get_params()) - {"n_rules"}
        for name in dict.fromkeys(name for candidate in candidates for name in candidate):
            if name not in allowed:
                raise ValueError(
                    "param_grid: the length is always chosen; leave 'n_rules' out, or limit it by estimator__n_rules"
                    if name == "n_rules"
                    else f"param_grid: RuleListClassifier has no parameter {name!r}{nearest(name, sorted(allowed))}"
                )
        if not candidates:
            raise ValueError(f"param_grid holds no candidate, got {self.param_grid!r}")
        return candidates

    # The lift, as in the paper --------------------------------------------------------------------------------

    def _choose_lift(
        self, template: RuleListClassifier, problem: Problem, rows: Rows, runner: Executor | None, journal: Any
    ) -> RuleListClassifier:
        if self.param_grid is not None:
            raise ValueError("param_grid is for protocol='wide'; protocol='paper' tries lifts")
        scoring = check_scoring("hamming_accuracy" if self.scoring is None else self.scoring)
        if template.head_search not in LIFTED_SEARCHES:
            raise ValueError(
                f"head_search={template.head_search!r} has no lift to choose; use head_search='relaxed', "
                "or RuleListClassifier without cross-validation"
            )
        candidates: list[Parameters] = [{"lift": lift} for lift in self._lifts(problem.n_labels)]
        # A length is chosen once, for the lift that wins, not anew in every fold of every candidate.
        options = [_options(template, candidate, problem) for candidate in candidates]
        parts = make_parts(self._splitter(template._form), problem.Y, rows)
        folds = Folds(problem, parts, engine=check_engine(template.engine))
        evaluation = Evaluation(folds, scoring, tuple(METRICS), by_length=False, form=template._form)
        with told(self.verbose, "lifts") as progress:
            curves = search(evaluation, options, runner, journal, progress)
        say_undefined("RuleListClassifierCV", [found[scoring.name] for found in curves])
        heights = [height(candidate["lift"], problem.n_labels) for candidate in candidates]
        self._note(Searched(candidates, curves, scoring.name, len(parts), heights=heights))
        self.best_params_ = candidates[self.best_index_]
        return _like(template, self.best_params_)._learn(problem, rows)

    def _lifts(self, n_labels: int) -> Sequence[AnyLift]:
        if self.lifts is None or isinstance(self.lifts, str):
            if self.lifts not in (None, "paper"):
                raise ValueError(f"lifts must be 'paper' or a list of lifts, got {self.lifts!r}")
            lifts: Sequence[AnyLift] = paper_lifts(n_labels)
        else:
            lifts = [lift for lift in self.lifts if peaks_within(lift, n_labels)]
        for lift in lifts:
            as_table(lift, n_labels)
        if not lifts:
            raise ValueError(f"lifts holds no lift that fits {n_labels} labels, got {self.lifts!r}")
        return lifts

    def _splitter(self, form: TargetForm) -> Any:
        """A number of folds are drawn as the paper does: rows at random, of two classes the share of each."""
        from sklearn.model_selection import KFold, StratifiedKFold

        if not isinstance(self.cv, Integral):
            return self.cv
        kind = KFold if form.classes is None or form.groups else StratifiedKFold
        return kind(int(self.cv), shuffle=True, random_state=self.random_state)


def _options(template: RuleListClassifier, candidate: Parameters, problem: Problem) -> Options:
    parameters = clone(template).set_params(**candidate).get_params(deep=False)
    return check_options(parameters, problem.n_labels)


def _like(template: RuleListClassifier, parameters: Parameters) -> RuleListClassifier:
    """A classifier with other parameters that knows the attributes and labels of the template."""
    classifier = clone(template).set_params(**parameters)
    parameters = template.get_params(deep=False)
    classifier.__dict__.update({name: v for name, v in vars(template).items() if name not in parameters})
    return classifier


def _cut(classifier: RuleListClassifier, length: int | None) -> RuleListClassifier:
    """A classifier that keeps the first rules of a longer list."""
    shorter = copy(classifier)
    rules, curve = classifier.rule_list_[:length], classifier.n_rules_curve_
    # A list that ended before that was not cut.
    choice = curve.choice(len(rules)) if curve is not None and len(rules) == length else None
    shorter.rule_list_ = replace(with_default_rules(rules), length_choice=choice)
    shorter.n_rules_curve_ = None if curve is None else curve.cut_after(len(rules))
    shorter.n_rules = length
    return shorter
