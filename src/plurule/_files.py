"""Files that appear whole or not at all, and rows of plain data as CSV."""

from __future__ import annotations

import contextlib
import csv
import glob
import hashlib
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from plurule.errors import PluruleError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_DIGITS = 6
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d*(?:[eE][+-]?\d+)?$)")
_PARTIAL = ".part"
_IN_USE = "in-use"


@contextlib.contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path`; it takes the place of `path` if the block ends well, else it is removed.

    Whoever looks at `path` meanwhile sees what was there before, and a program that dies midway leaves no
    half-written file under that name. Only regular files are replaced: devices and FIFOs, and the standard output
    for `-`, are written to when the block ends.
    """
    if _is_stream(path):
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / "written"
            yield temporary
            with open(temporary, "rb") as content, _opened(path) as stream:
                shutil.copyfileobj(content, stream)
        return
    # Through a link the file it points to is replaced, not the link.
    target = Path(os.path.realpath(path))
    # A name may have 255 bytes, of which a few are needed here.
    prefix = f".{os.fsdecode(os.fsencode(target.name)[:100])}."
    handle, name = tempfile.mkstemp(prefix=prefix, suffix=_PARTIAL, dir=target.parent)
    temporary = Path(name)
    os.close(handle)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, name):
            # A disk that is full does not say which file it has no room for.
            error.filename = str(path)
        raise


def _is_stream(path: str | Path) -> bool:
    """Whether a path is a device, FIFO or the like, or `-` for the standard output."""
    text = os.path.abspath(path)
    # `/dev/stdout` may lead to a regular file, which is to be written to as well; `/dev/shm` is a folder of files.
    if str(path) == "-" or (text.startswith(("/dev/", "/proc/")) and not text.startswith("/dev/shm/")):
        return True
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) != "-":
        with open(path, "wb") as stream:
            yield stream
        return
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def lock(handle: int) -> bool:
    """Lock an open file for this process, if nobody else has; the lock ends with the process, however it ends."""
    try:
        if sys.platform != "win32":
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:  # a byte far beyond the end, so that reading stays possible
            os.lseek(handle, 1 << 40, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, 0, os.SEEK_SET)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def temporary_folder(prefix: str, within: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """A folder that is removed at the end; those of programs that were killed are removed, too."""
    place = Path(within or tempfile.gettempdir())
    for held in place.glob(f"{glob.escape(prefix)}*/{_IN_USE}"):
        with contextlib.suppress(OSError), open(held, "rb") as file:
            if lock(file.fileno()):
                shutil.rmtree(held.parent, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as name, open(Path(name) / _PARTIAL, "wb") as file:
        lock(file.fileno())
        # Under that name nobody sees it unlocked.
        os.replace(Path(name) / _PARTIAL, Path(name) / _IN_USE)
        yield Path(name)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file as UTF-8 with `\\n` line ends, whole or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_bytes(encode_utf8(text))


def read_if_regular(path: Path) -> bytes | None:
    """Return the bytes of a regular file; None if there is none."""
    return path.read_bytes() if path.is_file() and not _is_stream(path) else None


def write_unless_changed(path: Path, text: str, before: bytes | None) -> None:
    """Write a text file if its content still is what it was before; programs that do so at once take turns."""
    with _one_at_a_time(Path(os.path.realpath(path)).parent):
        if read_if_regular(path) != before:
            raise PluruleError(f"{path}: has been changed by another program meanwhile; nothing was written, try again")
        write_text(path, text)


@contextlib.contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    if sys.platform == "win32":  # a folder cannot be locked
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def encode_utf8(text: str) -> bytes:
    """Text as UTF-8; half characters, which UTF-8 does not have, as JSON escapes them."""
    return text.encode("utf-8", errors="backslashreplace")


def escape_formula(cell: Any) -> Any:
    """A cell of a CSV file that no spreadsheet takes for a formula: what looks like one gets an apostrophe."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV; numbers with at most six digits after the point, and texts that are no formulas."""
    buffer = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(escape_formula, columns))
    for row in rows:
        cells = (row.get(name, "") for name in columns)
        writer.writerow([round(cell, _DIGITS) if isinstance(cell, float) else escape_formula(cell) for cell in cells])
    return buffer.getvalue()


def digest(text: str) -> str:
    """Return a short text that differs if a text does."""
    return hashlib.sha256(f"{text!r}\0".encode()).hexdigest()[:16]


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
