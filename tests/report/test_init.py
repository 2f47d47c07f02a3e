"""A report as a page: labels without rules, and classes."""

from __future__ import annotations

import numpy as np

from helpers.rule_lists import make_rules
from plurule.relaxed_pruning import RelaxedPruningClassifier
from plurule.report import to_html


def test_labels_that_no_rule_predicts_are_named() -> None:
    rule_list = make_rules("a <- x > 1\n!b <- x > 2", {"x": None}, ("a", "b", "c<"))
    assert "No rule predicts b, c&lt; to be present" in to_html(rule_list)
    assert "to be present: too rare" not in to_html(make_rules("a <- x > 1", {"x": None}, ("a",)))


def test_what_another_class_implies_is_not_shown_in_the_table_of_rules() -> None:
    classifier = RelaxedPruningClassifier(max_rules=3).fit(np.arange(9.0)[:, None], list("aaabbbccc"))
    html = to_html(classifier.rule_list_)
    assert "¬" not in html.split("<tbody>", 1)[1].split("</tbody>", 1)[0]
