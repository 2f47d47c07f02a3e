"""One door for everything that can be read."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from plurule.data.dataset import Dataset, DataWarning
from plurule.data.encoding import encode
from plurule.data.inputs import labelled_data
from plurule.data.labels import Labels, matching, split_label_sets, split_labels
from plurule.data.readers.arff import read_arff
from plurule.data.readers.tabular import read_csv, read_parquet
from plurule.data.source import COMPRESSIONS, Place, Source, suffix_of
from plurule.errors import DataError

FORMATS = (".arff", ".csv", ".tsv", ".parquet", ".pq")


def read(
    source: Any,
    labels: Labels | None = None,
    *,
    nominal: Sequence[str] = (),
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str = ".",
    label_separator: str | None = None,
) -> Dataset:
    """Read a data set from wherever it is.

    Parameters
    ----------
    source
        The path of an ARFF (Mulan or MEKA), CSV, TSV or Parquet file, the text formats also compressed by gzip or
        bzip2; a pandas, polars, pyarrow or other frame; a numpy array or scipy sparse matrix; or a tuple (X, Y).
    labels
        Which columns are labels: names or patterns such as `"label_*"`, a compiled regular expression, the first k
        columns (k > 0) or the last (k < 0), or a Mulan XML file. Not needed for ARFF files with an XML file beside
        them (`birds.xml` for `birds.arff`, `birds-train.arff` and `birds-test.arff`), for MEKA files and for (X, Y).
        An empty list means that there are no labels.
    nominal
        Names or patterns of columns that are nominal: of CSV and Parquet files, though their values are numbers; of
        ARFF files, string attributes, which are dropped otherwise, with a warning.
    drop
        Names or patterns of columns to leave out, such as an identifier.
    delimiter
        CSV: what separates the fields; found from the first line if not given.
    decimal
        CSV: what separates the decimals of a number, `"."` or `","`.
    label_separator
        Where one column holds several labels, such as `billing;refund`: what separates them. `labels` is that column; a
        missing value is a row without labels.

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
    if label_separator is not None and isinstance(labels, str):
        # Labels may look like numbers.
        nominal = (*nominal, labels)
    reader = Reader(labels, tuple(nominal), tuple(drop), delimiter, decimal, label_separator)
    if not isinstance(source, str | os.PathLike):
        return reader.frame(source)
    path = Path(source)
    data, read_from = reader.columns(path)
    for note in read_from.notes:
        warnings.warn(note, DataWarning, stacklevel=2)
    return reader.split(data, read_from, path)


@dataclass(frozen=True)
class Reader:
    """How files, or parts of them, become data sets; the fields are parameters of `read`."""

    labels: Labels | None = None
    nominal: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str = "."
    label_separator: str | None = None

    def frame(self, source: Any) -> Dataset:
        """A frame, an array or a sparse matrix, of which some columns are labels."""
        return self.split(Dataset.unlabelled(encode(source)), Source(Place("the data")))

    def columns(self, path: Path, content: bytes | None = None, group: int | None = None) -> tuple[Dataset, Source]:
        """All columns of a file as attributes; `content` is read instead of the file, or a group of Parquet's rows."""
        suffix = suffix_of(path)
        if path.is_dir():
            raise DataError(f"{path}: is a folder, expected a file")
        if suffix == ".arff":
            return read_arff(path, nominal=self.nominal, content=content)
        if suffix in (".csv", ".tsv"):
            return read_csv(path, self.nominal, self.delimiter, self.decimal, content)
        if suffix not in FORMATS:
            raise DataError(f"{path}: of no known format, expected a file that ends in {', '.join(FORMATS)}")
        if path.suffix.lower() in COMPRESSIONS:
            raise Place(path.name).error("a compressed Parquet file, expected it unpacked (it is compressed inside)")
        return read_parquet(path, group, self.nominal)

    def split(self, data: Dataset, source: Source, path: Path | None = None) -> Dataset:
        """The columns without those to drop, and with the labels taken out."""
        dropped = matching(data.attribute_names, self.drop, source.place)
        if dropped:
            data = replace(data, X=data.X.without(dropped))
        if self.label_separator is not None:
            return split_label_sets(data, source, self.labels, self.label_separator)
        if path is None:
            return split_labels(data, source, self.labels)
        return split_labels(data, source, self.labels, base_name(path), label_file(path))


def base_name(path: Path) -> str:
    """Return the name of a data file without its endings.

    >>> base_name(Path("data/flags-train.arff.gz"))
    'flags-train'
    """
    return path.with_suffix("").stem if path.suffix.lower() in COMPRESSIONS else path.stem


def label_file(path: Path) -> Path | None:
    """Find the Mulan XML file of an ARFF file: of the same name, or that without -train or -test."""
    base = base_name(path)
    names = [f"{name.lower()}.xml" for name in (base, re.sub(r"[-_](train|test)$", "", base, flags=re.IGNORECASE))]
    files = {p.name.lower(): p for p in sorted(path.parent.iterdir())} if path.parent.is_dir() else {}
    return next((files[name] for name in names if name in files), None)
