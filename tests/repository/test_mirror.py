"""Tests stand where the sources stand: `tests/data/test_table.py` is about `src/plurule/data/table.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SOURCES = TESTS.parent / "src" / "plurule"
# Not about one part of the package: the repository, what tests share.
ELSEWHERE = {"repository", "helpers"}


def subjects(folder: Path) -> set[str]:
    """What the tests of a folder can be about: modules, packages and folders, without leading underscores."""
    names = {path.stem if path.suffix == ".py" else path.name.partition(".")[0] for path in folder.iterdir()}
    return {name.strip("_") for name in names}


@pytest.mark.parametrize(
    "name",
    sorted(
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("test_*.py")
        if path.relative_to(TESTS).parts[0] not in ELSEWHERE
    ),
)
def test_a_test_module_is_named_after_what_it_is_about(name: str) -> None:
    parent, subject = Path(name).parent, Path(name).stem.removeprefix("test_")
    # Folders of tests have no leading underscore: those of `_learning` are in tests/learning.
    folders = SOURCES / parent, SOURCES / f"_{parent}"
    folder = next((f for f in folders if (f / "__init__.py").is_file()), None)
    assert folder is not None, f"there is no package {parent}"
    # An aspect can follow the name: test_classifier_checks.
    assert any(subject == known or subject.startswith(f"{known}_") for known in subjects(folder))
