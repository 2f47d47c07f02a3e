"""The table of formats, and formats of other packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from plurule import RuleList
from plurule.errors import ModelError
from plurule.export import FORMATS, Format, export
from plurule.export.formats import all_formats, format_table

RULES = RuleList.from_text("red <- stripes > 2", ["stripes"], ["red"])
SHOUT = Format(
    "shout", ".loud", "capital letters", "small letters", lambda rule_list, end="!": f"{rule_list}{end}".upper()
)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_writes_a_rule_list(name: str) -> None:
    written = export(RULES, name)
    assert len(written) > 0
    assert FORMATS[name].suffix.startswith(".")


def test_export_refuses_a_format_or_option_that_does_not_exist() -> None:
    with pytest.raises(ModelError, match=r"there is no export format 'sqll'; did you mean 'sql'\?$"):
        export(RULES, "sqll")
    with pytest.raises(ModelError, match="the format markdown has no option 'dialect'"):
        export(RULES, "markdown", dialect="sqlite")


def test_documentation_shows_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "shipping.md").read_text(encoding="utf-8")
    assert format_table() in page


@pytest.fixture
def entry_points(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(value: str) -> None:
        entry = EntryPoint("shout", value, "plurule.export")
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == entry.group else [])

    return install


def test_another_package_adds_a_format_by_entry_point(entry_points: Any) -> None:
    entry_points(f"{__name__}:SHOUT")
    assert export(RULES, "shout", end="?").endswith("?")
    assert list(all_formats())[-1] in FORMATS


def test_an_entry_point_that_is_no_format_is_refused(entry_points: Any) -> None:
    entry_points("json:dumps")
    with pytest.raises(ModelError, match=r"json:dumps is no plurule\.export\.Format"):
        all_formats()


def test_an_entry_point_that_cannot_be_loaded_is_named(entry_points: Any) -> None:
    entry_points("no_such_package:FORMAT")
    with pytest.raises(ModelError, match=r"entry point 'shout' of .*: no_such_package:FORMAT cannot be loaded"):
        export(RULES, "shout")
