"""Files that data are read from: their bytes, and the place in them that an error message names."""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plurule.errors import DataError

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
