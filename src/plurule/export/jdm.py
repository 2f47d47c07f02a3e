"""A rule list as a JSON Decision Model (JDM), the decision graphs of the engine GoRules ZEN, from version 2 on.

The graph is a chain of nodes:

- `row` puts the attributes of the request into an object of its own, so that no name of theirs meets one of ours.
- Decision tables hold the rules, one per line. A column of the output whose name ends in `[]` collects the values of
  all lines that match, in order, so that its first value is that of the first rule which decides the label. The value
  is the number of the rule, negative if the label is absent. A list is split before a rule that tests a label which
  the current table decides.
- `decided` takes the first number per label over all tables, and `last` the first stop rule that decided something.
- `labels` is the response: for each label by name whether it is present, and the number of the rule that decided it.

The engine computes with decimals. The shortest texts of two doubles compare as the doubles do, so predictions are exact
where numbers arrive as JSON text; thresholds next to which decimals are too coarse are refused. The threshold 0 is not:
values closer to it than 1e-28 are 0 to the engine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

from plurule.errors import ModelError
from plurule.model import Condition, LabelCondition, MissingCondition, OneOfCondition, RangeCondition, Rule, RuleList

MOST_DECIMALS = 28
LARGEST = Decimal(2**96 - 1)
"""Limits of the decimals of the engine. Other numbers are rounded, which keeps their order."""
SPACING = 280
"""Pixels between nodes in an editor."""


def to_jdm(rule_list: RuleList) -> str:
    """Return a decision graph that predicts the labels of one instance, as JSON.

    Parameters
    ----------
    rule_list
        The rules.

    Returns
    -------
    str
        A graph whose request has a member per attribute (null, or none, where a value is missing; a date is a text such
        as `2024-09-19` or `2024-09-19 12:30:00`) and whose response has `labels`, true or false by name, and `rules`,
        the numbers of the rules that decided them, or null.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white"])
    >>> graph = json.loads(to_jdm(rules))
    >>> [node["name"] for node in graph["nodes"]]
    ['request', 'row', 'rules 1 to 1', 'rules 2 to 2', 'decided', 'labels', 'response']
    >>> graph["nodes"][2]["content"]["rules"]
    [{'_id': 'rule 1', '_description': 'red ← stripes > 2', 'attribute_1': '> 2', 'label_1': '1'}]
    """
    for name in (*rule_list.labels, *(rule_list.attributes[i].name for i in rule_list.tested_attributes())):
        if not _is_text(name):
            raise ModelError(f"the name {name!r} is no valid text (half of a character); rename it")
    tables = list(_split(rule_list))
    nodes = [_node("request", "inputNode"), _expressions("row", {"row": "$root"}, pass_through=False)]
    earlier: dict[int, list[str]] = {}
    for number, rules in enumerate(tables, start=1):
        nodes.append(_table(rule_list, rules, number, earlier))
        for label in sorted({a.index for _, rule in rules for a in rule.head}):
            earlier.setdefault(label, []).append(f"table_{number}.label_{label + 1}[0]")
    nodes += [
        _expressions("decided", dict(_decided(rule_list, earlier)), pass_through=False),
        _expressions("labels", _response(rule_list, earlier), pass_through=False),
        _node("response", "outputNode"),
    ]
    edges = []
    for place, node in enumerate(nodes):
        node["id"] = f"node_{place}"
        node["position"] = {"x": SPACING * place, "y": 0}
        if place:
            ends = {"sourceId": f"node_{place - 1}", "targetId": f"node_{place}"}
            edges.append({"id": f"edge_{place}", "type": "edge", **ends})
    graph = {"contentType": "application/vnd.gorules.decision", "nodes": nodes, "edges": edges}
    return json.dumps(graph, indent=1, ensure_ascii=False)


def _split(rule_list: RuleList) -> Iterator[list[tuple[int, Rule]]]:
    """Yield the rules with their numbers, in parts in which no rule tests a label that the part itself decides."""
    part: list[tuple[int, Rule]] = []
    decided: set[int] = set()
    for number, rule in enumerate(rule_list, start=1):
        if decided & {condition.index for condition in rule.label_conditions}:
            yield part
            part = []
            decided = set()
        part.append((number, rule))
        decided |= {assignment.index for assignment in rule.head}
    if part:
        yield part


def _table(
    rule_list: RuleList, rules: list[tuple[int, Rule]], number: int, earlier: dict[int, list[str]]
) -> dict[str, Any]:
    """Return the decision table of some rules; `earlier` are the values of labels in the tables before."""
    bodies = [condition for _, rule in rules for condition in rule.body]
    tested = sorted({c.index for c in bodies if not c.on_label})
    tested_labels = sorted({c.index for c in bodies if c.on_label})
    decided = sorted({a.index for _, rule in rules for a in rule.head})
    inputs = []
    for i in tested:
        name = rule_list.attributes[i].name
        value = f"row[{_string(name)}]"
        if rule_list.attributes[i].is_date:
            # Seconds since 1970, as in the rules.
            value = f"{value} == null ? null : date({value})"
        inputs.append({"id": f"attribute_{i + 1}", "name": name, "field": value})
    inputs += [
        {"id": f"tested_{i + 1}", "name": rule_list.labels[i], "field": _first(earlier.get(i, []))}
        for i in tested_labels
    ]
    outputs = [
        {"id": f"label_{i + 1}", "name": rule_list.labels[i], "field": f"table_{number}.label_{i + 1}[]"}
        for i in decided
    ]
    lines = []
    for position, rule in rules:
        line = {"_id": f"rule {position}", "_description": rule.to_text()}
        line |= {column["id"]: "" for column in (*inputs, *outputs)}
        line |= _cells(rule_list, rule, position)
        line |= {f"label_{a.index + 1}": str(position if a.present else -position) for a in rule.head}
        lines.append(line)
    content = {"hitPolicy": "first", "passThrough": True, "inputs": inputs, "outputs": outputs, "rules": lines}
    name = f"rules {rules[0][0]} to {rules[-1][0]}"
    return _node(name, "decisionTableNode", content | {"executionMode": "single"})


def _cells(rule_list: RuleList, rule: Rule, number: int) -> dict[str, str]:
    """Return the conditions of a rule by column."""
    tests: dict[str, list[str]] = {}
    for condition in rule.body:
        kind = "tested" if condition.on_label else "attribute"
        tests.setdefault(f"{kind}_{condition.index + 1}", []).extend(_tests(condition, rule_list, number))
    return {
        column: parts[0] if len(parts) == 1 else " and ".join(f"($ {part})" for part in parts)
        for column, parts in tests.items()
    }


def _tests(condition: Condition, rule_list: RuleList, number: int) -> list[str]:
    """Return the tests of a value in a cell of a decision table; a test that fails, as that of null, does not match."""
    match condition:
        case LabelCondition(present=present):
            return ["> 0" if present else "< 0"]
        case RangeCondition():
            return [f"{operator} {_number(bound, condition, number)}" for operator, bound in condition.comparisons()]
        case MissingCondition(missing=missing):
            categories = rule_list.attributes[condition.index].categories
            if categories is None:
                return ["== null" if missing else "!= null"]
            return [f"{'not in' if missing else 'in'} {_strings(categories)}"]
        case OneOfCondition():
            return [f"in {_strings(condition.accepted(rule_list.attributes[condition.index].categories))}"]
    raise ModelError(f"rule {number}: the condition {condition} cannot be written as a cell of a decision table")


def _number(value: float, condition: Condition, number: int) -> str:
    decimal = Decimal(repr(float(value)))
    exponent = decimal.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    is_held = abs(decimal) <= LARGEST and -exponent <= MOST_DECIMALS
    is_apart = decimal == 0 or _gap(value) >= Decimal(10) ** -MOST_DECIMALS
    if not (is_held and is_apart):
        raise ModelError(
            f"rule {number} compares {condition.name!r} with {value!r}, which the decimals of the engine cannot tell "
            "from other numbers (28 decimal places, up to 7.9e28); change the threshold or leave out the rule"
        )
    return format(decimal, "f").removesuffix(".0")


def _gap(value: float) -> Decimal:
    """Return the distance of a number from the nearest other double, both in their shortest texts."""
    neighbours = (math.nextafter(value, -math.inf), math.nextafter(value, math.inf))
    return min(abs(Decimal(repr(neighbour)) - Decimal(repr(float(value)))) for neighbour in neighbours)


def _decided(rule_list: RuleList, earlier: dict[int, list[str]]) -> Iterator[tuple[str, str]]:
    """Yield the number of the rule that decides each label (0 for none), and of the one that ends the instance."""
    for label, values in sorted(earlier.items()):
        yield f"label_{label + 1}", f"{_first(values)} ?? 0"
    ends = [str(len(rule_list))]
    for number, rule in enumerate(rule_list, start=1):
        if rule.stop:
            decides = " or ".join(f"abs($.label_{a.index + 1}) == {number}" for a in rule.head)
            ends.append(f"(({decides}) ? {number} : {len(rule_list)})")
    yield "last", f"min([{', '.join(ends)}])"


def _response(rule_list: RuleList, earlier: dict[int, list[str]]) -> dict[str, str]:
    present = []
    numbers = []
    for label, name in enumerate(rule_list.labels):
        value = f"label_{label + 1}"
        is_decided = f"{value} != 0 and abs({value}) <= last"
        has_rules = label in earlier
        present.append(f"[{_string(name)}]: {f'{value} > 0 and {value} <= last' if has_rules else 'false'}")
        numbers.append(f"[{_string(name)}]: {f'({is_decided}) ? abs({value}) : null' if has_rules else 'null'}")
    return {"labels": f"{{{', '.join(present)}}}", "rules": f"{{{', '.join(numbers)}}}"}


def _first(values: Iterable[str]) -> str:
    """Return the first value that is not null."""
    return " ?? ".join(values) or "null"


def _string(text: str) -> str:
    """Return a text as an expression; the language has two kinds of quotes and no escapes."""
    if '"' not in text:
        return f'"{text}"'
    if "'" not in text:
        return f"'{text}'"
    return " + '\"' + ".join(f'"{part}"' for part in text.split('"'))


def _strings(texts: Iterable[str]) -> str:
    # A text that JSON cannot hold cannot arrive.
    return f"[{', '.join(_string(text) for text in texts if _is_text(text))}]"


def _is_text(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _expressions(name: str, values: dict[str, str], pass_through: bool) -> dict[str, Any]:
    expressions = [{"id": f"{name}_{key}", "key": key, "value": value} for key, value in values.items()]
    return _node(name, "expressionNode", {"expressions": expressions, "passThrough": pass_through})


def _node(name: str, kind: str, content: dict[str, Any] | None = None) -> dict[str, Any]:
    node: dict[str, Any] = {"id": "", "name": name, "type": kind, "position": {}}
    return node if content is None else node | {"content": content}
