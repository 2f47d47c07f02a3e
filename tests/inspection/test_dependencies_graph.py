"""The graph of what rules say about labels: what it connects, where labels are drawn, and the language of Graphviz."""

from __future__ import annotations

import numpy as np

from helpers.rule_lists import make_rules, random_rule_list
from plurule.inspection.dependencies import LabelGraph, dependencies

LABELS = ("red", "white", "blue")


RULES = "red, white, ¬blue <- x > 2\nblue <- red\n¬white <- red and x > 1\nred <- ¬white\n¬red, ¬blue <- x <= 0"


def test_the_graph_connects_the_labels_that_rules_relate() -> None:
    graph = dependencies(make_rules(RULES, {"x": None}, LABELS)).to_graph()
    edges = {(e.source, e.target, e.kind, e.is_directed, e.rules) for e in graph.edges}
    assert edges == {
        ("red", "white", "co-occurrence", False, (1,)),
        ("red", "blue", "exclusion", False, (1,)),
        ("white", "blue", "exclusion", False, (1,)),
        ("red", "blue", "implication", True, (2,)),
        ("red", "white", "exclusion", True, (3,)),
        ("white", "red", "alternative", True, (4,)),
    }
    assert graph.connected == LABELS


def test_an_exclusion_in_a_head_leads_from_the_present_to_the_absent_label() -> None:
    graph = dependencies(make_rules("¬red, white <-", {}, LABELS)).to_graph()
    assert [(e.source, e.target) for e in graph.edges] == [("white", "red")]


def test_the_layout_is_the_same_every_time_and_keeps_labels_apart() -> None:
    graph = dependencies(random_rule_list(4, n_rules=40, n_labels=12)[0], joint_absence=True).to_graph()
    places = graph.layout()
    assert places == graph.layout()
    points = np.array(list(places.values()))
    assert ((points >= 0) & (points <= 1)).all()
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert distances[~np.eye(len(points), dtype=bool)].min() > 0.02


def test_the_largest_part_keeps_what_most_is_said_about() -> None:
    graph = dependencies(
        make_rules("b <- a\nc <- b and x > 1\nc <- b and x > 2", {"x": None}, tuple("abcd"))
    ).to_graph()
    part = graph.largest(labels=2, edges=1)
    assert part.labels == ("b", "c")
    assert [e.rules for e in part.edges] == [(2, 3)]


def test_few_labels_are_placed_too() -> None:
    assert LabelGraph((), ()).layout() == {}
    assert LabelGraph(("a",), ()).layout() == {"a": (0.5, 0.5)}
