"""What a classifier does with its rule list: predict, and take data in the form in which it was trained."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import InputTags
from sklearn.utils.validation import check_is_fitted, validate_data

from plurule.data.dataset import Dataset, check_row_weights
from plurule.data.encoding import encode
from plurule.data.inputs import row_ids, unpack
from plurule.data.table import Table
from plurule.data.targets import TargetForm, true_labels
from plurule.errors import DataError
from plurule.model import LabelCondition, RuleList
from plurule.parameters import check_jobs
from plurule.prediction.decide import Decisions, decide, predict_labels, replay
from plurule.prediction.probability import probabilities
from plurule.prediction.scoring import Scorer, check_scoring
from plurule.prediction.staged import staged_scores

_DOC_PAGE = "/reference/names/plurule.{estimator_name}.html"


class LabelPredictor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A classifier of scikit-learn for several labels that takes data in any form in which it can be trained."""

    label_names_: NDArray[Any]
    n_features_in_: int
    n_jobs: int | None
    _was_given = False

    @property
    def _rules(self) -> RuleList:
        """All rules that it predicts with, about the columns of the training data."""
        raise NotImplementedError

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy, for several labels subset accuracy, on a data set or on instances and their labels."""
        check_is_fitted(self)
        X, y, sample_weight = unpack(X, y, sample_weight, tuple(self.label_names_))
        if not self._form.outputs and self._form.members is None:
            return float(super().score(X, y, sample_weight))
        n_labels = len(self.label_names_)
        right = (true_labels(y, self._form, n_labels) == true_labels(self.predict(X), self._form, n_labels)).all(axis=1)
        return float(
            np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight, dtype=float))
        )

    def predict(self, X: Any, return_ids: bool = False) -> Any:
        """The labels of each row in the form of `y`: a 0/1 matrix (sparse if `y` was), classes, or sets of labels.

        With `return_ids`, a pair: these, and a list of what the rows are called (their index in a pandas frame, their
        names in a data set, or else their numbers).
        """
        present = self._present(self._encode(X))
        labels = self._form.labels(present)
        return (labels, row_ids(X, len(present))) if return_ids else labels

    def predict_proba(self, X: Any, return_ids: bool = False) -> Any:
        """Per row and label, the probability that the label is present; for a 1-D `y`, per row and class.

        It is always on the same side of one half as `predict`. With `return_ids`, a pair, as from `predict`.
        """
        table = self._encode(X)
        found = self._form.probabilities(self._probabilities(table))
        return (found, row_ids(X, len(table))) if return_ids else found

    def _present(self, table: Table) -> NDArray[Any]:
        """Per row and label, whether the label is predicted."""
        raise NotImplementedError

    def _probabilities(self, table: Table) -> NDArray[np.float64]:
        """Per row and label, the probability that it is present."""
        raise NotImplementedError

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of others (`heuristic__beta`, `lift__k`, `min_precision__threshold`)."""
        # Heuristics and lifts may be shared between classifiers, the defaults always are: change a copy.
        for name in {key.partition("__")[0] for key in params if "__" in key} - set(params):
            if hasattr(getattr(self, name, None), "get_params"):
                setattr(self, name, clone(getattr(self, name)))
        super().set_params(**params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.input_tags = InputTags(sparse=True, allow_nan=True, categorical=True, string=True)
        return tags

    def _remember_features(self, X: Any, table: Table) -> None:
        self._was_given = False
        if isinstance(X, Table | Dataset):
            self.n_features_in_ = table.shape[1]
            self.feature_names_in_ = np.array(table.names, dtype=object)
        else:
            validate_data(self, _as_array(X), skip_check_array=True, reset=True)

    def _remember_labels(self, labels: tuple[str, ...], form: TargetForm) -> None:
        self.label_names_ = np.array(labels, dtype=object)
        self.classes_ = form.class_names(len(labels))
        self._form = form

    def _encode(self, X: Any) -> Table:
        """The columns that the rules ask for, as scikit-learn expects them: by name and in the same order.

        A classifier that was given its rules, and was fitted to no frame, takes those that the rules test by name.
        """
        check_is_fitted(self)
        attributes = self._rules.attributes
        is_frame = isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)
        if isinstance(X, Table | Dataset) or (is_frame and self._was_given and hasattr(self, "feature_names_in_")):
            return encode(X.X if isinstance(X, Dataset) else X, attributes, self._rules.tested_attributes())
        X = _as_array(X)
        if getattr(X, "ndim", 2) == 2:
            validate_data(self, X, skip_check_array=True, reset=False)
        if is_frame and not hasattr(self, "feature_names_in_"):
            renamed = [replace(a, name=str(c)) for a, c in zip(attributes, X.columns, strict=True)]
            return Table(attributes, encode(X, renamed).columns, X.shape[0])
        table = encode(X, attributes)
        if len(table) == 0:
            raise DataError("X holds no rows (Found array with 0 sample(s)); there is nothing to predict")
        return table


class RuleListPredictor(LabelPredictor):
    """A classifier of scikit-learn that predicts with a rule list; how it comes by one is its own affair."""

    rule_list_: RuleList
    scoring: str | Scorer
    """What rule lists are scored by, unless told otherwise."""

    @property
    def _rules(self) -> RuleList:
        return self.rule_list_

    # Where the box that notebooks show links to: a page of the API reference per estimator.
    _doc_link_module = "plurule"
    _doc_link_template = os.environ.get("PLURULE_DOCS", "https://plurule.readthedocs.io/en/stable") + _DOC_PAGE

    def _present(self, table: Table) -> NDArray[Any]:
        return predict_labels(self.rule_list_, table, check_jobs(self.n_jobs))

    def _probabilities(self, table: Table) -> NDArray[np.float64]:
        # The precision that the rule which decided had on the training pairs it decided, smoothed.
        return probabilities(self.rule_list_, decide(self.rule_list_, table, check_jobs(self.n_jobs)))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Per attribute, the share of the training decisions that are made by rules which test it.

        The decisions of a rule are shared equally by the attributes in its body; those of rules that test none are
        left out. What predictions lose without an attribute is another question, which
        `sklearn.inspection.permutation_importance` answers.

        >>> from plurule import RuleListClassifier
        >>> X, Y = [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]], [[1], [1], [0], [0]]
        >>> RuleListClassifier.published().fit(X, Y).feature_importances_
        array([1., 0.])
        """
        check_is_fitted(self)
        found = np.zeros(len(self.rule_list_.attributes))
        for rule in self.rule_list_:
            tested = sorted({c.index for c in rule.body if not isinstance(c, LabelCondition)})
            found[tested] += sum(map(sum, rule.decided)) / max(len(tested), 1)
        return found / (found.sum() or 1.0)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """What `predict` gives with the first rule alone, with the first two rules, and so on."""
        table = self._encode(X)
        for step in replay(self.rule_list_, table):
            yield self._form.labels(step.decisions.labels())

    def staged_score(
        self, X: Any, y: Any = None, scoring: str | Scorer | None = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Scores of the first rule alone, of the first two rules, and so on; one pass over the rules.

        Parameters
        ----------
        X, y
            Instances and their labels, as for `fit`.
        scoring
            A measure of `plurule.metrics` by name, or a scorer of scikit-learn; the classifier's own, unless given.
        sample_weight
            Weight of each row.

        Examples
        --------
        >>> from plurule import RuleListClassifier
        >>> X, Y = [[1.0], [2.0], [3.0], [4.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
        >>> RuleListClassifier.published().fit(X, Y).staged_score(X, Y, "hamming_accuracy")
        array([0.75, 1.  ])
        """
        check_is_fitted(self)
        X, y, sample_weight = unpack(X, y, sample_weight, self.rule_list_.labels)
        table = self._encode(X)
        truth = true_labels(y, self._form, len(self.rule_list_.labels))
        if len(table) != len(truth):
            raise DataError(f"X has {len(table)} rows, y has {len(truth)}; give the labels of every row")
        weights = None if sample_weight is None else check_row_weights(sample_weight, len(table), "sample_weight")
        chosen = check_scoring(self.scoring if scoring is None else scoring)
        return staged_scores(self.rule_list_, table, truth, chosen, self._form, weights)[1:]

    def decide(self, X: Any) -> Decisions:
        """What the rules decide for each row and label, and which rule does."""
        table = self._encode(X)
        return decide(self.rule_list_, table, check_jobs(self.n_jobs))

    def explain(self, X: Any) -> Any:
        """Which rule decided each label of each row, and why; see `plurule.inspection.explain`."""
        table = self._encode(X)
        return self.rule_list_.explain(table, ids=row_ids(X, len(table)))

    def _take_over(self, rule_list: RuleList) -> Self:
        """Predict with the given rules from now on, about attributes and labels that are called as theirs."""
        self.rule_list_ = rule_list
        self.n_features_in_ = len(rule_list.attributes)
        names = [attribute.name for attribute in rule_list.attributes]
        if names != [f"x{i}" for i in range(len(names))]:
            self.feature_names_in_ = np.array(names, dtype=object)
        self._remember_labels(rule_list.labels, TargetForm())
        return self


def _as_array(X: Any) -> Any:
    """Lists and the like as an array; frames, arrays and sparse matrices as they are."""
    return X if hasattr(X, "shape") else np.asarray(X)
