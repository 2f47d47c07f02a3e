"""The methods that the model gets from what stands above it."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from plurule import data, export, inspection, report
from plurule._attached import RuleListMethods
from plurule.methods import METHODS
from plurule.model import RuleList

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "explain": inspection.explain,
    "describe": data.describe,
    "dependencies": inspection.dependencies,
    "edit": inspection.Edit.of,
    "simplify": inspection.simplify,
    "prune": inspection.prune,
    "check": inspection.check,
    "evidence": inspection.evidence,
    "to_frame": inspection.to_frame,
    "stability": inspection.stability,
    "to_sql": export.to_sql,
    "to_python": export.to_python,
    "to_markdown": export.to_markdown,
    "to_latex": export.to_latex,
    "to_html": report.to_html,
}


def test_every_method_is_compared_with_its_function() -> None:
    assert {name for name in METHODS[RuleListMethods] if not name.startswith("_")} == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_method_is_its_function_with_its_help(name: str) -> None:
    assert getattr(RuleList, name) == FUNCTIONS[name]
    bound = getattr(RuleList((), (), ("red",)), name)
    assert list(inspect.signature(bound).parameters) == list(inspect.signature(FUNCTIONS[name]).parameters)[1:]
    assert inspect.getdoc(bound) == inspect.getdoc(FUNCTIONS[name])


@pytest.mark.parametrize("module", ["plurule.model", "plurule.model.rule_list"])
def test_a_rule_list_has_its_methods_whatever_was_imported(module: str) -> None:
    assert run(f"from {module} import RuleList; print(RuleList((), (), ('red',)).to_markdown().count('|'))") == "14"


def test_importing_plurule_and_its_model_imports_nothing_large() -> None:
    large = "{'numpy', 'narwhals', 'sklearn', 'jinja2', 'plurule.inspection', 'plurule.export', 'plurule.report'}"
    assert run(f"import sys, plurule.model.file; print(sorted({large} & set(sys.modules)))") == "[]"
    assert run("import sys, plurule; print('plurule.model' in sys.modules)") == "False"


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
