"""Rules from text: the inverse of how rules are printed.

The text of a rule is `head <- body`, with the names of the data:

- the head lists labels: `red, ¬blue` (also `not blue` or `!blue`);
- the body joins conditions by `and` (also `∧` or `&`); it may be empty;
- conditions are `stripes > 2`, `stripes <= 2`, `2 < stripes <= 5`, `continent = Asia`, `continent ≠ Asia` (also `!=`),
  `continent in {Africa, Asia}`, `continent not in {Africa, Asia}`, `area is missing`, `area is known`, and `red` or
  `¬red` for labels that earlier rules predicted. `stripes >= 2` and `stripes < 2` become comparisons with the next
  smaller number, which are the same. Dates are compared with `2024-09-19` or `2024-09-19T12:30:00`. An attribute that
  instances have or not (0 or 1, no or yes, false or true) is `"sun"` or `no "sun"`;
- `[stop]`, `[locked]` or `[stop, locked]` may follow, or what `str(rule)` adds, `(TP 166, FP 38, stop)`;
- a name that could be taken for something else is put in double quotes, with escapes as in `"5\\" wide\\u200f\\n"`.
"""

from __future__ import annotations

import math
import re
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

from plurule.errors import ModelError, nearest
from plurule.model.condition import (
    DATE,
    YES,
    Attribute,
    Condition,
    LabelCondition,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
    parse_date,
)
from plurule.model.naming import MARKS, NUMBER, SEPARATORS, SIGN, SUFFIX, visible
from plurule.model.rule import Assignment, Head, Rule

ARROW = re.compile(r"<-|←|:-")
AND = re.compile(r"∧|&&?|and\b", re.IGNORECASE)
NOT = re.compile(rf"¬|!|{SIGN.pattern}\b", re.IGNORECASE)
NOT_QUOTED = re.compile(rf'{SIGN.pattern}(?=\s*")', re.IGNORECASE)
BOUND = re.compile(f"{DATE.pattern}|{NUMBER.pattern}")
COMPARISON = re.compile(r"<=|≤|>=|≥|==|=|≠|!=|>|<(?!-)")
OPERATOR = re.compile(rf"is\s+(?:missing|known)\b|(?:not\s+)?in(?=\s*\{{)|{COMPARISON.pattern}", re.IGNORECASE)
BELOW = ("<=", "≤", "<")
ABOVE = (">=", "≥", ">")
NEXT_BELOW = (">=", "≥", "<")
"""Comparisons with a number that are the same as other ones with the next smaller number."""
EQUAL = ("=", "==")
NEGATED = ("≠", "!=", "not in")
CHUNK = re.compile(f"[^{re.escape(SEPARATORS)}]+")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
ESCAPE = re.compile(r'\\(?:["\\nrt]|u[0-9a-fA-F]{4}|U00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|\\')


class Names:
    """Positions of attributes and labels by name, so that a rule of one list becomes one of another.

    >>> names = Names([Attribute("continent", ("Africa", "Asia"))], ["red"])
    >>> rule = Rule(Head((Assignment("red", 7, True),)), (OneOfCondition("continent", 3, ("Asia",)),))
    >>> names.adopt(rule).body[0].index
    0
    """

    def __init__(self, attributes: Sequence[Attribute], labels: Sequence[str]):
        self.declared = attributes
        self.attributes = {attribute.name: index for index, attribute in enumerate(attributes)}
        self.labels = {name: index for index, name in enumerate(labels)}

    def adopt(self, rule: Rule) -> Rule:
        """Return the rule with the positions that its attributes and labels have here."""
        head = Head(tuple(replace(a, index=self.label(a.name)) for a in rule.head))
        return replace(rule, head=head, body=tuple(map(self.placed, rule.body)))

    def label(self, name: str) -> int:
        """Return the position of a label."""
        return _position(name, self.labels, "label")

    def placed(self, condition: Condition) -> Condition:
        """Return the condition with the position that its attribute or label has here."""
        if condition.on_label:
            return condition.placed(self.label(condition.name))
        index = _position(condition.name, self.attributes, "attribute")
        return condition.placed(index, self.declared[index])


def _position(name: str, positions: Mapping[str, int], what: str) -> int:
    if name not in positions:
        raise ModelError(f"there is no {what} {name!r}{nearest(name, positions)}")
    return positions[name]


class RuleTextError(ModelError):
    """A text that is not a rule; says where and what was expected there."""

    def __init__(self, text: str, position: int, problem: str, place: str = ""):
        self.text, self.position, self.problem, self.place = text, position, problem, place
        before = visible(text[:position])
        super().__init__(f"{place}character {position + 1}: {problem}\n    {visible(text)}\n    {' ' * len(before)}^")

    def within(self, place: str) -> RuleTextError:
        """Return the same error, which also says where the text stands: in which line, in which file."""
        return RuleTextError(self.text, self.position, self.problem, f"{place}, {self.place}")


def parse(text: str, attributes: Sequence[Attribute], labels: Sequence[str]) -> Rule:
    """Return the rule that a text says, about the given attributes and labels.

    Parameters
    ----------
    text
        `head <- body`.
    attributes, labels
        The names that may occur, as a rule list knows them.

    Examples
    --------
    >>> attributes = [Attribute("stripes"), Attribute("continent", ("Africa", "Asia"))]
    >>> rule = parse("red, ¬blue <- stripes > 2 and continent = Asia", attributes, ["red", "green", "blue"])
    >>> print(rule.to_text())
    red, ¬blue ← stripes > 2 ∧ continent = Asia
    >>> parse("red <- stripes > two", attributes, ["red"])
    Traceback (most recent call last):
    ...
    plurule.model.text.RuleTextError: character 18: expected a number after '>', found 'two'
        red <- stripes > two
                         ^
    """
    return _Reader(text, Names(attributes, labels)).rule()


def parse_rules(text: str, attributes: Sequence[Attribute], labels: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules that a text says, one per line; empty lines and lines that start with `#` are skipped.

    Parameters
    ----------
    text
        The rules.
    attributes, labels
        What they may speak about.

    Examples
    --------
    >>> [rule.to_text() for rule in parse_rules("# flags\\nred <- blue\\n\\nblue <-", [], ["red", "blue"])]
    ['red ← blue', 'blue ←']
    """
    rules, names = [], Names(attributes, labels)
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                rules.append(_Reader(line, names).rule())
            except RuleTextError as error:
                raise error.within(f"line {number}") from None
    return tuple(rules)


def write(rule: Rule) -> str:
    """Return the text of a rule with its marks, so that `parse` gives it back (without counts).

    >>> write(Rule(Head((Assignment("a, b", 0, True),)), stop=True))
    '"a, b" ← [stop]'
    """
    return rule.to_text() + (f" [{', '.join(rule.marks)}]" if rule.marks else "")


def write_rules(rules: Iterable[Rule]) -> str:
    """Return the text of some rules, one per line, which `parse_rules` reads back."""
    return "\n".join(map(write, rules))


def presence(attribute: Attribute, index: int, present: bool) -> Condition:
    """Return the condition that a binary attribute is present, or is not."""
    if attribute.categories is None:
        above, at_most = (0.5, None) if present else (None, 0.5)
        return RangeCondition(attribute.name, index, above, at_most, is_binary=True)
    category = next(c for c in attribute.categories if YES[c.lower()] == present)
    return OneOfCondition(attribute.name, index, (category,), is_binary=True)


class _Name(NamedTuple):
    """A name found in the text."""

    text: str
    start: int


class _Reader:
    """Reads one rule from left to right."""

    def __init__(self, text: str, names: Names):
        self.text = text
        self.at = 0
        self.declared, self.attributes, self.labels = names.declared, names.attributes, names.labels
        marks = MARKS.search(text)
        self.end = marks.start() if marks else len(text)
        marked = set(re.findall(r"stop|locked", marks.group().lower())) if marks else set()
        self.stop, self.locked = "stop" in marked, "locked" in marked

    def rule(self) -> Rule:
        """`head <- body`."""
        assignments = [self.assignment([])]
        while self.accept(re.compile(",")):
            assignments.append(self.assignment(assignments))
        if not self.accept(ARROW):
            self.fail(f"expected ',' and another label, or '<-' and the body, found {self.found()}")
        body: list[Condition] = []
        while self.skip() < self.end:
            if body and not self.accept(AND):
                self.fail(f"expected 'and' or the end of the rule, found {self.found()}")
            body.append(self.condition())
        return Rule(Head(tuple(assignments)), tuple(body), stop=self.stop, locked=self.locked)

    def assignment(self, before: Iterable[Assignment]) -> Assignment:
        """`label` or `¬label`."""
        present, name = self.signed_name(self.labels, "a label")
        index = self.index_of(name, self.labels, "label")
        if any(a.index == index for a in before):
            self.fail(f"label {name.text!r} is in the head twice, expected each label once", name.start)
        return Assignment(name.text, index, present)

    def condition(self) -> Condition:
        """`attribute <= number`, `number < attribute <= number`, `attribute = category`, `label` or `¬label`."""
        lower = self.lower_bound()
        if lower is not None:
            return lower
        present, name = self.signed_name({**self.labels, **self.attributes}, "a condition")
        operator_at = self.skip()
        operator = self.accept(OPERATOR)
        if operator is None:
            return self.presence(name, present)
        operator = " ".join(operator.lower().split())
        if not present:
            self.fail("only labels can be negated, expected an attribute without '¬' before it", name.start)
        index = self.index_of(name, self.attributes, "attribute")
        if operator in ("is missing", "is known"):
            return MissingCondition(name.text, index, operator == "is missing")
        if self.declared[index].is_nominal:
            return self.nominal(index, operator, operator_at)
        return self.numeric(index, operator, operator_at)

    def presence(self, name: _Name, present: bool) -> Condition:
        """`label`, or a binary attribute."""
        if name.text in self.labels or name.text not in self.attributes:
            return LabelCondition(name.text, self.index_of(name, self.labels, "label or attribute"), present)
        index = self.attributes[name.text]
        attribute = self.declared[index]
        if not attribute.is_binary:
            what = "'=', '≠' or 'in {…}'" if attribute.is_nominal else "'<=' or '>'"
            self.fail(f"expected {what} after attribute {name.text!r}, found {self.found()}")
        return presence(attribute, index, present)

    def lower_bound(self) -> RangeCondition | None:
        """`number < attribute <= number`, if that is what stands here; an attribute may be named like a number."""
        start = self.skip()
        lowest = self.accept(BOUND)
        operator = self.accept(COMPARISON)
        if lowest is None or operator not in BELOW or BOUND.match(self.text, self.skip(), self.end):
            self.at = start
            return None
        name = self.name(self.attributes, "an attribute")
        index = self.index_of(name, self.attributes, "attribute")
        if self.declared[index].is_nominal:
            self.fail(f"attribute {name.text!r} is nominal, expected '=' and a category", name.start)
        # What is not below the lower end is above the number before it.
        above = self.threshold(self.declared[index], lowest, start, operator != "<")
        operator_at = self.skip()
        operator = self.accept(COMPARISON)
        if operator not in BELOW:
            self.at = operator_at
            self.fail(f"expected '<' or '<=' and the upper end of the interval, found {self.found()}")
        upper_at = self.skip()
        upper = self.numeric(index, operator, operator_at)
        if above >= upper.threshold:
            self.fail(f"expected an interval that holds a number, found one that ends before {lowest}", upper_at)
        return replace(upper, above=above)

    def numeric(self, index: int, operator: str, operator_at: int) -> RangeCondition:
        """Read the number after an operator."""
        attribute = self.declared[index]
        if operator not in (*BELOW, *ABOVE):
            self.fail(f"attribute {attribute.name!r} is numeric, expected '<=' or '>', found {operator!r}", operator_at)
        start = self.skip()
        bound = self.accept(BOUND)
        if bound is None:
            expected = "a date such as 2024-09-19" if attribute.is_date else "a number"
            self.fail(f"expected {expected} after {operator!r}, found {self.found()}")
        threshold = self.threshold(attribute, bound, start, operator in NEXT_BELOW)
        above, at_most = (None, threshold) if operator in BELOW else (threshold, None)
        return RangeCondition(attribute.name, index, above, at_most, attribute.is_binary, attribute.is_date)

    def nominal(self, index: int, operator: str, operator_at: int) -> OneOfCondition:
        """Read the category, or the categories in braces, after an operator."""
        attribute = self.declared[index]
        name = attribute.name
        if operator in (*EQUAL, "≠", "!="):
            categories = [self.category(attribute)]
        elif operator in ("in", "not in"):
            categories = []
            while self.accept(re.compile("," if categories else r"\{")):
                start = self.skip()
                category = self.category(attribute)
                if category in categories:
                    self.fail(f"category {category!r} is listed twice, expected each once", start)
                categories.append(category)
            if not self.accept(re.compile(r"\}")):
                self.fail(f"expected ',' and another category of {name!r}, or '}}', found {self.found()}")
        else:
            self.fail(f"attribute {name!r} is nominal, expected '=' or '≠', found {operator!r}", operator_at)
        return OneOfCondition(name, index, tuple(categories), operator in NEGATED, attribute.is_binary)

    def category(self, attribute: Attribute) -> str:
        """Read a category of an attribute."""
        categories = attribute.categories or ()
        category = self.name(dict.fromkeys(categories, 0), f"a category of {attribute.name!r}")
        if category.text not in categories:
            problem = f"attribute {attribute.name!r} has no category {category.text!r}"
            self.fail(problem + nearest(category.text, categories), category.start)
        return category.text

    def threshold(self, attribute: Attribute, bound: str, start: int, right_below: bool) -> float:
        """Return the bound, or the number right below it: none lies between these two, so comparisons are the same."""
        threshold = parse_date(bound) if DATE.fullmatch(bound) else float(bound)
        if threshold is None:
            self.fail(f"expected a date of the calendar, found {bound!r}", start)
        if DATE.fullmatch(bound) and not attribute.is_date:
            self.fail(f"attribute {attribute.name!r} is numeric, expected a number, found {bound!r}", start)
        if math.isinf(threshold):
            self.fail(f"expected a number that a double can hold, found {bound!r}", start)
        return math.nextafter(threshold, -math.inf) if right_below else threshold

    # Pieces ----------------------------------------------------------------------------------------------------------

    def signed_name(self, known: Mapping[str, int], expected: str) -> tuple[bool, _Name]:
        """Return a name and whether it stands there without a sign of absence; a known name may begin like one."""
        if self.accept(NOT_QUOTED):
            return False, self.name(known, expected)
        present = bool(self.known_name(known)) or self.accept(NOT) is None
        return present, self.name(known, expected)

    def known_name(self, known: Mapping[str, int]) -> str:
        """Return the longest known name that stands here, without quotes; empty if none does."""
        chunk = CHUNK.match(self.text, self.skip(), self.end)
        ends = [word.end() for word in re.finditer(r"\S+", chunk.group())] if chunk else []
        candidates = (self.text[self.at : self.at + end] for end in reversed(ends))
        return next((c for c in candidates if c in known and not SUFFIX.search(c)), "")

    def name(self, known: Mapping[str, int], expected: str) -> _Name:
        """Return the longest known name that stands here, or else what would have been one."""
        start = self.skip()
        quoted = QUOTED.match(self.text, start, self.end)
        if quoted:
            self.at = quoted.end()
            return _Name(self.unescape(quoted.group(1), start + 1), start)
        if self.text.startswith('"', start) and start < self.end:
            self.fail("expected '\"' at the end of this quoted name", start)
        chunk = CHUNK.match(self.text, start, self.end)
        if chunk is None:
            self.fail(f"expected {expected}, found {self.found()}")
        name = self.known_name(known) or re.split(r"\s+and\s", chunk.group(), flags=re.IGNORECASE)[0].rstrip()
        self.at = start + len(name)
        return _Name(name, start)

    def unescape(self, text: str, start: int) -> str:
        """Return a quoted name without its escapes."""
        for escape in ESCAPE.finditer(text):
            if len(escape.group()) == 1:
                expected = 'expected \\", \\\\, \\n, \\r, \\t, \\x.. or \\u.... after a backslash'
                self.fail(expected, start + escape.start())
        return ESCAPE.sub(lambda escape: str(literal_eval(f'"{escape.group()}"')), text)

    def index_of(self, name: _Name, known: Mapping[str, int], what: str) -> int:
        if name.text not in known:
            everything = {**self.labels, **self.attributes} if "or" in what.split() else known
            kind = ""
            if what == "label" and name.text in self.attributes:
                kind = " (there is an attribute of that name, but a head predicts labels)"
            self.fail(f"there is no {what} {name.text!r}{kind}{nearest(name.text, everything)}", name.start)
        return known[name.text]

    def skip(self) -> int:
        """Go past white space."""
        while self.at < self.end and self.text[self.at].isspace():
            self.at += 1
        return self.at

    def accept(self, pattern: re.Pattern[str]) -> str | None:
        """Return the text here if it matches, and go past it."""
        match = pattern.match(self.text, self.skip(), self.end)
        if match is None:
            return None
        self.at = match.end()
        return match.group()

    def found(self) -> str:
        """Return the next word, for an error message."""
        rest = self.text[self.skip() : self.end]
        if not rest:
            return "the end of the text"
        word = re.match(r"[\w.]+|\S", rest)
        return repr(word.group() if word else rest[0])

    def fail(self, problem: str, at: int | None = None) -> NoReturn:
        raise RuleTextError(self.text, self.skip() if at is None else at, problem)
