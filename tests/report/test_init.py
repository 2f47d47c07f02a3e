"""A report as a page: what it says of labels without rules and of classes, and what is said where Jinja2 lacks."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from helpers.rule_lists import make_rules, random_rule_list
from plurule.inspection.dependencies import dependencies
from plurule.relaxed_pruning import RelaxedPruningClassifier
from plurule.report import render, to_html


def test_without_jinja2_a_report_says_what_to_install_and_a_notebook_shows_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def without_jinja2(name: str, *arguments: Any, **named: Any) -> Any:
        if name.startswith("jinja2"):
            raise ImportError(name)
        return real(name, *arguments, **named)

    render.environment.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without_jinja2)
    rule_list, _ = random_rule_list(1)
    try:
        with pytest.raises(ImportError, match=r"reports need Jinja2: pip install 'plurule\[report\]'"):
            rule_list.to_html()
        assert rule_list._repr_html_() is None
        assert dependencies(rule_list).to_graph()._repr_html_() is None
    finally:
        monkeypatch.undo()
        render.environment.cache_clear()


def test_labels_that_no_rule_predicts_are_named() -> None:
    rule_list = make_rules("a <- x > 1\n!b <- x > 2", {"x": None}, ("a", "b", "c<"))
    assert "No rule predicts b, c&lt; to be present" in to_html(rule_list)
    assert "to be present: too rare" not in to_html(make_rules("a <- x > 1", {"x": None}, ("a",)))


def test_what_another_class_implies_is_not_shown_in_the_table_of_rules() -> None:
    classifier = RelaxedPruningClassifier(max_rules=3).fit(np.arange(9.0)[:, None], list("aaabbbccc"))
    html = to_html(classifier.rule_list_)
    assert "¬" not in html.split("<tbody>", 1)[1].split("</tbody>", 1)[0]
