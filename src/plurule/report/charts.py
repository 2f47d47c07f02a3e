"""Coordinates of the marks of a drawing; templates turn them into SVG."""

from __future__ import annotations

import math
import operator
from collections import Counter, namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from plurule.inspection.dependencies import KINDS, LabelGraph
from plurule.model import LengthChoice
from plurule.report.summary import HeatMap

MAP_WIDTH = 400
GRAPH_WIDTH = 900
MARGIN = 0.08
"""Space above and below the curve of scores, as a share of the height."""

Tick: TypeAlias = tuple[float, str]
"""A mark on an axis: where it is, and what stands there."""

# What templates draw. Samples are values after some numbers of rules, to be read as a table.
Line = namedtuple("Line", "name path end last")
CurveDrawing = namedtuple("CurveDrawing", "frame lines samples")
LengthDrawing = namedtuple("LengthDrawing", "frame path band cut choice samples")
MapDrawing = namedtuple("MapDrawing", "map size margin cell middles")
Node = namedtuple("Node", "name x y radius text_x text_y anchor")
Link = namedtuple("Link", "edge kind_number path width ends")
GraphDrawing = namedtuple("GraphDrawing", "width height nodes links kinds")


@dataclass(frozen=True, slots=True)
class Frame:
    """Rules from `first` to `last` go from left to right, values from `low` on over a `span` from bottom to top."""

    first: int
    last: int
    low: float
    span: float
    marks: tuple[tuple[float, str], ...]
    """Values with a tick on the upright axis, and what stands there."""
    width: int = 720
    height: int = 300
    left: int = 62
    right: int = 708
    top: int = 12
    bottom: int = 254

    @property
    def x_ticks(self) -> tuple[Tick, ...]:
        counts = (self.first, *(count for count in round_steps(self.last) if count > self.first))
        return tuple((self.x(count), str(count)) for count in counts)

    @property
    def y_ticks(self) -> tuple[Tick, ...]:
        return tuple((self.y(value), text) for value, text in self.marks)

    def x(self, count: int) -> float:
        """Return how far right a number of rules lies."""
        return round(self.left + (self.right - self.left) * (count - self.first) / max(self.last - self.first, 1), 2)

    def y(self, value: float) -> float:
        """Return how far down a value lies."""
        return round(self.bottom - (self.bottom - self.top) * (value - self.low) / self.span, 2)

    def points(self, values: Sequence[float]) -> list[tuple[float, float]]:
        """Return the points of the values of the first, second, third … number of rules."""
        return [(self.x(count), self.y(value)) for count, value in enumerate(values, start=self.first)]


def path(points: Sequence[tuple[float, float]]) -> str:
    """Return a line through points, as SVG writes it.

    >>> path([(46, 12), (50.25, 20)])
    'M46,12 50.25,20'
    """
    return "M" + " ".join(f"{x:g},{y:g}" for x, y in points)


def round_steps(most: int) -> list[int]:
    """Whole numbers from 0 to at most `most`, about five, with round steps.

    >>> round_steps(23), round_steps(3)
    ([0, 5, 10, 15, 20], [0, 1, 2, 3])
    """
    step, factors = 1, (2, 5, 10)
    while most > 6 * step:
        scale = 10 ** (len(str(step)) - 1)
        step = next(scale * factor for factor in factors if scale * factor > step)
    return list(range(0, most + 1, step))


def score_steps(low: float, high: float) -> list[float]:
    """Round numbers between two scores, about five.

    >>> score_steps(0.31, 0.78)
    [0.4, 0.5, 0.6, 0.7]
    """
    step = 10 ** math.floor(math.log10((high - low) / 2))
    while (high - low) / step > 6:
        step *= 2 if (high - low) / step <= 12 else 5
    return [round(i * step, 10) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def draw_curves(curves: dict[str, list[float]]) -> CurveDrawing | None:
    """Return shares over the number of rules."""
    if not curves:
        return None
    most = len(next(iter(curves.values()))) - 1
    marks = tuple((share / 100, f"{share} %") for share in range(0, 101, 20))
    frame = Frame(first=0, last=most, low=0.0, span=1.0, marks=marks)
    points = {name: frame.points(values) for name, values in curves.items()}
    lines = tuple(Line(name, path(points[name]), points[name][-1], values[-1]) for name, values in curves.items())
    counts = sorted({round(i * most / 10) for i in range(11)})
    return CurveDrawing(frame, lines, tuple((n, tuple(values[n] for values in curves.values())) for n in counts))


def draw_length(choice: LengthChoice | None) -> LengthDrawing | None:
    """Return the scores of lists of each length, with a band of one standard error, and where the list was cut."""
    if choice is None:
        return None
    most = len(choice.mean)
    low, high = (list(map(side, choice.mean, choice.standard_error)) for side in (operator.sub, operator.add))
    span = (max(high) - min(low)) or 1.0
    least, span = min(low) - MARGIN * span, span * (1 + 2 * MARGIN)
    marks = tuple((score, f"{score:g}") for score in score_steps(least, least + span))
    frame = Frame(first=1, last=most, low=least, span=span, marks=marks)
    counts = sorted({1, choice.chosen, choice.best, *(c for c in round_steps(most) if c)})
    return LengthDrawing(
        frame,
        path(frame.points(choice.mean)),
        path([*frame.points(high), *reversed(frame.points(low))]) + "Z",
        (frame.x(choice.chosen), frame.y(choice.mean[choice.chosen - 1])),
        choice,
        tuple((c, f"{choice.mean[c - 1]:.3f}", f"{choice.standard_error[c - 1]:.3f}") for c in counts),
    )


def draw_map(heat_map: HeatMap) -> MapDrawing:
    """Return a square of cells, with names left and on top; rows and columns have their middles at the same places."""
    count = len(heat_map.labels)
    margin = min(16 + 7 * max((len(name) for name in heat_map.labels), default=0), 125)
    cell = min(max(MAP_WIDTH // max(count, 1), 13), 40)
    middles = tuple(margin + cell * (i + 0.5) for i in range(count))
    return MapDrawing(heat_map, margin + cell * count + 4, margin, cell, middles)


def draw_graph(graph: LabelGraph) -> GraphDrawing | None:
    """Nodes where the layout puts them, edges as curves between their rims."""
    if not graph.edges:
        return None
    n_edges = Counter(name for edge in graph.edges for name in edge.ends)
    most = max(n_edges.values())
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
        radius = 6 + 8 * math.sqrt(n_edges[name] / most)
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
        curve = _curved(nodes[edge.source], nodes[edge.target], 0.12 * number, centre, height)
        width = round(min(1.2 + 0.6 * math.log2(len(edge.rules)), 5), 2)
        links.append(Link(edge, number, curve, width, (place[edge.source], place[edge.target])))
    described = tuple((kind, text) for kind, text in KINDS.items() if kind in kinds)
    return GraphDrawing(GRAPH_WIDTH, height, tuple(nodes.values()), tuple(links), described)


def _curved(source: Node, target: Node, bend: float, centre: tuple[float, float] | None, height: float) -> str:
    """Return a curve that bends to its right, so that both directions, and several kinds, do not cover each other.

    On a circle it bends towards the centre, past the nodes between. It stays within the drawing.
    """
    dx, dy = target.x - source.x, target.y - source.y
    middle = (source.x + target.x) / 2 - dy * bend, (source.y + target.y) / 2 + dx * bend
    if centre is not None:
        middle = (middle[0] + centre[0]) / 2, (middle[1] + centre[1]) / 2
    middle = min(max(middle[0], 0.0), GRAPH_WIDTH), min(max(middle[1], 0.0), height)
    start = _rim(source, middle, 1)
    end = _rim(target, middle, 5)
    return f"M{start[0]:g},{start[1]:g}Q{middle[0]:.1f},{middle[1]:.1f} {end[0]:g},{end[1]:g}"


def _rim(node: Node, towards: tuple[float, float], gap: float) -> tuple[float, float]:
    dx, dy = towards[0] - node.x, towards[1] - node.y
    distance = math.hypot(dx, dy) or 1.0
    reach = (node.radius + gap) / distance
    return round(node.x + dx * reach, 1), round(node.y + dy * reach, 1)
