"""Tasks of a plan, names of lifts, tables of models of another program."""

from __future__ import annotations

from pathlib import Path

import pytest

from plurule import DataError
from research.paper.lifts import PAPER_LIFTS, LiftName, find_lift, parse_lifts
from research.paper.protocol import Plan, Task, read_reference


def test_fold_tasks_list_every_combination_once():
    plan = Plan(sets=("flags",))
    tasks = plan.fold_tasks("flags", n_labels=7, n_folds=5)
    assert len(tasks) == len({task.key for task in tasks}) == 5 * 6 * (28 + 1)
    small = plan.fold_tasks("small", n_labels=3, n_folds=5)
    assert len(small) == 5 * 6 * (21 + 1)
    assert not any("peak 5" in task.lift for task in small)


def test_tasks_have_different_keys():
    plan = Plan(sets=("flags",), repeats=3)
    chosen = dict.fromkeys(plan.objectives, "peak 3: 1.04")
    tasks = [
        *plan.fold_tasks("flags", 7, 5),
        *plan.later_tasks("flags", 129, 7, chosen),
        *plan.sensitivity_tasks("flags", 7),
        Task("reference", "flags", "ha+", "none"),
    ]
    assert len(tasks) == len({task.key for task in tasks})


def test_variants_are_tried_on_small_sets():
    plan = Plan()
    chosen = dict.fromkeys(plan.objectives, "peak 3: 1.04")
    variants = {
        name: {task.variant for task in plan.later_tasks(name, *size, chosen) if task.kind == "variant"}
        for name, size in {"CAL500": (335, 174), "birds": (322, 19), "flags": (129, 7)}.items()
    }
    assert variants == {"CAL500": set(), "birds": {"free head"}, "flags": {"free head", "exhaustive"}}


def test_lift_names_are_read_however_they_are_written():
    assert len(PAPER_LIFTS) == 28
    assert all(str(LiftName.parse(name)) == name for name in PAPER_LIFTS)
    assert parse_lifts("PEAK 3:1.1, none, kln at 3: 1.105") == ("peak 3: 1.10", "none", "kln at 3: 1.105")
    assert find_lift("kln at 3: 1.08").at_length(3, n_labels=7) == 1.08


HEADER = (
    "dataset,objective,signs,lift,rules,conditions,label_conditions,multi_label_heads,"
    "test_HA,test_micro_F1,test_macro_F1,test_subset_accuracy\n"
)
NUMBERS = "9,20,1,2,0.9,0.8,0.7,0.6\n"


def written(folder: Path, *rows: str) -> Path:
    path = folder / "models.csv"
    path.write_text(HEADER + "".join(f"{row},{NUMBERS}" for row in rows), encoding="utf-8")
    return path


def test_read_reference_makes_tasks_of_the_rows(tmp_path: Path):
    rows = ("flags,HA,+-,lift1", "flags,MicF,+,peak 3: 1.1", "birds,MacF,+,kln at 3: 1.12", "flags,HA,+,off")
    found = read_reference(written(tmp_path, *rows), ["flags"], ["ha+-", "micro-f+", "macro-f+"])
    tasks = [Task("reference", "flags", "ha+-", "none"), Task("reference", "flags", "micro-f+", "peak 3: 1.10")]
    assert found.tasks("flags") == tasks
    assert found.tasks("birds") == []
    assert found.rows[0][1]["rules"] == 9
    assert found.rows[0][1]["subset_accuracy"] == 0.6


def test_read_reference_fingerprints_the_table(tmp_path: Path):
    one = read_reference(written(tmp_path, "flags,HA,+-,lift1"), ["flags"], ["ha+-"])
    two = read_reference(written(tmp_path, "flags,HA,+,lift1"), ["flags"], ["ha+-"])
    assert one.fingerprint != two.fingerprint


@pytest.mark.parametrize("row", ["flags,HA,+-,peek 3: 1.1", "flags,XY,+-,lift1", "flags,HA,+-,lift1,many"])
def test_read_reference_names_the_line_that_is_not_understood(tmp_path: Path, row: str):
    with pytest.raises(DataError, match=r"models\.csv, line 3 is not understood"):
        read_reference(written(tmp_path, "flags,HA,+-,lift1", row), ["flags"], ["ha+-"])


def test_quick_plan_leaves_out_exhaustive_search():
    chosen = dict.fromkeys(Plan.objectives, "peak 3: 1.04")
    tasks = Plan(exhaustive=False).later_tasks("flags", 129, 7, chosen)
    assert {task.variant for task in tasks if task.kind == "variant"} == {"free head"}
