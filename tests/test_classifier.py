"""`RuleListClassifier`: what goes in, what comes out."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from plurule.classifier import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.heuristics import FMeasure, HammingAccuracy, Heuristic, Laplace, SubsetAccuracy, ratio
from plurule.lifts import KLN, NoLift
from plurule.metrics import SCORERS
from plurule.model import Assignment, Attribute, Head, OneOfCondition, RangeCondition, Rule, RuleList
from plurule.relaxed_pruning import RelaxedPruningClassifier

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]])
MORE_X = np.arange(60.0)[:, None]
MORE_Y = np.column_stack([MORE_X < 30, MORE_X >= 30]).astype(int)


def random_problem(seed: int, rows: int = 40) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.integers(0, 6, size=(rows, 3)).astype(float)
    X[random.random(X.shape) < 0.1] = np.nan
    Y = (np.nan_to_num(X @ [[1, 0, 1, -1], [0, 1, 1, 0], [1, 0, 0, 1]]) + random.normal(size=(rows, 4)) > 4).astype(int)
    return X, Y


# What goes in ----------------------------------------------------------------------------------------------


def test_names_of_a_frame_come_back_in_the_rules() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"area": MORE_X[:, 0], "sea": pd.Categorical(["no"] * 30 + ["yes"] * 30)})
    labels = pd.DataFrame(MORE_Y, columns=["red", "blue"])
    classifier = RuleListClassifier().fit(frame, labels)
    assert classifier.label_names_.tolist() == ["red", "blue"]
    assert classifier.feature_names_in_.tolist() == ["area", "sea"]
    assert classifier.rule_list_.attributes == (Attribute("area"), Attribute("sea", ("no", "yes")))
    assert str(classifier.rule_list_[0]).startswith("red ← area <= 29   ")
    assert isinstance(classifier.predict(frame), np.ndarray)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_text_categories_and_missing_values_of_frames_are_read(library: str) -> None:
    frame = pytest.importorskip(library).DataFrame
    data = frame({"kind": ["a", "a", None, "b", "b", "b"] * 10, "size": [1.0, None, 3.0, 4.0, 5.0, 6.0] * 10})
    labels = frame({"red": Y[:, 0].tolist() * 10, "blue": Y[:, 1].tolist() * 10})
    classifier = RuleListClassifier(max_conditions=1).fit(data, labels)
    assert classifier.rule_list_.attributes == (Attribute("kind", ("a", "b")), Attribute("size"))
    assert classifier.rule_list_[0].body == (OneOfCondition("kind", 0, ("b",)),)
    assert classifier.predict(data).shape == (60, 2)


def test_dense_sparse_and_listed_attributes_give_the_same_rules() -> None:
    values = np.array([[0.0, 3.0], [0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [5.0, 0.0], [6.0, 2.0]])
    expected = RuleListClassifier().fit(values, Y)
    for given_as in (values.tolist(), values.astype(object), sp.csr_matrix(values), sp.csc_array(values)):
        other = RuleListClassifier().fit(given_as, Y)
        assert other.rule_list_ == expected.rule_list_
        np.testing.assert_array_equal(other.predict(given_as), expected.predict(values))


def test_sparse_labels_in_sparse_labels_out() -> None:
    dense = RuleListClassifier().fit(X, Y)
    sparse = RuleListClassifier().fit(X, sp.csc_matrix(Y))
    predicted = sparse.predict(X)
    assert sp.issparse(predicted)
    assert predicted.format == "csr"
    np.testing.assert_array_equal(predicted.toarray(), dense.predict(X))
    assert isinstance(sparse.predict_proba(X), np.ndarray)


def test_a_table_is_matched_by_name_and_its_categories_by_text() -> None:
    flags = load_world_flags()
    classifier = RuleListClassifier(max_rules=4)
    classifier.fit(flags)
    assert classifier.feature_names_in_.tolist() == list(flags.attribute_names)
    assert classifier.label_names_.tolist() == list(flags.label_names)
    np.testing.assert_array_equal(classifier.predict(flags.X[:7]), classifier.predict(flags.X)[:7])


def test_a_frame_and_a_table_of_the_same_data_give_the_same_rules() -> None:
    pytest.importorskip("pandas")
    from_table = RuleListClassifier(max_rules=5).fit(load_world_flags())
    from_frame = RuleListClassifier(max_rules=5).fit(*load_world_flags(as_frame=True))
    assert from_table.rule_list_ == from_frame.rule_list_


@pytest.mark.parametrize("classes", [["ham", "spam"], [False, True], [1, 2], [-1, 1]])
def test_a_target_of_two_classes_gives_classes_back(classes: list[Any]) -> None:
    y = np.array([classes[1]] * 3 + [classes[0]] * 3)
    classifier = RuleListClassifier().fit(np.tile(X, (10, 1)), np.tile(y, 10))
    assert classifier.classes_.tolist() == classes
    predicted = classifier.predict(X)
    assert predicted.tolist() == y.tolist()
    assert predicted.dtype == y.dtype
    probability = classifier.predict_proba(X)
    assert probability.shape == (6, 2)
    np.testing.assert_allclose(probability.sum(axis=1), 1)


def test_a_target_of_one_class_gives_that_class() -> None:
    classifier = RuleListClassifier().fit(X, ["only"] * 6)
    assert classifier.predict(X).tolist() == ["only"] * 6
    assert classifier.predict_proba(X).tolist() == [[1.0]] * 6


@pytest.mark.parametrize("predict_absence", [False, True])
def test_labels_that_are_constant_in_training_break_nothing(predict_absence: bool) -> None:
    constant = np.hstack([Y, np.zeros((6, 1)), np.ones((6, 1))])
    classifier = RuleListClassifier(predict_absence=predict_absence).fit(X, constant)
    np.testing.assert_array_equal(classifier.predict(X)[:, 2:], constant[:, 2:])


def test_nothing_to_predict_gives_an_empty_rule_list() -> None:
    classifier = RuleListClassifier().fit(X, np.zeros((6, 2)))
    assert len(classifier.rule_list_) == 0
    assert not classifier.predict(X).any()
    assert ((classifier.predict_proba(X) > 0) & (classifier.predict_proba(X) < 0.5)).all()


# Weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_a_weight_counts_as_so_many_rows_and_zero_as_none(seed: int) -> None:
    X, Y = random_problem(seed)
    weights = np.random.default_rng(seed).integers(0, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    weighted = RelaxedPruningClassifier(predict_absence=True).fit(X, Y, weights)
    repeated = RelaxedPruningClassifier(predict_absence=True).fit(X[rows], Y[rows])
    assert weighted.rule_list_ == repeated.rule_list_
    np.testing.assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


@pytest.mark.parametrize("kind", ["whole", "decimal", "any"])
@pytest.mark.parametrize("factor", [0.1, 3, 1 / 7, 1e100, 1e-100, 1e-300])
def test_the_scale_of_the_weights_does_not_matter(kind: str, factor: float) -> None:
    X, Y = random_problem(12)
    rng = np.random.default_rng(12)
    made = {"whole": rng.integers(1, 5, len(X)), "decimal": rng.integers(1, 5, len(X)) / 10, "any": rng.random(len(X))}
    for heuristic in (FMeasure(), Laplace()):
        classifier = RelaxedPruningClassifier(heuristic=heuristic)
        rules = classifier.fit(X, Y, made[kind]).rule_list_
        assert len(rules) > 1
        assert classifier.fit(X, Y, factor * made[kind]).rule_list_ == rules


def test_where_all_weights_together_are_less_than_a_rule_must_cover_that_is_said() -> None:
    X, Y = random_problem(12)
    with pytest.warns(UserWarning, match="min_coverage=300, but all instances together weigh .*: no rule can cover"):
        fitted = RelaxedPruningClassifier(min_coverage=300).fit(X, Y)
    assert len(fitted.rule_list_) == 0


def test_weights_change_what_is_learned() -> None:
    X = np.array([[0.0], [0.0]])
    Y = np.array([[1, 0], [0, 1]])
    left = RuleListClassifier(max_rules=1).fit(X, Y, [3, 1])
    right = RuleListClassifier(max_rules=1).fit(X, Y, [1, 3])
    assert left.predict([[0.0]]).tolist() == [[1, 0]]
    assert right.predict([[0.0]]).tolist() == [[0, 1]]


# Prediction ------------------------------------------------------------------------------------------------


def test_a_category_never_seen_matches_no_nominal_condition() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"kind": ["a", "a", "a", "b", "b", "b"]})
    classifier = RelaxedPruningClassifier(stop_threshold=0.0, remaining=0.0).fit(frame, Y)
    conditions = [c for rule in classifier.rule_list_ for c in rule.body]
    assert conditions
    decided = classifier.decide(pd.DataFrame({"kind": ["c", None]})).decided_by
    with_body = [i for i, rule in enumerate(classifier.rule_list_) if rule.body]
    assert not np.isin(decided, with_body).any()


def test_columns_that_are_missing_at_prediction_are_named() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"area": MORE_X[:, 0], "zone": MORE_X[:, 0]})
    classifier = RuleListClassifier().fit(frame, MORE_Y)
    with pytest.raises(ValueError, match="now missing:\n- zone"):
        classifier.predict(frame[["area"]])
    from plurule.data.inputs import encode

    with pytest.raises(ValueError, match="lack 1 of the columns the model was trained on: 'area'"):
        classifier.predict(encode(frame[["zone"]]))
    with pytest.warns(UserWarning, match="lack 1 of the model's columns, which no rule tests"):
        assert np.array_equal(classifier.predict(encode(frame[["area"]])), classifier.predict(frame))
    expected = "X has 1 features, but RuleListClassifier is expecting 2"
    with pytest.warns(UserWarning, match="valid feature names"), pytest.raises(ValueError, match=expected):
        classifier.predict(X)


def test_a_model_trained_on_an_array_predicts_for_a_frame_by_position() -> None:
    pd = pytest.importorskip("pandas")
    classifier = RuleListClassifier().fit(X, Y)
    assert not hasattr(classifier, "feature_names_in_")
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        predicted = classifier.predict(pd.DataFrame({"anything": X[:, 0]}))
    np.testing.assert_array_equal(predicted, classifier.predict(X))


def test_an_infinite_value_at_prediction_is_refused() -> None:
    with pytest.raises(ValueError, match=r"column 'x0', row 0: .*infinity"):
        RuleListClassifier().fit(X, Y).predict([[np.inf]])


def test_predicting_before_training_is_refused() -> None:
    for method in ("predict", "predict_proba", "decide"):
        with pytest.raises(NotFittedError):
            getattr(RuleListClassifier(), method)(X)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.float64, (12, 2), elements=st.sampled_from([0.0, 1.0, 2.0, np.nan])),
    hnp.arrays(np.int8, (12, 3), elements=st.integers(0, 1)),
    st.booleans(),
)
def test_probabilities_are_strictly_inside_0_and_1(X: np.ndarray, Y: np.ndarray, predict_absence: bool) -> None:
    classifier = RuleListClassifier(predict_absence=predict_absence).fit(X, Y)
    other = np.array([[0.0, np.nan], [2.0, 1.0], [7.0, -3.0]])
    for data in (X, other):
        probability = classifier.predict_proba(data)
        assert ((probability > 0) & (probability < 1)).all()


def test_a_probability_is_the_smoothed_precision_of_the_rule_that_decided() -> None:
    # y0 ← x0 <= 2.5 is right for 2 of 2 rows; the third row is decided by no rule, for it 0 of 1 has the label.
    classifier = RelaxedPruningClassifier().fit([[1.0], [2.0], [3.0]], [[1], [1], [0]])
    assert [str(rule) for rule in classifier.rule_list_] == ["y0 ← x0 <= 2.5   (TP 2, FP 0, stop)"]
    assert classifier.predict_proba([[1.0], [3.0]]).ravel().tolist() == [3 / 4, 1 / 3]


def test_the_score_is_subset_accuracy() -> None:
    classifier = RuleListClassifier().fit(X, Y)
    half_wrong = Y.copy()
    half_wrong[:3, 1] = 1
    assert classifier.score(X, half_wrong) == 0.5


@pytest.mark.parametrize("measure", ["score", "staged_score"])
def test_labels_to_score_are_taken_by_name_and_sparse_ones_as_they_are_read(measure: str) -> None:
    pd = pytest.importorskip("pandas")
    labels = pd.DataFrame(Y, columns=["red", "blue"])
    classifier = RuleListClassifier().fit(X, labels)
    score = getattr(classifier, measure)
    assert np.all(score(X, labels[["blue", "red"]]) == score(X, Y))
    # A 1 that is written as 2 − 1, and a zero that is stored.
    twice = sp.csr_array(([2, -1, 0, 1, 1, 1, 1, 1], [0, 0, 1, 0, 0, 1, 1, 1], [0, 3, 4, 5, 6, 7, 8]))
    assert not twice.has_canonical_format
    assert np.all(score(X, twice) == score(X, Y))
    assert twice.nnz == 8


# Parameters ------------------------------------------------------------------------------------------------


class Odds(Heuristic):
    """A heuristic as a user would write it."""

    def __init__(self, offset: float = 1.0):
        self.offset = offset

    def evaluate(self, tp: Any, fp: Any, tn: Any, fn: Any) -> Any:
        return ratio(tp, fp + self.offset)


def test_a_heuristic_of_ones_own_works_and_can_be_searched() -> None:
    search = GridSearchCV(
        RelaxedPruningClassifier(heuristic=Odds(), max_rules=3),
        {"heuristic__offset": [0.5, 2.0], "lift__k": [0.0, 0.3]},
        cv=2,
    )
    search.fit(X[::-1], Y[::-1])
    assert search.best_params_.keys() == {"heuristic__offset", "lift__k"}
    assert len(search.cv_results_["params"]) == 4


def test_setting_a_nested_parameter_leaves_other_classifiers_alone() -> None:
    changed = RelaxedPruningClassifier().set_params(lift__k=0.9, heuristic__beta=3)
    assert (changed.lift.k, changed.heuristic.beta) == (0.9, 3)
    untouched = RelaxedPruningClassifier()
    assert (untouched.lift.k, untouched.heuristic.beta) == (0.07, 0.5)
    both = RuleListClassifier(lift=NoLift()).set_params(lift=KLN(0.1), lift__k=0.2)
    assert both.lift == KLN(0.2)


def test_a_lift_may_be_an_object_a_function_or_none() -> None:
    X, Y = load_world_flags(return_X_y=True)
    none = RuleListClassifier(lift=None).fit(X, Y)
    assert none.rule_list_ == RuleListClassifier(lift=NoLift()).fit(X, Y).rule_list_
    as_object = RuleListClassifier(lift=KLN(0.3)).fit(X, Y)
    as_function = RuleListClassifier(lift=lambda labels: 1 + 0.3 * np.log(labels)).fit(X, Y)
    assert as_object.rule_list_ == as_function.rule_list_
    assert as_object.rule_list_ != none.rule_list_


def test_a_heuristic_may_be_given_by_name() -> None:
    X, Y = random_problem(4)
    for name, heuristic in {"f_measure": FMeasure(), "hamming_accuracy": HammingAccuracy()}.items():
        by_name = RelaxedPruningClassifier(heuristic=name).fit(X, Y)
        assert by_name.rule_list_ == RelaxedPruningClassifier(heuristic=heuristic).fit(X, Y).rule_list_


@pytest.mark.parametrize(
    "parameters",
    [
        {"head_search": "single"},
        {"head_search": "decomposable"},
        {"head_search": "anti_monotone"},
        {"head_search": "exhaustive"},
        {"head_search": "anti_monotone", "heuristic": SubsetAccuracy()},
        {"averaging": "macro", "fix_head": False},
        {"heuristic": HammingAccuracy(), "label_conditions": False, "beam_width": 3},
        {"max_bins": 3, "min_coverage": 2.5},
        {"remaining": 0, "stop_threshold": 1.0},
    ],
)
@pytest.mark.parametrize("predict_absence", [False, True])
def test_every_option_trains_and_predicts(parameters: dict[str, Any], predict_absence: bool) -> None:
    X, Y = random_problem(5, rows=25)
    classifier = RelaxedPruningClassifier(predict_absence=predict_absence, **parameters).fit(X, Y)
    assert len(classifier.rule_list_) > 0
    assert classifier.predict(X).shape == Y.shape


def test_limits_are_kept() -> None:
    X, Y = random_problem(6)
    classifier = RuleListClassifier(max_rules=3, max_conditions=1, min_coverage=5).fit(X, Y)
    assert len(classifier.rule_list_) <= 3
    assert all(len(rule.body) <= 1 and rule.coverage >= 5 for rule in classifier.rule_list_)
    empty_bodies = RuleListClassifier(max_conditions=0).fit(X, Y)
    assert all(rule.body == () for rule in empty_bodies.rule_list_)


def test_training_twice_with_any_number_of_jobs_gives_the_same_rules() -> None:
    X, Y = random_problem(7)
    first = RuleListClassifier().fit(X, Y).rule_list_
    assert RuleListClassifier(n_jobs=2).fit(X, Y).rule_list_ == first
    reference = RuleListClassifier()
    reference._engine = "reference"
    assert reference.fit(X, Y).rule_list_ == first


def test_progress_is_reported_up_to_the_whole_list(capsys: pytest.CaptureFixture[str]) -> None:
    X, Y = random_problem(8)
    seen: list[tuple[int, float]] = []
    classifier = RuleListClassifier(verbose=lambda rules, share: seen.append((rules, share))).fit(X, Y)
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert seen[-1] == (len(classifier.rule_list_), 1.0)
    assert not capsys.readouterr().out
    RuleListClassifier(verbose=True).fit(X, Y)
    assert "of the pairs decided" in capsys.readouterr().out


@pytest.mark.parametrize("predict_absence", [False, True])
def test_the_first_rules_are_what_training_with_fewer_rules_gives(predict_absence: bool) -> None:
    X, Y = random_problem(11)
    whole = RelaxedPruningClassifier(predict_absence=predict_absence).fit(X, Y).rule_list_
    for length in range(1, len(whole) + 1):
        shorter = RelaxedPruningClassifier(predict_absence=predict_absence, max_rules=length).fit(X, Y)
        assert whole[:length] == shorter.rule_list_


@pytest.mark.parametrize("kind", [RuleListClassifier, RelaxedPruningClassifier])
def test_fit_that_is_interrupted_keeps_the_model_of_the_fit_before(kind: Any) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(rules: int, share: float) -> None:
        raise Interrupted

    X, Y = random_problem(13, rows=60)
    classifier = kind().fit(X, Y)
    before = {name: value for name, value in vars(classifier).items() if name != "verbose"}
    with pytest.raises(Interrupted):
        classifier.set_params(verbose=interrupt).fit(X[:, :2], np.where(Y[:, 0] == 1, "yes", "no"))
    after = {name: value for name, value in vars(classifier).items() if name != "verbose"}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)


def test_fit_names_the_columns_of_an_array() -> None:
    pd = pytest.importorskip("pandas")
    classifier = RuleListClassifier().fit(MORE_X, MORE_Y, feature_names=["area"], label_names=["red", "blue"])
    assert str(classifier.rule_list_[0]).startswith("red ← area <= 29   ")
    np.testing.assert_array_equal(classifier.predict(MORE_X), MORE_Y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(classifier.predict(pd.DataFrame({"area": MORE_X[:, 0]})), MORE_Y)


def test_classifiers_have_the_parameters_of_their_job_only() -> None:
    assert len(RuleListClassifier().get_params(deep=False)) == 15
    assert len(RelaxedPruningClassifier().get_params(deep=False)) == 20


# Company ---------------------------------------------------------------------------------------------------


def test_it_works_in_pipelines_and_searches() -> None:
    X, Y = random_problem(9, rows=60)
    X = np.nan_to_num(X)
    pipeline = make_pipeline(StandardScaler(), RuleListClassifier(max_rules=5))
    assert len(cross_val_score(pipeline, X, Y, cv=3, scoring=SCORERS["micro_f1"])) == 3
    search = GridSearchCV(RuleListClassifier(), {"lift": [None, KLN(0.2)], "max_rules": [2, 4]}, cv=2).fit(X, Y)
    assert search.best_estimator_.predict(X).shape == Y.shape
    lifted = RuleListClassifier(max_rules=2, lift=KLN(0.1))
    nested = GridSearchCV(lifted, {"lift__k": [0.0, 0.5]}, scoring="f1_micro", cv=2)
    assert nested.fit(X, Y).best_params_["lift__k"] in (0.0, 0.5)


def test_ranking_measures_of_scikit_learn_read_the_probabilities() -> None:
    X, Y = random_problem(10, rows=60)
    scores = cross_val_score(RuleListClassifier(max_rules=5), X, Y, cv=2, scoring="roc_auc")
    assert np.isfinite(scores).all()


def test_a_rule_list_predicts_without_training() -> None:
    rule = Rule(Head((Assignment("red", 0, True),)), (RangeCondition("area", 0, above=2.0),), tp=3, fp=1)
    rule_list = RuleList((rule,), (Attribute("area"),), ("red", "blue"))
    classifier = RuleListClassifier.from_rule_list(rule_list)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"area": [1.0, 3.0]})
    assert classifier.predict(frame).tolist() == [[0, 0], [1, 0]]
    np.testing.assert_allclose(classifier.predict_proba(frame), [[0.5, 0.5], [4 / 6, 0.5]], atol=1e-5)
    assert classifier.label_names_.tolist() == ["red", "blue"]
    assert classifier.feature_names_in_.tolist() == ["area"]


def test_a_rule_list_over_numbered_columns_predicts_for_arrays_without_a_warning() -> None:
    fitted = RuleListClassifier().fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = RuleListClassifier.from_rule_list(fitted.rule_list_)
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_the_parameters_say_what_differs_from_the_defaults() -> None:
    assert repr(clone(RuleListClassifier(lift=KLN(0.2)))) == "RuleListClassifier(lift=KLN(k=0.2))"


def test_a_fit_imports_only_what_it_needs() -> None:
    code = """
import sys, plurule
from plurule.datasets import load_world_flags
plurule.RuleListClassifier().fit(*load_world_flags(return_X_y=True))
heavy = {"sklearn.model_selection", "sklearn.metrics", "matplotlib", "rich.table", "jinja2", "duckdb", "dask"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_notebook_shows_the_rules_of_a_fitted_classifier() -> None:
    classifier = RuleListClassifier().fit(X, Y, label_names=["red", "blue"])
    assert "red" in classifier._repr_html_()
    assert classifier._repr_mimebundle_()["text/html"] == classifier._repr_html_()
    assert classifier._repr_mimebundle_()["text/plain"] == repr(classifier)


def test_the_box_of_a_notebook_links_to_the_page_of_the_reference() -> None:
    assert "/reference/names/plurule.RuleListClassifier.html" in RuleListClassifier()._repr_html_()


def test_either_of_two_classes_is_learned_whatever_they_are_called():
    x = np.random.default_rng(0).normal(size=(300, 2))
    rare = x[:, 0] > 1
    for one, other in (("fraud", "legit"), ("legit", "fraud")):
        y = np.where(rare, one, other)
        classifier = RuleListClassifier().fit(x, y)
        assert classifier.classes_.tolist() == sorted([one, other])
        stated = {assignment.name for rule in classifier.rule_list_ for assignment in rule.head.stated}
        assert stated == {"fraud", "legit"}
        np.testing.assert_array_equal(
            classifier.predict(x) == one, classifier.predict_proba(x)[:, int(one > other)] > 0.5
        )
        constant = classifier.chosen_["constant"]
        assert constant == pytest.approx((y == other).mean())  # micro F1 is accuracy
