"""The numbers as a table with what was asked for, and the growth as a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from research.machine import in_words
from research.pages import markdown_table, pyplot

PLACE = "engine benchmark"
"""Place of the table in the page."""

Numbers = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """A line of the table: how a measure is written, and whether it is as good as asked for."""

    what: str
    at_least: str
    aim: str
    value: Callable[[Numbers], str]
    holds: Callable[[Numbers], bool]


def _growing(what: str, at_most: float, of: str = "time per rule") -> Line:
    return Line(
        f"{of}, {what}",
        f"grows ≤ {at_most:g} ×",
        "linear",
        lambda n: f"grows {n['factor']:.1f} × ({_milliseconds(n)})",
        lambda n: n["factor"] <= at_most,
    )


LINES: dict[str, Line] = {
    "default_lists": Line(
        "lists of 40 rules, 32 bins, at most five conditions, one thread; a beam of two against one",
        "beam ≤ 3 ×",
        "≤ 2 ×",
        lambda n: ", ".join(
            f"{name} {row['cpu'] * 1e3:.0f} ms ({row['beam_of_two']:.1f} ×)" for name, row in n["sets"].items()
        ),
        lambda n: n["widest"] <= 3,
    ),
    "paper_like": Line(
        "fit time against mlrl-seco, set up as in the paper, one thread, geometric mean",
        "25 × faster",
        "40 ×",
        lambda n: f"{_at_least(n)}{n['geometric_mean']:.1f} × faster ({_ratios(n)})",
        lambda n: n["geometric_mean"] >= 25,
    ),
    "peer_defaults": Line(
        "fit time against mlrl-seco with its defaults, one thread",
        "6 × on every set",
        "10 ×",
        lambda n: f"{_at_least(n)}{n['geometric_mean']:.1f} × faster ({_ratios(n)})",
        lambda n: all(row["ratio"] >= 6 for row in n["sets"].values()),
    ),
    "threads": Line(
        "two threads against one",
        "1.7 ×",
        "1.9 ×",
        lambda n: (
            ", ".join(f"{name} {row['speedup']:.2f} × of {row['machine']:.2f}" for name, row in n["sets"].items())
            + " that two fits at the same time get here"
        ),
        lambda n: all(row["speedup"] >= 1.7 for row in n["sets"].values()),
    ),
    "labels_growth": Line(
        "time per rule, 2,000 rows, 10 → {largest} labels",
        "grows ≤ 60 ×",
        "≤ 50 ×",
        lambda n: f"grows {n['factor']:.1f} × ({_milliseconds(n)})",
        lambda n: n["factor"] <= 60,
    ),
    "rows_growth": Line(
        "time per rule, 20 attributes, 10 labels, 2,000 → {largest:,} rows, binned",
        "grows ≤ 100 ×",
        "≤ 60 ×",
        lambda n: f"grows {n['factor']:.1f} × ({_milliseconds(n)})",
        lambda n: n["factor"] <= 100,
    ),
    "many_labels": _growing("2,000 rows, {smallest:,} → {largest:,} labels", 5),
    "many_rows": _growing("20 attributes, 10 labels, {smallest:,} → {largest:,} rows, binned", 3.3),
    "many_words": _growing("2,000 rows of 50 words, 20 labels, {smallest:,} → {largest:,} sparse attributes", 3),
    "default_labels": _growing("2,000 rows, {smallest:,} → {largest:,} labels", 6, "default fit"),
    "default_classes": _growing("4,000 rows, one column of {smallest:,} → {largest:,} classes", 6, "default fit"),
    "memory": Line(
        "{rows:,} rows × 50 attributes × 20 labels, binned, 50 rules, two threads",
        "finishes, peak memory ≤ 3 × the float32 data",
        "≤ 1.5 ×",
        lambda n: (
            f"{n['wall']:.0f} s, {n['factor']:.2f} × (the data itself and Python included), "
            f"{n['without_imports']:.2f} × without what is imported"
        ),
        lambda n: n["factor"] <= 3,
    ),
    "large_sets": Line(
        "large sets, 200 rules, two threads",
        "each within 10 minutes",
        "1 minute",
        lambda n: ", ".join(f"{name} {row['wall']:.1f} s" for name, row in n["sets"].items()),
        lambda n: n["slowest"] <= 600,
    ),
    "prediction": Line(
        "predict, {rows:,} rows, {rules} rules",
        "≥ 500 M rows·rules/s per thread",
        "2,000 M",
        lambda n: f"{n['rate'] / 1e6:.0f} M rows·rules/s",
        lambda n: n["rate"] >= 5e8,
    ),
    "start": Line(
        "`import plurule` + fit on the flags, warm",
        "≤ 1 s",
        "imports only what it needs",
        lambda n: f"{n['wall']:.2f} s ({n['cpu']:.2f} s CPU)",
        lambda n: n["wall"] <= 1,
    ),
}


def _at_least(numbers: Numbers) -> str:
    return "at least " if any(row["peer_gave_up"] for row in numbers["sets"].values()) else ""


def _ratios(numbers: Numbers) -> str:
    return ", ".join(
        f"{name} {'> ' if row['peer_gave_up'] else ''}{row['ratio']:.1f}" for name, row in numbers["sets"].items()
    )


def _milliseconds(numbers: Numbers) -> str:
    first, last = numbers["seconds_per_rule"][0], numbers["seconds_per_rule"][-1]
    return f"{first * 1e3:.2f} → {last * 1e3:.1f} ms"


def table(results: dict[str, Any]) -> str:
    """A table in Markdown of what was measured."""
    rows = []
    for name, numbers in results["measures"].items():
        line = LINES[name]
        if "skipped" in numbers:
            rows.append((line.what.split(", {")[0], line.at_least, line.aim, numbers["skipped"], "–"))
            continue
        holds = "yes" if line.holds(numbers) else "no"
        rows.append((line.what.format(**numbers), line.at_least, line.aim, line.value(numbers), holds))
    notes = [in_words(results["machine"])]
    version = results["measures"].get("paper_like", {}).get("peer_version")
    if version:
        notes.append(
            f"The peer is mlrl-seco {version}; CPU seconds of one thread, medians of {results['repeats']}. A fit of "
            f"the peer is given up after {results['peer_limit']:.0f} CPU s and then counts as that long (>)."
        )
    if results["quick"]:
        notes.append("A quick run: smaller sizes, fewer sets.")
    head = ("measure", "at least", "aim", "measured", "holds")
    return markdown_table(head, rows) + "\n\n" + "  \n".join(notes) + "\n"


def draw_growth(results: dict[str, Any], path: Path) -> bool:
    """A picture of both growths, if both were measured."""
    growths = {name: results["measures"].get(name) for name in ("labels_growth", "rows_growth")}
    if any(growth is None for growth in growths.values()):
        return False
    plt = pyplot()
    from matplotlib.ticker import LogLocator

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    titles = {
        "labels_growth": ("labels", "2,000 rows, 20 attributes"),
        "rows_growth": ("rows", "20 attributes, 10 labels, 255 bins"),
    }
    for axis, (name, growth) in zip(axes, growths.items(), strict=True):
        assert growth is not None
        what, title = titles[name]
        sizes = growth["sizes"]
        milliseconds = [seconds * 1e3 for seconds in growth["seconds_per_rule"]]
        axis.loglog(sizes, milliseconds, marker="o", color="#2457a6", label="plurule")
        linear = [milliseconds[0] * size / sizes[0] for size in sizes]
        axis.loglog(sizes, linear, color="#888888", linestyle="--", linewidth=1, label="linear")
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axis.minorticks_off()
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter("{x:g}")
        axis.set_xlabel(what)
        axis.set_ylabel("CPU milliseconds per rule")
        axis.set_title(title, fontsize=10)
        axis.grid(True, which="major", alpha=0.3)
        axis.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True
