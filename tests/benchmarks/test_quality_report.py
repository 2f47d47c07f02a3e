"""The pages of the benchmark of quality, from made-up results: every claim can fail, tables say what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.quality.data import HARD, SETS
from benchmarks.quality.fit_once import (
    BAGGED,
    CONSTANT,
    CONSTANT_FOR_HAMMING,
    FOR_HAMMING,
    FOREST,
    OUT_OF_THE_BOX,
    SEARCHED,
    TREE,
)
from benchmarks.quality.report import (
    claims,
    comparison_page,
    draw,
    draw_study,
    short_page,
    study_gains,
    study_page,
)

MACHINE = {
    "processor": "Abacus",
    "cores": 2,
    "memory_gb": 25.2,
    "system": "Linux",
    "python": "3.11",
    "plurule": "0.1.0",
    "commit": "abc1234",
    "date": "2026-01-01",
    "load_before": 0.5,
}
ABOVE_CONSTANT = "plurule: micro f1 above constant"
BOTH_SECO = "plurule: micro f1 above SeCo, SeCo, KLN"
ABOVE_TREE = "plurule: micro f1 above tree per label"
MACRO = "plurule: macro f1 above SeCo, SeCo, KLN, tree per label"
BOOMER, TUNED = "plurule: micro f1 above BOOMER", "plurule: micro f1 above BOOMER, tuned"
VOTES = f"{BAGGED}: micro f1 above BOOMER"
VOTES_TUNED = f"{BAGGED}: micro f1 above BOOMER, tuned"
HAMMING = f"{FOR_HAMMING}: hamming accuracy not below SeCo, SeCo, KLN, tree per label, constant for HA"
OURS_RUN = [OUT_OF_THE_BOX, FOR_HAMMING, SEARCHED, BAGGED]
HAMMING_BOOMER = f"{FOR_HAMMING}: hamming accuracy above BOOMER"


def result(score: float, **also: Any) -> dict[str, Any]:
    measures = ("micro_f1", "macro_f1", "hamming_accuracy", "subset_accuracy")
    return dict.fromkeys(measures, score) | {"cpu": 1.0, "wall": 1.0} | also


@pytest.fixture
def results() -> dict[str, Any]:
    """Ours is best everywhere, and short."""
    one_set = {
        OUT_OF_THE_BOX: result(0.75, rules=20, conditions=60, several=5),
        FOR_HAMMING: result(0.75, rules=10, conditions=30),
        SEARCHED: result(0.75, rules=30, conditions=90),
        BAGGED: result(0.75, rules=900, conditions=2700),
        "SeCo": result(0.5, rules=100, version="0.15.6"),
        "SeCo, KLN": result(0.5, rules=100, version="0.15.6"),
        "BOOMER": result(0.7, rules=1000, version="0.15.6"),
        "BOOMER, tuned": result(0.7, rules=1000, version="0.15.6"),
        CONSTANT: result(0.4),
        CONSTANT_FOR_HAMMING: result(0.4),
        TREE: result(0.5),
        FOREST: result(0.5),
    }
    return {"machine": MACHINE, "sets": {name: {key: dict(one_set[key]) for key in one_set} for name in SETS}}


def rows(table: str) -> dict[str, list[str]]:
    """The cells of the rows of a Markdown table, by the first cell; the title has the empty or first name."""
    lines = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|") and "---" not in line]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}


def section(page: str, title: str) -> dict[str, list[str]]:
    return rows(page.split(f"### {title}\n")[1].split("###")[0])


# What was asked for ----------------------------------------------------------------------------------------


def test_every_claim_holds_where_we_are_best(results: dict[str, Any]) -> None:
    said = rows(claims(results))
    assert said.pop("asked for") == ["on at least", "holds on", "fails on"]
    every = ["every set", "14 of 14", "–"]
    assert said == {
        ABOVE_CONSTANT: every,
        BOTH_SECO: every,
        ABOVE_TREE: ["9 of 10", "10 of 10", "–"],
        MACRO: ["7 of 10", "10 of 10", "–"],
        BOOMER: ["6 of 10", "10 of 10", "–"],
        TUNED: ["6 of 10", "10 of 10", "–"],
        VOTES: ["8 of 10", "10 of 10", "–"],
        VOTES_TUNED: ["8 of 10", "10 of 10", "–"],
        HAMMING: every,
        HAMMING_BOOMER: ["5 of 10", "10 of 10", "–"],
    }


@pytest.mark.parametrize(
    ("claim", "learner", "measure", "still", "no_more"),
    [
        (ABOVE_CONSTANT, CONSTANT, "micro_f1", 0.749, 0.75),
        (BOTH_SECO, "SeCo", "micro_f1", 0.749, 0.75),
        (BOTH_SECO, "SeCo, KLN", "micro_f1", 0.749, 0.75),
        (ABOVE_TREE, TREE, "micro_f1", 0.749, 0.75),
        (MACRO, TREE, "macro_f1", 0.749, 0.75),
        (HAMMING, "SeCo", "hamming_accuracy", 0.75, 0.751),
        (HAMMING, CONSTANT_FOR_HAMMING, "hamming_accuracy", 0.75, 0.751),
        (HAMMING_BOOMER, "BOOMER", "hamming_accuracy", 0.749, 0.75),
    ],
)
def test_a_claim_fails_on_the_set_where_it_is_no_more_true_and_no_other_claim_does(
    results: dict[str, Any], claim: str, learner: str, measure: str, still: float, no_more: float
) -> None:
    good = rows(claims(results))
    results["sets"]["yeast"][learner][measure] = still
    assert rows(claims(results)) == good
    results["sets"]["yeast"][learner][measure] = no_more
    found = rows(claims(results))
    least, held, _ = good[claim]
    n_sets = int(held.split()[0])
    assert found.pop(claim) == [least, f"{n_sets - 1} of {n_sets}", "yeast"]
    assert found == {name: cells for name, cells in good.items() if name != claim}


def test_votes_and_lists_are_each_compared_with_both_kinds_of_boomer(results: dict[str, Any]) -> None:
    results["sets"]["yeast"]["BOOMER, tuned"]["micro_f1"] = 0.8
    results["sets"]["scene"][BAGGED]["micro_f1"] = 0.7
    said = rows(claims(results))
    assert said[TUNED][1:] == ["9 of 10", "yeast"]
    assert said[VOTES][1:] == ["9 of 10", "scene"]
    assert said[VOTES_TUNED][1:] == ["8 of 10", "scene, yeast"]
    assert said[BOOMER][1:] == ["10 of 10", "–"]


def test_claims_about_a_number_of_sets_leave_out_the_hard_ones(results: dict[str, Any]) -> None:
    for name in HARD:
        results["sets"][name][OUT_OF_THE_BOX] |= {"micro_f1": 0.1}
    said = rows(claims(results))
    assert said[ABOVE_TREE] == ["9 of 10", "10 of 10", "–"]
    assert said[BOTH_SECO] == ["every set", "10 of 14", ", ".join(HARD)]


def test_means_are_of_known_sets_and_shares_of_those_with_several_labels(results: dict[str, Any]) -> None:
    results["sets"]["imdb"][OUT_OF_THE_BOX]["micro_f1"] = 0.0
    results["sets"]["yeast"][OUT_OF_THE_BOX] |= {"rules": 40, "several": 40}
    said = claims(results)
    assert "plurule: mean micro F1 0.750 over 10 known sets, at most 40 rules; on flags, emotions" in said
    assert ", 50% of the rules have several labels" in said


def test_what_was_not_run_or_given_up_neither_holds_nor_fails(results: dict[str, Any]) -> None:
    results["sets"]["flags"]["BOOMER"] = {"gave_up": 300}
    results["sets"]["flags"]["SeCo"] = {"skipped": "no Python with mlrl"}
    del results["sets"]["flags"][TREE]
    said = rows(claims(results))
    assert said[BOOMER][1:] == said[ABOVE_TREE][1:] == ["9 of 9", "–"]
    # The other SeCo is there.
    assert said[BOTH_SECO][1] == "14 of 14"
    del results["sets"]["flags"]["SeCo, KLN"]
    assert rows(claims(results))[BOTH_SECO][1:] == ["13 of 13", "–"]


# Tables ----------------------------------------------------------------------------------------------------


def test_the_page_has_a_table_per_measure_with_the_numbers_of_every_learner(results: dict[str, Any]) -> None:
    results["sets"]["birds"] |= {
        OUT_OF_THE_BOX: result(0.4444, macro_f1=0.3123, rules=41, conditions=83, cpu=0.567),
        FOREST: result(0.3, cpu=123.4),
        "BOOMER": {"gave_up": 300},
    }
    page = comparison_page(results)
    table = section(page, "Micro F1")
    assert table[""] == list(results["sets"]["flags"])
    assert list(table)[1:] == list(SETS)
    assert " ".join(table["birds"]) == "0.444 0.750 0.750 0.750 0.500 0.500 – 0.700 0.400 0.400 0.500 0.300"
    assert section(page, "Macro F1")["birds"][0] == "0.312"
    # Trees have no rules, and mlrl does not tell its conditions.
    assert section(page, "Rules")[""] == [*OURS_RUN, "SeCo", "SeCo, KLN", "BOOMER", "BOOMER, tuned"]
    assert section(page, "Rules")["birds"] == ["41", "10", "30", "900", "100", "100", "–", "1000"]
    assert section(page, "Conditions")[""] == OURS_RUN
    times = section(page, "CPU seconds to train, one thread")["birds"]
    assert times == ["0.57", "1.00", "1.00", "1.00", "1.00", "1.00", "> 300", "1.00", "1.00", "1.00", "1.00", "123"]
    assert "Abacus, 2 cores, 25 GB" in page
    assert "mlrl 0.15.6;" in page


def test_a_learner_that_was_never_run_has_no_column_and_mlrl_is_mentioned_only_where_it_was(
    results: dict[str, Any],
) -> None:
    for one_set in results["sets"].values():
        for learner in ("SeCo", "SeCo, KLN", "BOOMER", "BOOMER, tuned"):
            one_set[learner] = {"skipped": "no Python with mlrl"}
    page = comparison_page(results)
    assert section(page, "Micro F1")[""] == [*OURS_RUN, CONSTANT, CONSTANT_FOR_HAMMING, TREE, FOREST]
    assert "mlrl" not in page


def test_the_short_page_sets_rules_beside_scores(results: dict[str, Any]) -> None:
    del results["sets"]["bibtex"][CONSTANT]
    table = rows(short_page(results))
    assert table["micro F1 (rules)"] == [OUT_OF_THE_BOX, CONSTANT, "SeCo", "BOOMER", "BOOMER, tuned", TREE, FOREST]
    assert table["flags"][:4] == ["0.750 (20)", "0.400", "0.500 (100)", "0.700 (1,000)"]
    assert table["bibtex"][1] == "–"


def setting(micro_f1: float, rules: float = 20) -> dict[str, float]:
    return {"micro_f1": micro_f1, "hamming_accuracy": 0.9, "subset_accuracy": 0.3, "rules": rules, "conditions": 5}


def test_the_page_of_the_study_gives_differences_to_the_defaults_in_hundredths() -> None:
    # Not in the order of the sets, as after a run of some of them.
    found = {
        "yeast": {"defaults": setting(0.6), "no lift": setting(0.58, 10), "β = 1": setting(0.6)},
        "flags": {"defaults": setting(0.7), "no lift": setting(0.75, 20)},
    }
    table = rows(study_page({"machine": MACHINE, "sets": found}))
    assert table[""] == ["flags", "yeast", "mean", "HA", "subset accuracy", "rules"]
    assert table["defaults"] == ["0.700", "0.600", "0.650", "0.900", "0.300", "20"]
    assert table["no lift"] == ["+5.0", "-2.0", "+1.5", "0.900", "0.300", "15"]
    assert table["β = 1"] == ["–", "+0.0", "+0.0", "0.900", "0.300", "20"]


def test_the_pages_of_the_project_have_the_places_that_tables_are_put_into() -> None:
    root = Path(__file__).parents[2]
    for page, places in {
        "README.md": ["comparison"],
        "benchmarks/quality/README.md": ["comparison", "study"],
    }.items():
        text = (root / page).read_text(encoding="utf-8")
        for place in places:
            assert 0 < text.find(f"<!-- {place}: begin -->") < text.find(f"<!-- {place}: end -->"), (page, place)


def test_the_picture_is_drawn_though_results_are_missing(results: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results["sets"] = {name: results["sets"][name] for name in SETS[:6]}
    results["sets"]["flags"]["BOOMER"] = {"gave_up": 300}
    draw(results, tmp_path / "quality.png")
    assert (tmp_path / "quality.png").stat().st_size > 1000


def test_the_picture_of_the_study_is_drawn_though_a_setting_is_missing_in_a_set(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = {
        "yeast": {"defaults": setting(0.6), "no lift": setting(0.58), "β = 1": setting(0.6)},
        "flags": {"defaults": setting(0.7), "no lift": setting(0.75)},
    }
    results = {"machine": MACHINE, "sets": found}
    gains = study_gains(results)
    assert gains["no lift"] == pytest.approx({"flags": 5.0, "yeast": -2.0})
    assert gains["β = 1"] == {"yeast": 0.0}
    draw_study(results, tmp_path / "study.png")
    assert (tmp_path / "study.png").stat().st_size > 1000
