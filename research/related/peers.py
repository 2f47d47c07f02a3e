"""Adapters of mlrl-seco and mlrl-boomer, which run in an environment of their own (they need Python 3.12).

References: M. Rapp, J. Fürnkranz and E. Hüllermeier, *On the efficient implementation of classification rule learning*,
2023 (SeCo, the successor of the paper's learner); M. Rapp, E. Loza Mencía, J. Fürnkranz, V.-L. Nguyen and
E. Hüllermeier, *Learning gradient boosted multi-label classification rules*, ECML PKDD 2020 (BOOMER).

Nothing is learned here: data and models are handed over in files. `make quality` makes the environment in `.venv-peer`;
another one is named by the parameter `python` or by the environment variable PLURULE_PEER_PYTHON.
"""

from __future__ import annotations

import json
import os
import tempfile
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from plurule import ParameterError, PluruleError, RuleList
from plurule.model import Assignment, Head, Rule
from research.machine import ROOT
from research.matrices import as_arrays
from research.processes import TookTooLongError, run
from research.related.base import MultiLabelClassifier
from research.related.columns import Columns, read_columns
from research.related.labels import Labels
from research.related.peer_data import as_matrix, read_condition

ONE_THREAD = {"parallel_rule_refinement": "false", "parallel_statistic_update": "false"}
SCRIPT = Path(__file__).with_name("peer_process.py")


def peer_python() -> Path | None:
    """Return the Python of the environment with mlrl, if there is one."""
    named = os.environ.get("PLURULE_PEER_PYTHON")
    path = Path(named) if named else ROOT / ".venv-peer" / "bin" / "python"
    return path if path.is_file() else None


class _Peer(MultiLabelClassifier):
    """A classifier of mlrl in another process.

    Parameters
    ----------
    parameters
        Parameters of the classifier by name.
    python
        The Python to run it with.
    limit
        CPU seconds after which a fit is ended with an error.

    Attributes
    ----------
    fit_seconds_ : float
        CPU seconds of the fit alone, without handing over the data.
    """

    learner: str
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "parameters": [dict, None],
        "python": [str, os.PathLike, None],
        "limit": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self, parameters: dict[str, Any] | None = None, *, python: str | None = None, limit: float | None = None
    ) -> None:
        self.parameters = parameters
        self.python = python
        self.limit = limit

    def _learn(self, X: Any, Y: Labels) -> None:
        columns = read_columns(X)
        self._attributes = columns.attributes
        self._constant = int(Y.flat[0]) if Y.size and Y.min() == Y.max() else None
        if self._constant is not None:
            # mlrl learns no model of labels that are all equal.
            self.fit_seconds_ = 0.0
            self._read_rules([], columns)
            return
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data.npz"
            model = Path(folder) / "model.pickle"
            nominal = [i for i, attribute in enumerate(columns.attributes) if attribute.is_nominal]
            labels = {"Y": Y.astype(np.uint8), "nominal": np.array(nominal, dtype=np.uint32)}
            np.savez(data, **labels, **as_arrays(as_matrix(columns)))
            result = self._run("fit", self.learner, str(data), str(model), self._parameters_as_text())
            self.model_ = model.read_bytes()
        self.fit_seconds_ = result["cpu"]
        self._read_rules(result["rules"], columns)

    def _parameters(self) -> dict[str, Any]:
        return ONE_THREAD | (self.parameters or {})

    def _parameters_as_text(self) -> str:
        try:
            return json.dumps(self._parameters())
        except TypeError as error:
            raise ParameterError("parameters", self.parameters, f"must hold texts and numbers: {error}") from error

    def _read_rules(self, rules: list[dict[str, Any]], columns: Columns) -> None:
        self.n_rules_ = len(rules)

    def _predict(self, X: Any) -> Any:
        if self._constant is not None:
            return np.full((X.shape[0], len(self.label_names_)), self._constant)
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data.npz"
            model = Path(folder) / "model.pickle"
            output = Path(folder) / "predictions.npy"
            model.write_bytes(self.model_)
            np.savez(data, **as_arrays(as_matrix(read_columns(X, self._attributes))))
            self._run("predict", str(model), str(data), str(output))
            return np.load(output)

    def _run(self, *arguments: str) -> dict[str, Any]:
        python = self.python or peer_python()
        if python is None:
            raise PluruleError("there is no environment with mlrl: run `make quality`, or name its Python as `python`")
        try:
            result = run([str(python), str(SCRIPT), *arguments], self.limit)
        except PluruleError as error:
            raise PluruleError(f"{type(self).__name__}: {error}") from error
        if "gave_up" in result:
            raise TookTooLongError(f"{type(self).__name__} took longer than its CPU seconds; set a higher limit")
        return result


class SeCo(_Peer):
    """The separate-and-conquer learner of mlrl-seco.

    `SeCo({"head_type": "partial", "lift_function": "kln"})` learns multi-label heads.

    Attributes
    ----------
    rule_list_ : RuleList
        Its rules, to be read and counted; the predictions are those of mlrl.
    """

    learner = "seco"

    def _read_rules(self, rules: list[dict[str, Any]], columns: Columns) -> None:
        self.n_rules_ = len(rules)
        read = [self._read_rule(rule, columns) for rule in rules]
        self.rule_list_ = RuleList(tuple(read), columns.attributes, self.label_names_)

    def _read_rule(self, rule: dict[str, Any], columns: Columns) -> Rule:
        head = [Assignment(self.label_names_[label], label, score > 0) for label, score in rule["head"]]
        body = [read_condition(index, comparison, value, columns) for index, comparison, value in rule["body"]]
        return Rule(Head(tuple(head)), tuple(body))


class Boomer(_Peer):
    """Boosted multi-label rules of mlrl-boomer. Its rules have scores, and are not kept.

    Parameters
    ----------
    parameters, python, limit
        As for `SeCo`.
    tuned
        Whether the threshold on probabilities is the one with the best micro F1 in three-fold cross-validation, and all
        attributes are used on sparse data, where its own sampling leaves hardly any that a row has.

    Attributes
    ----------
    n_rules_ : int
        Number of rules.
    """

    learner = "boomer"
    _parameter_constraints: ClassVar[dict[str, Any]] = {**_Peer._parameter_constraints, "tuned": ["boolean"]}

    def __init__(
        self,
        parameters: dict[str, Any] | None = None,
        *,
        python: str | None = None,
        limit: float | None = None,
        tuned: bool = False,
    ) -> None:
        super().__init__(parameters, python=python, limit=limit)
        self.tuned = tuned

    def _parameters(self) -> dict[str, Any]:
        return super()._parameters() | ({"threshold_folds": 3} if self.tuned else {})
