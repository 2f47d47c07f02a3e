"""Calibration of probabilities."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from research.compare.calibration import curve, main, table


def test_curve_compares_mean_probabilities_with_shares() -> None:
    one = curve("some", "RuleListClassifier", np.array([[1, 0], [1, 1]]), np.array([[0.9, 0.12], [1.0, 0.18]]))
    assert one.n_pairs == [2, 2]
    assert one.probability == pytest.approx([0.15, 0.95])
    assert one.present == [0.5, 1.0]
    assert one.error == pytest.approx((0.35 + 0.05) / 2)


def test_probabilities_that_are_true_have_a_small_error() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.random((20_000, 2))
    curves = [
        curve("true", learner, rng.random(probabilities.shape) < probabilities, probabilities)
        for learner in ("RuleListClassifier", "RelaxedPruningClassifier")
    ]
    assert all(one.error < 0.02 for one in curves)
    assert "| true | 40,000 | 0.5" in table(curves)


def test_main_writes_the_numbers_the_table_and_the_picture(tmp_path: Path) -> None:
    main(["--sets", "world-flags", "--output", str(tmp_path)])
    assert {one["learner"] for one in json.loads((tmp_path / "calibration.json").read_text())} == {
        "RuleListClassifier",
        "RelaxedPruningClassifier",
    }
    assert "world-flags" in (tmp_path / "calibration.md").read_text()
    assert (tmp_path / "calibration.png").stat().st_size > 1000
