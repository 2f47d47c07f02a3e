"""The data and models that commands are given."""

from __future__ import annotations

import glob
import os
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from plurule.cli.options import EMBEDDED
from plurule.errors import DataError, ModelError, nearest
from plurule.model import Rule, RuleList
from plurule.model import file as model_file
from plurule.model.text import RuleTextError

if TYPE_CHECKING:
    from plurule.data import Dataset

OBJECT = re.compile(r'\s*{\s*"')
"""How a model file begins, and no text of a rule that was printed."""

Split = Literal["train", "test", "all"]


def load_data(source: str, labels: Any = None, split: Split = "all", **options: Any) -> Dataset:
    """A data set with the labels that were asked for, as text or by name; those it has itself if none were."""
    from plurule.data import read
    from plurule.data.labels import parse_labels
    from plurule.datasets import load_world_flags

    if source != EMBEDDED:
        return read(source, labels=parse_labels(labels) if isinstance(labels, str) else labels, split=split, **options)
    if isinstance(labels, str):
        raise DataError(f"{EMBEDDED}: has its own labels; leave out --labels")
    if split != "all":
        raise DataError(f"{EMBEDDED}: is one whole data set, --split {split} needs a -train and a -test file")
    return load_world_flags()


UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
IN_MEMORY = {".parquet": 5, ".pq": 5}
"""About how much more memory than disk a file needs; twice as much, unless listed."""


def large_data(source: str, labels: str | None, memory: str | None, dask: str | None, **options: Any) -> Any:
    """Data that are read in parts, here or by the workers of a cluster; None for data that are read as a whole."""
    from plurule.data.labels import parse_labels
    from plurule.data.readers.text import suffix_of

    limit = _bytes(memory)
    files = [path for path in map(Path, glob.glob(source)) if path.is_file()]
    needed = sum(path.stat().st_size * IN_MEMORY.get(suffix_of(path), 2) for path in files)
    if dask is None and not (glob.has_magic(source) and not Path(source).exists()) and needed <= limit:
        return None
    from plurule.distributed.scan import CHUNK, scan

    asked = parse_labels(labels) if labels is not None else None
    data = scan(source, asked, chunk=max(1 << 16, min(CHUNK, limit // 32)), **options)
    if dask is None:
        return data
    from plurule.distributed.dask_data import parts_on_cluster

    return parts_on_cluster(dask, data.parts())


def keep_to_parts(data: Any, checkpoint: Path | None, cache: Path | None, needs_whole: bool) -> None:
    """Refuse what does not go with data that are read in parts, or as a whole, for which they are None."""
    for name, given in (("--checkpoint", checkpoint), ("--cache", cache)):
        if data is None and given is not None:
            raise typer.BadParameter(f"{name} is for data that are read in parts; see --memory")
    if data is not None and needs_whole:
        raise typer.BadParameter("--choose-lift and --split need data that are read as a whole")
    if cache is not None and not hasattr(data, "cache"):
        raise typer.BadParameter("--cache is for this machine; with --dask, the workers hold the binned columns")
    if data is not None:
        data.checkpoint, data.cache = checkpoint, cache


def _bytes(size: str | None) -> int:
    """A size as people write it; half of this machine's memory if there is none."""
    if size is None:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 8 * 10**9
        return pages // 2
    found = re.fullmatch(r"([0-9]+(?:[.][0-9]+)?) *([KMGT]?B)", size.strip().upper())
    if found is None:
        raise typer.BadParameter(f"{size!r} is no size; write for example 500MB or 2GB", param_hint="--memory")
    return int(float(found[1]) * UNITS[found[2]])


def load_training_data(source: str, labels: str | None, split: Split | None, **options: Any) -> tuple[Dataset, Split]:
    """A data set to learn from, and which part of it that is: unless said otherwise the training part of a pair."""
    part = split or training_part(source)
    return load_data(source, labels, part, **options), part


def training_part(source: str) -> Split:
    """The part of a data set to learn from: the training part of a pair, else everything."""
    from plurule.data.finding import find

    return "train" if source != EMBEDDED and find(Path(source)).train is not None else "all"


def new_part(source: str) -> Split:
    """The part of a data set to try a model on: the test part of a pair, else everything."""
    return "test" if training_part(source) == "train" else "all"


def load_attributes(source: str, split: Split = "all", **options: Any) -> Dataset:
    """All columns of a data set, labels or not; a model picks those it wants by name."""
    from plurule.data import Dataset

    data = load_data(source, [], split, **options)
    return Dataset.unlabelled(data.X, row_names=data.row_names)


def id_options(rule_list: RuleList, column: str | None) -> dict[str, Any]:
    """How to read data so that what the column says is kept to the letter, unless rules compare it as a number."""
    tested = {rule_list.attributes[i].name for i in rule_list.tested_attributes()}
    return {} if column is None or column in tested else {"text": "keep", "nominal": (column,)}


def ids_of(data: Dataset, column: str | None) -> list[Any] | None:
    """What a column says of each row: texts, or numbers, whole ones as such; None if no column is named."""
    if column is None:
        return None
    table = data.X
    if column not in table.names:
        raise DataError(f"--id {column}: the data have no such column{nearest(column, table.names)}")
    index = table.names.index(column)
    values, categories = table.column(index).tolist(), table.attributes[index].categories
    if categories is not None:
        return ["" if code < 0 else categories[code] for code in values]
    return [int(value) if value.is_integer() else value for value in values]


def load_model_and_data(
    model: Path, source: str | None, split: Split, decimal: str = ".", identifier: str | None = None
) -> tuple[RuleList, Dataset | None]:
    """A model, and data with its labels, or only with its attributes if the data has none of the labels."""
    rule_list = model_file.load(model)
    if source is None:
        return rule_list, None
    options = {"decimal": decimal, **id_options(rule_list, identifier)}
    try:
        return rule_list, load_data(source, list(rule_list.labels), split, **options)
    except DataError as error:
        try:
            data = load_attributes(source, split, **options)
        except DataError:
            raise error from None
        if set(rule_list.labels) & set(data.attribute_names):
            # It has some of the labels, so it is meant to have them all.
            raise
    warnings.warn(f"{source} has none of the labels of the model, so nothing is scored", stacklevel=2)
    return rule_list, data


def check_dictionary(path: Path | None, data: Any, dropped: Sequence[str]) -> Callable[[RuleList], RuleList]:
    """What puts units and descriptions of a file into a rule list; names that data lack are told before learning."""
    if path is None:
        return lambda rule_list: rule_list
    from fnmatch import fnmatchcase

    from plurule.data.dictionary import describe, read_dictionary

    described = read_dictionary(path)[1]
    ignored = [name for name in described if any(fnmatchcase(name, pattern) for pattern in dropped)]
    describe(RuleList((), tuple(data.attributes), tuple(data.label_names)), path, ignore=ignored)
    return lambda rule_list: describe(rule_list, path, ignore=ignored)


def load_initial_rules(path: Path, data: Any) -> tuple[Rule, ...]:
    """The rules of a text file, one per line, or of a model file, as rules about some data."""
    from plurule.learning.initial_rules import as_initial_rules

    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{path}: is neither rules as UTF-8 text nor a model file") from None
    rules = model_file.loads(text, source=str(path)) if OBJECT.match(text) else text
    try:
        found = as_initial_rules(rules, data.attributes, data.label_names)
    except RuleTextError as error:
        raise error.within(str(path)) from None
    except ModelError as error:
        raise ModelError(f"{path}, {error}") from None
    if not found:
        raise ModelError(f"{path}: holds no rules; write one per line, such as: red <- stripes > 2 and cross = no")
    return found
