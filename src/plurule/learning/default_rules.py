"""The last word where exactly one label of a group is present: a rule without conditions for what is left."""

from __future__ import annotations

from dataclasses import replace

from plurule.model import Assignment, Head, Rule, RuleList


def with_default_rules(rule_list: RuleList) -> RuleList:
    """The list that decides every group of exclusive labels: by the class that is most frequent where no rule does."""
    for group in rule_list.groups:
        decided = any(not r.body and any(a.present and a.index in group for a in r.head) for r in rule_list)
        if not decided:
            rule_list = _with_default(rule_list, group)
    return rule_list


def _with_default(rule_list: RuleList, group: tuple[int, ...]) -> RuleList:
    undecided = list(rule_list.undecided or ((0.0, 0.0),) * len(rule_list.labels))
    everywhere = [present for _, present in undecided]
    for rule in rule_list:
        for assignment, (right, wrong) in zip(rule.head, rule.decided, strict=False):
            everywhere[assignment.index] += right if assignment.present else wrong
    usual = max(group, key=lambda label: (undecided[label][1], everywhere[label], -label))
    absent, present = undecided[usual]
    stated = Head((Assignment(rule_list.labels[usual], usual, True),))
    head = stated.completed(rule_list.groups, rule_list.labels, rule_list.hierarchy)
    # What is undecided is (absent, present); what is decided is (right, wrong).
    counts = tuple(undecided[a.index][::-1] if a.present else undecided[a.index] for a in head)
    rule = Rule(head, tp=present, fp=absent, coverage=present + absent, decided=counts)
    for assignment in head:
        undecided[assignment.index] = 0.0, 0.0
    return replace(rule_list, rules=(*rule_list.rules, rule), undecided=tuple(undecided))
