"""A small experiment that several test modules look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from research.files import EMBEDDED, DataSet
from research.paper.experiment import Experiment, Results
from research.paper.protocol import Plan
from research.paper.report import Statement, write_report

LIFTS = ("peak 2: 1.08", "kln at 3: 1.08")


@pytest.fixture(scope="session", autouse=True)
def _short_timings() -> Iterator[None]:
    """Times need not be measured well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("research.paper.experiment.SHORTEST_TIMING", 0.0)
        yield


@pytest.fixture(scope="session")
def plan() -> Plan:
    """The embedded data, all objectives, two lifts."""
    return Plan(sets=(EMBEDDED,), lifts=LIFTS, repeats=2, sensitivity_steps=3)


@pytest.fixture(scope="session")
def results(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A finished experiment; trying all label sets of seven labels would take most of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("research.paper.protocol.VARIANTS", (("free head", 500, 50),))
        return Experiment(plan, tmp_path_factory.mktemp("finished"), {EMBEDDED: DataSet(EMBEDDED)}).run()


@pytest.fixture(scope="session")
def written(results: Results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Statement]]:
    """The folder of its report with all figures, and the judged statements."""
    folder = tmp_path_factory.mktemp("report")
    return folder, write_report(results, folder)
