"""Which columns are labels, and what their values say."""

from __future__ import annotations

import fnmatch
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from xml.parsers import expat

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Dataset, DataWarning, SparseColumns, Table
from plurule.data.reading import Place, Source, read_bytes, shown
from plurule.data.targets import label_names
from plurule.errors import DataError, nearest
from plurule.model import Attribute
from plurule.model.condition import YES
from plurule.model.rule import Hierarchy

Labels: TypeAlias = int | str | Path | re.Pattern[str] | Sequence[str]
"""Which columns are labels: the first k (k > 0) or last |k| (k < 0), a name or a pattern such as `label_*`, a
compiled regular expression, a Mulan XML file, or a sequence of names and patterns (empty: no column is a label)."""

# What people write for absent and present.
_MEANINGS = YES | {"0.0": False, "1.0": True}

# An array of labels is preferred up to this many cells; beyond, rare labels are kept sparse.
_DENSE_CELLS = 1 << 27
_DENSE_SHARE = 1 / 16

SEPARATORS = ";|,"
"""What may stand between several labels in one column."""
FEWEST_SETS = 2
"""With so many classes that have a separator in them, separated labels are suggested."""

_MEKA = re.compile(r"-C\s+(-?[0-9]+)")
_WILDCARDS = re.compile(r"[*?\[]")


def split_labels(
    data: Dataset, source: Source, labels: Labels | None, name: str = "", xml: Path | None = None
) -> Dataset:
    """Take the labels out of the columns of a source.

    Where `labels` does not say which they are, `xml` does, or else the `-C` of MEKA in the name of the relation.
    """
    table = data.X
    of_one_column = _classes_by_name(labels, table)
    if of_one_column is not None:
        position, classes = of_one_column
        names = [f"{table.names[position]}: {c}" for c in classes]
        Y = _class_labels(table, position, classes, source)
        return replace(data, X=table.without([position]), Y=Y, label_names=tuple(names), name=name)
    file = _xml_file(table.names, labels, xml)
    named = {} if file is None else read_label_names(file)
    if file is None:
        positions = _find(table.names, source, data.relation, labels)
    else:
        positions = _from_xml(table, source, file, named)
    X = table.without(positions)
    if len(positions) == 1 and _holds_classes(table.attributes[positions[0]]):
        attribute = table.attributes[positions[0]]
        if hint := _separator_hint(attribute):
            warnings.warn(f"{source.place}: {hint}", DataWarning, stacklevel=4)
        known = attribute.categories or ()
        names = label_names(attribute.name, known)
        Y = _class_labels(table, positions[0], known[-len(names) :], source)
        groups = (tuple(range(len(names))),) if len(names) > 1 else ()
        return replace(data, X=X, Y=Y, label_names=tuple(names), name=name, groups=groups)
    names = [table.names[i] for i in positions]
    Y = _label_matrix(table, positions, source)
    return replace(data, X=X, Y=Y, label_names=tuple(names), name=name, hierarchy=_hierarchy(named, names))


def split_label_sets(data: Dataset, source: Source, labels: Labels | None, separator: str) -> Dataset:
    """Take the labels out of one column that holds several of them in each row, with a separator between."""
    if separator == "":
        raise DataError("label_separator is empty, expected what stands between labels, such as ';'")
    positions = _find(data.attribute_names, source, data.relation, labels)
    if len(positions) != 1:
        raise source.place.error(f"{len(positions)} columns of labels, expected one if label_separator is given")
    attribute = data.attributes[positions[0]]
    if attribute.categories is None:
        expected = f"expected texts such as a{separator}b"
        raise source.place.error(f"column {shown(attribute.name)} is {attribute.kind}, {expected}")
    names = set[str]().union(*(_members(category, separator) for category in attribute.categories))
    return _with_label_sets(data, positions[0], separator, sorted(names))


def find_label_sets(data: Dataset, names: Sequence[str]) -> Dataset | None:
    """Return data with these labels from the column of several labels in each row that holds no others, if one does."""
    for position, attribute in enumerate(data.attributes):
        for separator in SEPARATORS if attribute.categories else ():
            members = [_members(category, separator) for category in attribute.categories or ()]
            if set[str]().union(*members) <= set(names):
                return _with_label_sets(data, position, separator, names)
    return None


def _with_label_sets(data: Dataset, position: int, separator: str, names: Sequence[str]) -> Dataset:
    """Return data with the labels of a column; a missing value is a row without labels."""
    sets = [*(_members(category, separator) for category in data.attributes[position].categories or ()), set[str]()]
    present = np.array([[name in members for name in names] for members in sets], dtype=np.int8)
    Y = present.reshape(len(sets), len(names))[data.X.column(position)]
    return replace(data, X=data.X.without([position]), Y=Y, label_names=tuple(names))


def _members(text: str, separator: str) -> set[str]:
    return {part.strip() for part in text.split(separator)} - {""}


def _separator_hint(attribute: Attribute) -> str:
    """Return a sentence about classes that look like several labels each; empty if they do not."""
    categories = attribute.categories or ()
    for separator in SEPARATORS:
        n_sets = sum(separator in category for category in categories)
        n_labels = len(set[str]().union(*(_members(category, separator) for category in categories)))
        if n_sets >= FEWEST_SETS and n_sets > len(categories) / 4 and n_labels < len(categories):
            return (
                f"{shown(attribute.name)} seems to hold several labels in a row: label_separator={separator!r} reads "
                f"them (--label-separator {separator!r})"
            )
    return ""


def _classes_by_name(labels: Labels | None, table: Table) -> tuple[int, list[str]] | None:
    """The position of a column and some of its classes, if these are what the labels name (`species: setosa`)."""
    if labels is None or isinstance(labels, int | np.integer | str | Path | re.Pattern) or not len(labels):
        return None
    position = {name: i for i, name in enumerate(table.names)}
    named = [(item, *item.partition(": ")) for item in labels if isinstance(item, str)]
    columns = {column for _, column, _, _ in named}
    classes = [category for item, _, _, category in named if category and item not in position]
    column = next(iter(columns), "")
    if len(columns) > 1 or len(classes) < len(labels) or column not in position:
        return None
    is_nominal = _holds_classes(table.attributes[position[column]], fewest=1)
    return (position[column], classes) if is_nominal else None


def _holds_classes(attribute: Attribute, fewest: int = 2) -> bool:
    """Whether a column is nominal and none of its categories says present or absent."""
    categories = attribute.categories or ()
    return len(categories) >= fewest and all(_category_meaning(c) < 0 for c in categories)


def _class_labels(table: Table, index: int, classes: Sequence[str], source: Source) -> NDArray[np.int8]:
    """One label for each of some classes of a column."""
    codes = table.column(index)
    attribute = table.attributes[index]
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        where = source.at_row(int(missing[0]))
        raise DataError(f"{where}: a missing value for label {shown(attribute.name)}, expected a class")
    place = {category: i for i, category in enumerate(attribute.categories or ())}
    return np.column_stack([codes == place.get(c, -1) for c in classes]).astype(np.int8)


def parse_labels(text: str) -> Labels:
    """Labels as written on a command line.

    >>> parse_labels("last:3"), parse_labels("first:2"), parse_labels("red,green"), parse_labels("flags.xml")
    (-3, 2, ['red', 'green'], PosixPath('flags.xml'))
    """
    counted = re.fullmatch(r"(first|last):([0-9]{1,9})", text.strip())
    if counted:
        return int(counted[2]) if counted[1] == "first" else -int(counted[2])
    if re.fullmatch(r"[+-]?[0-9]{1,9}", text.strip()):
        return int(text)
    if text.lower().endswith(".xml"):
        return Path(text)
    return text.split(",") if "," in text else text


def meka_labels(relation: str) -> int | None:
    """How many labels MEKA's options in the name of a relation state: `-C 6` the first, `-C -6` the last six.

    >>> meka_labels("Music: -C 6"), meka_labels("music")
    (6, None)
    """
    match = _MEKA.search(relation)
    return int(match[1]) if match else None


def _xml_file(names: tuple[str, ...], labels: Labels | None, xml: Path | None) -> Path | None:
    """The file that says which columns are labels, if one does."""
    named_file = isinstance(labels, str) and labels.lower().endswith(".xml") and labels not in names
    return xml if labels is None else Path(str(labels)) if isinstance(labels, Path) or named_file else None


def _find(names: tuple[str, ...], source: Source, relation: str, labels: Labels | None) -> list[int]:
    """Positions of the label columns, in the order of the labels, where no XML file says which they are."""
    if labels is None:
        count = meka_labels(relation)
        if count is None:
            raise DataError(
                f"{source.place}: which columns are labels is not known: expected --labels, in Python labels=… (names, "
                "a pattern, or how many of the first or last columns), a Mulan XML file beside it, or -C n in the "
                "relation (MEKA)"
            )
        return _from_count(len(names), count, source.place, f"-C {count} in the relation")
    if isinstance(labels, bool):
        raise DataError(f"labels={labels!r}, expected names, a pattern or a number of columns")
    if isinstance(labels, int | np.integer):
        return _from_count(len(names), int(labels), source.place, f"labels={labels}")
    return matching(names, [labels] if isinstance(labels, str | re.Pattern | Path) else list(labels), source.place)


def _from_count(width: int, count: int, place: Place, what: str) -> list[int]:
    if not 0 < abs(count) <= width:
        raise place.error(f"{what}, expected 1 to {width} for the first or -1 to -{width} for the last columns")
    return list(range(count)) if count > 0 else list(range(width + count, width))


class XMLLabel(NamedTuple):
    """Entry of a label in an XML file."""

    line: int
    parent: str | None
    """The label inside whose element it stands."""


def _from_xml(table: Table, source: Source, file: Path, named: Mapping[str, XMLLabel]) -> list[int]:
    position = {name: i for i, name in enumerate(table.names)}
    for name, label in named.items():
        if name not in position:
            what = f"label {shown(name)} is no attribute of {source.place}"
            raise Place(file.name, label.line).error(what + nearest(name, position))
    return [position[name] for name in named]


def _hierarchy(named: Mapping[str, XMLLabel], labels: Sequence[str]) -> Hierarchy:
    """Pairs of a label and the one that it stands in, by their places."""
    position = {name: i for i, name in enumerate(labels)}
    pairs = ((name, label.parent) for name, label in named.items() if label.parent is not None)
    return tuple((position[name], position[above]) for name, above in pairs if {name, above} <= set(position))


def read_label_names(path: Path) -> dict[str, XMLLabel]:
    """The labels that a Mulan XML file names, those that others stand in first.

    Nothing that XML can define or fetch is expanded: a document type is refused.
    """
    place = Place(path.name)
    found: dict[str, XMLLabel] = {}
    parser = expat.ParserCreate(namespace_separator=" ")
    around: list[str | None] = []  # the elements that are open

    def here() -> Place:
        return place.at(parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = tag.rpartition(" ")[2]
        expected = "label" if around else "labels"
        if element != expected:
            raise here().error(f"found <{element}>, expected <{expected}>")
        if element == "labels":
            around.append(None)
            return
        name = attributes.get("name")
        if name is None:
            raise here().error("a <label> without a name, expected <label name=…>")
        if name in found:
            raise here().error(f"label {shown(name)} is named again (first on line {found[name].line})")
        found[name] = XMLLabel(parser.CurrentLineNumber, around[-1])
        around.append(name)

    def end(_: str) -> None:
        around.pop()

    def refuse(*_: object) -> None:
        raise here().error("found a document type, expected plain <labels>; document types are not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(read_bytes(path), True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, "the XML is damaged")
        raise place.at(error.lineno).error(f"{reason}, expected <label> elements inside <labels>") from error
    except (ValueError, LookupError) as error:
        if isinstance(error, DataError):
            raise
        raise here().error(f"the XML cannot be decoded ({error}), expected UTF-8") from error
    if not found:
        raise place.error("no <label>, expected at least one")
    return found


def matching(names: Sequence[str], wanted: Sequence[Any], place: Place) -> list[int]:
    """Positions of the names that are wanted, by name or by pattern, in the order in which they are wanted.

    >>> matching(["area", "label_a", "label_b"], ["label_*"], Place("flags.csv"))
    [1, 2]
    """
    position = {name: i for i, name in enumerate(names)}
    found: dict[int, None] = {}
    for item in wanted:
        if isinstance(item, str) and item in position:
            matches = [position[item]]
        elif isinstance(item, re.Pattern):
            matches = [i for name, i in position.items() if item.search(name)]
        elif isinstance(item, str) and _WILDCARDS.search(item):
            matches = [i for name, i in position.items() if fnmatch.fnmatchcase(name, item)]
        elif isinstance(item, str):
            matches = []
        else:
            raise DataError(f"{item!r} names no column, expected a name or a pattern")
        if not matches:
            text = item.pattern if isinstance(item, re.Pattern) else item
            raise place.error(f"there is no column {shown(text)}" + nearest(text, position))
        found.update(dict.fromkeys(matches))
    return list(found)


def _label_matrix(table: Table, positions: Sequence[int], source: Source) -> Any:
    """0 and 1 for each row and each of the given columns: an int8 array, or sparse where that is far smaller."""
    shape = (len(table), len(positions))
    present = [np.flatnonzero(_label(table, i, source)) for i in positions]
    ends = np.cumsum([0, *map(len, present)])
    rows = np.concatenate([np.zeros(0, np.intp), *present])
    matrix = sp.csc_array((np.ones(len(rows), np.int8), rows, ends), shape=shape).tocsr()
    is_large = isinstance(table.columns, SparseColumns) and shape[0] * shape[1] > _DENSE_CELLS
    return matrix if is_large and len(rows) < shape[0] * shape[1] * _DENSE_SHARE else matrix.toarray()


def _label(table: Table, index: int, source: Source) -> NDArray[np.int8]:
    """0 and 1 for each value of a column."""
    attribute = table.attributes[index]
    values = table.column(index)
    if attribute.categories is None:
        meanings = np.where(values == 1, np.int8(1), np.where(values == 0, np.int8(0), np.int8(-1)))
    else:
        # The last is the meaning of -1, a missing value.
        meanings = np.array([*map(_category_meaning, attribute.categories), -1], dtype=np.int8)[values]
    if len(meanings) and meanings.min() < 0:
        row = int(np.argmin(meanings))
        raise _refusal(source, attribute, values[row], row)
    return meanings


def _category_meaning(category: str) -> int:
    return int(_MEANINGS.get(category.strip().lower(), -1))


def _refusal(source: Source, attribute: Attribute, value: float, row: int) -> DataError:
    if attribute.categories is not None:
        found = None if value < 0 or not attribute.categories else attribute.categories[int(value)]
    else:
        found = None if np.isnan(value) else f"{value:g}"
    what = "a missing value" if found is None else f"the value {shown(found)}"
    return DataError(f"{source.at_row(row)}: {what} for label {shown(attribute.name)}, expected 0 or 1")
