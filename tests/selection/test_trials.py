"""One trial: a list is learned from a part, and scored on the rest, whole or at every length."""

from __future__ import annotations

import json

import numpy as np
import pytest

from plurule.data import Dataset
from plurule.datasets import load_world_flags
from plurule.lifts import NoLift, as_table
from plurule.metrics import METRICS, scores
from plurule.prediction.decide import decide
from plurule.prediction.scoring import Scoring
from plurule.selection.folds import Folds, Part, problem_of
from plurule.selection.objectives import find_objective
from plurule.selection.trials import Evaluation, Trial, size_of

OPTIONS = find_objective("micro-f+").options(as_table(NoLift(), 7))


@pytest.fixture(scope="module")
def data() -> Dataset:
    return load_world_flags()


def folds_of(data: Dataset) -> Folds:
    return Folds(problem_of(data), []).split(3)


def test_a_whole_list_has_all_measures_on_the_rows_held_out_and_its_size(data: Dataset) -> None:
    folds = folds_of(data)
    evaluation = Evaluation(folds, Scoring("hamming_accuracy"), tuple(METRICS), by_length=False)
    result = Trial(OPTIONS, part=1, keep_model=True)(evaluation)
    model, (rows,) = result.pop("model"), folds.held_out(1)
    assert result["scores"] == scores(rows.Y, decide(model, rows.table).labels())
    assert result["size"] == size_of(model)
    assert result["seconds"].keys() == {"train", "score"}
    assert json.loads(json.dumps(result)) == result


def test_weights_of_rows_count_in_the_scores(data: Dataset) -> None:
    weights = np.arange(len(data)) % 3 + 1.0
    weighted = problem_of(Dataset(data.X, data.Y, data.label_names, weights))
    evaluation = Evaluation(Folds(weighted, []).split(3), Scoring("micro_f1"), by_length=False)
    result = Trial(OPTIONS, keep_model=True)(evaluation)
    (rows,) = evaluation.folds.held_out(0)
    predicted = decide(result["model"], rows.table).labels()
    assert result["scores"]["micro_f1"] == scores(rows.Y, predicted, sample_weight=rows.weights)["micro_f1"]


def test_at_every_length_the_last_score_is_that_of_the_whole_list(data: Dataset) -> None:
    folds = folds_of(data)
    staged, whole = (
        Trial(OPTIONS)(Evaluation(folds, Scoring("micro_f1"), by_length=by_length)) for by_length in (True, False)
    )
    (by_length,) = staged["scores"]["micro_f1"]
    assert len(by_length) == len(staged["conditions"]) == whole["size"]["rules"] + 1
    assert by_length[-1] == pytest.approx(whole["scores"]["micro_f1"])
    assert staged["conditions"][-1] == whole["size"]["conditions"]


def test_whole_lists_are_scored_on_one_group_of_rows(data: Dataset) -> None:
    rows = np.arange(len(data))
    folds = Folds(problem_of(data), [Part(rows[:100], (rows[100:150], rows[150:]))])
    with pytest.raises(ValueError, match="whole lists are scored on one group of rows, not on 2"):
        Trial(OPTIONS)(Evaluation(folds, Scoring("micro_f1"), by_length=False))
