"""Checks of published statements: each looks at the results and says whether the statement holds, with numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurule.lifts import LiftName
from plurule.paper import analysis
from plurule.paper.analysis import Pair, Times, approach_name
from plurule.paper.experiment import Results
from plurule.paper.published import BEST, SPEEDUP
from plurule.paper.selected_rules import Selection
from plurule.paper.statistics import Comparison, Tally, rank_correlation, sign_test
from plurule.selection.objectives import find_objective
from plurule.titles import SHORT_MEASURES

CLEAR = 0.7
"""A rank correlation of this size counts as a trend."""
MACRO = ("macro-f+", "macro-f+-")


@dataclass(frozen=True)
class Verdict:
    """Whether a statement holds here; None if these experiments cannot tell."""

    holds: bool | None
    numbers: str


class Evidence:
    """The results, in the forms that statements ask for; the discretised versions of sets are left out."""

    def __init__(self, results: Results, selections: list[Selection]) -> None:
        self.results = results
        self.selections = selections
        self.sets = analysis.compared_sets(results)

    @cached_property
    def pairs(self) -> list[Pair]:
        """All pairs of final models."""
        return analysis.pairs(self.results, self.sets)

    @cached_property
    def times(self) -> list[Times]:
        """Training times."""
        return [one for one in analysis.times(self.results) if one.dataset in self.sets]

    @cached_property
    def wins(self) -> dict[str, dict[str, Tally]]:
        """Wins, losses and ties."""
        return analysis.win_table(self.results, self.sets)

    @cached_property
    def ranks(self) -> dict[str, Comparison]:
        """Average ranks."""
        return analysis.rank_table(self.results, self.sets)

    @cached_property
    def curves(self) -> dict[tuple[str, str], dict[str, list[float]]]:
        """Sensitivity: by objective and lift function, the columns of numbers."""
        found: dict[tuple[str, str], dict[str, list[float]]] = {}
        for row in analysis.sensitivity_rows(self.results):
            columns = found.setdefault((row["objective"], row["function"]), {})
            for name, value in row.items():
                if isinstance(value, int | float):
                    columns.setdefault(name, []).append(float(value))
        return found

    def macro_curves(self, functions: str) -> dict[str, dict[str, list[float]]]:
        """Sensitivity of the macro F objectives, which the paper looks at, to a kind of lift function."""
        return {o: c for (o, f), c in self.curves.items() if o in MACRO and f.startswith(functions)}

    def total(self, objective: str) -> Tally:
        """Wins, losses and ties of an objective over all measures."""
        return sum(self.wins[objective].values(), Tally(0, 0, 0))

    def correlations(self, name: str, functions: str) -> dict[str, float]:
        """Rank correlation of the lift and a column, for the macro F objectives and the functions of a kind."""
        return {
            f"{find_objective(objective).title} {function}": rank_correlation(columns["lift"], columns[name])
            for (objective, function), columns in self.curves.items()
            if objective in MACRO and function.startswith(functions)
        }


def _listed(numbers: dict[str, float], form: str = "{:+.2f}") -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in numbers.items())


def _share(count: int, total: int) -> str:
    return f"{count} of {total} ({count / max(total, 1):.0%})"


def trend(evidence: Evidence, names: dict[str, int], functions: str) -> Verdict:
    """Whether columns rise (1) or fall (-1) with the lift."""
    found = {name: evidence.correlations(name, functions) for name in names}
    if not any(found.values()):
        return Verdict(None, "no sensitivity analysis was run for macro F")
    holds = all(sign * float(np.mean(list(found[name].values()))) >= CLEAR for name, sign in names.items())
    parts = [f"{name.replace('_', ' ')}: {_listed(values)}" for name, values in found.items()]
    return Verdict(holds, "; ".join(parts))


def too_high(evidence: Evidence) -> Verdict:
    curves = evidence.macro_curves("kln")
    if not curves:
        return Verdict(None, "no sensitivity analysis was run for macro F")
    parts, holds = [], True
    for objective, columns in curves.items():
        accuracy, length = columns["training_hamming_accuracy"], columns["conditions_per_rule"]
        holds &= accuracy[-1] <= accuracy[0] - 0.05 and length[-1] <= length[0] * 2 / 3
        parts.append(
            f"{find_objective(objective).title} at lift {columns['lift'][-1]:.2f}: training HA {accuracy[-1]:.3f} "
            f"instead of {accuracy[0]:.3f}, {length[-1]:.1f} conditions per rule instead of {length[0]:.1f}"
        )
    return Verdict(holds, "; ".join(parts))


def label_conditions_vanish(evidence: Evidence) -> Verdict:
    curves = evidence.macro_curves("kln")
    if not curves:
        return Verdict(None, "no sensitivity analysis was run for macro F")
    parts, holds = [], True
    for objective, columns in curves.items():
        shares = np.array(columns["label_condition_share"])
        beyond = shares[np.array(columns["lift"]) >= 1.2]
        holds &= bool(len(beyond) and beyond.mean() <= 0.02)
        parts.append(
            f"{find_objective(objective).title}: {shares[0]:.1%} without lift, "
            f"{beyond.mean():.1%} on average from lift 1.2 on"
        )
    return Verdict(holds, "; ".join(parts))


def peak_limits_heads(evidence: Evidence) -> Verdict:
    same = trend(evidence, {"rules": -1, "labels_per_head": 1}, "peak")
    longest = {
        f"{find_objective(o).title} {f}": max(columns["longest_head"])
        for (o, f), columns in evidence.curves.items()
        if o in MACRO
    }
    kln = [value for name, value in longest.items() if "kln" in name]
    peak = [value for name, value in longest.items() if "peak" in name]
    if not kln or not peak:
        return Verdict(None, "no sensitivity analysis was run for macro F")
    holds = bool(same.holds) and float(np.mean(peak)) < float(np.mean(kln))
    return Verdict(holds, f"{same.numbers}; longest head: {_listed(longest, '{:.0f}')}")


def compact(evidence: Evidence, pairs: list[Pair]) -> Verdict:
    if not pairs:
        return Verdict(None, "it was not run")
    fewer = sum(p.size("rules")[1] < p.size("rules")[0] for p in pairs)
    longer = sum(p.labels_per_head()[1] > p.labels_per_head()[0] for p in pairs)
    shorter = sum(p.conditions_per_rule()[1] < p.conditions_per_rule()[0] for p in pairs)
    labels = sum(p.size("label_conditions")[1] <= p.size("label_conditions")[0] for p in pairs)
    half = len(pairs) / 2
    return Verdict(
        min(fewer, longer, shorter, labels) > half,
        f"fewer rules in {_share(fewer, len(pairs))}, longer heads in {longer}, "
        f"fewer conditions per rule in {shorter}, no more label conditions in {labels}",
    )


def faster(evidence: Evidence) -> Verdict:
    ratios = [one.ratio for one in evidence.times]
    if not ratios:
        return Verdict(None, "no times were measured")
    faster = sum(ratio < 1 for ratio in ratios)
    return Verdict(faster > len(ratios) / 2, f"faster in {_share(faster, len(ratios))} cases")


def typical_speedup(evidence: Evidence) -> Verdict:
    ratios = np.array([one.ratio for one in evidence.times])
    if not len(ratios):
        return Verdict(None, "no times were measured")
    speedups = 1 - ratios
    median, (low, high) = float(np.median(speedups)), np.quantile(speedups, [0.25, 0.75])
    within = int(((speedups >= SPEEDUP[0]) & (speedups <= SPEEDUP[1])).sum())
    return Verdict(
        SPEEDUP[0] <= median <= SPEEDUP[1],
        f"median {median:.0%}, middle half {low:.0%} to {high:.0%}; "
        f"between 10 and 25 % in {_share(within, len(ratios))}",
    )


def rules_explain_time(evidence: Evidence) -> Verdict:
    if not evidence.times:
        return Verdict(None, "no times were measured")
    rules = {(p.dataset, p.objective): p.size("rules")[1] / max(p.size("rules")[0], 1) for p in evidence.pairs}
    keys = [(one.dataset, one.objective) for one in evidence.times]
    found = rank_correlation([rules[key] for key in keys], [one.ratio for one in evidence.times])
    return Verdict(found >= 0.4, f"rank correlation of the ratio of rules and the ratio of times: {found:+.2f}")


def shorter_bodies(evidence: Evidence) -> Verdict:
    shorter = sum(p.conditions_per_rule()[1] < p.conditions_per_rule()[0] for p in evidence.pairs)
    means = np.mean([p.conditions_per_rule() for p in evidence.pairs], axis=0)
    return Verdict(
        shorter > len(evidence.pairs) / 2,
        f"fewer in {_share(shorter, len(evidence.pairs))} cases; "
        f"on average {means[0]:.2f} normal, {means[1]:.2f} relaxed",
    )


def comparable(evidence: Evidence) -> Verdict:
    total = sum((evidence.total(o) for o in evidence.wins), Tally(0, 0, 0))
    p_value = sign_test(total)
    gaps = [b - a for p in evidence.pairs for a, b in [p.score(find_objective(p.objective).measure)]]
    mean = float(np.mean(gaps))
    return Verdict(
        abs(mean) < 0.02,
        f"all measures, sets and objectives: {total} (sign test p = {p_value:.2g}); the target measure changes by "
        f"{mean:+.4f} on average, from {min(gaps):+.3f} to {max(gaps):+.3f}",
    )


def tally_of(objective: str, direction: int) -> Callable[[Evidence], Verdict]:
    """Whether relaxed pruning wins (1) or loses (-1) with an objective, or neither (0), over all measures."""

    def check(evidence: Evidence) -> Verdict:
        if objective not in evidence.wins:
            return Verdict(None, f"{find_objective(objective).title} was not run")
        total = evidence.total(objective)
        parts = ", ".join(f"{SHORT_MEASURES[m]} {t}" for m, t in evidence.wins[objective].items())
        lead = total.wins - total.losses
        holds = abs(lead) <= 0.2 * (total.wins + total.losses) if direction == 0 else direction * lead > 0
        return Verdict(holds, f"{total} over all measures ({parts})")

    return check


def best_rank(measure: str) -> Callable[[Evidence], Verdict]:
    def check(evidence: Evidence) -> Verdict:
        objective = BEST[measure]
        if objective not in evidence.wins:
            return Verdict(None, f"{find_objective(objective).title} was not run")
        comparison, name = evidence.ranks[measure], approach_name(objective, relaxed=True)
        order = comparison.by_rank()
        place = [n for n, _ in order].index(name) + 1
        top = ", ".join(f"{n} {rank:.2f}" for n, rank in order[:3])
        own = dict(order)[name]
        return Verdict(comparison.best() == name, f"{name} is {place} of {len(order)} with {own:.2f}; first are {top}")

    return check


def peak_preferred(evidence: Evidence) -> Verdict:
    kinds = [LiftName.parse(p.lift).kind for p in evidence.pairs]
    peak = kinds.count("peak")
    offered = [LiftName.parse(lift).kind for lift in evidence.results.plan.lifts]
    return Verdict(
        peak > len(kinds) / 2,
        f"in {_share(peak, len(kinds))} choices; {offered.count('peak')} of {len(offered)} candidates are Peak",
    )


def clearly_above_one(evidence: Evidence) -> Verdict:
    heights = [LiftName.parse(p.lift).height for p in evidence.pairs]
    at_least = sum(height >= 1.08 for height in heights)
    return Verdict(
        float(np.median(heights)) >= 1.08,
        f"median {np.median(heights):.2f}, mean {np.mean(heights):.3f}; "
        f"at least 1.08 in {_share(at_least, len(heights))}",
    )


def cardinality(evidence: Evidence) -> Verdict:
    cardinality = [evidence.results.sets[p.dataset].facts["cardinality"] for p in evidence.pairs]
    heights = [LiftName.parse(p.lift).height for p in evidence.pairs]
    if len(set(cardinality)) < 4:
        return Verdict(None, "too few sets to tell")
    found = rank_correlation(cardinality, heights)
    return Verdict(abs(found) >= 0.4, f"rank correlation of labels per instance and chosen lift: {found:+.2f}")


def greater_peak(evidence: Evidence) -> Verdict:
    peaks: dict[bool, list[int]] = {False: [], True: []}
    for pair in evidence.pairs:
        if LiftName.parse(pair.lift).kind == "peak":
            peaks[find_objective(pair.objective).predict_absence].append(LiftName.parse(pair.lift).labels)
    if not peaks[False] or not peaks[True]:
        return Verdict(None, "Peak was not chosen both with and without predicting absence")
    presence, both = float(np.mean(peaks[False])), float(np.mean(peaks[True]))
    return Verdict(both > presence, f"mean peak {presence:.2f} labels for +, {both:.2f} for +-")


def equivalent(evidence: Evidence) -> Verdict:
    found = [s for s in evidence.selections if s.equivalence is not None]
    if not found:
        return Verdict(False, "no label condition of the rules looked at says the same as a head")
    one = found[0].equivalence
    assert one is not None
    return Verdict(
        True,
        f"{found[0].dataset}: “{one.condition_rule.to_text()}” and “{one.label_rule.to_text()}” in one model, "
        f"“{one.joint_rule.to_text()}” in the other",
    )


def more_heads(evidence: Evidence) -> Verdict:
    pairs = evidence.pairs
    heads = sum(p.size("multi_label_heads")[1] > p.size("multi_label_heads")[0] for p in pairs)
    labels = sum(p.size("label_conditions")[1] < p.size("label_conditions")[0] for p in pairs)
    more = sum(p.size("label_conditions")[1] > p.size("label_conditions")[0] for p in pairs)
    return Verdict(
        heads > len(pairs) / 2 and labels > more,
        f"more multi-label heads in {_share(heads, len(pairs))} cases, "
        f"fewer label conditions in {labels}, more in {more}",
    )


def compact_representation(evidence: Evidence) -> Verdict:
    pairs = evidence.pairs
    smaller = sum(
        sum(p.size(n)[1] for n in ("rules", "conditions")) < sum(p.size(n)[0] for n in ("rules", "conditions"))
        for p in pairs
    )
    ratio = float(np.median([p.size("conditions")[1] / max(p.size("conditions")[0], 1) for p in pairs]))
    return Verdict(
        smaller > len(pairs) / 2,
        f"fewer rules and conditions together in {_share(smaller, len(pairs))} cases; "
        f"median ratio of conditions {ratio:.2f}",
    )


def gains(evidence: Evidence) -> Verdict:
    gaining = {o: evidence.total(o) for o in evidence.wins if evidence.total(o).wins > evidence.total(o).losses}
    parts = ", ".join(f"{find_objective(o).title} {evidence.total(o)}" for o in evidence.wins)
    return Verdict(
        len(gaining) >= len(evidence.wins) / 2,
        f"more wins than losses for {len(gaining)} of {len(evidence.wins)}: {parts}",
    )


def rare_heads(evidence: Evidence) -> Verdict:
    heads = sum(p.size("multi_label_heads")[0] for p in evidence.pairs)
    rules = sum(p.size("rules")[0] for p in evidence.pairs)
    share = heads / max(rules, 1)
    return Verdict(
        share < 0.05, f"{heads:.0f} of {rules:.0f} rules learned without lift predict several labels ({share:.1%})"
    )


def approximation(evidence: Evidence) -> Verdict:
    rows = [row for row in analysis.variant_rows(evidence.results) if row["variant"] == "exhaustive"]
    if not rows:
        return Verdict(None, "no set is small enough for looking at all label sets")
    parts = [
        f"{row['set']}, {find_objective(row['objective']).title}: micro F1 {row['micro_f1_as_published']:.3f} with "
        f"relaxed pruning ({row['rules_as_published']} rules), {row['micro_f1']:.3f} with the best of all heads "
        f"({row['rules']} rules)"
        for row in rows
    ]
    gap = float(np.mean([row["micro_f1_as_published"] - row["micro_f1"] for row in rows]))
    return Verdict(gap >= -0.02, "; ".join(parts))


def fixed_heads(evidence: Evidence) -> Verdict:
    rows = [row for row in analysis.variant_rows(evidence.results) if row["variant"] == "free head"]
    if not rows:
        return Verdict(None, "no set is small enough for trying it by the way")
    fixed = sum(row["multi_label_heads_as_published"] for row in rows)
    free = sum(row["multi_label_heads"] for row in rows)
    fewer = sum(row["multi_label_heads"] < row["multi_label_heads_as_published"] for row in rows)
    return Verdict(
        fewer > len(rows) / 2,
        f"{fixed} multi-label heads with fixed heads, {free} without; fewer in {_share(fewer, len(rows))} cases",
    )


def fixed_heads_time(evidence: Evidence) -> Verdict:
    ratios = []
    for pair in evidence.pairs:
        key = f"variant/{pair.dataset}/{pair.objective}/{pair.lift}/0/free head"
        if key in evidence.results.records:
            ratios.append(
                pair.relaxed["seconds"]["train"] / max(evidence.results.records[key]["seconds"]["train"], 1e-9)
            )
    if not ratios:
        return Verdict(None, "no set is small enough for trying it by the way")
    faster = sum(ratio < 1 for ratio in ratios)
    return Verdict(
        faster > len(ratios) / 2,
        f"less time in {_share(faster, len(ratios))} cases, median ratio {np.median(ratios):.2f}",
    )
