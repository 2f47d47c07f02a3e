"""Rules given beforehand: they stay first, and what they decide is not learned again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.native_problems import random_options, random_problem
from plurule import RuleListClassifier
from plurule.cli import app, errors
from plurule.datasets import load_world_flags
from plurule.errors import ModelError
from plurule.learning import covering, native
from plurule.model import file as model_file


@pytest.fixture(scope="module")
def flags():
    return load_world_flags()


def test_initial_rules_stay_first_and_carry_the_counts_of_the_data(flags):
    text = "red <- continent = Africa\nblue <- red and stars > 2"
    fitted = RuleListClassifier().fit(flags, initial_rules=text)
    first, second = fitted.rule_list_[:2]
    africa = flags.X.column(flags.X.names.index("continent")) == flags.X.attributes[
        flags.X.names.index("continent")
    ].categories.index("Africa")
    red = flags.Y[:, flags.label_names.index("red")] == 1
    assert (first.tp, first.fp, first.coverage) == ((africa & red).sum(), (africa & ~red).sum(), africa.sum())
    assert first.locked
    assert second.locked
    assert len(fitted.rule_list_) > 2


def test_what_an_initial_rule_decides_is_not_learned_again(flags):
    names = {"label_names": flags.label_names}
    everything = ", ".join(flags.label_names)
    fitted = RuleListClassifier(remaining=0).fit(flags.X, flags.Y, initial_rules=f"{everything} <-", **names)
    assert len(fitted.rule_list_) == 1


def test_a_stop_rule_given_beforehand_ends_instances(flags):
    fitted = RuleListClassifier(remaining=0).fit(flags, initial_rules="red <- [stop]")
    assert len(fitted.rule_list_) == 1
    assert fitted.predict(flags.X).sum() == len(flags.Y)


def test_both_engines_go_on_from_initial_rules_in_the_same_way():
    compared = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng)
        options = random_options(rng, problem)
        learned = native.learn(problem, options)
        given = tuple(replace(rule, stop=bool(rng.integers(2))) for rule in list(learned)[::-1][:3])
        guided = replace(problem, initial_rules=given)
        assert native.learn(guided, options) == covering.learn(guided, options)
        compared += bool(given)
    assert compared > 30


def test_an_initial_rule_with_an_unknown_name_is_refused(flags):
    with pytest.raises(ModelError, match="contnent"):
        RuleListClassifier().fit(flags, initial_rules="red <- contnent = Africa")


# The command line ------------------------------------------------------------------------------------------

TEXT = "# what experts know\n\nred <- continent = Africa\nblue <- red and stars > 2 [stop]\n"


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        errors.run(app, [str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def test_the_command_line_goes_on_from_the_rules_of_a_text_file(flags, tmp_path: Path, capfd):
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    # As an editor on Windows writes it.
    rules.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert run("fit", "world-flags", "--initial-rules", rules, "-o", model) == 0
    assert f"Initial rules, from {rules}: 2" in capfd.readouterr().out
    expected = RuleListClassifier().fit(flags, initial_rules=TEXT)
    assert model_file.load(model) == expected.rule_list_
    assert [rule.locked for rule in model_file.load(model)[:3]] == [True, True, False]


def test_the_command_line_goes_on_from_the_rules_of_a_model(tmp_path: Path):
    short, text, longer, again = (tmp_path / name for name in ("short.json", "short.txt", "longer.json", "again.json"))
    assert run("fit", "world-flags", "--rules", 3, "-o", short) == 0
    assert run("export", short, "--to", "text", "-o", text) == 0
    assert run("fit", "world-flags", "--initial-rules", short, "-o", longer) == 0
    assert run("fit", "world-flags", "--initial-rules", text, "-o", again) == 0
    first, whole = model_file.load(short), model_file.load(longer)
    assert len(whole) > len(first) == 3
    assert [rule.to_text() for rule in whole[:3]] == [rule.to_text() for rule in first]
    assert [str(rule) for rule in model_file.load(again)] == [str(rule) for rule in whole]


def test_initial_rules_are_kept_where_the_lift_is_chosen(tmp_path: Path):
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    rules.write_text("black <- [stop]", encoding="utf-8")
    arguments = ["--choose-lift", "micro_f1", "--max-conditions", 0, "--max-rules", 2, "-o", model]
    assert run("fit", "world-flags", "--initial-rules", rules, *arguments) == 0
    assert model_file.load(model)[0].to_text() == "black ←"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"red <-\n\nred <- strs > 2",
            "rules.txt, line 3, character 8: there is no attribute 'strs'; did you mean 'stars'?\n"
            "    red <- strs > 2\n"
            "           ^\n",
        ),
        (b"rde <- stars > 2", "rules.txt, line 1, character 1: there is no label 'rde'; did you mean 'red'?\n"),
        (b"red <- stars > two", "rules.txt, line 1, character 16: expected a number after '>', found 'two'\n"),
        (b"red <- continent = Afrika", "attribute 'continent' has no category 'Afrika'; did you mean 'Africa' or"),
        (b"red: stars > 2", "rules.txt, line 1, character 1: "),
        (b"# nothing yet\n", "rules.txt: holds no rules; write one per line"),
        (b"\xff\xfe\x00", "rules.txt: is neither rules as UTF-8 text nor a model file"),
        (b'{"format": "plurule', "rules.txt, line 1: is not a plurule model file or is damaged"),
        (None, "rules.txt: No such file or directory"),
    ],
)
def test_initial_rules_that_cannot_be_read_are_pointed_at(content, message: str, tmp_path: Path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("rules.txt").write_bytes(content)
    assert run("fit", "world-flags", "--initial-rules", "rules.txt", "-o", "model.json") == 2
    said = capfd.readouterr().err
    assert message in said
    assert said.startswith("Error: rules.txt")
    assert "Traceback" not in said
    assert not Path("model.json").exists()


def test_a_model_about_other_data_is_refused_with_its_rule_and_name(tmp_path: Path, capfd):
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    rules.write_text(TEXT, encoding="utf-8")
    assert run("fit", "world-flags", "--initial-rules", rules, "--rules", 2, "-o", model) == 0
    model.write_text(model.read_text(encoding="utf-8").replace('"stars"', '"starz"'), encoding="utf-8")
    assert run("fit", "world-flags", "--initial-rules", model) == 2
    said = capfd.readouterr().err
    assert "model.json, initial rule 2: there is no attribute 'starz'; did you mean 'stars'?\n" in said
    assert "Traceback" not in said
