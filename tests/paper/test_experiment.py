"""Data sets that fail, in whatever way: the others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from plurule.paper.experiment import Experiment, Results
from plurule.paper.protocol import Plan, Task
from plurule.selection.executing import Outcome, attempt
from plurule.selection.journal import Journal, JournalError
from plurule.selection.trials import Material, Workbench


class Here:
    """Runs tasks in this process; anything but an outcome happens at the set that is `bad`."""

    def __init__(self, materials: Mapping[str, Material], bad: str = "") -> None:
        self._workbench = Workbench(materials)
        self._bad = bad

    def run(self, tasks: Iterable[Task], wanted: Callable[[Task], bool]) -> Iterator[Outcome]:
        for task in filter(wanted, tasks):
            if task.dataset == self._bad:
                raise ZeroDivisionError("nobody thought of this")
            yield Outcome(task, *attempt(self._workbench, task))

    def close(self) -> None:
        """Nothing."""


def write(folder: Path, name: str, n_labels: int, rows: int = 30) -> str:
    labels = "".join(f"@attribute l{label} {{0,1}}\n" for label in range(n_labels))
    lines = "\n".join(",".join(str(int(x > 3 * label + 5)) for label in range(n_labels)) + f",{x}" for x in range(rows))
    path = folder / f"{name}.arff"
    path.write_text(f"@relation '{name}: -C {n_labels}'\n{labels}@attribute x numeric\n@data\n{lines}\n")
    return str(path)


def run(folder: Path, places: Mapping[str, str], bad: str = "", lift: str = "peak 3: 1.08") -> Results:
    plan = Plan(tuple(places), ("ha+", "macro-f+-"), (lift,), repeats=1, sensitivity_steps=2)
    return Experiment(plan, folder / "out", places, lambda materials: Here(materials, bad)).run()


def sensitivity_of(results: Results) -> set[str]:
    return {key.split("/")[1] for key in results.records if key.startswith("sensitivity/")}


def test_a_set_that_no_lift_fits_fails_and_the_others_go_on(tmp_path: Path):
    results = run(tmp_path, {"two": write(tmp_path, "two", 2), "seven": write(tmp_path, "seven", 7)})
    assert results.failures == {"two": "none of the lifts fits 2 labels: peak 3: 1.08"}
    assert list(results.sets) == ["seven"]
    assert results.sensitivity_set == "seven"
    assert sensitivity_of(results) == {"seven"}


@pytest.mark.parametrize("bad", ["a", "flags", "c"])
def test_whatever_goes_wrong_with_a_set_is_its_failure_and_the_others_go_on(tmp_path: Path, bad: str):
    names = ("a", "flags", "c")
    results = run(tmp_path, {name: write(tmp_path, name, 4) for name in names}, bad)
    assert list(results.failures) == [bad]
    assert "ZeroDivisionError: nobody thought of this (test_experiment.py" in results.failures[bad]
    assert list(results.sets) == [name for name in names if name != bad]
    # The paper's set if it worked, else the first that did.
    assert sensitivity_of(results) == {"a" if bad == "flags" else "flags"} == {results.sensitivity_set}


def test_the_sensitivity_is_that_of_a_set_that_could_be_read(tmp_path: Path):
    (tmp_path / "flags.arff").write_text("nothing of use")
    places = {"flags": str(tmp_path / "flags.arff"), "b": write(tmp_path, "b", 4), "c": write(tmp_path, "c", 4)}
    results = run(tmp_path, places)
    assert list(results.failures) == ["flags"]
    assert sensitivity_of(results) == {"b"}


def test_a_journal_that_cannot_be_written_ends_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    places = {name: write(tmp_path, name, 4) for name in ("a", "b")}

    def full(self: Journal, key: str, result: object) -> None:
        raise JournalError("is the disk full?")

    monkeypatch.setattr(Journal, "add", full)
    with pytest.raises(JournalError, match="is the disk full"):
        run(tmp_path, places)
