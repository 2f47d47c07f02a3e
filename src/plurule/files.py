"""Files that appear whole or not at all, and rows of plain data as CSV."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_DIGITS = 6


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path`; it takes the place of `path` if the block ends well, else it is removed.

    Whoever looks at `path` meanwhile sees what was there before, and a program that dies midway leaves no
    half-written file under that name. What is no regular file (a device, a pipe) is not replaced but written to, when
    the block ends.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("whole")
    ...     (Path(folder) / "a.txt").read_text()
    'whole'
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder) / "content"
            yield temporary
            with open(temporary, "rb") as content, open(path, "wb") as device:
                shutil.copyfileobj(content, device)
        return
    # Through a link the file it points to is replaced, not the link.
    target = Path(os.path.realpath(path))
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:30]}.", suffix=".part", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Write a text file as UTF-8 with `\\n` line ends, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV; numbers with at most six digits after the point.

    >>> print(to_csv([{"set": "flags", "score": 2 / 3}, {"set": "birds", "score": None}]), end="")
    set,score
    flags,0.666667
    birds,
    """
    buffer = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: round(value, _DIGITS) if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    )
    return buffer.getvalue()


def _umask() -> int:
    # The mask can only be read by setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
