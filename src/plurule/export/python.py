"""A rule list as a Python module that needs nothing but Python."""

from __future__ import annotations

import builtins
from keyword import iskeyword

from plurule.errors import amount
from plurule.model import Attribute, Condition, Rule, RuleList
from plurule.model.condition import YES

HELPERS = """\
_MISSING = float("nan")  # compares with nothing


def _number(value):
    return _MISSING if value is None else float(value)


def _category(value):
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _decide(labels, assignments):
    \"\"\"Set the labels that are open; say whether there were any.\"\"\"
    before = len(labels)
    for name, value in assignments:
        labels.setdefault(name, value)
    return len(labels) > before


def _complete(labels):
    return {name: labels.get(name, 0) for name in LABELS}

"""


DATES = """\
from datetime import date, datetime, timedelta, timezone

_1970 = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _seconds(value):
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, date):
        return _number(value)
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    return (value.replace(tzinfo=value.tzinfo or timezone.utc) - _1970) // timedelta(seconds=1)

"""
TRUTH = f"""\
_TRUTH = {YES!r}


def _binary(value, absent, present):
    is_present = _TRUTH.get(str(_category(value)).lower())
    return None if is_present is None else (present if is_present else absent)

"""
OPTIONAL = {"_seconds": DATES, "_binary": TRUTH}
"""Helpers that only some lists need."""


USED = frozenset(
    {"LABELS", "_MISSING", "_TRUTH", "_1970", "_category", "_complete", "_decide", "_number", *OPTIONAL}
    | {"date", "datetime", "timedelta", "timezone"}
    | set(dir(builtins))
)
"""Names that mean something else in the module."""


def to_python(rule_list: RuleList, function: str = "predict") -> str:
    """Return the source of a Python module with a function that predicts the labels of one instance.

    Parameters
    ----------
    rule_list
        The rules.
    function
        What the function is called. It takes a mapping from attribute names to values and returns a dictionary from
        label names to 0 and 1. An attribute that is missing, None or NaN satisfies no condition but `is missing`.

    Examples
    --------
    >>> from plurule import RuleList
    >>> source = to_python(RuleList.from_text("red <- stripes > 2 [stop]\\nwhite <-", ["stripes"], ["red", "white"]))
    >>> print(source[source.index("def predict"):])
    def predict(instance):
        \"\"\"Labels of an instance: a dictionary of 0 and 1, from a mapping of attribute names to values.\"\"\"
        x0 = _number(instance.get('stripes'))
        labels = {}
        # rule 1: red ← stripes > 2
        if x0 > 2.0 and _decide(labels, (('red', 1),)):
            return _complete(labels)
        # rule 2: white ←
        _decide(labels, (('white', 1),))
        return _complete(labels)
    >>> module = {}
    >>> exec(source, module)
    >>> module["predict"]({"stripes": 3}), module["predict"]({})
    ({'red': 1, 'white': 0}, {'red': 0, 'white': 1})
    """
    if not function.isidentifier() or iskeyword(function) or function in USED:
        raise ValueError(f"a function cannot be called {function!r}; give a Python name that is not taken")
    reading = [f"    x{i} = {_read(rule_list.attributes[i])}" for i in rule_list.tested_attributes()]
    lines = [
        f'"""Labels predicted by a list of {amount(len(rule_list), "rule")}; needs nothing but Python."""',
        "",
        *(f"# {line}" for line in rule_list.meanings()),
        f"LABELS = {tuple(rule_list.labels)!r}",
        HELPERS,
        *(helper for name, helper in OPTIONAL.items() if any(f" = {name}(" in line for line in reading)),
        f"def {function}(instance):",
        '    """Labels of an instance: a dictionary of 0 and 1, from a mapping of attribute names to values."""',
    ]
    lines += reading
    lines.append("    labels = {}")
    for number, rule in enumerate(rule_list, start=1):
        lines.append(f"    # rule {number}: {rule.to_text()}")
        lines += [f"    {line}" for line in _rule(rule, rule_list)]
    lines.append("    return _complete(labels)")
    return "\n".join(lines)


def _read(attribute: Attribute) -> str:
    """Return an expression of the value of an attribute, as conditions compare it."""
    value = f"instance.get({attribute.name!r})"
    if attribute.categories is None:
        return f"_seconds({value})" if attribute.is_date else f"_number({value})"
    if not attribute.is_binary:
        return f"_category({value})"
    absent, present = sorted(attribute.categories, key=lambda category: YES[category.lower()])
    return f"_binary({value}, {absent!r}, {present!r})"


def _rule(rule: Rule, rule_list: RuleList) -> list[str]:
    # Text that does not print, such as marks of direction, is escaped by repr.
    decide = f"_decide(labels, {tuple((a.name, int(a.present)) for a in rule.head)!r})"
    tests = [_condition(condition, rule_list) for condition in rule.body]
    if rule.stop:
        return [f"if {' and '.join([*tests, decide])}:", "    return _complete(labels)"]
    return [f"if {' and '.join(tests)}:", f"    {decide}"] if tests else [decide]


def _condition(condition: Condition, rule_list: RuleList) -> str:
    if condition.on_label:
        return condition.python(f"labels.get({condition.name!r})")
    return condition.python(f"x{condition.index}", rule_list.attributes[condition.index].categories)
