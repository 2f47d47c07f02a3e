"""The benchmark of quality itself: what is run, what is kept, what the study chooses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.engine.machine import describe
from benchmarks.engine.running import run
from benchmarks.quality import __main__ as program
from benchmarks.quality import nested, running, small, study
from benchmarks.quality.data import SETS, as_features, labels, save
from benchmarks.quality.fit_once import OUT_OF_THE_BOX, TREE
from benchmarks.quality.running import LEARNERS, Settings
from sklearn.base import clone

from plurule import RuleListClassifier
from plurule.data import read
from plurule.data.encoding import encode
from plurule.selection import aiming

HEADER = """@relation colours
@attribute size numeric
@attribute noise numeric
@attribute kind {a,b,c}
@attribute red {0,1}
@attribute blue {0,1}
@data
"""
LABELS = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="red"/><label name="blue"/></labels>'


def arff(n_rows: int, seed: int) -> str:
    """Red where the size is small, blue where the kind is b; one row in ten is wrong."""
    rng = np.random.default_rng(seed)
    size, noise, kind = rng.integers(0, 10, n_rows), rng.random(n_rows).round(2), rng.integers(0, 3, n_rows)
    wrong = rng.random((2, n_rows)) < 0.1
    rows = zip(size, noise, kind, (size < 5) ^ wrong[0], (kind == 1) ^ wrong[1], strict=True)
    return HEADER + "".join(f"{s},{n},{'abc'[k]},{int(red)},{int(blue)}\n" for s, n, k, red, blue in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of data sets that holds one, with few rows, under a known name."""
    place = tmp_path / "data" / "flags"
    place.mkdir(parents=True)
    (place / "flags.xml").write_text(LABELS, encoding="utf-8")
    for part, n_rows, seed in (("train", 60, 0), ("test", 20, 1)):
        (place / f"flags-{part}.arff").write_text(arff(n_rows, seed), encoding="utf-8")
    return place.parent


@pytest.fixture
def settings(folder: Path, tmp_path: Path) -> Settings:
    return Settings(folder, tmp_path, peer_python=None, limit=1)


# Single fits -----------------------------------------------------------------------------------------------


def test_a_learner_is_fitted_and_scored_on_the_test_part(settings: Settings) -> None:
    found = settings.run("flags", OUT_OF_THE_BOX)
    train, test = (read(settings.data / "flags", split=part) for part in ("train", "test"))
    fitted = RuleListClassifier().fit(train.X, labels(train))
    assert found["rules"] == len(fitted.rule_list_)
    assert found["hamming_accuracy"] == (fitted.predict(test.X) == labels(test)).mean()
    assert 0.7 < found["micro_f1"] < 1
    assert found["cpu"] > 0


def test_a_peer_gets_the_data_and_its_parameters_and_is_scored_in_the_same_way(settings: Settings) -> None:
    truth = labels(read(settings.data / "flags", split="test"))
    np.save(settings.scratch / "truth.npy", truth)
    script, python = settings.scratch / "peer.py", settings.scratch / "python"
    script.write_text(
        "import json, shutil, sys, numpy as np\n"
        "script, learner, data, predictions, parameters = sys.argv[1:]\n"
        "assert script.endswith('fit_peer.py')\n"
        "arrays = np.load(data)\n"
        "assert arrays['train_X'].shape == (60, 3) and arrays['test_X'].shape == (20, 3), arrays.files\n"
        "assert arrays['nominal'].tolist() == [2] and 'test_Y' not in arrays\n"
        f"shutil.copy({str(settings.scratch / 'truth.npy')!r}, predictions)\n"
        "print('chatter')\n"
        "print(json.dumps({'cpu': 1, 'learner': learner, 'parameters': json.loads(parameters)}))\n",
        encoding="utf-8",
    )
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{script}' \"$@\"\n", encoding="utf-8")
    python.chmod(0o700)
    found = Settings(settings.data, settings.scratch, python, limit=60).run("flags", "SeCo, KLN")
    assert found["learner"] == "seco"
    assert found["parameters"]["lift_function"] == "kln"
    assert found["micro_f1"] == found["subset_accuracy"] == 1


def test_without_a_python_for_the_peers_they_are_skipped(settings: Settings) -> None:
    assert set(settings.run("flags", "BOOMER")) == {"skipped"}


def test_a_fit_that_takes_too_long_is_given_up_and_one_that_fails_is_an_error(settings: Settings) -> None:
    python = settings.scratch / "python"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' -S -c 'while True: pass'\n", encoding="utf-8")
    python.chmod(0o700)
    assert Settings(settings.data, settings.scratch, python, limit=1).run("flags", "SeCo") == {"gave_up": 1}
    with pytest.raises(RuntimeError, match="exit code 3"):
        run([sys.executable, "-S", "-c", "raise SystemExit(3)"], limit=1)


def test_data_are_read_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = save("flags", folder, tmp_path)
    monkeypatch.setattr("benchmarks.quality.data.read", None)
    assert save("flags", folder, tmp_path) == written


def test_for_trees_an_attribute_of_three_categories_becomes_three_columns() -> None:
    table = encode(np.array([[1.5, "a", "x"], [2.0, "b", "y"], [3.0, "c", "x"]], dtype=object))
    expected = [[1.5, 1, 0, 0, 0], [2, 0, 1, 0, 1], [3, 0, 0, 1, 0]]
    assert as_features(table).tolist() == expected


# All of them, and what is kept -----------------------------------------------------------------------------


@pytest.fixture
def run_program(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the benchmark as the command line does, and returns the numbers it leaves."""
    monkeypatch.setenv("PLURULE_DATA", str(folder))

    def run(*arguments: str, kind: str = "quality") -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", ["benchmarks.quality", "--output", str(tmp_path / "results"), *arguments])
        program.main()
        return dict(json.loads((tmp_path / "results" / f"{kind}.json").read_text(encoding="utf-8"))["sets"])

    return run


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """In place of fits: every learner scores what is said here, until no runs are left."""
    said = {"score": 0.5, "runs_left": 1000}

    def run(self: Settings, name: str, learner: str) -> dict[str, Any]:
        if said["runs_left"] == 0:
            raise RuntimeError("interrupted")
        said["runs_left"] -= 1
        return {"cpu": 1.0, **dict.fromkeys(running.MEASURES, said["score"])}

    monkeypatch.setattr(Settings, "run", run)
    monkeypatch.setattr(program, "draw", lambda *_: None)
    return said


def test_a_run_of_some_sets_or_learners_leaves_the_others_as_they_were(
    run_program: Any, made_up: dict[str, float]
) -> None:
    first = run_program()
    assert list(first) == list(SETS)
    assert all(list(learners) == list(LEARNERS) for learners in first.values())
    made_up["score"] = 0.75
    found = run_program("--sets", "flags", "birds", "--only", TREE)
    changed = {(s, one) for s in found for one in found[s] if found[s][one] != first[s][one]}
    assert changed == {("flags", TREE), ("birds", TREE)}
    assert found["flags"][TREE]["micro_f1"] == 0.75


def test_a_run_of_everything_begins_anew(run_program: Any, made_up: dict[str, float], tmp_path: Path) -> None:
    run_program("--sets", "flags")
    numbers = tmp_path / "results" / "quality.json"
    kept = json.loads(numbers.read_text(encoding="utf-8"))
    kept["sets"]["forgotten"] = {}
    numbers.write_text(json.dumps(kept), encoding="utf-8")
    assert "forgotten" in run_program("--sets", "flags")
    assert "forgotten" not in run_program()


def test_what_was_found_before_an_interruption_is_kept(
    run_program: Any, made_up: dict[str, float], tmp_path: Path
) -> None:
    made_up["runs_left"] = 1
    with pytest.raises(RuntimeError, match="interrupted"):
        run_program("--sets", "flags", "--only", TREE, OUT_OF_THE_BOX)
    kept = json.loads((tmp_path / "results" / "quality.json").read_text(encoding="utf-8"))
    assert list(kept["sets"]["flags"]) == [TREE]


def test_the_page_is_written_and_those_of_the_project_only_if_asked_for(
    run_program: Any, made_up: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []
    monkeypatch.setattr(program, "put_into", lambda page, place, text: pages.append(f"{page.name}: {place}"))
    run_program("--sets", "flags")
    assert pages == []
    assert "| flags | 0.500 |" in (tmp_path / "results" / "quality.md").read_text(encoding="utf-8")
    run_program("--sets", "flags", "--pages")
    assert pages == ["README.md: comparison", "short-lists.md: comparison", "README.md: comparison"]


def test_without_data_the_program_says_where_to_put_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "data_folder", lambda: None)
    monkeypatch.setattr(sys, "argv", ["benchmarks.quality"])
    with pytest.raises(SystemExit, match="set PLURULE_DATA"):
        program.main()


# The study -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in study.SETTINGS if name != "defaults"])
def test_every_setting_of_the_study_differs_from_the_defaults_in_all_that_it_says(name: str) -> None:
    defaults = clone(study.ONE_LIST).get_params()
    assert study.SETTINGS[name]
    for parameter, value in study.SETTINGS[name].items():
        assert parameter in defaults
        assert value != defaults[parameter], parameter


def test_as_published_is_the_learner_of_the_paper_but_for_the_length() -> None:
    published = RuleListClassifier.published().get_params()
    ours = clone(study.ONE_LIST).set_params(**study.AS_PUBLISHED).get_params()
    assert {name for name in published if ours[name] != published[name]} == {"n_rules"}


def test_the_study_cuts_a_list_as_the_classifier_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "SETTINGS", {"defaults": {}, "one condition": {"max_conditions": 1}})
    data = read(folder / "flags", split="train")
    found = study.study("flags", folder)
    assert list(found) == ["defaults", "one condition"]
    for setting, parameters in study.SETTINGS.items():
        curve = (
            RuleListClassifier(heuristic=study.ONE_LIST.heuristic, **parameters)
            .fit(data.X, labels(data))
            .n_rules_curve_
        )
        assert curve is not None
        assert found[setting]["rules"] == curve.chosen
        assert found[setting]["micro_f1"] == pytest.approx(curve.score(curve.chosen))
        assert found[setting]["best"] == pytest.approx(curve.mean.max())
        assert found[setting]["micro_f1"] >= found[setting]["best"] - found[setting]["standard_error"] - 1e-9
    assert found["one condition"]["conditions"] <= found["one condition"]["rules"]


def test_the_study_sees_the_training_part_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "SETTINGS", {"defaults": {}})
    (folder / "flags" / "flags-test.arff").unlink()
    assert study.study("flags", folder)["defaults"]["rules"] >= 1


def test_the_program_writes_down_the_study(run_program: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "SETTINGS", {"defaults": {}, "no bins": {"max_bins": None}})
    assert list(run_program("--study", "--sets", "flags", kind="study")["flags"]) == ["defaults", "no bins"]
    assert "| no bins | " in (tmp_path / "results" / "study.md").read_text(encoding="utf-8")
    assert (tmp_path / "results" / "study.png").stat().st_size > 1000


def test_settings_are_tried_inside_of_the_training_part_and_shown_beside_the_defaults(folder: Path) -> None:
    (folder / "flags" / "flags-test.arff").unlink()
    one_rule = {nested.DEFAULTS: RuleListClassifier, "one rule": lambda: RuleListClassifier(n_rules=1)}
    costly = one_rule | {"size costs all": lambda: nested.Aimed(PER_SIZE=1.0, LEAST_ROWS=10)}
    found = nested.tried(costly, "flags", folder)
    assert found["one rule"]["rules"] == found["size costs all"]["rules"] == 1
    assert found["one rule"]["micro_f1"] < found[nested.DEFAULTS]["micro_f1"]
    assert aiming.PER_SIZE < 1
    page = nested.nested_page({"sets": {"flags": found}, "machine": describe()})
    assert "| size costs all | -" in page
    assert f"| {nested.DEFAULTS} | 0." in page


def test_lists_of_few_rows_are_compared_with_the_constant(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "ROWS", (30, 5000))
    monkeypatch.setattr(small, "SAMPLES", 2)
    monkeypatch.setattr(aiming, "LEAST_ROWS", 10)
    found = small.small("flags", folder)
    assert set(found) == {"30"}
    assert {len(scores) for scores in found["30"].values()} == {2}
    assert found["30"][small.BY_THE_BEST_MEAN] != found["30"]["constant"]
    page = small.small_page({"sets": {"flags": found}, "machine": describe()})
    assert "| flags | 30 |" in page
