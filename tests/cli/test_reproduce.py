"""`plurule reproduce` as a program: whatever ends it, it goes on and gives the same numbers."""

from __future__ import annotations

import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.campaigns import numbers as numbers_of_examples
from helpers.commands import Run, assert_mistake
from plurule.cli import app
from plurule.cli.reproduce import make_plan
from plurule.data import read, write

ARGUMENTS = (
    *("--sets", "world-flags", "--objectives", "ha+, macro-f+-", "--lifts", "peak 2: 1.08, kln at 3: 1.08"),
    *("--repeats", "2", "--jobs", "2"),
)
TIMED = {"effort", "training-times", "statements"}


def command(out: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "plurule", "reproduce", "--quick", "--out", str(out), *(arguments or ARGUMENTS)]


def take_little_time(patch: pytest.MonkeyPatch) -> None:
    """No figures, which take longest, and times that are not measured well."""
    patch.delenv("PLURULE_DATA", raising=False)
    patch.setattr("plurule.paper.report.draw_all", lambda analysis, folder: {})
    patch.setattr("plurule.paper.materials._SHORTEST_TIMING", 0.0)


@pytest.fixture
def undrawn(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Reproduces in this process."""
    take_little_time(monkeypatch)
    return lambda out, *arguments: run("reproduce", "--quick", "--out", out, "--jobs", 1, *arguments)


def numbers(folder: Path) -> dict[str, str]:
    """Tables without times."""
    tables = sorted((folder / "tables").glob("*.csv"))
    return {path.stem: path.read_text(encoding="utf-8") for path in tables if path.stem not in TIMED}


def results_in(folder: Path) -> int:
    journal = folder / "journal.jsonl"
    return journal.read_bytes().count(b'{"task"') if journal.is_file() else 0


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with two processes."""
    out = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        take_little_time(patch)
        app(["reproduce", "--quick", "--out", str(out), *ARGUMENTS], standalone_mode=False)
    return out


def test_two_runs_give_identical_numbers_whatever_the_number_of_processes(
    undisturbed: Path, undrawn: Run, tmp_path: Path
):
    ended = undrawn(tmp_path, *ARGUMENTS[:-2])
    assert ended.code == 0, ended.err
    assert numbers(tmp_path) == numbers(undisturbed)
    assert len(numbers(tmp_path)) >= 9


def test_a_finished_run_is_not_run_again(undisturbed: Path, undrawn: Run, tmp_path: Path):
    again = shutil.copytree(undisturbed, tmp_path / "again")
    ended = undrawn(again, *ARGUMENTS[:-2])
    assert ended.code == 0, ended.err
    assert results_in(again) == results_in(undisturbed)
    assert len(list((undisturbed / "models").glob("*.json"))) == 4


def workers_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to look for processes")
@pytest.mark.parametrize("seed", numbers_of_examples(1, 5))
def test_a_run_that_is_ended_again_and_again_leaves_no_process_and_gives_the_numbers_of_an_undisturbed_one(
    undisturbed: Path, undrawn: Run, tmp_path: Path, seed: int
):
    chance = random.Random(seed)
    total = results_in(undisturbed)
    for number in chance.sample([signal.SIGINT, signal.SIGTERM, signal.SIGKILL], 3):
        goal = results_in(tmp_path) + chance.randint(1, total // 4)
        process = subprocess.Popen(command(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # At a random moment, which is when enough new results are there, and a little later.
        while process.poll() is None and results_in(tmp_path) < goal:
            time.sleep(0.01)
        time.sleep(chance.random() * 0.05)
        workers = workers_of(process.pid)
        assert workers
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        if number == signal.SIGKILL:
            assert process.returncode == -signal.SIGKILL
        else:
            assert process.returncode == 130
            assert f"Stopped. What is finished is kept in {tmp_path}" in " ".join(said.split())
            assert "Traceback" not in said
        deadline = time.monotonic() + 60
        while any(map(alive, workers)) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(map(alive, workers))
        assert goal <= results_in(tmp_path) < total
    at_last = undrawn(tmp_path, *ARGUMENTS[:-2])
    assert at_last.code == 0, at_last.err
    assert numbers(tmp_path) == numbers(undisturbed)
    assert results_in(tmp_path) == total, "nothing is done twice"


def test_a_folder_of_other_arguments_is_refused_with_the_difference(undisturbed: Path, undrawn: Run):
    before = {path: path.read_bytes() for path in undisturbed.rglob("*") if path.is_file()}
    ended = undrawn(undisturbed, *ARGUMENTS[:4], "--lifts", "peak 2: 1.08", *ARGUMENTS[6:-2])
    assert ended.code == 2
    assert "holds results of another run: lifts was peak 2: 1.08, kln at 3: 1.08, now peak 2: 1.08" in ended.err
    assert {path: path.read_bytes() for path in undisturbed.rglob("*") if path.is_file()} == before


def mistake(run: Run, *arguments: object) -> str:
    """What the program says about arguments that it cannot use."""
    result = run("reproduce", *arguments)
    assert_mistake(result)
    return result.err


@pytest.mark.usefixtures("impatient")
def test_unknown_sets_objectives_and_lifts_are_answered_with_the_known_ones(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("PLURULE_DATA", raising=False)
    data, out = tmp_path / "data", tmp_path / "out"
    for name in ("house", "garden"):
        (data / name).mkdir(parents=True)
        (data / name / f"{name}.csv").write_text("x,a\n1,0\n2,1\n")
    here = ("--out", out, "--data", data)
    said = mistake(run, *here, "--sets", "hous")
    assert "unknown data set 'hous'; did you mean 'house'?" in said
    assert "known there are garden, house" in said
    said = mistake(run, *here, "--sets", "house", "--objectives", "ha")
    assert "unknown objective 'ha'" in said
    assert "micro-f+, micro-f+-, macro-f+, macro-f+-, ha+, ha+-" in said
    assert "lift 'peek 3: 1.1' is not understood" in mistake(run, *here, "--sets", "house", "--lifts", "peek 3: 1.1")
    assert "unknown splitter" in mistake(run, *here, "--sets", "house", "--folds", "KFlod()")
    assert "there is no such folder" in mistake(run, "--out", out, "--data", tmp_path / "nowhere")
    assert "none of flags, emotions" in mistake(run, *here)
    assert "--jobs 0" in mistake(run, "--out", out, "--sets", "world-flags", "--jobs", "0")
    assert "two data sets are called 'house'" in mistake(run, *here, "--sets", f"house,{data / 'house' / 'house.csv'}")
    assert "--sets names nothing; leave it out, or give some of world-flags, flags" in mistake(run, *here, "--sets", "")
    assert "--objectives names nothing; leave it out, or give some of micro-f+" in mistake(
        run, "--out", out, "--sets", "world-flags", "--objectives", ","
    )
    assert "no lift is given" in mistake(run, *here, "--sets", "house", "--lifts", ",")
    assert "no Dask scheduler" in mistake(
        run, "--out", tmp_path / "dask", "--sets", "world-flags", "--dask", "tcp://127.0.0.1:1"
    )
    assert not out.exists()


def test_without_data_the_papers_sets_are_named_and_how_to_get_them(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("PLURULE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    said = mistake(run, "--sets", "flgas")
    assert "unknown data set 'flgas'; did you mean 'flags'" in said
    assert "world-flags is always there" in said
    assert "(flags, emotions, birds, medical, scene, yeast, CAL500) give --data, or see plurule data fetch" in said


@pytest.mark.parametrize(
    ("repeats", "quick", "expected"), [(None, True, 2), (1, True, 1), (None, False, 5), (7, False, 7)]
)
def test_times_are_measured_as_often_as_asked_for(repeats: int | None, quick: bool, expected: int):
    plan, _, _ = make_plan(None, "world-flags", None, "paper", "mulan", repeats, 0, quick)
    assert plan.repeats == expected


def test_a_set_that_fails_is_reported_at_the_end_and_the_others_go_on(undrawn: Run, tmp_path: Path):
    data = tmp_path / "data"
    for name, rows in (("broken", "1,five\n" * 20), ("tiny", "1,0\n")):
        (data / name).mkdir(parents=True)
        (data / name / f"{name}.arff").write_text(
            f"@relation '{name}: -C 1'\n@attribute a {{0,1}}\n@attribute x numeric\n@data\n" + rows, encoding="utf-8"
        )
    sets = f"{data / 'broken'},world-flags,{data / 'tiny'}"
    few = ("--objectives", "ha+", "--lifts", "kln at 3: 1.08", "--repeats", "1")
    ended = undrawn(tmp_path / "out", "--sets", sets, *few)
    assert ended.code == 1, ended.err
    assert re.search(r"^broken: failed: .*broken\.arff, line 5", ended.err, re.MULTILINE), ended.err
    assert re.search(r"^tiny: failed: .*fold|cannot split", ended.err, re.MULTILINE), ended.err
    assert "world-flags: failed" not in ended.err
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "failed:" in page
    assert "world-flags" in (tmp_path / "out" / "tables" / "data-sets.csv").read_text()


def test_tables_are_used_with_the_labels_that_are_named_and_refused_with_others(undrawn: Run, tmp_path: Path):
    rows = "".join(f"{x},{int(x > 20)},{int(x > 30)},{x % 2}\n" for x in range(60))
    (tmp_path / "mine.csv").write_text("x,a,b,c\n" + rows)
    arguments = ("--sets", str(tmp_path / "mine.csv"), "--lifts", "kln at 3: 1.08", "--repeats", "1", "--objectives")
    ended = undrawn(tmp_path / "out", *arguments, "ha+", "--labels", "last:2")
    assert ended.code == 0, ended.err
    ended = undrawn(tmp_path / "out", *arguments, "ha+", "--labels", "a,b")
    assert ended.code == 2
    assert "labels was last:2, now a,b" in ended.err


def test_data_that_changed_since_are_refused(undrawn: Run, tmp_path: Path):
    source = tmp_path / "data" / "mine"
    source.mkdir(parents=True)
    (source / "mine.arff").write_text(
        "@relation 'mine: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute x numeric\n@data\n"
        + "\n".join(f"{int(x > 20)},{x % 2},{x}" for x in range(40))
    )
    few = ("--objectives", "ha+", "--lifts", "kln at 3: 1.08", "--repeats", "1")
    arguments = ("--data", str(tmp_path / "data"), "--sets", "mine", *few)
    ended = undrawn(tmp_path / "out", *arguments)
    assert ended.code == 0, ended.err
    path = source / "mine.arff"
    path.write_text(path.read_text().replace("1,0,30", "1,0,30.5"))
    ended = undrawn(tmp_path / "out", *arguments)
    assert ended.code == 2
    assert "the contents of mine" in ended.err


def test_results_of_other_folds_are_refused_and_those_of_a_named_splitter_stay_the_same(undrawn: Run, tmp_path: Path):
    few = ("--sets", "world-flags", "--objectives", "ha+", "--lifts", "kln at 3: 1.08", "--repeats", "1", "--folds")
    for folds, code in (("ShuffleSplit(n_splits=3)", 0), ("ShuffleSplit(n_splits=3, random_state=None)", 2)):
        out = tmp_path / str(code)
        ended = undrawn(out, *few, folds)
        assert ended.code == 0, ended.err
        before = numbers(out)
        journal = out / "journal.jsonl"
        lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
        journal.write_text("".join(lines[:6]), encoding="utf-8")
        ended = undrawn(out, *few, folds)
        assert ended.code == code, ended.err
        assert numbers(out) == before
    assert "journal.jsonl: the folds of world-flags have changed" in ended.err


def test_a_quick_run_shows_everything(
    run: Run, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("plurule.paper.materials._SHORTEST_TIMING", 0.0)
    try:
        shared = request.getfixturevalue("shared_data")
    except pytest.skip.Exception:
        # Without the paper's sets, a quick run takes the embedded data.
        place: tuple[str, ...] = ()
    else:
        place = ("--data", str(tmp_path / "data"))
        # Both sets, since they are ranked together; few rows of them, which take less time.
        for name, rows in (("flags", 60), ("emotions", 50)):
            (tmp_path / "data" / name).mkdir(parents=True)
            for part in ("train", "test"):
                write(read(shared / name, split=part)[:rows], tmp_path / "data" / name / f"{name}-{part}.arff")
    ended = run("reproduce", "--quick", "--out", tmp_path / "out", "--jobs", 1, *place)
    assert ended.code == 0, ended.err
    assert re.search(r"\d+ of \d+ published statements hold here", ended.out)
    assert "left out" not in ended.err
    assert (tmp_path / "out" / "report.html").stat().st_size > 100_000
    figures = {path.name for path in (tmp_path / "out" / "figures").iterdir()}
    for name in ("lift-functions", "sensitivity-kln", "sensitivity-peak", "training-times", "model-changes", "ranks"):
        assert {f"{name}.svg", f"{name}.png"} <= figures
    assert not list(tmp_path.rglob("*.part"))


def test_the_whole_plan_has_the_papers_sets_objectives_lifts_and_folds(shared_data: Path):
    plan, places, missing = make_plan(shared_data, None, None, "paper", "mulan", 5, 0, quick=False)
    assert missing == []
    assert places["birds"] == str(shared_data / "birds")
    assert plan.sets == ("flags", "emotions", "birds", "medical", "scene", "yeast", "CAL500", "yeastD", "CAL500D")
    assert (len(plan.objectives), len(plan.lifts), plan.folds) == (6, 28, "mulan")
