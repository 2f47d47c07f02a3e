"""Columns are spooled to a folder that is removed, and take no memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pytest

from helpers.scans import LABELS, learner, model
from plurule import scan
from plurule.errors import PluruleError


def test_spooling_to_a_full_disk_is_an_error_and_leaves_nothing_behind(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        """A file on a disk that has no room."""

        def __init__(self, path: Path, mode: str):
            self.file = open(path, mode)  # noqa: SIM115  # closed below

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *error: object) -> None:
            self.file.close()

        def seek(self, place: int) -> None:
            self.file.seek(place)

        def write(self, content: Any) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("plurule._rows.parts.open", Full, raising=False)
    folder = tmp_path / "columns"
    folder.mkdir()
    with pytest.raises(PluruleError, match=r"the columns could not be written \(No space left on device\)"):
        model(scan(files, LABELS, folder=folder))
    assert not list(folder.iterdir())


SMALL_DISK = """
import resource, signal, sys
import numpy as np
from plurule import PluruleError, RuleListClassifier, scan

rng = np.random.default_rng(0)
X = rng.normal(size=(5000, 6)).astype(np.float32)
Y = (X[:, :4] * X[:, 1:5] + rng.normal(size=(5000, 4)) > 0.3).astype(np.int8)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
most = 4 * len(X)  # room for a column, not for the bits of more than 32 bodies
resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
try:
    RuleListClassifier(cv=2).fit(scan((X, Y), chunk=2000, folder=sys.argv[1]))
except PluruleError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are those of POSIX")
def test_bits_on_a_full_disk_are_an_error_and_leave_nothing_behind(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SMALL_DISK, str(tmp_path)], capture_output=True, text=True)
    assert "could not be written" in done.stdout, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, LookupError])
def test_folder_is_removed_after_an_error(error: type[BaseException], frame: pd.DataFrame, tmp_path: Path) -> None:
    def stop(rules: int, share: float) -> None:
        assert list(tmp_path.iterdir())
        raise error

    with pytest.raises(error):
        learner(verbose=stop).fit(scan([frame], LABELS, folder=tmp_path))
    assert not list(tmp_path.iterdir())


def test_folder_is_removed_after_a_part_that_cannot_be_read(frame: pd.DataFrame, tmp_path: Path) -> None:
    versions = iter([[frame[:50], frame[50:]], [frame[:50], frame[50:].assign(two=3)]])
    with pytest.raises(PluruleError):
        model(scan(lambda: next(versions), LABELS, folder=tmp_path))
    assert not list(tmp_path.iterdir())


def kill_after(rules: int, data: Any) -> None:
    """Learn in this process until it kills itself."""

    def kill(n_rules: int, share: float) -> None:
        if n_rules == rules:
            os.kill(os.getpid(), signal.SIGKILL)

    learner(verbose=kill).fit(data)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_folder_of_a_killed_program_is_removed_by_the_next_fit(
    frame: pd.DataFrame, expected: str, tmp_path: Path
) -> None:
    data = scan([frame[:500], frame[500:]], LABELS, folder=tmp_path)
    process = get_context("fork").Process(target=kill_after, args=(2, data))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    assert model(data) == expected
    assert not list(tmp_path.iterdir())


LITTLE_MEMORY = """
import resource, sys
import numpy as np
from plurule import RelaxedPruningClassifier, RuleListClassifier, scan

X, Y = (np.load(f"{sys.argv[1]}/{name}.npy", mmap_mode="r") for name in "XY")
given = {"max_rules": 2, "max_conditions": 2, "max_bins": 32}
learners = {
    "paper": RelaxedPruningClassifier(**given),
    "sampled": RelaxedPruningClassifier(**given, max_grown_rows=20_000),
    "selected": RuleListClassifier(**given, max_grown_rows=20_000, cv=0.2, lift=None),
}
learner = learners[sys.argv[2]]
few = scan((X[:5000], Y[:5000]), chunk=2000, folder=sys.argv[1])
learner.fit(few)  # threads and libraries have what they need from now on
used = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmData"))
limit = used + X.nbytes * 3 // 4
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    np.array(X)
except MemoryError:
    print("too large for memory")
print(len(learner.fit(scan((X, Y), chunk=10_000, folder=sys.argv[1])).rule_list_))
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with rows of 96 MB."""
    folder = tmp_path_factory.mktemp("large")
    X = np.random.default_rng(0).normal(size=(150_000, 80))
    np.save(folder / "X", X)
    np.save(folder / "Y", (X[:, :2] > 0.5).astype(np.int8))
    return folder


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="limits of memory are those of Linux")
@pytest.mark.parametrize("which", ["paper", "sampled", "selected"])
def test_rows_that_memory_has_no_room_for_are_learned_from(which: str, large: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LITTLE_MEMORY, str(large), which], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["too large for memory", "2"], done.stderr
