"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn import calibration, inspection, model_selection
from sklearn.ensemble import StackingClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from plurule.classifier import RuleListClassifier
from plurule.lifts import KLN, NoLift
from plurule.metrics import SCORERS
from plurule.relaxed_pruning import RelaxedPruningClassifier, RelaxedPruningClassifierCV


def expected_failures(estimator: Any) -> dict[str, str]:
    """Of lists whose length is not chosen none with scikit-learn 1.7 and newer."""
    reason = "rows are held out, however much they weigh"
    if not isinstance(estimator, RelaxedPruningClassifier):
        return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    if parse_version(sklearn.__version__) >= parse_version("1.7"):
        return {}
    reason = "up to 1.6 the check makes classes relative to the first row and then shuffles: it compares two problems"
    return {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [
        RuleListClassifier(),
        RelaxedPruningClassifier(max_rules=4),
        RelaxedPruningClassifierCV(lifts=[NoLift(), KLN(0.1)], cv=2),
    ],
    expected_failed_checks=expected_failures,
)
def test_the_estimators_keep_the_conventions_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


TOOLS = {
    "predictions": lambda e, X, Y: model_selection.cross_val_predict(e, X, Y),
    "probabilities": lambda e, X, Y: model_selection.cross_val_predict(e, X, Y, method="predict_proba"),
    "decision function": lambda e, X, Y: model_selection.cross_val_predict(e, X, Y, method="decision_function"),
    "scores": lambda e, X, Y: model_selection.cross_val_score(e, X, Y, scoring="roc_auc"),
    "scores by name": lambda e, X, Y: sorted(model_selection.cross_validate(e, X, Y, scoring=["accuracy", "roc_auc"])),
    "our scores": lambda e, X, Y: sorted(model_selection.cross_validate(e, X, np.asarray(Y) == 1, scoring=SCORERS)),
    "learning curve": lambda e, X, Y: model_selection.learning_curve(e, X, Y, train_sizes=[0.6, 1.0]),
    "permuted labels": lambda e, X, Y: model_selection.permutation_test_score(e, X, Y, n_permutations=2)[1],
    "grid": lambda e, X, Y: model_selection.GridSearchCV(e, {}, cv=2).fit(X, Y).predict_proba(X),
    "random": lambda e, X, Y: model_selection.RandomizedSearchCV(e, {}, n_iter=1, cv=2).fit(X, Y).classes_,
    "tuned threshold": lambda e, X, Y: model_selection.TunedThresholdClassifierCV(e, cv=2).fit(X, Y).predict(X),
    "fixed threshold": lambda e, X, Y: model_selection.FixedThresholdClassifier(e).fit(X, Y).predict(X),
    "importance": lambda e, X, Y: inspection.permutation_importance(e.fit(X, Y), X, Y, n_repeats=2).importances,
    "dependence": lambda e, X, Y: inspection.partial_dependence(e.fit(X, Y), X, [0], grid_resolution=3).average,
    "boundary": lambda e, X, Y: (
        inspection.DecisionBoundaryDisplay.from_estimator(
            e.fit(X, Y), X, grid_resolution=3, plot_method="contour", response_method="predict_proba"
        ).response
    ),
    "calibrated": lambda e, X, Y: calibration.CalibratedClassifierCV(e, cv=2).fit(X, Y).predict_proba(X),
    "calibration": lambda e, X, Y: calibration.CalibrationDisplay.from_estimator(e.fit(X, Y), X, Y, n_bins=2).y_true,
    "stack": lambda e, X, Y: StackingClassifier([("first", e)], DecisionTreeClassifier(), cv=2).fit(X, Y).transform(X),
    "chain": lambda e, X, Y: ClassifierChain(e).fit(X, Y).predict_proba(X),
}


def outcome(tool: Any, estimator: Any, X: Any, Y: Any) -> Any:
    """The type and shape of what a tool gives, or what it complains about."""
    try:
        found = tool(estimator, X, Y)
    except (ValueError, AttributeError, IndexError) as error:
        return type(error), str(error).replace(type(estimator).__name__, "")
    shapes = [np.shape(part) for part in found] if isinstance(found, list | tuple) else np.shape(found)
    return type(found), shapes


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_labels", [None, 3])
@pytest.mark.parametrize("name", TOOLS)
def test_tools_of_scikit_learn_treat_us_as_its_own_multi_label_classifiers(name: str, n_labels: int | None) -> None:
    X = np.random.default_rng(5).random((60, 2))
    Y = (X @ [[1, 0, 1], [0, 1, -1]] > [0.4, 0.6, 0.1]).astype(int)
    Y = Y[:, 0] if n_labels is None else Y[:, :n_labels]
    ours = outcome(TOOLS[name], RelaxedPruningClassifier(max_rules=3), X, Y)
    assert ours == outcome(TOOLS[name], MLPClassifier(max_iter=3, random_state=1), X, Y)


def test_two_labels_are_not_taken_for_the_two_classes_of_one() -> None:
    X = np.random.default_rng(5).random((60, 2))
    Y = (X > [0.4, 0.6]).astype(int)
    classifier = RelaxedPruningClassifier(max_rules=3)
    for scoring in ("roc_auc", "average_precision", "neg_log_loss", "neg_brier_score"):
        score = model_selection.cross_val_score(classifier, X[:, :1], Y, scoring=scoring, error_score=np.nan)
        theirs = model_selection.cross_val_score(KNeighborsClassifier(), X[:, :1], Y, scoring=scoring)
        assert np.isnan(score).tolist() == np.isnan(theirs).tolist(), scoring
    assert TOOLS["probabilities"](classifier, X, Y).shape == (60, 2)
    assert RuleListClassifier(scoring="roc_auc").fit(X, Y).length_curve_ is not None


def test_subclasses_may_be_dataclasses_too() -> None:
    @dataclass(kw_only=True)
    class Named(RuleListClassifier):
        name: str = "mine"

    assert Named().get_params()["name"] == "mine"
    assert "name='mine'" in repr(Named())
    assert Named() == Named()
