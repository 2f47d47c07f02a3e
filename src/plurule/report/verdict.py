"""A report in one sentence: what is predicted, with how many rules, and how well beside a constant prediction."""

from __future__ import annotations

from typing import NamedTuple

from plurule.model import RuleList
from plurule.model.naming import visible
from plurule.prediction.assessment import Assessed
from plurule.titles import MEASURES

MOST_NAMES = 6


class Measured(NamedTuple):
    """A score, on what it was measured, and what a constant prediction scores there."""

    where: str
    measure: str
    score: float
    low: float
    high: float
    constant: float


def verdict(rule_list: RuleList, n_rows: int, n_trained: int | None, scores: dict[str, Assessed]) -> str:
    """The sentence.

    Of the instances, `n_trained` are those that the rules were learned from, None where that is not known; `scores` are
    what was measured on them, by the title of the measure.
    """
    found = _held_out(rule_list) if not scores or n_trained == n_rows else None
    found = found or _measured(rule_list, n_rows, n_trained, scores)
    return f"{_what(rule_list)}; {_how_well(found)}."


def _what(rule_list: RuleList) -> str:
    rules = f"{len(rule_list) or 'No'} rule{'' if len(rule_list) == 1 else 's'}"
    verb = "predicts" if len(rule_list) == 1 else "predict"
    names = [visible(name) for name in rule_list.labels]
    if len(names) == 1:
        return f"{rules} {verb} whether an instance has the label {names[0]}"
    more = len(names) - MOST_NAMES
    said = f"{', '.join(names[:MOST_NAMES])} and {more} more" if more > 1 else ", ".join(names)
    if _is_one_of_classes(rule_list):
        return f"{rules} {verb} to which of {len(names)} classes ({said}) an instance belongs"
    return f"{rules} {verb} which of {len(names)} labels ({said}) an instance has"


def _is_one_of_classes(rule_list: RuleList) -> bool:
    return len(rule_list.groups) == 1 and len(rule_list.groups[0]) == len(rule_list.labels)


def _held_out(rule_list: RuleList) -> Measured | None:
    """What was measured when the list was cut, on rows that it was not learned from."""
    choice = rule_list.length_choice
    if choice is None or choice.constant is None:
        return None
    mean, error = choice.score
    measure = MEASURES.get(choice.measure, visible(choice.measure.replace("_", " ")))
    return Measured("rows held out in training", measure, mean, mean - 2 * error, mean + 2 * error, choice.constant)


def _measured(rule_list: RuleList, n_rows: int, n_trained: int | None, scores: dict[str, Assessed]) -> Measured | None:
    choice = rule_list.length_choice
    wanted = "subset_accuracy" if _is_one_of_classes(rule_list) else choice.measure if choice else "micro_f1"
    title = MEASURES.get(wanted, "")
    title = title if title in scores else MEASURES["micro_f1"]
    if not n_rows or title not in scores:
        return None
    score = scores[title]
    where = {
        None: f"{n_rows} instances (whether the rules were learned from them is not known)",
        0: f"{n_rows} new instances",
        n_rows: f"the {n_rows} instances they were learned from",
    }.get(n_trained, f"{n_rows} instances, {n_trained} of which they were learned from,")
    return Measured(where, title, score.score, score.low, score.high, score.constant)


def _how_well(found: Measured | None) -> str:
    if found is None:
        return "how well is not known: give labelled instances that are new to them"
    interval = f"{found.score:.2f} ({found.low:.2f} to {found.high:.2f})"
    constant = f"the {found.constant:.2f} of predicting the same for every instance"
    if found.low > found.constant:
        beside = f"clearly more than {constant}"
    elif found.score > found.constant:
        beside = f"more than {constant}, though that may be chance"
    else:
        beside = f"no more than {constant}"
    return f"on {found.where} {found.measure} is {interval}, {beside}"
