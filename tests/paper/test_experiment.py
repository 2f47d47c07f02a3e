"""Data sets that fail, in whatever way: the others go on."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plurule.paper import experiment as experiment_module
from plurule.paper.experiment import Experiment, Results, model_path
from plurule.paper.materials import Material
from plurule.paper.protocol import Plan, Task
from plurule.selection.journal import Journal, JournalError
from plurule.selection.trials import Trial


def write(folder: Path, name: str, n_labels: int, rows: int = 30) -> str:
    labels = "".join(f"@attribute l{label} {{0,1}}\n" for label in range(n_labels))
    lines = "\n".join(",".join(str(int(x > 3 * label + 5)) for label in range(n_labels)) + f",{x}" for x in range(rows))
    path = folder / f"{name}.arff"
    path.write_text(f"@relation '{name}: -C {n_labels}'\n{labels}@attribute x numeric\n@data\n{lines}\n")
    return str(path)


def run(folder: Path, places: Mapping[str, str], lift: str = "peak 3: 1.08") -> Results:
    plan = Plan(tuple(places), ("ha+", "macro-f+-"), (lift,), repeats=1, sensitivity_steps=2)
    return Experiment(plan, folder / "out", places).run()


def sensitivity_of(results: Results) -> set[str]:
    return {key.split("/")[1] for key in results.records if key.startswith("sensitivity/")}


def test_a_set_that_no_lift_fits_fails_and_the_others_go_on(tmp_path: Path):
    results = run(tmp_path, {"two": write(tmp_path, "two", 2), "seven": write(tmp_path, "seven", 7)})
    assert results.failures == {"two": "none of the lifts fits 2 labels: peak 3: 1.08"}
    assert list(results.sets) == ["seven"]
    assert results.sensitivity_set == "seven"
    assert sensitivity_of(results) == {"seven"}


@pytest.mark.parametrize("bad", ["a", "flags", "c"])
def test_whatever_goes_wrong_with_a_set_is_its_failure_and_the_others_go_on(
    tmp_path: Path, bad: str, monkeypatch: pytest.MonkeyPatch
):
    def work_of(task: Task, material: Material) -> object:
        return fail if task.dataset == bad else proper(task, material)

    def fail(evaluation: object) -> object:
        raise ZeroDivisionError("nobody thought of this")

    proper = experiment_module.work_of
    monkeypatch.setattr(experiment_module, "work_of", work_of)
    names = ("a", "flags", "c")
    results = run(tmp_path, {name: write(tmp_path, name, 4) for name in names})
    assert list(results.failures) == [bad]
    said = f"fold/{bad}/ha+/none/0: ZeroDivisionError: nobody thought of this (test_experiment.py"
    assert said in results.failures[bad]
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


def test_the_numbers_do_not_depend_on_the_executor(tmp_path: Path):
    places = {"a": write(tmp_path, "a", 4)}
    plan = Plan(("a",), ("ha+",), ("peak 3: 1.08",), repeats=1, sensitivity_steps=2)
    here = Experiment(plan, tmp_path / "here", places).run()
    with ThreadPoolExecutor(3) as threads:
        there = Experiment(plan, tmp_path / "there", places, threads).run()
    assert here.records.keys() == there.records.keys()
    for key, result in here.records.items():
        assert {k: v for k, v in there.records[key].items() if k != "seconds"} == {
            k: v for k, v in result.items() if k != "seconds"
        }


def test_a_model_that_is_gone_is_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    places = {"a": write(tmp_path, "a", 4)}
    run(tmp_path, places)
    lost = model_path(tmp_path / "out", Task("final", "a", "ha+", "none"))
    before = lost.read_text()
    lost.unlink()
    trained = []
    call = Trial.__call__
    monkeypatch.setattr(Trial, "__call__", lambda self, on: trained.append(self) or call(self, on))
    run(tmp_path, places)
    assert lost.read_text() == before
    assert len(trained) == 1


def test_sets_whose_names_differ_in_odd_characters_only_have_models_of_their_own(tmp_path: Path):
    names = {model_path(tmp_path, Task("final", name, "ha+", "none")) for name in ("a", "a$", "a/", "a:")}
    assert len(names) == 4


def test_final_models_are_kept_under_names_that_every_system_allows() -> None:
    task = Task("final", "birds", "ha+-", "peak 3: 1.04")
    assert task.key == "final/birds/ha+-/peak 3: 1.04/0"
    assert model_path(Path("out"), task).name == "birds ha+- peak 3 1.04.json"
