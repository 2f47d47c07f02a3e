"""One pass over the rules gives what every prefix of a rule list predicts and scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score, get_scorer, log_loss, make_scorer

from plurule._prediction.staged import staged_measures
from plurule.classifier import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.errors import DataError
from plurule.heuristics import FMeasure, HammingAccuracy
from plurule.metrics import METRICS, SCORERS, Counts, macro_f1
from plurule.model import RuleList
from plurule.relaxed_pruning import RelaxedPruningClassifier


@pytest.fixture(scope="module")
def flags() -> Any:
    return load_world_flags()


LONG = {"heuristic": FMeasure(0.3), "min_coverage": 0}


@pytest.fixture(scope="module", params=[False, True], ids=["presence", "absence too"])
def fitted(flags: Any, request: pytest.FixtureRequest) -> RelaxedPruningClassifier:
    classifier = RelaxedPruningClassifier(**LONG, predict_absence=request.param)
    if request.param:
        classifier.set_params(heuristic=HammingAccuracy(), lift=None)
    return classifier.fit(flags.X[:150], flags.Y[:150], label_names=flags.label_names)


def prefixes(fitted: RelaxedPruningClassifier) -> list[RuleListClassifier]:
    lengths = range(1, len(fitted.rule_list_) + 1)
    return [RuleListClassifier.from_rule_list(fitted.rule_list_[:n]) for n in lengths]


def test_stages_are_what_training_with_fewer_rules_gives(flags: Any, fitted: RelaxedPruningClassifier) -> None:
    X, Y, new = flags.X[:150], flags.Y[:150], flags.X[150:]
    assert len(fitted.rule_list_) >= 12
    stages = list(fitted.staged_predict(new))
    scores = fitted.staged_score(new, flags.Y[150:], "micro_f1")
    assert len(stages) == len(scores) == len(fitted.rule_list_)
    for n in (1, 2, 3, 7, 12):
        shorter = RelaxedPruningClassifier(**(fitted.get_params(deep=False) | {"max_rules": n}))
        shorter.fit(X, Y, label_names=flags.label_names)
        assert shorter.rule_list_ == fitted.rule_list_[:n]
        np.testing.assert_array_equal(stages[n - 1], shorter.predict(new))
        cut = RuleListClassifier.from_rule_list(fitted.rule_list_[:n])
        np.testing.assert_array_equal(cut.predict_proba(new), shorter.predict_proba(new))
        assert scores[n - 1] == METRICS["micro_f1"](flags.Y[150:], shorter.predict(new))


def test_every_measure_is_made_of_counts() -> None:
    assert all(hasattr(Counts, measure) for measure in METRICS)


@pytest.mark.parametrize("measure", METRICS)
@pytest.mark.parametrize("weighted", [False, True])
def test_staged_scores_are_those_of_the_prefixes(
    flags: Any, fitted: RelaxedPruningClassifier, measure: str, weighted: bool
) -> None:
    X, Y = flags.X[150:], flags.Y[150:]
    weights = np.random.default_rng(0).uniform(0.1, 3, len(Y)) if weighted else None
    expected = [METRICS[measure](Y, prefix.predict(X), sample_weight=weights) for prefix in prefixes(fitted)]
    np.testing.assert_allclose(fitted.staged_score(X, Y, measure, weights), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "scoring",
    ["f1_macro", "accuracy", "roc_auc", SCORERS["example_f1"], make_scorer(log_loss, response_method="predict_proba")],
    ids=str,
)
def test_any_scorer_of_scikit_learn_scores_stages(flags: Any, fitted: RelaxedPruningClassifier, scoring: Any) -> None:
    X, Y = flags.X[:150], flags.Y[:150]
    scorer = get_scorer(scoring)
    expected = [scorer(prefix, X, Y) for prefix in prefixes(fitted)]
    np.testing.assert_allclose(fitted.staged_score(X, Y, scoring), expected)


def test_a_scorer_is_given_the_weights_of_the_rows(flags: Any, fitted: RelaxedPruningClassifier) -> None:
    X, Y = flags.X[150:], flags.Y[150:]
    weights = np.random.default_rng(0).uniform(0.1, 3, len(Y))
    by_name = fitted.staged_score(X, Y, "subset_accuracy", weights)
    np.testing.assert_allclose(fitted.staged_score(X, Y, "accuracy", weights), by_name)
    assert not np.allclose(fitted.staged_score(X, Y, "accuracy"), by_name)


def test_a_scorer_may_look_at_the_rules(flags: Any, fitted: RelaxedPruningClassifier) -> None:
    def fewer_is_better(classifier: Any, X: Any, Y: Any) -> float:
        assert isinstance(classifier.rule_list_, RuleList)
        return macro_f1(Y, classifier.predict(X)) - 0.01 * len(classifier.rule_list_)

    X, Y = flags.X[150:], flags.Y[150:]
    plain = fitted.staged_score(X, Y, "macro_f1")
    np.testing.assert_allclose(fitted.staged_score(X, Y, fewer_is_better), plain - 0.01 * np.arange(1, len(plain) + 1))


def test_stages_have_the_form_of_predictions(flags: Any) -> None:
    X, Y = flags.X, flags.Y
    sparse = RelaxedPruningClassifier(max_rules=3).fit(X, sp.csr_array(Y))
    for stage in sparse.staged_predict(X):
        assert sp.issparse(stage)
    y = np.where(Y[:, 0] == 1, "yes", "no")
    classes = RelaxedPruningClassifier(max_rules=3).fit(X, y)
    last = list(classes.staged_predict(X))[-1]
    np.testing.assert_array_equal(last, classes.predict(X))
    assert classes.staged_score(X, y, "accuracy")[-1] == (last == y).mean()
    assert classes.staged_score(X, y, "hamming_accuracy")[-1] == pytest.approx((last == y).mean())
    by_hand = f1_score(y, last, pos_label="yes")
    assert classes.staged_score(X, y, "micro_f1")[-1] == pytest.approx(by_hand)
    only_no = y == "no"
    assert classes.staged_score(X[only_no], y[only_no], "hamming_accuracy").shape == (len(classes.rule_list_),)


def test_what_cannot_be_scored_is_refused(flags: Any, fitted: RelaxedPruningClassifier) -> None:
    X, Y = flags.X, flags.Y
    with pytest.raises(ValueError, match="unknown scoring 'micro'; did you mean 'micro_f1'"):
        fitted.staged_score(X, Y, "micro")
    with pytest.raises(DataError, match="Y has 2 labels, the classifier was trained with"):
        fitted.staged_score(X, Y[:, :2])
    with pytest.raises(DataError, match="rows, y has 3"):
        fitted.staged_score(X, Y[:3])
    classes = RelaxedPruningClassifier(max_rules=1).fit(X, np.where(Y[:, 0] == 1, "yes", "no"))
    with pytest.raises(DataError, match="row 1: perhaps is none of the classes"):
        classes.staged_score(X[:2], ["no", "perhaps"])


def test_some_labels_are_scored_as_if_there_were_no_others(flags: Any, fitted: RelaxedPruningClassifier) -> None:
    rules, table, kept = fitted.rule_list_, fitted._encode(flags.X[150:]), [4, 0, 2]
    found = staged_measures(rules, table, flags.Y[150:], METRICS, kept=kept)
    predicted = [stage[:, kept] for stage in fitted.staged_predict(flags.X[150:])]
    for measure, score in METRICS.items():
        expected = [score(flags.Y[150:][:, kept], stage) for stage in predicted]
        np.testing.assert_allclose(found[measure][1:], expected, rtol=1e-12)
