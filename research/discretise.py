"""Numeric attributes split into categories as the paper's authors did it: Weka's unsupervised filter, ten bins.

The authors applied `weka.filters.unsupervised.attribute.Discretize -F -B 10` to training and test part together. Cut
points and texts here are those of the filter, so that the files can be compared with the authors' byte by byte.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

N_BINS = 10
FILTER = "weka.filters.unsupervised.attribute.Discretize-F-B10-M-1.0-Rfirst-last"
_NUMERIC = ("numeric", "real", "integer")
_DIGITS = 6


def cut_points(values: Sequence[float], n_bins: int = N_BINS) -> list[float]:
    """Return the cut points of bins that hold about equally many values, halfway between neighbouring values.

    Equal values stay together. The number of values per bin is computed again after each cut, from what is left.

    >>> cut_points([1.0, 2.0, 3.0, 4.0], 2)
    [2.5]
    >>> cut_points([1.0, 1.0, 1.0, 2.0], 2)
    [1.5]
    """
    ordered = sorted(values)
    left = float(len(ordered))
    per_bin = left / n_bins
    cuts: list[float] = []
    counted = 0.0
    # The last place before `per_bin` where a cut was possible, and how many values it would have closed in.
    before = 0.0
    earlier: int | None = None
    for i in range(len(ordered) - 1):
        counted += 1
        left -= 1
        if ordered[i] == ordered[i + 1]:
            continue
        if counted < per_bin:
            earlier, before = i, counted
            continue
        if earlier is not None and per_bin - before < counted - per_bin:
            cuts.append(_halfway(ordered, earlier))
            counted -= before
            earlier, before = i, counted
        else:
            cuts.append(_halfway(ordered, i))
            counted = before = 0.0
            earlier = None
        if len(cuts) == n_bins - 1:
            return cuts
        per_bin = (left + counted) / (n_bins - len(cuts))
    if earlier is not None:
        cuts.append(_halfway(ordered, earlier))
    return cuts


def _halfway(ordered: Sequence[float], i: int) -> float:
    return (ordered[i] + ordered[i + 1]) / 2


def number_text(value: float) -> str:
    """Return a number as Weka writes it: at most six digits after the point, halves away from zero.

    >>> number_text(-0.1167604), number_text(2.0), number_text(-0.0000001)
    ('-0.11676', '2', '0')
    """
    scaled = int(abs(value) * 10.0**_DIGITS + 0.5)
    if scaled == 0:
        return "0"
    digits = str(scaled).rjust(_DIGITS + 1, "0")
    text = f"{digits[:-_DIGITS]}.{digits[-_DIGITS:]}".rstrip("0").rstrip(".")
    return f"-{text}" if value < 0 else text


def bin_names(cuts: Sequence[float]) -> list[str]:
    """Return the categories of the bins as Weka quotes them.

    >>> bin_names([0.5])
    ["'\\\\'(-inf-0.5]\\\\''", "'\\\\'(0.5-inf)\\\\''"]
    """
    if not cuts:
        return [r"'\'All\''"]
    texts = [number_text(cut) for cut in cuts]
    lower = ["-inf", *texts]
    upper = [*(f"{text}]" for text in texts), "inf)"]
    return [rf"'\'({low}-{high}\''" for low, high in zip(lower, upper, strict=True)]


@dataclass(frozen=True)
class Arff:
    """The lines of an ARFF file whose values need no quotes: name, (attribute, type) pairs, and rows of values."""

    relation: str
    attributes: list[tuple[str, str]]
    rows: list[list[str]]

    @classmethod
    def parse(cls, text: str) -> Arff:
        """Read the text of a file."""
        relation = ""
        attributes: list[tuple[str, str]] = []
        lines = iter(text.splitlines())
        for line in lines:
            keyword, _, rest = line.strip().partition(" ")
            if keyword.lower() == "@relation":
                relation = rest.strip()
            elif keyword.lower() == "@attribute":
                name, kind = re.split(r"\s+", rest.strip(), maxsplit=1)
                attributes.append((name, kind))
            elif keyword.lower() == "@data":
                break
        return cls(relation, attributes, [line.split(",") for line in lines if line.strip()])

    @property
    def numeric(self) -> list[int]:
        """Places of the numeric attributes."""
        return [i for i, (_, kind) in enumerate(self.attributes) if kind.lower() in _NUMERIC]


def discretise(parts: Mapping[str, str], relation: str | None = None, n_bins: int = N_BINS) -> dict[str, Arff]:
    """Return the parts of a data set with categories instead of numbers; cut points are those of all parts together."""
    files = {part: Arff.parse(text) for part, text in parts.items()}
    first = next(iter(files.values()))
    attributes = list(first.attributes)
    for place in first.numeric:
        columns = {part: [float(row[place]) for row in file.rows] for part, file in files.items()}
        cuts = cut_points([value for column in columns.values() for value in column], n_bins)
        names = bin_names(cuts)
        attributes[place] = (attributes[place][0], "{" + ",".join(names) + "}")
        for part, file in files.items():
            for row, value in zip(file.rows, columns[part], strict=True):
                row[place] = names[bisect_left(cuts, value)]
    name = f"{relation or first.relation}-{FILTER}"
    return {part: Arff(name, attributes, file.rows) for part, file in files.items()}


def rearrange(train: Arff, test: Arff) -> tuple[Arff, Arff]:
    """Return a training and a test part of the same sizes from the rows of the test part followed by the others.

    The authors' yeastD has this order: the rows that Mulan holds out come first.
    """
    rows = [*test.rows, *train.rows]
    n_train = len(train.rows)
    return replace(train, rows=rows[:n_train]), replace(test, rows=rows[n_train:])


def to_bytes(file: Arff, line_end: str, ends_with_line: bool) -> bytes:
    """Return the bytes of a file; its header has Unix line ends, its rows the given ones."""
    header = [f"@relation {file.relation}", "", *(f"@attribute {name} {kind}" for name, kind in file.attributes)]
    rows = line_end.join(",".join(row) for row in file.rows)
    text = "\n".join([*header, "", "@data", ""]) + rows + (line_end if ends_with_line else "")
    return text.encode()
