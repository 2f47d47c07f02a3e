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
from pathlib import Path
from typing import Any

import numpy as np

from plurule import PluruleError, RuleList
from plurule.model import Assignment, Condition, Head, OneOfCondition, RangeCondition, Rule
from research.machine import ROOT
from research.matrices import as_arrays, packed
from research.processes import TookTooLongError, run
from research.related.base import MultiLabelClassifier
from research.related.columns import Columns, read_columns
from research.related.labels import Labels

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

    def __init__(
        self, parameters: dict[str, Any] | None = None, *, python: str | None = None, limit: float | None = None
    ) -> None:
        self.parameters = parameters
        self.python = python
        self.limit = limit

    def _learn(self, X: Any, Y: Labels) -> None:
        columns = read_columns(X)
        self._attributes = columns.attributes
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data.npz"
            model = Path(folder) / "model.pickle"
            nominal = [i for i, attribute in enumerate(columns.attributes) if attribute.is_nominal]
            labels = {"Y": Y.astype(np.uint8), "nominal": np.array(nominal, dtype=np.uint32)}
            np.savez(data, **labels, **as_arrays(as_matrix(columns)))
            result = self._run("fit", self.learner, str(data), str(model), json.dumps(self._parameters()))
            self.model_ = model.read_bytes()
        self.fit_seconds_ = result["cpu"]
        self._read_rules(result["rules"], columns)

    def _parameters(self) -> dict[str, Any]:
        return ONE_THREAD | (self.parameters or {})

    def _read_rules(self, rules: list[dict[str, Any]], columns: Columns) -> None:
        self.n_rules_ = len(rules)

    def _predict(self, X: Any) -> Any:
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
        result = run([str(python), str(SCRIPT), *arguments], self.limit)
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


def as_matrix(columns: Columns) -> Any:
    """Return the columns as floats, categories by their codes, missing values as NaN; sparse if most values are 0."""
    values = [column.astype(np.float32) for column in columns.values]
    for i, attribute in enumerate(columns.attributes):
        if attribute.is_nominal:
            values[i][columns.values[i] < 0] = np.nan
    return packed(values)


def read_condition(index: int, comparison: str, value: float, columns: Columns) -> Condition:
    """Return a condition of mlrl as one of plurule."""
    attribute = columns.attributes[index]
    if attribute.categories is not None:
        return OneOfCondition(attribute.name, index, (attribute.categories[int(value)],), negated=comparison == "neq")
    if comparison == "leq":
        return RangeCondition(attribute.name, index, at_most=value, is_date=attribute.is_date)
    return RangeCondition(attribute.name, index, above=value, is_date=attribute.is_date)
