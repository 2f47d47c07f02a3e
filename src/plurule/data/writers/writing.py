"""One door for everything that can be written."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from plurule.data.dataset import Dataset, DataWarning
from plurule.data.finding import FORMATS
from plurule.data.labels import Labels
from plurule.data.readers.reading import Text, read
from plurule.data.readers.text import COMPRESSIONS, suffix_of
from plurule.data.writers.parquet import write_parquet
from plurule.data.writers.text import write_arff, write_csv
from plurule.errors import DataError


def write(data: Dataset, path: str | os.PathLike[str], *, meka: bool = False) -> list[str]:
    """Write a data set to a file, in the format that its name ends in; the file appears whole or not at all.

    Parameters
    ----------
    data
        What to write.
    path
        A file that ends in .arff (a Mulan XML file of the labels is written beside it), .csv, .tsv, .parquet or
        .pq; the text formats also with .gz or .bz2.
    meka
        ARFF: write for MEKA, which finds the number of labels in the name of the relation and needs no XML file.

    Returns
    -------
    Sentences about where the labels are and what the format cannot hold.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from plurule.datasets import load_world_flags
    >>> with TemporaryDirectory() as folder:
    ...     print(write(load_world_flags(), f"{folder}/flags.csv")[0])
    flags.csv: the labels are the last 7 columns, read it with labels=-7
    """
    target = Path(path)
    suffix = suffix_of(target)
    if not target.parent.is_dir():
        raise DataError(f"{target}: there is no folder {target.parent} to write it to")
    if meka and suffix != ".arff":
        raise DataError(f"{target}: only ARFF files can be written for MEKA, expected a name that ends in .arff")
    if suffix == ".arff":
        return write_arff(data, target, meka=meka)
    if suffix in (".csv", ".tsv"):
        return write_csv(data, target)
    if suffix in (".parquet", ".pq") and target.suffix.lower() not in COMPRESSIONS:
        return write_parquet(data, target)
    raise DataError(f"{target}: of no known format, expected a name that ends in {', '.join(FORMATS)}")


def convert(
    source: Any,
    target: str | os.PathLike[str],
    labels: Labels | None = None,
    *,
    meka: bool = False,
    text: Text = "keep",
    **options: Any,
) -> list[str]:
    """Read a data set and write it in another format.

    Parameters
    ----------
    source, labels, **options
        What to read, as `read` takes it.
    target
        The file to write, as `write` takes it.
    meka
        ARFF: write for MEKA.
    text
        Whether string and date attributes of ARFF files are kept or dropped.

    Returns
    -------
    Sentences about where the labels are and what was lost on the way.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     print(convert(np.array([[1.5, 0, 1], [2.5, 1, 1]]), f"{folder}/two.csv", labels=-2)[0])
    two.csv: the labels are the last 2 columns, read it with labels=-2
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        data = read(source, labels, text=text, **options)
    notes = [str(warning.message) for warning in caught if issubclass(warning.category, DataWarning)]
    return notes + write(data, target, meka=meka)
