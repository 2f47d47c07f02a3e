"""Where the marks of a drawing go: numbers in, coordinates out. Templates turn them into SVG."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from plurule.inspection.dependencies import KINDS
from plurule.inspection.label_graph import Edge, LabelGraph
from plurule.report.frame import Frame, path
from plurule.report.summary import HeatMap

MAP_WIDTH = 400
GRAPH_WIDTH = 900


@dataclass(frozen=True, slots=True)
class Line:
    """A curve as an SVG path."""

    name: str
    path: str
    end: tuple[float, float]
    last: float


@dataclass(frozen=True, slots=True)
class CurveDrawing:
    """Shares over the number of rules."""

    frame: Frame
    lines: tuple[Line, ...]
    samples: tuple[tuple[int, tuple[float, ...]], ...]
    """After some numbers of rules: the values of all curves, to be read as a table."""


@dataclass(frozen=True, slots=True)
class MapDrawing:
    """A square of cells, with names at its left and on top."""

    map: HeatMap
    size: int
    margin: int
    cell: int
    middles: tuple[float, ...]
    """Where the middle of each row, and of each column, lies."""


@dataclass(frozen=True, slots=True)
class Node:
    """A label in the graph."""

    name: str
    x: float
    y: float
    radius: float
    text_x: float
    text_y: float
    anchor: str
    """Where its name stands: on the side with fewer edges, outside of a circle."""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge in the graph."""

    edge: Edge
    kind_number: int
    """Of the kinds that occur, counted from 1."""
    path: str
    width: float
    ends: tuple[int, int]
    """Places of the two among the nodes."""


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Labels and what rules say about them."""

    width: int
    height: int
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    kinds: tuple[tuple[str, str], ...]
    """The kinds that occur, and what they say."""


def draw_curves(curves: dict[str, list[float]]) -> CurveDrawing | None:
    """Curves over the number of rules."""
    if not curves:
        return None
    most = len(next(iter(curves.values()))) - 1
    marks = tuple((share / 100, f"{share} %") for share in range(0, 101, 20))
    frame = Frame(first=0, last=most, low=0.0, span=1.0, marks=marks)
    points = {name: frame.points(values) for name, values in curves.items()}
    lines = tuple(Line(name, path(points[name]), points[name][-1], values[-1]) for name, values in curves.items())
    counts = sorted({round(i * most / 10) for i in range(11)})
    samples = tuple((count, tuple(values[count] for values in curves.values())) for count in counts)
    return CurveDrawing(frame, lines, samples)


def draw_map(heat_map: HeatMap) -> MapDrawing:
    """Where the cells of a heat map go."""
    count = len(heat_map.labels)
    margin = min(16 + 7 * max((len(name) for name in heat_map.labels), default=0), 125)
    cell = min(max(MAP_WIDTH // max(count, 1), 13), 40)
    middles = tuple(margin + cell * (i + 0.5) for i in range(count))
    return MapDrawing(heat_map, margin + cell * count + 4, margin, cell, middles)


def draw_graph(graph: LabelGraph) -> GraphDrawing | None:
    """Nodes where the layout puts them, edges as curves between their rims."""
    if not graph.edges:
        return None
    said = Counter(name for edge in graph.edges for name in edge.ends)
    most = max(said.values())
    margin = 195 if graph.is_round else 70
    height = 640 if graph.is_round else 240 + 20 * len(graph.labels)
    places = {
        name: (margin + x * (GRAPH_WIDTH - 2 * margin), 40 + y * (height - 80))
        for name, (x, y) in graph.layout().items()
    }
    upwards = dict.fromkeys(graph.labels, 0.0)
    for edge in graph.edges:
        rise = places[edge.source][1] - places[edge.target][1]
        upwards[edge.source] += rise
        upwards[edge.target] -= rise
    centre = (GRAPH_WIDTH / 2, height / 2) if graph.is_round else None
    nodes = {}
    for name, (x, y) in places.items():
        radius = 6 + 8 * math.sqrt(said[name] / most)
        anchor, text_x, text_y = "middle", x, y + radius + 14 if upwards[name] > 0 else y - radius - 5
        if centre is not None and abs(x - centre[0]) > 30:
            anchor = "start" if x > centre[0] else "end"
            text_x, text_y = x + (radius + 5 if x > centre[0] else -radius - 5), y + 4
        places_of_text = round(text_x, 1), round(text_y, 1)
        nodes[name] = Node(name, round(x, 1), round(y, 1), round(radius, 1), *places_of_text, anchor)
    kinds: list[str] = [kind for kind in KINDS if any(edge.kind == kind for edge in graph.edges)]
    place = {name: i for i, name in enumerate(nodes)}
    links = []
    for edge in graph.edges:
        number = kinds.index(edge.kind) + 1
        curve = _curved(nodes[edge.source], nodes[edge.target], 0.12 * number, centre)
        width = round(min(1.2 + 0.6 * math.log2(len(edge.rules)), 5), 2)
        links.append(Link(edge, number, curve, width, (place[edge.source], place[edge.target])))
    described = tuple((kind, text) for kind, text in KINDS.items() if kind in kinds)
    return GraphDrawing(GRAPH_WIDTH, height, tuple(nodes.values()), tuple(links), described)


def _curved(source: Node, target: Node, bend: float, centre: tuple[float, float] | None) -> str:
    """A curve that bends to its right, so that there and back, and several kinds, can be told apart.

    On a circle it bends towards the centre, past the nodes between.
    """
    dx, dy = target.x - source.x, target.y - source.y
    middle = (source.x + target.x) / 2 - dy * bend, (source.y + target.y) / 2 + dx * bend
    if centre is not None:
        middle = (middle[0] + centre[0]) / 2, (middle[1] + centre[1]) / 2
    start = _rim(source, middle, 1)
    end = _rim(target, middle, 5)
    return f"M{start[0]:g},{start[1]:g}Q{middle[0]:.1f},{middle[1]:.1f} {end[0]:g},{end[1]:g}"


def _rim(node: Node, towards: tuple[float, float], gap: float) -> tuple[float, float]:
    dx, dy = towards[0] - node.x, towards[1] - node.y
    distance = math.hypot(dx, dy) or 1.0
    reach = (node.radius + gap) / distance
    return round(node.x + dx * reach, 1), round(node.y + dy * reach, 1)
