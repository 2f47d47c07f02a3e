"""Whatever happens to a file, reading it ends: with a data set, or with an error that names the file and the line."""

from __future__ import annotations

import contextlib
import gzip
import random
import re
import signal
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from plurule import data as io
from plurule.errors import DataError

MUTANTS_PER_FILE = 40
LONGEST_SECONDS = 60
PLACED = re.compile(r"^[^:\n]*\.(arff|arff\.gz|xml|csv|parquet), line [0-9]+: .", re.DOTALL)
# What concerns a file as a whole has no line.
UNPLACED = (
    "which columns are labels is not known",
    "in the relation, expected",
    "no <label>",
    "the file is empty",
    "cannot be unpacked",
    "Parquet file or is damaged",
)
INSERTED = [
    *(b"'", b'"', b"{", b"}", b",", b"?", b"%", b"\\", b"\n", b"\r", b"\t", b" ", b"\xff", b"\x00", b"-", b".", b"e"),
    *(b"@data\n", b"@attribute x numeric\n", b"1e999", b"99999999999999999999", b"nan", b"\xc3\xa9", b"0", b"1"),
    *(b"&lt;", b"<!DOCTYPE x>"),
]


@contextlib.contextmanager
def ending() -> Iterator[None]:
    """Fail a test that does not come to an end."""

    def fail(*_: object) -> None:
        raise TimeoutError(f"no end within {LONGEST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(LONGEST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def read_or_refuse(path: Path, labels: int | None = None) -> str:
    """The complaint about a file, empty if there is none; any other exception fails the test."""
    with ending(), warnings.catch_warnings():
        warnings.simplefilter("ignore", io.DataWarning)
        try:
            io.read(path, labels)
        except DataError as error:
            return str(error)
    return ""


def assert_placed(message: str) -> None:
    assert not message or PLACED.match(message) or any(part in message for part in UNPLACED), message


def mutate(content: bytes, chance: random.Random) -> bytes:
    """A file with one or a few things wrong with it."""
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        at = chance.randrange(len(content) + 1)
        match chance.randrange(7):
            case 0:
                content = content[:at] + chance.choice(INSERTED) + content[at:]
            case 1:
                content = content[:at] + content[at + chance.choice([1, 1, 2, 20]) :]
            case 2:
                content = content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :]
            case 3:
                content = content[:at]
            case 4:
                lines = content.split(b"\n")
                lines.insert(chance.randrange(len(lines)), chance.choice(lines))
                content = b"\n".join(lines)
            case 5:
                lines = content.split(b"\n")
                del lines[chance.randrange(len(lines))]
                content = b"\n".join(lines)
            case _:
                other = chance.randrange(len(content) + 1)
                content = content[:at] + content[other : other + 30] + content[at:]
    return content


def beginning(path: Path) -> bytes:
    """The header of a file and its first rows."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    start = content.lower().index(b"@data")
    # A header of thousands of lines would leave no time for the rows.
    header = content[:start].split(b"\n")
    if len(header) > 2500:
        return b""
    return b"\n".join(header) + b"\n".join(content[start : start + 40_000].split(b"\n")[:-1])


def test_mutated_arff_files_are_read_or_refused(shared_data: Path, tmp_path: Path) -> None:
    chance = random.Random(0)
    refused = read = 0
    for path in sorted(shared_data.rglob("*.arff")):
        original = beginning(path)
        xml = next(path.parent.glob("*.xml"))
        for _ in range(MUTANTS_PER_FILE if original else 0):
            (tmp_path / "t.arff").write_bytes(mutate(original, chance))
            (tmp_path / "t.xml").write_bytes(xml.read_bytes())
            message = read_or_refuse(tmp_path / "t.arff")
            assert_placed(message)
            refused, read = refused + bool(message), read + (not message)
    # Most changes break a file, some do not: the test would prove nothing if either never happened.
    assert refused > 100
    assert read > 100


def test_mutated_label_files_are_read_or_refused(shared_data: Path, tmp_path: Path) -> None:
    chance = random.Random(1)
    for path in sorted(shared_data.rglob("*-test.arff")):
        if path.stat().st_size > 200_000:
            continue
        (tmp_path / "t.arff").write_bytes(path.read_bytes())
        for _ in range(MUTANTS_PER_FILE):
            (tmp_path / "t.xml").write_bytes(mutate(next(path.parent.glob("*.xml")).read_bytes(), chance))
            assert_placed(read_or_refuse(tmp_path / "t.arff"))


def test_mutated_packed_files_are_read_or_refused(shared_data: Path, tmp_path: Path) -> None:
    chance = random.Random(2)
    original = (shared_data / "flags" / "flags-train.arff").read_bytes()
    for _ in range(100):
        (tmp_path / "t.arff.gz").write_bytes(mutate(gzip.compress(original), chance))
        assert_placed(read_or_refuse(tmp_path / "t.arff.gz", labels=-7))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_mutated_files_of_other_formats_are_read_or_refused(shared_data: Path, tmp_path: Path, name: str) -> None:
    chance = random.Random(3)
    X, Y = io.read(shared_data / "flags" / "flags-train.arff").to_pandas()
    frame = pd.concat([X, Y], axis=1)
    frame.to_csv(tmp_path / name, index=False) if name == "t.csv" else frame.to_parquet(tmp_path / name)
    original = (tmp_path / name).read_bytes()
    for _ in range(100):
        (tmp_path / name).write_bytes(mutate(original, chance))
        message = read_or_refuse(tmp_path / name, labels=-7)
        assert message == "" or message.startswith(name)


def peak_memory(path: Path, labels: object = None) -> int:
    """Most bytes in use while a file was read or refused."""
    tracemalloc.start()
    try:
        with contextlib.suppress(DataError):
            io.read(path, labels)  # type: ignore[arg-type]
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_bounded_by_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    few = "@relation t\n@attribute a numeric\n@attribute l {0,1}\n@data\n"
    cases = {
        "an index far beyond the attributes": few + "{999999999 1}\n",
        "a billion labels promised": "@relation 't: -C 1000000000'\n@attribute a numeric\n@data\n{}\n",
        "one long line": few + "1," * 200_000 + "\n",
        "one long quote": few + "'" + "x" * 300_000 + "\n",
        "spaces only": few + " " * 300_000 + "\n" + "1," + " " * 300_000 + "0\n",
        "many escapes": few + "'" + "\\'" * 150_000 + "',0\n",
        "braces": few + "{" * 300_000 + "\n",
        "empty rows": few + "{}\n" * 100_000,
        "many attributes": "".join(f"@attribute a{i} numeric\n" for i in range(10_000)) + "@data\n{}\n",
        "many categories": "@relation t\n@attribute a {" + ",".join(map(str, range(50_000))) + "}\n@data\n?\n7x\n",
    }  # fmt: skip
    for name, text in cases.items():
        path.write_text(text)
        with ending():
            peak = peak_memory(path)
        assert peak < 100 * len(text) + 2_000_000, name


def test_many_rare_labels_do_not_fill_the_memory(tmp_path: Path) -> None:
    n_labels, n_rows = 10_000, 60_000
    header = [f"@relation 't: -C {n_labels}'", *(f"@attribute l{i} {{0,1}}" for i in range(n_labels)), "@data"]
    text = "\n".join([*header, *(f"{{{i % n_labels} 1}}" for i in range(n_rows)), ""])
    (tmp_path / "t.arff").write_text(text)
    assert peak_memory(tmp_path / "t.arff") < 100 * len(text)
    data = io.read(tmp_path / "t.arff")
    assert data.Y.shape == (n_rows, n_labels)
    assert data.Y.sum() == n_rows
    assert data[:3].Y.toarray()[:, :3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
