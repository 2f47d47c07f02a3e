"""The options that make a learner and constrain it: parameters of `RuleListClassifier` and `Constraints` by name.

The signature of a class or function says what an option takes, its docstring what it means; nothing is written twice. A
command takes them as its `**` argument (`commands.on_demand`) and gives that to `read_values`; inside `told_in_options`
an error about a parameter is told in terms of the option.
"""

from __future__ import annotations

import csv
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from inspect import Parameter as Argument
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from plurule.cli.commands import argument
from plurule.cli.options import EXPERT_PANEL
from plurule.errors import ParameterError, PluruleError

if TYPE_CHECKING:
    from plurule import Constraints, RuleListClassifier
    from plurule.lifts import Lift

SPELLINGS = {
    "n_rules": "--rules",
    "predict_absence": "--absence/--presence-only",
    "n_jobs": "--jobs --n-jobs",
    "k": "--patterns -k",
    "min_precision__threshold": "--min-precision",
    "fix_head__refine_against": "--refine-against",
    "fix_head__counts": "--fixed-head-counts",
}
"""Options that are not called like their parameter."""
NONE = "none"
"""What stands for `None`."""
SYNONYMS = {("n_rules", "all"): NONE}
_QUOTES = "\"'"
PLACEHOLDERS: dict[Any, str] = {int: "N", float: "X", str: "NAME", NoneType: NONE}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a class or function, as its signature and its docstring have it."""

    name: str
    kinds: tuple[Any, ...]
    """Its types, and the words it may be."""
    default: Any
    text: str

    @property
    def spelling(self) -> str:
        """The option, such as `--max-rules`, or `--fix-head/--no-fix-head` where it is either."""
        plain = self.name.removeprefix("heuristic__").replace("__", "-").replace("_", "-")
        return SPELLINGS.get(self.name, f"--{plain}/--no-{plain}" if bool in self.kinds else f"--{plain}")

    @property
    def option(self) -> str:
        """The option as it is called in a sentence."""
        return re.split("[ /]", self.spelling)[0]

    @property
    def placeholder(self) -> str:
        """What the value of the option looks like, such as `N|none`."""
        shown = [kind if isinstance(kind, str) else PLACEHOLDERS.get(kind) for kind in self.kinds]
        return "|".join(dict.fromkeys(filter(None, shown))) or "VALUE"

    def read(self, text: str) -> Any:
        """The value that a text stands for; one that stands for none is left to the estimator to complain about."""
        text = SYNONYMS.get((self.name, text), text)
        if text == NONE and NoneType in self.kinds:
            return None
        for kind in (int, float):
            if kind in self.kinds or Any in self.kinds:
                try:
                    return kind(text)
                except ValueError:
                    continue
        return text


def parameters_of(owner: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a class or function by name."""
    hints = get_type_hints(owner.__init__ if isinstance(owner, type) else owner)  # type: ignore[misc]  # only read
    texts = _described(inspect.getdoc(owner) or "")
    return {
        name: Parameter(name, tuple(_kinds(hints[name])), parameter.default, texts.get(name, ""))
        for name, parameter in inspect.signature(owner).parameters.items()
    }


def _kinds(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    elif isinstance(annotation, type) or not get_args(annotation) or get_origin(annotation) is Callable:
        yield annotation
    else:
        for part in get_args(annotation):
            yield from _kinds(part)


def _described(docstring: str) -> dict[str, str]:
    """The "Parameters" of a numpydoc docstring: what each is, in one line."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n\S|\Z)", docstring, re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^(\w[\w, ]*)(?: :.*)?\n((?:[ \t]+.*\n?|\n)+)", section[1] if section else "", re.MULTILINE)
    return {name: " ".join(text.split()) for names, text in entries for name in names.split(", ")}


def as_options(text: str, parameters: Mapping[str, Parameter]) -> str:
    """Words about parameters, as someone would say them who gives options."""

    def words(quoted: re.Match[str]) -> str:
        name, equals, value = quoted[1].partition("=")
        if name in parameters:
            return parameters[name].option + (f" {value.strip(_QUOTES)}" if equals else "")
        return NONE if quoted[1] == "None" else quoted[1].strip(_QUOTES)

    text = re.sub(r"`([^`]+)`", words, text)
    return re.sub(r"'([\w.-]*)'", r"\1", re.sub(r"\bNone\b", NONE, text))


def read_values(given: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """The values of the options that were given."""
    return {
        name: parameters[name].read(value) if isinstance(value, str) else value
        for name, value in given.items()
        if value is not None
    }


@contextmanager
def told_in_options(parameters: Mapping[str, Parameter]) -> Iterator[None]:
    """In the block, an error about a parameter becomes one about the option."""
    try:
        yield
    except ParameterError as error:
        about = [name for name in parameters if error.owner and name.endswith(f"__{error.parameter}")]
        about += [name for name in parameters if name == error.parameter]
        if not about:
            raise
        option = parameters[about[0]].option
        raise ParameterError(option, error.value, as_options(error.problem, parameters)) from error


def options_of(known: Mapping[str, Parameter], panel: str | None = None) -> list[Any]:
    """The arguments of a function of typer for all that can be said by parameters."""
    made = []
    for parameter in known.values():
        # Whether something is given must be known, so None stands for "not given", and the default is told in words.
        told = {"None": NONE, "True": "yes", "False": "no"}.get(str(parameter.default), parameter.default)
        default = "" if parameter.default is Argument.empty else f"  [default: {told}]"
        option = typer.Option(
            *parameter.spelling.split(),
            help=as_options(parameter.text, known) + default,
            metavar=None if bool in parameter.kinds else parameter.placeholder,
            show_default=False,
            rich_help_panel=panel,
        )
        kind = bool if bool in parameter.kinds else str
        made.append(argument(parameter.name, Annotated[kind | None, option], None))
    return made


# The learner ---------------------------------------------------------------------------------------------------------

NOT_OPTIONS = ("verbose",)
HEIGHT, AT_LABELS = 1.08, 3
"""What a lift is that was asked for by its kind alone."""


@cache
def learner_parameters() -> dict[str, Parameter]:
    """What can be said about the learner, in the order of its signature; parts as scikit-learn names them."""
    from plurule import RuleListClassifier
    from plurule.learning.fixed_head import FixedHead
    from plurule.learning.min_precision import MinPrecision
    from plurule.learning.options import HEURISTICS

    parts: dict[str, list[type]] = {"min_precision": [MinPrecision], "fix_head": [FixedHead]}
    parts["heuristic"] = list(HEURISTICS.values())
    found: dict[str, Parameter] = {}
    for name, parameter in parameters_of(RuleListClassifier).items():
        about = parameter.text.partition(":")[0]
        if name == "heuristic":
            text = f"{about}: auto (what aims at --scoring), {', '.join(HEURISTICS)}."
            found[name] = replace(parameter, kinds=(str,), text=text)
        elif name == "min_precision":
            threshold = f"{name}__threshold"
            found[threshold] = replace(parameter, name=threshold, kinds=(float,), text=f"{about}.")
        elif name == "fix_head":
            found[name] = replace(parameter, kinds=(bool,), text=f"{about.partition(';')[0]}.")
        elif name == "lift":
            text = f"{about}: none, kln, peak or root, also with its height, such as 'kln at 3: 1.08'."
            default = f"kln with k = {parameter.default.k}"
            found[name] = replace(parameter, kinds=(str,), default=default, text=text)
            text = f"How much a head of --lift-at labels is preferred; {HEIGHT} if only --lift is given."
            found["lift_height"] = Parameter("lift_height", (float,), Argument.empty, text)
            text = f"Number of labels that --lift-height is about; {AT_LABELS} if left out."
            found["lift_at"] = Parameter("lift_at", (int,), Argument.empty, text)
        elif name not in NOT_OPTIONS:
            found[name] = parameter
        for part, own in ((part, own) for kind in parts.get(name, ()) for part, own in parameters_of(kind).items()):
            if name == "heuristic":
                text = f"Of {_heuristics_with(part)}: {own.text[:1].lower()}{own.text[1:]}"
                own = replace(own, default=Argument.empty, text=text)
            found.setdefault(f"{name}__{part}", replace(own, name=f"{name}__{part}"))
    return found


def _heuristics_with(part: str) -> str:
    from plurule.learning.options import HEURISTICS

    return " and ".join(name for name, kind in HEURISTICS.items() if part in kind().get_params())


def make_learner(given: Mapping[str, Any], published: bool = False) -> RuleListClassifier:
    """The classifier that options ask for; what is not given is as in the library, or as published."""
    from plurule import RuleListClassifier
    from plurule.learning.options import HEURISTICS, check_heuristic
    from plurule.selection.splitters import find_splitter

    values = read_values(given, learner_parameters())
    height, labels = values.pop("lift_height", None), values.pop("lift_at", None)
    if "lift" in values or height is not None or labels is not None:
        values["lift"] = make_lift(values.get("lift"), height, labels)
    if isinstance(values.get("cv"), str):
        try:
            values["cv"] = find_splitter(values["cv"])
        except PluruleError as error:
            expected = "must be a number of folds, a share between 0 and 1, or a splitter"
            raise ParameterError("cv", values["cv"], f"{expected}: {error}") from None
    deep = {name: values.pop(name) for name in list(values) if "__" in name}
    learner = (RuleListClassifier.published if published else RuleListClassifier)(**values)
    heuristic = check_heuristic(learner.heuristic)
    for owner, _, part in (name.partition("__") for name in deep):
        if owner == "heuristic" and part not in heuristic.get_params():
            other = next(name for name, kind in HEURISTICS.items() if type(heuristic) is kind)
            raise ValueError(f"--{part} is a parameter of {_heuristics_with(part)}, not of {other}")
    # What is said about a fixed head fixes none.
    return learner.set_params(**{n: v for n, v in deep.items() if learner.fix_head or not n.startswith("fix_head")})


def make_lift(name: str | None, height: float | None, labels: int | None) -> Lift:
    """The lift of a name; a kind alone gets a height at a number of labels."""
    from plurule.lifts import KINDS, NoLift, find_lift

    kind = "kln" if name is None else name.strip().lower()
    if kind not in KINDS:
        if height is not None or labels is not None:
            reason = "has no height" if kind == "none" else "says how high it is"
            raise ValueError(f"--lift {name} {reason}; leave out --lift-height and --lift-at")
        return NoLift() if kind == "none" else find_lift(kind)
    if height is not None and not (isinstance(height, float) and height >= 1):
        raise ParameterError.expected("lift_height", height, "at least 1")
    if labels is not None and not isinstance(labels, int):
        raise ParameterError.expected("lift_at", labels, "a whole number")
    return KINDS[kind](AT_LABELS if labels is None else labels, HEIGHT if height is None else height)


# What constrains rules: parameters of `Constraints`, one name or pair at a time --------------------------------------

CONSTRAINTS = {
    "forbid_attribute": "forbidden_attributes",
    "require_attribute": "required_attributes",
    "forbid_pair": "forbidden_label_pairs",
    "require_pair": "required_label_pairs",
    "increasing": "increasing",
    "decreasing": "decreasing",
    "implies": "hierarchy",
    "exactly_one": "exclusive_labels",
}
"""The options, and what they are called in Python."""
METAVARS = {"forbid_pair": "A,B", "require_pair": "A,B", "implies": "LABEL,ABOVE", "exactly_one": "A,B,…"}
METAVARS |= dict.fromkeys(("increasing", "decreasing"), "NAME[,LABEL]")
HELP = {
    "increasing": "An attribute of which more never speaks against a label; without a label, against none.",
    "decreasing": "An attribute of which more never speaks for a label; without a label, for none.",
    "implies": "A label and the one above it in a hierarchy: rules that predict the first predict the second.",
    "exactly_one": "Labels of which exactly one is present in every row: heads say so, and predictions keep to it.",
}


def fit_options() -> list[Any]:
    """The options of `fit` that are parameters of the library: what constrains rules, and what makes the learner."""
    from plurule import Constraints

    known = parameters_of(Constraints)
    made = []
    for name, parameter in CONSTRAINTS.items():
        option = typer.Option(
            help=f"{HELP.get(name) or known[parameter].text} Can be given several times.",
            metavar=METAVARS.get(name, "NAME"),
            rich_help_panel=EXPERT_PANEL,
        )
        made.append(argument(name, Annotated[list[str] | None, option], None))
    said = 'Of attributes of 0 and 1, or no and yes, rules test only what an instance has (no condition no "apple").'
    present = typer.Option("--no-test-absence", help=said, rich_help_panel=EXPERT_PANEL)
    made.append(argument("no_test_absence", Annotated[bool, present], False))
    return [*made, *options_of(learner_parameters(), "Learner")]


def make_constraints(given: dict[str, Any]) -> Constraints | None:
    """What rules must and must not use, which is taken out of what was given; None if nothing is asked of them."""
    from plurule import Constraints

    asked: dict[str, Any] = {name: value for name in CONSTRAINTS if (value := given.pop(name, None))}
    for name in (name for name in asked if name in METAVARS):
        asked[name] = read_names(asked[name], f"--{name.replace('_', '-')}", METAVARS[name])
    asked = {CONSTRAINTS[name]: value for name, value in asked.items()}
    asked |= {"test_absence": False} if given.pop("no_test_absence", False) else {}
    return Constraints(**asked) if asked else None


def read_names(texts: Iterable[str], option: str, form: str) -> list[list[str] | str]:
    """Each two names separated by a comma, the second only if the form asks for it, or more, if it ends with dots.

    A name that holds a comma is put in double quotes, as in CSV files.
    """
    least, pairs = 1 if "[" in form else 2, list[list[str] | str]()
    for text in texts:
        names = [name for line in csv.reader([text], skipinitialspace=True) for name in line]
        counted = least <= len(names) and (len(names) <= 2 or form.endswith("…"))
        if not counted or len(set(names)) < len(names) or not all(names):
            what = f"expected {form}, different names separated by a comma (one that holds a comma in double quotes)"
            raise ValueError(f"{option} {text}: {what}")
        pairs.append(names if len(names) > 1 else names[0])
    return pairs
