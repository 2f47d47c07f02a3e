"""From the parameters of an estimator to the options of the learner: each checked, and checked together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from numbers import Integral
from typing import Any

import numpy as np

from plurule.constraints import Constraints, ResolvedConstraints
from plurule.errors import ParameterError, nearest
from plurule.heuristics import BUILT_IN, Averaging, Heuristic
from plurule.learning.derived import CONDITION_KINDS
from plurule.learning.head_search import MOST_LABELS_EXHAUSTIVE
from plurule.learning.problem import HEAD_SEARCHES, HeadSearch, Options
from plurule.lifts import NoLift, as_table
from plurule.model import Attribute, Rule
from plurule.model.head import Groups, Hierarchy
from plurule.parameters import Allowed, number, whole

LARGEST = 2**31 - 1
"""Larger whole numbers mean the same, and the core counts no further."""

LIFTED_SEARCHES: tuple[HeadSearch, ...] = ("relaxed", "exhaustive")
"""The head searches that know lifts."""

HEURISTICS: dict[str, type[Heuristic]] = {
    re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in BUILT_IN
}
"""The built-in heuristics by name: `"f_measure"`, `"hamming_accuracy"`, …"""

COMMON: Allowed = {
    "max_conditions": [None, whole(0)],
    "min_coverage": [number(0)],
    "max_bins": [None, whole(2)],
    "verbose": ["verbose"],
}
"""The values that parameters of both learners may have; heuristics, lifts and the like check themselves."""


def check_options(parameters: Mapping[str, Any], n_labels: int) -> Options:
    """The options of the learner, from parameters whose values are allowed; checked together.

    `max_rules` is called `n_rules` in options. Options that no parameter is about have their defaults.
    """
    heuristic = check_heuristic(parameters["heuristic"])
    averaging = parameters.get("averaging", "micro")
    head_search = parameters.get("head_search", "relaxed")
    check_head_search(head_search, heuristic, averaging, n_labels)
    lift = as_table(parameters["lift"], n_labels)
    if head_search not in LIFTED_SEARCHES or heuristic.additive:
        lift = as_table(NoLift(), n_labels)
    checked: dict[str, Any] = {
        "lift": lift,
        "heuristic": heuristic,
        "conditions": check_conditions(parameters["conditions"]),
        "min_precision": parameters["min_precision"],
        "n_rules": _plain("int | None", parameters["max_rules"]),
    }
    others = (option for option in fields(Options) if option.name not in checked and option.name in parameters)
    return Options(**checked, **{option.name: _plain(option.type, parameters[option.name]) for option in others})


def _plain(kind: Any, value: Any) -> Any:
    """A value as a plain Python number or text, whatever library it comes from."""
    if kind == "bool":
        return bool(value)
    if kind == "float":
        return float(value)
    return min(int(value), LARGEST) if isinstance(value, Integral) else value


def check_conditions(conditions: Any) -> tuple[str, ...]:
    """The kinds of conditions that are asked for, from a list or a text.

    >>> check_conditions("all"), check_conditions("paper"), check_conditions("missing, sets")
    (('sets', 'negation', 'missing'), (), ('sets', 'missing'))
    """
    named = {"all": CONDITION_KINDS, "paper": ()}
    if isinstance(conditions, str):
        conditions = named.get(conditions, [kind.strip() for kind in conditions.split(",")])
    if not isinstance(conditions, list | tuple | set | frozenset) or not set(conditions) <= set(CONDITION_KINDS):
        kinds = ", ".join(map(repr, CONDITION_KINDS))
        raise ParameterError.expected("conditions", conditions, f"'all', 'paper', or some of {kinds}")
    return tuple(kind for kind in CONDITION_KINDS if kind in conditions)


def check_heuristic(heuristic: Any) -> Heuristic:
    """The heuristic, from an object or a name."""
    if isinstance(heuristic, str):
        if heuristic not in HEURISTICS:
            raise ParameterError("heuristic", heuristic, f"{heuristic!r} is unknown{nearest(heuristic, HEURISTICS)}")
        heuristic = HEURISTICS[heuristic]()
    if isinstance(heuristic, type) and issubclass(heuristic, Heuristic):
        what = f"must be an object, not a class: write {heuristic.__name__}()"
        raise ParameterError("heuristic", heuristic, what)
    if not isinstance(heuristic, Heuristic):
        raise ParameterError.expected(
            "heuristic",
            heuristic,
            f"an object such as FMeasure(beta=0.5), one of the names {', '.join(repr(n) for n in HEURISTICS)}, or an "
            "object of your own subclass of plurule.heuristics.Heuristic",
        )
    heuristic.check()
    _try_out(heuristic)
    return heuristic


def _try_out(heuristic: Heuristic) -> None:
    """Someone's own heuristic fails here, on four small matrices, instead of in the middle of training."""
    matrices = [np.array(counts, dtype=float) for counts in ([[3, 0], [1, 2]], [[1, 0], [0, 2]], [[2, 0], [1, 2]])]
    tp, fp, tn = matrices
    values = np.asarray(heuristic.evaluate(tp, fp, tn, fp))
    problem = None
    if values.shape != tp.shape:
        what = "evaluate must return one value per confusion matrix"
        problem = f"{heuristic!r}: {what}; arrays of shape {tp.shape} gave shape {values.shape}"
    elif np.isnan(values).any():
        problem = f"{heuristic!r}: evaluate returned NaN; plurule.heuristics.ratio divides with 0/0 = 0"
    if problem is not None:
        raise ParameterError("heuristic", heuristic, problem)


def check_head_search(head_search: HeadSearch, heuristic: Heuristic, averaging: Averaging, n_labels: int) -> None:
    """Raise an error if the head search cannot find the best head for the heuristic."""
    missing = {
        "relaxed": "" if not heuristic.example_based else "judges instances as a whole",
        "decomposable": "" if heuristic.is_decomposable(averaging) else "is not decomposable",
        "anti_monotone": "" if heuristic.is_anti_monotone(averaging) else "is not anti-monotone",
    }
    others = [
        s for s in HEAD_SEARCHES if not missing.get(s) and (s != "exhaustive" or n_labels <= MOST_LABELS_EXHAUSTIVE)
    ]
    use = f"use {' or '.join(repr(search) for search in others)}"
    if missing.get(head_search):
        averaged = "" if heuristic.example_based or heuristic.additive else f" with averaging={averaging!r}"
        helps = ", or averaging='macro'" if averaging == "micro" and heuristic.is_decomposable("macro") else ""
        reason = f"heuristic={heuristic!r}, which{averaged} {missing[head_search]}"
        raise ParameterError("head_search", head_search, f"{head_search!r} does not work with {reason}; {use}{helps}")
    if head_search not in others:
        what = (
            f"{head_search!r} looks at every set of labels, which is meant for at most {MOST_LABELS_EXHAUSTIVE} labels"
        )
        raise ParameterError("head_search", head_search, f"{what}, got {n_labels}; {use}")


def check_constraints(
    constraints: Any,
    attributes: Sequence[Attribute],
    labels: Sequence[str],
    groups: Groups,
    hierarchy: Hierarchy,
    initial_rules: Sequence[Rule] = (),
    Y: Any = None,
) -> ResolvedConstraints | None:
    """The constraints on the rules of some data, if there are any; its groups and hierarchy of labels are some.

    Labels that are at hand are checked, too.
    """
    if constraints is None and not groups and not hierarchy:
        return None
    if not isinstance(constraints, Constraints | None):
        raise ParameterError.expected("constraints", constraints, "None or a plurule.Constraints")
    resolved = (constraints or Constraints()).resolve(attributes, labels).with_exclusive(groups, labels)
    resolved = resolved.with_hierarchy(hierarchy, labels)
    if Y is not None:
        resolved.expect_kept_by(Y, labels)
    resolved.expect_directed(initial_rules)
    return resolved
