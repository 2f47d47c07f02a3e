"""No module and no function is too long to be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "plurule"
LINES_OF_A_MODULE = 450
LINES_OF_A_FUNCTION = 60


def lengths_of_functions(source: str) -> dict[str, int]:
    """How many lines every function has, its signature included, its decorators and docstring not."""
    lengths = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = set(range(node.lineno, (node.end_lineno or 0) + 1))
            if ast.get_docstring(node) is not None:
                lines -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
            lengths[f"{node.name} (line {node.lineno})"] = len(lines)
    return lengths


@pytest.mark.parametrize("name", sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py")))
def test_a_module_and_its_functions_are_short(name: str) -> None:
    source = (SOURCES / name).read_text(encoding="utf-8")
    assert len(source.splitlines()) <= LINES_OF_A_MODULE
    assert {name: n for name, n in lengths_of_functions(source).items() if n > LINES_OF_A_FUNCTION} == {}
