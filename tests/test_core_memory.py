"""Too little memory while several threads learn and predict."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIMITED = """
import os, resource, sys
import numpy as np
from plurule import RelaxedPruningClassifier, RuleListClassifier

random = np.random.default_rng(0)
X, Y = random.normal(size=(20000, 40)), (random.random((20000, 20)) < 0.2).astype(int)

def attempt(megabytes):
    with open("/proc/self/statm") as used:
        limit = int(used.read().split()[0]) * resource.getpagesize() + int(megabytes * 2**20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        RelaxedPruningClassifier(max_rules=2, n_jobs=4).fit(X, Y).predict(X)
    except MemoryError as error:
        return 1
    return 0

RelaxedPruningClassifier(max_rules=1, n_jobs=1).fit(X[:50], Y[:50]).predict(X[:50])
for megabytes in random.uniform(0, 400, size=int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        ended = 3
        try:
            ended = attempt(megabytes)
        finally:
            os._exit(ended)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
LEARNED, MEMORY_ERROR = "0", "1"


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and limits of Linux")
@pytest.mark.parametrize("times", [15, pytest.param(600, marks=pytest.mark.long)])
def test_memory_that_four_threads_cannot_have_is_an_error_or_done_without_and_no_abort(times: int) -> None:
    ended = subprocess.run([sys.executable, "-c", LIMITED, str(times)], capture_output=True, text=True)
    ends = ended.stdout.split()
    assert (ended.returncode, len(ends)) == (0, times), ended.stderr
    assert set(ends) == {LEARNED, MEMORY_ERROR}, (ends, ended.stderr)
