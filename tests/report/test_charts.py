"""Drawings: everything stays inside of its frame."""

from __future__ import annotations

from helpers.rule_lists import labels_for, random_rule_list
from plurule.report.charts import draw_curves, draw_graph, draw_map
from plurule.report.summary import summarise


def test_drawings_stay_in_their_frames() -> None:
    rule_list, table = random_rule_list(5, n_rules=40, n_labels=20)
    summary = summarise(rule_list, table, labels_for(table, rule_list))
    curves, graph = draw_curves(summary.curves), draw_graph(summary.graph)
    assert curves is not None
    assert graph is not None
    frame = curves.frame
    for line in curves.lines:
        points = [tuple(map(float, point.split(","))) for point in line.path[1:].split(" ")]
        assert all(frame.left <= x <= frame.right and frame.top <= y <= frame.bottom for x, y in points)
    assert all(0 < n.x < graph.width and 0 < n.y < graph.height for n in graph.nodes)
    heat_map = draw_map(summary.maps[0])
    half = heat_map.cell / 2
    assert all(heat_map.margin <= m - half and m + half < heat_map.size for m in heat_map.middles)
    assert all(0 <= share <= 1 for row in heat_map.map.shares for share in row)
