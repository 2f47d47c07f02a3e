"""What the documents say is so."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import plurule
from helpers.datasets import write_csv
from plurule.datasets import load_world_flags

ROOT = Path(__file__).parents[2]


def code_blocks(document: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_example_in_the_readme_prints_what_is_below_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it writes a model
    (example,) = code_blocks("README.md")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"```text\n(.*?)```", readme, flags=re.DOTALL)
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    exec(example, {})
    assert capsys.readouterr().out == printed
    first_rules = re.findall(r"^    (\S.* ←.*\(TP .*\))$", readme, re.MULTILINE)
    assert len(first_rules) == 3
    assert set(first_rules) <= set(printed.splitlines())


def pages_of_other_documents() -> set[str]:
    """Return the pages that the site makes of documents elsewhere in the repository."""
    site = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    return set(re.findall(r'^    "[\w/.]+\.md": "([\w-]+\.md)",$', site, re.MULTILINE))


FIRST = "index.md"
PAGES = [
    path.name
    for path in sorted((ROOT / "docs").glob("*.md"))
    if path.name not in pages_of_other_documents() and code_blocks(f"docs/{path.name}")
]


@pytest.mark.parametrize("page", [page for page in PAGES if page != FIRST])
def test_the_examples_of_a_page_run_one_after_the_other(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = load_world_flags()
    named = replace(flags, label_names=tuple(f"is_{name}" for name in flags.label_names))
    write_csv(named, tmp_path / "flags.csv")  # the file that pages speak of
    names: dict[str, object] = {}
    for block in code_blocks(f"docs/{page}"):
        exec(block, names)


def test_pictures_of_screens_are_small() -> None:
    pictures = list((ROOT / "docs" / "images").glob("*.png"))
    assert len(pictures) >= 6
    for picture in pictures:
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size <= 100_000


def test_the_rules_on_the_first_page_are_learned_by_the_program_below_them() -> None:
    page = (ROOT / "docs" / FIRST).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    (program,) = code_blocks(f"docs/{FIRST}")
    exec(program, names)
    (quoted,) = re.findall(r"```text\n(.*?)```", page, flags=re.DOTALL)
    assert set(quoted.splitlines()) <= {str(rule) for rule in names["classifier"].rule_list_}


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_documents_for_contributors_name_only_files_that_are_there(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w*./-])[a-z_]+(?:/[a-z_]+)*(?:\.pyi?|/)(?![\w*])", text))
    places = (ROOT, ROOT / "src" / "plurule", ROOT / "src" / "plurule" / "_rows")
    assert len(named) > 5
    named.discard("dist/")  # what a build makes
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def test_architecture_names_every_internal_package() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = [path.parent.name for path in (ROOT / "src" / "plurule").glob("_*/__init__.py")]
    assert len(packages) == 4
    assert [name for name in packages if name not in text] == []


def test_links_between_documents_lead_somewhere() -> None:
    made_by_the_site = pages_of_other_documents()
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8")):
            found = (document.parent / target).exists() or target in made_by_the_site or target.startswith("gallery/")
            assert found, f"{document.name} links to {target}"


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    source = (ROOT / project["tool"]["scikit-build"]["metadata"]["version"]["input"]).read_text(encoding="utf-8")
    assert f'__version__ = "{plurule.__version__}"' in source
    for document, line in {
        "CHANGELOG.md": f"## [{plurule.__version__}]",
        "CITATION.cff": f"\nversion: {plurule.__version__}\n",
        "release/conda-forge/recipe.yaml": f'version: "{plurule.__version__}"',
    }.items():
        assert line in (ROOT / document).read_text(encoding="utf-8"), document


def test_the_recipe_asks_for_what_the_package_needs() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    recipe = (ROOT / "release/conda-forge/recipe.yaml").read_text(encoding="utf-8")
    run = re.search(r"\n  run:\n((?:    - .*\n)+)", recipe)
    assert run is not None
    assert sorted(run[1].replace("    - ", "").replace(" ", "").split()) == sorted(["python", *needed])
