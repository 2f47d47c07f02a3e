"""Objectives by name."""

from __future__ import annotations

import pytest

from plurule.errors import PluruleError
from plurule.heuristics import FMeasure, HammingAccuracy
from plurule.metrics import METRICS
from plurule.selection.objectives import OBJECTIVES, PAPER_OBJECTIVES, find_objective


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
