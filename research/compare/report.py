"""Tables of the results beside what is claimed of them, and a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from research.compare.data import KNOWN, SETS
from research.compare.learners import CONSTANT, CONSTANT_FOR_HAMMING, FOREST, OTHERS, PEERS, TREE, TUNED_FOREST
from research.compare.pages import score_against_rules
from research.compare.trials import Result
from research.machine import in_words
from research.pages import markdown_table, pyplot

COMPARISON = "comparison"
"""Place of the tables in the pages."""
DEFAULT = "plurule"
EXPRESSIVE = "plurule, expressive"
FOR_HAMMING = "plurule, for HA"
FOR_MACRO = "plurule, for macro F1"
LEARNERS = {
    DEFAULT: "default",
    EXPRESSIVE: "tolerant",
    FOR_HAMMING: "for HA",
    FOR_MACRO: "for macro F1",
    **{name: name for name in (*PEERS, *OTHERS)},
}
"""Learners of the tables: how these call them, and their names in `research.compare.learners`."""
SECO = ("SeCo", "SeCo, KLN")
SEVERAL = ("flags", "emotions", "yeast", "enron", "CHD_49", "tmc2007-500", "bibtex")
"""Sets whose instances have about two labels or more."""

SHOWN_FIRST = ("emotions", "medical", "scene", "enron", "bibtex")
"""Sets of the table in README."""

Results = dict[str, Any]


def quality_of(trial: Result, limit: float) -> Results:
    """Return what the tables show of a trial."""
    if "error" in trial:
        return {"gave_up": limit} if trial.get("took_too_long") else {"error": trial["error"]}
    sizes = trial["sizes"]
    quality = {"cpu": trial["seconds"]["fit"], **trial["scores"]}
    quality |= {name: sizes[name] for name in ("rules", "conditions") if name in sizes}
    if "relating" in sizes:
        quality["several"] = round(sizes["relating"] * sizes["rules"])
    return quality


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
    notes = [in_words(results["machine"]), "Fits that took longer than the CPU seconds after > were given up."]
    return "\n\n".join([*parts, "  \n".join(notes)]) + "\n"


def short_page(results: Results) -> str:
    """Micro F1 with the number of rules beside the constant and the best peers, on a few sets, for README."""
    rows = []
    for name in _sets(results):
        if name not in SHOWN_FIRST:
            continue
        of_set = results["sets"][name]
        ours = of_set.get(DEFAULT, {})
        cells = [_cell(ours, "micro_f1") + (f" ({ours['rules']:.0f})" if "rules" in ours else "")]
        cells.append(_cell(of_set.get(CONSTANT, {}), "micro_f1"))
        cells += [_best(of_set, peers) for peers in ((*SECO, TREE), (*PEERS, TREE, FOREST, TUNED_FOREST))]
        rows.append([name, *cells])
    head = ("micro F1", "plurule (rules)", "constant", "best readable peer", "best of all peers")
    return markdown_table(head, rows) + "\n"


def _best(of_set: Results, learners: Sequence[str]) -> str:
    """Return the highest micro F1 of some learners, and whose it is."""
    scores = {name: of_set.get(name, {}).get("micro_f1") for name in learners}
    known = {name: score for name, score in scores.items() if score is not None}
    if not known:
        return "–"
    best = max(known, key=known.__getitem__)
    return f"{known[best]:.3f} ({best})"


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
    Claim(DEFAULT, (CONSTANT,)),
    Claim(DEFAULT, SECO),
    Claim(DEFAULT, (TREE,), on=KNOWN, least=9),
    Claim(DEFAULT, (*SECO, TREE), "macro_f1", on=KNOWN, least=7),
    Claim(FOR_MACRO, (*SECO, TREE), "macro_f1", on=KNOWN, least=7),
    Claim(DEFAULT, ("BOOMER",), on=KNOWN, least=6),
    Claim(DEFAULT, ("BOOMER, tuned",), on=KNOWN, least=6),
    Claim(FOR_HAMMING, (*SECO, TREE, CONSTANT_FOR_HAMMING), "hamming_accuracy", strictly=False),
    Claim(FOR_HAMMING, ("BOOMER",), "hamming_accuracy", on=KNOWN, least=5),
)


def claims(results: Results) -> str:
    """What was asked for, as a table, then means."""
    rows = [row for row in (one.row(results) for one in CLAIMS) if row[2] != "0 of 0"]
    table = markdown_table(("asked for", "on at least", "holds on", "fails on"), rows)
    means = []
    for learner in (DEFAULT, EXPRESSIVE):
        by_set = {name: results["sets"][name].get(learner, {}) for name in _sets(results)}
        fitted = [result for result in by_set.values() if "rules" in result]
        related = [result for name, result in by_set.items() if name in SEVERAL and "several" in result]
        if fitted and related:
            score = np.mean([result["micro_f1"] for result in fitted])
            n_rules = np.array([result["rules"] for result in fitted])
            n_conditions = sum(result["conditions"] for result in fitted)
            share = sum(result["several"] for result in related) / max(1, sum(result["rules"] for result in related))
            mean = f"mean micro F1 {score:.3f} over {len(fitted)} sets, {n_rules.mean():.0f} rules on average"
            size = f"at most {n_rules.max():.0f}, {n_conditions / n_rules.sum():.1f} conditions per rule"
            means.append(f"{learner}: {mean}, {size}; on {', '.join(SEVERAL)}, {share:.0%} of the rules relate labels")
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


def draw(results: Results, path: Path) -> None:
    """Draw micro F1 against the number of rules, one panel per set."""
    trials: dict[str, dict[str, list[Result]]] = {name: {} for name in _sets(results)}
    for name, of_set in trials.items():
        for learner, quality in results["sets"][name].items():
            if "micro_f1" in quality:
                sizes = {"rules": quality["rules"]} if "rules" in quality else {}
                of_set[learner] = [{"scores": {"micro_f1": quality["micro_f1"]}, "sizes": sizes}]
    figure = score_against_rules(trials)
    figure.savefig(path, dpi=110)
    pyplot().close(figure)
