"""One door for everything that can be read."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp

from plurule.data.dataset import Dataset, DataWarning, concatenate
from plurule.data.encoding import encode
from plurule.data.finding import FORMATS, Found, base_name, find, label_file
from plurule.data.inputs import labelled_data
from plurule.data.labels import Labels, matching, split_labels
from plurule.data.place import Place, Source
from plurule.data.readers.arff import read_arff
from plurule.data.readers.csv import read_csv
from plurule.data.readers.parquet import read_parquet
from plurule.data.readers.text import COMPRESSIONS, suffix_of
from plurule.data.table import Table
from plurule.errors import DataError

Split: TypeAlias = Literal["all", "train", "test"]
"""Which part of a data set that comes as a -train and a -test file."""

Text: TypeAlias = Literal["drop", "keep"]
"""What becomes of string and date attributes of ARFF files."""


def read(
    source: Any,
    labels: Labels | None = None,
    *,
    split: Split = "all",
    text: Text = "drop",
    nominal: Sequence[str] = (),
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
) -> Dataset:
    """Read a data set from wherever it is.

    Parameters
    ----------
    source
        An ARFF (Mulan or MEKA), CSV, TSV or Parquet file, compressed by gzip or bzip2 or not; a folder or base name
        that means such a file or a pair of `-train` and `-test` files; the name of a data set in the folder
        PLURULE_DATA or among those fetched before; a pandas, polars or other frame; a numpy array or scipy sparse
        matrix; or a tuple (X, Y).
    labels
        Which columns are labels: names or patterns such as `"label_*"`, a compiled regular expression, the first k
        columns (k > 0) or the last (k < 0), or a Mulan XML file. Not needed for ARFF files with an XML file of the
        same name beside them, for MEKA files, for Parquet files written by plurule and for (X, Y). An empty list
        means that there are no labels.
    split
        Of a `-train` and `-test` pair: all rows, or one part.
    text
        ARFF string and date attributes are dropped with a warning, or kept: strings as nominal attributes, dates as
        seconds since 1970.
    nominal
        CSV, Parquet: names or patterns of columns that are nominal though their values are numbers.
    drop
        Names or patterns of columns to leave out, such as an identifier.
    delimiter
        CSV: what separates the fields; found from the first line if not given.
    decimal
        CSV: what separates the decimals of a number, `"."` or `","`.

    Returns
    -------
    The attributes, labels, names and weights as a `Dataset`.

    Raises
    ------
    DataError
        With the file, the line, what was found there and what was expected.

    Examples
    --------
    >>> import numpy as np
    >>> read(np.array([[1.5, 0, 1], [2.5, 1, 1]]), labels=-2)
    Dataset(2 instances, 1 numeric and 0 nominal attributes, 2 labels)
    """
    if isinstance(source, Dataset):
        return source
    if isinstance(source, tuple) and len(source) == 2 and not isinstance(source[0], str | os.PathLike):
        if labels is not None:
            raise DataError("labels is given though the source is (X, Y), in which Y holds the labels")
        return labelled_data(*source, allow_empty=True)[0]
    if text not in get_args(Text):
        raise DataError(f"text={text!r}, expected 'drop' or 'keep'")
    if isinstance(source, str | os.PathLike):
        files = find(Path(source))
        parts = [
            as_data_set(path, *_read_file(path, text, nominal, delimiter, decimal), labels, drop)
            for path in _paths(files, split)
        ]
        return parts[0] if len(parts) == 1 else concatenate(parts, files.name)
    kind = "array" if isinstance(source, np.ndarray | list | tuple) else "frame"
    kind = "sparse matrix" if sp.issparse(source) else "table" if isinstance(source, Table) else kind
    place = Source(Place(kind))
    return split_labels(_without(Dataset.unlabelled(encode(source)), drop, place), place, labels)


def read_table(source: Any, **options: Any) -> Table:
    """Read all columns as attributes: data that have no labels, or whose labels do not matter.

    Parameters
    ----------
    source, **options
        As `read` takes them.

    Examples
    --------
    >>> read_table(np.array([[1.5, 0], [2.5, 1]])).names
    ('x0', 'x1')
    """
    return read(source, [], **options).X


def read_pair(source: str | os.PathLike[str], labels: Labels | None = None, **options: Any) -> tuple[Dataset, Dataset]:
    """The training and the test part of a data set that comes as a `-train` and a `-test` file.

    Parameters
    ----------
    source
        A folder or base name: `data/birds` means `data/birds-train.arff` and `data/birds-test.arff`, or CSV or Parquet.
    labels, **options
        As `read` takes them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for part, rows in (("train", "1,0\\n2,1\\n3,1"), ("test", "4,0")):
    ...         _ = Path(folder, f"birds-{part}.csv").write_text(f"wings,flies\\n{rows}\\n")
    ...     train, test = read_pair(f"{folder}/birds", labels=["flies"])
    >>> len(train), len(test)
    (3, 1)
    """
    return read(source, labels, split="train", **options), read(source, labels, split="test", **options)


def _read_file(
    path: Path, text: Text, nominal: Sequence[str], delimiter: str | None, decimal: str
) -> tuple[Dataset, Source]:
    """All columns of a file; what the format or the file cannot give is said in warnings."""
    suffix = suffix_of(path)
    if suffix == ".arff":
        data, source = read_arff(path, text=text)
    elif suffix in (".csv", ".tsv"):
        data, source = read_csv(path, nominal=nominal, delimiter=delimiter, decimal=decimal)
    elif suffix not in FORMATS:
        raise DataError(f"{path}: of no known format, expected a file that ends in {', '.join(FORMATS)}")
    elif path.suffix.lower() in COMPRESSIONS:
        raise Place(path.name).error("a compressed Parquet file, expected it unpacked (it is compressed inside)")
    else:
        data, source = read_parquet(path, nominal=nominal)
    for note in source.notes:
        warnings.warn(note, DataWarning, stacklevel=4)
    return data, source


def _paths(found: Found, split: Split) -> list[Path]:
    """The files to read, in order."""
    if split not in get_args(Split):
        raise DataError(f"split={split!r}, expected one of {', '.join(map(repr, get_args(Split)))}")
    if split == "all" and found.whole is not None:
        return [found.whole]
    parts = {part: getattr(found, part) for part in (("train", "test") if split == "all" else (split,))}
    missing = next((part for part, path in parts.items() if path is None), None)
    if missing is not None:
        there = next(p for p in (found.whole, found.train, found.test) if p is not None)
        raise DataError(f"{there.parent}: there is no {found.name}-{missing} beside {there.name}")
    return list(parts.values())


def as_data_set(
    path: Path, data: Dataset, source: Source, labels: Labels | None = None, drop: Sequence[str] = ()
) -> Dataset:
    """All columns of a file, or of some of its rows, without those to drop, and with the labels taken out."""
    return split_labels(_without(data, drop, source), source, labels, base_name(path), label_file(path))


def _without(data: Dataset, drop: Sequence[str], source: Source) -> Dataset:
    columns = matching(data.attribute_names, drop, source.place)
    return replace(data, X=data.X.select(np.delete(np.arange(data.X.shape[1]), columns).tolist())) if columns else data
