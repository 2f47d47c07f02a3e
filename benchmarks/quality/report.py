"""The numbers as tables with what was asked for, and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.engine.machine import in_words
from benchmarks.pages import markdown_table, pyplot
from benchmarks.quality.data import KNOWN, SETS
from benchmarks.quality.fit_once import (
    BAGGED,
    CONSTANT,
    CONSTANT_FOR_HAMMING,
    EXPRESSIVE,
    FOR_HAMMING,
    FOR_MACRO,
    FOREST,
    OUT_OF_THE_BOX,
    TREE,
)
from benchmarks.quality.running import LEARNERS, PEERS

COMPARISON, STUDY = "comparison", "study"
SECO = ("SeCo", "SeCo, KLN")
SEVERAL = ("flags", "emotions", "yeast", "enron", "CHD_49")
"""Sets whose instances have about two labels or more."""

Results = dict[str, Any]


def comparison_page(results: Results) -> str:
    """What was asked for and whether it holds, then a table per measure."""
    parts = ["### What was asked for", claims(results)]
    for measure, title in (
        ("micro_f1", "Micro F1"),
        ("macro_f1", "Macro F1"),
        ("hamming_accuracy", "Hamming accuracy"),
        ("subset_accuracy", "Subset accuracy"),
        ("rules", "Rules"),
        ("several", "Rules with several labels in the head, or a label in the body"),
        ("conditions", "Conditions"),
        ("cpu", "CPU seconds to train, one thread"),
    ):
        parts += [f"### {title}", _table(results, measure)]
    version = next((r["version"] for one in results["sets"].values() for r in one.values() if "version" in r), None)
    notes = [in_words(results["machine"])]
    if version:
        notes.append(f"mlrl {version}; fits of mlrl that took longer than the CPU seconds after > were given up")
    return "\n\n".join([*parts, "  \n".join(notes)]) + "\n"


def short_page(results: Results) -> str:
    """Micro F1 with the number of rules, for README."""
    columns = (OUT_OF_THE_BOX, CONSTANT, "SeCo", "BOOMER", "BOOMER, tuned", TREE, FOREST)
    rows = []
    for name in _sets(results):
        cells = [name]
        for learner in columns:
            result = results["sets"][name].get(learner, {})
            rules = f" ({result['rules']:,.0f})" if "rules" in result else ""
            cells.append(_cell(result, "micro_f1") + rules)
        rows.append(cells)
    return markdown_table(("micro F1 (rules)", *columns), rows) + "\n"


@dataclass(frozen=True)
class Claim:
    """That one learner is above another on most sets."""

    learner: str
    others: tuple[str, ...]
    measure: str = "micro_f1"
    on: tuple[str, ...] = SETS
    least: int | None = None
    """On how many sets it must hold; on every set, unless given."""
    strictly: bool = True

    def row(self, results: Results) -> tuple[str, str, str, str]:
        """What was asked for, on how many sets, on how many it holds, and on which it does not."""
        found = {name: self._holds(results["sets"][name]) for name in _sets(results) if name in self.on}
        known = {name: holds for name, holds in found.items() if holds is not None}
        words = "above" if self.strictly else "not below"
        text = f"{self.learner}: {self.measure.replace('_', ' ')} {words} {', '.join(self.others)}"
        wanted = "every set" if self.least is None else f"{self.least} of {len(self.on)}"
        fails = [name for name, holds in known.items() if not holds]
        return text, wanted, f"{len(known) - len(fails)} of {len(known)}", ", ".join(fails) or "–"

    def _holds(self, found: Results) -> bool | None:
        mine = found.get(self.learner, {}).get(self.measure)
        theirs = [value for one in self.others if (value := found.get(one, {}).get(self.measure)) is not None]
        if mine is None or not theirs:
            return None
        return bool(mine > max(theirs) if self.strictly else mine >= max(theirs))


CLAIMS = (
    Claim(OUT_OF_THE_BOX, (CONSTANT,)),
    Claim(OUT_OF_THE_BOX, SECO),
    Claim(OUT_OF_THE_BOX, (TREE,), on=KNOWN, least=9),
    Claim(OUT_OF_THE_BOX, (*SECO, TREE), "macro_f1", on=KNOWN, least=7),
    Claim(FOR_MACRO, (*SECO, TREE), "macro_f1", on=KNOWN, least=7),
    Claim(OUT_OF_THE_BOX, ("BOOMER",), on=KNOWN, least=6),
    Claim(OUT_OF_THE_BOX, ("BOOMER, tuned",), on=KNOWN, least=6),
    Claim(BAGGED, ("BOOMER",), on=KNOWN, least=8),
    Claim(BAGGED, ("BOOMER, tuned",), on=KNOWN, least=8),
    Claim(FOR_HAMMING, (*SECO, TREE, CONSTANT_FOR_HAMMING), "hamming_accuracy", strictly=False),
    Claim(FOR_HAMMING, ("BOOMER",), "hamming_accuracy", on=KNOWN, least=5),
)


def claims(results: Results) -> str:
    """What was asked for, as a table, then means."""
    rows = [row for row in (one.row(results) for one in CLAIMS) if row[2] != "0 of 0"]
    table = markdown_table(("asked for", "on at least", "holds on", "fails on"), rows)
    means = []
    for learner in (OUT_OF_THE_BOX, EXPRESSIVE):
        known = [results["sets"][name].get(learner, {}) for name in _sets(results) if name in KNOWN]
        scores, rules = ([one[what] for one in known if what in one] for what in ("micro_f1", "rules"))
        telling = [results["sets"][name].get(learner, {}) for name in _sets(results) if name in SEVERAL]
        counts = [(one["several"], one["rules"]) for one in telling if "several" in one]
        if scores and counts:
            shares = sum(several for several, _ in counts) / max(1, sum(total for _, total in counts))
            mean = f"mean micro F1 {np.mean(scores):.3f} over {len(scores)} known sets, at most {max(rules):.0f} rules"
            telling_of = "of the rules have several labels in the head or a label in the body"
            means.append(f"{learner}: {mean}; on {', '.join(SEVERAL)}, {shares:.0%} {telling_of}")
    return "\n\n".join([table, *means])


def _sets(results: Results) -> list[str]:
    """The sets that there are results of, in their usual order."""
    return [name for name in SETS if name in results["sets"]]


def _table(results: Results, measure: str) -> str:
    columns = [one for one in LEARNERS if measure not in ("several", "conditions") or one not in PEERS]
    columns = [one for one in columns if any(_cell(r.get(one, {}), measure) != "–" for r in results["sets"].values())]
    found = results["sets"]
    rows = [[name, *(_cell(found[name].get(one, {}), measure) for one in columns)] for name in _sets(results)]
    return markdown_table(("", *columns), rows)


def _cell(result: Results, measure: str) -> str:
    if measure == "cpu" and "gave_up" in result:
        return f"> {result['gave_up']:.0f}"
    if measure not in result:
        return "–"
    value = result[measure]
    if measure == "cpu":
        return f"{value:.2f}" if value < 10 else f"{value:.0f}"
    return f"{value:.0f}" if measure in ("rules", "several", "conditions") else f"{value:.3f}"


def study_page(results: Results) -> str:
    """Per setting, the difference of micro F1 to the defaults on each set, its mean, and mean sizes and scores."""
    sets = _sets(results)
    settings = list(next(iter(results["sets"].values())))
    lines: list[list[str]] = []
    gained = study_gains(results)
    for setting in settings:
        rows = {name: results["sets"][name].get(setting) for name in sets}
        known = [row for row in rows.values() if row]
        if setting == "defaults":
            cells = [f"{row['micro_f1']:.3f}" if row else "–" for row in rows.values()]
            mean = f"{np.mean([row['micro_f1'] for row in known]):.3f}"
        else:
            gains = gained[setting]
            cells = [f"{gains[name]:+.1f}" if name in gains else "–" for name in sets]
            mean = f"{np.mean(list(gains.values())):+.1f}"
        also = [f"{np.mean([row[m] for row in known]):.3f}" for m in ("hamming_accuracy", "subset_accuracy")]
        rules = f"{np.mean([row['rules'] for row in known]):.0f}"
        lines.append([setting, *cells, mean, *also, rules])
    said = "Micro F1 on held-out folds of the training parts; others: the difference to the defaults, in hundredths."
    table = markdown_table(("", *sets, "mean", "HA", "subset accuracy", "rules"), lines)
    return f"{said}\n\n{table}\n\n{in_words(results['machine'])}\n"


def draw(results: Results, path: Path) -> None:
    """Micro F1 against the number of rules, where there are rules, one panel per set."""
    plt = pyplot()
    sets = _sets(results)
    rows = -(-len(sets) // 5)
    figure, axes = plt.subplots(rows, 5, figsize=(15, 3 * rows), layout="constrained", squeeze=False)
    for axis in axes.flat[len(sets) :]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, sets, strict=False):
        for i, learner in enumerate(LEARNERS):
            result = results["sets"][name].get(learner, {})
            if "micro_f1" not in result:
                continue
            if "rules" in result:
                axis.scatter(max(result["rules"], 1), result["micro_f1"], color=f"C{i}", label=learner)
            else:
                axis.axhline(result["micro_f1"], color=f"C{i}", linewidth=1, linestyle="--", label=learner)
        axis.set_xscale("log")
        axis.set(title=name, xlabel="rules", ylabel="micro F1")
    handles, names = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_study(results: Results, path: Path) -> None:
    """What each setting of the study gains over the defaults, a dot per set and the mean."""
    plt = pyplot()
    sets = _sets(results)
    gains = study_gains(results)
    figure, axis = plt.subplots(figsize=(9, 1.5 + 0.3 * len(gains)), layout="constrained")
    axis.axvline(0, color="grey", linewidth=1)
    for i, name in enumerate(sets):
        places = [place for place, found in enumerate(gains.values()) if name in found]
        axis.scatter([list(gains.values())[p][name] for p in places], places, s=14, color=f"C{i}", label=name)
    means = [np.mean(list(found.values())) for found in gains.values()]
    axis.scatter(means, range(len(gains)), marker="|", s=160, color="black", label="mean")
    axis.set_yticks(range(len(gains)), list(gains))
    axis.invert_yaxis()
    axis.set_xlabel("micro F1 on held-out folds, difference to the defaults in hundredths")
    figure.legend(loc="outside lower center", ncols=6, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def study_gains(results: Results) -> dict[str, dict[str, float]]:
    """Per setting but the defaults, and per set where it learned anything: hundredths of micro F1 gained."""
    gains: dict[str, dict[str, float]] = {}
    for name in _sets(results):
        found = results["sets"][name]
        for setting, row in found.items():
            if setting != "defaults":
                gain = 100 * (row["micro_f1"] - found["defaults"]["micro_f1"])
                gains.setdefault(setting, {})[name] = gain
    return gains
