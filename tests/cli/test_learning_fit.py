"""`plurule fit`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.commands import Run, assert_mistake
from plurule import Constraints, RelaxedPruningClassifier, RuleList, RuleListClassifier
from plurule.datasets import load_canteen_dishes, load_world_flags

QUICK = ("--learner", "relaxed-pruning", "--max-rules", 3)
"""Options that make learning from the flags quick."""


def test_fit_writes_the_model_that_the_library_learns_by_default(
    run: Run, tmp_path: Path, flags_rules: RuleList
) -> None:
    path = tmp_path / "flags.json"
    result = run("fit", "world-flags", "-o", path)
    assert result.code == 0, result.err
    assert f"{len(flags_rules)} rules for 7 labels from 193 instances" in result.out
    assert f"plurule show {path}" in result.out
    assert RuleList.load(path) == flags_rules


def test_fit_writes_the_model_of_the_given_parameters(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    assert run("fit", "world-flags", "-o", path, "--max-rules", 6, "--predict-absence", "--cv", 3).code == 0
    expected = RuleListClassifier(max_rules=6, predict_absence=True, cv=3).fit(load_world_flags())
    assert RuleList.load(path) == expected.rule_list_


def test_fit_learns_with_the_learner_of_the_paper(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "flags.json"
    assert run("fit", "world-flags", "--learner", "relaxed-pruning", "-o", path).code == 0
    assert RuleList.load(path) == RelaxedPruningClassifier().fit(load_world_flags()).rule_list_


def test_fit_chooses_the_lift_by_cross_validation(run: Run) -> None:
    options = ("--learner", "relaxed-pruning", "--lift", "auto", "--max-rules", 1, "--max-conditions", 0)
    result = run("fit", "world-flags", *options)
    assert result.code == 0, result.err
    assert re.search(r"Lift chosen by cross-validation: (KLN|Peak)\(.*\) \(score 0\.\d{3}\)", result.out)


def test_fit_without_output_shows_the_rules(run: Run) -> None:
    out = run("fit", "world-flags", *QUICK).out
    assert "← conditions" in out
    assert "Written" not in out


def test_fit_reads_the_included_data_sets_by_name(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "dishes.json"
    assert run("fit", "canteen-dishes", *QUICK, "-o", path).code == 0
    assert RuleList.load(path).labels == load_canteen_dishes().label_names


def test_fit_takes_labels_of_repeated_options(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text("x,a,b\n" + "1,0,1\n2,1,0\n" * 20)
    models = [tmp_path / "one.json", tmp_path / "two.json"]
    assert run("fit", path, "--labels", "a,b", "-o", models[0]).code == 0
    assert run("fit", path, "--labels", "a", "--labels", "b", "-o", models[1]).code == 0
    assert models[0].read_text() == models[1].read_text()


def test_fit_counts_one_rule_in_the_singular(run: Run) -> None:
    out = run("fit", "world-flags", "--learner", "relaxed-pruning", "--max-rules", 1).out
    assert "1 rule for 7 labels" in out


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("DATA", "--labels", "rde"), ("rde", "red")),
        (("DATA",), ("label",)),
        (("world-flags", "--labels", "red"), ("has its own labels",)),
    ],
)
def test_fit_explains_wrong_labels(run: Run, data: Path, options: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_mistake(run("fit", *(data if word == "DATA" else word for word in options)), *parts)


def test_fit_names_the_labels_that_no_rule_predicts(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    rows = [f"{i},{int(i > 6)},0,{','.join(['0'] * 12)}" for i in range(14)]
    names = ",".join(f"l{i}" for i in range(12))
    data.write_text("\n".join([f"x,red,never,{names}", *rows]), encoding="utf-8")
    out = run("fit", data, "-l", f"red,never,{names}").out
    assert "No rule predicts never: no training instance has it" in out
    assert "… nor 3 other labels" in out


# Initial rules -------------------------------------------------------------------------------------------------------

TEXT = "# from an expert\n\nred <- continent = Africa\nblue <- red and stars > 2 [stop]\n"


def test_fit_continues_from_the_rules_of_a_text_file(run: Run, tmp_path: Path) -> None:
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    # As an editor on Windows writes it.
    rules.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    options = ("--learner", "relaxed-pruning", "--max-rules", 5)
    result = run("fit", "world-flags", "--initial-rules", rules, *options, "-o", model)
    assert f"2 initial rules from {rules}" in result.out
    expected = RelaxedPruningClassifier(max_rules=5).fit(load_world_flags(), initial_rules=TEXT)
    assert RuleList.load(model) == expected.rule_list_
    assert [rule.locked for rule in RuleList.load(model)[:3]] == [True, True, False]


def test_fit_continues_from_the_rules_of_a_model_or_its_text(run: Run, tmp_path: Path) -> None:
    short, text, longer, again = (tmp_path / name for name in ("short.json", "short.txt", "longer.json", "again.json"))
    assert run("fit", "world-flags", *QUICK, "-o", short).code == 0
    assert run("export", short, "--to", "text", "-o", text).code == 0
    options = ("--learner", "relaxed-pruning", "--max-rules", 6)
    assert run("fit", "world-flags", *options, "--initial-rules", short, "-o", longer).code == 0
    assert run("fit", "world-flags", *options, "--initial-rules", text, "-o", again).code == 0
    first, whole = RuleList.load(short), RuleList.load(longer)
    assert len(whole) > len(first) == 3
    assert [rule.to_text() for rule in whole[:3]] == [rule.to_text() for rule in first]
    assert [str(rule) for rule in RuleList.load(again)] == [str(rule) for rule in whole]


def test_fit_keeps_initial_rules_where_the_lift_is_chosen(run: Run, tmp_path: Path) -> None:
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    rules.write_text("black <- [stop]", encoding="utf-8")
    options = ("--learner", "relaxed-pruning", "--lift", "auto", "--max-conditions", 0, "--max-rules", 2, "-o", model)
    assert run("fit", "world-flags", "--initial-rules", rules, *options).code == 0
    assert RuleList.load(model)[0].to_text() == "black ←"


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
        (b"# nothing yet\n", "rules.txt: contains no rules; write one per line"),
        (b"\xff\xfe\x00", "rules.txt: is neither rules as UTF-8 text nor a model file"),
        (b'{"format": "plurule', "rules.txt"),
        (None, "rules.txt: No such file or directory"),
    ],
)
def test_fit_points_at_the_mistake_in_initial_rules(
    run: Run, content: bytes | None, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("rules.txt").write_bytes(content)
    result = run("fit", "world-flags", "--initial-rules", "rules.txt", "-o", "model.json")
    assert_mistake(result, message)
    assert result.err.startswith("Error: rules.txt")
    assert not Path("model.json").exists()


def test_fit_refuses_initial_rules_about_other_data(run: Run, tmp_path: Path) -> None:
    rules, model = tmp_path / "rules.txt", tmp_path / "model.json"
    rules.write_text(TEXT, encoding="utf-8")
    assert run("fit", "world-flags", "--initial-rules", rules, *QUICK, "-o", model).code == 0
    model.write_text(model.read_text(encoding="utf-8").replace('"stars"', '"starz"'), encoding="utf-8")
    message = "model.json, initial rule 2: there is no attribute 'starz'; did you mean 'stars'?\n"
    assert_mistake(run("fit", "world-flags", "--initial-rules", model), message)


# Constraints and dictionaries ----------------------------------------------------------------------------------------


def test_fit_learns_under_constraints(run: Run, tmp_path: Path) -> None:
    model, file = tmp_path / "model.json", tmp_path / "constraints.toml"
    file.write_text('forbidden_attributes = ["un_since", "stars"]\nforbidden_label_pairs = [["red", "blue"]]\n')
    assert run("fit", "world-flags", "-o", model, "--constraints", file, "--cv", 3).code == 0
    rules = RuleList.load(model)
    assert len(rules) > 1
    constraints = Constraints(forbidden_attributes=["un_since", "stars"], forbidden_label_pairs=[("red", "blue")])
    assert constraints.violations(rules) == ()


def test_fit_learns_exclusive_labels_as_classes(run: Run, tmp_path: Path) -> None:
    data, model, file = (tmp_path / name for name in ("sizes.csv", "model.json", "constraints.toml"))
    rows = [f"{i},{int(i < 20)},{int(20 <= i < 40)},{int(i >= 40)}" for i in range(60)]
    data.write_text("\n".join(["x,small,medium,large", *rows]), encoding="utf-8")
    file.write_text('exclusive_labels = [["small", "medium", "large"]]')
    assert run("fit", data, "--labels", "last:3", "--constraints", file, "-o", model).code == 0
    assert RuleList.load(model).groups == ((0, 1, 2),)


def test_fit_adds_a_dictionary_to_the_model(run: Run, tmp_path: Path) -> None:
    dictionary, model = tmp_path / "d.csv", tmp_path / "model.json"
    dictionary.write_text("name,unit,description\nstars,,number of stars\nred,,a colour\n")
    assert run("fit", "world-flags", *QUICK, "--dictionary", dictionary, "-o", model).code == 0
    assert RuleList.load(model).dictionary["stars"].description == "number of stars"


def test_fit_refuses_a_dictionary_with_unknown_names(run: Run, tmp_path: Path) -> None:
    dictionary, model = tmp_path / "d.csv", tmp_path / "model.json"
    dictionary.write_text("name,unit,description\nstar,,number of stars\n")
    result = run("fit", "world-flags", *QUICK, "--dictionary", dictionary, "-o", model)
    assert_mistake(result, "d.csv", "'star'", "did you mean")
    assert not model.exists()


def test_fit_accepts_descriptions_of_dropped_columns(run: Run, tmp_path: Path) -> None:
    data, dictionary = tmp_path / "data.csv", tmp_path / "d.csv"
    data.write_text("id,x,red\n" + "".join(f"{i},{i % 3},{int(i % 3 > 1)}\n" for i in range(12)))
    dictionary.write_text("name,unit\nid,number\nx,m\n")
    options = ("fit", data, "-l", "red", "--dictionary", dictionary, "-o", tmp_path / "model.json")
    assert run(*options, "--drop", "i*").code == 0
    assert RuleList.load(tmp_path / "model.json").dictionary["x"].unit == "m"
