"""Data dictionaries: what the columns of data mean, read from CSV or a mapping and put into rule lists."""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from plurule.data.reading import Place, read_text, shown
from plurule.errors import DataError, nearest
from plurule.model import RuleList
from plurule.model.naming import Meaning

FIELDS = Meaning._fields


def apply_dictionary(rule_list: RuleList, dictionary: Any, *, ignore: Collection[str] = ()) -> RuleList:
    """Return the rule list with units and descriptions, which appear in its report, explanations and exports.

    Parameters
    ----------
    rule_list
        The rules.
    dictionary
        A CSV file with the columns `name`, `unit` and `description`, or a mapping from names to descriptions, or to
        mappings with `unit` and `description`.
    ignore
        Names that may be described though the rule list does not know them, such as columns that were dropped.

    Returns
    -------
    RuleList
        The same rules. Each class of a column has the meaning of the column.

    Examples
    --------
    >>> from plurule.model import Attribute, RuleList
    >>> rules = RuleList((), (Attribute("area"),), ("red",))
    >>> rules = apply_dictionary(rules, {"area": {"unit": "km²", "description": "land"}, "red": "a colour of the flag"})
    >>> rules.dictionary["area"]
    Meaning(unit='km²', description='land')
    >>> apply_dictionary(rules, {"aera": {"unit": "km²"}})
    Traceback (most recent call last):
    ...
    plurule.errors.DataError: the dictionary: describes 'aera': no attributes or labels; did you mean 'area'?...
    """
    place, found = read_dictionary(dictionary)
    return replace(rule_list, dictionary=_known(place, found, rule_list, ignore))


def read_dictionary(source: Any) -> tuple[Place, dict[str, Meaning]]:
    """Return the place of a dictionary for error messages, and its meanings by name."""
    if isinstance(source, Mapping):
        place = Place("the dictionary")
        return place, _from_mapping(source, place)
    if not isinstance(source, str | os.PathLike):
        raise DataError(f"a dictionary is a file or a mapping, found {type(source).__name__}")
    path = Path(source)
    if path.suffix.lower() in (".csv", ".tsv"):
        return Place(path.name), _read_csv(path)
    raise DataError(f"{path}: expected a dictionary as a file that ends in .csv or .tsv")


def _known(
    place: Place, found: Mapping[str, Meaning], rule_list: RuleList, ignore: Collection[str]
) -> dict[str, Meaning]:
    names = [*(attribute.name for attribute in rule_list.attributes), *rule_list.labels]
    known: dict[str, Meaning] = {}
    unknown = []
    for name, meaning in found.items():
        meant = [name] if name in names else [label for label in rule_list.labels if label.startswith(f"{name}: ")]
        known |= dict.fromkeys(meant, meaning)
        if not meant and name not in ignore:
            unknown.append(name)
    if unknown:
        listed = ", ".join(map(repr, unknown[:5])) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        hint = nearest(unknown[0], names)
        raise place.error(f"describes {listed}: no attributes or labels{hint}; correct or remove what is unknown")
    return known


def _read_csv(path: Path) -> dict[str, Meaning]:
    place, text = Place(path.name), read_text(path)
    header = text.partition("\n")[0]
    delimiter = max("\t;,", key=header.count)
    reader = csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter)
    try:
        return _meanings(reader, place)
    except csv.Error as error:
        raise place.at(reader.reader.line_num).error(str(error)) from error


def _meanings(reader: csv.DictReader[str], place: Place) -> dict[str, Meaning]:
    columns = [column.strip().lower() for column in reader.fieldnames or ()]
    if "name" not in columns or not set(columns) & set(FIELDS):
        listed = ", ".join(map(repr, columns)) or "none"
        raise place.at(1).error(f"found the columns {listed}, expected 'name' and 'unit', 'description' or both")
    reader.fieldnames = columns
    found: dict[str, Meaning] = {}
    for row in reader:
        at, name = place.at(reader.line_num), (row["name"] or "").strip()
        if not name:
            raise at.error("a line without a name, expected that of an attribute or label")
        if name in found:
            raise at.error(f"describes {name!r} again, expected each name once")
        found[name] = Meaning(*((row.get(field) or "").strip() for field in FIELDS))
    return found


def _from_mapping(source: Mapping[Any, Any], place: Place) -> dict[str, Meaning]:
    found = {}
    for name, value in source.items():
        texts = {"description": value} if isinstance(value, str) else value
        if not isinstance(texts, Mapping) or not set(texts) <= set(FIELDS) or any(map(_is_nested, texts.values())):
            expected = "a description, or a mapping with the texts 'unit' and 'description'"
            raise place.error(f"{name!r} has {shown(repr(value))}, expected {expected}")
        found[str(name)] = Meaning(**{key: str(text).strip() for key, text in texts.items() if text is not None})
    return found


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)
