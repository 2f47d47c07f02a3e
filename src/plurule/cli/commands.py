"""Commands made of plain functions: `options` has what their arguments are called and what their help says."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand

from plurule.cli.options import described
from plurule.cli.terminal import check_writable

SETTINGS: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
"""What all applications of typer have in common."""

MOST_BESIDE = 24
"""Options that are longer than this have their text on the next line."""

EMPTY = inspect.Parameter.empty


def argument(name: str, annotation: Any, default: Any = EMPTY) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def described_argument(command: str, name: str, kind: Any, default: Any = EMPTY) -> inspect.Parameter:
    """An argument of a command, with what is known of it."""
    known = described(command, name, default is EMPTY)
    return argument(name, kind if known is None else Annotated[kind, known], default)


def arguments_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The arguments of a function, with what is known of them, without its `**`."""
    hints = get_type_hints(function)
    return [
        described_argument(function.__name__, parameter.name, hints[parameter.name], parameter.default)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def with_arguments(function: Callable[..., None], arguments: Iterable[inspect.Parameter]) -> Callable[..., None]:
    """The same function as one with these keyword arguments, for typer to read; what it writes to is checked first."""
    signature = inspect.Signature(list(arguments))
    known = {name: get_args(one.annotation)[1:] for name, one in signature.parameters.items()}
    files = [name for name, about in known.items() if any(getattr(one, "writable", False) for one in about)]

    @wraps(function)
    def run(**values: Any) -> None:
        check_writable(*(values[name] for name in files if values.get(name) is not None))
        function(**values)

    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    del run.__wrapped__  # typer would read the annotations of the original
    return run


def as_command(function: Callable[..., None]) -> Callable[..., None]:
    """A function as typer reads it."""
    return with_arguments(function, arguments_of(function))


def refuse(context: typer.Context, beside: str, reasons: Mapping[str, str]) -> None:
    """Raise an error if the user gave one of some options, which have no meaning for the given reasons."""
    for name, reason in reasons.items():
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE":
            raise ValueError(f"--{name} has no meaning {beside}: {reason}; leave out one of the two")


def on_demand(function: Callable[..., None], options: Callable[[], Iterable[inspect.Parameter]]) -> type[TyperCommand]:
    """A kind of command that gets the options in the place of its `**` when it is run.

    So `plurule --help` need not wait for what the options are made from.
    """

    class OnDemand(TyperCommand):
        def make_context(self, *arguments: Any, **extra: Any) -> Any:
            app = typer.Typer(**SETTINGS)
            app.command(self.name, cls=Sections)(with_arguments(function, [*arguments_of(function), *options()]))
            return typer.main.get_command(app).make_context(*arguments, **extra)

    return OnDemand


class Sections(TyperCommand):
    """A command whose help has a section for each panel of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or kind, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([(option, _unbroken(text)) for option, text in records], col_max=MOST_BESIDE)
        formatter.buffer[:] = [text.translate(_BREAKABLE) for text in formatter.buffer]


_BREAKABLE = {ord("\u2011"): "-", ord("\xa0"): " "}
"""Signs at which no line ends, and those they stand for."""


def _unbroken(text: str) -> str:
    """Text of which nothing is broken at a hyphen, nor a default from its name."""
    return re.sub(r"\[[^]]*\]$", lambda end: end[0].replace(" ", "\xa0"), text).replace("-", "\u2011")
