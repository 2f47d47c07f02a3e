"""One trial: learn a list from a part of the data, score it on the rest, and say so in plain data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule.data.targets import TargetForm
from plurule.learning.problem import Options, Problem
from plurule.metrics import METRICS, count
from plurule.model import RuleList
from plurule.prediction.decide import decide
from plurule.prediction.probability import probabilities
from plurule.prediction.scoring import Scoring
from plurule.prediction.staged import Known, staged_scores
from plurule.selection.folds import Rows
from plurule.selection.lengths import LengthCurve, curve_of
from plurule.selection.training_data import TrainingData

Result = dict[str, Any]
"""What a trial found out, in a form that JSON knows (but for the model, where it is kept)."""

SHOWN = 5
"""More labels than this are counted, not named."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What lists are learned from, and how they are scored."""

    folds: TrainingData
    scoring: Scoring
    also: tuple[str, ...] = ()
    """Measures of `plurule.metrics` to compute besides."""
    by_length: bool = True
    """Whether lists are scored at every length; if not, whole."""
    form: TargetForm = field(default_factory=TargetForm)
    """The form of labels that a scorer expects."""
    labels: Rows | None = None
    """The labels that are looked at; all, unless given."""

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """Names of the labels that are not looked at."""
        names = self.folds.problem.labels
        kept = set(range(len(names)) if self.labels is None else self.labels.tolist())
        return tuple(name for i, name in enumerate(names) if i not in kept)

    @property
    def measures(self) -> list[str]:
        """The measures of `plurule.metrics` among what is computed."""
        named = (*([] if self.scoring.scorer else [self.scoring.name]), *self.also)
        return [name for name in dict.fromkeys(named) if name in METRICS]

    def score(self, rule_list: RuleList, part: int) -> Result:
        """What a list scores on the rows that a part holds out, and its size."""
        if not self.by_length:
            groups = self.folds.held_out(part)
            if len(groups) != 1:
                many = f"whole lists are scored on one group of rows, not on {len(groups)}"
                raise ValueError(f"{many}; give folds or splits")
            return {"scores": self._whole(rule_list, groups[0]), "size": size_of(rule_list)}
        return self.scores([(rule_list, part)])[0]

    def scores(self, asked: Sequence[tuple[RuleList, int]]) -> list[Result]:
        """What lists score on the rows that their parts hold out, at every length, and their sizes."""
        results = []
        for (rule_list, part), found in zip(asked, self.folds.staged(asked, self.measures, self.labels), strict=True):
            if self.scoring.scorer is not None:
                given = zip(self.folds.held_out(part), found, strict=True)
                found = [{self.scoring.name: self._staged(rule_list, rows)} | one for rows, one in given]
            scores = {name: [[_plain(v) for v in one[name]] for one in found] for name in (found[0] if found else ())}
            conditions = np.cumsum([0, *(len(rule.body) for rule in rule_list)]).tolist()
            results.append({"scores": scores, "conditions": conditions})
        return results

    def _staged(self, rule_list: RuleList, rows: Problem) -> NDArray[np.float64]:
        """What a scorer gives for no rules, the first rule, the first two, and so on."""
        given = rule_list, rows.table, rows.Y, self.scoring, self.form
        return staged_scores(*given, rows.sample_weight, self.labels)

    def _whole(self, rule_list: RuleList, rows: Problem) -> dict[str, float | None]:
        decisions = decide(rule_list, rows.table)
        counted = count(rows.Y, decisions.labels(), rows.sample_weight)
        scores: dict[str, float | None] = {name: float(getattr(counted, name)()) for name in self.measures}
        if self.scoring.scorer is not None:
            known = Known(
                self.form, decisions.labels(), partial(probabilities, rule_list, decisions), lambda: rule_list
            )
            score = known.score_by(self.scoring.scorer, rows.table, rows.Y, rows.sample_weight)
            scores = {self.scoring.name: _plain(score)} | scores
        return scores

    def curves(self, results: Sequence[Result], of_nothing: bool = False) -> dict[str, LengthCurve]:
        """The scores by length of the lists of all parts, by measure; empty if none of them has a rule.

        If lists `of_nothing` are asked for, the curve of lists without rules is the score of predicting nothing.
        """
        if not self.by_length:
            sizes = ([[result["size"][name]] for result in results] for name in ("conditions", "rules"))
            conditions, rules = (np.mean(size, axis=0) for size in sizes)
            return {
                name: LengthCurve(
                    name, np.array([[r["scores"][name]] for r in results], dtype=float), conditions, rules=rules
                )
                for name in results[0]["scores"]
            }
        if not of_nothing and all(len(result["conditions"]) == 1 for result in results):
            return {}
        conditions = [_from_one_rule(result["conditions"]) for result in results]
        at_least = max(1, len(self.folds.problem.initial_rules))
        return {
            name: curve_of(
                name,
                [_from_one_rule(values) for result in results for values in result["scores"][name]],
                conditions,
                self.left_out,
                at_least,
            )
            for name in results[0]["scores"]
        }


@dataclass(frozen=True)
class Trial:
    """A list to learn from a part, and to score."""

    options: Options
    part: int = 0
    keep_model: bool = False

    def __call__(self, evaluation: Evaluation) -> Result:
        start = time.thread_time()
        model = evaluation.folds.learn(self.part, self.options, may_grow=evaluation.by_length)
        learned = time.thread_time()
        result = evaluation.score(model, self.part)
        result["seconds"] = {"train": round(learned - start, 6), "score": round(time.thread_time() - learned, 6)}
        if self.keep_model:
            result["model"] = model
        return result


def evaluation_to_choose_by(
    what: str, folds: TrainingData, scoring: Scoring, form: TargetForm, also: tuple[str, ...] = ()
) -> Evaluation | None:
    """How lists are compared by length; None, and a warning, if there is nothing to compare by.

    Labels of which some group of held-out rows has no positive are left out of it, and said. If the scorer is not
    defined where a label is present in all rows, as the area under a curve, these labels are left out, too.
    """
    if not folds.n_parts:
        warnings.warn(f"{what}: too few rows to hold some out; nothing is chosen", stacklevel=4)
        return None
    groups = [rows.Y for part in range(folds.n_parts) for rows in folds.held_out(part)]
    positive = np.logical_and.reduce([Y.any(axis=0) for Y in groups])
    evaluation = Evaluation(folds, scoring, also, True, form, np.flatnonzero(positive))
    lacking = "no positive"
    if scoring.scorer is not None and positive.any() and not _is_defined(evaluation):
        both = positive & ~np.logical_or.reduce([Y.all(axis=0) for Y in groups])
        evaluation, lacking = replace(evaluation, labels=np.flatnonzero(both)), "no positive, or no negative,"
    kept = evaluation.labels is not None and len(evaluation.labels) > 0
    if evaluation.left_out:
        names = ", ".join(repr(name) for name in evaluation.left_out[:SHOWN])
        more = f" and {len(evaluation.left_out) - SHOWN} more" if len(evaluation.left_out) > SHOWN else ""
        outcome = "left out of the choice" if kept else "nothing is chosen"
        where = "in some part of the validation data"
        warnings.warn(f"{what}: {lacking} of {names}{more} {where}; {outcome}", stacklevel=4)
    return evaluation if kept else None


def _is_defined(evaluation: Evaluation) -> bool:
    """Whether a list without rules has a score on all held-out rows."""
    problem = evaluation.folds.problem
    nothing = RuleList((), problem.table.attributes, problem.labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [evaluation.score(nothing, part) for part in range(evaluation.folds.n_parts)]
    return all(values[0] is not None for r in results for values in r["scores"][evaluation.scoring.name])


def size_of(model: RuleList) -> dict[str, float]:
    """What a model consists of."""
    lengths = model.head_sizes()
    size = model.characteristics()
    size["head_labels"] = sum(length * count for length, count in lengths.items())
    size["longest_head"] = max(lengths, default=0)
    return size


def _plain(value: Any) -> float | None:
    """A score as JSON knows it: one that is not defined is None."""
    return float(value) if np.isfinite(value) else None


def _from_one_rule(values: Sequence[Any]) -> NDArray[np.float64]:
    """Without the score of no rules, unless that is all there is: it is no list to choose."""
    return np.array(values[1:] if len(values) > 1 else values, dtype=np.float64)
