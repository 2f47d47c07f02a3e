"""What the report needs is asked for before the experiments are run."""

from __future__ import annotations

from importlib.machinery import ModuleSpec

import pytest

from plurule import paper


def test_libraries_that_are_not_there_are_named_with_the_command_that_installs_them(monkeypatch: pytest.MonkeyPatch):
    paper.check_libraries()
    there = {"pandas": None, "matplotlib": None, "jinja2": ModuleSpec("jinja2", None)}
    monkeypatch.setattr(paper, "find_spec", there.get)
    with pytest.raises(ImportError, match=r"the report needs pandas, matplotlib: pip install 'plurule\[paper\]'"):
        paper.check_libraries()
