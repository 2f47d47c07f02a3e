"""Training data that are counted where they are, out of memory or on other machines, as an estimator is given them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from plurule.data.table import Table
from plurule.data.targets import TargetForm
from plurule.errors import ParameterError
from plurule.learning.binning import with_short_thresholds
from plurule.learning.constraints import ResolvedConstraints, as_initial_rules
from plurule.learning.counting import Counting
from plurule.learning.covering import Progress, cover
from plurule.learning.missing_labels import can_learn, labels_without_rules, why_training_ended
from plurule.learning.options import check_constraints, check_options
from plurule.learning.problem import Options
from plurule.learning.readable import readable
from plurule.model import Attribute, Rule, RuleList
from plurule.parameters import check_jobs

NEEDS_ALL_ROWS = {
    "heuristic": ("auto", 'give one, such as heuristic="f_measure"'),
    "n_rules": ("auto", "give a number of rules, or None"),
    "engine": ("reference", "leave it out"),
}
"""Values of parameters that data in parts cannot do with, and what to do instead."""


@dataclass(frozen=True)
class Counted:
    """What learning needs of such data."""

    data: Counting
    given: tuple[Rule, ...]
    """The initial rules, with their counts."""
    values_for: Callable[[RuleList], Table]
    """A few of the values: those around the thresholds of a list, the ends, and a fraction if there are any."""
    trained_on: bytes | None
    """Fingerprints of the rows, if they were asked for."""


class CountedData(ABC):
    """Data that are not in memory; what is known of them is their columns."""

    attributes: tuple[Attribute, ...]
    label_names: tuple[str, ...]
    form: TargetForm

    @abstractmethod
    def counted(
        self,
        options: Options,
        given: tuple[Rule, ...],
        constraints: ResolvedConstraints | None,
        n_jobs: int,
        remember_rows: bool,
    ) -> AbstractContextManager[Counted]:
        """The data, ready to be counted; what that takes is given back at the end."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of rows."""


def learn_counted(
    data: CountedData,
    parameters: Mapping[str, Any],
    initial_rules: Any = (),
    constraints: Any = None,
    progress: Progress | None = None,
) -> tuple[RuleList, dict[str, str]]:
    """The list for the parameters of an estimator, and why labels are without rules."""
    refused = [name for name, (value, _) in NEEDS_ALL_ROWS.items() if parameters[name] == value]
    refused += ["prune"] if parameters["prune"] is not None else []
    for name in refused:
        instead = NEEDS_ALL_ROWS.get(name, ("", "leave it out"))[1]
        what = f"is {parameters[name]!r}, which needs all rows in memory; for data in parts {instead}"
        raise ParameterError(name, parameters[name], what)
    options, n_jobs = check_options(parameters, len(data.label_names)), check_jobs(parameters["n_jobs"])
    given = as_initial_rules(initial_rules, data.attributes, data.label_names) if initial_rules else ()
    bounds = check_constraints(constraints, data.attributes, data.label_names, options.head_search)
    if bounds is not None and bounds.exclusive:
        what = "has exclusive_labels, whose default needs all rows in memory; for data in parts leave them out"
        raise ParameterError("constraints", constraints, what)
    with data.counted(options, given, bounds, n_jobs, parameters["remember_rows"]) as counted:
        problem = counted.data.problem
        can_learn(problem, options)
        learned = cover(counted.data, counted.given, options, progress)
        values = counted.values_for(learned)
        learned = with_short_thresholds(learned, values, len(given))
        if parameters["readable"]:
            learned = readable(learned, values, len(given))
        ended = why_training_ended(learned, problem, options, options.n_rules)
        return replace(learned, trained_on=counted.trained_on), labels_without_rules(learned, problem, options, ended)
