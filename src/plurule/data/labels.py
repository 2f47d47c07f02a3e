"""Which columns are labels, and what their values say."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from xml.parsers import expat

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from plurule.data.dataset import Dataset
from plurule.data.place import Place, Source, shown
from plurule.data.readers.text import read_bytes
from plurule.data.table import Column, SparseColumn, SparseColumns, Table
from plurule.data.targets import label_names
from plurule.errors import DataError, nearest
from plurule.label_matrix import dense
from plurule.model import Attribute
from plurule.model.condition import YES
from plurule.model.head import Hierarchy

Labels: TypeAlias = int | str | Path | re.Pattern[str] | Sequence[str]
"""Which columns are labels: the first k (k > 0) or last |k| (k < 0), a name or a pattern such as `label_*`, a
compiled regular expression, a Mulan XML file, or a sequence of names and patterns (empty: no column is a label)."""

# What people write for absent and present.
_SAID = YES | {"0.0": False, "1.0": True}

# An array of labels is preferred up to this many cells; beyond, rare labels are kept sparse.
_DENSE_CELLS = 1 << 27
_DENSE_SHARE = 1 / 16
_UNLISTED: Any = np.int32(0)
"""What rows hold that a sparse column does not list: 0, or the first category."""

_MEKA = re.compile(r"-C\s+(-?[0-9]+)")
_WILDCARDS = re.compile(r"[*?\[]")


class UnknownLabels(DataError):
    """A source does not say which of its columns are labels, and nobody else does."""


def split_labels(
    data: Dataset, source: Source, labels: Labels | None, name: str = "", xml: Path | None = None
) -> Dataset:
    """Take the labels out of the columns of a source.

    Where `labels` does not say which they are, `xml` does, or else the `-C` of MEKA in the name of the relation.
    """
    table = data.X
    wanted, classes = _classes_by_name(labels, table)
    file = _xml_file(table.names, wanted, xml)
    named = {} if file is None else read_label_names(file)
    if file is None:
        positions = _find(table.names, source, data.relation, wanted)
    else:
        positions = _from_xml(table, source, file, named)
    X = table.select(np.delete(np.arange(len(table.names)), positions).tolist())
    of_classes = [i for i in positions if i in classes or _holds_classes(table.attributes[i])]
    if not of_classes:
        Y, names = _label_matrix(table, positions, source), [table.names[i] for i in positions]
        return replace(data, X=X, Y=Y, label_names=tuple(names), name=name, hierarchy=_hierarchy(named, names))
    blocks, groups, names = [], [], list[str]()
    for i in positions:
        attribute = table.attributes[i]
        if i not in of_classes:
            blocks.append(dense(_label_matrix(table, [i], source)))
            names.append(attribute.name)
            continue
        known = classes.get(i) or list(attribute.categories or ())
        said = [f"{attribute.name}: {c}" for c in known] if i in classes else label_names(attribute.name, known)
        if len(said) > 1 and i not in classes:
            groups.append(tuple(range(len(names), len(names) + len(said))))
        names += said
        blocks.append(_class_labels(table, i, known[-len(said) :], source))
    structure: dict[str, Any] = {"groups": tuple(groups), "hierarchy": _hierarchy(named, names)}
    return replace(data, X=X, Y=np.hstack(blocks), label_names=tuple(names), name=name, **structure)


def _classes_by_name(labels: Labels | None, table: Table) -> tuple[Labels | None, dict[int, list[str]]]:
    """The columns that are wanted, and of those of which single classes are (`species: setosa`), which ones."""
    classes: dict[int, list[str]] = {}
    if labels is None or isinstance(labels, int | np.integer | str | Path | re.Pattern):
        return labels, classes
    position = {name: i for i, name in enumerate(table.names)}
    wanted = dict[Any, None]()
    for item in labels:
        column, _, category = item.partition(": ") if isinstance(item, str) and item not in position else (item, "", "")
        if category and column in position and _holds_classes(table.attributes[position[column]], fewest=1):
            classes.setdefault(position[column], []).append(category)
            item = column
        wanted[item] = None
    return list(wanted), classes


def _holds_classes(attribute: Attribute, fewest: int = 2) -> bool:
    """Whether a column is nominal and none of its categories says present or absent."""
    categories = attribute.categories or ()
    return len(categories) >= fewest and all(_category_meaning(c) < 0 for c in categories)


def _class_labels(table: Table, index: int, classes: Sequence[str], source: Source) -> NDArray[np.int8]:
    """One label for each of some classes of a column."""
    codes, attribute = table.column(index), table.attributes[index]
    gone = np.flatnonzero(codes < 0)
    if len(gone):
        raise DataError(
            f"{source.at_row(int(gone[0]))}: a missing value for label {shown(attribute.name)}, expected a class"
        )
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
        if source.labels is not None:
            return matching(names, source.labels, source.place)
        count = meka_labels(relation)
        if count is None:
            raise UnknownLabels(
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
    """What an XML file says about a label."""

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
    attributes, shape = [table.attributes[i] for i in positions], (len(table), len(positions))
    is_large = isinstance(table.columns, SparseColumns) and shape[0] * shape[1] > _DENSE_CELLS
    if is_large and any(_said(attribute, _UNLISTED) > 0 for attribute in attributes):
        what = f"{shape[0] * shape[1]} labels are present unless a row says otherwise, more than fit"
        raise source.place.error(f"{what}; declare the labels as {{0,1}}")
    labels = [_label(table.columns[i], a, source) for i, a in zip(positions, attributes, strict=True)]
    rare = [label for label in labels if isinstance(label, SparseColumn)] if is_large else []
    ends = np.cumsum([0, *(len(label.rows) for label in rare)])
    if is_large and ends[-1] < shape[0] * shape[1] * _DENSE_SHARE:
        said, rows = (np.concatenate(parts) for parts in zip(*((c.values, c.rows) for c in rare), strict=True))
        present = sp.csc_array((said, rows, ends), shape=shape).tocsr()
        present.eliminate_zeros()
        return present
    Y = np.empty(shape, dtype=np.int8)
    for place, label in enumerate(labels):
        Y[:, place] = label.to_dense() if isinstance(label, SparseColumn) else label
    return Y


def _label(column: Column, attribute: Attribute, source: Source) -> Column:
    """0 and 1 for each value of a column; a sparse one stays so unless rows that it does not list have the label."""
    rows, values = (column.rows, column.values) if isinstance(column, SparseColumn) else (None, column)
    said = _said(attribute, values)
    if len(said) and said.min() < 0:
        odd = int(np.argmin(said))
        raise _refusal(source, attribute, values[odd], odd if rows is None else int(rows[odd]))
    if rows is None:
        return said
    unlisted = _said(attribute, _UNLISTED)
    if unlisted < 0 and len(rows) < len(column):
        raise _refusal(source, attribute, 0, int(np.setdiff1d(np.arange(len(column)), rows)[0]))
    if unlisted > 0:
        return SparseColumn(rows, said - unlisted, len(column)).to_dense() + unlisted
    return SparseColumn(rows, said, len(column))


def _said(attribute: Attribute, values: NDArray[Any]) -> NDArray[np.int8]:
    """What values of a label column say: 0 absent, 1 present, -1 neither."""
    if attribute.categories is None:
        return np.where(values == 1, np.int8(1), np.where(values == 0, np.int8(0), np.int8(-1)))
    # The last is what -1, a missing value, says.
    return np.array([*map(_category_meaning, attribute.categories), -1], dtype=np.int8)[values]


def _category_meaning(category: str) -> int:
    return int(_SAID.get(category.strip().lower(), -1))


def _refusal(source: Source, attribute: Attribute, value: float, row: int) -> DataError:
    if attribute.categories is not None:
        found = None if value < 0 or not attribute.categories else attribute.categories[int(value)]
    else:
        found = None if np.isnan(value) else f"{value:g}"
    what = "a missing value" if found is None else f"the value {shown(found)}"
    return DataError(f"{source.at_row(row)}: {what} for label {shown(attribute.name)}, expected 0 or 1")
