"""`plurule show`."""

from __future__ import annotations

from pathlib import Path

from helpers.commands import Run
from plurule.model import file as model_file


def test_show_says_that_precision_is_of_training_and_has_that_on_data_before_it(run: Run, model: Path, data: Path):
    assert "TP  FP  in training" in run("show", model).out
    out = run("show", model, "--data", data).out
    assert "2 rules, counted on" in out
    assert "right  precision (95 %)  in training" in out


def test_show_prints_the_rules(run: Run, model: Path) -> None:
    out = run("show", model).out
    assert "2 rules, in the order they are applied" in out
    assert "size <= 3" in out
    assert "conditions on labels" in out
    plain = run("show", model, "--plain").out.splitlines()
    assert plain == [str(rule) for rule in model_file.load(model)]
    assert run("show", model, "--plain", "--rules", 1).out.splitlines() == plain[:1]
    assert run("show", model, "--plain", "--label", "red").out.splitlines() == [p for p in plain if p.startswith("red")]
    wrong = run("show", model, "--label", "rad")
    assert wrong.code == 2
    assert "has no label 'rad'; did you mean 'red'?" in wrong.err
