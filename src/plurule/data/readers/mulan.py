"""Mulan's label files: XML that names the labels of an ARFF file, possibly as a hierarchy."""

from __future__ import annotations

from pathlib import Path
from xml.parsers import expat

from plurule.data.place import Place, shown
from plurule.data.readers.text import read_bytes
from plurule.errors import DataError


def read_label_names(path: Path) -> dict[str, int]:
    """The labels that a Mulan XML file names, each with its line; a hierarchy is flattened, parents first.

    Nothing that XML can define or fetch is expanded: a document type is refused.
    """
    place = Place(path.name)
    found: dict[str, int] = {}
    parser = expat.ParserCreate(namespace_separator=" ")
    depth = 0

    def here() -> Place:
        return place.at(parser.CurrentLineNumber)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        element = tag.rpartition(" ")[2]
        expected = "labels" if depth == 0 else "label"
        if element != expected:
            raise here().error(f"found <{element}>, expected <{expected}>")
        depth += 1
        if element == "labels":
            return
        name = attributes.get("name")
        if name is None:
            raise here().error("a <label> without a name, expected <label name=…>")
        if name in found:
            raise here().error(f"label {shown(name)} is named again (first on line {found[name]})")
        found[name] = parser.CurrentLineNumber

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

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
