"""How often the intervals of scores hold the score of all rows: `python benchmarks/interval_coverage.py [SAMPLES]`.

A million rows have labels of which some are rare, and predictions that are right more often than not; their scores
are the truth. Samples of 100, 400 and 1,600 rows are assessed, and it is counted how often an interval holds it.
"""

from __future__ import annotations

import sys

import numpy as np

from plurule.metrics import METRICS
from plurule.prediction.assessment import LEVEL, assess

ROWS = 1_000_000
SHARES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02)
"""Of the rows that have each label."""


def main() -> None:
    """Print a line per measure."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    rng = np.random.default_rng(0)
    # Rows differ in how hard they are, so that the labels of a row are not independent.
    hard = rng.random((ROWS, 1))
    truth = (rng.random((ROWS, len(SHARES))) < SHARES).astype(np.int8)
    predicted = np.where(rng.random(truth.shape) < 0.4 * hard * np.sqrt(SHARES), 1 - truth, truth).astype(np.int8)
    known = {name: float(metric(truth, predicted)) for name, metric in METRICS.items()}
    sizes = (100, 400, 1600)
    held = {name: dict.fromkeys(sizes, 0) for name in known}
    for size in sizes:
        for _ in range(samples):
            rows = rng.integers(0, ROWS, size)
            for name, found in assess(truth[rows], predicted[rows]).items():
                held[name][size] += found.low <= known[name] <= found.high
    print(f"{samples} samples each; {LEVEL:.0%} wanted; rows: {', '.join(map(str, sizes))}")
    for name, counts in held.items():
        print(f"{name:24} {known[name]:.3f}  " + "  ".join(f"{100 * counts[size] / samples:5.1f}%" for size in sizes))


if __name__ == "__main__":
    main()
