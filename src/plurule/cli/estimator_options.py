"""Options of a command that are the parameters of an estimator.

The signature of the estimator says what an option takes, its docstring what it means; nothing is written twice. A
command takes them as its `**` argument (`commands.on_demand`) and gives that to `read_values`; inside `told_in_options`
an error about a parameter is told in terms of the option.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from plurule.cli.commands import argument
from plurule.errors import ParameterError

SPELLINGS = {"n_rules": "--rules", "predict_absence": "--absence/--presence-only", "n_jobs": "--jobs"}
"""Options that are not called like their parameter."""

NONE = "none"
"""What stands for `None`."""

SYNONYMS = {("n_rules", "all"): NONE}

PLACEHOLDERS: dict[Any, str] = {int: "N", float: "X", str: "NAME", NoneType: NONE}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a class, as its signature and its docstring have it."""

    name: str
    kinds: tuple[Any, ...]
    """Its types, and the words it may be."""
    default: Any
    text: str
    part: str = ""
    """Where it is a parameter of a parameter, its class and its name there, such as `MinPrecision.of`."""

    @property
    def spelling(self) -> str:
        """The option, such as `--max-rules`, or `--fix-head/--no-fix-head` where it is either."""
        plain = self.name.replace("_", "-")
        return SPELLINGS.get(self.name, f"--{plain}/--no-{plain}" if bool in self.kinds else f"--{plain}")

    @property
    def option(self) -> str:
        """The option as it is called in a sentence."""
        return self.spelling.partition("/")[0]

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


def parameters_of(owner: type) -> dict[str, Parameter]:
    """The parameters of a class by name.

    >>> from plurule import RuleListClassifier
    >>> width = parameters_of(RuleListClassifier)["beam_width"]
    >>> width.option, width.placeholder, width.default, width.text
    ('--beam-width', 'N', 1, 'How many rules are refined side by side, at most 1000.')
    """
    hints = get_type_hints(owner.__init__)  # type: ignore[misc]  # the signature is what is asked for
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
    """Words about parameters, as someone would say them who gives options.

    >>> from plurule import RuleListClassifier
    >>> as_options('`"auto"` or `None`; see `n_rules="auto"`', parameters_of(RuleListClassifier))
    'auto or none; see --rules auto'
    """

    def words(quoted: re.Match[str]) -> str:
        name, equals, value = quoted[1].partition("=")
        if name in parameters:
            return parameters[name].option + (f" {value.strip(_QUOTES)}" if equals else "")
        return NONE if quoted[1] == "None" else quoted[1].strip(_QUOTES)

    text = re.sub(r"`([^`]+)`", words, text)
    return re.sub(r"'([\w.-]*)'", r"\1", re.sub(r"\bNone\b", NONE, text))


_QUOTES = "\"'"


def make_options(parameters: Iterable[Parameter], known: Mapping[str, Parameter], panel: str) -> list[Any]:
    """The arguments of a function of typer for options with these parameters."""
    made = []
    for parameter in parameters:
        # Whether something is given must be known, so None stands for "not given", and the default is told in words.
        told = {"None": NONE, "True": "yes", "False": "no"}.get(str(parameter.default), parameter.default)
        default = "" if parameter.default is inspect.Parameter.empty else f"  [default: {told}]"
        option = typer.Option(
            parameter.spelling,
            help=as_options(parameter.text, known) + default,
            metavar=None if bool in parameter.kinds else parameter.placeholder,
            show_default=False,
            rich_help_panel=panel,
        )
        kind = bool if bool in parameter.kinds else str
        made.append(argument(parameter.name, Annotated[kind | None, option], None))
    return made


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
        parts = {parameter.part: parameter for parameter in parameters.values()}
        about = parts.get(f"{error.owner}.{error.parameter}") or parameters.get(error.parameter)
        if about is None:
            raise
        raise ParameterError(about.option, error.value, as_options(error.problem, parameters)) from error
