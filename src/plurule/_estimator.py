"""The base classes of the estimators: predict with a rule list; check the data, learn a list and store it."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import InputTags
from sklearn.utils.validation import check_is_fitted, validate_data

from plurule._learning.covering import Progress
from plurule._learning.problem import Engine, Options
from plurule._parameters import check_jobs
from plurule._prediction.apply import Decisions, decide, predict_labels, probabilities, replay
from plurule._prediction.staged import staged_scores
from plurule._rows.rows import InitialRules, MemoryRows, Rows
from plurule._rows.scan import ScannedData
from plurule.data.dataset import Dataset, Table, check_row_weights
from plurule.data.inputs import encode, labelled_data, row_ids, unpack
from plurule.data.targets import TargetForm, true_labels
from plurule.errors import DataError, amount
from plurule.metrics import Scorer, find_measure
from plurule.model import RuleList

_DOC_PAGE = "/reference/names/plurule.{estimator_name}.html"


@dataclass(frozen=True, eq=False)
class Schema:
    """Names of attributes and labels, and the form of `y`, in the training data."""

    n_features: int
    feature_names: NDArray[Any] | None
    """None if `X` had none."""
    label_names: tuple[str, ...]
    form: TargetForm
    matches_by_name: bool = False
    """Whether frames need only have the columns that rules test, in any order."""

    @classmethod
    def of_names(
        cls, names: Sequence[str], labels: tuple[str, ...], form: TargetForm, matches_by_name: bool = False
    ) -> Self:
        """The schema of data with named attributes; `x0`, `x1`, … are those of an array, which has no names."""
        is_named = list(names) != [f"x{i}" for i in range(len(names))]
        return cls(len(names), np.array(names, dtype=object) if is_named else None, labels, form, matches_by_name)


def feature_schema(X: Any, table: Table, labels: tuple[str, ...], form: TargetForm) -> Schema:
    """The schema of training data; scikit-learn decides which names count as such."""
    if isinstance(X, Table | Dataset):
        return Schema(table.shape[1], np.array(table.names, dtype=object), labels, form)
    probe = BaseEstimator()
    validate_data(probe, X if hasattr(X, "shape") else np.asarray(X), skip_check_array=True, reset=True)
    return Schema(probe.n_features_in_, getattr(probe, "feature_names_in_", None), labels, form)


class RuleListPredictor(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """A multi-label classifier of scikit-learn that predicts with a rule list."""

    rule_list_: RuleList
    label_names_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    classes_: Any
    n_jobs: int | None
    _form: TargetForm
    _matches_by_name: bool

    # The box that notebooks show links to a page of the API reference per estimator.
    _doc_link_module = "plurule"
    _doc_link_template = os.environ.get("PLURULE_DOCS", "https://plurule.readthedocs.io/en/stable") + _DOC_PAGE

    @classmethod
    def from_rule_list(cls, rule_list: RuleList, **parameters: Any) -> Self:
        """Return a classifier that predicts with a given rule list, as if it had been fitted.

        Frames need only have the columns that rules test, in any order.

        >>> from plurule import RuleListClassifier
        >>> from plurule.model import Assignment, Attribute, Head, Rule
        >>> rule = Rule(Head((Assignment("red", 0, True),)))
        >>> rule_list = RuleList((rule,), (Attribute("x0"),), ("red",))
        >>> RuleListClassifier.from_rule_list(rule_list).predict([[3.5]])
        array([[1]])
        """
        classifier = cls(**parameters)
        names = [attribute.name for attribute in rule_list.attributes]
        classifier._store_schema(Schema.of_names(names, rule_list.labels, TargetForm(), matches_by_name=True))
        classifier.rule_list_ = rule_list
        return classifier

    @classmethod
    def load(cls, path: str | Path, **parameters: Any) -> Self:
        """Return a classifier that predicts with the rule list of a model file; see `from_rule_list`."""
        return cls.from_rule_list(RuleList.load(path), **parameters)

    def save(self, path: str | Path) -> None:
        """Write the rule list to a model file, which `load` and `RuleList.load` read; parameters are not kept."""
        check_is_fitted(self)
        self.rule_list_.save(path)

    def _repr_html_(self) -> str:
        """Return the rules as HTML for notebooks, or the parameters before there are any."""
        rules = self.rule_list_._repr_html_() if hasattr(self, "rule_list_") else None
        return str(super()._repr_html_() if rules is None else rules)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _store_schema(self, schema: Schema) -> None:
        self.n_features_in_ = schema.n_features
        if schema.feature_names is not None:
            self.feature_names_in_ = schema.feature_names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.label_names_ = np.array(schema.label_names, dtype=object)
        self.classes_ = schema.form.class_names(len(schema.label_names))
        self._form = schema.form
        self._matches_by_name = schema.matches_by_name

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy, for several labels subset accuracy, on a data set or on instances and their labels."""
        check_is_fitted(self)
        X, y, sample_weight = unpack(X, y, sample_weight, tuple(self.label_names_))
        if self._form.members is None:
            return float(super().score(X, y, sample_weight))
        n_labels = len(self.label_names_)
        right = (true_labels(y, self._form, n_labels) == true_labels(self.predict(X), self._form, n_labels)).all(axis=1)
        return float(
            np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight, dtype=float))
        )

    def predict(self, X: Any) -> Any:
        """The labels of each row in the form of `y`: a 0/1 matrix (sparse if `y` was), classes, or sets of labels."""
        table = self._encode(X)
        return self._form.labels(predict_labels(self.rule_list_, table, check_jobs(self.n_jobs)))

    def predict_proba(self, X: Any) -> Any:
        """Per row and label, the probability that the label is present; for a 1-D `y`, per row and class.

        It is the smoothed precision, on the training pairs it decided, of the rule that decides. `predict` is no
        threshold of it: a rule may predict a label that is right in less than half of the cases, if that pays for
        `scoring`. Of the classes of a 1-D `y`, the predicted one is the most probable.
        """
        decisions = self.decide(X)
        return self._form.probabilities(probabilities(self.rule_list_, decisions), decisions.labels())

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also those of others (`heuristic__beta`, `lift__k`)."""
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

    def _encode(self, X: Any) -> Table:
        """The columns that the rules ask for, as scikit-learn expects them: by name and in the same order.

        A classifier that was given its rules, and was fitted to no frame, takes those that the rules test by name.
        """
        check_is_fitted(self)
        attributes = self.rule_list_.attributes
        is_named = hasattr(self, "feature_names_in_")
        is_frame = isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)
        if isinstance(X, Table | Dataset) or (is_frame and is_named and self._matches_by_name):
            return encode(X.X if isinstance(X, Dataset) else X, attributes, self.rule_list_.tested_attributes())
        X = X if hasattr(X, "shape") else np.asarray(X)
        if getattr(X, "ndim", 2) == 2:
            validate_data(self, X, skip_check_array=True, reset=False)
        if is_frame and not is_named:
            renamed = [replace(a, name=str(c)) for a, c in zip(attributes, X.columns, strict=True)]
            return Table(attributes, encode(X, renamed).columns, X.shape[0])
        table = encode(X, attributes)
        if len(table) == 0:
            raise DataError("X holds no rows (Found array with 0 sample(s)); there is nothing to predict")
        return table

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Per attribute, the share of the training decisions that are made by rules which test it.

        The decisions of a rule are shared equally by the attributes in its body; those of rules that test none are
        left out. What predictions lose without an attribute is another question, which
        `sklearn.inspection.permutation_importance` answers.

        >>> from plurule import RelaxedPruningClassifier
        >>> X, Y = [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]], [[1], [1], [0], [0]]
        >>> RelaxedPruningClassifier().fit(X, Y).feature_importances_
        array([1., 0.])
        """
        check_is_fitted(self)
        importances = np.zeros(len(self.rule_list_.attributes))
        for rule in self.rule_list_:
            tested = sorted({c.index for c in rule.attribute_conditions})
            importances[tested] += sum(map(sum, rule.decided)) / max(len(tested), 1)
        return importances / (importances.sum() or 1.0)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predictions of the first rule alone, with the first two rules, and so on."""
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
            A measure of `plurule.metrics` by name, or a scorer of scikit-learn; the classifier's own, or micro F1,
            unless given.
        sample_weight
            Weight of each row.

        Examples
        --------
        >>> from plurule import RelaxedPruningClassifier
        >>> X, Y = [[1.0], [2.0], [3.0], [4.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
        >>> RelaxedPruningClassifier().fit(X, Y).staged_score(X, Y, "hamming_accuracy")
        array([0.75, 1.  ])
        """
        check_is_fitted(self)
        X, y, sample_weight = unpack(X, y, sample_weight, self.rule_list_.labels)
        table = self._encode(X)
        truth = true_labels(y, self._form, len(self.rule_list_.labels))
        if len(table) != len(truth):
            raise DataError(f"X has {len(table)} rows, y has {len(truth)}; give the labels of every row")
        weights = None if sample_weight is None else check_row_weights(sample_weight, len(table), "sample_weight")
        own = getattr(self, "scoring", "micro_f1")
        chosen = find_measure(own if scoring is None else scoring, len(self.rule_list_.labels) == 1)
        return staged_scores(self.rule_list_, table, truth, chosen, self._form, weights)[1:]

    def decide(self, X: Any) -> Decisions:
        """Return the decision for each row and label, and the rule that made it."""
        table = self._encode(X)
        return decide(self.rule_list_, table, check_jobs(self.n_jobs))

    def explain(self, X: Any) -> Any:
        """Which rule decided each label of each row, and why; see `plurule.inspection.explain`."""
        table = self._encode(X)
        return self.rule_list_.explain(table, ids=row_ids(X, len(table)))

    # skl2onnx asks estimators for these three when it converts a pipeline.

    def onnx_parser(self) -> Any:
        """Return the function that declares the outputs of the classifier in a pipeline that skl2onnx converts."""
        from plurule.export.onnx import declare_outputs

        return declare_outputs

    def onnx_shape_calculator(self) -> Any:
        """Return the function that sets the types of these outputs."""
        from plurule.export.onnx import set_types

        return set_types

    def onnx_converter(self) -> Any:
        """Return the function that converts the classifier."""
        from plurule.export.onnx import convert

        return convert


class RuleListEstimator(RuleListPredictor):
    """A classifier that learns the rule list it predicts with."""

    labels_without_rules_: dict[str, str]
    constraints: Any
    """A `Constraints`, or None."""
    verbose: Any

    _engine: Engine = "native"
    """The engine to learn with; tests set `"reference"`."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        feature_names: Sequence[str] | None = None,
        initial_rules: InitialRules = (),
        groups: Any = None,
    ) -> Self:
        """Learn a rule list.

        Parameters
        ----------
        X
            A data set, as `plurule.read` gives it, with labels, names and weights of its own; data that are not in
            memory, as `plurule.scan` gives them; or the attributes: a pandas or polars frame or an array (columns of
            text, categories and booleans are nominal), a sparse matrix, or a `Table`. NaN and None are missing values.
        y
            The labels: a 0/1 matrix (dense, sparse or a frame, whose column names are kept); a column of classes; or a
            set of labels for each row. Each class is a label, and exactly one of them is predicted; 0 and 1, or no and
            yes, are one label. Left out if `X` is a data set.
        sample_weight
            Weight of each row; beside rows of weight 1, one of weight 2 counts as if it were there twice, one of
            weight 0 as if it were not. Only ratios matter: all weights are counted in the greatest unit of which they
            are whole multiples, or else in units of their mean. (Rows are held out however much they weigh.)
        label_names
            Names of the labels, where `y` has none.
        feature_names
            Names of the attributes, where `X` is an array or a sparse matrix.
        initial_rules
            Rules of an expert, as rules or as texts (`"red <- stars > 2 and continent = Asia"`). They come first and
            stay as they are; what they decide is not learned again.
        groups
            Per row, the group that it belongs to, such as a patient; rows of a group are held out together. Copies of
            a row always are.

        Returns
        -------
        self
            The fitted classifier. A fit that is interrupted leaves the model of an earlier one as it was.
        """
        if isinstance(X, ScannedData):
            beside = (y, sample_weight, label_names, feature_names, groups)
            if any(argument is not None for argument in beside):
                raise DataError("X has labels, names and weights of its own: give X and initial_rules only")
            self._make_options(len(X.label_names))  # a wrong parameter is reported before anything is read
            schema = Schema.of_names([attribute.name for attribute in X.attributes], X.label_names, X.form)
            with X.rows(initial_rules, self.constraints, self._n_threads) as rows:
                fitted = self._learn(rows, X.form)
        else:
            data, form = labelled_data(X, y, sample_weight, label_names, feature_names)
            schema = feature_schema(X, data.X, data.label_names, form)
            fitted = self._learn(MemoryRows.of(data, initial_rules, self.constraints, groups), form)
        self._store(schema, fitted)
        return self

    @property
    def _n_threads(self) -> int:
        """The number of threads that learn one list."""
        return check_jobs(self.n_jobs)

    @abstractmethod
    def _make_options(self, n_labels: int) -> Options:
        """The checked options of the learner."""

    @abstractmethod
    def _learn(self, rows: Rows, form: TargetForm) -> dict[str, Any]:
        """Learn a rule list; return the fitted attributes. Nothing is stored in the estimator."""

    def _store(self, schema: Schema, fitted: dict[str, Any]) -> None:
        """Set the fitted state, all of it at once."""
        self._store_schema(schema)
        for name, value in fitted.items():
            setattr(self, name, value)

    def _progress(self) -> Progress | None:
        """The function that a user gave as `verbose`, one that prints, or None."""
        if callable(self.verbose):
            return self.verbose
        return _print_progress if self.verbose else None


def _print_progress(rules: int, share: float) -> None:
    print(
        f"{amount(rules, 'rule')}, {share:.1%} of the pairs decided" if rules else f"{share:.0%} of the lists learned"
    )
