"""The content of a report as plain data: counted here, drawn elsewhere.

A summary holds texts and numbers only. Names are already in the form in which they are shown (see `visible`).
"""

from __future__ import annotations

import math
from collections import Counter, namedtuple
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from plurule._prediction.apply import NO_RULE, Decisions, Labels, decide, replay
from plurule._prediction.assessment import Assessed, assess
from plurule._prediction.staged import staged_measures
from plurule.data.dataset import Table
from plurule.inspection.data import match
from plurule.inspection.dependencies import KINDS, Dependency, LabelGraph, dependencies
from plurule.inspection.evidence import Evidence, evidence
from plurule.metrics import CHARACTERISTICS, MEASURE_TITLES, count
from plurule.model import Assignment, Condition, Head, LengthChoice, RangeCondition, Rule, RuleList
from plurule.model.naming import Dictionary, unit_of, visible

OPERATORS = {"<=": "≤", ">=": "≥"}
MOST_LABELS_DRAWN = 30
MOST_EDGES_DRAWN = 90
MOST_STATEMENTS = 300
LONG_HEAD = 8
MOST_NAMES = 6

Measured: TypeAlias = tuple[str, str, Assessed]
"""On what it was measured, by which measure, and the score."""
LabelRow = namedtuple("LabelRow", "name present_rules absent_rules tested frequency predicted precision recall f1")
"""A label: how many rules are about it, and how well it is predicted (on data)."""
Bars = namedtuple("Bars", "name axis counts")
"""How often each value occurs."""
HeatMap = namedtuple("HeatMap", "name labels shares counts")
"""A share for each pair of labels: of the instances with the row's label, those that have the column's as well."""
RuleOnData = namedtuple("RuleOnData", "reached passing decided")
"""Instances that come as far as a rule; those of them that satisfy its first condition, its first two, …; and, per head
label, those whose label it decides, and those of them where it is right (-1 if not known)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Content of a report."""

    title: str
    verdict: str
    """The labels and the score in one sentence."""
    rules: RuleList
    instances: int | None
    figures: dict[str, str]
    scores: dict[str, Assessed]
    """By name."""
    in_training: tuple[tuple[float, float], ...]
    """Per rule, the pairs of instance and label that it decided rightly in training, and all that it decided."""
    evidence: tuple[Evidence, ...]
    """Evidence for each rule on the data, where they have labels."""
    on_data: tuple[RuleOnData, ...]
    labels: tuple[LabelRow, ...]
    curves: dict[str, list[float]]
    """By name: a share after each rule, from 0 rules on."""
    length_choice: LengthChoice | None
    bars: tuple[Bars, ...]
    maps: tuple[HeatMap, ...]
    graph: LabelGraph
    graph_left_out: int
    """Labels that are connected but not drawn."""
    statements: tuple[Dependency, ...]
    """Those that differ most from what the labels alone say."""
    statements_left_out: int


def summarise(rule_list: RuleList, X: Any = None, Y: Any = None, title: str | None = None) -> Summary:
    """Count everything that a report shows, on data if there are any."""
    table, truth = (None, None) if X is None else match(rule_list, X, Y)[:2]
    decisions, curves = None, _training_curve(rule_list)
    if table is not None:
        decisions = decide(rule_list, table)
        curves = _curves(rule_list, table, truth, decisions)
    characteristics, choice = rule_list.characteristics(), rule_list.length_choice
    statements = dependencies(rule_list) if truth is None else dependencies(rule_list, table, truth)
    order = list(KINDS)
    ranked = sorted(statements, key=lambda statement: (-abs(statement.added_value or 0.0), order.index(statement.kind)))
    graph, graph_left_out = to_draw(statements.to_graph())
    n_rows = 0 if table is None else len(table)
    assessed = {} if decisions is None or truth is None else assess(truth, decisions.labels())
    scores = {title: assessed[key] for key, title in MEASURE_TITLES.items() if key in assessed}
    return Summary(
        title=visible(title) if title else "Rule list",
        verdict=verdict(rule_list, n_rows, scores),
        rules=rule_list,
        instances=None if table is None else len(table),
        figures={name: short_number(characteristics[key]) for key, name in CHARACTERISTICS.items()},
        scores=scores,
        in_training=tuple(map(_in_training, rule_list)),
        evidence=() if truth is None else evidence(rule_list, table, truth),
        on_data=() if table is None else _on_data(rule_list, table, truth),
        labels=_label_rows(rule_list, truth, decisions),
        curves=curves,
        length_choice=choice and replace(choice, measure=_title(choice.measure)),
        bars=_bars(rule_list),
        maps=() if decisions is None else _maps(rule_list, truth, decisions),
        graph=graph,
        graph_left_out=graph_left_out,
        statements=tuple(ranked[:MOST_STATEMENTS]),
        statements_left_out=max(0, len(statements) - MOST_STATEMENTS),
    )


def in_reading_order(head: Head) -> tuple[Assignment, ...]:
    """Return the labels that a head states; in a long one those that are present come first."""
    stated = head.stated
    return stated if len(stated) <= LONG_HEAD else tuple(sorted(stated, key=lambda a: not a.present))


def condition_parts(
    condition: Condition, digits: int | None = 6, dictionary: Dictionary | None = None
) -> tuple[str, str, str, str]:
    """Return the parts of a condition on an attribute, thresholds with a few digits: `2 ≤`, `area`, `<`, `4.5 km²`."""
    before, after = condition.parts(digits)
    shown = [visible(OPERATORS.get(part, part)) for part in (*before, *(after or ("", "")))]
    name = visible(condition.name)
    if isinstance(condition, RangeCondition) and after:
        shown[-1] += unit_of(dictionary or {}, condition.name)
    return " ".join(shown[:-2]), name if after else f"“{name}”", shown[-2], shown[-1]


def short_number(value: float) -> str:
    """Whole numbers in full, others with a few digits.

    >>> short_number(123456.0), short_number(2.3333333), short_number(0.1 + 0.2)
    ('123456', '2.333', '0.3')
    """
    return str(int(value)) if float(value).is_integer() else f"{value:.4g}"


def _in_training(rule: Rule) -> tuple[float, float]:
    # A rule written by hand knows no more than its counts as a whole.
    right, wrong = map(sum, zip(*rule.decided or ((rule.tp, rule.fp),), strict=True))
    return right, right + wrong


def _on_data(rule_list: RuleList, table: Table, truth: Labels | None) -> tuple[RuleOnData, ...]:
    counts = []
    for rule, step in zip(rule_list, replay(rule_list, table), strict=True):
        passing = [int((step.reached & holds).sum()) for holds in step.passing]
        decided = [
            (int(rows.sum()), -1 if truth is None else int((truth[rows, a.index] == a.present).sum()))
            for a, rows in zip(rule.head, step.decided, strict=True)
        ]
        counts.append(RuleOnData(passing[0], tuple(passing[1:]), tuple(decided)))
    return tuple(counts)


def _curves(rule_list: RuleList, table: Table, truth: Labels | None, decisions: Decisions) -> dict[str, list[float]]:
    count_after = len(rule_list) + 1
    decided_by = decisions.decided_by

    def after_each_rule(numbers: NDArray[Any]) -> NDArray[np.intp]:
        """Return how many of the numbers of rules, counted from 1, have come after 0, 1, 2 … rules."""
        return np.bincount(numbers, minlength=count_after + 1)[:count_after].cumsum()

    first = np.where(decided_by == NO_RULE, len(rule_list), decided_by).min(axis=1, initial=len(rule_list)) + 1
    decided = after_each_rule(decided_by[decided_by != NO_RULE] + 1)
    curves = {
        "instances with a label decided": after_each_rule(first) / max(len(decided_by), 1),
        "pairs of instance and label decided": decided / max(decided_by.size, 1),
    }
    if truth is not None:
        curves["micro F1 of the rules so far"] = staged_measures(rule_list, table, truth, ["micro_f1"])["micro_f1"]
    return {name: values.tolist() for name, values in curves.items()}


def _training_curve(rule_list: RuleList) -> dict[str, list[float]]:
    """From the counts of training; nothing if the rules were not counted."""
    decided = [sum(right + wrong for right, wrong in rule.decided) for rule in rule_list]
    total = sum(decided) + sum(absent + present for absent, present in rule_list.undecided)
    shares = np.cumsum([0.0, *decided]) / (total or 1.0)
    return {"training pairs of instance and label decided": shares.tolist()} if any(decided) else {}


def _title(measure: str) -> str:
    return MEASURE_TITLES.get(measure, visible(measure.replace("_", " ")))


def _bars(rule_list: RuleList) -> tuple[Bars, ...]:
    conditions = Counter(len(rule.body) for rule in rule_list)
    tested = Counter(f"{'label ' if c.on_label else ''}{visible(c.name)}" for rule in rule_list for c in rule.body)
    return (
        Bars("Labels per head", "labels", tuple((str(size), n) for size, n in rule_list.head_sizes().items())),
        Bars("Conditions per body", "conditions", tuple((str(size), n) for size, n in sorted(conditions.items()))),
        Bars("Tested most often", "", tuple(tested.most_common(12))),
    )


def _maps(rule_list: RuleList, truth: Labels | None, decisions: Decisions) -> tuple[HeatMap, ...]:
    predicted = decisions.labels()
    counted = predicted if truth is None else truth
    frequent = np.sort(np.argsort(-counted.sum(axis=0, dtype=np.int64), kind="stable")[:MOST_LABELS_DRAWN])
    names = tuple(visible(rule_list.labels[i]) for i in frequent)
    maps = []
    for title, labels in (("In the data", truth), ("Predicted", predicted)):
        if labels is not None:
            chosen = labels[:, frequent].astype(np.int64)
            together = chosen.T @ chosen
            shares = (together / np.maximum(np.diag(together)[:, None], 1)).round(4)
            maps.append(HeatMap(title, names, _tuples(shares), _tuples(together)))
    return tuple(maps)


def _tuples(matrix: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _label_rows(rule_list: RuleList, truth: Labels | None, decisions: Decisions | None) -> tuple[LabelRow, ...]:
    present = Counter(a.index for rule in rule_list for a in rule.head if a.present)
    absent = Counter(a.index for rule in rule_list for a in rule.head.stated if not a.present)
    tested = Counter(c.index for rule in rule_list for c in rule.label_conditions)
    rows = [LabelRow(visible(n), present[i], absent[i], tested[i], *[None] * 5) for i, n in enumerate(rule_list.labels)]
    if decisions is None:
        return tuple(rows)
    predicted = decisions.labels()
    if truth is None:
        shares = predicted.mean(axis=0) if len(predicted) else np.zeros(len(rows))
        return tuple(row._replace(predicted=float(share)) for row, share in zip(rows, shares, strict=True))
    counts = count(truth, predicted)
    n_predicted = counts.tp + counts.fp
    total = np.full(len(rows), len(predicted))
    measures = {
        "frequency": _ratios(counts.positives, total),
        "predicted": _ratios(n_predicted, total),
        "precision": _ratios(counts.tp, n_predicted),
        "recall": _ratios(counts.tp, counts.positives),
        "f1": _ratios(2 * counts.tp, n_predicted + counts.positives),
    }
    return tuple(row._replace(**{name: m[i] for name, m in measures.items()}) for i, row in enumerate(rows))


def _ratios(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> list[float | None]:
    return [float(a / b) if b else None for a, b in zip(numerator, denominator, strict=True)]


def to_draw(graph: LabelGraph) -> tuple[LabelGraph, int]:
    """Return the part of a graph that fits in a drawing, with visible names, and how many labels are left out.

    Names that look the same get their position as a suffix.
    """
    drawn = graph.largest(MOST_LABELS_DRAWN, MOST_EDGES_DRAWN)
    shown: dict[str, str] = {}
    for label in drawn.labels:
        name = visible(label)
        shown[label] = name if name not in shown.values() else f"{name} ({len(shown) + 1})"
    edges = tuple(replace(e, source=shown[e.source], target=shown[e.target]) for e in drawn.edges)
    return LabelGraph(tuple(shown.values()), edges), len(graph.connected) - len(drawn.labels)


# The verdict -------------------------------------------------------------------------------------------------------


def verdict(rule_list: RuleList, n_rows: int, scores: dict[str, Assessed]) -> str:
    """Return a report in one sentence: the labels, the number of rules, and the score beside a constant prediction.

    `scores` are those on the instances, by the title of the measure; without any, those of validation are used.
    """
    measured = _measured(rule_list, n_rows, scores) if scores else _held_out(rule_list)
    return f"{_what(rule_list)}; {_how_well(measured)}."


def _what(rule_list: RuleList) -> str:
    rules = f"{len(rule_list) or 'No'} rule{'' if len(rule_list) == 1 else 's'}"
    verb = "predicts" if len(rule_list) == 1 else "predict"
    names = [visible(name) for name in rule_list.labels]
    if len(names) == 1:
        return f"{rules} {verb} whether an instance has the label {names[0]}"
    more = len(names) - MOST_NAMES
    listed = f"{', '.join(names[:MOST_NAMES])} and {more} more" if more > 1 else ", ".join(names)
    if _is_one_of_classes(rule_list):
        return f"{rules} {verb} to which of {len(names)} classes ({listed}) an instance belongs"
    return f"{rules} {verb} which of {len(names)} labels ({listed}) an instance has"


def _is_one_of_classes(rule_list: RuleList) -> bool:
    return len(rule_list.groups) == 1 and len(rule_list.groups[0]) == len(rule_list.labels)


def _held_out(rule_list: RuleList) -> Measured | None:
    """Return the validation score that the length of the list was chosen by, on held-out rows."""
    choice = rule_list.length_choice
    if choice is None or choice.constant is None:
        return None
    mean, error = choice.score
    score = Assessed(mean, mean - 2 * error, mean + 2 * error, choice.constant, math.nan)
    return "rows held out in training", _title(choice.measure), score


def _measured(rule_list: RuleList, n_rows: int, scores: dict[str, Assessed]) -> Measured | None:
    choice = rule_list.length_choice
    measure = "subset_accuracy" if _is_one_of_classes(rule_list) else choice.measure if choice else "micro_f1"
    title = MEASURE_TITLES.get(measure, "")
    title = title if title in scores else MEASURE_TITLES["micro_f1"]
    if not n_rows or title not in scores:
        return None
    return f"the given {n_rows} instances", title, scores[title]


def _how_well(measured: Measured | None) -> str:
    if measured is None:
        return "how well is not known: give labelled instances that are new to them"
    where, measure, score = measured
    interval = f"{score.score:.2f} ({score.low:.2f} to {score.high:.2f})"
    constant = f"the {score.constant:.2f} of the best constant prediction"
    if score.low > score.constant:
        beside = f"clearly more than {constant}"
    elif score.score > score.constant:
        beside = f"more than {constant}, though that may be chance"
    else:
        beside = f"no more than {constant}"
    return f"on {where} {measure} is {interval}, {beside}"
