"""A broken file says where it is broken, what was found there and what was expected."""

from __future__ import annotations

import bz2
import gzip
import re
from pathlib import Path

import pytest

from plurule import data as io
from plurule.data.readers import text as text_files
from plurule.errors import DataError

HEADER = "@relation t\n@attribute a numeric\n@attribute b {x,y}\n@attribute l {0,1}\n@data\n"


def refused(path: Path, labels: object = ("l",), **options: object) -> str:
    with pytest.raises(DataError) as caught:
        io.read(path, labels=list(labels) if isinstance(labels, tuple) else labels, **options)  # type: ignore[arg-type]
    return str(caught.value)


def refused_text(folder: Path, content: str | bytes, name: str = "t.arff", **options: object) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return refused(path, **options)


ROWS = {
    "1,x,0,7": "4 values, 3 attributes declared",
    "1,x": "2 values, 3 attributes declared",
    "1,z,0": "the value 'z' for attribute 'b', expected one of its 2 categories; known are 'x', 'y'",
    "1,,0": "an empty value for attribute 'b', expected one of its 2 categories; known are 'x', 'y'",
    ",x,0": "an empty value for attribute 'a', expected a number or ? for missing",
    "1_000,x,0": "the value '1_000' for attribute 'a', expected a number",
    "0x1F,x,0": "the value '0x1F' for attribute 'a', expected a number",
    "1.2.3,x,0": "the value '1.2.3' for attribute 'a', expected a number",
    "inf,x,0": "the value 'inf' for attribute 'a', expected a number",
    "1e999,x,0": "the value '1e999' for attribute 'a', expected a number that a double can hold",
    f"{'9' * 400},x,0": f"the value '{'9' * 59}…' for attribute 'a', expected a number that a double can hold",
    "1,'x,0": """the quote of "'x,0" is never closed""",
    "1,'x'y,0": """found 'y,0' after "'x'", expected a comma""",
    "1,x,2": "the value '2' for attribute 'l', expected one of its 2 categories; known are '0', '1'",
    "1,x,?": "a missing value for label 'l', expected 0 or 1",
    "1,x,0,{-1}": "the weight '-1', expected a number of at least 0",
    "1,x,0,{much}": "the weight 'much', expected a number of at least 0",
    "{0 1": "found '0 1', but its { is never closed",
    "{3 1}": "index 3, expected 0 to 2 (3 attributes declared)",
    "{999999999999999999999 1}": "found '999999999999999999999 1}', expected an index and a value",
    "{-1 1}": "found '-1 1}', expected an index and a value",
    "{a 1}": "found 'a 1}', expected an index and a value",
    "{0 1,0 2}": "index 0 twice in a row, expected each attribute once",
    "{0 1,}": "found '}', expected an index and a value",
    "{0}": "an empty value for attribute 'a', expected a number or ? for missing",
    "{1 z}": "the value 'z' for attribute 'b', expected one of its 2 categories; known are 'x', 'y'",
    "{1 'x}": """the quote of "'x}" is never closed""",
    "{0 1} rest": "found 'rest' after the row, expected the end of the line or {weight}",
    "{0 1.5.2}": "the value '1.5.2' for attribute 'a', expected a number",
    "{0 1 2}": "the value '1 2' for attribute 'a', expected a number",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[:12])
def test_a_broken_row_is_named_with_its_line(tmp_path: Path, row: str) -> None:
    good = "{0 1}\n" if row.startswith("{") else "1,x,0\n"
    assert refused_text(tmp_path, HEADER + good * 3 + f"\n{row}\n{good}") == f"t.arff, line 10: {ROWS[row]}"


HEADERS = {
    "@relation t\n@attribute a\n@data\n": "line 2: found '@attribute a', expected @attribute name type",
    "@relation t\n@attribute a nominal\n@data\n": "line 2: attribute 'a' has the type 'nominal', expected numeric, "
    "real, integer, string, date or {…}",
    "@relation t\n@attribute a {x,y\n@data\n": "line 2: attribute 'a': the { of its categories is never closed ('y')",
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
    "@relation t\n@attribute a relational\n@data\n": "line 2: attribute 'a' is relational; multi-instance data cannot "
    "be used, flatten them first",
    "@relation t\n@attribute a date 'QQ'\n@data\n": "line 2: attribute 'a': the date format 'QQ' has 'QQ', expected "
    "one of yyyy, yy, MM, MMM, MMMM, dd, HH, mm, ss, SSS, EEE, a, hh, Z, X, XXX",
}  # fmt: skip


@pytest.mark.parametrize("text", HEADERS, ids=range(len(HEADERS)))
def test_a_broken_header_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    assert refused_text(tmp_path, text) == f"t.arff, {HEADERS[text]}"


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    assert refused_text(tmp_path, "") == "t.arff: the file is empty, expected an ARFF header"
    assert refused_text(tmp_path, "", "t.csv") == "t.csv: the file is empty, expected a line of names"


def test_a_date_that_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    text = "@relation t\n@attribute d date 'yyyy-MM-dd'\n@attribute l {0,1}\n@data\n2024-02-30,0\n"
    message = "t.arff, line 5: the value '2024-02-30' for attribute 'd', expected a date in the form %Y-%m-%d"
    assert refused_text(tmp_path, text, text="keep") == message


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path: Path) -> None:
    message = refused_text(tmp_path, HEADER.encode() + b"1,x,0\n1,\xe9,0\n")
    assert message.startswith("t.arff, line 7: byte 0xe9 is not UTF-8, expected UTF-8 text")
    assert "UTF-16" in refused_text(tmp_path, HEADER.encode("utf-16"))


def test_files_that_cannot_be_unpacked_are_refused(tmp_path: Path) -> None:
    whole = gzip.compress(HEADER.encode() * 50)
    assert "cannot be unpacked" in refused_text(tmp_path, whole[:-20], "t.arff.gz")
    assert "cannot be unpacked" in refused_text(tmp_path, b"no gzip at all", "t.arff.gz")
    assert "cannot be unpacked" in refused_text(tmp_path, whole[:40] + b"xx" + whole[42:], "t.arff.gz")
    assert "cannot be unpacked" in refused_text(tmp_path, bz2.compress(HEADER.encode())[:-9], "t.arff.bz2")
    assert "cannot be unpacked" in refused_text(tmp_path, b"no bzip2 at all", "t.arff.bz2")


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "_ALWAYS_ALLOWED", 4 << 20)
    block = b"%" * (1 << 20)
    for name, content in {
        "t.arff.gz": gzip.compress(block * 5),
        "u.arff.gz": b"".join([gzip.compress(block)] * 5),
        "t.arff.bz2": bz2.compress(block * 5),
    }.items():
        assert "unpacks to more than 4 MB, far more than tables of this size do" in refused_text(
            tmp_path, content, name
        )
    # What is merely empty for the most part is read.
    (tmp_path / "t.arff.gz").write_bytes(gzip.compress(HEADER.encode() + b"{}\n" * (1 << 20)))
    assert len(io.read(tmp_path / "t.arff.gz", labels=["l"])) == 1 << 20


XML = '<?xml version="1.0"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n{}\n</labels>\n'
XML_FILES = {
    XML.format('<label name="red"/>'): "t.xml, line 3: label 'red' is no attribute of t.arff; known are 'a', 'b', 'l'",
    XML.format("<label/>"): "t.xml, line 3: a <label> without a name, expected <label name=…>",
    XML.format('<label name="l"/>\n<label name="l"/>'): "t.xml, line 4: label 'l' is named again (first on line 3)",
    XML.format("<tag/>"): "t.xml, line 3: found <tag>, expected <label>",
    XML.format(""): "t.xml: no <label>, expected at least one",
    "<labels>\n<label name='l'>\n</labels>": "t.xml, line 3: mismatched tag, expected <label> elements inside <labels>",
    "": "t.xml, line 1: no element found, expected <label> elements inside <labels>",
    "<html/>": "t.xml, line 1: found <html>, expected <labels>",
}


@pytest.mark.parametrize("xml", XML_FILES, ids=range(len(XML_FILES)))
def test_a_broken_label_file_is_named_with_its_line(tmp_path: Path, xml: str) -> None:
    (tmp_path / "t.xml").write_text(xml)
    assert refused_text(tmp_path, HEADER + "1,x,0\n", labels=None) == XML_FILES[xml]


def test_an_xml_bomb_is_refused_unopened(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    (tmp_path / "t.xml").write_text(
        f'<!DOCTYPE labels [<!ENTITY e0 "boom">{entities}]><labels><label name="&e9;"/></labels>'
    )
    message = refused_text(tmp_path, HEADER, labels=None)
    assert message == "t.xml, line 1: found a document type, expected plain <labels>; document types are not read"


def test_a_label_file_cannot_fetch_other_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "t.xml").write_text(
        f'<!DOCTYPE labels [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><labels><label name="&x;"/></labels>'
    )
    assert "document types are not read" in refused_text(tmp_path, HEADER, labels=None)


def test_a_hierarchy_of_labels_is_flattened(tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text(HEADER.replace("b {x,y}", "b {0,1}") + "1,1,0\n")
    (tmp_path / "t.xml").write_text(XML.format('<label name="l"><label name="b"></label></label>'))
    data = io.read(tmp_path / "t.arff")
    assert data.label_names == ("l", "b")
    assert data.Y.tolist() == [[0, 1]]


def test_without_any_word_about_labels_the_message_says_what_to_give(tmp_path: Path) -> None:
    message = refused_text(tmp_path, HEADER, labels=None)
    assert message.startswith("t.arff: which columns are labels is not known: expected --labels, in Python labels=")


def test_meka_counts_beyond_the_attributes_are_refused(tmp_path: Path) -> None:
    for count in ("0", "4", "-4", "1000000000"):
        text = HEADER.replace("@relation t", f"@relation 't: -C {count}'")
        expected = f"t.arff: -C {count} in the relation, expected 1 to 3 for the first or -1 to -3 for the last columns"
        assert refused_text(tmp_path, text, labels=None) == expected


def test_labels_must_be_zero_or_one(tmp_path: Path) -> None:
    text = "@relation t\n@attribute l numeric\n@attribute m {a,1}\n@data\n0,a\n2,1\n"
    assert refused_text(tmp_path, text) == "t.arff, line 6: the value '2' for label 'l', expected 0 or 1"
    expected = "t.arff, line 5: the value 'a' for label 'm', expected 0 or 1"
    assert refused_text(tmp_path, text, labels=("m",)) == expected
    sparse = "@relation t\n@attribute l numeric\n@attribute m {a,1}\n@data\n{}\n{0 2}\n"
    assert refused_text(tmp_path, sparse) == "t.arff, line 6: the value '2' for label 'l', expected 0 or 1"
    assert refused_text(tmp_path, sparse, labels=("m",)) == expected


CSV = {
    "a,l\n1,0\n2,0,3\n": "line 3: 3 values, 2 columns named",
    "a,l\n1,0\n\n2\n": "line 4: 1 values, 2 columns named",
    'a,l\n"x\ny",0\n"x",0,1\n': "line 4: 3 values, 2 columns named",
    'a,l\n1,0\n"2,0\n': "line 3: a quote is never closed, expected it before the end of the file",
    'a,l\n"2"x,0\n': "line 2: text after a closing quote, expected the delimiter or the end of the line",
    "a,l,a\n1,0,1\n": "line 1: two columns are named 'a', expected unique names",
    "a,l\n1,0\ninf,0\n": "line 3: the value 'inf' for column 'a', expected a finite number",
    "a,l\n1,0\n1,2\n": "line 3: the value '2' for label 'l', expected 0 or 1",
    "a,l\nx,0\n\ny,maybe\n": "line 4: the value 'maybe' for label 'l', expected 0 or 1",
}  # fmt: skip


@pytest.mark.parametrize("text", CSV, ids=range(len(CSV)))
def test_a_broken_csv_file_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    assert refused_text(tmp_path, text, "t.csv") == f"t.csv, {CSV[text]}"


def test_an_unknown_label_gets_the_nearest_names(tmp_path: Path) -> None:
    message = refused_text(tmp_path, "colour,red\n1,0\n", "t.csv", labels=("reed",))
    assert message == "t.csv: there is no column 'reed'; did you mean 'red'?"


def test_a_file_that_is_no_parquet_file_is_refused(tmp_path: Path) -> None:
    message = refused_text(tmp_path, b"PAR1 is how it begins" * 10, "t.parquet")
    assert message.startswith("t.parquet: is not a Parquet file or is damaged (")


def test_missing_files_and_unknown_formats_are_named(tmp_path: Path) -> None:
    assert re.match(r".*/nothing: there is no such file, and no data set of that name", refused(tmp_path / "nothing"))
    assert refused(tmp_path).endswith("nor just one; name a file")
    assert "of no known format, expected a file that ends in .arff, .csv" in refused_text(tmp_path, "x", "t.xlsx")


def test_a_missing_part_of_a_pair_is_named(tmp_path: Path) -> None:
    (tmp_path / "t-train.arff").write_text(HEADER + "1,x,0\n")
    message = refused(tmp_path / "t", split="all")
    assert message == f"{tmp_path}: there is no t-test beside t-train.arff"


def test_parts_with_different_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t-train.csv").write_text("a,l\n1,0\n")
    (tmp_path / "t-test.csv").write_text("b,l\n1,0\n")
    assert refused(tmp_path / "t") == "'t-train' and 't-test' have different columns: 'a' is in one only"
