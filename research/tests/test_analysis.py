"""Data frames of the results: small ones that can be checked by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from research.paper.analysis import Analysis, approach_name
from research.paper.experiment import Results
from research.paper.protocol import Plan, Task
from research.paper.statistics import Tally

MEASURES = ("hamming_accuracy", "micro_f1", "macro_f1", "subset_accuracy")


def made_up(sets: dict[str, tuple[float, float]], lift: str = "peak 2: 1.08") -> Any:
    """Results of one objective and one lift on several sets, with the scores of normal and of relaxed pruning."""
    plan = Plan(sets=tuple(sets), objectives=("ha+",), lifts=(lift,), repeats=2)
    records: dict[str, Any] = {}
    for name, scores in sets.items():
        for number, (used, score) in enumerate(zip(("none", lift), scores, strict=True)):
            size = {"rules": 10 - number, "conditions": 20, "label_conditions": 2, "multi_label_heads": number}
            size |= {"labels_per_multi_label_head": 2.0 * number, "head_labels": 10, "longest_head": 1 + number}
            result = {"size": size, "scores": dict.fromkeys(MEASURES, score), "seconds": {"train": 1.0, "score": 0.5}}
            records[Task("final", name, "ha+", used).key] = result
        for part, relaxed in enumerate((3.0, 1.0)):
            seconds = {"normal": 2.0, "relaxed": relaxed, "normal again": 4.0}
            records[Task("timing", name, "ha+", lift, part).key] = {"seconds": seconds}
    chosen = SimpleNamespace(ranking={"ha+": [lift]}, facts={"labels": 7, "cardinality": 1.5})
    return SimpleNamespace(plan=plan, sets=dict.fromkeys(sets, chosen), records=records, sensitivity_set=None)


def analysis(**sets: tuple[float, float]) -> Analysis:
    made = Analysis(made_up(sets))
    # Cross-validation is not what is looked at here.
    rows = [{"set": name, "objective": "ha+", "lift": "peak 2: 1.08"} for name in sets]
    made.__dict__["chosen"] = made.data_sets[["set"]].merge(type(made.data_sets)(rows), on="set")
    return made


def test_models_without_and_with_the_lift_stand_side_by_side():
    normal, relaxed = analysis(flags=(0.5, 0.75), birds=(0.5, 0.25)).pairs()
    assert list(normal.index) == list(relaxed.index) == [("flags", "ha+"), ("birds", "ha+")]
    assert (set(normal["lift"]), set(relaxed["lift"])) == ({"none"}, {"peak 2: 1.08"})
    assert list(relaxed["micro_f1"]) == [0.75, 0.25]
    assert (normal["labels_per_head"].iloc[0], relaxed["labels_per_head"].iloc[0]) == (1.0, pytest.approx(10 / 9))


def test_wins_and_ranks_compare_relaxed_with_normal_pruning():
    made = analysis(flags=(0.5, 0.75), birds=(0.5, 0.25), scene=(0.1, 0.9), medical=(0.3, 0.3))
    assert made.wins()["ha+"] == dict.fromkeys(MEASURES, Tally(2, 1, 1))
    assert made.wins(["birds"])["ha+"]["micro_f1"] == Tally(0, 1, 0)
    assert made.ranks()["micro_f1"].ranks == {"HA+": 1.625, "HA R+": 1.375}


def test_one_version_of_each_set_is_compared():
    made = analysis(yeastD=(0.5, 0.25), flags=(0.5, 0.5), yeast=(0.5, 0.75))
    assert made.compared_sets() == ["yeastD", "flags"]
    assert made.compared_sets(numeric=True) == ["yeast", "flags"]
    assert list(made.pairs().normal.index.get_level_values("set")) == ["yeastD", "flags"]
    assert set(made.win_table["sets"]) == {"as published", "numeric"}
    assert not analysis(yeastD=(0.5, 0.75)).has_numeric


def test_times_are_compared_with_the_normal_ones_around_them():
    made = analysis(flags=(0.5, 0.5))
    assert list(made.times["ratio"]) == [1.0, pytest.approx(1 / 3)]
    (row,) = made.speed.to_dict("records")
    assert (row["normal"], row["relaxed"], row["ratio"]) == (3.0, 2.0, pytest.approx(2 / 3))
    assert (row["low"], row["high"]) == (pytest.approx(1 / 3), 1.0)


def test_what_was_not_run_has_no_table():
    made = analysis(flags=(0.5, 0.5))
    assert made.variants.empty
    assert made.recorded("sensitivity").empty


def test_the_effort_adds_up(results: Results):
    (row,) = Analysis(results).effort.to_dict("records")
    assert row["models"] == len(results.records)
    moments = [*results.finished_at.values(), *(session["at"] for session in results.sessions)]
    assert row["clock_s"] == pytest.approx(max(moments) - min(moments), abs=0.2)


def test_the_chosen_lift_is_the_first_candidate_and_no_lift_the_last(results: Results):
    made = Analysis(results)
    ranked = made.candidates.groupby("objective", sort=False)
    assert list(ranked["lift"].last()) == ["none"] * 6
    assert list(made.chosen["lift"]) == list(ranked["lift"].first())
    for row in made.chosen.itertuples():
        own = made.candidates[made.candidates["objective"] == row.objective]
        assert row.score == own[row.measure][own["lift"] != "none"].max()
        assert row.score_without_lift == own[row.measure].iloc[-1]


def test_where_no_lift_is_chosen_both_models_are_the_same():
    made = Analysis(made_up({"flags": (0.5, 0.75)}))
    rows = [{"set": "flags", "objective": "ha+", "lift": "none"}]
    made.__dict__["chosen"] = type(made.data_sets)(rows)
    normal, relaxed = made.pairs()
    assert normal["micro_f1"].tolist() == relaxed["micro_f1"].tolist() == [0.5]


def test_relaxed_approaches_have_an_r_in_their_name() -> None:
    assert (approach_name("micro-f+-", relaxed=True), approach_name("ha+", relaxed=False)) == ("Mic F R+-", "HA+")


def test_redrawn_analysis_uses_lifts_that_are_nearly_as_good(results: Results) -> None:
    made = Analysis(results)
    near = results.sets["world-flags"].near
    assert any(len(lifts) > 1 for lifts in near.values())
    seen: dict[str, set[str]] = {objective: set() for objective in near}
    for seed in range(20):
        models = made.redrawn(seed).pairs().relaxed
        for (_, objective), lift in models["lift"].items():
            seen[objective].add(lift)
    assert seen == {objective: set(lifts) for objective, lifts in near.items()}
    assert list(made.pairs().relaxed["lift"]) == [lifts[0] for lifts in near.values()]


def test_certainty_draws_from_the_scores_of_near_lifts(results: Results) -> None:
    made = Analysis(results)
    certainty = made.certainty
    assert certainty is not None
    for objective, lifts in results.sets["world-flags"].near.items():
        assert certainty.n_lifts[objective] == [len(lifts)]
        assert certainty.drawn[objective].sum(axis=2).max() == 1
    chosen = made.wins()["ha+"]["micro_f1"]
    assert certainty.share_of("ha+", "micro_f1", chosen) > 0


def test_ties_of_constants_are_counted() -> None:
    made = analysis(flags=(0.5, 0.5), birds=(0.5, 0.25), scene=(0.1, 0.1))
    for key, record in made.results.records.items():
        if key.startswith("final/"):
            record["size"]["distinct_predictions"] = 2 if "/scene/" in key else 1
    # Both models of flags and of birds are constant, and those of flags tie.
    assert made.constant_ties() == {("ha+", measure): 1 for measure in MEASURES}


def test_numeric_wins_of_an_earlier_run_stand_beside_the_published_ones(results: Results) -> None:
    assert Analysis(results).published_cells.empty, "other sets than those of the paper"
