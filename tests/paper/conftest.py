"""Small experiments that several test modules look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plurule.paper.experiment import Experiment, Results
from plurule.paper.materials import EMBEDDED, Material, load_material
from plurule.paper.protocol import Plan
from plurule.paper.report import Statement, write_report

LIFTS = ("peak 2: 1.08", "kln at 3: 1.08")


def small_plan(**changes: object) -> Plan:
    """The embedded data, all objectives, two lifts."""
    arguments: dict[str, object] = {"sets": (EMBEDDED,), "lifts": LIFTS, "repeats": 2, "sensitivity_steps": 3}
    return Plan(**(arguments | changes))  # type: ignore[arg-type]


@pytest.fixture(scope="session", autouse=True)
def _hasty() -> Iterator[None]:
    """Times need not be measured well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plurule.paper.materials._SHORTEST_TIMING", 0.0)
        yield


@pytest.fixture(scope="session")
def material() -> Material:
    """The embedded data."""
    return load_material(EMBEDDED, "mulan", seed=0)


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """A finished experiment."""
    folder = tmp_path_factory.mktemp("finished")
    return Experiment(small_plan(), folder, {EMBEDDED: EMBEDDED}).run()


@pytest.fixture(scope="session")
def written(results: Results, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Statement]]:
    """The folder of its report with all figures, and what the report judges."""
    folder = tmp_path_factory.mktemp("report")
    return folder, write_report(results, folder)
