"""Rules from text: what is printed is read back, and what cannot be read is pointed at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.rule_lists import HOSTILE_NAMES, make_rules, random_rule_list
from plurule.errors import ModelError
from plurule.model import (
    Attribute,
    OneOfCondition,
    RangeCondition,
    Rule,
    RuleList,
)
from plurule.model.text import RuleTextError, parse, parse_rules, write, write_rules

ATTRIBUTES = [
    Attribute("stripes"),
    Attribute("bars"),
    Attribute("main hue", ("red", "dark blue")),
    Attribute("continent", ("Africa", "Asia", "North America")),
]
LABELS = ["red", "blue", "Brown Creeper", "black and white"]


def said(rule: Rule) -> Rule:
    """The rule without its counts."""
    return replace(rule, tp=0, fp=0, coverage=0, value=0.0, decided=())


def read(text: str) -> str:
    return parse(text, ATTRIBUTES, LABELS).to_text()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("red, ¬blue <- stripes > 2 and continent = Asia", "red, ¬blue ← stripes > 2 ∧ continent = Asia"),
        ("red ← stripes ≤ 2 ∧ bars > -1.5e-3", "red ← stripes <= 2 ∧ bars > -0.0015"),
        ("not blue <-", "¬blue ←"),
        ("!blue<-red&¬Brown Creeper", "¬blue ← red ∧ ¬Brown Creeper"),
        ("Brown Creeper <- main hue = dark blue AND stripes<=0", "Brown Creeper ← main hue = dark blue ∧ stripes <= 0"),
        ("blue <- black and white and red", "blue ← black and white ∧ red"),
        ("blue <- continent = North America and not red", "blue ← continent = North America ∧ ¬red"),
        ('"blue" <- "stripes" > 1 and "continent" == "Asia"', "blue ← stripes > 1 ∧ continent = Asia"),
        ("blue <- red and stripes ≥ 2", "blue ← red ∧ stripes >= 2"),
        ("blue, red <- stripes > 1   (TP 166, FP 38, stop)", "red, blue ← stripes > 1"),
        ("  red<-stripes>.5  ", "red ← stripes > 0.5"),
        ("red <- continent != Asia and stripes IS  Missing", "red ← continent ≠ Asia ∧ stripes is missing"),
        ("red <- continent in{Asia,North America} and blue", "red ← continent in {Asia, North America} ∧ blue"),
        ("red <- continent not  in {Asia, Africa}", "red ← continent not in {Asia, Africa}"),
        (
            'red <- "continent" is known and main hue not in {"dark blue"}',
            "red ← continent is known ∧ main hue ≠ dark blue",
        ),
    ],
)
def test_a_rule_is_read_from_text(text: str, meant: str) -> None:
    assert read(text) == meant


def test_marks_after_a_rule_are_read() -> None:
    assert parse("red <- stripes > 1 [stop]", ATTRIBUTES, LABELS).stop
    both = parse("red <- [stop, locked]", ATTRIBUTES, LABELS)
    assert both.stop
    assert both.locked
    printed = parse("red <- stripes > 1   (TP 1, FP 0, stop, locked)", ATTRIBUTES, LABELS)
    assert printed.stop
    assert printed.locked
    assert not parse("red <- stripes > 1", ATTRIBUTES, LABELS).stop
    assert write(both) == "red ← [stop, locked]"


def test_strict_comparisons_become_the_same_test_on_the_next_smaller_number() -> None:
    at_least, below = (parse(f"red <- stripes {op} 2", ATTRIBUTES, LABELS).body[0] for op in (">=", "<"))
    assert at_least == RangeCondition("stripes", 0, above=1.9999999999999998)
    assert below == RangeCondition("stripes", 0, at_most=1.9999999999999998)
    assert [str(at_least), str(below)] == ["stripes >= 2", "stripes < 2"]


def test_an_interval_is_one_condition() -> None:
    (between,) = parse("red <- 1.5 < stripes <= 4", ATTRIBUTES, LABELS).body
    assert between == RangeCondition("stripes", 0, 1.5, 4.0)
    (whole,) = parse("red <- 2 ≤ stripes < 4", ATTRIBUTES, LABELS).body
    assert str(whole) == "2 <= stripes < 4"
    assert isinstance(whole, RangeCondition)
    assert whole.above < 2 <= whole.at_most < 4


def test_names_that_look_like_numbers_are_told_from_the_ends_of_intervals() -> None:
    known = [Attribute("3"), Attribute("5")]
    body = parse('red <- 3 <= 5 and 3 <= "5" <= 7', known, LABELS).body
    assert body == (RangeCondition("3", 0, at_most=5.0), parse('red <- 3 <= "5" <= 7', known, LABELS).body[0])
    assert str(body[1]) == '3 <= "5" <= 7'


def test_attributes_that_instances_have_or_not_are_words() -> None:
    known = [Attribute("apple", only_0_and_1=True), Attribute("smokes", ("yes", "no")), Attribute("no apple")]
    body = parse('red <- "apple" and no "smokes" and not apple and no apple > 2 and apple <= 3', known, LABELS).body
    assert body == (
        RangeCondition("apple", 0, above=0.5),
        OneOfCondition("smokes", 1, ("no",)),
        RangeCondition("apple", 0, at_most=0.5),
        RangeCondition("no apple", 2, above=2.0),
        RangeCondition("apple", 0, at_most=3.0),
    )
    said = ['"apple"', 'no "smokes"', 'no "apple"', "no apple > 2", "apple <= 3"]
    assert [str(condition) for condition in body] == said
    compared = parse("red <- smokes = yes and apple > 0.5 and apple <= 0.5", known, LABELS).body
    assert [str(condition) for condition in compared] == ['"smokes"', '"apple"', 'no "apple"']


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 0, "expected a label, found the end of the text"),
        ("red", 3, "expected ',' and another label, or '<-' and the body, found the end of the text"),
        ("red, <- stripes > 1", 5, "expected a label, found '<'"),
        ("red, red <-", 5, "label 'red' is in the head twice, expected each label once"),
        ("rde <- stripes > 1", 0, "there is no label 'rde'; did you mean 'red'?"),
        ("stripes <- red", 0, "there is no label 'stripes' (there is an attribute of that name, but a head"),
        ("red <- strips > 1", 7, "there is no attribute 'strips'; did you mean 'stripes'?"),
        ("red <- strips", 7, "there is no label or attribute 'strips'; did you mean 'stripes'?"),
        ("red <- stripes", 14, "expected '<=' or '>' after attribute 'stripes', found the end of the text"),
        (
            "red <- continent",
            16,
            "expected '=', '≠' or 'in {…}' after attribute 'continent', found the end of the text",
        ),
        ("red <- strips AND bars > 1", 7, "there is no label or attribute 'strips'; did you mean 'stripes'?"),
        ('red <- "strips" > 1', 7, "there is no attribute 'strips'; did you mean 'stripes'?"),
        ("red <- stripes > two", 17, "expected a number after '>', found 'two'"),
        ("red <- stripes > 2x", 17, "expected a number after '>', found '2x'"),
        ("red <- stripes > 1e999", 17, "expected a number that a double can hold, found '1e999'"),
        ("red <- stripes > nan", 17, "expected a number after '>', found 'nan'"),
        ("red <- stripes = 2", 15, "attribute 'stripes' is numeric, expected '<=' or '>', found '='"),
        ("red <- stripes == 2", 15, "attribute 'stripes' is numeric, expected '<=' or '>', found '=='"),
        ("red <- stripes in {2}", 15, "attribute 'stripes' is numeric, expected '<=' or '>', found 'in'"),
        ("red <- stripes ≠ 2", 15, "attribute 'stripes' is numeric, expected '<=' or '>', found '≠'"),
        ("red <- continent in {}", 21, "expected a category of 'continent', found '}'"),
        ("red <- continent in {Asia, Asia}", 27, "category 'Asia' is listed twice, expected each once"),
        ("red <- continent in {Asia, Africa, Asia}", 35, "category 'Asia' is listed twice, expected each once"),
        ("red <- continent in {Asia", 25, "expected ',' and another category of 'continent', or '}', found the end"),
        ("red <- continent in {Asja}", 21, "attribute 'continent' has no category 'Asja'; did you mean 'Asia'?"),
        ("red <- ¬continent in {Asia}", 8, "only labels can be negated"),
        ("red <- red is missing", 7, "there is no attribute 'red'"),
        ("red <- continent > 2", 17, "attribute 'continent' is nominal, expected '=' or '≠', found '>'"),
        ("red <- continent = Asien", 19, "attribute 'continent' has no category 'Asien'; did you mean 'Asia'?"),
        ("red <- stripes > 1 bars > 2", 19, "expected 'and' or the end of the rule, found 'bars'"),
        ("red <- stripes > 1 and", 22, "expected a condition, found the end of the text"),
        ("red <- not stripes > 1", 11, "only labels can be negated"),
        ("red <- blue > 1", 7, "there is no attribute 'blue'"),
        ("red <- blue = 1", 7, "there is no attribute 'blue'"),
        ('red <- stripes > 1 and "bars > 1', 23, "expected '\"' at the end of this quoted name"),
        ('red <- "stripes > 1', 7, "expected '\"' at the end of this quoted name"),
        ("red <- 1 < stripes", 18, "expected '<' or '<=' and the upper end of the interval, found the end of the text"),
        ("red <- 1 < stripes > 2", 19, "expected '<' or '<=' and the upper end of the interval, found '>'"),
        ("red <- 2 < stripes < 1", 21, "expected an interval that holds a number, found one that ends before 2"),
        ("red <- 2 < stripes <= 2", 22, "expected an interval that holds a number, found one that ends before 2"),
        ("red <- 1 < > 2", 11, "expected an attribute, found '>'"),
        ("red <- 1e999 < stripes < 2", 7, "expected a number that a double can hold, found '1e999'"),
        ("red <- 1 < stripes < 1e999", 21, "expected a number that a double can hold, found '1e999'"),
        ("red <- 1 < stripes < two", 21, "expected a number after '<', found 'two'"),
        ("red <- 1 < continent < 2", 11, "attribute 'continent' is nominal, expected '=' and a category"),
        ("red <- 1 < strips <= 2", 11, "there is no attribute 'strips'; did you mean 'stripes'?"),
        (r'red <- "str\qipes" > 1', 11, 'expected \\", \\\\, '),
    ],
)
def test_a_text_that_is_no_rule_says_where_and_what_was_expected(text: str, position: int, problem: str) -> None:
    with pytest.raises(RuleTextError) as caught:
        parse(text, ATTRIBUTES, LABELS)
    assert str(caught.value).startswith(f"character {position + 1}: {problem}")
    assert caught.value.position == position
    assert str(caught.value).split("\n")[-1] == "    " + " " * position + "^"


def test_several_rules_are_read_one_per_line_and_errors_name_the_line() -> None:
    rules = parse_rules("  # what experts know\nred <- stripes > 1\n\n  blue <- red\n", ATTRIBUTES, LABELS)
    assert [rule.to_text() for rule in rules] == ["red ← stripes > 1", "blue ← red"]
    with pytest.raises(ModelError, match="line 2, character 1: there is no label 'reed'"):
        parse_rules("red <-\nreed <-", ATTRIBUTES, LABELS)


def test_a_list_is_read_back_whatever_its_first_label_is_called() -> None:
    for name in ("# no comment", "no", "Not", "!x"):
        rule_list = make_rules("", {}, (name, "red"))
        rule_list = replace(rule_list, rules=(rule_list.parse(f'"{name}", ¬red <-'),))
        assert parse_rules(write_rules(rule_list), (), rule_list.labels) == rule_list.rules


def test_the_sign_of_absence_is_told_from_a_name_that_reads_like_it() -> None:
    attributes = [Attribute("sun", only_0_and_1=True), Attribute("no")]
    (absent,) = parse('red <- no "sun"', attributes, ["red"]).body
    assert absent.text() == 'no "sun"'
    (named,) = parse("red <- no > 2", attributes, ["red"]).body
    assert named.text() == '"no" > 2'


def assert_read_back(rule_list: RuleList) -> None:
    for rule in rule_list:
        names = rule_list.attributes, rule_list.labels
        assert parse(write(rule), *names) == said(rule)
        assert parse(str(rule), *names) == said(rule)
        assert parse(rule.to_text(), *names) == replace(said(rule), stop=False, locked=False)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_printed_is_read_back_whatever_the_names(seed: int) -> None:
    assert_read_back(random_rule_list(seed)[0])
    assert_read_back(random_rule_list(seed, HOSTILE_NAMES)[0])


@given(st.lists(st.text(min_size=1), min_size=26, max_size=26, unique=True), st.integers(0, 1000))
def test_names_of_any_characters_are_read_back(names: list[str], seed: int) -> None:
    assert_read_back(random_rule_list(seed, names, n_rules=4)[0])


def test_printed_rules_hold_no_line_breaks_and_no_marks_of_direction() -> None:
    rule_list, _ = random_rule_list(3, HOSTILE_NAMES, n_rules=40)
    text = str(rule_list)
    assert len(text.split("\n")) == len(rule_list)
    assert all(c.isprintable() or c == "\n" for c in text)


def test_a_name_that_is_an_attribute_and_a_label_is_understood_by_its_use() -> None:
    rules = make_rules("red <-\nblue <- red and red > 2", {"red": None}, ("red", "blue"))
    assert [type(c).__name__ for c in rules[1].body] == ["LabelCondition", "RangeCondition"]
