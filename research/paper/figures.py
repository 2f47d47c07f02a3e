"""The figures, drawn from data frames with matplotlib (an extra), as SVG and PNG."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

from research.paper.analysis import Analysis, Pairs
from research.paper.example import best_head, nodes
from research.paper.lifts import find_lift
from research.paper.objectives import find_objective
from research.paper.published import SHORT_MEASURES, SPEEDUP
from research.paper.statistics import Comparison

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D1F", "#56B4E9")
"""Colours that most colour-blind readers tell apart (after Okabe and Ito)."""
GREY, LIGHT, INK = "#767676", "#e4e4e4", "#222222"
_STYLE = Path(__file__).parent / "templates" / "figures.mplstyle"
_SENSITIVITY_PANELS = {
    "rules": "rules",
    "labels_per_head": "labels per head",
    "conditions_per_rule": "conditions per rule",
    "label_condition_share": "share of label conditions",
}


def draw_all(analysis: Analysis, folder: Path) -> dict[str, str]:
    """Draw every figure, write each as SVG and PNG, and give the SVG by name; the same data give the same files."""
    import matplotlib

    # Figures are made for files; a window system may not be there.
    matplotlib.use("Agg", force=False)
    from matplotlib.pyplot import close

    folder.mkdir(exist_ok=True)
    drawn = {}
    with matplotlib.rc_context(fname=_STYLE):
        for name, figure in _figures(analysis):
            buffer = io.StringIO()
            figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
            drawn[name] = buffer.getvalue()
            (folder / f"{name}.svg").write_text(drawn[name], encoding="utf-8")
            figure.savefig(folder / f"{name}.png", bbox_inches="tight", metadata={"Software": None})
            close(figure)
    return drawn


def _figures(analysis: Analysis) -> Iterator[tuple[str, Figure]]:
    yield "figure-1", head_search()
    yield "lift-functions", lift_functions()
    for function in ("kln", "peak"):
        rows = analysis.sensitivity
        own = rows if rows.empty else rows[rows["function"].str.startswith(function)]
        if not own.empty:
            yield f"sensitivity-{function}", sensitivity(own)
    if not analysis.speed.empty:
        yield "training-times", training_times(analysis.times, analysis.speed)
    yield "model-changes", changes(analysis.pairs(list(analysis.results.sets)))
    yield "ranks", critical_differences(analysis.ranks())
    if analysis.has_numeric:
        yield "ranks-numeric", critical_differences(analysis.ranks(analysis.compared_sets(numeric=True)))
    if analysis.certainty is not None:
        yield "certainty", certainty(analysis.certainty.by_objective(), analysis.is_the_papers)


def _subplots(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Figure, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(rows, columns, figsize=size, layout="constrained", **options)


def lift_functions(n_labels: int = 10) -> Figure:
    """The lift functions: KLN with several factors, and Peak at several lengths."""
    figure, axes = _subplots(1, 2, (11.5, 3.3), sharey=True)
    lengths = np.arange(1, n_labels + 1)
    fine = np.linspace(1, n_labels, 50 * n_labels)
    families = {
        "KLN, by its lift at 3 labels": [f"kln at 3: {height}" for height in ("1.04", "1.08", "1.16", "1.24")],
        "Peak, at 2, 3 and 5 labels (curvature 2)": [f"peak {m}: 1.16" for m in (2, 3, 5)],
    }
    for ax, (title, names) in zip(axes, families.items(), strict=True):
        for colour, name in zip(COLOURS, names, strict=False):
            lift = find_lift(name)
            ax.plot(fine, [lift.at_length(x, n_labels) for x in fine], color=colour, label=name)
            ax.plot(lengths, [lift.at_length(int(x), n_labels) for x in lengths], "o", color=colour, markersize=3.5)
        ax.set(title=title, xlabel="labels in the head", xticks=lengths)
        ax.legend(loc="upper left" if "KLN" in title else "upper right", fontsize=9.5)
    axes[0].set_ylabel("lift ρ")
    return figure


def head_search() -> Figure:
    """Figure 1 of the paper: all heads of its example, those that relaxed pruning looks at, and the best one."""
    figure, ax = _subplots(1, 1, (11.5, 4.3))
    made = nodes()
    by_length = {length: [node for node in made if len(node.head) == length] for length in (1, 2, 3, 4)}
    places = {
        node.head: (10 * (i + 0.5) / len(row), -length)
        for length, row in by_length.items()
        for i, node in enumerate(row)
    }
    ax.plot(*(5.0, 0.0), "o", color=GREY)
    ax.text(5.0, 0.12, "no label", ha="center", fontsize=9.5, color=GREY)
    chosen = best_head()
    for node in made:
        parent = places.get(node.head[:-1], (5.0, 0.0))
        x, y = places[node.head]
        is_visited = node.step is not None
        colour = COLOURS[0] if is_visited else GREY
        ax.plot([parent[0], x], [parent[1], y], color=LIGHT, zorder=0)
        names = ", ".join(f"ŷ{label + 1}" for label in node.head)
        bound = f", bound {node.bound:.3f}" if node.bound else ""
        text = f"{{{names}}}\nh = {node.value}" + (f"\nĥ = {node.lifted:.3f}{bound}" if is_visited else "")
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour}
        box["linewidth"] = 2.2 if node.head == chosen else 0.8
        ax.text(x, y, text, ha="center", va="center", fontsize=9, color=INK if is_visited else GREY, bbox=box)
    ax.axhline(-1.5, color=GREY, linewidth=1, linestyle="-")
    ax.text(9.95, -1.47, "above the line: evaluated on the instances", ha="right", va="bottom", fontsize=9, color=GREY)
    ax.set(xlim=(0, 10), ylim=(-4.4, 0.35))
    ax.axis("off")
    return figure


def sensitivity(rows: pd.DataFrame) -> Figure:
    """How models change with the lift: four panels, macro F with + and +- where they were tried."""
    macro = rows["objective"].str.startswith("macro-f")
    shown = rows[macro] if macro.any() else rows
    functions = sorted(set(shown["function"]))
    several = len(functions) > 1
    figure, axes = _subplots(1, 4, (11.5, 3.1))
    for ax, (column, title) in zip(axes.flat, _SENSITIVITY_PANELS.items(), strict=True):
        for (name, objective), own in shown.groupby(["function", "objective"]):
            trained = find_objective(objective)
            # With one function the colours tell objectives apart, with several the functions.
            colour = COLOURS[functions.index(name) if several else int(trained.predict_absence)]
            label = f"{trained.title}, {name}" if several else trained.title
            ax.plot(own["lift"], own[column], "--" if trained.predict_absence else "-", color=colour, label=label)
        ax.set_title(title)
        ax.set_ylim(bottom=0)
        if column == "label_condition_share":
            ax.yaxis.set_major_formatter("{x:.0%}")
        ax.set_xlabel("lift at the peak" if several else f"lift at {functions[0].split()[-1]} labels")
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=9.5, loc="outside lower center", ncols=6)
    return figure


def training_times(times: pd.DataFrame, speed: pd.DataFrame) -> Figure:
    """The training time of relaxed pruning as a multiple of that of normal pruning, against the latter."""
    figure, ax = _subplots(1, 1, (11.5, 5.0))
    low, high = np.quantile(times["normal_again_s"] / times["normal_s"], [0.05, 0.95])
    ax.axhspan(low, high, color=LIGHT, zorder=0, label="noise: normal against normal, 90 % of the ratios")
    published = {"facecolor": "none", "edgecolor": GREY, "hatch": "////", "linewidth": 0, "alpha": 0.45, "zorder": 0}
    label = "published as typical: 10 to 25 % faster"
    ax.axhspan(1 - SPEEDUP[1], 1 - SPEEDUP[0], label=label, **published)
    ax.axhline(1, color=GREY, linewidth=1)
    for objective, own in speed.groupby("objective", sort=False):
        colour, filled = _objective_style(objective, list(speed["objective"]))
        spread = np.abs([own["ratio"] - own["low"], own["high"] - own["ratio"]])
        style = {"fmt": "o", "color": colour, "markerfacecolor": colour if filled else "white", "markersize": 5.5}
        style |= {"elinewidth": 0.9, "markeredgewidth": 1.4, "label": find_objective(objective).title}
        ax.errorbar(own["normal"], own["ratio"], spread, **style)
    ax.set_xscale("log")
    # A half is as far from the same as twice.
    ax.set_yscale("log", base=2)
    centres = np.log10(speed["normal"]).groupby(speed["set"]).mean().sort_values()
    decades = float(np.ptp(np.log10(ax.get_xlim())))
    for name, place in zip(centres.index, spread_out(centres.to_numpy(), 0.03 * decades), strict=True):
        words = {"ha": "left", "va": "bottom", "rotation": 30, "fontsize": 9.5, "color": GREY}
        ax.annotate(name, (10**place, 1.0), xycoords=("data", "axes fraction"), **words)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.3g} ×")
    ax.set(xlabel="training time of normal pruning (CPU seconds)", ylabel="time of relaxed pruning / normal")
    figure.legend(*ax.get_legend_handles_labels(), fontsize=9.5, loc="outside lower center", ncols=4)
    return figure


def spread_out(places: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Return the nearest places (least squares) with at least a gap between neighbours; places ascend.

    >>> spread_out(np.array([0.0, 0.0, 5.0]), 1.0).tolist()
    [-0.5, 0.5, 5.0]
    """
    steps = gap * np.arange(len(places))
    return isotonic_regression(places - steps) + steps


def _objective_style(objective: str, objectives: Sequence[str]) -> tuple[str, bool]:
    """Colour by what is measured, filled or not by whether absence is predicted."""
    families = list(dict.fromkeys(name.rstrip("+-") for name in objectives))
    return COLOURS[families.index(objective.rstrip("+-")) % len(COLOURS)], not find_objective(objective).predict_absence


def changes(pairs: Pairs) -> Figure:
    """What relaxed pruning changes in the models: one number per data set and objective, as coloured tables."""
    sets, objectives = (list(dict.fromkeys(pairs.normal.index.get_level_values(level))) for level in (0, 1))
    panels = ("rules", "conditions_per_rule", "labels_per_head")
    figure, axes = _subplots(1, 3, (11.5, 1.2 + 0.32 * len(sets)), sharey=True)
    for ax, name in zip(axes, panels, strict=True):
        normal, relaxed = pairs.normal[name], pairs.relaxed[name]
        ratios = (relaxed / normal).where((normal > 0) & (relaxed > 0), 1.0)
        table = ratios.to_numpy().reshape(len(sets), len(objectives))
        ax.imshow(np.clip(np.log2(table), -2, 2), cmap="PuOr_r", vmin=-2.6, vmax=2.6, aspect="auto")
        for (row, column), number in np.ndenumerate(table):
            colour = "white" if abs(np.log2(number)) > 1.6 else INK
            ax.text(column, row, f"{number:.2f}", ha="center", va="center", fontsize=9.5, color=colour)
        ax.set_title(f"{name.replace('_', ' ')}: relaxed / normal")
        ax.set_xticks(range(len(objectives)), [find_objective(o).title for o in objectives], rotation=40, ha="right")
        ax.set_yticks(range(len(sets)), sets)
        ax.grid(False)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
    return figure


def certainty(rows: pd.DataFrame, with_published: bool) -> Figure:
    """Wins minus losses per objective: with the chosen lifts, with others that are nearly as good, and published."""
    figure, ax = _subplots(1, 1, (11.5, 1.4 + 0.42 * len(rows)))
    places = np.arange(len(rows))[::-1]
    ax.axvline(0, color=GREY, linewidth=1)
    ax.hlines(places, rows["lowest"], rows["highest"], color=LIGHT, linewidth=9, label="all draws")
    ax.hlines(places, rows["low"], rows["high"], color=COLOURS[5], linewidth=9, label="5 to 95 % of the draws")
    if "low_with_program" in rows:
        label = "5 to 95 %, also with models of the paper's own program"
        ax.hlines(
            places - 0.27,
            rows["low_with_program"],
            rows["high_with_program"],
            color=COLOURS[2],
            linewidth=4,
            label=label,
        )
    ax.plot(rows["median"], places, "|", color=INK, markersize=11, label="median of the draws")
    ax.plot(rows["lead"], places, "o", color=COLOURS[0], label="the chosen lifts")
    if with_published:
        ax.plot(rows["published_lead"], places, "D", color=COLOURS[1], label="published")
        for place, row in zip(places, rows.to_dict("records"), strict=True):
            text = _inside(row)
            ax.annotate(
                text,
                (row["published_lead"], place),
                (0, 8),
                textcoords="offset points",
                ha="center",
                fontsize=9,
                color=GREY,
            )
    ax.set_yticks(places, [find_objective(name).title for name in rows["objective"]])
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.set_xlabel("wins minus losses of relaxed pruning, over four measures and all data sets")
    figure.legend(*ax.get_legend_handles_labels(), fontsize=9.5, loc="outside lower center", ncols=3)
    return figure


def _inside(row: dict[str, Any]) -> str:
    """Return whether the published lead is inside the draws."""
    if row["low"] <= row["published_lead"] <= row["high"]:
        return "inside"
    if row.get("low_with_program", np.inf) <= row["published_lead"] <= row.get("high_with_program", -np.inf):
        return "inside with other ties"
    return "outside"


def critical_differences(ranks: Mapping[str, Comparison]) -> Figure:
    """Average ranks of all approaches, one panel per measure; what a bar joins is not told apart."""
    rows = (len(ranks) + 1) // 2
    count = max(len(comparison.ranks) for comparison in ranks.values())
    figure, axes = _subplots(rows, 2, (11.5, rows * (1.1 + 0.18 * count)), squeeze=False)
    for ax, (measure, comparison) in zip(axes.flat, ranks.items(), strict=False):
        _critical_difference(ax, SHORT_MEASURES.get(measure, measure), comparison)
    for ax in axes.flat[len(ranks) :]:
        ax.set_visible(False)
    return figure


def _critical_difference(ax: Axes, title: str, comparison: Comparison) -> None:
    """One panel: names on both sides of an axis of ranks, best on the left."""
    order, distance = comparison.by_rank(), comparison.critical_difference
    count = len(order)
    half = (count + 1) // 2
    ax.set(xlim=(-0.28 * count, 1.28 * count + 1))
    ax.axis("off")
    ax.plot([1, count], [0, 0], color=INK, linewidth=1)
    for mark in range(1, count + 1):
        ax.plot([mark, mark], [0, 0.14], color=INK, linewidth=1)
        ax.text(mark, 0.22, str(mark), ha="center", va="bottom", fontsize=9.5, color=GREY)
    groups = _indistinct([rank for _, rank in order], distance)
    top = -0.3 - 0.22 * max(len(groups) - 1, 0)
    for i, (label, rank) in enumerate(order):
        left = i < half
        y = top - 0.75 * ((i if left else count - 1 - i) + 1)
        side = 0.2 if left else count + 0.8
        ax.plot([rank, rank, side], [0, y, y], color=COLOURS[0] if " R" in label else GREY, linewidth=0.9)
        words, align = (f"{label} {rank:.2f} ", "right") if left else (f" {rank:.2f} {label}", "left")
        ax.text(side, y, words, ha=align, va="center", fontsize=10, color=COLOURS[0] if " R" in label else INK)
    ax.set_ylim(top - 0.75 * (half + 1), 1.9)
    for i, (low, high) in enumerate(groups):
        ax.plot([low - 0.06, high + 0.06], [-0.2 - 0.22 * i] * 2, color=INK, linewidth=3, solid_capstyle="round")
    note = "" if comparison.p_value is None else f", Friedman p = {comparison.p_value:.2g}"
    ax.text(1, 1.75, f"{title}", fontsize=12, va="top", weight="bold")
    ax.text(count, 1.75, f"{comparison.n_sets} sets{note}", fontsize=9.5, va="top", ha="right", color=GREY)
    if distance is not None:
        end = min(1 + distance, count)
        ax.plot([1, end], [0.95, 0.95], color=GREY, linewidth=1.2)
        ax.text((1 + end) / 2, 1.0, f"CD = {distance:.2f}", ha="center", va="bottom", fontsize=9.5, color=GREY)


def _indistinct(ranks: Sequence[float], distance: float | None) -> list[tuple[float, float]]:
    """Stretches of ranks, given in order, that are not told apart, none inside another."""
    found: list[tuple[float, float]] = []
    if distance is None:
        return found
    for low in ranks:
        high = max(rank for rank in ranks if rank - low <= distance)
        if high > low and (not found or high > found[-1][1]):
            found.append((low, high))
    return found
