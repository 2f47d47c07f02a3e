"""The contract on imports in `pyproject.toml` holds, and it breaks where an import points upwards."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytest.importorskip("importlinter", reason="import-linter is not installed")

UPWARDS = {
    "model/naming.py": "from plurule.report import save_report",
    "data/dataset.py": "def late():\n    from plurule._learning.problem import Problem",
    "heuristics.py": "if TYPE_CHECKING:\n    import plurule._selection.select",
    "_prediction/staged.py": "def late():\n    from plurule import RuleListClassifier",
    "inspection/diff.py": "from plurule.export import sql",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the sources and the contract."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("core", "__pycache__", "*.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint_imports(checkout: Path) -> tuple[int, str]:
    """What the checker says of a checkout, line breaks taken out."""
    # The finder of an editable install would find its own sources before those of the checkout.
    own = "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'Redirecting' not in type(f).__name__]"
    code = f"{own}; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_no_module_imports_upwards(checkout: Path) -> None:
    code, said = lint_imports(checkout)
    assert code == 0, said


def test_an_import_upwards_breaks_the_contract_wherever_it_stands(checkout: Path) -> None:
    for path, statement in UPWARDS.items():
        module = checkout / "src" / "plurule" / path
        module.write_text(f"{module.read_text()}\n\n{statement}\n")
    code, said = lint_imports(checkout)
    assert code == 1, said
    for path in UPWARDS:
        name = "plurule." + path.removesuffix(".py").replace("/", ".")
        assert f"- {name} -> plurule" in said, f"{name} imports upwards, and nobody notices:\n{said}"
