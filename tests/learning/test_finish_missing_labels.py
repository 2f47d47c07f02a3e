"""Labels that no rule predicts are named with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np

from plurule import RelaxedPruningClassifier

X = np.arange(40.0).reshape(-1, 1)
NAMES = ["half", "rare", "never", "noise"]
Y = np.column_stack([X[:, 0] < 20, X[:, 0] == 7, np.zeros(40), X[:, 0] % 4 == 0]).astype(int)


def reasons(**parameters: Any) -> dict[str, str]:
    classifier = RelaxedPruningClassifier(
        **({"head_search": "single", "max_conditions": 1, "remaining": 0, "min_coverage": 3} | parameters)
    )
    return classifier.fit(X, Y, label_names=NAMES).labels_without_rules_


def test_a_label_is_never_there_too_rare_or_no_rule_for_it_is_precise_enough() -> None:
    assert reasons() == {
        "rare": "too rare: 1 have it, a rule that covers min_coverage needs 2",
        "never": "no training instance has it",
        "noise": "no rule for it reaches min_precision (0.5) and covers enough",
    }
    assert set(reasons(min_precision=0.34)) == {"rare", "never"}
    assert set(reasons(min_coverage=0, min_precision=0, max_conditions=2)) == {"never"}


def test_a_label_is_cut_off_with_the_list_or_left_over_at_its_end() -> None:
    assert reasons(max_rules=1, min_precision=0.2)["noise"] == "cut off: the list ends after 1 rule"
    ended = "training ended before: at most 90% of the instances were left"
    assert reasons(remaining=0.9, stop_threshold=1)["noise"] == ended


def test_where_every_label_has_a_rule_none_is_named_and_absence_counts_as_one() -> None:
    assert reasons(predict_absence=True) == {}
