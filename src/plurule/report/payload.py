"""Data of the page's own program: the model and some instances, as JSON.

Numbers are written so that JavaScript reads the same doubles; names are written as they are shown.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurule._prediction.apply import Labels, probability_by_rule
from plurule.data.dataset import Table
from plurule.inspection.edit import rules_digest
from plurule.model import Condition, LabelCondition, MissingCondition, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.model.naming import Meaning, in_quotes, visible
from plurule.report.summary import Summary, condition_parts

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def payload(
    rule_list: RuleList, summary: Summary, table: Table | None, truth: Labels | None, examples: int, ids: Sequence[Any]
) -> str:
    """Return the JSON text, safe to stand in a script element; `ids` are the names of the instances."""
    used = rule_list.tested_attributes()
    place = {index: i for i, index in enumerate(used)}
    content: dict[str, Any] = {
        "labels": [visible(label) for label in rule_list.labels],
        # As they stand in the text of a rule.
        "labelTexts": [in_quotes(label) for label in rule_list.labels],
        "digest": rules_digest(rule_list),
        "attributes": [_attribute(rule_list, index, table) for index in used],
        "rules": [_rule(rule, rule_list, place) for rule in rule_list],
        "groups": rule_list.groups,
        "hierarchy": rule_list.hierarchy,
        "descriptions": [visible(str(rule_list.dictionary.get(label, ""))) for label in rule_list.labels],
        "byLabel": [row._asdict() for row in summary.labels],
        "instances": [] if table is None else _instances(rule_list, table, truth, examples, ids),
    }
    shares = probability_by_rule(rule_list)
    for number, (rule, entry) in enumerate(zip(rule_list, content["rules"], strict=True)):
        places = [assignment.index for assignment in rule.head]
        # How likely the labels of its head are present where it decides them.
        entry["p"] = shares[number, places].tolist()
        entry["trained"] = summary.in_training[number]
        if summary.on_data:
            entry["data"] = summary.on_data[number]._asdict()
        if summary.evidence:
            evidence = summary.evidence[number]
            interval = {"low": evidence.low, "high": evidence.high, "p": evidence.p_holm} if evidence.decided else {}
            entry["found"] = {"right": evidence.right, "decided": evidence.decided} | interval
    content["undecided"] = shares[-1].tolist()
    return for_script(content)


def for_script(content: Any) -> str:
    """JSON in which nothing can end the script element it stands in.

    >>> for_script({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    # Half characters cannot be written as UTF-8.
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def _attribute(rule_list: RuleList, index: int, table: Table | None) -> dict[str, Any]:
    attribute = rule_list.attributes[index]
    meaning = rule_list.dictionary.get(attribute.name, Meaning())
    described: dict[str, Any] = {"name": visible(attribute.name), "text": in_quotes(attribute.name)}
    described |= {key: visible(text) for key, text in meaning._asdict().items() if text}
    if attribute.categories is not None:
        described["categories"] = [visible(category) for category in attribute.categories]
        if any(not category.isprintable() for category in attribute.categories):
            described["categoryTexts"] = [in_quotes(category) for category in attribute.categories]
        return described
    if attribute.is_date:
        described["date"] = True
    values = np.zeros(0) if table is None else table.column(index)
    distinct = np.unique(values[~np.isnan(values)])
    if attribute.only_0_and_1 and np.isin(distinct, (0, 1)).all():
        return described | {"binary": True}
    if len(distinct):
        low, high = float(distinct[0]), float(distinct[-1])
        step = _date_step(distinct) if attribute.is_date else _step(distinct)
        described |= {"range": [low, high], "step": step} if high - low < math.inf else {}
    return described


def _step(values: NDArray[Any]) -> float:
    """Return the step of a slider over these values, in order: 1 if they are whole and not many, or a round part.

    >>> _step(np.array([1.0, 7.0])), _step(np.array([0.0, 0.5, 1.0])), _step(np.array([0.0, 99999.0]))
    (1.0, 0.01, 1000.0)
    """
    span = float(values[-1] - values[0])
    is_whole = bool((values == np.floor(values)).all())
    # Spans beyond what a slider can show, and those of one value, have a step that moves nothing.
    step = 10.0 ** math.floor(math.log10(span / 50)) if span > 1e-300 else 1.0
    return max(step, 1.0) if is_whole else step


def _date_step(values: NDArray[Any]) -> float:
    """Return the step of a slider over times in seconds: a day where all are days, else a second."""
    day = 86400.0
    return day if bool((values % day == 0).all()) else 1.0


def _rule(rule: Rule, rule_list: RuleList, place: dict[int, int]) -> dict[str, Any]:
    return {
        # Labels that another one implies are decided with it, but not shown.
        "head": [[a.index, int(a.present), *([1] if a.implied else [])] for a in rule.head],
        "body": [_condition(condition, rule_list, place) for condition in rule.body],
        **{key: getattr(rule, key) for key in ("stop", "locked", "tp", "fp", "coverage", "decided")},
    }


def _condition(condition: Condition, rule_list: RuleList, place: dict[int, int]) -> dict[str, Any]:
    match condition:
        case LabelCondition(index=index, present=present):
            return {"label": index, "is": int(present)}
        case MissingCondition(missing=missing):
            test: dict[str, Any] = {"missing": missing}
        case RangeCondition(above=above, at_most=at_most):
            test = {key: bound for key, bound in (("above", above), ("atMost", at_most)) if bound is not None}
            if not condition.determines_value:
                test["comparisons"] = condition.comparisons()
        case OneOfCondition():
            categories = rule_list.attributes[condition.index].categories or ()
            # A category that the attribute does not have is satisfied by nothing.
            test = {"categories": [categories.index(category) for category in condition.accepted(categories)]}
    if "comparisons" not in test:
        test["text"] = str(condition)
    parts = condition_parts(condition, None, rule_list.dictionary)
    return {"attribute": place[condition.index], "parts": parts, **test}


def _instances(
    rule_list: RuleList, table: Table, truth: Labels | None, most: int, ids: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return some rows of the data, from the first to the last: numbers or codes of categories, null where missing."""
    rows = np.unique(np.linspace(0, len(table) - 1, num=min(most, len(table))).round().astype(np.intp)).tolist()
    columns = []
    for index in rule_list.tested_attributes():
        is_nominal = rule_list.attributes[index].is_nominal
        values = table.column(index)[rows].astype(np.int64 if is_nominal else np.float64)
        is_missing = values < 0 if is_nominal else np.isnan(values)
        columns.append([None if gone else v for v, gone in zip(values.tolist(), is_missing.tolist(), strict=True)])
    instances = []
    for i, row in enumerate(rows):
        labels = {} if truth is None else {"truth": np.flatnonzero(truth[row]).tolist()}
        name = ids[row] if isinstance(ids[row], str) else f"instance {ids[row]}"
        instances.append({"name": visible(name), "values": [column[i] for column in columns], **labels})
    return instances
