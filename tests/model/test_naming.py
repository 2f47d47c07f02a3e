"""How names are written where people read them."""

from __future__ import annotations

import pytest

from helpers.rule_lists import HOSTILE_NAMES, random_rule_list
from plurule._prediction.apply import decide


@pytest.mark.parametrize("seed", range(10))
def test_no_control_character_of_a_name_reaches_the_terminal(seed: int) -> None:
    rule_list, table = random_rule_list(seed, HOSTILE_NAMES)
    truth = decide(rule_list, table).labels()
    edited = rule_list.edit(table, truth).remove(1)
    dependencies = rule_list.dependencies(table, truth, joint_absence=True)
    shown = [
        rule_list, *rule_list, rule_list.explain(table), dependencies, edited,
        edited.diff(), rule_list.simplify(table, truth), *rule_list.check(), rule_list.to_markdown(),
        rule_list.to_latex(), rule_list.to_python(),
    ]  # fmt: skip
    for text in [*map(str, shown), *map(repr, shown[:-4])]:
        assert text.replace("\n", "").isprintable(), [c for c in text if not c.isprintable()]
