"""What the paper published, as data.

Klein, Rapp, Loza Mencía: *Efficient Discovery of Expressive Multi-label Rules using Relaxed Pruning*, Discovery Science
2019.
"""

from __future__ import annotations

from dataclasses import dataclass

from plurule.paper.statistics import Tally

CITATION = (
    "Yannik Klein, Michael Rapp, Eneldo Loza Mencía: Efficient Discovery of Expressive Multi-label Rules using Relaxed "
    "Pruning. Discovery Science, 2019"
)

CHARACTERISTICS_SET = "birds"

CHARACTERISTICS: dict[str, dict[str, tuple[float | None, float | None]]] = {
    "micro-f+": {
        "rules": (140, 140),
        "conditions": (219, 213),
        "label_conditions": (7, 4),
        "multi_label_heads": (1, 5),
        "labels_per_multi_label_head": (2.0, 2.0),
    },
    "micro-f+-": {
        "rules": (132, 92),
        "conditions": (184, 146),
        "label_conditions": (1, 2),
        "multi_label_heads": (0, 22),
        "labels_per_multi_label_head": (None, 2.59),
    },
    "macro-f+": {
        "rules": (140, 129),
        "conditions": (220, 199),
        "label_conditions": (7, 3),
        "multi_label_heads": (1, 8),
        "labels_per_multi_label_head": (2.0, 2.0),
    },
    "macro-f+-": {
        "rules": (132, 113),
        "conditions": (184, 175),
        "label_conditions": (1, 1),
        "multi_label_heads": (0, 14),
        "labels_per_multi_label_head": (None, 2.57),
    },
    "ha+": {
        "rules": (162, 136),
        "conditions": (254, 204),
        "label_conditions": (3, 0),
        "multi_label_heads": (1, 30),
        "labels_per_multi_label_head": (2.0, 2.1),
    },
    "ha+-": {
        "rules": (58, 23),
        "conditions": (58, 29),
        "label_conditions": (1, 0),
        "multi_label_heads": (0, 12),
        "labels_per_multi_label_head": (None, 17.0),
    },
}
"""Models of birds: per objective and characteristic, with normal and with relaxed pruning."""

BIRDS_LIFTS: dict[str, tuple[str, ...]] = {
    "micro-f+": ("peak 2: 1.12",),
    "micro-f+-": ("peak 3: 1.04",),
    "macro-f+": ("peak 2: 1.16", "kln at 3: 1.24"),
    "macro-f+-": ("peak 5: 1.02",),
    "ha+": ("peak 5: 1.02",),
    "ha+-": ("kln at 3: 1.08",),
}
"""The lifts with which the paper's own program gives its relaxed models of birds; the paper does not name them."""

MEASURES = ("hamming_accuracy", "micro_f1", "macro_f1", "subset_accuracy")
"""What the paper measured."""

WINS: dict[str, tuple[Tally, Tally, Tally, Tally]] = {
    "ha+": (Tally(2, 4, 1), Tally(1, 5, 1), Tally(2, 4, 1), Tally(0, 4, 3)),
    "ha+-": (Tally(5, 1, 1), Tally(4, 2, 1), Tally(2, 4, 1), Tally(5, 0, 2)),
    "micro-f+": (Tally(3, 3, 1), Tally(3, 3, 1), Tally(3, 3, 1), Tally(3, 2, 2)),
    "micro-f+-": (Tally(3, 1, 3), Tally(1, 3, 3), Tally(1, 3, 3), Tally(2, 2, 3)),
    "macro-f+": (Tally(1, 5, 1), Tally(1, 5, 1), Tally(3, 3, 1), Tally(2, 3, 2)),
    "macro-f+-": (Tally(2, 1, 4), Tally(2, 1, 4), Tally(2, 1, 4), Tally(2, 1, 4)),
}
"""Wins, losses and ties of relaxed pruning over seven sets, per objective and measure."""

SPEEDUP = (0.10, 0.25)
"""By how much relaxed pruning typically was faster."""

BEST: dict[str, str] = {
    "hamming_accuracy": "ha+-",
    "subset_accuracy": "ha+-",
    "micro_f1": "micro-f+",
    "macro_f1": "micro-f+",
}
"""Per measure, the objective that ranked first among all approaches, with relaxed pruning."""


@dataclass(frozen=True)
class PrintedRule:
    """A rule as the paper prints it: conditions without their thresholds, and its counts."""

    head: str
    body: str
    tp: int
    fp: int


@dataclass(frozen=True)
class PrintedRules:
    """Rules about one label, as the paper prints them."""

    dataset: str
    objective: str
    label: str
    normal: tuple[PrintedRule, ...]
    relaxed: tuple[PrintedRule, ...]


RULES = (
    PrintedRules(
        "yeastD",
        "macro-f+",
        "Class5",
        normal=(PrintedRule("Class5", "Att61", 112, 50), PrintedRule("Class4", "Class5", 118, 44)),
        relaxed=(PrintedRule("Class4, Class5", "Att61", 230, 94),),
    ),
    PrintedRules(
        "yeastD",
        "macro-f+",
        "Class3",
        normal=(PrintedRule("Class3", "Att50", 84, 50), PrintedRule("Class2", "Class3", 146, 141)),
        relaxed=(PrintedRule("Class2, Class3", "Att50", 174, 111),),
    ),
    PrintedRules(
        "flags",
        "micro-f+-",
        "red",
        normal=(
            PrintedRule("red", "colours, area, bars, crescent", 85, 9),
            PrintedRule("red", "bars, crescent, colours, area, stripes", 13, 6),
            PrintedRule("¬red", "area, circles", 9, 1),
            PrintedRule("red", "sunstars", 4, 0),
            PrintedRule("¬red", "sunstars", 1, 0),
            PrintedRule("red", "", 1, 0),
        ),
        relaxed=(
            PrintedRule("red, white", "colours", 166, 38),
            PrintedRule("¬green, red", "colours", 71, 35),
            PrintedRule("green, ¬red", "", 2, 0),
        ),
    ),
    PrintedRules(
        "birds",
        "macro-f+-",
        "Red-breasted Nuthatch",
        normal=(
            PrintedRule("¬RBN", "ssd59", 288, 0),
            PrintedRule("¬RBN", "ssd89", 21, 0),
            PrintedRule("RBN", "ssd153", 4, 0),
            PrintedRule("¬RBN", "", 9, 0),
        ),
        relaxed=(
            PrintedRule("¬BHG, ¬Warbling Vireo, ¬MGW, ¬Stellar's Jay, ¬RBN", "ssd63", 1012, 3),
            PrintedRule("¬MGW, ¬RBN", "ssd56", 141, 0),
            PrintedRule("¬Common Nighthawk, ¬RBN", "ssd7, ssd145", 190, 0),
            PrintedRule("¬RBN", "ssd8", 16, 0),
            PrintedRule("RBN", "ssd45", 4, 0),
            PrintedRule("¬RBN", "", 1, 0),
        ),
    ),
)
"""The selected rules of the paper's Figure 5."""
