"""The tasks of a plan."""

from __future__ import annotations

from plurule.paper.protocol import Plan, Task


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
        *plan.later_tasks("flags", 129, 7, chosen),
        *plan.sensitivity_tasks("flags", 7),
        Task("reference", "flags", "ha+", "none"),
    ]
    assert len(tasks) == len({task.key for task in tasks})


def test_large_sets_are_not_used_for_what_takes_long():
    plan = Plan()
    chosen = dict.fromkeys(plan.objectives, "peak 3: 1.04")
    variants = {
        name: {task.variant for task in plan.later_tasks(name, *size, chosen) if task.kind == "variant"}
        for name, size in {"CAL500": (335, 174), "birds": (322, 19), "flags": (129, 7)}.items()
    }
    assert variants == {"CAL500": set(), "birds": {"free head"}, "flags": {"free head", "exhaustive"}}
