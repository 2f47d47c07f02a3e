"""Tables and the figure of dependencies on real data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from research.machine import describe, in_words
from research.pages import markdown_table, pyplot
from research.paper.objectives import PAPER_OBJECTIVES, find_objective

COUNTS = ("stated", "associated", "held", "held_strictly")
TITLES = dict(zip(COUNTS, ("stated", "associated", "hold given attributes", "hold strictly"), strict=True))
PRUNING = ("normal pruning", "relaxed pruning")
SHOWN = (
    "normal pruning",
    "relaxed pruning",
    "default",
    "StackedRules",
    "StackedRules, predictions",
    "AssociationRules",
)
"""Learners of the figure; those of the paper summed over its six objectives."""


def summarise(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return counts per learner, summed over the data sets: of the real labels, and the mean of the controls.

    The paper's learner also has two rows that are sums over its objectives.
    """
    table = pd.DataFrame(rows)
    table["source"] = table["data"].where(table["data"] == "real", "control")
    n_controls = table.loc[table["source"] == "control", "data"].nunique()
    sums = table.groupby(["learner", "source"], sort=False)[list(COUNTS)].sum().unstack("source", fill_value=0)
    sums = sums.astype(float)
    for count in COUNTS:
        if n_controls:
            sums[count, "control"] /= n_controls
        else:
            sums[count, "control"] = 0.0
    for pruning in PRUNING:
        sums.loc[pruning] = sums[sums.index.str.startswith(f"{pruning}, ")].sum()
    return sums


def differences(rows: Sequence[Mapping[str, Any]], count: str) -> dict[str, tuple[int, int]]:
    """Return per objective on how many data sets relaxed pruning has more, and fewer, than normal pruning."""
    table = pd.DataFrame(rows)
    real = table[table["data"] == "real"].set_index(["learner", "set"])[count]
    found = {}
    for objective in PAPER_OBJECTIVES:
        normal, relaxed = (real.loc[f"{pruning}, {find_objective(objective).title}"] for pruning in PRUNING)
        found[objective] = int((relaxed > normal).sum()), int((relaxed < normal).sum())
    return found


def page(rows: Sequence[Mapping[str, Any]], command: str) -> str:
    """Return the tables in Markdown."""
    sums = summarise(rows)
    head = ["", *(title for name in TITLES.values() for title in (name, "in the control"))]
    order = [*PRUNING, *(name for name in sums.index if name not in PRUNING)]
    lines = []
    for learner in order:
        cells = [
            f"{sums.loc[learner, (count, source)]:.{0 if source == 'real' else 1}f}"
            for count in COUNTS
            for source in ("real", "control")
        ]
        lines.append((f"**{learner}, all six**" if learner in PRUNING else learner, *cells))
    more = [
        (find_objective(objective).title, *(f"{up} / {down}" for up, down in pairs))
        for objective, *pairs in zip(
            PAPER_OBJECTIVES, *(differences(rows, count).values() for count in COUNTS), strict=True
        )
    ]
    names = list(dict.fromkeys(row["set"] for row in rows))
    parts = [
        f"`{command}`: pairs of labels, summed over {', '.join(names)}; of controls the mean. {in_words(describe())}",
        markdown_table(head, lines),
        "Data sets on which relaxed pruning has more / fewer pairs than normal pruning:",
        markdown_table(("", *TITLES.values()), more),
    ]
    by_set = pd.DataFrame(rows)
    by_set = by_set[by_set["data"] == "real"].pivot_table(index="learner", columns="set", values="held", sort=False)
    cells = [
        (str(name), *(f"{value:.0f}" for value in row))
        for name, row in zip(by_set.index, by_set[names].to_numpy(), strict=True)
    ]
    parts += ["Pairs that hold given the attributes, by data set:", markdown_table(("", *names), cells)]
    return "\n\n".join(parts) + "\n"


def draw(rows: Sequence[Mapping[str, Any]], planted: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw what learners find: of planted dependencies, on real data, and on controls."""
    plt = pyplot()
    sums = summarise(rows)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 5.0), layout="constrained")
    table = pd.DataFrame(planted)
    shown = ["normal pruning", "relaxed pruning", "normal pruning, ±", "relaxed pruning, ±", "default", *SHOWN[3:]]
    table = table[table["learner"].isin(shown)]
    for i, (learner, own) in enumerate(table.groupby("learner", sort=False)):
        settings = own.groupby("setting", sort=False)[["stated", "planted", "right", "pairs"]].sum()
        precision = settings["right"] / settings["pairs"].where(settings["pairs"] > 0)
        marker = "osD^vPX*"[i % 8]
        left.plot(precision, settings["stated"] / settings["planted"], marker, label=learner, alpha=0.8, color=f"C{i}")
    left.set(xlabel="precision: related pairs that were planted", ylabel="planted dependencies that are found")
    left.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), title="Planted: a mark per setting")
    left.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)
    names = [name for name in SHOWN if name in sums.index]
    places = range(len(names))
    styles = {"stated": "#d0d0d0", "held": "#0072B2"}
    for count, colour in styles.items():
        words = {"stated": "stated", "held": "hold given the attributes"}[count]
        for shift, source, alpha in ((-0.2, "real", 1.0), (0.2, "control", 0.55)):
            values = [sums.loc[name, (count, source)] for name in names]
            label = f"{words}, {'real labels' if source == 'real' else 'control'}"
            hatch = "" if source == "real" else "////"
            right.bar([p + shift for p in places], values, 0.38, color=colour, alpha=alpha, hatch=hatch, label=label)
    right.set_xticks(
        list(places),
        [name.replace(", ", ",\n").replace(" pruning", "\npruning").replace("Rules", "\nRules") for name in names],
        fontsize=8,
    )
    right.set_yscale("symlog", linthresh=1)
    right.set(ylabel="pairs of labels, all data sets", title="Real tables, and controls without dependencies")
    right.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    figure.savefig(path, dpi=110)
    plt.close(figure)
