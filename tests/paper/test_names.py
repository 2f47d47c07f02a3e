"""Objectives and lifts by name, and the tasks of a plan."""

from __future__ import annotations

import pytest

from plurule.errors import PluruleError
from plurule.heuristics import FMeasure, HammingAccuracy
from plurule.lifts import KLN, NoLift, Peak, Root
from plurule.metrics import METRICS
from plurule.paper.lift_names import PAPER_LIFTS, find_lift, parse_lifts
from plurule.selection.objectives import OBJECTIVES, PAPER_OBJECTIVES, find_objective
from plurule.paper.protocol import Plan, Task
from plurule.selection.lift_search import paper_lifts


def test_the_papers_objectives_are_what_they_say():
    micro = find_objective("micro-f+")
    assert (micro.heuristic, micro.averaging, micro.predict_absence) == (FMeasure(beta=0.5), "micro", False)
    macro = find_objective("Macro-F+-")
    assert (macro.heuristic, macro.averaging, macro.predict_absence) == (FMeasure(beta=0.5), "macro", True)
    assert find_objective("ha+-").heuristic == HammingAccuracy()
    assert [find_objective(name).measure for name in PAPER_OBJECTIVES[::2]] == [
        "micro_f1",
        "macro_f1",
        "hamming_accuracy",
    ]


def test_every_objective_is_chosen_by_a_known_measure():
    assert {objective.measure for objective in OBJECTIVES.values()} <= METRICS.keys()


def test_an_unknown_objective_is_answered_with_the_known_ones():
    with pytest.raises(PluruleError, match=r"unknown objective 'micro'.*micro-f\+, micro-f\+-, macro-f\+"):
        find_objective("micro")


@pytest.mark.parametrize(
    ("name", "lift"),
    [
        ("none", NoLift()),
        ("kln at 3: 1.08", KLN.at(3, 1.08)),
        ("KLN 3:1.08", KLN.at(3, 1.08)),
        ("peak 2: 1.16", Peak(2, 1.16, 2.0)),
        ("peak at 5 : 1.1", Peak(5, 1.1, 2.0)),
        ("root at 3: 1.5", Root.at(3, 1.5)),
    ],
)
def test_lifts_can_be_named(name: str, lift: object):
    assert find_lift(name) == lift


@pytest.mark.parametrize("name", ["", "kln", "peak 3", "peak x: 1.1", "kln at 1: 1.1", "peak 3: -1", "sqrt 3: 1.1"])
def test_what_is_no_lift_is_refused(name: str):
    with pytest.raises(PluruleError):
        parse_lifts(name)


def test_a_lift_is_written_in_one_way_whatever_it_was_given_as():
    assert parse_lifts("KLN 3:1.1,kln at 3: 1.10, peak 2:1.125") == ("kln at 3: 1.10", "peak 2: 1.125")


def test_the_papers_lifts_are_those_of_the_estimator():
    assert [find_lift(name) for name in PAPER_LIFTS] == paper_lifts(n_labels=5)


def test_a_plan_lists_every_combination_once():
    plan = Plan(sets=("flags",))
    tasks = plan.fold_tasks("flags", n_labels=7, n_folds=5)
    assert len(tasks) == len({task.key for task in tasks}) == 5 * 6 * (28 + 1)
    small = plan.fold_tasks("small", n_labels=3, n_folds=5)
    assert len(small) == 5 * 6 * (21 + 1)
    assert not any("peak 5" in task.lift for task in small)


def test_tasks_of_all_stages_have_keys_of_their_own():
    plan = Plan(sets=("flags",), repeats=3)
    chosen = dict.fromkeys(plan.objectives, "peak 3: 1.04")
    tasks = [
        *plan.fold_tasks("flags", 7, 5),
        *plan.final_tasks("flags", chosen),
        *plan.variant_tasks("flags", 129, 7, chosen),
        *plan.timing_tasks("flags", chosen),
        *plan.sensitivity_tasks("flags", 7),
        Task("reference", "flags", "ha+", "none"),
    ]
    assert len(tasks) == len({task.key for task in tasks})


def test_large_sets_are_not_used_for_what_takes_long():
    plan = Plan()
    chosen = dict.fromkeys(plan.objectives, "peak 3: 1.04")
    assert plan.variant_tasks("CAL500", 335, 174, chosen) == []
    assert {task.variant for task in plan.variant_tasks("birds", 322, 19, chosen)} == {"free head"}
    assert {task.variant for task in plan.variant_tasks("flags", 129, 7, chosen)} == {"free head", "exhaustive"}
