"""The bytes of a data file: unpacked if it is compressed, and known to be UTF-8."""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from pathlib import Path

from plurule.data.place import Place
from plurule.errors import DataError

COMPRESSIONS = (".gz", ".bz2")

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PIECE = 1 << 20
# A small compressed file can unpack to more than any memory holds. Real tables of text shrink to a tenth or, if
# they are nearly empty, to a hundredth of their size.
_ALWAYS_ALLOWED = 1 << 26
_LARGEST_RATIO = 200


def suffix_of(path: Path) -> str:
    """The ending that tells the format, without the one that tells the compression.

    >>> suffix_of(Path("rcv1sub1.arff.gz")), suffix_of(Path("x.CSV"))
    ('.arff', '.csv')
    """
    if path.suffix.lower() in COMPRESSIONS:
        path = path.with_suffix("")
    return path.suffix.lower()


def read_text(path: Path, *, keep_returns: bool = False) -> str:
    """The content of a text file in UTF-8, without a byte order mark and, unless kept, without carriage returns."""
    text = decoded(read_bytes(path), path)
    return text if keep_returns else text.replace("\r\n", "\n").replace("\r", "\n")


def decoded(content: bytes, path: Path) -> str:
    """The text of a file, or of a part of it, without a byte order mark."""
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
    """The content of a file, unpacked if its name ends in .gz or .bz2."""
    place = Place(path.name)
    try:
        if path.suffix.lower() not in COMPRESSIONS:
            return path.read_bytes()
        return _unpack(path)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder, expected a file") from None
    except (EOFError, zlib.error) as error:
        raise place.error(f"the file is damaged, it cannot be unpacked ({error})") from error
    except OSError as error:
        if path.suffix.lower() in COMPRESSIONS and error.errno is None:
            raise place.error(f"the file is damaged, it cannot be unpacked ({error})") from error
        raise DataError(f"{path}: cannot be read ({os.strerror(error.errno or 0)})") from error


def _unpack(path: Path) -> bytes:
    """The content of a compressed file, which may be several compressed files in a row."""
    allowed = max(_ALWAYS_ALLOWED, _LARGEST_RATIO * path.stat().st_size)
    pieces, total = list[bytes](), 0
    with gzip.open(path) if path.suffix.lower() == ".gz" else bz2.open(path) as file:
        while piece := file.read(_PIECE):
            pieces.append(piece)
            total += len(piece)
            if total > allowed:
                raise Place(path.name).error(
                    f"unpacks to more than {allowed >> 20} MB, far more than tables of this size do; "
                    "if it is meant to be so large, unpack it first"
                )
    return b"".join(pieces)
