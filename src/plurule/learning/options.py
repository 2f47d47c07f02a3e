"""Checking what a user gives the estimators, before any training: weights and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from plurule.data.dataset import check_row_weights
from plurule.errors import DataError, ParameterError, nearest
from plurule.heuristics import AVERAGINGS, BUILT_IN, Averaging, Heuristic
from plurule.learning.constraints import Constraints, ResolvedConstraints
from plurule.learning.engine import ENGINES, Engine
from plurule.learning.head_search import MOST_LABELS_EXHAUSTIVE
from plurule.learning.min_precision import as_min_precision
from plurule.learning.problem import HEAD_SEARCHES, HeadSearch, Options, exact_weights
from plurule.lifts import NoLift, as_table
from plurule.model import Attribute

RefineAgainst: TypeAlias = Literal["lifted", "plain"]
FixedHeadCounts: TypeAlias = Literal["instances", "pairs"]

LARGEST = 2**31 - 1
"""Larger whole numbers mean the same, and the core counts no further."""
MOST_JOBS = 2**15 - 1

LIFTED_SEARCHES: tuple[HeadSearch, ...] = ("relaxed", "exhaustive")
"""The head searches that know lifts."""


# Weights ----------------------------------------------------------------------------------------------------

SMALLEST_WEIGHT = 1e-200


def check_weights(sample_weight: Any, n_rows: int, n_labels: int) -> NDArray[np.float64]:
    """One exact, non-negative weight per row; `None` weighs every row 1."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = check_row_weights(sample_weight, n_rows, "sample_weight")
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
    if head_search not in LIFTED_SEARCHES or heuristic.additive:
        lift = as_table(NoLift(), n_labels)
    return Options(
        lift=lift,
        heuristic=heuristic,
        averaging=averaging,
        head_search=head_search,
        min_precision=as_min_precision(parameters["min_precision"]),
        predict_absence=_flag("predict_absence", parameters["predict_absence"]),
        label_conditions=_flag("label_conditions", parameters["label_conditions"]),
        fix_head=_flag("fix_head", parameters["fix_head"]),
        refine_against=_choice("refine_against", parameters["refine_against"], get_args(RefineAgainst)),
        fixed_head_counts=_choice("fixed_head_counts", parameters["fixed_head_counts"], get_args(FixedHeadCounts)),
        beam_width=_whole("beam_width", parameters["beam_width"], at_least=1),
        remaining=_number("remaining", parameters["remaining"], 0, 1),
        stop_threshold=_number("stop_threshold", parameters["stop_threshold"], 0, 1),
        n_rules=length if isinstance(length := check_length(parameters["n_rules"]), int) else None,
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
        if heuristic.additive:
            raise ValueError(f"{what}, whose values add up; use head_search='relaxed', 'exhaustive' or 'single'")
        raise ValueError(
            f"{what} and averaging={averaging!r}, which are not decomposable; use head_search='relaxed' or 'single', "
            "or averaging='macro'"
        )
    if head_search == "anti_monotone" and not heuristic.is_anti_monotone(averaging):
        if heuristic.additive:
            raise ValueError(f"{what}, whose values add up; use head_search='relaxed', 'exhaustive' or 'single'")
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
        raise ParameterError.expected("n_rules", n_rules, "'auto', None or a whole number of at least 1")
    return min(int(n_rules), LARGEST)


def check_share(name: str, value: Any) -> float | None:
    """A share of the rows, or None."""
    if value is None:
        return None
    share = _number(name, value, 0, 1)
    if share in (0, 1):
        raise ParameterError.expected(name, value, "a share between 0 and 1, or None")
    return share


def check_jobs(n_jobs: Any) -> int:
    """The number of threads or processes; `None` is 1 (unless a joblib context says otherwise), -1 all cores."""
    from joblib import effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ParameterError.expected("n_jobs", n_jobs, "a whole number other than 0, or None")
    return min(int(effective_n_jobs(n_jobs)), MOST_JOBS)


def _choice(name: str, value: Any, allowed: Iterable[Any]) -> Any:
    allowed = tuple(allowed)
    if value not in allowed:
        names = ", ".join(repr(a) for a in allowed)
        hint = nearest(value, allowed) if isinstance(value, str) else ""
        problem = f"must be one of {names}, got {value!r}{hint if 'did you mean' in hint else ''}"
        raise ParameterError(name, value, problem)
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ParameterError.expected(name, value, "True or False")
    return bool(value)


def _whole(name: str, value: Any, at_least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ParameterError.expected(name, value, f"a whole number of at least {at_least}")
    return min(int(value), LARGEST)


def _whole_or_none(name: str, value: Any, at_least: int) -> int | None:
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
        raise ParameterError.expected(name, value, f"None or a whole number of at least {at_least}")
    return min(int(value), LARGEST)


def _number(name: str, value: Any, low: float, high: float | None) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if not is_number or value < low or (high is not None and value > high):
        bounds = f"at least {low}" if high is None else f"{low} to {high}"
        raise ParameterError.expected(name, value, f"a number of {bounds}")
    return float(value)
