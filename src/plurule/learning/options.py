"""Checking what a user gives the estimators, before any training: labels, weights and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.table import reject_duplicates
from plurule.errors import DataError, nearest
from plurule.heuristics import AVERAGINGS, BUILT_IN, Averaging, Heuristic
from plurule.learning.constraints import Constraints, ResolvedConstraints
from plurule.learning.engine import ENGINES, Engine
from plurule.learning.head_search import MOST_LABELS_EXHAUSTIVE
from plurule.learning.problem import HEAD_SEARCHES, Constrain, HeadSearch, Options, exact_weights
from plurule.lifts import NoLift, as_table
from plurule.model import Attribute

RefineAgainst: TypeAlias = Literal["lifted", "plain"]
FixedHeadCounts: TypeAlias = Literal["instances", "pairs"]

LIFTED_SEARCHES: tuple[HeadSearch, ...] = ("relaxed", "exhaustive")
"""The head searches that know lifts."""


# Labels -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """What is to be predicted, as 0/1 per instance and label, and the form in which it was given."""

    Y: NDArray[np.uint8]
    labels: tuple[str, ...]
    classes: NDArray[Any] | None = None
    """The classes of a 1-D target, of which the last is the label; None for a label matrix."""
    sparse: bool = False
    named: bool = True
    """Whether the labels were given names, instead of `y0`, `y1`, …"""

    def beside(self, columns: Sequence[str]) -> Target:
        """The same target, where no label is called like a column of the attributes."""
        taken = set(columns)
        clash = next((label for label in self.labels if label in taken), None)
        if clash is None:
            return self
        if self.named:
            raise DataError(f"a column of X and a label are both named {clash!r}; rename one of them")
        return replace(self, labels=tuple(f"{label}_label" for label in self.labels)).beside(columns)


def check_target(Y: Any, label_names: Sequence[str] | None = None, name: str = "Y") -> Target:
    """The labels as a 0/1 matrix with names, whatever they were given as.

    >>> check_target([[1, 0], [0, 1]]).labels
    ('y0', 'y1')
    >>> check_target(["spam", "ham", "spam"]).labels
    ('spam',)
    >>> check_target([[1, 0], [0, 1]], ["red", "blue"]).labels
    ('red', 'blue')
    """
    target = _read_target(Y, name)
    if label_names is None:
        return target
    labels = tuple(str(label) for label in label_names)
    if len(labels) != len(target.labels):
        raise DataError(f"label_names holds {len(labels)} names, but {name} has {len(target.labels)} labels")
    check_distinct(labels, "label")
    return replace(target, labels=labels, named=True)


def check_truth(Y: Any, classes: NDArray[Any] | None, n_labels: int) -> NDArray[np.uint8]:
    """True labels to compare predictions with, as a 0/1 matrix; `classes` are those of a 1-D target in training.

    >>> check_truth(["ham", "ham"], np.array(["ham", "spam"]), n_labels=1).ravel()
    array([0, 0], dtype=uint8)
    """
    if classes is None:
        truth = check_target(Y).Y
        if truth.shape[1] != n_labels:
            raise DataError(f"Y has {truth.shape[1]} labels, the classifier was trained with {n_labels}")
        return truth
    given = np.asarray(Y).ravel()
    odd = np.flatnonzero(~np.isin(given, classes))
    if len(odd):
        raise DataError(f"Y, row {odd[0]}: {given[odd[0]]} is none of the classes {classes.tolist()}")
    return (given == classes[-1]).astype(np.uint8).reshape(-1, 1)


def _read_target(Y: Any, name: str) -> Target:
    if Y is None:
        raise ValueError("RuleListClassifier requires y to be passed, but the target y is None")
    if sp.issparse(Y):
        return _sparse_target(Y, name)
    reject_duplicates(Y, name, "label")
    native = nw.from_native(Y, eager_only=True, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        return _frame_target(native, name)
    if isinstance(native, nw.Series):
        return _one_label(native.to_numpy(), str(native.name) if native.name else None)
    try:
        array = np.asarray(Y)
    except ValueError as error:
        raise DataError(f"{name} is not a matrix: {error}. {_USE_BINARIZER}") from error
    if array.ndim == 1:
        return _one_label(array, None)
    if array.ndim != 2:
        raise DataError(f"{name} must be a matrix of instances × labels, got an array of shape {array.shape}")
    labels = tuple(f"y{i}" for i in range(array.shape[1]))
    return Target(_label_matrix(array, labels, name), labels, named=False)


_USE_BINARIZER = "Give one 0/1 column per label; sklearn.preprocessing.MultiLabelBinarizer makes them from label sets"


def _sparse_target(Y: Any, name: str) -> Target:
    labels = tuple(f"y{i}" for i in range(Y.shape[1]))
    matrix = sp.coo_array(Y)
    matrix.sum_duplicates()
    rows, columns = matrix.coords
    odd = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
    if len(odd):
        _reject_label(matrix.data[odd[0]], labels[columns[odd[0]]], int(rows[odd[0]]), name)
    dense = np.zeros(Y.shape, dtype=np.uint8)
    dense[rows, columns] = matrix.data == 1
    _expect_some(dense, name)
    return Target(dense, labels, sparse=True, named=False)


def _frame_target(frame: nw.DataFrame[Any], name: str) -> Target:
    labels = tuple(str(column) for column in frame.columns)
    columns = [frame.get_column(column).to_numpy() for column in frame.columns]
    if not columns:
        raise DataError(f"{name} holds no labels; give one column per label")
    parts = [_label_matrix(c.reshape(-1, 1), (label,), name) for c, label in zip(columns, labels, strict=True)]
    return Target(np.hstack(parts), labels)


def check_distinct(names: Sequence[str], what: str) -> None:
    """Raise an error if two names are the same."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"two {what}s are named {name!r}; give each {what} its own name")
        seen.add(name)


def _label_matrix(array: NDArray[Any], labels: Sequence[str], name: str) -> NDArray[np.uint8]:
    _expect_some(array, name)
    if array.dtype.kind in "OUSV":
        odd = next(((r, c) for (r, c), v in np.ndenumerate(array) if not _is_zero_or_one(v)), None)
    elif array.dtype.kind in "biuf":
        wrong = ~((array == 0) | (array == 1))
        odd = (int(np.argmax(wrong.any(axis=1))), int(np.argmax(wrong.any(axis=0)))) if wrong.any() else None
        if odd is not None:
            odd = odd[0], int(np.argmax(wrong[odd[0]]))
    else:
        raise DataError(f"{name} must hold 0 and 1 only, got values of type {array.dtype}")
    if odd is not None:
        _reject_label(array[odd], labels[odd[1]], odd[0], name)
    return (array == 1).astype(np.uint8)


def _is_zero_or_one(value: Any) -> bool:
    return isinstance(value, bool | Real) and (value == 0 or value == 1)


def _expect_some(array: NDArray[Any], name: str) -> None:
    if array.shape[0] == 0:
        raise DataError(f"{name} holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
    if array.shape[1] == 0:
        raise DataError(f"{name} holds no labels; give one column per label")


def _reject_label(value: Any, label: str, row: int, name: str) -> None:
    is_nan = isinstance(value, Real) and bool(value != value)
    if isinstance(value, Real) and np.isinf(float(value)):
        found = f"infinity ({value})"
    else:
        found = "NaN" if is_nan else repr(value.item() if isinstance(value, np.generic) else value)
    helps = ""
    if not is_nan and isinstance(value, Real) and value == -1:
        helps = "; for labels of -1 and 1 give (Y > 0)"
    elif is_nan:
        helps = "; leave out rows whose labels are not known"
    raise DataError(f"label {label!r}, row {row}: {name} contains {found}, expected 0 or 1{helps}")


def _one_label(y: NDArray[Any], name: str | None) -> Target:
    """A 1-D target of two classes; the later class is the label."""
    from sklearn.utils.multiclass import check_classification_targets

    if len(y) == 0:
        raise DataError("y holds no rows (Found array with 0 sample(s)); there is nothing to learn from")
    if any(isinstance(value, set | frozenset | list | tuple) for value in y[:1]):
        raise DataError(f"y is a list of label sets. {_USE_BINARIZER}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        row = int(np.argmax(~np.isfinite(y)))
        raise DataError(f"row {row}: y contains {'NaN' if np.isnan(y[row]) else 'infinity'}, expected a class")
    if y.dtype.kind == "O":
        missing = [i for i, value in enumerate(y) if value is None or value is _pandas_missing(value)]
        if missing:
            raise DataError(f"row {missing[0]}: y contains a missing value (NaN), expected a class")
    check_classification_targets(y)
    classes = np.unique(y)
    if len(classes) > 2:
        raise DataError(
            "Only binary classification is supported. The type of the target is multiclass "
            f"({len(classes)} classes). Give one 0/1 column per class (sklearn.preprocessing.LabelBinarizer)"
        )
    positive = classes[-1]
    is_flag = set(classes.tolist()) <= {0, 1}
    label = (name or "y") if is_flag else str(positive)
    return Target((y == positive).astype(np.uint8).reshape(-1, 1), (label,), classes, named=False)


def _pandas_missing(value: Any) -> Any:
    """The value itself if it stands for a missing one: NaN is not equal to itself, pandas.NA refuses to say."""
    try:
        return value if bool(value != value) else None
    except TypeError:
        return value


# Weights ----------------------------------------------------------------------------------------------------

SMALLEST_WEIGHT = 1e-200


def check_weights(sample_weight: Any, n_rows: int, n_labels: int) -> NDArray[np.float64]:
    """One exact, non-negative weight per row; `None` weighs every row 1."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must hold numbers: {error}") from error
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise DataError(f"sample_weight has shape {weights.shape}, expected one weight for each of {n_rows} rows")
    odd = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(odd):
        raise DataError(
            f"sample_weight, row {odd[0]}: {weights[odd[0]]:g}, expected a finite number of at least 0 "
            "(Negative values in data passed to `sample_weight`)"
        )
    total = float(weights.sum()) * n_labels
    if total == 0:
        raise DataError("sample_weight is zero for every row; there is nothing to learn from")
    if not SMALLEST_WEIGHT < total < 1 / SMALLEST_WEIGHT:
        raise DataError(f"sample_weight sums to {weights.sum():g}, too small or too large to count with; rescale it")
    return exact_weights(weights, n_labels)


# Parameters -------------------------------------------------------------------------------------------------

HEURISTICS: dict[str, type[Heuristic]] = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in BUILT_IN
}
"""The built-in heuristics by name: `"f_measure"`, `"hamming_accuracy"`, …"""


def check_options(parameters: Mapping[str, Any], n_labels: int) -> Options:
    """The options of the learner from the parameters of an estimator, each checked, and checked together."""
    heuristic = check_heuristic(parameters["heuristic"])
    averaging = _choice("averaging", parameters["averaging"], AVERAGINGS)
    head_search = _choice("head_search", parameters["head_search"], HEAD_SEARCHES)
    check_head_search(head_search, heuristic, averaging, n_labels)
    lift = as_table(parameters["lift"], n_labels)
    if head_search not in LIFTED_SEARCHES:
        lift = as_table(NoLift(), n_labels)
    return Options(
        lift=lift,
        heuristic=heuristic,
        averaging=averaging,
        head_search=head_search,
        head_constraint=_choice("head_constraint", parameters["head_constraint"], ("head", "label")),
        constrain=_choice("constrain", parameters["constrain"], get_args(Constrain)),
        predict_absence=_flag("predict_absence", parameters["predict_absence"]),
        label_conditions=_flag("label_conditions", parameters["label_conditions"]),
        fix_head=_flag("fix_head", parameters["fix_head"]),
        refine_against=_choice("refine_against", parameters["refine_against"], get_args(RefineAgainst)),
        fixed_head_counts=_choice("fixed_head_counts", parameters["fixed_head_counts"], get_args(FixedHeadCounts)),
        beam_width=_whole("beam_width", parameters["beam_width"], at_least=1),
        remaining=_number("remaining", parameters["remaining"], 0, 1),
        stop_threshold=_number("stop_threshold", parameters["stop_threshold"], 0, 1),
        max_rules=_whole_or_none("max_rules", parameters["max_rules"], at_least=1),
        max_conditions=_whole_or_none("max_conditions", parameters["max_conditions"], at_least=0),
        min_coverage=_number("min_coverage", parameters["min_coverage"], 0, None),
        max_bins=_whole_or_none("max_bins", parameters["max_bins"], at_least=2),
    )


def check_heuristic(heuristic: Any) -> Heuristic:
    """The heuristic, from an object or a name."""
    if isinstance(heuristic, str):
        if heuristic not in HEURISTICS:
            names = ", ".join(repr(name) for name in HEURISTICS)
            raise ValueError(f"unknown heuristic {heuristic!r}{nearest(heuristic, HEURISTICS)} (all: {names})")
        heuristic = HEURISTICS[heuristic]()
    if isinstance(heuristic, type) and issubclass(heuristic, Heuristic):
        raise ValueError(f"heuristic must be an object, not a class: write {heuristic.__name__}()")
    if not isinstance(heuristic, Heuristic):
        raise ValueError(
            f"heuristic must be an object such as FMeasure(beta=0.5), one of the names "
            f"{', '.join(repr(n) for n in HEURISTICS)}, or an object of your own subclass of "
            f"plurule.heuristics.Heuristic; got {heuristic!r}"
        )
    heuristic.check()
    _try_out(heuristic)
    return heuristic


def _try_out(heuristic: Heuristic) -> None:
    """Someone's own heuristic fails here, on four small matrices, instead of in the middle of training."""
    matrices = [np.array(counts, dtype=float) for counts in ([[3, 0], [1, 2]], [[1, 0], [0, 2]], [[2, 0], [1, 2]])]
    tp, fp, tn = matrices
    values = np.asarray(heuristic.evaluate(tp, fp, tn, fp))
    if values.shape != tp.shape:
        raise ValueError(
            f"heuristic {heuristic!r}: evaluate must return one value per confusion matrix; "
            f"arrays of shape {tp.shape} gave shape {values.shape}"
        )
    if np.isnan(values).any():
        raise ValueError(
            f"heuristic {heuristic!r}: evaluate returned NaN; plurule.heuristics.ratio divides with 0/0 = 0"
        )


def check_head_search(head_search: HeadSearch, heuristic: Heuristic, averaging: Averaging, n_labels: int) -> None:
    """Raise an error if the head search cannot find the best head for the heuristic."""
    what = f"head_search={head_search!r} does not work with heuristic={heuristic!r}"
    if head_search == "relaxed" and heuristic.example_based:
        raise ValueError(
            f"{what}, which judges instances as a whole; use head_search='anti_monotone' or 'single'"
            + (" or 'exhaustive'" if n_labels <= MOST_LABELS_EXHAUSTIVE else "")
        )
    if head_search == "decomposable" and not heuristic.is_decomposable(averaging):
        if heuristic.example_based:
            raise ValueError(f"{what}, which is not decomposable; use head_search='anti_monotone' or 'single'")
        raise ValueError(
            f"{what} and averaging={averaging!r}, which are not decomposable; use head_search='relaxed' or 'single', "
            "or averaging='macro'"
        )
    if head_search == "anti_monotone" and not heuristic.is_anti_monotone(averaging):
        raise ValueError(
            f"{what} and averaging={averaging!r}, which are not anti-monotone; use head_search='relaxed' or 'single', "
            "or averaging='macro'"
        )
    if head_search == "exhaustive" and n_labels > MOST_LABELS_EXHAUSTIVE:
        raise ValueError(
            f"head_search='exhaustive' looks at every set of labels, which is meant for at most "
            f"{MOST_LABELS_EXHAUSTIVE} labels, got {n_labels}; use head_search='relaxed'"
        )


def check_constraints(
    constraints: Any, attributes: Sequence[Attribute], labels: Sequence[str], head_search: HeadSearch
) -> ResolvedConstraints | None:
    """The constraints on the rules of some data, if there are any."""
    if constraints is None:
        return None
    if not isinstance(constraints, Constraints):
        raise ValueError(f"constraints must be None or a plurule.Constraints, got {constraints!r}")
    resolved = constraints.resolve(attributes, labels)
    longest = max(len(unit) for unit in resolved.units())
    if head_search == "anti_monotone" and longest > MOST_LABELS_EXHAUSTIVE:
        raise ValueError(
            f"head_search='anti_monotone' tries all signs of labels that must go together, "
            f"which is meant for at most {MOST_LABELS_EXHAUSTIVE} of them, got {longest}; require fewer pairs"
        )
    return resolved


def check_engine(engine: Any) -> Engine:
    """The engine asked for; `"auto"` is the fastest."""
    chosen: Engine | Literal["auto"] = _choice("engine", engine, ("auto", *ENGINES))
    return ENGINES[0] if chosen == "auto" else chosen


def check_length(n_rules: Any) -> int | Literal["auto"] | None:
    """How many rules a list has."""
    if n_rules is None:
        return None
    if isinstance(n_rules, str) and n_rules == "auto":
        return "auto"
    if not isinstance(n_rules, Integral) or isinstance(n_rules, bool) or n_rules < 1:
        raise ValueError(f"n_rules must be 'auto', None or a whole number of at least 1, got {n_rules!r}")
    return int(n_rules)


def check_share(name: str, value: Any) -> float | None:
    """A share of the rows, or None."""
    if value is None:
        return None
    share = _number(name, value, 0, 1)
    if share in (0, 1):
        raise ValueError(f"{name} must be a share between 0 and 1, or None, got {value!r}")
    return share


def check_jobs(n_jobs: Any) -> int:
    """The number of threads or processes; `None` is 1 (unless a joblib context says otherwise), -1 all cores."""
    from joblib import effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r}")
    return int(effective_n_jobs(n_jobs))


def _choice(name: str, value: Any, allowed: Iterable[Any]) -> Any:
    allowed = tuple(allowed)
    if value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        hint = nearest(value, allowed) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be one of {names}, got {value!r}{hint if 'did you mean' in hint else ''}")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def _whole(name: str, value: Any, at_least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be a whole number of at least {at_least}, got {value!r}")
    return int(value)


def _whole_or_none(name: str, value: Any, at_least: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} must be None or a whole number of at least {at_least}, got {value!r}")
    return int(value)


def _number(name: str, value: Any, low: float, high: float | None) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not is_number or value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"{low} to {high}"
        raise ValueError(f"{name} must be a number of {bounds}, got {value!r}")
    return float(value)
