"""Which columns are labels, and what their values say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.datasets import ARFF, HEADER, refused_text
from plurule import RuleListClassifier
from plurule import data as io
from plurule.data import labels as labels_module
from plurule.data.labels import parse_labels
from plurule.errors import DataError
from plurule.model import Attribute


@pytest.mark.parametrize(
    "labels",
    [["is_red", "is_blue"], "is_*", ["is_r*", "is_blue"], re.compile(r"red|blue"), -2, parse_labels("last:2"),
     parse_labels("is_red,is_blue"), parse_labels("is_*"), np.int64(-2)],
    ids=str,
)  # fmt: skip
def test_labels_are_chosen_by_name_pattern_or_number(csv: Path, labels: Any) -> None:
    data = io.read(csv, labels=labels)
    assert data.label_names == ("is_red", "is_blue")
    assert data.attributes == (Attribute("id"), Attribute("area"), Attribute("sea", ("no", "yes")))
    assert data.Y.tolist() == [[1, 0], [0, 1]]
    np.testing.assert_array_equal(data.X.column(1), [1.5, np.nan])


def test_labels_come_in_the_order_in_which_they_are_named(csv: Path) -> None:
    assert io.read(csv, labels=["is_blue", "is_red"]).label_names == ("is_blue", "is_red")


def test_labels_can_be_the_first_columns(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("l\tm\ta\n1\t0\t5\n")
    data = io.read(tmp_path / "t.tsv", labels=2)
    assert data.label_names == ("l", "m")
    assert data.X.column(0).tolist() == [5]


@pytest.mark.parametrize("truth", ["0 1", "False True", "no YES", "0.0 1.0"])
def test_labels_may_be_spelled_in_several_ways(tmp_path: Path, truth: str) -> None:
    absent, present = truth.split()
    (tmp_path / "t.csv").write_text(f"a,l\n1,{present}\n2,{absent}\n")
    assert io.read(tmp_path / "t.csv", labels=["l"]).Y.tolist() == [[1], [0]]


@pytest.mark.parametrize(("relation", "labels"), [("x: -C 1", ("l",)), ("x: -C -1", ("m",)), ("-C 2 -V 1", ("l", "a"))])
def test_meka_states_the_number_of_labels(tmp_path: Path, relation: str, labels: tuple[str, ...]) -> None:
    (tmp_path / "t.arff").write_text(ARFF.format(relation).replace("1,2,0", "1,1,0"))
    assert io.read(tmp_path / "t.arff").label_names == labels


def test_a_label_file_counts_more_than_what_meka_states(tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text(ARFF.format("x: -C 1"))
    (tmp_path / "t.xml").write_text('<labels><label name="m"/></labels>')
    assert io.read(tmp_path / "t.arff").label_names == ("m",)
    (tmp_path / "other.xml").write_text('<labels><label name="l"/></labels>')
    assert io.read(tmp_path / "t.arff", labels=tmp_path / "other.xml").label_names == ("l",)
    assert io.read(tmp_path / "t.arff", labels=["l", "m"]).label_names == ("l", "m")


def test_a_column_of_classes_is_a_group_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "iris.csv"
    path.write_text("width,species,wild,port\n1.5,setosa,yes,Cork\n2.5,virginica,no,Bray\n0.5,versicolor,yes,Cork\n")
    data = io.read(path, labels=["species"])
    assert data.label_names == ("species: setosa", "species: versicolor", "species: virginica")
    assert data.groups == ((0, 1, 2),)
    assert data.Y.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert io.read(path, labels=["port"]).label_names == ("port: Bray", "port: Cork")
    assert io.read(path, labels=["wild"]).label_names == ("wild",)
    some = io.read(path, labels=["species: virginica", "species: maxima"])
    assert some.label_names == ("species: virginica", "species: maxima")
    assert some.Y.tolist() == [[0, 0], [1, 0], [0, 0]]


def test_a_column_of_classes_is_the_only_label_column(tmp_path: Path) -> None:
    path = tmp_path / "iris.csv"
    path.write_text("width,species,wild\n1.5,setosa,yes\n2.5,virginica,no\n")
    with pytest.raises(DataError, match="line 2: the value 'setosa' for label 'species', expected 0 or 1"):
        io.read(path, labels=["species", "wild"])


def test_a_missing_class_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "iris.csv"
    path.write_text("width,species\n1.5,setosa\n")
    assert io.read(path, labels=["species: maxima", "species: setosa"]).Y.tolist() == [[0, 1]]
    path.write_text("width,species\n1.5,setosa\n2.5,\n0.5,versicolor\n")
    with pytest.raises(DataError, match="line 3: a missing value for label 'species', expected a class"):
        io.read(path, labels="species")


def test_labels_inside_others_imply_them(tmp_path: Path) -> None:
    (tmp_path / "t.arff").write_text(ARFF.format("toys"))
    (tmp_path / "t.xml").write_text('<labels><label name="m"><label name="l"/></label></labels>')
    data = io.read(tmp_path / "t.arff")
    assert (data.label_names, data.hierarchy) == (("m", "l"), ((1, 0),))
    assert data[:1].hierarchy == data.hierarchy
    assert io.read(tmp_path / "t.arff", labels=["l", "m"]).hierarchy == ()
    with pytest.raises(DataError, match="row 0 has the label 'l' without 'm', which it implies"):
        RuleListClassifier().fit(data)


def sparse_file(folder: Path, domains: str, rows: str) -> Path:
    """A file of sparse rows, an attribute and labels with the given categories."""
    declared = "".join(f"@attribute l{i} {domain}\n" for i, domain in enumerate(domains.split()))
    (folder / "t.arff").write_text(f"@relation t\n@attribute a numeric\n{declared}@data\n{rows}")
    return folder / "t.arff"


@pytest.mark.parametrize("largest", [1 << 27, 0])
def test_sparse_labels_are_what_their_rows_list_whether_kept_sparse_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, largest: int
) -> None:
    monkeypatch.setattr(labels_module, "_DENSE_CELLS", largest)
    monkeypatch.setattr(labels_module, "_DENSE_SHARE", 1.0)
    path = sparse_file(tmp_path, "{0,1} numeric {no,yes} {0,1}", "{0 5,1 1}\n{2 1}\n{3 yes}\n{0 1}\n")
    Y = io.read(path, labels="l*").Y
    assert sp.issparse(Y) == (largest == 0)
    assert np.asarray(Y.todense() if sp.issparse(Y) else Y).tolist() == [
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 0],
    ]


def test_a_label_that_is_present_unless_a_row_says_otherwise(tmp_path: Path) -> None:
    path = sparse_file(tmp_path, "{1,0}", "{0 5}\n{1 0}\n{1 1}\n")
    assert io.read(path, labels="l*").Y.tolist() == [[1], [0], [1]]


@pytest.mark.parametrize(
    ("domain", "rows", "message"),
    [
        ("{0,1}", "{1 1}\n{1 ?}\n", "line 6: a missing value for label 'l0', expected 0 or 1"),
        ("numeric", "{1 1}\n{1 3}\n", "line 6: the value '3' for label 'l0', expected 0 or 1"),
        ("{odd,0,1}", "{1 1}\n{0 5}\n", "line 6: the value 'odd' for label 'l0', expected 0 or 1"),
    ],
)
def test_what_sparse_rows_say_of_a_label_is_refused_with_its_line(
    tmp_path: Path, domain: str, rows: str, message: str
) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        io.read(sparse_file(tmp_path, domain, rows), labels="l*")


def test_a_category_that_no_row_has_unlisted_does_not_matter(tmp_path: Path) -> None:
    assert io.read(sparse_file(tmp_path, "{odd,0,1}", "{1 1}\n{1 0}\n"), labels="l*").Y.tolist() == [[1], [0]]


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


def test_an_unknown_label_gets_the_nearest_names(tmp_path: Path) -> None:
    message = refused_text(tmp_path, "colour,red\n1,0\n", "t.csv", labels=("reed",))
    assert message == "t.csv: there is no column 'reed'; did you mean 'red'?"
