"""A default fit is one straight line: stages in order, each once, through few modules and functions."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
import pytest

import plurule

MOST_MODULES = 22
"""To be lowered when a fit runs through fewer."""
MOST_FUNCTIONS = 193

STAGES = {
    "read": "labelled_data",
    "check": "check_weights",
    "take": "MemoryRows.take",
    "split": "MemoryRows.split",
    "grow": "MemoryRows.grow",
    "cover": "MemoryRows.cover",
    "select": "select_rules",
    "score": "Scoring.curves",
    "finish": "Selection.finished",
}
"""The function that begins each stage."""
OF_STAGE = {
    "read": ["labelled_data", "encode", "read_target", "_infer"],
    "check": ["check_weights", "check_constraints", "plain_options", "find_measure"],
    "take": ["MemoryRows.take", "drawn"],
    "split": ["MemoryRows.split", "Roles.make", "row_keys", "group_copies", "iterative_split", "_deal"],
    "grow": ["MemoryRows.grow", "grow", "Problem.with_conditions", "prepare", "learn", "bodies_of"],
    "cover": ["MemoryRows.cover", "covered_bits", "CoverBlock.of"],
    "select": ["select_rules", "_selection", "LocalCovers.select"],
    "score": ["Scoring.curves", "choose", "estimate"],
    "finish": ["Selection.finished", "readable", "MemoryRows.count", "with_default_rules"],
}
"""Functions that no later stage calls; selecting and scoring take turns, fold by fold."""
READS_ATTRIBUTES = ["Problem.take", "ColumnCache.mask", "ColumnCache.__getitem__", "Table.column", "learn", "prepare"]
"""Functions that look at attributes, which end with `cover` until a list is finished."""


class Call(NamedTuple):
    """A call of a function of the package."""

    path: str
    name: str
    line: int


@pytest.fixture(scope="module")
def calls() -> list[Call]:
    """The calls of a second default fit of 300 random rows, in order."""
    X = np.random.default_rng(0).normal(size=(300, 5))
    Y = (X[:, :3] > 0.5).astype(int)
    plurule.RuleListClassifier().fit(X, Y)
    folder = os.path.dirname(str(plurule.__file__))
    calls: list[Call] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folder):
            calls.append(Call(code.co_filename, code.co_qualname, code.co_firstlineno))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        plurule.RuleListClassifier().fit(X, Y)
    finally:
        sys.setprofile(before)
    return calls


def times_of(calls: list[Call], name: str) -> list[int]:
    """Return when a function was called."""
    times = [time for time, call in enumerate(calls) if call.name == name]
    assert times, f"a default fit does not call {name} any more; give the function that took its place"
    return times


def test_fit_runs_through_few_modules(calls: list[Call]) -> None:
    assert len({call.path for call in calls}) <= MOST_MODULES


def test_fit_runs_through_few_functions(calls: list[Call]) -> None:
    # Lambdas and comprehensions belong to the function that has them.
    assert len({call for call in calls if not call.name.split(".")[-1].startswith("<")}) <= MOST_FUNCTIONS


def test_fit_enters_stages_in_order(calls: list[Call]) -> None:
    begins = {stage: times_of(calls, name)[0] for stage, name in STAGES.items()}
    assert sorted(begins, key=begins.__getitem__) == list(STAGES)


@pytest.mark.parametrize("stage", ["read", "check", "take", "split", "grow", "cover", "finish"])
def test_fit_begins_a_stage_once(stage: str, calls: list[Call]) -> None:
    assert len(times_of(calls, STAGES[stage])) == 1


@pytest.mark.parametrize(
    ("stage", "later"),
    [(stage, "finish" if stage == "select" else later) for stage, later in pairwise(STAGES)],
)
def test_fit_never_returns_to_an_earlier_stage(stage: str, later: str, calls: list[Call]) -> None:
    begin = times_of(calls, STAGES[later])[0]
    assert [name for name in OF_STAGE[stage] if times_of(calls, name)[-1] >= begin] == []


@pytest.mark.parametrize("name", READS_ATTRIBUTES)
def test_fit_reads_no_attribute_between_cover_and_finish(name: str, calls: list[Call]) -> None:
    begin, end = (times_of(calls, STAGES[stage])[0] for stage in ("select", "finish"))
    assert not [time for time in times_of(calls, name) if begin <= time < end]
