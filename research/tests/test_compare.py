"""The comparison of learners: trials, resuming, pages."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plurule import DataError
from plurule.datasets import load_world_flags
from research.compare.__main__ import main
from research.compare.learners import NAMED, default_learners, learner_version, make_learner, wants_table
from research.compare.pages import complete_learners, half_width, markdown_page, ranks, table, wins
from research.compare.report import comparison_page, draw, quality_of
from research.compare.trials import Settings, bootstrap, model_sizes, run_in_process, run_trials, split
from research.data import require_data_set
from research.files import EMBEDDED
from research.machine import ROOT, describe

QUICK = ["relaxed pruning", "sklearn.neighbors.KNeighborsClassifier"]


@pytest.fixture(scope="module", autouse=True)
def _few_resamples() -> Iterator[None]:
    """Intervals need not be exact."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("research.compare.trials.RESAMPLES", 5)
        yield


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    settings = Settings(tmp_path_factory.mktemp("compare"))
    return run_trials([EMBEDDED], ["relaxed pruning", "tree per label"], settings)


def trial(score: float, rules: int | None = None) -> dict[str, Any]:
    measures = ("hamming_accuracy", "micro_f1", "macro_f1", "example_f1", "subset_accuracy")
    return {
        "scores": dict.fromkeys(measures, score),
        "intervals": {measure: [score - 0.1, score + 0.1] for measure in measures},
        "sizes": {} if rules is None else {"rules": rules, "conditions": 3, "labels_per_head": 1.5, "relating": 0.5},
        "seconds": {"fit": 1.0, "predict": 0.1},
    }


def test_every_named_learner_can_be_made() -> None:
    for name in NAMED:
        assert hasattr(make_learner(name), "fit")
    assert set(default_learners()) <= set(NAMED)


def test_a_constant_stands_beside_the_other_learners() -> None:
    assert "constant" in default_learners()


def test_learners_by_import_path_get_numbers_and_rule_learners_get_tables() -> None:
    assert not wants_table(make_learner("sklearn.neighbors:KNeighborsClassifier"))
    assert wants_table(make_learner("default"))
    assert wants_table(make_learner("AssociationRules"))


def test_an_unknown_learner_is_refused_with_the_known_ones() -> None:
    with pytest.raises(DataError, match=r"'nothing'.*known are 'default', 'tolerant'"):
        make_learner("nothing")


def test_trials_have_scores_sizes_and_seconds(results: dict[str, Any]) -> None:
    (by_learner,) = results.values()
    (first,) = by_learner["relaxed pruning"]
    assert 0 < first["scores"]["micro_f1"] < 1
    low, high = first["intervals"]["micro_f1"]
    assert low <= high
    assert first["sizes"]["rules"] > 0
    assert first["seconds"]["fit"] >= 0
    assert by_learner["tree per label"][0]["sizes"] == {}


def test_finished_trials_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(tmp_path)
    before = run_trials([EMBEDDED], ["relaxed pruning"], settings)
    monkeypatch.setattr("research.compare.trials.run_in_process", lambda *arguments: pytest.fail("run again"))
    assert run_trials([EMBEDDED], ["relaxed pruning"], settings) == before


def test_failed_trials_are_run_again_unless_they_took_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter([{"error": "no environment"}, {"error": "ended", "took_too_long": True}])
    monkeypatch.setattr("research.compare.trials.run_in_process", lambda *arguments: next(outcomes))
    settings = Settings(tmp_path)
    run_trials([EMBEDDED], ["constant"], settings)
    (second,) = run_trials([EMBEDDED], ["constant"], settings)[EMBEDDED]["constant"]
    assert second["took_too_long"]
    assert run_trials([EMBEDDED], ["constant"], settings)[EMBEDDED]["constant"] == [second]


def test_a_changed_learner_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "a_learner_that_changes.py"
    module.write_text(
        "from research.compare.learners import BestConstant\ndef make(): return BestConstant('micro_f1')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = learner_version("a_learner_that_changes.make")
    module.write_text(module.read_text() + "# changed\n")
    assert learner_version("a_learner_that_changes.make") != before
    assert learner_version("constant") == ""


def test_data_sets_of_the_same_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="several data sets are called 'world-flags'"):
        run_trials([EMBEDDED, EMBEDDED], ["constant"], Settings(tmp_path))


def test_label_columns_of_a_csv_file_are_named(tmp_path: Path) -> None:
    lines = [f"{i % 7},{i % 2},{i % 3 // 2}" for i in range(60)]
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(["a,first,second", *lines]) + "\n")
    settings = Settings(tmp_path / "out", labels="last:2")
    (trial,) = run_trials([str(file)], ["constant"], settings)["mine"]["constant"]
    assert "scores" in trial
    with pytest.raises(DataError, match="--labels"):
        run_trials([str(file)], ["constant"], Settings(tmp_path / "other"))


@pytest.mark.parametrize("learner", ["sklearn.multioutput.MultiOutputClassifier", "plurule.read"])
def test_a_learner_that_needs_arguments_is_refused(learner: str) -> None:
    with pytest.raises(DataError, match="cannot be made without arguments"):
        make_learner(learner)


def test_a_learner_without_predict_is_refused() -> None:
    with pytest.raises(DataError, match=r"builtins\.object is no classifier"):
        make_learner("builtins.object")


def test_predictions_that_are_not_binary_are_an_error() -> None:
    flags = load_world_flags()
    failed = run_in_process("sklearn.linear_model.Ridge", flags, flags, 60)
    assert re.fullmatch(r"DataError: sklearn.linear_model.Ridge predicts .*, expected 0 or 1; .*", failed["error"])


def test_a_learner_that_crashes_did_not_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = load_world_flags()
    monkeypatch.setattr("research.compare.trials.run_trial", lambda *arguments: os._exit(3))
    assert run_in_process("default", flags, flags, 10) == {"error": "its process ended with exit code 3"}


def test_an_interrupt_ends_the_process_of_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = load_world_flags()
    monkeypatch.setattr("research.compare.trials.run_trial", lambda *arguments: time.sleep(60))
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    before = multiprocessing.active_children()  # of tests that ran in this process before
    threading.Timer(1.0, signal.pthread_kill, (main_thread, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        run_in_process("default", flags, flags, 60)
    assert [child for child in multiprocessing.active_children() if child not in before] == []


def test_an_interrupt_ends_programs_that_a_trial_runs(tmp_path: Path) -> None:
    """A terminal sends the signal to all of its processes."""
    script = f"""
import subprocess, sys
import research.compare.trials as trials
from plurule.datasets import load_world_flags
program = "import pathlib, time; pathlib.Path({str(tmp_path / "started")!r}).touch(); time.sleep(30)"
trials.run_trial = lambda *arguments: subprocess.run([sys.executable, "-c", program])
flags = load_world_flags()
trials.run_in_process("default", flags, flags, 60)
"""
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, start_new_session=True, stderr=subprocess.PIPE)
    while not (tmp_path / "started").exists():
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    # The pipe is open as long as one of the processes runs; the program would run for 30 seconds.
    process.communicate(timeout=15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--learners", "constant"), "--learners needs DATA"),
        (("--folds", "3"), "--folds needs DATA"),
        ((EMBEDDED, "--study"), "--study is for the quality page"),
        ((EMBEDDED, "--limit", "nan"), "must be a number above 0"),
        ((EMBEDDED, "--limit", "-5"), "must be a number above 0"),
        ((EMBEDDED, "--output", __file__), "is not a folder"),
    ],
)
def test_arguments_that_cannot_be_used_are_explained(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_a_learner_that_fails_gives_an_error() -> None:
    flags = load_world_flags()
    failed = run_in_process("builtins.object", flags, flags, 10)
    assert failed["error"].startswith("DataError: builtins.object is no classifier")


def test_folds_are_those_of_the_training_part(tmp_path: Path) -> None:
    data_set = require_data_set(EMBEDDED)
    (whole,) = split(data_set, Settings(tmp_path))
    folds = list(split(data_set, Settings(tmp_path, folds=3)))
    assert len(folds) == 3
    assert sum(len(test) for _, test in folds) == len(whole[0])


def test_sizes_count_rules_that_relate_labels() -> None:
    flags = load_world_flags()
    learner = make_learner("relaxed pruning").fit(flags)
    sizes = model_sizes(learner)
    relating = [len(rule.head) > 1 or bool(rule.label_conditions) for rule in learner.rule_list_]
    assert sizes["relating"] == np.mean(relating)
    assert sizes["conditions"] == learner.rule_list_.characteristics()["conditions"]


def test_intervals_of_a_perfect_prediction_are_points() -> None:
    Y = np.eye(4, dtype=np.uint8)[[0, 1, 2, 3] * 5]
    assert bootstrap(Y, Y)["micro_f1"] == [1.0, 1.0]


def test_half_width_is_that_of_students_t_over_folds() -> None:
    # Scores 0.4, 0.5, 0.6: standard deviation 0.1, t(2) = 4.303.
    assert half_width([trial(0.4), trial(0.5), trial(0.6)], "micro_f1") == pytest.approx(4.303 * 0.1 / 3**0.5, abs=1e-3)
    assert half_width([trial(0.4)], "micro_f1") == pytest.approx(0.1)


def test_ranks_leave_out_learners_without_a_score_on_every_set() -> None:
    results = {
        "one": {"a": [trial(0.5, 3)], "b": [trial(0.6)], "c": [trial(0.7)]},
        "two": {"a": [trial(0.5)], "b": [{"error": "ended"}], "c": [trial(0.4)]},
    }
    assert complete_learners(results) == ["a", "c"]
    comparison = ranks(results, "micro_f1")
    assert comparison is not None
    assert comparison.ranks == {"a": 1.5, "c": 1.5}
    head, rows = table(results, "scores", "micro_f1")
    assert head == ["", "one", "two", "rank"]
    assert rows[1] == ["b", "0.600 ± 0.100", "–", "–"]
    assert "b on two: ended" in markdown_page(results, "command")


def test_wins_are_the_best_scores_of_all_and_of_rule_learners() -> None:
    results = {
        "one": {"a": [trial(0.5, 3)], "b": [trial(0.6, 3)], "forest": [trial(0.7)]},
        "two": {"a": [trial(0.5, 3)], "b": [trial(0.5, 3)], "forest": [{"error": "ended"}]},
    }
    head, rows = wins(results)
    assert head == ["", "best of all", "best of the rule learners"]
    found = {row[0]: [cell.split("; ")[1] if cell != "–" else cell for cell in row[1:]] for row in rows}
    assert found == {
        "a": ["Micro F1: two", "Micro F1: two"],
        "b": ["Micro F1: two", "Micro F1: one, two"],
        "forest": ["Micro F1: one", "–"],
    }


def test_quality_tables_and_picture_are_made_of_trials(tmp_path: Path) -> None:
    limit = 300.0
    trials = {
        "plurule": trial(0.5, 4),
        "tree per label": trial(0.4),
        "BOOMER": {"error": "ended after 300 CPU seconds", "took_too_long": True},
        "SeCo": {"error": "there is no environment with mlrl"},
    }
    assert quality_of(trials["plurule"], limit)["several"] == 2
    found = {name: quality_of(one, limit) for name, one in trials.items()}
    page = comparison_page({"sets": {"flags": found}, "machine": describe()})
    assert "| plurule: micro f1 above tree per label | 9 of 10 | 1 of 1 | – |" in page
    assert "| flags | 1.00 | > 300 | 1.00 |" in page
    draw({"sets": {"flags": found}}, tmp_path / "quality.png")
    assert (tmp_path / "quality.png").stat().st_size > 1000


def test_a_learner_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = load_world_flags()
    monkeypatch.setattr("research.compare.trials.run_trial", lambda *arguments: sum(iter(int, 1)))
    assert run_in_process("default", flags, flags, 0.1) == {
        "error": "ended after 0.1 CPU seconds",
        "took_too_long": True,
    }


@pytest.mark.parametrize("folds", ["0", "1", "-3", "two"])
def test_command_refuses_less_than_two_folds(folds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([EMBEDDED, f"--folds={folds}"])
    assert "must be a whole number of at least 2" in capsys.readouterr().err


def test_command_that_is_stopped_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("research.compare.__main__.run_trials", stop)
    with pytest.raises(SystemExit, match="the same command goes on where it was"):
        main([EMBEDDED, "--output", str(tmp_path)])


def test_command_writes_one_page_that_needs_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([EMBEDDED, "--learners", *QUICK, "--folds", "2", "--output", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "### Micro F1" in printed
    assert "--learners 'relaxed pruning' sklearn.neighbors.KNeighborsClassifier --folds 2" in printed
    page = (tmp_path / "compare" / "compare.html").read_text(encoding="utf-8")
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "http" not in page.replace("http-equiv", "")
    assert "Share of rules that relate labels" in page
