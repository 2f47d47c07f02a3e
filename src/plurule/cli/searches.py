"""What `plurule tune` can search for, and how it shows what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from plurule.classifier import RuleListClassifier
from plurule.classifier_cv import RuleListClassifierCV
from plurule.cli import rendering
from plurule.errors import PluruleError
from plurule.lifts import NONE, find_lift, parse_lifts, peaks_within
from plurule.metrics import get_metric
from plurule.selection.lengths import Point, best_by_size, standard_error
from plurule.selection.objectives import Objective, find_objective
from plurule.selection.search import TIE_BREAKERS
from plurule.selection.splitters import find_splitter
from plurule.titles import MEASURES

Results = dict[str, Any]

PLUS_MINUS = Text("± is one standard error of the mean over the folds", style="dim")
NO_LIFT = "no lift"
CHOSEN = ("heuristic", "lift", "predict_absence", "fix_head", "min_precision", "n_rules")
"""What --wide chooses."""


def published(objective: Objective, **parameters: Any) -> RuleListClassifier:
    """The paper's learner for an objective."""
    names = ("heuristic", "averaging", "predict_absence")
    return RuleListClassifier.published(**{name: getattr(objective, name) for name in names} | parameters)


class LiftSearch:
    """The lift, chosen as in the paper, but that no lift is a candidate, too."""

    def __init__(self, objective: str, measure: str | None, lifts: str, folds: str, seed: int) -> None:
        self.objective = find_objective(objective)
        self.measure = measure or self.objective.measure
        get_metric(self.measure)
        self.lifts = list(parse_lifts(lifts))
        self.names: dict[Any, str] = {find_lift(name): name for name in (*self.lifts, NONE)}
        self.cv = find_splitter(folds, seed)
        self.arguments: dict[str, Any] = {"objective": self.objective.name, "measure": self.measure}
        self.arguments |= {"lifts": self.lifts, "folds": folds, "seed": seed}

    def search(self, n_labels: int | None = None) -> RuleListClassifierCV:
        """The search among the lifts that fit the number of labels; one of them must, if it is given."""
        if n_labels is not None and not any(peaks_within(find_lift(name), n_labels) for name in self.lifts):
            raise PluruleError(f"none of the lifts fits {n_labels} labels: {', '.join(self.lifts)}")
        given: dict[str, Any] = {"lifts": list(self.names), "scoring": self.measure, "cv": self.cv}
        return RuleListClassifierCV(published(self.objective), protocol="paper", **given)

    def heading(self, search: RuleListClassifierCV) -> str:
        return f"{len(_folds(search.cv_results_, self.measure, 0))} folds, {self.objective.title}"

    def tables(self, search: RuleListClassifierCV, count: int) -> Iterator[RenderableType]:
        """The best candidates, and no lift in any case."""
        texts = [self.names[candidate["lift"]] for candidate in search.cv_results_["params"]]
        texts = [NO_LIFT if text == NONE else text for text in texts]
        yield from (candidate_table(search.cv_results_, self.measure, "lift", texts, count), PLUS_MINUS, "")

    def chosen(self, model: RuleListClassifier) -> str:
        return f" lift: {self.names[model.lift]}"


class WideSearch:
    """β, the lift, signs, head mode and length, chosen together."""

    names: Mapping[Any, str] = {}

    def __init__(self, measure: str | None, folds: str) -> None:
        splitter = find_splitter(folds)
        # A number of folds keeps the share of every label.
        self.cv = int(folds) if folds.strip().isdecimal() else splitter
        self.measure = measure or "micro_f1"
        self.arguments: dict[str, Any] = {"wide": True, "measure": self.measure, "folds": folds}

    def search(self, n_labels: int) -> RuleListClassifierCV:
        """The search, whatever the number of labels."""
        return RuleListClassifierCV(scoring=self.measure, cv=self.cv)

    def heading(self, search: RuleListClassifierCV) -> str:
        return f"{len(search.cv_results_['params'])} candidates"

    def tables(self, search: RuleListClassifierCV, count: int) -> Iterator[RenderableType]:
        """The best candidates, each at the length it is cut at, and the best lists up to a size."""
        if search.pareto_front_:
            texts = [parameter_text(candidate) for candidate in search.cv_results_["params"]]
            yield candidate_table(search.cv_results_, self.measure, "with", texts, count)
            yield from ("", "The best lists up to a size:")
            yield from (front_table(search.pareto_front_, self.measure, count), PLUS_MINUS, "")

    def chosen(self, model: RuleListClassifier) -> str:
        return ": " + ", ".join(f"{name}={getattr(model, name)}" for name in CHOSEN)


def candidate_rows(results: Results, names: Mapping[Any, str]) -> list[dict[str, Any]]:
    """All candidates, best first: what was tried (lifts by name), the scores of its list, and how long that is."""
    parameters = list(dict.fromkeys(name for candidate in results["params"] for name in candidate))
    columns = {name: name for name in results if name.startswith(("mean_test_", "std_test_", "split"))}
    columns |= {"rules": "mean_rules" if "mean_rules" in results else "n_rules", "conditions": "mean_conditions"}
    return [
        {"rank": rank}
        | {name: _plain(results["params"][i].get(name), names) for name in parameters}
        | {name: results[column][i].item() for name, column in columns.items()}
        for rank, i in enumerate(_best_first(results), start=1)
    ]


def candidate_table(results: Results, measure: str, what: str, texts: list[str], count: int) -> Table:
    """The best candidates, and no lift in any case: rank, what they are, scores and sizes."""
    names = [name for name in dict.fromkeys((measure, *TIE_BREAKERS)) if f"mean_test_{name}" in results]
    titles = [MEASURES.get(name, name) for name in names]
    table = rendering.plain_table("", what, numbers=(*titles, "rules", "conditions"))
    table.columns[0].no_wrap = True
    for rank, i in enumerate(_best_first(results), start=1):
        if rank <= count or texts[i] == NO_LIFT:
            rules = f"{results['mean_rules'][i]:.1f}" if "mean_rules" in results else str(results["n_rules"][i])
            cells = [*(_score(results, name, i) for name in names), rules, f"{results['mean_conditions'][i]:.1f}"]
            table.add_row(str(rank), texts[i], *cells, style="bold" if rank == 1 else "dim" if rank > count else "")
    return table


def front_table(front: list[Point], measure: str, count: int) -> Table:
    """The best lists up to so many rules, evenly chosen from short to long."""
    table = rendering.plain_table(numbers=("rules", "conditions", MEASURES.get(measure, measure)))
    table.add_column("with")
    for point in best_by_rules(front, count):
        score = f"{point.score:.3f}±{point.standard_error:.3f}"
        table.add_row(str(point.rules), f"{point.conditions:.1f}", score, parameter_text(point.params))
    return table


def best_by_rules(front: list[Point], count: int) -> list[Point]:
    """The points of a front that are better than all with fewer rules: one per number of rules, `count` of them.

    The best of all is among them, and the shortest if there is room for two.
    """
    steps = best_by_size(front)
    places = {len(steps) - 1 - round(i * (len(steps) - 1) / max(count - 1, 1)) for i in range(count)} if steps else ()
    return [steps[place] for place in sorted(places)]


def parameter_text(params: dict[str, Any]) -> str:
    """What a candidate is tried with."""
    return ", ".join(f"{name.removeprefix('heuristic__')}={value}" for name, value in params.items())


def _best_first(results: Results) -> list[int]:
    return np.argsort(results["rank_test_score"]).tolist()


def _folds(results: Results, measure: str, candidate: int) -> list[float]:
    splits = (name for name in results if name.startswith("split") and name.endswith(f"_test_{measure}"))
    return [float(results[name][candidate]) for name in splits]


def _score(results: Results, measure: str, candidate: int) -> str:
    """The mean score of a candidate and its standard error."""
    known = np.array([value for value in _folds(results, measure, candidate) if np.isfinite(value)])
    return f"{results[f'mean_test_{measure}'][candidate]:.3f}±{standard_error(known):.3f}"


def _plain(value: Any, names: Mapping[Any, str]) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else names.get(value, str(value))
