"""The base class of the learners: check the data, learn a rule list, store the model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plurule.constraints import Constraints
from plurule.data.dataset import Dataset
from plurule.data.inputs import labelled_data
from plurule.data.splitting import number_groups
from plurule.data.targets import TargetForm
from plurule.errors import DataError
from plurule.label_matrix import dense
from plurule.learning.covering import Progress
from plurule.learning.engine import Engine
from plurule.learning.initial_rules import as_initial_rules
from plurule.learning.options import check_constraints
from plurule.learning.problem import Options, Problem, check_weights
from plurule.model import Rule, RuleList
from plurule.model.naming import amount
from plurule.parameters import check_jobs
from plurule.prediction.predictor import RuleListPredictor, Schema, feature_schema
from plurule.selection.folds import Folds
from plurule.selection.training_data import DataInParts, TrainingData

InitialRules = RuleList | str | Iterable[Rule | str]


@dataclass(frozen=True)
class FittedModel:
    """A rule list and the results of training that an estimator stores with it."""

    rule_list: RuleList
    labels_without_rules: dict[str, str]
    attributes: dict[str, Any]
    """Further fitted attributes by name, which are those of one estimator."""


class RuleListEstimator(RuleListPredictor):
    """A classifier that learns the rule list it predicts with."""

    labels_without_rules_: dict[str, str]
    verbose: Any

    _engine: Engine = "native"
    """The engine to learn with in memory; tests set `"reference"`."""

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
        if isinstance(X, DataInParts):
            beside = (y, sample_weight, label_names, feature_names, groups)
            if any(argument is not None for argument in beside):
                raise DataError("X has labels, names and weights of its own: give X and initial_rules only")
            schema, model = self._fit_in_parts(X, initial_rules)
        else:
            data, form = labelled_data(X, y, sample_weight, label_names, feature_names)
            schema = feature_schema(X, data.X, data.label_names, form)
            problem, positions = make_problem(data, initial_rules, self._constraints)
            groups_of_rows = check_groups(groups, len(data), positions)
            folds = Folds(problem, (), self._engine, self._n_threads, groups_of_rows)
            model = self._learn(folds, form, positions)
        self._store(schema, model)
        return self

    @property
    @abstractmethod
    def _constraints(self) -> Constraints | None:
        """The constraints on the rules."""

    @property
    def _n_threads(self) -> int:
        """The number of threads that learn one list."""
        return check_jobs(self.n_jobs)

    @abstractmethod
    def _make_options(self, n_labels: int) -> Options:
        """The checked options of the learner."""

    @abstractmethod
    def _learn(self, data: TrainingData, form: TargetForm, positions: NDArray[np.intp] | None = None) -> FittedModel:
        """Learn a rule list; `positions` are those of the rows among all rows, where rows without weight were left out.

        Nothing is stored in the estimator.
        """

    def _check_parts(self) -> None:
        """Raise a `ParameterError` if a parameter needs all rows in memory."""

    def _fit_in_parts(self, data: DataInParts, initial_rules: InitialRules) -> tuple[Schema, FittedModel]:
        """Learn from data that are counted where they are."""
        self._check_parts()
        attributes, labels = data.attributes, data.label_names
        initial = as_initial_rules(initial_rules, attributes, labels) if initial_rules else ()
        known = data.form.groups, data.hierarchy, initial
        constraints = check_constraints(self._constraints, attributes, labels, *known)
        options = self._make_options(len(labels))
        schema = Schema.of_names([attribute.name for attribute in attributes], labels, data.form)
        with data.training_data(options, initial, constraints, self._n_threads) as folds:
            return schema, self._learn(folds, data.form)

    def _store(self, schema: Schema, model: FittedModel) -> None:
        """Set the fitted state, all of it at once."""
        self._store_schema(schema)
        self.rule_list_ = model.rule_list
        self.labels_without_rules_ = model.labels_without_rules
        for name, value in model.attributes.items():
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


def check_groups(groups: Any, n_rows: int, positions: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return the numbers of the groups of the rows at some positions, if there are groups."""
    if groups is None:
        return None
    if len(groups) != n_rows:
        raise DataError(f"groups has {len(groups)} rows, expected one for each of the {n_rows} rows of X")
    return number_groups(np.asarray(groups)[positions])


def make_problem(
    data: Dataset, initial_rules: InitialRules, constraints: Constraints | None
) -> tuple[Problem, NDArray[np.intp]]:
    """The training problem, and the positions of its rows in the data; rows without weight are left out."""
    weights = check_weights(data.weights, len(data), len(data.label_names))
    positions = np.flatnonzero(weights)
    if len(positions) < len(data):
        data = data[positions]
        weights = weights[positions]
    initial = as_initial_rules(initial_rules, data.attributes, data.label_names) if initial_rules else ()
    known = data.groups, data.hierarchy, initial, data.Y
    resolved = check_constraints(constraints, data.attributes, data.label_names, *known)
    return Problem(data.X, data.label_names, dense(data.Y).view(np.uint8), weights, initial, resolved), positions
