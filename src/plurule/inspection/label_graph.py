"""Label dependencies as a graph: plain nodes and edges, where to draw them, and forms that other tools read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurule._attached import LabelGraphMethods
from plurule.model.naming import visible

MOST_FREELY_PLACED = 12


@dataclass(frozen=True, slots=True)
class Edge:
    """What the rules say about two labels, of one kind."""

    source: str
    target: str
    kind: str
    is_directed: bool
    """Whether one label is a condition of the other, rather than both being in one head."""
    statements: int
    """How many statements say so."""
    support: int
    """How many instances bear the statements out, summed over them (0 without data)."""
    rules: tuple[int, ...]
    """Numbers of the rules that say so."""

    @property
    def ends(self) -> tuple[str, str]:
        """The two labels."""
        return self.source, self.target


@dataclass(frozen=True, slots=True)
class LabelGraph(LabelGraphMethods):
    """Labels and the statements that connect them.

    Examples
    --------
    >>> from plurule import RuleList
    >>> rules = RuleList.from_text("red, white <- stripes > 2\\nwhite <- red", ["stripes"], ["red", "white", "blue"])
    >>> graph = rules.dependencies().to_graph()
    >>> graph.connected, [(edge.kind, edge.ends) for edge in graph.edges]
    (('red', 'white'), [('co-occurrence', ('red', 'white')), ('implication', ('red', 'white'))])
    """

    labels: tuple[str, ...]
    """The nodes, by name."""
    edges: tuple[Edge, ...]
    """What is said about two labels: source, target, kind, rules, support."""

    @property
    def connected(self) -> tuple[str, ...]:
        """The labels that some statement is about, in label order."""
        named = {name for edge in self.edges for name in edge.ends}
        return tuple(label for label in self.labels if label in named)

    def largest(self, labels: int, edges: int) -> LabelGraph:
        """The part that fits in a drawing: the labels that most is said about, and the edges with most rules."""
        said = Counter(name for edge in self.edges for name in edge.ends for _ in edge.rules)
        kept = set(sorted(self.connected, key=lambda label: -said[label])[:labels])
        inside = [edge for edge in self.edges if kept.issuperset(edge.ends)]
        strongest = sorted(inside, key=lambda edge: (-len(edge.rules), -edge.support))[:edges]
        return LabelGraph(tuple(label for label in self.labels if label in kept), tuple(strongest))

    @property
    def is_round(self) -> bool:
        """Whether the labels are laid out on a circle: many labels would hide each other's names otherwise."""
        return len(self.labels) > MOST_FREELY_PLACED

    def layout(self) -> dict[str, tuple[float, float]]:
        """Places of the labels in a square from 0 to 1, neighbours near each other; the same every time."""
        count = len(self.labels)
        if count < 3:
            return {label: ((i + 1) / (count + 1), 0.5) for i, label in enumerate(self.labels)}
        index = {label: i for i, label in enumerate(self.labels)}
        pull = np.zeros((count, count))
        for edge in self.edges:
            a, b = map(index.__getitem__, edge.ends)
            pull[a, b] = pull[b, a] = max(pull[a, b], 1.0 + np.log(len(edge.rules)))
        placed = _circle(pull) if self.is_round else _spring(pull / max(pull.max(), 1.0))
        low, high = placed.min(axis=0), placed.max(axis=0)
        placed = (placed - low) / np.where(high > low, high - low, 1.0)
        return {label: (float(placed[i, 0]), float(placed[i, 1])) for label, i in index.items()}

    def to_dot(self) -> str:
        """The graph in the language of Graphviz.

        >>> print(LabelGraph(("a", "b"), (Edge("a", "b", "implication", True, 1, 0, (3,)),)).to_dot())
        digraph labels {
          "a";
          "b";
          "a" -> "b" [label="implication", dir=forward, tooltip="rules 3"];
        }
        """
        lines = [f"  {_dot(label)};" for label in self.labels]
        for edge in self.edges:
            direction = "forward" if edge.is_directed else "none"
            rules = ", ".join(map(str, edge.rules))
            described = f'[label="{edge.kind}", dir={direction}, tooltip="rules {rules}"]'
            lines.append(f"  {' -> '.join(map(_dot, edge.ends))} {described};")
        return "\n".join(["digraph labels {", *lines, "}"])


def _dot(name: str) -> str:
    escaped = visible(name).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _circle(pull: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places on a circle, each label followed by the one that is most connected to those placed last."""
    count = len(pull)
    order = [int(pull.sum(axis=1).argmax())]
    while len(order) < count:
        recent = pull[order[-3:]].sum(axis=0) + 1e-3 * pull[order].sum(axis=0)
        recent[order] = -1.0
        order.append(int(recent.argmax()))
    angles = np.empty(count)
    angles[order] = 2 * np.pi * np.arange(count) / count - np.pi / 2
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _spring(pull: NDArray[np.float64], steps: int = 300) -> NDArray[np.float64]:
    """Forces between nodes: all push each other away, edges pull; steps get smaller (Fruchterman and Reingold)."""
    count = len(pull)
    angles = 2 * np.pi * np.arange(count) / count
    places = 0.5 + 0.4 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    distance_wanted = np.sqrt(1.0 / count)
    for step in range(steps):
        apart = places[:, None, :] - places[None, :, :]
        distance = np.maximum(np.linalg.norm(apart, axis=2), 1e-3)
        push = distance_wanted**2 / distance**2
        force = (apart * (push - pull * distance / distance_wanted)[:, :, None]).sum(axis=1)
        # A weak pull to the middle keeps parts that no edge connects in sight.
        force -= 0.5 * (places - 0.5)
        length = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        places = places + force / length * np.minimum(length, 0.1 * (1 - step / steps))
    return places
