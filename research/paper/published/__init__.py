"""What the paper published, as tables like those of the experiments, and what it stated.

Klein, Rapp, Loza Mencía: *Efficient Discovery of Expressive Multi-label Rules using Relaxed Pruning*, Discovery Science
2019. The tables are beside this file:

- `models.csv`: models of birds with normal and with relaxed pruning. The paper does not name the lifts; those in the
  table are the ones with which its own program gives the published models.
- `wins.csv`: wins, losses and ties of relaxed pruning over seven sets.
- `rules.csv`: the selected rules of Figure 5, conditions without their thresholds.
- `statements.csv`: what the text says about the experiments, what is looked at here to judge it, the function of
  `research.paper.checks` that does so, and why it does not hold on the authors' data where it does not (`otherwise`).
"""

from __future__ import annotations

import csv
from importlib.resources import files

from research.paper.statistics import Tally

CITATION = (
    "Yannik Klein, Michael Rapp, Eneldo Loza Mencía: Efficient Discovery of Expressive Multi-label Rules using Relaxed "
    "Pruning. Discovery Science, 2019"
)
MODELS_SET = "birds"
"""The data set of the published models."""
SHORT_MEASURES = {"hamming_accuracy": "HA", "micro_f1": "Mic F1", "macro_f1": "Mac F1", "subset_accuracy": "SA"}
"""Measures of the paper, as it abbreviates them."""
MEASURES = tuple(SHORT_MEASURES)
CHARACTERISTICS = {
    "rules": "rules",
    "conditions": "conditions",
    "label_conditions": "conditions on labels",
    "multi_label_heads": "heads of several labels",
    "labels_per_multi_label_head": "labels per such head",
}
"""Characteristics of models in the paper's table."""
SPEEDUP = (0.10, 0.25)
"""By how much relaxed pruning typically was faster."""
BEST: dict[str, str] = {
    "hamming_accuracy": "ha+-",
    "subset_accuracy": "ha+-",
    "micro_f1": "micro-f+",
    "macro_f1": "micro-f+",
}
"""Per measure, the objective that ranked first among all approaches, with relaxed pruning."""


def table(name: str) -> list[dict[str, str]]:
    """The rows of a published table."""
    text = files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


WINS = {row["objective"]: {measure: Tally.parse(row[measure]) for measure in MEASURES} for row in table("wins")}
"""Wins, losses and ties of relaxed pruning over seven sets, per objective and measure."""
