"""Rules from text: the inverse of how rules are printed.

The text of a rule is `head <- body`, with the names of the data:

- the head lists labels: `red, ¬blue` (also `not blue` or `!blue`);
- the body joins conditions by `and` (also `∧` or `&`); it may be empty;
- conditions are `stripes > 2`, `stripes <= 2`, `2 < stripes <= 5`, `continent = Asia`, `continent ≠ Asia` (also `!=`),
  `continent in {Africa, Asia}`, `continent not in {Africa, Asia}`, `area is missing`, `area is known`, and `red` or
  `¬red` for labels that earlier rules predicted. `stripes >= 2` and `stripes < 2` become comparisons with the next
  smaller number, which are the same. An attribute that instances have or not (0 or 1, no or yes, false or true) is
  `"sun"` or `no "sun"`;
- `[stop]`, `[locked]` or `[stop, locked]` may follow, or what `str(rule)` adds, `(TP 166, FP 38, stop)`;
- a name that could be taken for something else is put in double quotes, with escapes as in `"5\\" wide\\u200f\\n"`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, NoReturn

from plurule.errors import ModelError, nearest
from plurule.model.condition import (
    YES,
    Attribute,
    Condition,
    IntervalCondition,
    LabelCondition,
    MissingCondition,
    NominalCondition,
    NumericCondition,
    SetCondition,
)
from plurule.model.head import Assignment, Head
from plurule.model.names import Names
from plurule.model.naming import MARKS, NUMBER, SAID_OF_NAMES, SEPARATORS, visible
from plurule.model.rule import Rule

ARROW = re.compile(r"<-|←|:-")
AND = re.compile(r"∧|&&?|and\b", re.IGNORECASE)
NOT = re.compile(r"¬|!|not?\b", re.IGNORECASE)
COMPARISON = re.compile(r"<=|≤|>=|≥|==|=|≠|!=|>|<(?!-)")
BELOW = ("<=", "≤", "<")
NOT_EQUAL = ("≠", "!=")
AMONG = re.compile(r"(?:in|(not\s+in))\s*(?=\{)", re.IGNORECASE)
KNOWN = re.compile(r"is\s+(missing|known)\b", re.IGNORECASE)
CHUNK = re.compile(f"[^{re.escape(SEPARATORS)}]+")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
SIMPLE_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}


class RuleTextError(ModelError):
    """A text that is not a rule; says where and what was expected there."""

    def __init__(self, text: str, position: int, problem: str, place: str = ""):
        self.text, self.position, self.problem, self.place = text, position, problem, place
        before = visible(text[:position])
        super().__init__(f"{place}character {position + 1}: {problem}\n    {visible(text)}\n    {' ' * len(before)}^")

    def within(self, place: str) -> RuleTextError:
        """The same error, which also says where the text stands: in which line, in which file."""
        return RuleTextError(self.text, self.position, self.problem, f"{place}, {self.place}")


def parse(text: str, attributes: Sequence[Attribute], labels: Sequence[str]) -> Rule:
    """The rule that a text says, about the given attributes and labels.

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
    """The rules that a text says, one per line; empty lines and lines that start with `#` are skipped.

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
    """The text of a rule with its marks, so that `parse` gives it back (without counts).

    >>> write(Rule(Head((Assignment("a, b", 0, True),)), stop=True))
    '"a, b" ← [stop]'
    """
    return rule.to_text() + (f" [{', '.join(rule.marks)}]" if rule.marks else "")


def having(attribute: Attribute, index: int, present: bool) -> Condition:
    """The condition that an attribute that instances have or not is there, or is not."""
    if attribute.categories is None:
        return NumericCondition(attribute.name, index, ">" if present else "<=", 0.5, of_binary=True)
    category = next(c for c in attribute.categories if YES[c.lower()] == present)
    return NominalCondition(attribute.name, index, category, of_binary=True)


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
        interval = self.interval()
        if interval is not None:
            return interval
        present, name = self.signed_name({**self.labels, **self.attributes}, "a condition")
        operator_at = self.skip()
        said = self.said_of(name, present)
        if said is not None:
            return said
        operator = self.accept(COMPARISON)
        if operator is None:
            if name.text in self.attributes and name.text not in self.labels:
                attribute = self.declared[self.attributes[name.text]]
                if attribute.is_binary:
                    return having(attribute, self.attributes[name.text], present)
                what = "'=', '≠' or 'in {…}'" if attribute.is_nominal else "'<=' or '>'"
                self.fail(f"expected {what} after attribute {name.text!r}, found {self.found()}")
            return LabelCondition(name.text, self.index_of(name, self.labels, "label or attribute"), present)
        self.expect_unsigned(name, present)
        if name.text in self.labels and name.text not in self.attributes:
            return LabelCondition(name.text, self.labels[name.text], self.label_value(operator, operator_at))
        index = self.index_of(name, self.attributes, "attribute")
        categories = self.declared[index].categories
        if categories is None:
            return self.numeric(name.text, index, operator, operator_at)
        if operator not in ("=", "==", *NOT_EQUAL):
            self.fail(f"attribute {name.text!r} is nominal, expected '=' or '≠', found {operator!r}", operator_at)
        category = self.category(name.text, categories)
        if operator in NOT_EQUAL:
            return SetCondition(name.text, index, (category,), negated=True)
        return NominalCondition(name.text, index, category, of_binary=self.declared[index].is_binary)

    def category(self, name: str, categories: Sequence[str]) -> str:
        found = self.name(dict.fromkeys(categories, 0), f"a category of {name!r}")
        if found.text not in categories:
            problem = f"attribute {name!r} has no category {found.text!r}"
            self.fail(problem + nearest(found.text, categories), found.start)
        return found.text

    def said_of(self, name: _Name, present: bool) -> Condition | None:
        """`is missing`, `is known`, `in {…}` or `not in {…}` after the name of an attribute, if that stands here."""
        among, known = self.match(AMONG), self.match(KNOWN)
        if among is None and known is None:
            return None
        self.expect_unsigned(name, present)
        index = self.index_of(name, self.attributes, "attribute")
        if known is not None:
            return MissingCondition(name.text, index, known.group(1).lower() == "missing")
        categories = self.declared[index].categories
        if categories is None:
            self.fail(f"attribute {name.text!r} is numeric, expected '<=' or '>' and a number", name.start)
        found: list[str] = []
        while self.accept(re.compile(r"," if found else r"\{")):
            start = self.skip()
            found.append(self.category(name.text, categories))
            if found[-1] in found[:-1]:
                self.fail(f"category {found[-1]!r} is listed twice, expected each once", start)
        if not self.accept(re.compile(r"\}")):
            self.fail(f"expected ',' and another category of {name.text!r}, or '}}', found {self.found()}")
        negated = among is not None and among.group(1) is not None
        return SetCondition(name.text, index, tuple(found), negated)

    def expect_unsigned(self, name: _Name, present: bool) -> None:
        if not present:
            self.fail("only labels can be negated, expected an attribute without '¬' before it", name.start)

    def interval(self) -> IntervalCondition | None:
        """`number < attribute <= number`, if that is what stands here; an attribute may be named like a number."""
        start = self.skip()
        lowest, operator = self.accept(NUMBER), self.accept(COMPARISON)
        if lowest is None or operator not in BELOW or NUMBER.match(self.text, self.skip(), self.end):
            self.at = start
            return None
        name = self.name(self.attributes, "an attribute")
        index = self.index_of(name, self.attributes, "attribute")
        if self.declared[index].is_nominal:
            self.fail(f"attribute {name.text!r} is nominal, expected '=' and a category", name.start)
        second_at = self.skip()
        second = self.accept(COMPARISON)
        if second not in BELOW:
            self.at = second_at
            self.fail(f"expected '<' or '<=' and the upper end of the interval, found {self.found()}")
        # What is not below the lower end is above the number before it.
        above = self.threshold(lowest, start, operator != "<")
        at_most_at = self.skip()
        at_most = self.threshold(self.number(second), at_most_at, second == "<")
        if above >= at_most:
            self.fail(f"expected an interval that holds a number, found one that ends before {lowest}", at_most_at)
        return IntervalCondition(name.text, index, above, at_most)

    def numeric(self, name: str, index: int, operator: str, operator_at: int) -> NumericCondition:
        if operator in ("=", "==", *NOT_EQUAL):
            self.fail(f"attribute {name!r} is numeric, expected '<=' or '>', found {operator!r}", operator_at)
        start = self.skip()
        threshold = self.threshold(self.number(operator), start, operator in (">=", "≥", "<"))
        of_binary = self.declared[index].is_binary
        return NumericCondition(name, index, "<=" if operator in BELOW else ">", threshold, of_binary)

    def number(self, operator: str) -> str:
        found = self.accept(NUMBER)
        if found is None:
            self.fail(f"expected a number after {operator!r}, found {self.found()}")
        return found

    def threshold(self, found: str, start: int, right_below: bool) -> float:
        """The number, or the one right below it: no other lies between these two, so comparisons are the same."""
        threshold = float(found)
        if math.isinf(threshold):
            self.fail(f"expected a number that a double can hold, found {found!r}", start)
        return math.nextafter(threshold, -math.inf) if right_below else threshold

    def label_value(self, operator: str, operator_at: int) -> bool:
        """`label = 1` says the same as `label`."""
        start = self.skip()
        value = self.accept(NUMBER)
        if operator not in ("=", "==") or value not in ("0", "1"):
            at = operator_at if operator not in ("=", "==") else start
            self.fail("a label is compared with '= 1' or '= 0' only, or stands alone", at)
        return value == "1"

    # Pieces ----------------------------------------------------------------------------------------------------------

    def signed_name(self, known: Mapping[str, int], expected: str) -> tuple[bool, _Name]:
        """A name and whether it stands there without a sign of absence; a known name may begin like one."""
        present = bool(self.known_name(known)) or self.accept(NOT) is None
        return present, self.name(known, expected)

    def known_name(self, known: Mapping[str, int]) -> str:
        """The longest known name that stands here, without quotes; empty if none does."""
        chunk = CHUNK.match(self.text, self.skip(), self.end)
        ends = [word.end() for word in re.finditer(r"\S+", chunk.group())] if chunk else []
        candidates = (self.text[self.at : self.at + end] for end in reversed(ends))
        return next((c for c in candidates if c in known and not SAID_OF_NAMES.search(c)), "")

    def name(self, known: Mapping[str, int], expected: str) -> _Name:
        """The longest known name that stands here, or else what would have been one."""
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
        def replacement(match: re.Match[str]) -> str:
            code = match.group(1) or match.group(2) or match.group(3)
            if code and int(code, 16) < 0x110000:
                return chr(int(code, 16))
            if match.group(4) not in SIMPLE_ESCAPES:
                expected = 'expected \\", \\\\, \\n, \\r, \\t, \\x.. or \\u.... after a backslash'
                self.fail(expected, start + match.start())
            return SIMPLE_ESCAPES[match.group(4)]

        return ESCAPE.sub(replacement, text)

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
        """What stands here if it matches; go past it."""
        match = self.match(pattern)
        return None if match is None else match.group()

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The same, with its groups."""
        match = pattern.match(self.text, self.skip(), self.end)
        if match is not None:
            self.at = match.end()
        return match

    def found(self) -> str:
        """What stands here, for an error message."""
        rest = self.text[self.skip() : self.end]
        if not rest:
            return "the end of the text"
        word = re.match(r"[\w.]+|\S", rest)
        return repr(word.group() if word else rest[0])

    def fail(self, problem: str, at: int | None = None) -> NoReturn:
        raise RuleTextError(self.text, self.skip() if at is None else at, problem)
