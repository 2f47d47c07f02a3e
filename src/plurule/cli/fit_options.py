"""What the options of `plurule fit` stand for in the library."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from plurule.learning.constraints import Constraints

LiftKind = Literal["kln", "peak", "root", "none"]

HEIGHT, AT_LABELS = 1.08, 3
"""What a lift is that was asked for by its kind alone."""

ALL_RULES = ("none", "all")
"""What stands for a list that is not cut."""

RENAMED = {"n_rules": "--rules", "predict_absence": "--absence", "n_jobs": "--jobs"}
"""Options that are not called like the parameter of the classifier."""


def read_length(text: str) -> int | Literal["auto"] | None:
    """How many rules the list has.

    >>> read_length("auto"), read_length("12"), read_length("none")
    ('auto', 12, None)
    """
    word = text.strip().lower()
    if word == "auto":
        return "auto"
    if word in ALL_RULES:
        return None
    if not word.isdecimal() or int(word) < 1:
        raise ValueError(f"--rules must be auto, none (for all rules) or a whole number of at least 1, got {text}")
    return int(word)


def read_cv(text: str) -> int | float:
    """A number of folds, or the share of the rows to hold out.

    >>> read_cv("10"), read_cv("0.2")
    (10, 0.2)
    """
    try:
        number: int | float = int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        number = 0
    if not (0 < number < 1 or (isinstance(number, int) and number >= 2)):
        raise ValueError(f"--cv must be at least 2 folds, or a share between 0 and 1, got {text}")
    return number


def in_options(error: ValueError) -> ValueError:
    """The same error, about the option instead of the parameter that it is about.

    >>> in_options(ValueError("beam_width must be a whole number of at least 1, got 0"))
    ValueError('--beam-width must be a whole number of at least 1, got 0')
    """
    from plurule.classifier import RuleListClassifier

    about = re.match(r"(\w+) must be ", str(error))
    if about is None or about[1] not in RuleListClassifier().get_params(deep=False):
        return error
    option = RENAMED.get(about[1], "--" + about[1].replace("_", "-"))
    return ValueError(option + str(error).removeprefix(about[1]))


def make_lift(kind: LiftKind | None, height: float | None, labels: int | None) -> Any:
    """The lift that has the given height at the given number of labels; None for the default one."""
    from plurule import lifts

    if kind is None and height is None and labels is None:
        return None
    if kind == "none":
        if height is not None or labels is not None:
            raise ValueError("--lift none has no height; leave out --lift-height and --lift-at")
        return lifts.NoLift()
    height = HEIGHT if height is None else height
    labels = AT_LABELS if labels is None else labels
    if kind == "peak":
        return lifts.Peak(labels=labels, lift=height)
    if kind == "root":
        return lifts.Root.at(labels=labels, lift=height)
    return lifts.KLN.at(labels=labels, lift=height)


def make_constraints(
    forbidden: list[str] | None,
    required: list[str] | None,
    forbidden_pairs: list[str] | None,
    required_pairs: list[str] | None,
) -> Constraints | None:
    """What rules must and must not use; None if nothing is asked of them."""
    from plurule.learning.constraints import Constraints

    if not (forbidden or required or forbidden_pairs or required_pairs):
        return None
    return Constraints(
        forbidden or (),
        required or (),
        [read_pair(text, "--forbid-pair") for text in forbidden_pairs or ()],
        [read_pair(text, "--require-pair") for text in required_pairs or ()],
    )


def read_pair(text: str, option: str) -> tuple[str, str]:
    """Two names separated by a comma; one that holds a comma is put in double quotes, as in a CSV file.

    >>> read_pair('"red, dark",blue', "--forbid-pair")
    ('red, dark', 'blue')
    """
    names = [name for line in csv.reader([text], skipinitialspace=True) for name in line]
    if len(names) != 2 or names[0] == names[1] or not all(names):
        raise ValueError(
            f"{option} {text}: give two different labels separated by a comma (a name that holds one in double quotes)"
        )
    return names[0], names[1]


def make_heuristic(name: str | None, beta: float | None) -> Any:
    """The heuristic of that name, with its beta if one is given; None for the default one."""
    from plurule.heuristics import FMeasure
    from plurule.learning.options import check_heuristic

    if name is None and beta is None:
        return None
    heuristic = FMeasure() if name is None else check_heuristic(name)
    if beta is None:
        return heuristic
    if not isinstance(heuristic, FMeasure):
        raise ValueError(f"--beta is a parameter of f_measure, not of {name}")
    return FMeasure(beta=beta)
