"""What to choose by, and what is said of what cannot be chosen by."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.metrics import f1_score, make_scorer, roc_auc_score

from plurule.metrics import METRICS, SCORERS, micro_f1
from plurule.prediction.scoring import check_scoring


def message(scoring: Any) -> str:
    with pytest.raises(ValueError, match="scoring") as error:
        check_scoring(scoring)
    return str(error.value)


@pytest.mark.parametrize("scoring", [3, None, "foo"])
def test_what_is_no_scoring_is_refused_with_all_that_is_allowed_once(scoring: Any) -> None:
    said = message(scoring)
    assert all(said.count(repr(name)) == 1 for name in METRICS)
    assert repr(scoring) in said
    assert "a scorer of scikit-learn for several labels, such as 'f1_macro'" in said


def test_a_name_that_was_mistyped_is_suggested() -> None:
    assert message("micro_f").startswith("unknown scoring 'micro_f'; did you mean 'micro_f1'")


@pytest.mark.parametrize("metric", [f1_score, roc_auc_score])
def test_a_metric_is_no_scorer_and_can_be_made_one(metric: Any) -> None:
    assert f"give sklearn.metrics.make_scorer({metric.__name__}, …)" in message(metric)
    scorer = make_scorer(metric, average="micro")
    assert check_scoring(scorer).scorer is scorer


def test_a_measure_of_ours_is_given_by_name() -> None:
    assert message(micro_f1).endswith("give its name, 'micro_f1'")
    assert check_scoring("micro_f1").scorer is None
    assert check_scoring(SCORERS["micro_f1"]).scorer is not None
