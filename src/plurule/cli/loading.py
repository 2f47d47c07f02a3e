"""The data and models that commands are given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from plurule.data import Dataset
    from plurule.data.table import Table
    from plurule.model import Rule, RuleList

OBJECT = re.compile(r'\s*{\s*"')
"""How a model file begins, and no text of a rule that was printed."""

EMBEDDED = "world-flags"
"""The name by which the embedded data can be given to every command."""

DataArgument = Annotated[
    str,
    typer.Argument(metavar="DATA", help=f"Data file (CSV, ARFF, …), base name of a -train/-test pair, or {EMBEDDED}."),
]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, as written by plurule fit.")]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        "--labels",
        "-l",
        help="Which columns are labels: names or patterns separated by commas, first:3, last:3, or a Mulan XML file.",
        show_default=False,
    ),
]
SplitOption = Annotated[Literal["train", "test", "all"], typer.Option(help="Which part of a -train/-test pair.")]
TrainingSplitOption = Annotated[
    Literal["train", "test", "all"] | None,
    typer.Option(help="Which part of a -train/-test pair; the training part if left out.", show_default=False),
]
Split = Literal["train", "test", "all"]


def load_data(source: str, labels: str | None, split: Split = "all") -> Dataset:
    """A data set with the labels that were asked for."""
    from plurule.data import read
    from plurule.data.labels import parse_labels

    if source == EMBEDDED:
        return _embedded(split) if labels is None else _refuse_labels()
    return read(source, labels=None if labels is None else parse_labels(labels), split=split)


def load_labelled(source: str, labels: Sequence[str], split: Split = "all") -> Dataset:
    """A data set with exactly the labels of a model."""
    from plurule.data import read

    return _embedded(split) if source == EMBEDDED else read(source, labels=list(labels), split=split)


def load_attributes(source: str, split: Split = "all") -> Table:
    """All columns of a data set, labels or not; a model picks those it wants by name."""
    from plurule.data import read

    return _embedded(split).X if source == EMBEDDED else read(source, labels=[], split=split).X


def load_model(path: Path) -> RuleList:
    """The rule list of a model file."""
    from plurule.model import file as model_file

    return model_file.load(path)


def load_initial_rules(path: Path, data: Dataset) -> tuple[Rule, ...]:
    """The rules of a text file, one per line, or of a model file, as rules about some data."""
    from plurule.errors import ModelError
    from plurule.learning.constraints import as_initial_rules
    from plurule.model import file as model_file
    from plurule.model.text import RuleTextError

    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is neither rules as UTF-8 text nor a model file") from None
    rules = model_file.loads(text, source=str(path)) if OBJECT.match(text) else text
    try:
        found = as_initial_rules(rules, data.X.attributes, data.label_names)
    except RuleTextError as error:
        raise error.within(str(path)) from None
    except ModelError as error:
        raise ModelError(f"{path}, {error}") from None
    if not found:
        raise ModelError(f"{path}: holds no rules; write one per line, such as: red <- stripes > 2 and cross = no")
    return found


def save_model(rule_list: RuleList, path: Path) -> None:
    """Write a model file."""
    from plurule.model import file as model_file

    model_file.save(rule_list, path)


def check_writable(path: Path) -> None:
    """Raise an error now if a file could not be written after a long training."""
    from plurule.errors import ModelError

    if path.is_dir():
        raise ModelError(f"{path}: is a folder; give the name of a file to write")
    if not path.parent.is_dir():
        raise ModelError(f"{path}: there is no folder {path.parent}; create it first")


def _embedded(split: Split) -> Dataset:
    from plurule.datasets import load_world_flags
    from plurule.errors import DataError

    if split != "all":
        raise DataError(f"{EMBEDDED}: is one whole data set, --split {split} needs a -train and a -test file")
    return load_world_flags()


def _refuse_labels() -> Dataset:
    from plurule.errors import DataError

    raise DataError(f"{EMBEDDED}: has its own labels; leave out --labels")
