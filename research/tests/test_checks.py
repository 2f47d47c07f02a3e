"""Statements are judged by the numbers: each check on frames for which the answer is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from research.paper import checks
from research.paper.analysis import Analysis, with_shares
from research.paper.checks import CannotTellError
from research.paper.protocol import Plan

MEASURES = ("hamming_accuracy", "micro_f1", "macro_f1", "subset_accuracy")
SETS = ("flags", "emotions", "birds")


def evidence(relaxed: dict[str, Any] | None = None, lift: str = "peak 3: 1.16", **frames: pd.DataFrame) -> Analysis:
    """Three sets, all objectives; models of relaxed pruning differ from those of normal pruning as told."""
    plan = Plan(sets=SETS)
    normal = {"rules": 10, "conditions": 20, "label_conditions": 2, "multi_label_heads": 0, "head_labels": 10}
    normal |= dict.fromkeys(MEASURES, 0.5)
    rows = [
        {"set": name, "objective": objective, "pruning": pruning, "lift": used} | normal | changes
        for name in SETS
        for objective in plan.objectives
        for pruning, used, changes in (("normal", "none", {}), ("relaxed", lift, relaxed or {}))
    ]
    made = Analysis(SimpleNamespace(plan=plan, sets=dict.fromkeys(SETS), records={}, sensitivity_set="flags"))  # type: ignore[arg-type]
    facts = pd.DataFrame({"set": SETS, "cardinality": [3.4, 1.9, 1.0]})
    defaults = {"models": with_shares(pd.DataFrame(rows)), "data_sets": facts, "reference": pd.DataFrame()}
    made.__dict__ |= defaults | {"selections": []} | frames
    return made


SMALLER = {"rules": 5, "conditions": 8, "label_conditions": 1, "multi_label_heads": 4}
LARGER = {"rules": 12, "conditions": 40, "label_conditions": 3}


@pytest.mark.parametrize(
    "name", ["compact_on_birds", "compact_everywhere", "shorter_bodies", "more_heads", "compact_representation"]
)
def test_smaller_models_are_compact_and_larger_ones_are_not(name: str):
    check = getattr(checks, name)
    assert check(evidence(SMALLER))[0]
    assert not check(evidence(LARGER))[0]
    assert not check(evidence())[0]


def test_shares_of_cases_are_said():
    assert checks.compact_everywhere(evidence(SMALLER))[1] == (
        "fewer rules in 18 of 18 (100%), longer heads in 18, fewer conditions per rule in 18, "
        "no more label conditions in 18"
    )


def test_wins_and_losses_are_summed_over_the_measures():
    better, worse = dict.fromkeys(MEASURES, 0.6), dict.fromkeys(MEASURES, 0.4)
    for check in (checks.ha_with_absence_improves, checks.macro_f_with_absence_improves, checks.gains):
        assert check(evidence(better))[0]
        assert not check(evidence(worse))[0]
    for check in (checks.ha_declines, checks.macro_f_declines):
        assert check(evidence(worse))[0]
        assert not check(evidence(better))[0]
    assert checks.micro_f_is_similar(evidence())[0]
    assert not checks.micro_f_is_similar(evidence(better))[0]
    numbers = checks.ha_declines(evidence(worse))[1]
    assert numbers == "0/12/0 over all measures (HA 0/3/0, Mic F1 0/3/0, Mac F1 0/3/0, SA 0/3/0)"


def test_wins_and_losses_of_the_papers_program_stand_beside_ours():
    columns = [f"{measure}_reference" for measure in MEASURES]
    models = [
        ("flags", "ha+", "none", 0.5, 0.5, 0.5, 0.5),
        ("flags", "ha+", "peak 3: 1.16", 0.6, 0.5, 0.4, 0.4),
        ("birds", "ha+", "peak 3: 1.16", 0.9, 0.9, 0.9, 0.9),
        ("flags", "ha+-", "none", 0.5, 0.5, 0.5, 0.5),
    ]
    reference = pd.DataFrame(models, columns=["set", "objective", "lift", *columns])
    numbers = checks.ha_declines(evidence(reference=reference))[1]
    assert numbers.endswith("; the paper's own program, 1 models with lifts on flags: 1/2/1"), "birds has no baseline"
    numbers = checks.ha_with_absence_improves(evidence(reference=reference))[1]
    assert "program" not in numbers, "no model with a lift"


def test_performance_is_comparable_if_the_target_measures_hardly_change():
    assert checks.comparable(evidence(dict.fromkeys(MEASURES, 0.51)))[0]
    assert not checks.comparable(evidence(dict.fromkeys(MEASURES, 0.53)))[0]
    assert not checks.comparable(evidence(dict.fromkeys(MEASURES, 0.47)))[0]


def test_the_best_rank_is_that_of_the_published_approach():
    models = evidence().models
    best = (models["objective"] == "ha+-") & (models["pruning"] == "relaxed")
    models.loc[best, "hamming_accuracy"] = 0.9
    holds, numbers = checks.best_hamming_accuracy(evidence(models=models))
    assert holds
    assert numbers.startswith("HA R+- is 1 of 12 with 1.00; first are HA R+- 1.00, ")
    assert not checks.best_subset_accuracy(evidence({"subset_accuracy": 0.1}))[0]


def test_chosen_lifts_are_looked_at_by_kind_height_and_labels():
    assert checks.peak_preferred(evidence())[0]
    assert not checks.peak_preferred(evidence(lift="kln at 3: 1.16"))[0]
    assert checks.clearly_above_one(evidence())[0]
    assert not checks.clearly_above_one(evidence(lift="kln at 3: 1.02"))[0]
    assert not checks.greater_peak(evidence())[0], "the same peak with and without absence"
    models = evidence().models
    absence = models["objective"].str.endswith("+-") & (models["pruning"] == "relaxed")
    models.loc[absence, "lift"] = "peak 5: 1.02"
    assert checks.greater_peak(evidence(models=models)) == (True, "mean peak 3.00 labels for +, 5.00 for +-")


def test_birds_are_judged_beside_the_published_table():
    holds, numbers = checks.compact_on_birds(evidence(SMALLER))
    assert holds
    assert numbers.endswith("; in the published table, fewer conditions per rule in 3 of 6")


def test_chosen_lifts_are_correlated_with_the_labels_per_instance():
    sets = ("flags", "emotions", "birds", "scene")
    models = pd.concat([evidence().models, evidence().models.query("set == 'birds'").assign(set="scene")])
    relaxed = models["pruning"] == "relaxed"
    for name, lift in zip(sets, ("1.24", "1.16", "1.08", "1.02"), strict=True):
        models.loc[relaxed & (models["set"] == name), "lift"] = f"peak 3: {lift}"
    facts = pd.DataFrame({"set": sets, "cardinality": [3.4, 1.9, 1.0, 0.9]})
    # With four folds, a standard error is half of the deviation.
    chosen = pd.DataFrame({"set": sets, "score": 0.5, "second_score": [0.49, 0.46, 0.44, float("nan")]})
    folds = pd.DataFrame({"part": [0, 1, 2, 3]})

    def judge(models: pd.DataFrame) -> checks.Verdict:
        analysis = evidence(models=models, data_sets=facts, chosen=chosen.assign(deviation=0.1))
        analysis.results.sets = dict.fromkeys(sets)
        analysis.__dict__["recorded"] = lambda kind: folds
        return checks.depends_on_cardinality(analysis)

    holds, numbers = judge(models)
    assert holds
    assert numbers == (
        "rank correlation of labels per instance and chosen lift: +1.00; the second best lift is within one standard "
        "error of the chosen one in 2 of 4 (50%) choices"
    )
    with pytest.raises(CannotTellError, match="the same lift"):
        judge(models.assign(lift="peak 3: 1.16"))


def speed(*ratios: float) -> pd.DataFrame:
    cases = [{"set": "flags", "objective": objective} for objective in Plan().objectives]
    return pd.DataFrame(cases[: len(ratios)]).assign(ratio=ratios)


def test_speed_is_that_of_most_cases():
    assert checks.faster(evidence(speed=speed(0.9, 0.8, 1.2))) == (True, "faster in 2 of 3 (67%) cases")
    assert not checks.faster(evidence(speed=speed(0.9, 1.8, 1.2)))[0]
    assert checks.typical_speedup(evidence(speed=speed(0.9, 0.8, 0.5)))[0]
    assert not checks.typical_speedup(evidence(speed=speed(0.97, 0.98, 0.5)))[0]


def curves(**columns: list[float]) -> pd.DataFrame:
    flat = {"rules": 5.0, "labels_per_head": 1.0, "conditions_per_rule": 2.0, "label_condition_share": 0.1}
    flat |= {"longest_head": 2.0, "training_hamming_accuracy": 0.9}
    parts = []
    for function in ("kln at 3", "peak 2"):
        for objective in ("macro-f+", "macro-f+-"):
            part = pd.DataFrame({"lift": [1.0, 1.25, 1.5]}).assign(objective=objective, function=function, **flat)
            parts.append(part.assign(**columns) if function.startswith("kln") else part)
    return pd.concat(parts)


def test_trends_are_rank_correlations_with_the_lift():
    falling = curves(rules=[9, 5, 1], labels_per_head=[1, 2, 3], conditions_per_rule=[3, 2, 1])
    assert checks.fewer_rules_and_longer_heads(evidence(sensitivity=falling))[0]
    assert checks.shorter_bodies_with_the_lift(evidence(sensitivity=falling))[0]
    assert not checks.peak_limits_heads(evidence(sensitivity=falling))[0], "Peak has no trend here"
    rising = curves(rules=[1, 5, 9], labels_per_head=[1, 2, 3], conditions_per_rule=[1, 2, 3])
    assert not checks.fewer_rules_and_longer_heads(evidence(sensitivity=rising))[0]
    assert not checks.shorter_bodies_with_the_lift(evidence(sensitivity=rising))[0]


def test_a_lift_is_too_high_where_training_data_are_no_longer_described():
    high = curves(training_hamming_accuracy=[0.9, 0.88, 0.8], conditions_per_rule=[3, 2, 1])
    holds, numbers = checks.too_high(evidence(sensitivity=high))
    assert holds
    assert "training HA 0.800 instead of 0.900, 1.0 conditions per rule instead of 3.0" in numbers
    assert not checks.too_high(evidence(sensitivity=curves(conditions_per_rule=[3, 2, 1])))[0]
    assert checks.label_conditions_vanish(evidence(sensitivity=curves(label_condition_share=[0.2, 0.02, 0.0])))[0]
    assert not checks.label_conditions_vanish(evidence(sensitivity=curves()))[0]


def test_parts_of_the_learner_are_compared_where_they_were_tried():
    row = {"set": "flags", "objective": "micro-f+", "variant": "free head", "rules": 9, "rules_as_published": 8}
    row |= {"multi_label_heads": 1, "multi_label_heads_as_published": 5, "train_s": 3.0, "train_s_as_published": 1.0}
    row |= {"micro_f1": 0.6, "micro_f1_as_published": 0.5}
    tried = evidence(variants=pd.DataFrame([row, row | {"variant": "exhaustive"}]))
    assert checks.fixed_heads(tried) == (
        True,
        "5 multi-label heads with fixed heads, 1 without; fewer in 1 of 1 (100%) cases; "
        "+: fewer in 1, more in 0 of 1; +-: fewer in 0, more in 0 of 0",
    )
    assert checks.fixed_heads_save_time(tried) == (True, "less time in 1 of 1 (100%) cases, median ratio 0.33")
    assert not checks.approximation(tried)[0]


def test_few_heads_of_several_labels_are_learned_without_a_lift():
    assert checks.rare_heads(evidence()) == (True, "0 of 180 rules learned without lift predict several labels (0.0%)")
    models = evidence().models.assign(multi_label_heads=3)
    assert not checks.rare_heads(evidence(models=models))[0]


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (checks.faster, "no times were measured"),
        (checks.too_high, "no sensitivity analysis was run"),
        (checks.fixed_heads, "no set is small enough"),
        (checks.depends_on_cardinality, "too few sets"),
    ],
)
def test_what_was_not_run_cannot_be_judged(check: checks.Check, reason: str):
    with pytest.raises(CannotTellError, match=reason):
        check(evidence())


def test_objectives_and_sets_that_were_not_run_cannot_be_judged():
    made = evidence()
    made.objectives.remove("ha+")
    with pytest.raises(CannotTellError, match=r"HA\+ was not run"):
        checks.ha_declines(made)
    with pytest.raises(CannotTellError, match="it was not run"):
        checks.compact_on_birds(evidence(models=made.models[made.models["set"] != "birds"]))
