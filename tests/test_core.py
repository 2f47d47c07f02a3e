"""The compiled core trusts nothing it is given, can be stopped, and leaves the process healthy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from helpers.native_problems import Lopsided, random_options, random_problem
from helpers.problems import make_options
from plurule import RuleListClassifier, _core
from plurule.data.encoding import encode
from plurule.data.table import Table
from plurule.heuristics import Counts, Heuristic, ratio
from plurule.learning import covering, native
from plurule.learning.problem import Options, Problem
from plurule.model import Attribute, Rule, RuleList
from plurule.prediction.counts import recount

VALUES = np.array([1, 2, 3, 3, 2, np.nan])
TRUTH = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], dtype=np.uint8)
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
needs_limits = pytest.mark.skipif(
    sys.platform != "linux" or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="limits of memory as Linux has them; AddressSanitizer takes all there is",
)


def some_columns(max_bins: int = 0) -> _core.Columns:
    columns = _core.Columns(6, max_bins, None, 1 << 17)
    columns.add_numeric(VALUES)
    return columns


def learn(
    columns: Any = ...,
    truth: Any = TRUTH,
    weights: Any = None,
    n_threads: Any = 1,
    n_rules: Any = None,
    progress: Any = None,
    **changes: Any,
) -> Any:
    """The rules and what is undecided, by the core itself, with options that are right but for the changes."""
    options = _core.Options()
    options.lift = [1.0, 1.0, 1.0]
    for name, value in changes.items():
        if name in SETTERS:
            getattr(options, f"set_{name}")(*value)
        else:
            setattr(options, name, value)
    run = _core.Run(some_columns() if columns is ... else columns, truth, weights, options, n_threads)
    run.learn(n_rules, progress)
    return run.rules(), run.undecided()


SETTERS = ("heuristic", "custom_heuristic", "min_precision", "label_pairs")


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int32)


# What is given ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"columns": None}, TypeError),
        ({"truth": np.zeros((5, 3), dtype=np.uint8)}, ValueError),
        ({"truth": np.zeros((6, 2), dtype=np.uint8)}, ValueError),
        ({"truth": np.zeros((6, 0), dtype=np.uint8), "lift": []}, ValueError),
        ({"truth": np.full((6, 3), 2, dtype=np.uint8)}, ValueError),
        ({"truth": np.zeros(6, dtype=np.uint8)}, TypeError),
        ({"truth": "labels"}, TypeError),
        ({"weights": np.ones(5)}, ValueError),
        ({"weights": np.full(6, np.nan)}, ValueError),
        ({"weights": np.full(6, np.inf)}, ValueError),
        ({"weights": np.array([1, 1, 1, 1, 1, -1.0])}, ValueError),
        ({"heuristic": (99,)}, TypeError),
        ({"head_search": 99}, TypeError),
        ({"lift": [1.0, 1.0]}, ValueError),
        ({"lift": [np.nan] * 3}, ValueError),
        ({"lift": [np.inf] * 3}, ValueError),
        ({"lift": [-1.0] * 3}, ValueError),
        ({"allowed_attributes": [1, 1]}, ValueError),
        ({"required_attributes": [1, 0, 1]}, ValueError),
        ({"required_attributes": [256]}, TypeError),
        ({"label_pairs": (np.zeros((3, 2), dtype=np.uint8), ints(0, 1, 2))}, ValueError),
        ({"label_pairs": (np.zeros((2, 3), dtype=np.uint8), ints(0, 1, 2))}, ValueError),
        ({"label_pairs": (np.zeros((3, 3), dtype=np.uint8), ints(0, 1))}, ValueError),
        ({"label_pairs": (np.zeros((2, 2), dtype=np.uint8), ints(0, 1))}, ValueError),
        ({"predict_absence": "yes"}, TypeError),
        ({"heuristic": (_core.Formula.f_measure, np.nan)}, ValueError),
        ({"heuristic": (_core.Formula.f_measure, 1.0, np.nan)}, ValueError),
        ({"heuristic": (_core.Formula.custom,)}, ValueError),
        ({"min_precision": (np.nan, True, True)}, ValueError),
        ({"min_precision": (-0.1, True, True)}, ValueError),
        ({"min_precision": (1.1, False, False)}, ValueError),
        ({"remaining": np.nan}, ValueError),
        ({"stop_threshold": np.nan}, ValueError),
        ({"min_coverage": np.nan}, ValueError),
        ({"beam_width": 0}, ValueError),
        ({"beam_width": 10**9}, ValueError),
        ({"beam_width": -1}, TypeError),
        ({"n_rules": -1}, TypeError),
        ({"max_conditions": -1}, TypeError),
        ({"n_threads": -1}, TypeError),
        ({"custom_heuristic": (None,)}, TypeError),
        ({"custom_heuristic": (3,)}, TypeError),
        ({"custom_heuristic": (lambda tp, fp, tn, fn: tp[:1],)}, ValueError),
        ({"custom_heuristic": (lambda tp, fp, tn, fn: "high",)}, Exception),
        ({"custom_heuristic": (lambda tp, fp, tn, fn: None,)}, Exception),
        ({"custom_heuristic": (lambda: None,)}, TypeError),
        ({"progress": 3}, TypeError),
    ],
)
def test_wrong_arguments_of_learn_are_refused(changes: dict[str, Any], error: type[Exception]):
    with pytest.raises(error):
        learn(**changes)
    assert len(learn()[0]) > 0


EVERY_SEARCH = pytest.mark.parametrize(
    "search",
    [
        pytest.param({"head_search": search, "example_based": flag}, id=f"{search.name}-{flag}")
        for search in _core.HeadSearch
        for flag in (False, True)
    ],
)


@pytest.mark.parametrize(
    ("changes", "plain"),
    [
        ({"n_threads": 0}, {}),
        ({"n_threads": 10**9}, {}),
        ({"truth": np.asfortranarray(TRUTH)}, {}),
        ({"weights": np.ones(6)}, {}),
        ({"remaining": -5.0}, {"remaining": 0.0}),
        ({"min_coverage": -1.0}, {"min_coverage": 0.0}),
        ({"n_rules": 10**9, "max_conditions": 10**9}, {}),
        ({"beam_width": 1000}, {"beam_width": 50}),
    ],
)
@EVERY_SEARCH
def test_arguments_beyond_what_makes_a_difference_change_nothing(
    changes: dict[str, Any], plain: dict[str, Any], search: dict[str, Any]
):
    assert learn(**search | changes) == learn(**search | plain)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_rules": 0},
        {"weights": np.zeros(6)},
        {"heuristic": (_core.Formula.f_measure, np.inf)},
        {"custom_heuristic": (lambda tp, fp, tn, fn: tp * np.nan,)},
        {"custom_heuristic": (lambda tp, fp, tn, fn: np.full(len(tp), np.inf),)},
        {"custom_heuristic": (lambda tp, fp, tn, fn: np.full(len(tp), -np.inf),)},
    ],
)
@EVERY_SEARCH
def test_where_no_rule_can_be_good_none_is_learned(changes: dict[str, Any], search: dict[str, Any]):
    rules, undecided = learn(**search | changes)
    weights = changes.get("weights", np.ones(6))
    assert rules == []
    assert undecided == list(zip(weights @ (1 - TRUTH), weights @ TRUTH, strict=True))


@pytest.mark.parametrize(
    ("changes", "holds"),
    [
        ({"max_conditions": 0}, lambda rule: not rule.body),
        ({"allowed_attributes": [0]}, lambda rule: set(rule.body) == set(rule.label_conditions)),
        ({"required_attributes": [255]}, lambda rule: rule.body),
        ({"label_pairs": (np.full((3, 3), 255, dtype=np.uint8), ints(-7, 2**31 - 1, -7))}, None),  # apart from itself
        ({"weights": np.array([0.1, 0.2, 0.3, 0.7, 0.1, 0.9])}, None),  # not on a grid where sums are exact
        ({"weights": np.full(6, 1e300)}, None),
        ({"weights": np.full(6, 5e-324)}, None),
        ({"lift": [0.0] * 3}, None),
        ({"heuristic": (_core.Formula.f_measure, -3.0)}, None),
        ({"heuristic": (_core.Formula.f_measure, 0.25, -3.0)}, None),
        ({"heuristic": (_core.Formula.f_measure, 0.25, np.inf)}, None),
        ({"stop_threshold": 5.0}, None),
    ],
)
@EVERY_SEARCH
def test_odd_arguments_of_learn_give_rules_that_do_what_they_say(
    changes: dict[str, Any], holds: Callable[[Rule], object] | None, search: dict[str, Any]
):
    weights = changes.get("weights", np.ones(6))
    problem = Problem(Table([Attribute("a")], [VALUES]), ("A", "B", "C"), TRUTH, weights)
    rules, undecided = learn(**search | changes)
    learned = RuleList(tuple(native._rule(problem, *r) for r in rules), problem.table.attributes, problem.labels)
    assert len(learned) > 0
    assert all(holds(rule) for rule in learned if holds)
    counted = recount(learned, problem.table, TRUTH, weights)
    np.testing.assert_allclose(undecided, counted.undecided)
    for rule, again in zip(learned, counted, strict=True):
        np.testing.assert_allclose(rule.decided, again.decided)
        np.testing.assert_allclose((rule.tp, rule.fp), (again.tp, again.fp))
        assert rule.tp + rule.fp > 0


def test_without_columns_or_rows_there_is_little_to_learn():
    rules, _ = learn(columns=_core.Columns(6, 0, None, 1 << 17))
    assert [body for _, body, *_ in rules] == [[]]
    rules, undecided = learn(columns=_core.Columns(0, 0, None, 1 << 17), truth=TRUTH[:0])
    assert (rules, undecided) == ([], [(0, 0)] * 3)


def test_a_heuristic_may_rule_candidates_out_with_minus_infinity():
    class Sparing(Heuristic):
        """Will not be wrong even once."""

        def evaluate(self, tp: Counts, fp: Counts, tn: Counts, fn: Counts) -> Counts:
            return np.where(fp > 0, -np.inf, ratio(tp, tp + fn))

    rng = np.random.default_rng(8)
    for _ in range(50):
        problem = random_problem(rng)
        options = make_options(problem, heuristic=Sparing(), averaging="macro", predict_absence=bool(rng.integers(2)))
        rule_list = native.learn(problem, options)
        assert all(rule.fp == 0 for rule in rule_list)
        assert rule_list == covering.learn(problem, options)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: _core.Columns(-1, 0, None, 1 << 17), TypeError),
        (lambda: _core.Columns(2**40, 0, None, 1 << 17), ValueError),
        (lambda: _core.Columns(6, 1, None, 1 << 17), ValueError),
        (lambda: _core.Columns(6, -1, None, 1 << 17), ValueError),
        (lambda: _core.Columns(6, 3, np.ones(5), 1 << 17), ValueError),
        (lambda: _core.Columns(6, 3, np.full(6, np.nan), 1 << 17), ValueError),
        (lambda: some_columns(max_bins=3).subset(ints(0)), ValueError),
    ],
)
def test_columns_of_wrong_shape_are_refused(make: Callable[[], Any], error: type[Exception]):
    with pytest.raises(error):
        make()


BAD_COLUMNS: list[tuple[str, tuple[Any, ...]]] = [
    ("add_numeric", (np.arange(5.0),)),
    ("add_numeric", (np.zeros((6, 1)),)),
    ("add_numeric", (np.array([1, 2, 3, 4, 5, np.inf]),)),
    ("add_numeric", (np.array([1, 2, 3, 4, 5, -np.inf]),)),
    ("add_numeric", (np.arange(6),)),
    ("add_numeric", (np.arange(6).astype(np.float16),)),
    ("add_numeric", (np.arange(6).astype(complex),)),
    ("add_numeric", (np.arange(6).astype(">f8"),)),
    ("add_numeric", (np.array(["a"] * 6),)),
    ("add_numeric", ([1.0] * 6,)),
    ("add_numeric", (None,)),
    ("add_nominal", (ints(0, 1, 2, 3, 0, 0), 3)),
    ("add_nominal", (ints(0, 1, 2, -2, 0, 0), 3)),
    ("add_nominal", (ints(0, 0, 0), 3)),
    ("add_nominal", (np.zeros(6, dtype=np.int32), -1)),
    ("add_nominal", (np.zeros(6, dtype=np.int32), 0)),
    ("add_nominal", (np.array([None] * 6), 3)),
    ("add_sparse_numeric", (ints(0, 6), np.ones(2))),
    ("add_sparse_numeric", (ints(-1, 2), np.ones(2))),
    ("add_sparse_numeric", (ints(3, 2), np.ones(2))),
    ("add_sparse_numeric", (ints(2, 2), np.ones(2))),
    ("add_sparse_numeric", (ints(2), np.ones(2))),
    ("add_sparse_numeric", (ints(2), np.array([np.inf]))),
    ("add_sparse_nominal", (ints(1, 2), ints(1, 3), 3)),
    ("add_sparse_nominal", (ints(1, 2), ints(1, -2), 3)),
    ("add_sparse_nominal", (ints(1, 2), ints(1), 3)),
    ("add_sparse_nominal", (ints(9), ints(1), 3)),
    ("add_sparse_nominal", (ints(2), ints(0), 0)),
    ("subset", (ints(6),)),
    ("subset", (ints(-1),)),
    ("subset", (ints(1, 1),)),
    ("subset", (ints(2, 1),)),
]


@pytest.mark.parametrize(("method", "arguments"), BAD_COLUMNS)
def test_a_wrong_column_is_refused_and_changes_nothing(method: str, arguments: tuple[Any, ...]):
    columns = some_columns()
    with pytest.raises((ValueError, TypeError)):
        getattr(columns, method)(*arguments)
    assert learn(columns=columns) == learn()


@pytest.mark.parametrize(
    "column",
    [
        np.arange(12.0)[::-2],
        np.arange(12, dtype=np.float32)[::2],
        np.broadcast_to(np.float64(3), 6),
        np.full(6, np.nan),
    ],
)
def test_columns_may_lie_in_memory_as_they_like(column: Any):
    strided, plain = some_columns(), some_columns()
    strided.add_numeric(column)
    plain.add_numeric(np.ascontiguousarray(column))
    assert learn(columns=strided) == learn(columns=plain)


def test_a_callback_cannot_change_what_is_learned_from():
    columns = some_columns()
    with pytest.raises(RuntimeError, match="being learned from"):
        learn(columns=columns, progress=lambda rules, share: columns.add_numeric(np.arange(6.0)))
    columns.add_numeric(np.arange(6.0))
    assert len(learn(columns=columns)[0]) > 0


# What is called --------------------------------------------------------------------------------------------


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
    columns = native.prepare(problem.table)
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
import sys
import numpy as np
import plurule
from plurule.heuristics import Heuristic, ratio, SubsetAccuracy

class Own(Heuristic):
    def evaluate(self, tp, fp, tn, fn):
        return ratio(tp, tp + fp + fn)

rng = np.random.default_rng(0)
X = rng.normal(size=(30000, 40))
Y = (rng.random((30000, 12)) < 0.4).astype(np.uint8)
classifier = plurule.RuleListClassifier.published(remaining=0, predict_absence=True, {parameters})
print("ready", flush=True)
try:
    classifier.fit(X, Y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(len(plurule.RuleListClassifier().fit(X[:50, :3], X[:50, :2] > 0).rule_list_) > 0, flush=True)
"""


@needs_signals
@pytest.mark.parametrize(
    "parameters",
    [
        "heuristic='precision', n_jobs=1",
        "heuristic='precision', n_jobs=2",
        "heuristic=Own()",
        "heuristic=Own(), fix_head=False",
        "head_search='exhaustive'",
        "head_search='exhaustive', n_jobs=2",
        "head_search='exhaustive', heuristic=SubsetAccuracy(), n_jobs=2",
        "beam_width=5, fix_head=False, n_jobs=2",
    ],
)
def test_ctrl_c_stops_a_fit_and_the_process_goes_on(parameters: str):
    program = ENDLESS.replace("{parameters}", parameters)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            process.wait(2)  # into the fit, which takes many minutes
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            rest, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert rest == "interrupted\nTrue\n"
    assert process.returncode == 0


LITTLE_MEMORY = """
import resource
import numpy as np
from plurule import _core
from plurule.learning import native
from plurule.model import Attribute
from plurule.learning.problem import Options, Problem
from plurule.model import Attribute, Rule, RuleList
from plurule.prediction.counts import recount
from plurule.data.table import SparseColumn, Table

n_rows = 4_000_000
truth = np.zeros((n_rows, 4), dtype=np.uint8)
column = SparseColumn(np.array([3], dtype=np.int32), np.array([1.0]), n_rows)
problem = Problem(Table([Attribute("a")], [column]), tuple("ABCD"), truth, np.ones(n_rows))
with open("/proc/self/statm") as numbers:
    now = int(numbers.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + {more}, resource.getrlimit(resource.RLIMIT_AS)[1]))
try:
    {attempt}
except MemoryError as error:
    print(error)
"""


@needs_limits
@pytest.mark.parametrize(
    ("attempt", "more"),
    [
        ("native.learn(problem, Options(np.ones(4)))", 50_000_000),
        ("_core.Columns(6, 0, None, 1 << 17).add_nominal(np.zeros(6, dtype=np.int32), 2**31 - 1)", 500_000_000),
        ("native.prepare(problem.table).subset(np.arange(n_rows, dtype=np.int32))", 25_000_000),
    ],
)
def test_memory_that_cannot_be_had_is_an_error_that_says_how_much_was_asked_for(attempt: str, more: int):
    program = LITTLE_MEMORY.replace("{more}", str(more)).replace("{attempt}", attempt)
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "MB" in output.stdout


def test_more_threads_than_make_sense_are_not_started():
    problem = large_problem()
    options = make_options(problem, n_rules=3)
    assert native.learn(problem, options, n_jobs=10**6) == native.learn(problem, options)


def test_a_classifier_says_how_its_fit_goes_on():
    told: list[tuple[int, float]] = []
    problem = large_problem(n_rows=200)
    RuleListClassifier(heuristic="f_measure", progress=noting(told), n_rules=5).fit(problem.table, problem.Y)
    assert [rules for rules, _ in told] == [1, 2, 3, 4, 5]
    assert told == sorted(told)
    told.clear()
    aimed = RuleListClassifier(progress=noting(told), n_rules=5, cv=2).fit(problem.table, problem.Y)
    assert [rules for rules, _ in told] == list(range(1, len(aimed.rule_list_) + 1))
    assert told == sorted(told)


ENDS_WHILE_LEARNING = """
import threading, time
import numpy as np
from plurule.classifier import RuleListClassifier

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)  # the interpreter ends, and threads that want to go on in Python notice

def learn():
    random = np.random.default_rng(1)
    X, Y = random.random((2000, 20)), random.integers(0, 2, (2000, 8))
    while True:
        RuleListClassifier(heuristic="f_measure", n_rules=5, n_jobs=2, progress={progress}).fit(X, Y)

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


def test_without_avx2_rules_and_predictions_are_the_same() -> None:
    script = """
import numpy as np
from plurule import RuleListClassifier, _core
from plurule.datasets import load_world_flags
flags = load_world_flags()
classifier = RuleListClassifier(n_rules=30, predict_absence=True, max_bins=None).fit(flags)
print(_core.has_avx2())
print(classifier.rule_list_, np.packbits(classifier.predict(flags)).tobytes().hex())
"""
    told = []
    for switch in ({}, {"PLURULE_NO_AVX2": "1"}):
        done = subprocess.run([sys.executable, "-c", script], env=os.environ | switch, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.partition("\n")[::2])
    assert told[1][0] == "False"
    assert told[0][1] == told[1][1]
