"""`plurule explain`."""

from __future__ import annotations

import csv
import io

import pytest

from helpers.commands import Run, assert_mistake

pytestmark = pytest.mark.usefixtures("model_folder")


def test_explain_names_the_rule_that_decided(run: Run) -> None:
    result = run("explain", "model.json", "data.csv", "--row", 3, "--row", 0)
    assert result.out.startswith("instance 3: red (ended by rule 3)\n  red: present by rule 3, since stripes = 4 > 3")
    assert "instance 0: red\n" in result.out


def test_explain_writes_csv(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("explain", "model.json", "data.csv", "--as", "csv").out)))
    assert len(rows) == 8
    assert rows[0]["because"] == "stripes = 3 > 2 and continent = Asia"


def test_explain_writes_html_of_the_first_rows(run: Run) -> None:
    page = run("explain", "model.json", "data.csv", "--as", "html", "--limit", 1).out
    assert "Instance 0" in page
    assert "Instance 1" not in page


def test_explain_refuses_a_row_that_does_not_exist(run: Run) -> None:
    result = run("explain", "model.json", "data.csv", "--row", 4)
    assert_mistake(result, "there is no row 4; rows are numbered from 0 to 3")
