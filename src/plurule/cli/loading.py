"""Data and models: the arguments and options that name them, and how they are loaded."""

from __future__ import annotations

import glob
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plurule.errors import DataError, ModelError, nearest

if TYPE_CHECKING:
    from plurule.data import Dataset
    from plurule.model import Rule, RuleList

# Arguments and options that several commands share -------------------------------------------------------------------

EMBEDDED = {"world-flags": "load_world_flags", "canteen-dishes": "load_canteen_dishes"}
"""Data sets that every command knows by name, and the functions of `plurule.datasets` that load them."""
_NAMES = " or ".join(EMBEDDED)
STANDARD_INPUT = ("-", "/dev/stdin")
DISTINCT_SHARE = 0.9
FEWEST_VALUES = 20
"""A nominal column with more categories than this share of its values, and so many at least, is an ID or free text."""
_COLUMNS = "names or patterns separated by commas, first:3, last:3, or a Mulan XML file."

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"Data file (CSV, Parquet, ARFF), - for CSV from standard input, or an included data set: {_NAMES}.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, written by plurule fit.")]
OnData = Annotated[str | None, typer.Option("--data", "-d", metavar="DATA", help="Data to evaluate the rules on.")]
Labels = Annotated[
    list[str] | None,
    typer.Option("--labels", "-l", metavar="LABELS", help=f"Columns that are labels: {_COLUMNS} Repeatable."),
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="Separator of several labels in one column, such as ';' in billing;refund."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to keep though nearly every row has its own value; repeatable."),
]
Drop = Annotated[list[str] | None, typer.Option(metavar="COLUMN", help="Column to ignore, such as an ID; repeatable.")]
Decimal = Annotated[str, typer.Option(metavar=".|,", help="Decimal separator of CSV files.")]
Identifier = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="ID column to copy to the output.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
output_option = partial(typer.Option, "--output", "-o", metavar="FILE", writable=True)
Output = Annotated[Path | None, output_option(help="File to write. Default: standard output.")]


# Loading -------------------------------------------------------------------------------------------------------------


def join_labels(labels: Sequence[str] | None) -> str | None:
    """Return all that was given as --labels as one text."""
    return ",".join(labels) if labels else None


def load_data(source: str, labels: Any = None, drop: Sequence[str] | None = None, **options: Any) -> Dataset:
    """Load a data set; `labels` is the text of an option, a list of names, or None for those that the data declare."""
    from plurule import datasets
    from plurule.data import read
    from plurule.data.labels import parse_labels

    if source in EMBEDDED:
        if isinstance(labels, str):
            raise DataError(f"{source}: has its own labels; leave out --labels")
        return getattr(datasets, EMBEDDED[source])()
    columns = parse_labels(labels) if isinstance(labels, str) else labels
    if source not in STANDARD_INPUT:
        return read(source, labels=columns, drop=drop or (), **options)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "stdin.csv"
        path.write_bytes(sys.stdin.buffer.read())
        return read(path, labels=columns, drop=drop or (), **options)


def load_training_data(
    source: str, labels: str | None, drop: Sequence[str] | None, keep: Sequence[str] | None, **options: Any
) -> Dataset:
    """Load data to learn from, without nominal columns of which nearly every row has its own value."""
    from plurule.data.labels import matching
    from plurule.data.reading import Place

    data = load_data(source, labels, drop, **options)
    kept = set(matching(data.attribute_names, keep or (), Place(source)))
    identifiers = [i for i in _identifiers(data) if i not in kept]
    if not identifiers:
        return data
    names = ", ".join(repr(data.attribute_names[i]) for i in identifiers)
    hint = f"--keep {data.attribute_names[identifiers[0]]!r} keeps a column"
    warnings.warn(f"left out, since nearly every row has its own value: {names} ({hint})", stacklevel=2)
    return replace(data, X=data.X.without(identifiers))


def _identifiers(data: Dataset) -> list[int]:
    """Return the positions of nominal columns with nearly as many categories as rows: IDs and free text."""
    positions = []
    for i, attribute in enumerate(data.attributes):
        if attribute.categories is not None and len(attribute.categories) >= FEWEST_VALUES:
            n_known = int((data.X.column(i) >= 0).sum())
            if len(attribute.categories) > DISTINCT_SHARE * n_known:
                positions.append(i)
    return positions


def load_attributes(source: str, **options: Any) -> Dataset:
    """Load all columns of a data set as attributes; a model uses those that it knows by name."""
    from plurule.data import Dataset

    data = load_data(source, [], **options)
    return Dataset.unlabelled(data.X, row_names=data.row_names)


def load_model(path: Path) -> RuleList:
    """Load a model file."""
    from plurule.model import RuleList

    return RuleList.load(path)


def load_model_and_data(
    model: Path, source: str | None, decimal: str = ".", identifier: str | None = None
) -> tuple[RuleList, Dataset | None]:
    """Load a model, and data with the labels of the model, or without labels if the data have none of them."""
    rule_list = load_model(model)
    if source is None:
        return rule_list, None
    data = load_with_labels(source, rule_list, decimal=decimal, **id_options(rule_list, identifier))
    if not data.label_names:
        warnings.warn(f"{source} has none of the labels of the model, so no scores are computed", stacklevel=2)
    return rule_list, data


def load_with_labels(source: str, rule_list: RuleList, is_required: bool = False, **options: Any) -> Dataset:
    """Load data with the labels of a model: a column each, or one column of several labels in each row.

    Data that have none of them are loaded without labels, unless these are required.
    """
    from plurule.data.labels import find_label_sets

    try:
        return load_data(source, list(rule_list.labels), **options)
    except DataError as error:
        if source in STANDARD_INPUT:
            raise
        try:
            data = load_attributes(source, **options)
        except DataError:
            raise error from None
        if set(rule_list.labels) & set(data.attribute_names):
            # Data with some of the labels are meant to have them all.
            raise
        labelled = find_label_sets(data, rule_list.labels)
        if labelled is None and is_required:
            raise
        return labelled or data


def id_options(rule_list: RuleList, column: str | None) -> dict[str, Any]:
    """Return reading options that keep the text of an ID column, unless rules compare it as a number."""
    tested = {rule_list.attributes[i].name for i in rule_list.tested_attributes()}
    return {} if column is None or column in tested else {"nominal": (column,)}


def ids_of(data: Dataset, column: str | None) -> list[Any] | None:
    """Return the values of an ID column, whole numbers as such; None if no column is named."""
    if column is None:
        return None
    table = data.X
    if column not in table.names:
        raise DataError(f"--id {column}: the data have no such column{nearest(column, table.names)}")
    index = table.names.index(column)
    values = table.column(index).tolist()
    categories = table.attributes[index].categories
    if categories is not None:
        return ["" if code < 0 else categories[code] for code in values]
    return [int(value) if value.is_integer() else value for value in values]


def describer(dictionary: Path | None, data: Any, dropped: Sequence[str]) -> Callable[[RuleList], RuleList]:
    """Return a function that adds a data dictionary to a rule list; unknown names are an error before learning."""
    if dictionary is None:
        return lambda rule_list: rule_list
    from fnmatch import fnmatchcase

    from plurule.data.dictionary import apply_dictionary, read_dictionary
    from plurule.model import RuleList

    names = read_dictionary(dictionary)[1]
    ignored = [name for name in names if any(fnmatchcase(name, pattern) for pattern in dropped)]
    apply_dictionary(RuleList((), tuple(data.attributes), tuple(data.label_names)), dictionary, ignore=ignored)
    return lambda rule_list: apply_dictionary(rule_list, dictionary, ignore=ignored)


def load_initial_rules(path: Path | None, data: Any) -> tuple[Rule, ...]:
    """Load rules about some data from a text file with one rule per line, or from a model file."""
    from plurule._learning.initial_rules import as_initial_rules
    from plurule.model.file import loads
    from plurule.model.text import RuleTextError

    if path is None:
        return ()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is neither rules as UTF-8 text nor a model file") from None
    # A model file is a JSON object with members; the text of a rule never begins so.
    is_model = re.match(r'\s*{\s*"', text) is not None
    content = loads(text, source=str(path)) if is_model else text
    try:
        rules = as_initial_rules(content, data.attributes, data.label_names)
    except RuleTextError as error:
        raise error.within(str(path)) from None
    except ModelError as error:
        raise ModelError(f"{path}, {error}") from None
    if not rules:
        raise ModelError(f"{path}: contains no rules; write one per line, such as: red <- stripes > 2 and cross = no")
    return rules


# Large data ----------------------------------------------------------------------------------------------------------

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
EXPANSION = {".parquet": 5, ".pq": 5}
"""Memory that data need, as a multiple of their size on disk, by format; 2 for all others."""


def load_or_scan(
    source: str,
    labels: str | None,
    drop: Sequence[str],
    decimal: str,
    memory: str | None,
    dask: str | None,
    label_separator: str | None = None,
    keep: Sequence[str] | None = None,
) -> Any:
    """Return a data set, or data that are read in parts if they are large; on a cluster if `dask` is its address."""
    from plurule.data.labels import parse_labels

    limit = parse_size(memory)
    paths = [path for path in map(Path, glob.glob(source)) if path.is_file()]
    needed = sum(path.stat().st_size * EXPANSION.get(path.suffix.lower(), 2) for path in paths)
    is_pattern = glob.has_magic(source) and not Path(source).exists()
    if dask is None and not is_pattern and needed <= limit:
        return load_training_data(source, labels, drop, keep, decimal=decimal, label_separator=label_separator)
    if label_separator is not None:
        raise typer.BadParameter("--label-separator is for data in memory; give a larger --memory")
    from plurule._rows.scan import CHUNK, scan

    columns = None if labels is None else parse_labels(labels)
    chunk = max(1 << 16, min(CHUNK, limit // 32))
    data: Any = scan(source, columns, chunk=chunk, drop=drop, decimal=decimal)
    if dask is not None:
        from plurule._rows.dask import parts_on_cluster

        data = parts_on_cluster(dask, data.parts())
    return data


def parse_size(text: str | None) -> int:
    """Return a size such as 2GB in bytes; half of the memory of this machine for None."""
    if text is None:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 8 * 10**9
        return pages // 2
    match = re.fullmatch(r"([0-9]+(?:[.][0-9]+)?) *([KMGT]?B)", text.strip().upper())
    if match is None:
        raise typer.BadParameter(f"{text!r} is not a size; write for example 500MB or 2GB", param_hint="--memory")
    return int(float(match[1]) * UNITS[match[2]])
