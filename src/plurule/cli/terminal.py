"""Output of the commands on a terminal, in pipes and in files: tables, help pages, errors as one sentence."""

from __future__ import annotations

import glob
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from plurule._files import atomic_write, encode_utf8, write_text, write_unless_changed
from plurule.errors import ModelError, ParameterError, PluruleError

if TYPE_CHECKING:
    from plurule.inspection.evidence import Evidence
    from plurule.model import Rule, RuleList

THRESHOLD_DIGITS = 6
"""Digits of thresholds in tables; `plurule show --plain` prints all of them."""


def rule_table(rule_list: RuleList, positions: Sequence[int], evidence: Sequence[Evidence] = ()) -> Table:
    """Return a table of the rules at the given positions, with the evidence of each rule on data if there is some."""
    from plurule.model.condition import format_count

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("#", justify="right", style="dim", no_wrap=True)
    table.add_column("labels", overflow="fold")
    table.add_column(visible("← conditions"), overflow="fold")
    for name in ("right", "precision (95 %)") if evidence else ("TP", "FP"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("in training", justify="right")
    table.add_column("", no_wrap=True)
    counted_where = "right/wrong in training" if evidence else "right/wrong"
    for position in positions:
        rule = rule_list[position]
        counted = [format_count(rule.tp), format_count(rule.fp)]
        if evidence:
            counts = evidence[position]
            precision = f"{counts.precision:.2f} ({counts.low:.2f}-{counts.high:.2f})" if counts.decided else "-"
            counted = [f"{format_count(counts.right)} of {format_count(counts.decided)}", precision]
        in_training = f"{rule.precision:.2f}" if rule.tp + rule.fp > 0 else "-"
        stop = Text("stop" if rule.stop else "", style="dim")
        conditions = body_text(rule)
        by_label = rule.counts_by_label()
        if by_label:
            conditions = Text.assemble(conditions, "\n", (f"{counted_where}: {visible(by_label)}", "dim"))
        table.add_row(str(position + 1), head_text(rule), conditions, *counted, in_training, stop)
    return table


def head_text(rule: Rule) -> Text:
    """Return the labels of a head, present ones in green and absent ones in red."""
    parts = [Text(visible(str(a)), style="green" if a.present else "red") for a in rule.head.stated]
    return Text(", ").join(parts)


def body_text(rule: Rule) -> Text:
    """Return the conditions of a body, thresholds with a few digits."""
    conditions = [visible(condition.text(THRESHOLD_DIGITS)) for condition in rule.body]
    return Text(visible(" ∧ ").join(conditions)) if conditions else Text("(always)", style="dim")


def characteristics(rule_list: RuleList) -> Table:
    """Return a table of the sizes of a model."""
    from plurule.metrics import CHARACTERISTICS

    return column_table(CHARACTERISTICS, {"": rule_list.characteristics()}, digits=2)


def write_model(out: Console, rule_list: RuleList, output: Path, **unchanged: bytes | None) -> None:
    """Write a model, and print how to look at it; with `before`, only if the file still has that content."""
    from plurule.model.file import dumps

    text = dumps(rule_list)
    if unchanged and not is_standard_output(output):
        write_unless_changed(output, text, **unchanged)
    else:
        write_output(text, output)
    if not is_standard_output(output):
        out.print(Text(f"Written to {output}; look at it with: plurule show {output}"), soft_wrap=True)


def column_table(rows: Mapping[str, str], columns: Mapping[str, Mapping[str, Any]], digits: int = 3) -> Table:
    """Return a table of numbers: one line per key of `rows`, one column per model (a single one may be unnamed)."""
    table = Table("", box=None, pad_edge=False, header_style="dim", show_header=any(columns))
    for name in columns:
        table.add_column(name, justify="right", no_wrap=" " not in name)
    for key, title in rows.items():
        if any(key in values for values in columns.values()):
            table.add_row(title, *(number(values[key], digits) if key in values else "" for values in columns.values()))
    return table


def number(value: float, digits: int) -> str:
    """Return counts as they are, measured values with the given number of digits."""
    return str(value) if isinstance(value, int) else f"{value:.{digits}f}"


EXIT_CODE = 2
"""Exit code of mistakes that the user can fix, the same as for a wrong option."""
INTERRUPTED = 130
"""Exit code after Ctrl-C."""
STANDARD_OUTPUT = Path("-")
SETTINGS: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
"""Settings of all typer applications."""

WIDTH_IN_A_PIPE = 200
"""Text for a file or another program is not truncated at the width of a terminal."""

_DEBUG = "--debug"
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that control a terminal, change the direction of writing, or cannot be encoded."""


# Text ----------------------------------------------------------------------------------------------------------------


def visible(text: str) -> str:
    """Return text in which no name can control the terminal."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def echo(text: object, stderr: bool = False) -> None:
    """Print text for people; on a terminal, long lines are wrapped between words."""
    stream = sys.stderr if stderr else sys.stdout
    console(stderr).print(Text(str(text)), soft_wrap=not stream.isatty())


class _VisibleConsole(Console):
    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console(stderr: bool = False) -> Console:
    """Return the console of results (standard output) or of notes and progress (standard error)."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_IN_A_PIPE
    return _VisibleConsole(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


# Files ---------------------------------------------------------------------------------------------------------------


def is_standard_output(output: Path | None) -> bool:
    """Return whether the output file is `-`, so that text for people has to go to standard error."""
    return output == STANDARD_OUTPUT


def check_output(output: Path | None, *inputs: str | Path | None) -> None:
    """Raise an error before the work starts if the output file cannot be written or is one of the inputs."""
    if output is None or is_standard_output(output):
        return
    if output.is_dir():
        raise ModelError(f"{output}: is a folder; give the name of a file to write")
    if not output.parent.is_dir():
        raise ModelError(f"{output}: there is no folder {output.parent}; create it first")
    names = [str(source) for source in inputs if source is not None]
    paths = [path for name in names for path in (name, *glob.glob(name)) if os.path.isfile(path)]
    if output.is_file() and any(os.path.samefile(output, path) for path in paths):
        raise ModelError(f"{output}: is an input of this command and would be overwritten; choose another output file")


def write_output(content: str | bytes, output: Path | None, wrap: bool = False) -> None:
    """Write text and a final line end to a file or to standard output, wrapped between words on a terminal.

    Bytes are written as they are, but not to a terminal.
    """
    if isinstance(content, bytes):
        if (output is None or is_standard_output(output)) and sys.stdout.isatty():
            raise PluruleError("this format is not for a terminal; give a file with -o")
        with atomic_write(STANDARD_OUTPUT if output is None else output) as temporary:
            temporary.write_bytes(content)
        return
    text = content if content.endswith("\n") else content + "\n"
    if output is not None and not is_standard_output(output):
        write_text(output, text)
    elif sys.stdout.isatty():
        console().print(Text(text), end="", soft_wrap=not wrap)
    else:
        # Another program gets the same bytes as a file.
        sys.stdout.flush()
        sys.stdout.buffer.write(encode_utf8(text))
        sys.stdout.buffer.flush()


# Help and options ----------------------------------------------------------------------------------------------------


class Command(TyperCommand):
    """A command whose help has a section per panel of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                help_text = getattr(parameter, "help", None) or ""
                sections.setdefault("Arguments", []).append((parameter.metavar or "", help_text))
                continue
            record = parameter.get_help_record(ctx)
            if record is not None:
                panel = getattr(parameter, "rich_help_panel", None) or "Options"
                sections.setdefault(panel, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([(option, _unbreakable(text)) for option, text in records], col_max=24)
        formatter.buffer[:] = [text.translate(_BREAKABLE) for text in formatter.buffer]


_BREAKABLE = {ord("\u2011"): "-", ord("\xa0"): " "}
"""Characters at which no line is broken, and those that they replace."""


def _unbreakable(text: str) -> str:
    """Return text in which no line is broken at a hyphen or within the default value."""
    return re.sub(r"\[[^]]*\]$", lambda end: end[0].replace(" ", "\xa0"), text).replace("-", "\u2011")


def options_on_command_line(context: typer.Context) -> list[str]:
    """Return the names of the parameters that the user gave on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return [name for name, source in sources.items() if getattr(source, "name", "") == "COMMANDLINE"]


# Errors --------------------------------------------------------------------------------------------------------------


class Program(TyperGroup):
    """The whole program: Ctrl-C ends every command with one line."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            console(stderr=True).print(Text("Interrupted; no output was written.", style="yellow"))
            raise typer.Exit(INTERRUPTED) from None


def run(app: typer.Typer, arguments: Sequence[str] | None = None) -> None:
    """Run a typer application as the whole program.

    A mistake that the user can fix (a damaged file, an unknown name, a full disk) becomes one red line on standard
    error and exit code 2; a warning becomes one yellow line, once. With `--debug` anywhere among the arguments, or
    PLURULE_DEBUG set, errors keep their traceback.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = _DEBUG in words or bool(os.environ.get("PLURULE_DEBUG"))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.showwarning = _note_printer()
        try:
            app(args=[word for word in words if word != _DEBUG], standalone_mode=True, prog_name="plurule")
        except (PluruleError, OSError, ImportError, ValueError, OverflowError, MemoryError) as error:
            if debug:
                raise
            if isinstance(error, BrokenPipeError):
                # The reader of our output has ended, as `head` does.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(1)
            fail(_sentence(error))


def fail(message: str) -> None:
    """End the program with a red line."""
    console(stderr=True).print(Text(f"Error: {message}", style="red"), soft_wrap=not sys.stderr.isatty())
    sys.exit(EXIT_CODE)


def _sentence(error: Exception) -> str:
    """Return what an error says, about options instead of parameters."""
    from plurule.model.text import RuleTextError

    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})" if str(error) else "not enough memory"
    if isinstance(error, RuleTextError):
        # Its last line points at the place in the line before.
        return str(error)
    if isinstance(error, ParameterError) and error.owner is None:
        problem = re.sub(r"'([\w.-]*)'", r"\1", error.problem)
        option = error.parameter.replace("_", "-")
        return f"--{option} {re.sub(r'None', 'none', problem)}"
    return " ".join(str(error).split("\n")) or type(error).__name__


def _note_printer() -> Callable[..., None]:
    """Return a function that prints each warning for users once."""
    printed = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, UserWarning) and str(message) not in printed:
            printed.add(str(message))
            console(stderr=True).print(Text(f"Note: {message}", style="yellow"), soft_wrap=True)

    return show
