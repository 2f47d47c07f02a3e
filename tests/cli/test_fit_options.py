"""Options of `plurule fit` are the parameters of the classifier."""

from __future__ import annotations

import inspect

from plurule import RuleListClassifier
from plurule.cli.fit import fit


def test_every_parameter_of_the_classifier_is_an_option_of_fit() -> None:
    renamed = {"predict_absence": "absence", "n_jobs": "jobs"}
    parameters = {renamed.get(name, name) for name in RuleListClassifier().get_params(deep=False)}
    assert parameters - set(inspect.signature(fit).parameters) == {"verbose", "progress"}
