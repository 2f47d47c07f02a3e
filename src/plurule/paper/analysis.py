"""Tables of plain data, made from the results of an experiment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurule.lifts import NONE, LiftName
from plurule.metrics import METRICS
from plurule.paper.experiment import Results
from plurule.paper.protocol import DISCRETISED, PAPER_SETS, Task
from plurule.paper.published import MEASURES
from plurule.paper.statistics import Comparison, Tally, compare, tally
from plurule.selection.objectives import find_objective
from plurule.titles import CHARACTERISTICS

SIZES = {name: title for name, title in CHARACTERISTICS.items() if name != "stop_rules"}
"""What the paper counts of a model."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Pair:
    """The two final models of a data set and an objective: without and with the chosen lift."""

    dataset: str
    objective: str
    lift: str
    normal: dict[str, Any]
    relaxed: dict[str, Any]

    def size(self, name: str) -> tuple[float, float]:
        """A characteristic of both."""
        return self.normal["size"][name], self.relaxed["size"][name]

    def score(self, measure: str) -> tuple[float, float]:
        """A measure of both on the test part."""
        return self.normal["scores"][measure], self.relaxed["scores"][measure]

    def conditions_per_rule(self) -> tuple[float, float]:
        """Conditions per rule of both."""
        return _per_rule(self.normal, "conditions"), _per_rule(self.relaxed, "conditions")

    def labels_per_head(self) -> tuple[float, float]:
        """Labels per head of both."""
        return _per_rule(self.normal, "head_labels"), _per_rule(self.relaxed, "head_labels")


def _per_rule(result: dict[str, Any], name: str) -> float:
    return float(result["size"][name] / max(result["size"]["rules"], 1))


def pairs(results: Results, sets: Sequence[str] | None = None) -> list[Pair]:
    """The final models, by data set and objective."""
    return [
        Pair(
            name,
            objective,
            results.sets[name].chosen(objective),
            results.final(name, objective, relaxed=False),
            results.final(name, objective, relaxed=True),
        )
        for name in (results.sets if sets is None else sets)
        for objective in results.plan.objectives
    ]


def compared_sets(results: Results, discretised: bool = False) -> list[str]:
    """The data sets that learners are compared on: one version of each.

    With `discretised`, the discretised version takes the place of the numeric one where there is one.
    """
    twins = {numeric: other for numeric, other in DISCRETISED.items() if {numeric, other} <= results.sets.keys()}
    numeric = [name for name in results.sets if name not in twins.values()]
    return [twins.get(name, name) for name in numeric] if discretised else numeric


def has_discretised(results: Results) -> bool:
    """Whether there are both versions of a data set."""
    return compared_sets(results) != compared_sets(results, discretised=True)


def is_the_papers(results: Results) -> bool:
    """Whether all data sets of the paper are there, and none besides (but discretised versions)."""
    return sorted(compared_sets(results)) == sorted(PAPER_SETS)


# Chosen lifts ---------------------------------------------------------------------------------------------------


def choices(results: Results) -> list[Row]:
    """Per data set and objective: the lift that was chosen, and how it did in cross-validation."""
    rows = []
    for name, found in results.sets.items():
        for objective in results.plan.objectives:
            measure = find_objective(objective).measure
            best, second, none = found.ranking[objective][0], found.ranking[objective][1:2], found.baseline[objective]
            row: Row = {"set": name, "objective": objective, "lift": best.lift, "measure": measure}
            row |= {"score": best.mean(measure), "deviation": best.deviation(measure)}
            row |= {"score_without_lift": none.mean(measure)}
            row |= {"second": second[0].lift if second else "", "second_score": _mean_or_none(second, measure)}
            rows.append(row | {"rules": best.mean_size("rules"), "rules_without_lift": none.mean_size("rules")})
    return rows


def _mean_or_none(candidates: Sequence[Any], measure: str) -> float | None:
    return candidates[0].mean(measure) if candidates else None


def candidate_rows(results: Results) -> list[Row]:
    """Every candidate of every choice, best first."""
    rows = []
    for name, found in results.sets.items():
        for objective in results.plan.objectives:
            for rank, one in enumerate([*found.ranking[objective], found.baseline[objective]], start=1):
                row: Row = {"set": name, "objective": objective, "rank": rank if one.lift != NONE else None}
                row |= {"lift": one.lift} | {measure: one.mean(measure) for measure in METRICS}
                row |= {f"{measure}_deviation": one.deviation(measure) for measure in MEASURES}
                rows.append(row | {"rules": one.mean_size("rules"), "conditions": one.mean_size("conditions")})
    return rows


def lift_counts(results: Results, sets: Sequence[str]) -> dict[str, dict[float, int]]:
    """How often each kind of lift was chosen with each height; the same heights for every kind."""
    offered = [lift for lift in results.plan.lifts if lift != NONE]
    chosen = [results.sets[name].chosen(objective) for name in sets for objective in results.plan.objectives]
    counts = Counter((_family(lift), LiftName.parse(lift).height) for lift in chosen)
    families = dict.fromkeys(_family(lift) for lift in [*offered, *chosen])
    heights = sorted({LiftName.parse(lift).height for lift in [*offered, *chosen]})
    return {family: {height: counts[family, height] for height in heights} for family in families}


def _family(lift: str) -> str:
    return LiftName.parse(lift).function


# Models -----------------------------------------------------------------------------------------------------------


def characteristic_rows(results: Results) -> list[Row]:
    """What the final models consist of."""
    rows = []
    for pair in pairs(results):
        for approach, lift, result in (("normal", NONE, pair.normal), ("relaxed", pair.lift, pair.relaxed)):
            head: Row = {"set": pair.dataset, "objective": pair.objective, "pruning": approach, "lift": lift}
            rows.append(head | result["size"])
    return rows


def score_rows(results: Results) -> list[Row]:
    """All measures of the final models on the test parts."""
    rows = []
    for pair in pairs(results):
        for approach, lift, result in (("normal", NONE, pair.normal), ("relaxed", pair.lift, pair.relaxed)):
            head: Row = {"set": pair.dataset, "objective": pair.objective, "pruning": approach, "lift": lift}
            rows.append(head | result["scores"])
    return rows


def variant_rows(results: Results) -> list[Row]:
    """Models of learners that differ in one part, beside those of the paper's learner."""
    rows = []
    for pair in pairs(results):
        for variant in ("free head", "exhaustive"):
            key = Task("variant", pair.dataset, pair.objective, pair.lift, variant=variant).key
            if key in results.records:
                other = results.records[key]
                row: Row = {"set": pair.dataset, "objective": pair.objective, "lift": pair.lift, "variant": variant}
                for name in ("rules", "conditions", "multi_label_heads"):
                    row |= {f"{name}_as_published": pair.relaxed["size"][name], name: other["size"][name]}
                for measure in MEASURES:
                    row |= {f"{measure}_as_published": pair.relaxed["scores"][measure]}
                    row |= {measure: other["scores"][measure]}
                rows.append(row)
    return rows


# Predictive performance ---------------------------------------------------------------------------------------------


def win_table(results: Results, sets: Sequence[str]) -> dict[str, dict[str, Tally]]:
    """Wins, losses and ties of relaxed against normal pruning, per objective and measure."""
    table: dict[str, dict[str, Tally]] = {}
    for objective in results.plan.objectives:
        own = [pair for pair in pairs(results, sets) if pair.objective == objective]
        table[objective] = {
            measure: tally([p.score(measure)[1] for p in own], [p.score(measure)[0] for p in own])
            for measure in MEASURES
        }
    return table


def rank_table(results: Results, sets: Sequence[str]) -> dict[str, Comparison]:
    """Per measure, the average ranks of all approaches: every objective with normal and with relaxed pruning."""
    objectives = results.plan.objectives
    approaches = [(objective, relaxed) for objective in objectives for relaxed in (False, True)]
    names = [approach_name(objective, relaxed) for objective, relaxed in approaches]
    return {
        measure: compare(
            names,
            [[results.final(name, o, relaxed)["scores"][measure] for o, relaxed in approaches] for name in sets],
        )
        for measure in MEASURES
    }


def approach_name(objective: str, relaxed: bool) -> str:
    """What an approach is called: relaxed ones have an R, as in the paper.

    >>> approach_name("micro-f+-", relaxed=True), approach_name("ha+", relaxed=False)
    ('Mic F R+-', 'HA+')
    """
    title = find_objective(objective).title
    if not relaxed:
        return title
    name = title.rstrip("+-")
    return f"{name} R{title[len(name) :]}"


# Training times -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Training times of a data set and an objective, one per repetition."""

    dataset: str
    objective: str
    lift: str
    normal: tuple[float, ...]
    relaxed: tuple[float, ...]
    again: tuple[float, ...]
    """Normal once more: by how much two equal trainings differ."""

    @property
    def ratios(self) -> list[float]:
        """Relaxed time over the mean of the normal times around it, per repetition."""
        return [r / ((n + a) / 2) for n, r, a in zip(self.normal, self.relaxed, self.again, strict=True)]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return float(np.median(self.ratios))

    @property
    def noise(self) -> list[float]:
        """Ratios of two equal trainings."""
        return [a / n for n, a in zip(self.normal, self.again, strict=True)]

    @property
    def normal_seconds(self) -> float:
        """Median time of normal pruning."""
        return float(np.median([*self.normal, *self.again]))

    @property
    def relaxed_seconds(self) -> float:
        """Median time of relaxed pruning."""
        return float(np.median(self.relaxed))


def times(results: Results) -> list[Times]:
    """Training times of every data set and objective."""
    found = []
    for name, one in results.sets.items():
        for objective in results.plan.objectives:
            lift = one.chosen(objective)
            keys = [Task("timing", name, objective, lift, repeat).key for repeat in range(results.plan.repeats)]
            runs = [results.records[key]["seconds"] for key in keys]
            columns = [tuple(run[kind] for run in runs) for kind in ("normal", "relaxed", "normal again")]
            if runs:
                found.append(Times(name, objective, lift, *columns))
    return found


def time_rows(results: Results) -> list[Row]:
    """Training times, one row per repetition."""
    return [
        {
            "set": one.dataset,
            "objective": one.objective,
            "lift": one.lift,
            "repetition": i + 1,
            "normal_s": one.normal[i],
            "relaxed_s": one.relaxed[i],
            "normal_again_s": one.again[i],
            "ratio": one.ratios[i],
        }
        for one in times(results)
        for i in range(len(one.normal))
    ]


def effort(results: Results) -> list[Row]:
    """Per data set: models trained, CPU seconds, and seconds by the clock.

    The clock between two finished tasks is put down to the data set of the later one, so that the parts add up.
    """
    models: Counter[str] = Counter()
    cpu: Counter[str] = Counter()
    clock: Counter[str] = Counter()
    moments = sorted(
        [(session["at"], "") for session in results.sessions] + [(at, k) for k, at in results.finished_at.items()]
    )
    before = moments[0][0] if moments else 0.0
    for at, key in moments:
        if key:
            name = key.split("/")[1]
            models[name] += 1
            cpu[name] += sum(results.records[key]["seconds"].values())
            clock[name] += at - before
        before = at
    return [
        {"set": n, "models": models[n], "cpu_s": round(cpu[n], 1), "clock_s": round(clock[n], 1)} for n in results.sets
    ]


# Sensitivity --------------------------------------------------------------------------------------------------------


def sensitivity_rows(results: Results) -> list[Row]:
    """How models change with the lift."""
    name = results.sensitivity_set
    rows: list[Row] = []
    if name is None or name not in results.sets:
        return rows
    for task in results.plan.sensitivity_tasks(name, results.sets[name].facts["labels"]):
        result = results.records.get(task.key)
        if result is None:
            continue
        size, scores = result["size"], result["scores"]
        rows.append(
            {
                "set": name,
                "objective": task.objective,
                "function": _family(task.lift),
                "lift": LiftName.parse(task.lift).height,
                "rules": size["rules"],
                "labels_per_head": size["head_labels"] / max(size["rules"], 1),
                "conditions_per_rule": size["conditions"] / max(size["rules"], 1),
                "label_condition_share": size["label_conditions"] / max(size["conditions"], 1),
                "longest_head": size["longest_head"],
                "training_hamming_accuracy": scores["hamming_accuracy"],
                "training_micro_f1": scores["micro_f1"],
                "training_subset_accuracy": scores["subset_accuracy"],
            }
        )
    return rows
