"""Checks of published statements: each looks at the results and says whether the statement holds here, with numbers.

The criterion of each check is stated in `published/statements.csv`, so that a reader can disagree. Where sets have a
numeric version, too, the analysis says which of the two is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from research.paper.analysis import CASE, Analysis, Pairs, approach_name
from research.paper.lifts import NONE, LiftName
from research.paper.objectives import find_objective
from research.paper.published import BEST, MODELS_SET, SHORT_MEASURES, SPEEDUP
from research.paper.published import table as published_table
from research.paper.statistics import Tally, rank_correlation, sign_test, tally

if TYPE_CHECKING:
    import pandas as pd

CLEAR = 0.7
"""A rank correlation of this size counts as a trend."""
MACRO = ("macro-f+", "macro-f+-")

Verdict: TypeAlias = tuple[bool, str]
"""Whether a statement holds, and the numbers that show it."""
Check: TypeAlias = Callable[[Analysis], Verdict]


class CannotTellError(Exception):
    """These experiments cannot tell whether a statement holds; the message says why."""


def _most(holds: pd.Series) -> bool:
    return bool(holds.sum() > len(holds) / 2)


def _share(holds: pd.Series) -> str:
    return f"{holds.sum()} of {len(holds)} ({holds.mean():.0%})"


def _listed(numbers: Mapping[str, float], form: str = "{:+.2f}") -> str:
    return ", ".join(f"{name} {form.format(value)}" for name, value in numbers.items())


# Sensitivity --------------------------------------------------------------------------------------------------------


def _curves(analysis: Analysis, functions: str) -> dict[tuple[str, str], pd.DataFrame]:
    """How models change with a kind of lift function, by objective: macro F, which the paper looks at."""
    table = analysis.sensitivity
    own = table[table["objective"].isin(MACRO)]
    own = own if own.empty else own[own["function"].str.startswith(functions)]
    if own.empty:
        raise CannotTellError("no sensitivity analysis was run for macro F")
    groups = own.groupby(["objective", "function"], sort=False)
    return {(find_objective(objective).title, function): curve for (objective, function), curve in groups}


def _trend(analysis: Analysis, functions: str, **signs: int) -> Verdict:
    """Whether columns rise (1) or fall (-1) with the lift."""
    curves = _curves(analysis, functions)
    parts, holds = [], True
    for name, sign in signs.items():
        found = {" ".join(title): rank_correlation(curve["lift"], curve[name]) for title, curve in curves.items()}
        holds &= bool(sign * np.mean(list(found.values())) >= CLEAR)
        parts.append(f"{name.replace('_', ' ')}: {_listed(found)}")
    return holds, "; ".join(parts)


fewer_rules_and_longer_heads = partial(_trend, functions="kln", rules=-1, labels_per_head=1)
shorter_bodies_with_the_lift = partial(_trend, functions="kln", conditions_per_rule=-1)


def too_high(analysis: Analysis) -> Verdict:
    parts, holds = [], True
    for (title, _), curve in _curves(analysis, "kln").items():
        first, last = curve.iloc[0], curve.iloc[-1]
        accuracy, length = "training_hamming_accuracy", "conditions_per_rule"
        holds &= bool(last[accuracy] <= first[accuracy] - 0.05 and last[length] <= first[length] * 2 / 3)
        parts.append(
            f"{title} at lift {last['lift']:.2f}: training HA {last[accuracy]:.3f} instead of {first[accuracy]:.3f}, "
            f"{last[length]:.1f} conditions per rule instead of {first[length]:.1f}"
        )
    return holds, "; ".join(parts)


def label_conditions_vanish(analysis: Analysis) -> Verdict:
    parts, holds = [], True
    for (title, _), curve in _curves(analysis, "kln").items():
        shares = curve["label_condition_share"]
        beyond = shares[curve["lift"] >= 1.2].mean()
        holds &= bool(beyond <= 0.02)
        parts.append(f"{title}: {shares.iloc[0]:.1%} without lift, {beyond:.1%} on average from lift 1.2 on")
    return holds, "; ".join(parts)


def peak_limits_heads(analysis: Analysis) -> Verdict:
    same, numbers = _trend(analysis, "peak", rules=-1, labels_per_head=1)
    longest = {title: float(curve["longest_head"].max()) for title, curve in _curves(analysis, "").items()}
    kln, peak = (
        float(np.mean([length for (_, function), length in longest.items() if kind in function]))
        for kind in ("kln", "peak")
    )
    listed = _listed({" ".join(title): length for title, length in longest.items()}, "{:.0f}")
    return same and peak < kln, f"{numbers}; longest head: {listed}"


def _compact(pairs: Pairs) -> Verdict:
    if pairs.normal.empty:
        raise CannotTellError("it was not run")
    fewer, longer = pairs.fewer("rules"), pairs.more("labels_per_head")
    shorter, labels = pairs.fewer("conditions_per_rule"), ~pairs.more("label_conditions")
    return (
        all(map(_most, (fewer, longer, shorter, labels))),
        f"fewer rules in {_share(fewer)}, longer heads in {longer.sum()}, "
        f"fewer conditions per rule in {shorter.sum()}, no more label conditions in {labels.sum()}",
    )


def compact_on_birds(analysis: Analysis) -> Verdict:
    holds, numbers = _compact(analysis.pairs().of("set", MODELS_SET))
    lengths = {
        (row["objective"], row["pruning"]): float(row["conditions"]) / float(row["rules"])
        for row in published_table("models")
    }
    objectives = dict.fromkeys(objective for objective, _ in lengths)
    fewer = [lengths[objective, "relaxed"] < lengths[objective, "normal"] for objective in objectives]
    return holds, f"{numbers}; in the published table, fewer conditions per rule in {sum(fewer)} of {len(fewer)}"


def compact_everywhere(analysis: Analysis) -> Verdict:
    return _compact(analysis.pairs())


# Costs --------------------------------------------------------------------------------------------------------------


def _time_ratios(analysis: Analysis) -> pd.Series:
    """Training time with the lift over that without, by data set and objective."""
    own = analysis.speed[analysis.speed["set"].isin(analysis.compared_sets())]
    if own.empty:
        raise CannotTellError("no times were measured")
    return own.set_index(CASE)["ratio"]


def faster(analysis: Analysis) -> Verdict:
    quicker = _time_ratios(analysis) < 1
    return _most(quicker), f"faster in {_share(quicker)} cases{_candidates(analysis.pairs())}"


def _candidates(pairs: Pairs) -> str:
    """Say how many candidate bodies relaxed pruning has to evaluate, which does not depend on machine and engine."""
    if "candidates" not in pairs.normal:
        return ""
    median = pairs.ratio("candidates").median()
    return f"; fewer candidate bodies in {_share(pairs.fewer('candidates'))}, median ratio {median:.2f}"


def typical_speedup(analysis: Analysis) -> Verdict:
    speedups = 1 - _time_ratios(analysis)
    median, (low, high) = speedups.median(), speedups.quantile([0.25, 0.75])
    within = speedups.between(*SPEEDUP)
    return (
        SPEEDUP[0] <= median <= SPEEDUP[1],
        f"median {median:.0%}, middle half {low:.0%} to {high:.0%}; between 10 and 25 % in {_share(within)}",
    )


def rules_explain_time(analysis: Analysis) -> Verdict:
    times = _time_ratios(analysis)
    found = rank_correlation(analysis.pairs().ratio("rules").loc[times.index], times)
    return found >= 0.4, f"rank correlation of the ratio of rules and the ratio of times: {found:+.2f}"


def shorter_bodies(analysis: Analysis) -> Verdict:
    shorter = analysis.pairs().fewer("conditions_per_rule")
    normal, relaxed = (models["conditions_per_rule"].mean() for models in analysis.pairs())
    return _most(shorter), f"fewer in {_share(shorter)} cases; on average {normal:.2f} normal, {relaxed:.2f} relaxed"


# Predictive performance ---------------------------------------------------------------------------------------------


def _totals(analysis: Analysis) -> dict[str, Tally]:
    """Wins, losses and ties over all measures, by objective."""
    return {objective: sum(row.values(), Tally()) for objective, row in analysis.wins().items()}


def comparable(analysis: Analysis) -> Verdict:
    normal, relaxed = analysis.pairs()
    total = sum(_totals(analysis).values(), Tally())
    target = {case: find_objective(case[1]).measure for case in normal.index}
    gaps = [relaxed.at[case, measure] - normal.at[case, measure] for case, measure in target.items()]
    return (
        bool(abs(np.mean(gaps)) < 0.02),
        f"all measures, sets and objectives: {total} (sign test p = {sign_test(total):.2g}); the target measure "
        f"changes by {np.mean(gaps):+.4f} on average, from {min(gaps):+.3f} to {max(gaps):+.3f}",
    )


def _total(analysis: Analysis, objective: str, direction: int) -> Verdict:
    """Whether relaxed pruning wins (1) or loses (-1) with an objective, or neither (0), over all measures."""
    if objective not in analysis.objectives:
        raise CannotTellError(f"{find_objective(objective).title} was not run")
    total, row = _totals(analysis)[objective], analysis.wins()[objective]
    parts = ", ".join(f"{SHORT_MEASURES[measure]} {found}" for measure, found in row.items())
    holds = direction * total.lead > 0 if direction else abs(total.lead) <= 0.2 * (total.wins + total.losses)
    return holds, f"{total} over all measures ({parts}){_paper_program(analysis, objective)}"


def _paper_program(analysis: Analysis, objective: str) -> str:
    """Say how models of the paper's own program compare with its models without lift."""
    if analysis.reference.empty:
        return ""
    models = analysis.reference[analysis.reference["objective"] == objective].set_index("set")
    columns = [f"{measure}_reference" for measure in SHORT_MEASURES]
    normal = models.loc[models["lift"] == NONE, columns]
    relaxed = models[(models["lift"] != NONE) & models.index.isin(normal.index)][columns]
    if relaxed.empty:
        return ""
    total = sum((tally(relaxed[name], normal.loc[relaxed.index, name]) for name in columns), Tally())
    sets = ", ".join(dict.fromkeys(relaxed.index))
    return f"; the paper's own program, {len(relaxed)} models with lifts on {sets}: {total}"


ha_declines = partial(_total, objective="ha+", direction=-1)
macro_f_declines = partial(_total, objective="macro-f+", direction=-1)
macro_f_with_absence_improves = partial(_total, objective="macro-f+-", direction=1)
ha_with_absence_improves = partial(_total, objective="ha+-", direction=1)
micro_f_is_similar = partial(_total, objective="micro-f+", direction=0)


def _best(analysis: Analysis, measure: str) -> Verdict:
    """Whether the approach that was published as best has the lowest average rank."""
    objective = BEST[measure]
    if objective not in analysis.objectives:
        raise CannotTellError(f"{find_objective(objective).title} was not run")
    name, order = approach_name(objective, relaxed=True), dict(analysis.ranks()[measure].by_rank())
    top, place = list(order)[:3], list(order).index(name) + 1
    first = _listed({one: order[one] for one in top}, "{:.2f}")
    return place == 1, f"{name} is {place} of {len(order)} with {order[name]:.2f}; first are {first}"


best_hamming_accuracy = partial(_best, measure="hamming_accuracy")
best_subset_accuracy = partial(_best, measure="subset_accuracy")
best_micro_f1 = partial(_best, measure="micro_f1")
best_macro_f1 = partial(_best, measure="macro_f1")


def gains(analysis: Analysis) -> Verdict:
    totals = _totals(analysis)
    gaining = sum(total.lead > 0 for total in totals.values())
    parts = ", ".join(f"{find_objective(objective).title} {total}" for objective, total in totals.items())
    return gaining >= len(totals) / 2, f"more wins than losses for {gaining} of {len(totals)}: {parts}"


# Chosen lifts -------------------------------------------------------------------------------------------------------


def _chosen(analysis: Analysis) -> pd.Series:
    """The chosen lifts, by data set and objective."""
    return analysis.pairs().relaxed["lift"].map(LiftName.parse)


def _heights(analysis: Analysis) -> pd.Series:
    return _chosen(analysis).map(lambda name: name.height)


def peak_preferred(analysis: Analysis) -> Verdict:
    peak = _chosen(analysis).map(lambda name: name.kind == "peak")
    offered = [LiftName.parse(name).kind for name in analysis.results.plan.lifts]
    candidates = f"{offered.count('peak')} of {len(offered)} candidates are Peak"
    return _most(peak), f"in {_share(peak)} choices; {candidates}"


def clearly_above_one(analysis: Analysis) -> Verdict:
    heights = _heights(analysis)
    numbers = f"median {heights.median():.2f}, mean {heights.mean():.3f}; at least 1.08 in {_share(heights >= 1.08)}"
    return heights.median() >= 1.08, numbers


def depends_on_cardinality(analysis: Analysis) -> Verdict:
    heights = _heights(analysis)
    cardinality = heights.index.get_level_values("set").map(analysis.data_sets.set_index("set")["cardinality"])
    if cardinality.nunique() < 4:
        raise CannotTellError("too few sets to tell")
    if heights.nunique() < 2:
        raise CannotTellError("the same lift was chosen everywhere")
    found = rank_correlation(cardinality, heights)
    chosen = analysis.chosen[analysis.chosen["set"].isin(analysis.compared_sets())]
    n_folds = analysis.recorded("fold")["part"].nunique()
    is_close = chosen["score"] - chosen["second_score"] < chosen["deviation"] / np.sqrt(n_folds)
    return (
        abs(found) >= 0.4,
        f"rank correlation of labels per instance and chosen lift: {found:+.2f}; the second best lift is within one "
        f"standard error of the chosen one in {_share(is_close)} choices",
    )


def greater_peak(analysis: Analysis) -> Verdict:
    peaks: dict[bool, list[int]] = {False: [], True: []}
    for (_, objective), name in _chosen(analysis).items():
        if name.kind == "peak":
            peaks[find_objective(objective).predict_absence].append(name.labels)
    if not all(peaks.values()):
        raise CannotTellError("Peak was not chosen both with and without predicting absence")
    presence, both = np.mean(peaks[False]), np.mean(peaks[True])
    return bool(both > presence), f"mean peak {presence:.2f} labels for +, {both:.2f} for +-"


# Rules --------------------------------------------------------------------------------------------------------------


def equivalent(analysis: Analysis) -> Verdict:
    for selection in analysis.selections:
        if selection.equivalence is not None:
            first, second, joint = (rule.to_text() for rule in selection.equivalence)
            return True, f"{selection.dataset}: “{first}” and “{second}” in one model, “{joint}” in the other"
    return False, "no label condition of the rules looked at says the same as a head"


def more_heads(analysis: Analysis) -> Verdict:
    pairs = analysis.pairs()
    heads = pairs.more("multi_label_heads")
    fewer, more = pairs.fewer("label_conditions").sum(), pairs.more("label_conditions").sum()
    numbers = f"more multi-label heads in {_share(heads)} cases, fewer label conditions in {fewer}, more in {more}"
    return _most(heads) and bool(fewer > more), numbers


def compact_representation(analysis: Analysis) -> Verdict:
    normal, relaxed = (models["rules"] + models["conditions"] for models in analysis.pairs())
    fewer = f"fewer rules and conditions together in {_share(relaxed < normal)} cases"
    ratio = analysis.pairs().ratio("conditions").median()
    return _most(relaxed < normal), f"{fewer}; median ratio of conditions {ratio:.2f}"


def rare_heads(analysis: Analysis) -> Verdict:
    heads, rules = analysis.pairs().normal[["multi_label_heads", "rules"]].sum()
    share = heads / max(rules, 1)
    numbers = f"{heads:.0f} of {rules:.0f} rules learned without lift predict several labels ({share:.1%})"
    return bool(share < 0.05), numbers


# Parts of the learner -----------------------------------------------------------------------------------------------


def _variant(analysis: Analysis, variant: str, otherwise: str) -> pd.DataFrame:
    own = analysis.variants[analysis.variants["variant"] == variant]
    if own.empty:
        raise CannotTellError(f"no set is small enough for {otherwise}")
    return own


def approximation(analysis: Analysis) -> Verdict:
    tried = _variant(analysis, "exhaustive", "looking at all label sets")
    parts = [
        f"{row.set}, {find_objective(row.objective).title}: micro F1 {row.micro_f1_as_published:.3f} with relaxed "
        f"pruning ({row.rules_as_published} rules), {row.micro_f1:.3f} with the best of all heads ({row.rules} rules)"
        for row in tried.itertuples()
    ]
    return bool((tried["micro_f1_as_published"] - tried["micro_f1"]).mean() >= -0.02), "; ".join(parts)


def fixed_heads(analysis: Analysis) -> Verdict:
    tried = _variant(analysis, "free head", "trying it by the way")
    fixed, free = tried["multi_label_heads_as_published"], tried["multi_label_heads"]
    parts = [
        f"{fixed.sum()} multi-label heads with fixed heads, {free.sum()} without",
        f"fewer in {_share(free < fixed)} cases",
    ]
    has_absence = tried["objective"].map(lambda name: find_objective(name).predict_absence)
    for sign, own in (("+", ~has_absence), ("+-", has_absence)):
        less, more = (free < fixed)[own], (free > fixed)[own]
        parts.append(f"{sign}: fewer in {less.sum()}, more in {more.sum()} of {own.sum()}")
    return _most(free < fixed), "; ".join(parts)


def fixed_heads_save_time(analysis: Analysis) -> Verdict:
    tried = _variant(analysis, "free head", "trying it by the way")
    tried = tried[tried["set"].isin(analysis.compared_sets())]
    ratios = tried["train_s_as_published"] / tried["train_s"].clip(lower=1e-9)
    return _most(ratios < 1), f"less time in {_share(ratios < 1)} cases, median ratio {ratios.median():.2f}"
