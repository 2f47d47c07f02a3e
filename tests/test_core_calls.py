"""The compiled core can be called back, stopped and shared, and leaves the process healthy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from helpers.core import TRUTH
from helpers.native_problems import Lopsided, random_options, random_problem
from helpers.problems import make_options
from plurule import RelaxedPruningClassifier, RuleListClassifier
from plurule._learning import covering, native
from plurule._learning.problem import Options, Problem
from plurule.data.inputs import encode
from plurule.heuristics import Counts, Heuristic, ratio

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
needs_limits = pytest.mark.skipif(
    sys.platform != "linux" or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="limits of memory as Linux has them; AddressSanitizer takes all there is",
)


def test_progress_is_told_the_same_by_both_engines():
    rng = np.random.default_rng(9)
    for _ in range(30):
        problem = random_problem(rng)
        options = random_options(rng, problem)
        expected: list[tuple[int, float]] = []
        found: list[tuple[int, float]] = []
        covering.learn(problem, options, noting(expected))
        native.learn(problem, options, progress=noting(found))
        assert found == expected


def noting(told: list[tuple[int, float]]) -> Callable[[int, float], None]:
    return lambda rules, share: told.append((rules, share))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_in_the_callback_stops_the_fit_and_comes_through(n_jobs: int):
    def stop(rules: int, share: float) -> None:
        if rules == 2:
            raise LookupError("enough")

    problem = large_problem()
    with pytest.raises(LookupError, match="enough"):
        native.learn(problem, make_options(problem), n_jobs, stop)
    assert len(native.learn(problem, make_options(problem, n_rules=3), n_jobs)) == 3


@pytest.mark.parametrize("head_search", ["single", "relaxed", "exhaustive"])
def test_an_exception_in_someones_heuristic_comes_through(head_search: Any):
    class Broken(Heuristic):
        def __init__(self) -> None:
            self.calls = 0

        def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
            self.calls += 1
            if self.calls == 5:
                raise ArithmeticError("no value today")
            return ratio(tp, tp + fp)

    problem = Problem(encode(np.arange(60.0).reshape(6, 10)), ("A", "B", "C"), TRUTH, np.ones(6))
    with pytest.raises(ArithmeticError, match="no value today"):
        native.learn(problem, Options(np.ones(3), Broken(), head_search=head_search))


def test_someones_heuristic_is_asked_about_many_candidates_at_a_time():
    sizes: list[int] = []

    class Counting(Lopsided):
        def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
            sizes.append(len(tp))
            return super().evaluate(tp, fp, tn, fn)

    problem = large_problem(n_rows=400, n_columns=5, n_labels=4)
    rule_list = native.learn(problem, make_options(problem, heuristic=Counting(), n_rules=3))
    assert rule_list == native.learn(problem, make_options(problem, heuristic=Lopsided(), n_rules=3))
    assert np.mean(sizes) > 100


def test_fits_in_several_threads_of_python_do_not_disturb_one_another():
    problem = large_problem(n_rows=500)
    columns = native.prepare(problem, make_options(problem))
    options = [make_options(problem, n_rules=count) for count in range(1, 12)]
    options.append(make_options(problem, heuristic=Lopsided(), n_rules=5))
    alone = [native.learn(problem, o) for o in options]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda o: native.learn(problem, o, n_jobs=2, columns=columns), options))
    assert together == alone


def large_problem(n_rows: int = 2000, n_columns: int = 15, n_labels: int = 8) -> Problem:
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n_rows, n_columns))
    Y = (X[:, :n_labels] + rng.normal(size=(n_rows, min(n_labels, n_columns))) > 1).astype(np.uint8)
    return Problem(encode(X), tuple(f"l{i}" for i in range(Y.shape[1])), Y, np.ones(n_rows))


# The process -----------------------------------------------------------------------------------------------

ENDLESS = """
import sys, threading, time
import numpy as np
import plurule
from plurule._learning import native
from plurule.heuristics import Heuristic, ratio

class Own(Heuristic):
    def evaluate(self, tp, fp, tn, fn):
        return ratio(tp, tp + fp + fn)

def print_when_learning(learner):
    while sys._current_frames()[learner].f_code is not native.learn.__code__:  # it calls the core
        time.sleep(0.01)
    print("learns", flush=True)

rng = np.random.default_rng(0)
X = rng.normal(size=(30000, 40))
Y = (rng.random((30000, 12)) < 0.4).astype(np.uint8)
for given in sys.argv[1:]:
    parameters = {"remaining": 0, "predict_absence": True} | eval(f"dict({given})")
    threading.Thread(target=print_when_learning, args=[threading.get_ident()]).start()
    try:
        plurule.RelaxedPruningClassifier(**parameters).fit(X, Y)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
print(len(plurule.RelaxedPruningClassifier().fit(X[:50, :3], X[:50, :2] > 0).rule_list_) > 0, flush=True)
"""

ENDLESS_FITS = [
    "heuristic='precision', n_jobs=1",
    "heuristic='precision', n_jobs=2",
    "heuristic=Own()",
    "heuristic=Own(), fix_head=False",
    "beam_width=5, fix_head=False, n_jobs=2",
]


@needs_signals
def test_ctrl_c_stops_a_fit_and_the_process_goes_on():
    program = [sys.executable, "-c", ENDLESS, *ENDLESS_FITS]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        watchdog = threading.Timer(120, process.kill)
        watchdog.start()
        try:
            for fit in ENDLESS_FITS:
                assert process.stdout.readline() == "learns\n", fit
                time.sleep(0.3)  # further into the fit, which takes many minutes
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "interrupted\n", fit
            rest, _ = process.communicate(timeout=60)
        finally:
            watchdog.cancel()
            process.kill()
    assert rest == "True\n"
    assert process.returncode == 0


LITTLE_MEMORY = """
import resource
import numpy as np
from plurule import _core
from plurule._learning import native
from plurule._learning.problem import Options, Problem
from plurule.model import Attribute
from plurule.data.dataset import SparseColumn, Table

n_rows = 4_000_000
truth = np.zeros((n_rows, 4), dtype=np.uint8)
column = SparseColumn(np.array([3], dtype=np.int32), np.array([1.0]), n_rows)
problem = Problem(Table([Attribute("a")], [column]), tuple("ABCD"), truth, np.ones(n_rows))
for code, more in ATTEMPTS.items():
    with open("/proc/self/statm") as numbers:
        now = int(numbers.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.getrlimit(resource.RLIMIT_AS)[1]))
    try:
        eval(code)
    except MemoryError as error:
        print(error)
"""
ATTEMPTS = {
    "native.learn(problem, Options(np.ones(4)))": 50_000_000,
    "_core.Columns(6, 0, None).add_dense([np.int32([0] * 6)], np.int32([2**31 - 1]))": 500_000_000,
}


@needs_limits
def test_memory_that_cannot_be_had_is_an_error_that_says_how_much_was_asked_for():
    program = f"ATTEMPTS = {ATTEMPTS}\n{LITTLE_MEMORY}"
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ["MB" in line for line in output.stdout.splitlines()] == [True] * len(ATTEMPTS), output.stderr


def test_more_threads_than_make_sense_are_not_started():
    problem = large_problem()
    options = make_options(problem, n_rules=3)
    assert native.learn(problem, options, n_jobs=10**6) == native.learn(problem, options)


def test_a_classifier_says_how_its_fit_goes_on():
    told: list[tuple[int, float]] = []
    problem = large_problem(n_rows=200)
    RelaxedPruningClassifier(verbose=noting(told), max_rules=5).fit(problem.table, problem.Y)
    assert [rules for rules, _ in told] == [1, 2, 3, 4, 5]
    assert told == sorted(told)
    told.clear()
    aimed = RuleListClassifier(verbose=noting(told), max_rules=5, cv=2).fit(problem.table, problem.Y)
    assert [rules for rules, _ in told] == [0, 0, len(aimed.rule_list_)]  # after each fold, and at the end
    assert told == sorted(told)
    assert told[-1][1] == 1.0


ENDS_WHILE_LEARNING = """
import threading, time
import numpy as np
from plurule import RelaxedPruningClassifier

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)  # the interpreter ends, and threads that want to go on in Python notice

def learn():
    random = np.random.default_rng(1)
    X, Y = random.random((2000, 20)), random.integers(0, 2, (2000, 8))
    while True:
        RelaxedPruningClassifier(max_rules=5, n_jobs=2, verbose={progress}).fit(X, Y)

slow = Slow()
started = threading.Event()
threading.Thread(target=learn, daemon=True).start()
{wait}
"""


@pytest.mark.parametrize(
    ("progress", "wait"),
    [("None", "time.sleep(0.2)"), ("lambda *_: (started.set(), time.sleep(0.1))", "started.wait()")],
    ids=["in the core", "in a function of Python"],
)
def test_a_daemon_thread_that_learns_does_not_abort_the_process_when_it_ends(progress: str, wait: str) -> None:
    program = ENDS_WHILE_LEARNING.format(progress=progress, wait=wait)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "leaked" not in ended.stderr


WITHOUT_AVX2 = """
import numpy as np
from plurule import RuleListClassifier, _core
from plurule.datasets import load_world_flags
flags = load_world_flags()
classifier = RuleListClassifier(max_rules=30, predict_absence=True, max_bins=None).fit(flags)
print(_core.has_avx2())
print(classifier.rule_list_, np.packbits(classifier.predict(flags)).tobytes().hex())
"""


def test_without_avx2_rules_and_predictions_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    exec(WITHOUT_AVX2, {})
    _, _, expected = capsys.readouterr().out.partition("\n")
    environment = os.environ | {"PLURULE_NO_AVX2": "1"}
    done = subprocess.run([sys.executable, "-c", WITHOUT_AVX2], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"False\n{expected}"
