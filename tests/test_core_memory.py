"""Too little memory while several threads learn."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIMITED = """
import resource, sys
import numpy as np
from plurule import RuleListClassifier

random = np.random.default_rng(0)
X, Y = random.normal(size=(20000, 40)), (random.random((20000, 20)) < 0.2).astype(int)
with open("/proc/self/statm") as used:
    limit = int(used.read().split()[0]) * resource.getpagesize() + (int(sys.argv[1]) << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    RuleListClassifier(heuristic="f_measure", n_rules=2, n_jobs=4).fit(X, Y)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and limits of Linux")
@pytest.mark.parametrize("megabytes", [1, 8, 24, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 40, 2))])
def test_memory_that_four_threads_cannot_have_is_an_error_and_no_abort(megabytes: int) -> None:
    ended = subprocess.run([sys.executable, "-c", LIMITED, str(megabytes)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert "more memory than could be had" in ended.stdout
