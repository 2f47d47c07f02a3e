"""The learner: its options, which have the names of the parameters of the classifiers, and the classifier itself."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from plurule.errors import PluruleError, nearest

if TYPE_CHECKING:
    from plurule import Constraints
    from plurule.lifts import Lift

LIFTED_LABELS = 3
"""A lift that is given as a number is the factor for a head of this many labels, as in the paper."""


def number_or(kind: type[int] | type[float], *words: str) -> dict[str, Any]:
    """Return the settings of an option whose value is a number or one of some words."""

    def parse(text: str) -> Any:
        if text in words:
            return text
        try:
            return kind(text)
        except ValueError:
            noun = "a whole number" if kind is int else "a number"
            raise typer.BadParameter(f"expected {' or '.join([noun, *words])}, got {text}") from None

    return {"parser": parse, "metavar": "|".join(["N" if kind is int else "X", *words])}


# Options; unset ones are None, so that the classifiers use their own defaults -----------------------------------------

option = partial(typer.Option, rich_help_panel="Learner", show_default=False)
internal_option = partial(typer.Option, rich_help_panel="Only with --learner relaxed-pruning", show_default=False)
expert_option = partial(typer.Option, rich_help_panel="Expert knowledge")

Learner = Annotated[
    Literal["rule-list", "relaxed-pruning"],
    option(help="The best short list for --scoring, or the learner of the paper. Default: rule-list."),
]
Scoring = Annotated[
    str | None,
    option(
        metavar="MEASURE",
        help="The model is selected to maximise this measure: micro_f1, macro_f1, example_f1, hamming_accuracy, "
        "subset_accuracy, or a scorer of scikit-learn. Default: micro_f1.",
    ),
]
MaxRules = Annotated[
    str | None,
    option(
        **number_or(int, "auto", "none"),
        help="Maximum number of rules; auto: 40, or the number of labels if it is larger, at most 100. "
        "Default: auto (relaxed-pruning: none).",
    ),
]
MaxConditions = Annotated[
    str | None,
    option(
        **number_or(int, "none"), help="Maximum number of conditions of a rule. Default: 3 (relaxed-pruning: none)."
    ),
]
MinCoverage = Annotated[
    float | None, option(help="Minimum number of rows that a rule covers. Default: 3 (relaxed-pruning: 0).")
]
MinPrecision = Annotated[
    float | None, option(help="Minimum precision of a rule, 0 to 1. Default: none (relaxed-pruning: 0.5).")
]
LiftValue = Annotated[
    str | None,
    option(
        **number_or(float, "none", "kln", "peak", "auto"),
        help=f"Preference for rules with several labels: the factor for a head of {LIFTED_LABELS} labels, such as "
        "1.08, or a default lift; auto: chosen by cross-validation. Default: auto (relaxed-pruning: kln).",
    ),
]
ScoreTolerance = Annotated[
    float | None,
    option(help="Score that may be lost for a list in which more rules relate labels. Default: 0."),
]
PredictAbsence = Annotated[
    bool | None,
    option(
        "--predict-absence/--no-predict-absence",
        help="Predict that labels are absent. Default: only as exceptions to a last rule (relaxed-pruning: no).",
    ),
]
Conditions = Annotated[
    str | None,
    option(
        metavar="KINDS", help="Further kinds of conditions: sets, negation, missing, or all. Default: none of them."
    ),
]
MaxBins = Annotated[
    str | None,
    option(
        **number_or(int, "none"), help="Maximum number of bins of an attribute. Default: 32 (relaxed-pruning: none)."
    ),
]
CV = Annotated[
    str | None, option(**number_or(float), help="Folds of the selection, or share of held-out rows. Default: 5.")
]
MaxGrownRows = Annotated[
    str | None,
    option(
        **number_or(int, "none"),
        help="Of more rows, so many give the candidate rules. Default: 5,000,000 (relaxed-pruning: none).",
    ),
]
NJobs = Annotated[int | None, option(help="Threads. Default: all cores.")]
Heuristic = Annotated[
    str | None, internal_option(metavar="NAME", help="f_measure, precision, m_estimate, … Default: f_measure.")
]
Averaging = Annotated[Literal["micro", "macro"] | None, internal_option(help="Of the heuristic. Default: micro.")]
LabelConditions = Annotated[
    bool | None,
    internal_option(
        "--label-conditions/--no-label-conditions", help="Test labels that earlier rules predict. Default: yes."
    ),
]
BeamWidth = Annotated[int | None, internal_option(help="Rules that are refined in parallel. Default: 1.")]
ConstraintsFile = Annotated[
    Path | None,
    expert_option(
        metavar="FILE",
        help="TOML file with parameters of plurule.Constraints: forbidden_attributes, forbidden_label_pairs, "
        "increasing, decreasing, hierarchy, exclusive_labels.",
    ),
]
InitialRules = Annotated[
    Path | None,
    expert_option(metavar="FILE", help="Rules that come first: a text file with one rule per line, or a model file."),
]

# The classifier -------------------------------------------------------------------------------------------------------

SELECTION = ("scoring", "score_tolerance", "cv")
"""Parameters of the rule list classifier only."""
RELAXED_PRUNING = ("heuristic", "averaging", "label_conditions", "beam_width")
"""Parameters of the relaxed pruning classifier only."""
BOTH = (
    *("lift", "max_rules", "max_conditions", "min_coverage", "min_precision", "predict_absence", "conditions"),
    *("max_bins", "max_grown_rows", "constraints", "n_jobs"),
)
PARAMETERS = (*SELECTION, *RELAXED_PRUNING, *BOTH)


def make_classifier(context: typer.Context) -> Any:
    """Return the classifier that the options of a command describe."""
    from plurule import RelaxedPruningClassifier, RelaxedPruningClassifierCV, RuleListClassifier

    learner = context.params["learner"]
    parameters = {name: context.params[name] for name in PARAMETERS if context.params[name] is not None}
    chooses_lift = parameters.get("lift") == "auto"
    _check_learner(learner, chooses_lift, parameters)
    parameters = {name: None if value == "none" else value for name, value in parameters.items()}
    parameters.setdefault("n_jobs", -1)
    if "constraints" in parameters:
        parameters["constraints"] = read_constraints(Path(parameters["constraints"]))
    if "cv" in parameters and parameters["cv"].is_integer():
        parameters["cv"] = int(parameters["cv"])
    if "lift" in parameters and not chooses_lift:
        parameters["lift"] = make_lift(parameters["lift"])
    if learner == "rule-list":
        return RuleListClassifier(**parameters)
    if not chooses_lift:
        return RelaxedPruningClassifier(**parameters)
    del parameters["lift"]
    search = {name: parameters.pop(name) for name in ("scoring", "cv", "n_jobs") if name in parameters}
    return RelaxedPruningClassifierCV(RelaxedPruningClassifier(**parameters), **search)


def _check_learner(learner: str, chooses_lift: bool, parameters: dict[str, Any]) -> None:
    """Raise an error about the first option that the learner does not have."""
    hint = "leave it out"
    if learner == "rule-list":
        missing = set(RELAXED_PRUNING)
        hint = "add --learner relaxed-pruning"
    else:
        if parameters.get("max_rules") == "auto":
            raise PluruleError("--max-rules auto is for --learner rule-list; give a number or none")
        missing = {"score_tolerance"} if chooses_lift else set(SELECTION)
    for name in parameters:
        if name in missing:
            raise PluruleError(f"--{name.replace('_', '-')} is not an option of --learner {learner}; {hint}")


def make_lift(value: str | float | None) -> Lift:
    """Return the lift of a name or of a factor for a head of three labels."""
    from plurule.lifts import KLN, find_lift

    if not isinstance(value, float):
        return find_lift(value or "none")
    if not value >= 1:
        raise PluruleError(f"--lift must be at least 1, got {value:g}")
    return KLN.at(LIFTED_LABELS, value)


def show_progress_of(classifier: Any, show: Callable[[float], None]) -> None:
    """Let a classifier report the share of its work that is done."""
    if hasattr(classifier, "lifts"):
        classifier.set_params(verbose=lambda n_done, n_lifts: show(n_done / n_lifts))
    else:
        classifier.set_params(verbose=lambda n_rules, share: show(share))


def read_constraints(path: Path) -> Constraints:
    """Read constraints from a TOML file."""
    from dataclasses import fields

    from plurule import Constraints

    try:
        constraints = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PluruleError(f"{path}: is not a TOML file: {error}") from None
    names = [field.name for field in fields(Constraints)]
    for name in constraints:
        if name not in names:
            raise PluruleError(f"{path}: there is no constraint {name!r}{nearest(name, names)}")
    return Constraints(**constraints)
