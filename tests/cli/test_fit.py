"""`plurule fit`: the model that the library learns, and every option of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from plurule import RuleListClassifier
from plurule.datasets import load_world_flags
from plurule.learning.constraints import Constraints
from plurule.lifts import KLN
from plurule.model import file as model_file


def test_fit_writes_the_model_that_the_library_learns(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    result = run("fit", "world-flags", "-o", path, "--rules", 6, "--lift", "kln", "--lift-height", 1.2, "--absence")
    assert result.code == 0, result.err
    assert " rules for 7 labels from 193 instances" in result.out
    assert f"plurule show {path}" in result.out
    flags = load_world_flags()

    expected = RuleListClassifier(n_rules=6, lift=KLN.at(3, 1.2), predict_absence=True)
    expected.fit(flags)
    assert model_file.load(path) == expected.rule_list_


def test_options_left_out_are_those_of_the_library(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    assert run("fit", "world-flags", "-o", path).code == 0
    flags = load_world_flags()
    expected = RuleListClassifier().fit(flags)
    assert model_file.load(path) == expected.rule_list_


def test_every_option_of_fit_is_understood(run: Run) -> None:
    options = (
        "--heuristic f_measure --beta 1 --averaging macro --presence-only --head-search relaxed "
        "--min-precision 0.4 --min-precision-of head --min-precision-when growing "
        "--lift peak --lift-at 2 --no-fix-head --fixed-head-counts pairs "
        "--refine-against plain --no-label-conditions --beam-width 2 --max-conditions 2 --min-coverage 3 --rules 4 "
        "--remaining 0.2 --stop-threshold 0.02 --max-bins 8 --engine reference --jobs 1"
    )
    result = run("fit", "world-flags", *options.split())
    assert result.code == 0, result.err
    assert "←" in result.out


def test_the_length_of_the_list_is_a_number_chosen_or_all(run: Run, tmp_path: Path) -> None:
    flags = load_world_flags()
    path = tmp_path / "flags.json"
    for options, parameters in (
        (("--rules", "none"), {"n_rules": None}),
        (("--rules", "all"), {"n_rules": None}),
        (("--rules", 4), {"n_rules": 4}),
        (("--rules", "auto", "--cv", 0.25), {"n_rules": "auto", "cv": 0.25}),
        (("--cv", 3), {"cv": 3}),
    ):
        assert run("fit", "world-flags", "-o", path, *options).code == 0
        expected = RuleListClassifier(**parameters).fit(flags)
        assert model_file.load(path) == expected.rule_list_


def test_the_learner_of_the_paper_is_one_option(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    assert run("fit", "world-flags", "--published", "--rules", 8, "-o", path).code == 0
    flags = load_world_flags()
    expected = RuleListClassifier.published(n_rules=8)
    expected.fit(flags)
    assert model_file.load(path) == expected.rule_list_


def test_the_lift_can_be_chosen_by_cross_validation(run: Run) -> None:
    result = run("fit", "world-flags", "--choose-lift", "micro_f1", "--rules", 1, "--max-conditions", 0)
    assert result.code == 0, result.err
    assert re.search(r"Chosen lift: (KLN|Peak)\(.*\) \(micro_f1 0\.\d{3} by cross-validation\)", result.out)


def test_fit_learns_from_the_training_part_of_a_pair_and_says_so(run: Run, pair: Path, tmp_path: Path):
    by_default, by_name, both = (tmp_path / f"{name}.json" for name in ("default", "train", "all"))
    code, out, err = run("fit", pair, "-o", by_default)
    assert code == 0, err
    assert "from 30 instances" in out
    assert "Learned from the training part" in out
    assert "training part" not in run("fit", pair, "--split", "train", "-o", by_name)[1]
    assert by_default.read_bytes() == by_name.read_bytes()
    assert "from 60 instances" in run("fit", pair, "--split", "all", "-o", both)[1]


def test_mistakes_in_options_are_explained(run: Run, data: Path, tmp_path: Path) -> None:
    assert_mistake(run("fit", data, "--labels", "rde"), "rde", "red")
    assert_mistake(run("fit", data), "label")
    assert_mistake(run("fit", "world-flags", "--labels", "red"), "has its own labels")
    assert_mistake(run("fit", "world-flags", "--split", "test"), "one whole data set")
    assert_mistake(run("fit", "world-flags", "--heuristic", "f_mesure"), "did you mean f_measure")
    assert_mistake(
        run("fit", "world-flags", "--heuristic", "precision", "--beta", 1), "--beta is a parameter of f_measure"
    )
    assert_mistake(run("fit", "world-flags", "--lift", "none", "--lift-at", 2), "--lift none has no height")
    assert_mistake(
        run("fit", "world-flags", "--lift", "peak", "--lift-at", 9), "at most the number of labels in the data, 7"
    )
    assert_mistake(run("fit", "world-flags", "--choose-lift", "micro"), "unknown scoring 'micro'")
    assert_mistake(run("fit", "world-flags", "--head-search", "relaxd"), "did you mean relaxed?")
    assert_mistake(run("fit", "world-flags", "-o", tmp_path / "no" / "model.json"), "there is no folder")
    assert_mistake(run("fit", "world-flags", "-o", tmp_path), "is a folder")
    assert_mistake(run("fit", "world-flags", "--rules", "many"), "--rules")
    assert_mistake(run("nonsense"), "nonsense")


TEXT = "# what experts know\n\nred <- continent = Africa\nblue <- red and stars > 2 [stop]\n"


def test_the_command_line_goes_on_from_the_rules_of_a_text_file(run: Run, tmp_path: Path):
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    # As an editor on Windows writes it.
    rules.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert f"Initial rules, from {rules}: 2" in run("fit", "world-flags", "--initial-rules", rules, "-o", model).out
    flags = load_world_flags()
    expected = RuleListClassifier().fit(flags, initial_rules=TEXT)
    assert model_file.load(model) == expected.rule_list_
    assert [rule.locked for rule in model_file.load(model)[:3]] == [True, True, False]


def test_the_command_line_goes_on_from_the_rules_of_a_model(run: Run, tmp_path: Path):
    short, text, longer, again = (tmp_path / name for name in ("short.json", "short.txt", "longer.json", "again.json"))
    assert run("fit", "world-flags", "--rules", 3, "-o", short).code == 0
    assert run("export", short, "--to", "text", "-o", text).code == 0
    assert run("fit", "world-flags", "--initial-rules", short, "-o", longer).code == 0
    assert run("fit", "world-flags", "--initial-rules", text, "-o", again).code == 0
    first, whole = model_file.load(short), model_file.load(longer)
    assert len(whole) > len(first) == 3
    assert [rule.to_text() for rule in whole[:3]] == [rule.to_text() for rule in first]
    assert [str(rule) for rule in model_file.load(again)] == [str(rule) for rule in whole]


def test_initial_rules_are_kept_where_the_lift_is_chosen(run: Run, tmp_path: Path):
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    rules.write_text("black <- [stop]", encoding="utf-8")
    arguments = ["--choose-lift", "micro_f1", "--max-conditions", 0, "--rules", 2, "-o", model]
    assert run("fit", "world-flags", "--initial-rules", rules, *arguments).code == 0
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
def test_initial_rules_that_cannot_be_read_are_pointed_at(
    run: Run, content: bytes | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("rules.txt").write_bytes(content)
    result = run("fit", "world-flags", "--initial-rules", "rules.txt", "-o", "model.json")
    assert_mistake(result, message)
    assert result.err.startswith("Error: rules.txt")
    assert not Path("model.json").exists()


def test_a_model_about_other_data_is_refused_with_its_rule_and_name(run: Run, tmp_path: Path):
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    rules.write_text(TEXT, encoding="utf-8")
    assert run("fit", "world-flags", "--initial-rules", rules, "--rules", 2, "-o", model).code == 0
    model.write_text(model.read_text(encoding="utf-8").replace('"stars"', '"starz"'), encoding="utf-8")
    said = "model.json, initial rule 2: there is no attribute 'starz'; did you mean 'stars'?\n"
    assert_mistake(run("fit", "world-flags", "--initial-rules", model), said)


def test_the_command_line_learns_under_constraints(run: Run, tmp_path: Path):
    model = tmp_path / "model.json"
    arguments = ["--forbid-attribute", "un_since", "--forbid-attribute", "stars", "--require-attribute", "continent"]
    arguments += ["--require-attribute", "canton", "--forbid-pair", "red,blue", "--require-pair", "red, white"]
    assert run("fit", "world-flags", "-o", model, *arguments).code == 0
    wishes = Constraints(["un_since", "stars"], ["continent", "canton"], [("red", "blue")], [("red", "white")])
    learned = model_file.load(model)
    assert len(learned) > 1
    assert wishes.violations(learned) == ()


def test_columns_of_which_exactly_one_holds_are_learned_as_classes(run: Run, tmp_path: Path) -> None:
    data, model = tmp_path / "sizes.csv", tmp_path / "model.json"
    rows = [f"{i},{int(i < 20)},{int(20 <= i < 40)},{int(i >= 40)}" for i in range(60)]
    data.write_text("\n".join(["x,small,medium,large", *rows]), encoding="utf-8")
    asked = ["--labels", "small,medium,large", "--exactly-one", "small,medium,large"]
    assert run("fit", data, *asked, "-o", model).code == 0
    assert model_file.load(model).groups == ((0, 1, 2),)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--forbid-attribute", "cantn"], "there is no attribute 'cantn'; did you mean 'canton'"),
        (["--require-attribute", "cantn"], "there is no attribute 'cantn'; did you mean 'canton'"),
        (["--forbid-pair", "red,bleu"], "there is no label 'bleu'; did you mean 'blue'"),
        (["--require-pair", "red,bleu"], "there is no label 'bleu'; did you mean 'blue'"),
        (["--forbid-pair", "red"], "--forbid-pair red: expected A,B, different names separated by a comma"),
        (["--require-pair", "red,red"], "--require-pair red,red: expected A,B, different names"),
        (["--increasing", "continent"], "increasing: attribute 'continent' is nominal"),
        (["--increasing", "a,b,c"], "--increasing a,b,c: expected NAME[,LABEL], different names"),
        (["--implies", "red"], "--implies red: expected LABEL,ABOVE, different names"),
        (["--exactly-one", "red"], "--exactly-one red: expected A,B,…, different names"),
        (["--exactly-one", "red,blue,green"], "row 0: exactly one of the labels 'red', 'blue', 'green' must be"),
        (["--forbid-attribute", "canton", "--require-attribute", "canton"], "'canton' is both required and forbidden"),
    ],
)
def test_constraints_that_make_no_sense_end_in_one_line(run: Run, arguments: list[str], message: str):
    assert_mistake(run("fit", "world-flags", *arguments), message)


def test_fit_names_the_labels_that_no_rule_predicts(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    rows = [f"{i},{int(i > 6)},0,{','.join(['0'] * 12)}" for i in range(14)]
    names = ",".join(f"l{i}" for i in range(12))
    data.write_text("\n".join([f"x,red,never,{names}", *rows]), encoding="utf-8")
    out = run("fit", data, "-l", f"red,never,{names}").out
    assert "No rule predicts never: no training instance has it" in out
    assert "… nor 3 other labels" in out


def test_a_dictionary_goes_with_the_model(run: Run, tmp_path: Path) -> None:
    dictionary, model = tmp_path / "d.csv", tmp_path / "model.json"
    dictionary.write_text("name,unit,description\nstars,,how many there are\nred,,a colour\n")
    options = ("fit", "world-flags", "--rules", 3, "--dictionary", dictionary, "-o", model)
    assert run(*options).code == 0
    assert model_file.load(model).dictionary["stars"].description == "how many there are"
    model.unlink()
    dictionary.write_text("name,unit,description\nstar,,how many there are\n")
    result = run(*options)
    assert result.code == 2
    assert result.err.startswith("Error: d.csv: describes 'star', which is no attribute or label; did you mean")
    assert not model.exists()


def test_columns_that_are_left_out_may_be_described(run: Run, tmp_path: Path) -> None:
    data, dictionary = tmp_path / "data.csv", tmp_path / "d.csv"
    data.write_text("id,x,red\n" + "".join(f"{i},{i % 3},{int(i % 3 > 1)}\n" for i in range(12)))
    dictionary.write_text("name,unit\nid,number\nx,m\n")
    options = ("fit", data, "-l", "red", "--dictionary", dictionary, "-o", tmp_path / "model.json")
    assert run(*options, "--drop", "i*").code == 0
    assert model_file.load(tmp_path / "model.json").dictionary["x"].unit == "m"
