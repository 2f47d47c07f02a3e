"""The figures, drawn from plain data with matplotlib (an extra), as SVG and PNG."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from plurule.files import replacing
from plurule.lifts import find_lift
from plurule.paper.analysis import Pair, Row, Times
from plurule.paper.published import SPEEDUP
from plurule.paper.statistics import Comparison
from plurule.selection.objectives import find_objective
from plurule.titles import SHORT_MEASURES

P = ParamSpec("P")
R = TypeVar("R")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8C6D1F", "#56B4E9")
"""Colours that most colour-blind readers tell apart (after Okabe and Ito)."""
GREY, LIGHT, INK = "#767676", "#e4e4e4", "#222222"
_STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.5,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LIGHT,
    "grid.linewidth": 0.7,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "svg.fonttype": "path",
    "svg.hashsalt": "plurule",
    "figure.dpi": 100,
    "savefig.dpi": 150,
}
_SENSITIVITY_PANELS = {
    "rules": "rules",
    "labels_per_head": "labels per head",
    "conditions_per_rule": "conditions per rule",
    "label_condition_share": "share of label conditions",
}


class Drawing:
    """A figure that can be written in several formats."""

    def __init__(self, name: str, figure: Any) -> None:
        self.name = name
        self._figure = figure

    @functools.cached_property
    def svg(self) -> str:
        """The figure as SVG, the same text for the same data."""
        buffer = io.StringIO()
        with _pyplot().rc_context(_STYLE):
            self._figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
        return buffer.getvalue()

    def write(self, folder: Path) -> None:
        """Write the figure as SVG and PNG."""
        with replacing(folder / f"{self.name}.svg") as path:
            path.write_bytes(self.svg.encode("utf-8"))
        with replacing(folder / f"{self.name}.png") as path, _pyplot().rc_context(_STYLE):
            self._figure.savefig(path, format="png", bbox_inches="tight", metadata={"Software": None})

    def close(self) -> None:
        """Give the memory back."""
        _pyplot().close(self._figure)


def check_library() -> None:
    """Raise an error if matplotlib is not there."""
    _pyplot()


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'plurule[plot]'") from error
    # Figures are made for files; a window system may not be there.
    matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt

    return plt


def _styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw with our style, and leave that of the user as it was."""

    @functools.wraps(draw)
    def styled(*args: P.args, **kwargs: P.kwargs) -> R:
        with _pyplot().rc_context(_STYLE):
            return draw(*args, **kwargs)

    return styled


def _subplots(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    figure, axes = _pyplot().subplots(rows, columns, figsize=size, layout="constrained", **options)
    return figure, axes


@_styled
def lift_functions(n_labels: int = 10) -> Drawing:
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
    return Drawing("lift-functions", figure)


@_styled
def sensitivity(rows: Sequence[Row], function: str) -> Drawing | None:
    """How models change with the lift: four panels, macro F with + and +-."""
    shown = [row for row in rows if row["function"].startswith(function) and row["objective"].startswith("macro-f")]
    shown = shown or [row for row in rows if row["function"].startswith(function)]
    if not shown:
        return None
    lines = sorted({(row["function"], row["objective"]) for row in shown})
    functions = sorted({row["function"] for row in shown})
    figure, axes = _subplots(1, 4, (11.5, 3.1))
    for ax, (column, title) in zip(axes.flat, _SENSITIVITY_PANELS.items(), strict=True):
        for name, objective in lines:
            own = [row for row in shown if (row["function"], row["objective"]) == (name, objective)]
            absence = find_objective(objective).predict_absence
            # With one function the colours tell objectives apart, with several the functions.
            colour = COLOURS[functions.index(name)] if len(functions) > 1 else COLOURS[int(absence)]
            label = (
                f"{find_objective(objective).title}, {name}" if len(functions) > 1 else find_objective(objective).title
            )
            values = [row[column] for row in own]
            ax.plot([row["lift"] for row in own], values, "--" if absence else "-", color=colour, label=label)
        ax.set_title(title)
        ax.set_ylim(bottom=0)
        if column == "label_condition_share":
            ax.yaxis.set_major_formatter("{x:.0%}")
    for ax in axes:
        ax.set_xlabel(f"lift at {functions[0].split()[-1]} labels" if len(functions) == 1 else "lift at the peak")
    figure.legend(*axes[0].get_legend_handles_labels(), fontsize=9.5, loc="outside lower center", ncols=6)
    return Drawing(f"sensitivity-{function}", figure)


@_styled
def training_times(times: Sequence[Times]) -> Drawing | None:
    """The training time of relaxed pruning as a multiple of that of normal pruning, against the latter."""
    if not times:
        return None
    figure, ax = _subplots(1, 1, (11.5, 5.0))
    noise = np.array([ratio for one in times for ratio in one.noise])
    low, high = np.quantile(noise, [0.05, 0.95])
    ax.axhspan(low, high, color=LIGHT, zorder=0, label="noise: normal against normal, 90 % of the ratios")
    ax.axhspan(
        1 - SPEEDUP[1],
        1 - SPEEDUP[0],
        facecolor="none",
        edgecolor=GREY,
        hatch="////",
        linewidth=0,
        alpha=0.45,
        zorder=0,
        label="published as typical: 10 to 25 % faster",
    )
    ax.axhline(1, color=GREY, linewidth=1)
    objectives = list(dict.fromkeys(one.objective for one in times))
    for objective in objectives:
        own = [one for one in times if one.objective == objective]
        colour, filled = _objective_style(objective, objectives)
        x = np.array([one.normal_seconds for one in own])
        y = np.array([one.ratio for one in own])
        spread = np.abs(np.array([[one.ratio - min(one.ratios), max(one.ratios) - one.ratio] for one in own]).T)
        ax.errorbar(x, y, spread, fmt="o", color=colour, markerfacecolor=colour if filled else "white", markersize=5.5,
                    elinewidth=0.9, markeredgewidth=1.4, label=find_objective(objective).title)  # fmt: skip
    ax.set_xscale("log")
    # A half is as far from the same as twice.
    ax.set_yscale("log", base=2)
    for name in dict.fromkeys(one.dataset for one in times):
        xs = [one.normal_seconds for one in times if one.dataset == name]
        ax.annotate(name, (float(np.exp(np.mean(np.log(xs)))), 1.0), xycoords=("data", "axes fraction"), ha="center",
                    va="bottom", rotation=30, fontsize=9.5, color=GREY)  # fmt: skip
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.3g} ×")
    ax.set(xlabel="training time of normal pruning (CPU seconds)", ylabel="time of relaxed pruning / normal")
    figure.legend(*ax.get_legend_handles_labels(), fontsize=9.5, loc="outside lower center", ncols=4)
    return Drawing("training-times", figure)


def _objective_style(objective: str, objectives: Sequence[str]) -> tuple[str, bool]:
    """Colour by what is measured, filled or not by whether absence is predicted."""
    families = list(dict.fromkeys(name.rstrip("+-") for name in objectives))
    return COLOURS[families.index(objective.rstrip("+-")) % len(COLOURS)], not find_objective(objective).predict_absence


@_styled
def changes(pairs: Sequence[Pair]) -> Drawing | None:
    """What relaxed pruning changes in the models: one number per data set and objective, as coloured tables."""
    sets = list(dict.fromkeys(pair.dataset for pair in pairs))
    objectives = list(dict.fromkeys(pair.objective for pair in pairs))
    if not pairs:
        return None
    panels: dict[str, Any] = {
        "rules: relaxed / normal": lambda p: _ratio(*p.size("rules")),
        "conditions per rule: relaxed / normal": lambda p: _ratio(*p.conditions_per_rule()),
        "labels per head: relaxed / normal": lambda p: _ratio(*p.labels_per_head()),
    }
    figure, axes = _subplots(1, 3, (11.5, 1.2 + 0.32 * len(sets)), sharey=True)
    for ax, (title, value) in zip(axes, panels.items(), strict=True):
        table = np.full((len(sets), len(objectives)), np.nan)
        for pair in pairs:
            table[sets.index(pair.dataset), objectives.index(pair.objective)] = value(pair)
        ax.imshow(np.clip(np.log2(table), -2, 2), cmap="PuOr_r", vmin=-2.6, vmax=2.6, aspect="auto")
        for (row, column), number in np.ndenumerate(table):
            strong = abs(np.log2(number)) > 1.6
            ax.text(
                column, row, f"{number:.2f}", ha="center", va="center", fontsize=9.5, color="white" if strong else INK
            )
        ax.set_title(title)
        ax.set_xticks(range(len(objectives)), [find_objective(o).title for o in objectives], rotation=40, ha="right")
        ax.set_yticks(range(len(sets)), sets)
        ax.grid(False)
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)
    return Drawing("model-changes", figure)


def _ratio(before: float, after: float) -> float:
    return after / before if before and after else 1.0


@_styled
def critical_differences(ranks: Mapping[str, Comparison], name: str = "ranks") -> Drawing:
    """Average ranks of all approaches, one panel per measure; what a bar joins is not told apart."""
    rows = (len(ranks) + 1) // 2
    count = max(len(comparison.names) for comparison in ranks.values())
    figure, axes = _subplots(rows, 2, (11.5, rows * (1.1 + 0.18 * count)), squeeze=False)
    for ax, (measure, comparison) in zip(axes.flat, ranks.items(), strict=False):
        _critical_difference(ax, SHORT_MEASURES.get(measure, measure), comparison)
    for ax in axes.flat[len(ranks) :]:
        ax.set_visible(False)
    return Drawing(name, figure)


def _critical_difference(ax: Any, title: str, comparison: Comparison) -> None:
    """One panel: names on both sides of an axis of ranks, best on the left."""
    order = comparison.by_rank()
    count = len(order)
    half = (count + 1) // 2
    ax.set(xlim=(-0.28 * count, 1.28 * count + 1))
    ax.axis("off")
    ax.plot([1, count], [0, 0], color=INK, linewidth=1)
    for mark in range(1, count + 1):
        ax.plot([mark, mark], [0, 0.14], color=INK, linewidth=1)
        ax.text(mark, 0.22, str(mark), ha="center", va="bottom", fontsize=9.5, color=GREY)
    groups = _indistinct(order, comparison.critical_difference)
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
    if comparison.critical_difference is not None:
        end = min(1 + comparison.critical_difference, count)
        ax.plot([1, end], [0.95, 0.95], color=GREY, linewidth=1.2)
        ax.text(
            (1 + end) / 2,
            1.0,
            f"CD = {comparison.critical_difference:.2f}",
            ha="center",
            va="bottom",
            fontsize=9.5,
            color=GREY,
        )


def _indistinct(order: Sequence[tuple[str, float]], distance: float | None) -> list[tuple[float, float]]:
    """Stretches of ranks that are not told apart, none inside another."""
    if distance is None:
        return []
    ranks = [rank for _, rank in order]
    found: list[tuple[float, float]] = []
    for low in ranks:
        high = max(rank for rank in ranks if rank - low <= distance)
        if high > low and (not found or high > found[-1][1]):
            found.append((low, high))
    return found
