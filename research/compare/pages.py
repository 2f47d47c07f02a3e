"""Results of the comparison as tables in Markdown, and as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from research.compare.learners import CONSTANT
from research.compare.trials import SCORES, SECONDS, SIZES, Result
from research.machine import describe, in_words
from research.pages import markdown_table, pyplot
from research.paper.statistics import Comparison, compare

Results = dict[str, dict[str, list[Result]]]
TITLES = {
    "hamming_accuracy": "Hamming accuracy",
    "micro_f1": "Micro F1",
    "macro_f1": "Macro F1",
    "example_f1": "Example-based F1",
    "subset_accuracy": "Subset accuracy",
    "rules": "Rules",
    "conditions": "Conditions",
    "labels_per_head": "Labels per head",
    "relating": "Share of rules that relate labels",
    "fit": "CPU seconds to fit",
    "predict": "CPU seconds to predict",
}
WINS = "Where each learner wins"
SECTIONS = (("scores", SCORES), ("sizes", SIZES), ("seconds", SECONDS))
RANKS_NOTE = "<p class='note'>Learners in the grey band are not told apart from the best by Nemenyi's test.</p>"
STYLE = Path(__file__).parents[1] / "paper" / "templates" / "style.css"


def mean(trials: Sequence[Result], section: str, name: str) -> float | None:
    """Return the mean over the parts; None if a part has no such value."""
    values = [trial.get(section, {}).get(name) for trial in trials]
    return None if not values or None in values else float(np.mean(values))


def half_width(trials: Sequence[Result], measure: str) -> float | None:
    """Return half of a 95 % interval: over the folds by Student's t, or over the rows of one test part by bootstrap."""
    from scipy.stats import t

    if any("scores" not in trial for trial in trials):
        return None
    if len(trials) == 1:
        low, high = trials[0]["intervals"][measure]
        return float(high - low) / 2
    values = [trial["scores"][measure] for trial in trials]
    return float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))


def cell(trials: Sequence[Result], section: str, name: str) -> str:
    """Return a value as text: scores with their interval; a dash if there is none."""
    value = mean(trials, section, name)
    if value is None:
        return "–"
    if section == "scores":
        return f"{value:.3f} ± {half_width(trials, name):.3f}"
    if name in ("rules", "conditions"):
        return f"{value:.0f}"
    if name == "relating":
        return f"{value:.0%}"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def ranks(results: Results, measure: str) -> Comparison | None:
    """Compare the learners that have a score on every data set."""
    names = complete_learners(results)
    if not names or not results:
        return None
    scores = [[mean(of_set[name], "scores", measure) for name in names] for of_set in results.values()]
    return compare(names, np.array(scores, dtype=float))


def complete_learners(results: Results) -> list[str]:
    """Return the learners that were scored on all data sets."""
    every = list(dict.fromkeys(name for of_set in results.values() for name in of_set))
    return [
        name
        for name in every
        if all(mean(of_set.get(name, []), "scores", "micro_f1") is not None for of_set in results.values())
    ]


def table(results: Results, section: str, name: str) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: learners by data sets; scores with the average rank of each learner."""
    learners = list(dict.fromkeys(learner for of_set in results.values() for learner in of_set))
    rows = []
    for learner in learners:
        cells = [cell(of_set.get(learner, []), section, name) for of_set in results.values()]
        if any(text != "–" for text in cells):
            rows.append([learner, *cells])
    head = ["", *results]
    comparison = ranks(results, name) if section == "scores" else None
    if comparison is not None:
        head.append("rank")
        for row in rows:
            rank = comparison.ranks.get(row[0])
            row.append("–" if rank is None else f"{rank:.1f}")
    return head, rows


def wins(results: Results) -> tuple[list[str], list[list[str]]]:
    """Return head and rows: on which data sets a learner has the best score, of all and of those that learn rules.

    Learners of rules are those whose conditions can be counted. Learners that are nowhere the best are left out.
    """
    best_of_all = _best_sets(results, lambda trials: True)
    best_of_rules = _best_sets(results, lambda trials: mean(trials, "sizes", "conditions") is not None)
    learners = dict.fromkeys(learner for of_set in results.values() for learner in of_set)
    rows = []
    for learner in learners:
        cells = ["; ".join(found.get(learner, [])) for found in (best_of_all, best_of_rules)]
        if any(cells):
            rows.append([learner, *(text or "–" for text in cells)])
    return ["", "best of all", "best of the rule learners"], rows


def _best_sets(results: Results, counts: Callable[[Sequence[Result]], bool]) -> dict[str, list[str]]:
    """Return for each learner the measures in which it is the best of those that count, with the data sets."""
    found: dict[str, list[str]] = {}
    for measure in SCORES:
        winners: dict[str, list[str]] = {}
        for name, of_set in results.items():
            scores = {learner: mean(trials, "scores", measure) for learner, trials in of_set.items() if counts(trials)}
            known = {learner: score for learner, score in scores.items() if score is not None}
            for learner, score in known.items():
                if score == max(known.values()):
                    winners.setdefault(learner, []).append(name)
        for learner, sets in winners.items():
            found.setdefault(learner, []).append(f"{TITLES[measure]}: {', '.join(sets)}")
    return found


def tests_in_words(results: Results, measure: str) -> str:
    """Return what the tests of Friedman and Nemenyi say."""
    comparison = ranks(results, measure)
    if comparison is None or comparison.p_value is None or comparison.critical_difference is None:
        return "Too few data sets or learners for a test."
    return (
        f"Friedman's test over {comparison.n_sets} data sets: p = {comparison.p_value:.2g}; average ranks that differ "
        f"by less than {comparison.critical_difference:.1f} are not told apart (Nemenyi, 5 %)."
    )


def errors(results: Results) -> list[str]:
    """Return what went wrong, one line per learner and data set."""
    lines = []
    for name, of_set in results.items():
        for learner, trials in of_set.items():
            failed = next((trial["error"] for trial in trials if "error" in trial), None)
            if failed is not None:
                lines.append(f"{learner} on {name}: {failed}")
    return lines


def markdown_page(results: Results, command: str) -> str:
    """Return all tables."""
    parts = [f"Made by `{command}`; scores are means ± half of a 95 % interval."]
    for section, names in SECTIONS:
        for name in names:
            head, rows = table(results, section, name)
            parts += [f"### {TITLES[name]}", markdown_table(head, rows)]
            if section == "scores":
                parts.append(tests_in_words(results, name))
    parts += [f"### {WINS}", markdown_table(*wins(results))]
    failed = errors(results)
    if failed:
        parts.append("Without a result:\n\n" + "\n".join(f"- {line}" for line in failed))
    return "\n\n".join([*parts, in_words(describe())]) + "\n"


def html_page(results: Results, command: str) -> str:
    """Return one page with plots and tables."""
    parts = [
        f"<h1>Learners of multi-label rules, compared</h1><p class='lead'>Made by <code>{escape(command)}</code>.</p>"
    ]
    comparisons = {TITLES[measure]: ranks(results, measure) for measure in SCORES}
    known = {title: comparison for title, comparison in comparisons.items() if comparison is not None}
    if len(complete_learners(results)) > 1:
        parts += [
            "<h2>Average ranks</h2>",
            RANKS_NOTE,
            _figure("Average ranks of the learners by measure", lambda: average_ranks(known)),
        ]
    parts += [
        "<h2>Micro F1 and number of rules</h2>",
        _figure("Micro F1 against the number of rules by data set", lambda: score_against_rules(results)),
    ]
    for section, names in SECTIONS:
        for name in names:
            parts += [f"<h2>{TITLES[name]}</h2>", _html_table(*table(results, section, name))]
            if section == "scores":
                parts.append(f"<p class='note'>{escape(tests_in_words(results, name))}</p>")
    parts += [f"<h2>{WINS}</h2>", _html_table(*wins(results))]
    parts += [f"<p class='failures'>{escape(line)}</p>" for line in errors(results)]
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<meta name='viewport' content='width=device-width, initial-scale=1'><title>Learners compared</title>"
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head><body>{''.join(parts)}"
        f"<footer>{escape(in_words(describe()))}</footer></body></html>\n"
    )


def average_ranks(comparisons: dict[str, Comparison]) -> Any:
    """Draw the average ranks, one panel per measure; learners in the band are not told apart from the best."""
    plt = pyplot()
    first = comparisons.get(TITLES["micro_f1"], next(iter(comparisons.values())))
    names = [name for name, _ in reversed(first.by_rank())]
    size = (11.5, 1.2 + 0.24 * len(names))
    figure, axes = plt.subplots(1, len(comparisons), figsize=size, layout="constrained", sharey=True, squeeze=False)
    for axis, (title, comparison) in zip(axes.flat, comparisons.items(), strict=True):
        axis.plot([comparison.ranks[name] for name in names], names, "o", color="#0b5d96")
        if comparison.critical_difference is not None:
            best = min(comparison.ranks.values())
            axis.axvspan(best, best + comparison.critical_difference, color="#dcdcdc", zorder=0)
        axis.set(title=title, xlabel="average rank", xlim=(0, len(names) + 1))
        axis.grid(axis="y", linewidth=0.4)
    return figure


def score_against_rules(results: Results) -> Any:
    """Draw micro F1 against the number of rules, one panel per data set; lines are learners without rules."""
    plt = pyplot()
    n_rows = -(-len(results) // 3)
    figure, axes = plt.subplots(n_rows, 3, figsize=(11.5, 3.6 * n_rows + 0.8), layout="constrained", squeeze=False)
    learners = list(dict.fromkeys(learner for of_set in results.values() for learner in of_set))
    colours = plt.get_cmap("tab20")
    for axis in axes.flat[len(results) :]:
        axis.set_visible(False)
    for axis, (name, of_set) in zip(axes.flat, results.items(), strict=False):
        for i, learner in enumerate(learners):
            score = mean(of_set.get(learner, []), "scores", "micro_f1")
            rules = mean(of_set.get(learner, []), "sizes", "rules")
            if score is not None and rules is not None:
                axis.scatter(max(rules, 1), score, color=colours(i % 20), marker="os^D"[i // 5 % 4], label=learner)
            elif score is not None:
                colour = "#444444" if learner == CONSTANT else colours(i % 20)
                line = ":" if learner == CONSTANT else "--"
                axis.axhline(score, color=colour, linestyle=line, linewidth=1, label=learner)
        axis.set(title=name, xlabel="rules", ylabel="micro F1", xscale="log")
    handles: dict[str, Any] = {}
    for axis in axes.flat:
        handles |= {label: handle for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return figure


def _figure(title: str, draw: Callable[[], Any]) -> str:
    plt = pyplot()
    with plt.rc_context({"svg.hashsalt": "plurule"}):
        figure = draw()
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
        plt.close(figure)
    encoded = base64.b64encode(buffer.getvalue().encode("utf-8")).decode("ascii")
    return f"<figure><img alt='{escape(title)}' src='data:image/svg+xml;base64,{encoded}'></figure>"


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f"<th>{escape(text)}</th>" for text in head)
    lines = ["".join(f"<td>{escape(text)}</td>" for text in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<div class='scroll'><table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
