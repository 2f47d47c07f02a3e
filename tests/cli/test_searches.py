"""What `plurule tune` shows, and `--wide`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from helpers.commands import Run
from plurule.cli.searches import best_by_rules, parameter_text
from plurule.model import file as model_file
from plurule.selection.lengths import Point


def test_tune_wide_shows_the_front_and_writes_the_best_list_of_a_size(run: Run, tmp_path: Path):
    model, table = tmp_path / "model.json", tmp_path / "candidates.csv"
    options = ("--folds", "3", "--max-rules", "6", "--jobs", "1", "--show", "4", "-o", model, "--table", table)
    code, out, err = run("tune", "world-flags", "--wide", *options)
    assert code == 0, err
    assert "17 candidates" in out
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(1, 18)]
    means = [float(row["mean_test_micro_f1"]) for row in rows]
    assert means == sorted(means, reverse=True)
    ranked = out.split("The best lists")[0]
    assert all(f"{mean:.3f}" in ranked for mean in means[:4])
    assert f"beta={rows[0]['heuristic__beta']}" in ranked
    assert "Chosen: heuristic=" in out
    assert len(model_file.load(model)) <= 6
    code, _, err = run("tune", "world-flags", "--max-rules", "6")
    assert code != 0
    assert "--max-rules needs --wide" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--objective", "micro-f+"), "--objective has no meaning with --wide: the measure to choose by"),
        (("--lifts", "paper", "--seed", "0"), "--lifts has no meaning with --wide"),
        (("--jobs", "0"), "--jobs 0, expected at least 1"),
        (("--folds", "1"), "1 folds, expected at least 2"),
    ],
)
def test_what_has_no_meaning_with_wide_is_refused(run: Run, arguments: tuple[str, ...], message: str):
    code, out, err = run("tune", "world-flags", "--wide", *arguments)
    assert code == 2
    assert message in err
    assert out == ""


def test_tune_wide_shows_no_tables_where_nothing_can_be_held_out(run: Run, tmp_path: Path):
    data = tmp_path / "few.csv"
    data.write_text("x,a,b\n1,1,0\n2,1,0\n3,1,0\n4,0,1\n5,0,1\n6,0,1\n", encoding="utf-8")
    code, out, err = run("tune", data, "--labels", "a,b", "--wide")
    assert code == 0, err
    assert "nothing is chosen" in err
    assert "micro F1" not in out
    assert "n_rules=None" in out


def test_tune_wide_goes_on_from_its_journal(run: Run, tmp_path: Path):
    arguments = ("tune", "world-flags", "--wide", "--folds", "2", "--jobs", "1", "--journal", tmp_path / "t.jsonl")
    code, first, err = run(*arguments)
    assert code == 0, err
    lines = (tmp_path / "t.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "t.jsonl").write_bytes(b"".join(lines[:12]))
    assert run(*arguments).out == first
    assert (tmp_path / "t.jsonl").read_bytes().count(b'{"task"') == len(lines) - 4
    code, _, err = run(*arguments, "--measure", "macro_f1")
    assert code == 2
    assert "measure was micro_f1, now macro_f1" in err


def test_the_best_list_of_a_number_of_rules_is_shown_not_its_smallest():
    front = [
        Point(0, {}, rules=1, conditions=0.0, score=0.0, standard_error=0.0),
        Point(1, {}, rules=1, conditions=1.0, score=0.4, standard_error=0.0),
        Point(1, {}, rules=2, conditions=1.5, score=0.3, standard_error=0.0),
        Point(0, {}, rules=2, conditions=2.0, score=0.5, standard_error=0.0),
        Point(0, {}, rules=3, conditions=4.0, score=0.6, standard_error=0.0),
        Point(0, {}, rules=4, conditions=4.0, score=0.55, standard_error=0.0),
    ]
    assert [(point.rules, point.score) for point in best_by_rules(front, 10)] == [(1, 0.4), (2, 0.5), (3, 0.6)]
    assert [(point.rules, point.score) for point in best_by_rules(front, 2)] == [(1, 0.4), (3, 0.6)]
    assert [(point.rules, point.score) for point in best_by_rules(front, 1)] == [(3, 0.6)], "the best, if only one"
    assert best_by_rules([], 3) == []


def test_plus_minus_is_the_same_in_every_table_and_said(run: Run, tmp_path: Path):
    options = ("--folds", "3", "--jobs", "1", "--show", "1", "--table", tmp_path / "candidates.csv")
    for more in (("--wide",), ("--lifts", "peak 2: 1.08")):
        code, out, err = run("tune", "world-flags", *options, *more)
        assert code == 0, err
        assert "\n± is one standard error of the mean over the folds\n" in out, "without the words of a markup"
        with (tmp_path / "candidates.csv").open(encoding="utf-8", newline="") as lines:
            best = next(csv.DictReader(lines))
        # The deviation that is written is that of the folds, not of what they were drawn from.
        deviation = float(best["std_test_micro_f1"])
        assert f"±{deviation / 2**0.5:.3f}" in out


def test_no_lift_is_chosen_where_it_is_the_best(run: Run):
    lifts = "peak 2: 9.0"
    code, out, err = run(
        "tune", "world-flags", "--jobs", "1", "--folds", "2", "--lifts", lifts, "--measure", "precision"
    )
    assert code == 0, err
    assert "Chosen lift: none" in out
    assert out.index("no lift") < out.index(lifts)


def test_a_candidate_is_told_by_its_parameters() -> None:
    assert parameter_text({"heuristic__beta": 0.6, "fix_head": False}) == "beta=0.6, fix_head=False"
