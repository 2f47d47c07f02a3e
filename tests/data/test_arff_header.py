"""What the declarations of an ARFF file may look like, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.datasets import refused_text
from plurule.data.arff import read_arff


def write(folder: Path, text: str, name: str = "data.arff") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_names_may_be_quoted_escaped_or_odd(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "@relation 'a relation, \\'quoted\\''\n"
        "@attribute 'Swainson\\'s Thrush' numeric\n"
        '@attribute "say \\"hi\\"" numeric\n'
        "@attribute 'comma, {brace} % \\n newline' numeric\n"
        "@attribute '' numeric\n"
        "@attribute m\\'usica numeric\n"
        "@attribute größe numeric\n"
        "@attribute 50% numeric\n"
        "@attribute brace{0,1}\n"
        "@attribute '\\u00e9\\t\\\\' numeric\n"
        "@data\n1,2,3,4,5,6,7,1,9\n",
    )
    data, _ = read_arff(path)
    assert data.relation == "a relation, 'quoted'"
    assert data.attribute_names == (
        "Swainson's Thrush",
        'say "hi"',
        "comma, {brace} % \n newline",
        "",
        "m\\'usica",
        "größe",
        "50%",
        "brace",
        "é\t\\",
    )


HEADERS = {
    "@relation t\n@attribute a\n@data\n": "line 2: found '@attribute a', expected @attribute name type",
    "@relation t\n@attribute a nominal\n@data\n": "line 2: attribute 'a' has the type 'nominal', expected numeric, "
    "real, integer, string, date or {…}",
    "@relation t\n@attribute a {x,y\n@data\n": "line 2: attribute 'a': the { of its categories is never closed "
    "('{x,y')",
    "@relation t\n@attribute a numeric {2.0}\n@data\n": "line 2: found '{2.0}' after the type of attribute 'a', "
    "expected the end of the line",
    "@relation t\n@attribute a {x,'y}\n@data\n": '''line 2: attribute 'a': found the category "'y" with an unclosed '''
    "quote",
    "@relation t\n@attribute a {x,,y}\n@data\n": "line 2: attribute 'a': found an empty category",
    "@relation t\n@attribute a {x,y,x}\n@data\n": "line 2: attribute 'a' declares the category 'x' twice",
    "@relation t\n@attribute a {x} y\n@data\n": "line 2: found 'y' after the type of attribute 'a', expected the end "
    "of the line",
    "@relation t\n@attribute 'a numeric\n@data\n": '''line 2: the quote of "'a numeric" is never closed''',
    "@relation 't\n@attribute a numeric\n@data\n": '''line 1: the quote of "'t" is never closed''',
    "@relation t\n@relation t\n@data\n": "line 2: a second @relation, expected one",
    "@relation t\n@atribute a numeric\n@data\n": "line 2: found '@atribute', expected @relation, @attribute or @data",
    "@relation t\n@attribute a numeric\n1,2\n@data\n": "line 3: found '1,2' before @data, expected a declaration",
    "@relation t\n@attribute a numeric\n1,2\n": "line 3: the file ends without @data, expected it after the attributes",
    "@relation t\n@data\n": "line 2: @data, but no attribute declared before it",
    "@relation t\n@attribute a numeric\n@data 1\n": "line 3: found '1' after @data, expected the rows on the next line",
    "@relation t\n@attribute a numeric\n@attribute b numeric\n@attribute a numeric\n@data\n": "line 4: attribute 'a' "
    "is declared again (first on line 2), expected unique names",
    "@relation t\n@attribute a relational\n@data\n": "line 2: attribute 'a' is relational; multi-instance data must "
    "be flattened",
}  # fmt: skip


@pytest.mark.parametrize("text", HEADERS, ids=range(len(HEADERS)))
def test_a_broken_header_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    assert refused_text(tmp_path, text) == f"t.arff, {HEADERS[text]}"
