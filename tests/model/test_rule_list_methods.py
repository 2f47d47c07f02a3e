"""What can be done with a rule list: its methods, and what importing the model costs."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from plurule import Dataset, RuleList
from plurule.data.inputs import encode

RULES = RuleList.from_text("red <- stripes > 2\nwhite <- red and bars <= 1", ["stripes", "bars"], ["red", "white"])
VALUES = np.array([[1.0, 0.0], [3.0, 0.0], [4.0, 2.0]])
NAMES = ["stripes", "bars"]
EXPECTED = [[0, 0], [1, 1], [1, 0]]


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    "make",
    [
        lambda: VALUES,
        VALUES.tolist,
        lambda: sp.csr_array(VALUES),
        lambda: pd.DataFrame(VALUES, columns=NAMES)[["bars", "stripes"]],
        lambda: pl.DataFrame(VALUES, schema=NAMES),
        lambda: encode(pd.DataFrame(VALUES, columns=NAMES)),
        lambda: Dataset.unlabelled(encode(pd.DataFrame(VALUES, columns=NAMES))),
    ],
    ids=["array", "list", "sparse", "pandas", "polars", "table", "dataset"],
)
def test_predict_accepts_data_in_every_form(make: Callable[[], Any]) -> None:
    assert RULES.predict(make()).tolist() == EXPECTED


def test_predict_needs_only_the_columns_that_rules_test() -> None:
    rules = RuleList.from_text("red <- stripes > 2", [*NAMES, "area"], ["red"])
    assert rules.predict(pd.DataFrame({"stripes": [1.0, 3.0]})).tolist() == [[0], [1]]


def test_predict_proba_of_rules_that_were_not_counted_is_one_half() -> None:
    assert (RULES.predict_proba(VALUES) == 0.5).all()


def test_loaded_rule_list_predicts(tmp_path: Any) -> None:
    RULES.save(tmp_path / "model.json")
    assert RuleList.load(tmp_path / "model.json").predict(VALUES).tolist() == EXPECTED


def test_methods_work_whatever_was_imported() -> None:
    code = "from plurule.model.rule_list import RuleList; print(RuleList((), (), ('red',)).to_markdown().count('|'))"
    assert run(code) == "16"


@pytest.mark.parametrize(
    "home",
    [
        "inspection.explain.explain",
        "inspection.dependencies.dependencies",
        "inspection.evidence.evidence",
        "inspection.evidence.stability",
        "inspection.evidence.to_frame",
        "inspection.check.check",
        "inspection.diff.diff",
        "inspection.simplify.simplify",
        "export.sql.to_sql",
        "export.python.to_python",
        "export.text.to_markdown",
        "export.text.to_latex",
        "report.to_html",
    ],
)
def test_methods_have_the_parameters_and_defaults_of_their_functions(home: str) -> None:
    module, _, name = home.rpartition(".")
    function = getattr(importlib.import_module(f"plurule.{module}"), name)
    expected = [(p.kind, p.default) for p in inspect.signature(function).parameters.values()]
    parameters = [(p.kind, p.default) for p in inspect.signature(getattr(RuleList, name)).parameters.values()]
    if parameters[-1][0] is inspect.Parameter.VAR_KEYWORD:
        # Options are handed on as they are.
        *parameters, _ = parameters
        assert {kind for kind, _ in expected[len(parameters) :]} == {inspect.Parameter.KEYWORD_ONLY}
        expected = expected[: len(parameters)]
    assert parameters == expected


def test_importing_the_model_imports_nothing_large() -> None:
    large = "{'numpy', 'narwhals', 'sklearn', 'jinja2', 'plurule.inspection', 'plurule.export', 'plurule.report'}"
    assert run(f"import sys, plurule.model.file; print(sorted({large} & set(sys.modules)))") == "[]"
    assert run("import sys, plurule; print('plurule.model' in sys.modules)") == "False"


def test_diff_compares_with_a_later_list() -> None:
    assert [change.change for change in RULES.diff(RULES[:1]).rules] == ["removed"]


def test_rule_prints_as_its_text() -> None:
    assert repr(RULES[0]) == str(RULES[0]) == "red ← stripes > 2   (TP 0, FP 0)"


@pytest.mark.parametrize("part", [RULES, RULES[0], RULES.explain(VALUES), RULES.explain(VALUES)[1]])
def test_notebooks_show_html(part: Any) -> None:
    html = part._repr_html_()
    assert "stripes" in html
    assert "plurule" in html
