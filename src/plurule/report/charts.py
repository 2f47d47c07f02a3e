"""Where the marks of a drawing go: numbers in, coordinates out. Templates turn them into SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

from plurule.inspection.dependencies import KINDS
from plurule.inspection.label_graph import LabelGraph
from plurule.report.frame import Frame, path
from plurule.report.summary import Bars, Curve, HeatMap

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
class Bar:
    """One value and how often it occurs."""

    name: str
    count: int
    share: float
    """Of the longest bar."""


@dataclass(frozen=True, slots=True)
class BarDrawing:
    """Bars side by side."""

    name: str
    axis: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair of labels."""

    x: float
    y: float
    share: float
    count: int
    row: str
    column: str


@dataclass(frozen=True, slots=True)
class MapDrawing:
    """A square of cells, with names at its left and on top."""

    name: str
    size: int
    left: int
    top: int
    cell: int
    names: tuple[tuple[str, float], ...]
    cells: tuple[Cell, ...]


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

    kind: str
    kind_number: int
    """Of the kinds that occur, counted from 1."""
    path: str
    width: float
    directed: bool
    source: str
    target: str
    ends: tuple[int, int]
    """Places of the two among the nodes."""
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """Labels and what rules say about them."""

    width: int
    height: int
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    kinds: tuple[tuple[str, str], ...]
    """The kinds that occur, and what they say."""


def draw_curves(curves: tuple[Curve, ...]) -> CurveDrawing | None:
    """Curves over the number of rules."""
    if not curves:
        return None
    most = len(curves[0].values) - 1
    marks = tuple((share / 100, f"{share} %") for share in range(0, 101, 20))
    frame = Frame(first=0, last=most, low=0.0, span=1.0, marks=marks)
    lines = []
    for curve in curves:
        points = frame.points(curve.values)
        lines.append(Line(curve.name, path(points), points[-1], curve.values[-1]))
    counts = sorted({round(i * most / 10) for i in range(11)})
    return CurveDrawing(
        frame,
        tuple(lines),
        tuple((count, tuple(curve.values[count] for curve in curves)) for count in counts),
    )


def draw_bars(bars: Bars) -> BarDrawing:
    """Bars as long as their counts."""
    most = max((count for _, count in bars.values), default=1)
    return BarDrawing(bars.name, bars.axis, tuple(Bar(name, count, count / most) for name, count in bars.values))


def draw_map(heat_map: HeatMap) -> MapDrawing:
    """Cells of a heat map; the diagonal is left out."""
    longest = max((len(name) for name in heat_map.labels), default=0)
    margin = min(16 + 7 * longest, 125)
    cell = min(max(MAP_WIDTH // max(len(heat_map.labels), 1), 13), 40)
    middles = tuple((name, margin + cell * (i + 0.5)) for i, name in enumerate(heat_map.labels))
    cells = tuple(
        Cell(margin + cell * j, margin + cell * i, round(heat_map.shares[i][j], 4), heat_map.counts[i][j], row, column)
        for i, row in enumerate(heat_map.labels)
        for j, column in enumerate(heat_map.labels)
        if i != j
    )
    size = margin + cell * len(heat_map.labels) + 4
    return MapDrawing(heat_map.name, size, margin, margin, cell, middles, cells)


def draw_graph(graph: LabelGraph) -> GraphDrawing | None:
    """Nodes where the layout puts them, edges as curves between their rims."""
    if not graph.edges:
        return None
    said = dict.fromkeys(graph.labels, 0)
    for edge in graph.edges:
        said[edge.source] += 1
        said[edge.target] += 1
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
    kinds = [kind for kind in KINDS if any(edge.kind == kind for edge in graph.edges)]
    number: dict[str, int] = {kind: i for i, kind in enumerate(kinds, start=1)}
    place = {name: i for i, name in enumerate(nodes)}
    links = tuple(
        Link(
            edge.kind,
            number[edge.kind],
            _curved(nodes[edge.source], nodes[edge.target], 0.12 * number[edge.kind], centre),
            round(min(1.2 + 0.6 * math.log2(len(edge.rules)), 5), 2),
            edge.is_directed,
            edge.source,
            edge.target,
            (place[edge.source], place[edge.target]),
            edge.rules,
        )
        for edge in graph.edges
    )
    described = tuple((kind, KINDS[kind]) for kind in kinds)
    return GraphDrawing(GRAPH_WIDTH, height, tuple(nodes.values()), links, described)


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
