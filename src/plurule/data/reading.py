"""Read data from files and frames; errors name the place in the file.

Readers of formats are imported when a file of that format is read.
"""

from __future__ import annotations

import bz2
import gzip
import os
import re
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plurule.data.dataset import Dataset, DataWarning
from plurule.data.inputs import encode, labelled_data
from plurule.errors import DataError

if TYPE_CHECKING:
    from plurule.data.labels import Labels

COMPRESSIONS = (".gz", ".bz2")

_SHOWN = 60
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# A small compressed file can unpack to more than any memory holds. Real tables of text shrink to a tenth or, if
# they are nearly empty, to a hundredth of their size.
_ALWAYS_ALLOWED = 1 << 26
_LARGEST_RATIO = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A file, or a line of it.

    >>> str(Place("birds.arff").at(412))
    'birds.arff, line 412'
    """

    file: str
    line: int | None = None

    def at(self, line: int) -> Place:
        """The same file, at the given line (counted from 1)."""
        return Place(self.file, line)

    def error(self, message: str) -> DataError:
        """The error to raise for something found here."""
        return DataError(f"{self}: {message}")

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Source:
    """The file that columns were read from."""

    place: Place
    """The file (or a name for what is not a file)."""
    line_of: Callable[[int], int] | None = None
    """Finds the line of a row (counted from 0), if the file has lines; it may read the file again."""
    notes: tuple[str, ...] = ()
    """Sentences about what the file holds and the columns do not."""

    def at_row(self, row: int) -> str:
        """The place of a row."""
        return f"{self.place}, row {row + 1}" if self.line_of is None else str(self.place.at(self.line_of(row)))


def shown(text: str) -> str:
    """Quote a piece of a file for an error message, truncated if long.

    >>> shown("0.5x"), shown("a" * 100)[-8:]
    ("'0.5x'", "aaaaaa…'")
    """
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def suffix_of(path: Path) -> str:
    """Return the ending that tells the format, without the one that tells the compression.

    >>> suffix_of(Path("rcv1sub1.arff.gz")), suffix_of(Path("x.CSV"))
    ('.arff', '.csv')
    """
    if path.suffix.lower() in COMPRESSIONS:
        path = path.with_suffix("")
    return path.suffix.lower()


def read_text(path: Path, content: bytes | None = None) -> str:
    """Read a text file in UTF-8, or its given content, without a byte order mark and with `\\n` after each line."""
    return decode(read_bytes(path) if content is None else content, path).replace("\r\n", "\n").replace("\r", "\n")


def decode(content: bytes, path: Path) -> str:
    """Decode the content of a file, or a part of it, without a byte order mark."""
    place = Place(path.name)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise place.error("the file is UTF-16, expected UTF-8; save it as UTF-8")
    try:
        return content.removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        wrong = error.object[error.start]
        raise place.at(error.object.count(b"\n", 0, error.start) + 1).error(
            f"byte 0x{wrong:02x} is not UTF-8, expected UTF-8 text; "
            "if the file is in another encoding (Latin-1, Windows-1252), save it as UTF-8"
        ) from error


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacked if its name ends in .gz or .bz2."""
    place = Place(path.name)
    is_compressed = path.suffix.lower() in COMPRESSIONS
    try:
        return _unpack(path) if is_compressed else path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder, expected a file") from None
    except (EOFError, zlib.error) as error:
        raise place.error(f"the file is damaged, it cannot be unpacked ({error})") from error
    except OSError as error:
        if is_compressed and error.errno is None:
            raise place.error(f"the file is damaged, it cannot be unpacked ({error})") from error
        raise DataError(f"{path}: cannot be read ({os.strerror(error.errno or 0)})") from error


def _unpack(path: Path) -> bytes:
    """Read a compressed file, which may be several compressed files in a row."""
    allowed = max(_ALWAYS_ALLOWED, _LARGEST_RATIO * path.stat().st_size)
    with gzip.open(path) if path.suffix.lower() == ".gz" else bz2.open(path) as file:
        content = file.read(allowed + 1)
    if len(content) > allowed:
        raise Place(path.name).error(
            f"unpacks to more than {allowed >> 20} MB, far more than tables of this size do; "
            "if it is meant to be so large, unpack it first"
        )
    return content


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
        from plurule.data.tabular import read_csv, read_parquet

        suffix = suffix_of(path)
        if path.is_dir():
            raise DataError(f"{path}: is a folder, expected a file")
        if suffix == ".arff":
            from plurule.data.arff import read_arff

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
        from plurule.data.labels import matching, split_label_sets, split_labels

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
