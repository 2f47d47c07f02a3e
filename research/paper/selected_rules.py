"""Selected rules: what normal and relaxed pruning learned about the same label, side by side.

Labels are chosen automatically: those that relaxed pruning predicts together with others, in few enough rules to read;
best of all, those where a label condition of one model says the same as a head of the other. To count the lifts of the
paper with which there is such a pair, whatever lift cross-validation chooses:

    python -m research.paper.selected_rules SET OBJECTIVE
"""

from __future__ import annotations

import argparse
from collections import namedtuple
from collections.abc import Sequence

from plurule import PluruleError, Rule, RuleList
from plurule.model import Condition, OneOfCondition, RangeCondition
from research.data import parse_labels, read_parts, require_data_set
from research.paper.experiment import Results, model_path
from research.paper.lifts import NONE, PAPER_LIFTS, LiftName
from research.paper.objectives import find_objective
from research.paper.published import table

RULES_SHOWN = 8
_AUTOMATIC = {"yeastD": 2, "yeast": 2}
"""How many labels are chosen of a set, if not one."""
_PAPER_OBJECTIVES = {"yeast": "macro-f+"} | {row["set"]: row["objective"] for row in table("rules")}

PrintedRules = dict[str, list[dict[str, str]]]
"""Rules about one label as the paper prints them, with normal and with relaxed pruning."""


Equivalence = namedtuple("Equivalence", "condition_rule label_rule joint_rule")
"""`first ← condition` and `second ← first` in one model, and `first, second ← condition` in the other, with conditions
that differ in their thresholds only: a label condition and a head that say the same."""

Selection = namedtuple("Selection", "dataset objective lift label reason rules equivalence published")
"""The rules of both models about one label, by `"normal"` and `"relaxed"`, and what the paper printed, if it did."""


def selections(results: Results) -> list[Selection]:
    """Rules of the paper's sets and objectives where they were run, else of the set and objective with most to show."""
    found = []
    for dataset, objective in _shown(results):
        normal, relaxed = (
            RuleList.load(model_path(results.folder, results.final(dataset, objective, relaxed)))
            for relaxed in (False, True)
        )
        lift = results.sets[dataset].chosen(objective)
        printed = _printed(dataset, objective)
        automatic = choose_labels(normal, relaxed, _AUTOMATIC.get(dataset, 1))
        for label in dict.fromkeys([*automatic, *(label for label in printed if label in normal.labels)]):
            reason = "chosen automatically" if label in automatic else "shown in the paper"
            if label in automatic and label in printed:
                reason += ", and in the paper"
            rules = {"normal": rules_about(normal, label), "relaxed": rules_about(relaxed, label)}
            equivalence = next(iter(equivalences(normal, relaxed, label)), None)
            found.append(Selection(dataset, objective, lift, label, reason, rules, equivalence, printed.get(label)))
    return found


def _printed(dataset: str, objective: str) -> dict[str, PrintedRules]:
    """What the paper prints of a model, by label."""
    found: dict[str, PrintedRules] = {}
    for row in table("rules"):
        if (row["set"], row["objective"]) == (dataset, objective):
            found.setdefault(row["label"], {"normal": [], "relaxed": []})[row["pruning"]].append(row)
    return found


def _shown(results: Results) -> list[tuple[str, str]]:
    """Data sets and objectives to show."""
    replaced = "yeast" if "yeastD" in results.sets else ""
    found = [
        (dataset, objective)
        for dataset, objective in _PAPER_OBJECTIVES.items()
        if dataset in results.sets and objective in results.plan.objectives and dataset != replaced
    ]
    if not found:
        for dataset in list(results.sets)[:3]:
            tasks = {o: results.final(dataset, o, relaxed=True).key for o in results.plan.objectives}
            found.append((dataset, max(tasks, key=lambda o: results.records[tasks[o]]["size"]["multi_label_heads"])))
    return found


def rules_about(model: RuleList, label: str) -> tuple[Rule, ...]:
    """The rules that predict a label, or ask what was predicted for it."""
    return tuple(rule for rule in model if _predicts(rule, label) or label in _asked(rule))


def choose_labels(normal: RuleList, relaxed: RuleList, count: int) -> list[str]:
    """The labels that are most worth a look."""
    worth = {label: _worth(normal, relaxed, label) for label in relaxed.labels}
    together = [label for label in worth if worth[label] is not None]
    return sorted(together, key=lambda label: worth[label] or (), reverse=True)[:count]


def _worth(normal: RuleList, relaxed: RuleList, label: str) -> tuple[float, ...] | None:
    """How much a label is worth showing; None if relaxed pruning never predicts it together with another."""
    theirs, ours = rules_about(normal, label), rules_about(relaxed, label)
    joint = [rule for rule in ours if _predicts(rule, label) and len(rule.head) > 1]
    if not joint:
        return None
    equivalent = len(equivalences(normal, relaxed, label)) > 0
    readable = max(len(theirs), len(ours)) <= RULES_SHOWN
    weight = sum(rule.tp for rule in joint) / max(sum(rule.tp for rule in ours), 1)
    return float(equivalent), float(readable), float(any(label in _asked(r) for r in theirs)), weight, -len(ours)


def equivalences(normal: RuleList, relaxed: RuleList, label: str) -> list[Equivalence]:
    """Where a label condition of the normal model says the same as a head of the relaxed one."""
    found = []
    for second in normal:
        if label not in _asked(second) or len(second.body) != 1:
            continue
        others = {a.name for a in second.head}
        for joint in relaxed:
            present = {a.name for a in joint.head if a.present}
            if label not in present or not others & present:
                continue
            tested = _tests(joint)
            found += [
                Equivalence(first, second, joint)
                for first in normal
                if _predicts(first, label) and tested and tested == _tests(first)
            ]
    return found


def _predicts(rule: Rule, label: str) -> bool:
    return any(assignment.name == label for assignment in rule.head)


def _asked(rule: Rule) -> set[str]:
    """The labels that a rule asks to be present."""
    return {c.name for c in rule.label_conditions if c.present}


def _tests(rule: Rule) -> set[tuple[object, ...]]:
    """Return the conditions on attributes, without thresholds."""
    return {_without_threshold(condition) for condition in rule.attribute_conditions}


def _without_threshold(condition: Condition) -> tuple[object, ...]:
    if isinstance(condition, RangeCondition):
        return condition.name, condition.above is None, condition.at_most is None
    return condition.name, type(condition), condition.categories if isinstance(condition, OneOfCondition) else ()


def main(arguments: Sequence[str] | None = None) -> None:
    """Count the lifts of the paper with which a head says the same as a label condition of normal pruning."""
    parser = argparse.ArgumentParser(prog="python -m research.paper.selected_rules", description=main.__doc__)
    parser.add_argument("set", help="name or path of a data set")
    parser.add_argument("objective", help="objective, for example macro-f+")
    parser.add_argument("--labels", help="label columns of a data set that does not name them: a,b or last:2")
    given = parser.parse_args(arguments)
    try:
        train, _ = read_parts(require_data_set(given.set), labels=parse_labels(given.labels))
        objective = find_objective(given.objective)
    except PluruleError as error:
        parser.error(str(error))
    lifts = [lift for lift in PAPER_LIFTS if LiftName.parse(lift).fits(len(train.label_names))]
    normal, *models = (objective.learner(lift).fit(train).rule_list_ for lift in (NONE, *lifts))
    shown = 0
    for lift, relaxed in zip(lifts, models, strict=True):
        pairs = [pair for label in relaxed.labels for pair in equivalences(normal, relaxed, label)]
        shown += bool(pairs)
        texts = [rule.to_text() for rule in pairs[0]] if pairs else ["no such pair"]
        print(f"{lift}: {'; '.join(texts)}")
    print(f"{shown} of {len(lifts)} lifts: a head says the same as a label condition of normal pruning.")


if __name__ == "__main__":
    main()
