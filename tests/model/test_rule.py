"""Rules as objects and as text."""

from __future__ import annotations

from dataclasses import replace

from helpers.rule_lists import make_rules
from plurule.model import (
    Assignment,
    Head,
    LabelCondition,
    OneOfCondition,
    RangeCondition,
    Rule,
)
from plurule.model.condition import format_count

RED, GREEN, WHITE = Assignment("red", 0, True), Assignment("green", 1, False), Assignment("white", 4, True)
COLOURS = RangeCondition("colours", 8, above=4.5)
EUROPE = OneOfCondition("landmass", 0, ("Europe",))
FLAG_RULE = Rule(Head((RED, WHITE)), (COLOURS, EUROPE), tp=166, fp=38, coverage=102, value=0.8, stop=False)


def test_a_rule_reads_as_head_body_and_counts():
    assert str(FLAG_RULE) == "red, white ← colours > 4.5 ∧ landmass = Europe   (TP 166, FP 38)"


def test_an_absent_label_is_written_with_a_negation_sign_in_heads_and_bodies():
    rule = Rule(Head((RED, GREEN)), (LabelCondition("white", 4, False),), tp=1, fp=0, stop=True)
    assert str(rule) == "red, ¬green ← ¬white   (TP 1, FP 0, stop)"


def test_a_rule_without_conditions_ends_at_the_arrow():
    assert Rule(Head((RED,))).to_text() == "red ←"


def test_fractional_counts_keep_their_fraction():
    assert str(Rule(Head((RED,)), tp=2.5, fp=1)) == "red ←   (TP 2.5, FP 1)"


def test_sums_of_weights_are_written_without_the_noise_of_adding_them_up() -> None:
    rule = Rule(Head((RED,)), (), tp=0.1 + 0.2, fp=sum([0.7, 0.1, 0.3]))
    assert str(rule) == "red ←   (TP 0.3, FP 1.1)"
    assert [format_count(c) for c in (0.30000000000000027, 2.0, 10**15, 1e-3, 1 / 3)] == [
        "0.3", "2", "1000000000000000", "0.001", "0.333333333333"
    ]  # fmt: skip


def test_equal_parts_make_equal_rules():
    assert RangeCondition("colours", 8, above=4.5) == COLOURS
    assert RangeCondition("colours", 8, at_most=4.5) != COLOURS
    assert hash(Rule(Head((RED,)), (COLOURS,), tp=1)) == hash(Rule(Head((RED,)), (COLOURS,), tp=1))


def test_a_rule_shows_what_it_is_besides() -> None:
    head = Head((Assignment("red", 0, True),))
    assert str(Rule(head, tp=1, fp=2, stop=True)) == "red ←   (TP 1, FP 2, stop)"
    assert str(Rule(head, tp=1, fp=2, locked=True)) == "red ←   (TP 1, FP 2, locked)"
    assert str(Rule(head, tp=1, fp=2, stop=True, locked=True)) == "red ←   (TP 1, FP 2, stop, locked)"


def test_rule_shows_counts_per_label_in_the_order_of_the_head() -> None:
    rules = make_rules("billing, refund <- card\nrefund <-", {"card": ("no", "yes")}, ("billing", "refund"))
    rule = replace(rules[0], tp=890, fp=908, decided=((635, 264), (255, 644)))
    assert str(rule).endswith("(TP 890, FP 908; billing 635/264, refund 255/644)")
    assert rules.parse(str(rule)).to_text() == rule.to_text()
    assert replace(rules[1], decided=((3, 4),)).counts_by_label() == ""
    shown = replace(rules, rules=(rule,))
    for text in (str(shown), shown.to_markdown(), shown.to_latex(), shown._repr_html_(), shown.to_html()):
        assert "billing 635/264, refund 255/644" in text
