"""How the site is built: `make docs`, which needs no network once its environment is there."""

from __future__ import annotations

import importlib
import inspect
import os
import re
from importlib.resources import files
from pathlib import Path

from sphinx.application import Sphinx

import plurule

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "plurule"
author = "the plurule developers"
copyright = author
version = release = plurule.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
]
exclude_patterns = [
    "_build",
    "_templates",
    "jupyter_execute",
    "gallery/*.ipynb",
    "gallery/*.py",
    "gallery/*.md5",
    "gallery/*.json",
]
nitpicky = False
templates_path = ["_templates"]
default_role = "code"
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

autosummary_generate = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 1,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),  # what axes give is not worth showing
    "copyfile_regex": r".*\.(csv|txt)",
}

html_theme = "pydata_sphinx_theme"
html_title = f"plurule {release}"
html_static_path = ["_static"]
html_extra_path = ["_extra"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "plurule"},
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 4,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"**": []}

MODULES = ("plurule", *(f"plurule.{name}" for name in plurule.__all__ if inspect.ismodule(getattr(plurule, name))))
MODULES += ("plurule.dask",)


OUTSIDE = {  # documents that live elsewhere in the repository and are pages of the site as well
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "research/speed/README.md": "benchmarks.md",
    "research/compare/README.md": "quality.md",
    "research/related/README.md": "related.md",
}


def site_links(text: str, folder: Path, page_folder: Path) -> str:
    """A document with its links to other documents as links between pages; what is no page is named, not linked."""

    def replace(match: re.Match[str]) -> str:
        words, target, anchor = match.groups()
        path = (folder / target).resolve()
        place = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
        page = DOCS / OUTSIDE[place] if place in OUTSIDE else path
        if path.parent.name == "examples" and path.suffix == ".py":
            page = DOCS / "gallery" / f"{path.stem}.rst"
        if not page.is_relative_to(DOCS) or path.is_dir():
            return words
        return f"[{words}]({os.path.relpath(page, page_folder)}{anchor or ''})"

    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)", replace, text)


def write_outside_pages() -> None:
    """Copies of the documents that live elsewhere."""
    for source, page in OUTSIDE.items():
        place = ROOT / source
        write_if_new(DOCS / page, site_links(place.read_text(encoding="utf-8"), place.parent, DOCS))


def write_if_new(page: Path, text: str) -> None:
    """Write a page if it is not there already, so that only what has changed is built again."""
    page.parent.mkdir(exist_ok=True)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def write_reference() -> None:
    """A page per public module with a page per public name: whatever is in `__all__` is in the reference."""
    described: dict[int, str] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        lines = [
            f"``{name}``",
            "=" * (len(name) + 4),
            "",
            f".. automodule:: {name}",
            "",
            f".. currentmodule:: {name}",
            "",
        ]
        by_kind: dict[str, list[str]] = {"Classes": [], "Functions": [], "Values": [], "Described elsewhere": []}
        for each in module.__all__:
            value = getattr(module, each)
            if inspect.ismodule(value) or each.startswith("__"):
                continue
            kind = "Classes" if inspect.isclass(value) else "Functions" if inspect.isroutine(value) else "Values"
            if described.setdefault(id(value), f"{name}.{each}") != f"{name}.{each}":
                kind, each = "Described elsewhere", described[id(value)]
            by_kind[kind].append(each)
        for title, members in by_kind.items():
            if members:
                lines += [title, "-" * len(title), "", ".. autosummary::"]
                lines += ["   :toctree: names", ""] if title != "Described elsewhere" else [""]
                lines += [*(f"   {each}" for each in members), ""]
        write_if_new(DOCS / "reference" / f"{name}.rst", "\n".join(lines))


def write_reports() -> None:
    """The reports that can be tried on the site."""
    from plurule.datasets import load_canteen_dishes, load_world_flags

    for name, load, title in (
        ("flags", load_world_flags, "Colours of flags"),
        ("dishes", load_canteen_dishes, "Labels of canteen dishes"),
    ):
        data = load()
        rules = plurule.RuleListClassifier(max_rules=40, n_jobs=2).fit(data).rule_list_
        page = rules.to_html(data, title=title)
        write_if_new(DOCS / "_extra" / f"report-{name}.html", page)
        if name == "dishes":
            write_own_rows(page, data)


def write_own_rows(page: str, data: plurule.Dataset) -> None:
    """What it takes to try rows of one's own: the model of a report, what runs it, and a file to begin with."""
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    write_if_new(DOCS / "_extra" / "model.html", found[0])
    write_if_new(DOCS / "_extra" / "decide.js", (files("plurule.report") / "static" / "decide.js").read_text("utf-8"))
    write_if_new(DOCS / "_extra" / "dishes.csv", data[:20].to_pandas()[0].to_csv(index_label="dish"))


def rewrite_links(app: Sphinx, name: str, source: list[str]) -> None:
    """Links of the documents in this folder, which lead through the repository, as links between pages."""
    folder = (DOCS / name).parent
    if (DOCS / f"{name}.md").exists():
        source[0] = site_links(source[0], folder, folder)


def shorten_types(
    app: Sphinx, what: str, name: str, value: object, options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """What numpy calls ArrayLike is a union of a line and a half."""
    short = signature and re.sub(r"[~.\w]*_Buffer \| .*?bytes \| str\](?= \|)", "ArrayLike", signature)
    return short, returned


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-signature", shorten_types)
    app.connect("source-read", rewrite_links)


write_outside_pages()
write_reference()
write_reports()
