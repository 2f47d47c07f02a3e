"""`plurule discover`."""

from __future__ import annotations

import inspect
import json

import pytest
import typer

import plurule
from helpers.commands import Run, assert_mistake
from plurule.cli import app

pytestmark = pytest.mark.usefixtures("model_folder")


def test_discover_shows_patterns_with_their_counts(run: Run) -> None:
    result = run("discover", "world-flags", "--exclusions", "-k", "4", "--resamples", "2")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0] == "4 patterns, searched on 95 rows, tested on 98 others"
    assert len(lines) == 6
    assert all(" ← " in line and ", interest " in line and ", found again in " in line for line in lines[1:5])
    assert "significant at 5 %" in lines[-1]


def test_discover_prints_json(run: Run) -> None:
    result = run("discover", "world-flags", "-k", "2", "--resamples", "0", "--json")
    found = json.loads(result.out)
    assert len(found) == 2
    assert set(found[0]) >= {"head", "body", "support", "confidence", "interest", "p_value", "p_holm"}


def test_one_pattern_is_counted_in_the_singular(run: Run) -> None:
    assert run("discover", "world-flags", "-k", "1", "--resamples", "0").out.startswith("1 pattern, ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("world-flags --test-size 2", "--test-size must be"),
        ("world-flags -k 0", "Invalid value for '--k'"),
        ("world-flags --random-state x", "Invalid value for '--random-state'"),
        ("world-flags --random-state -1", "Invalid value for '--random-state'"),
        ("data.csv --labels last:2", "at least 20 rows"),
    ],
)
def test_discover_refuses_wrong_values(run: Run, options: str, message: str) -> None:
    assert_mistake(run("discover", *options.split()), message)


def test_options_of_discover_have_the_names_and_defaults_of_the_parameters() -> None:
    parameters = inspect.signature(plurule.discover).parameters
    command = typer.main.get_command(app).commands["discover"]  # type: ignore[attr-defined]
    options = {option.name: option.default for option in command.params}
    shared = set(parameters) - {"X", "Y", "sample_weight", "label_names", "n_jobs"}
    assert {name: options[name] for name in shared} == {name: parameters[name].default for name in shared}
