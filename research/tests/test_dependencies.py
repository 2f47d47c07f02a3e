"""Statements of models about labels, and the study of the dependencies that they find."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from plurule import RuleList
from plurule.model import RangeCondition
from research.dependencies import __main__ as command
from research.dependencies import study
from research.dependencies.data import Dependency, DependentLabels
from research.dependencies.statements import count_found, statements, statements_of_constraints
from research.related import LabelConstraints

X = np.array([[0.1, 0.0], [0.4, 0.0], [0.6, 0.0], [0.9, 0.0]])
LABELS = ["a", "b", "c", "d"]


def stated(text: str) -> set[tuple[str, bool]]:
    rules = RuleList.from_text(text, ["x0", "x1"], LABELS)
    return {("".join(sorted(LABELS[i] for i in s.labels)), s.together) for s in statements(rules, X)}


def test_heads_and_label_conditions_state_which_labels_are_together_or_apart() -> None:
    assert stated("a, b <- x0 > 0.5") == {("ab", True)}
    assert stated("a, ¬b <- x0 > 0.5") == {("ab", False)}
    assert stated("c <- a and ¬d") == {("ac", True), ("cd", False)}
    assert stated("¬a, ¬b <- x0 > 0.5") == set()
    assert stated("a <- x0 > 0.5") == set()


def planted(region: RangeCondition | None = None) -> DependentLabels:
    dependencies = (Dependency("implication", 0, 1, region), Dependency("exclusion", 2, 3))
    return DependentLabels(X, np.zeros((4, 4), dtype=np.int8), dependencies)


def test_found_dependencies_and_precision_are_counted_by_pairs() -> None:
    rules = RuleList.from_text("a, b <- x0 > 0.5\nb, a, c <-\n¬d <- c", ["x0", "x1"], LABELS)
    found = count_found(statements(rules, X), planted())
    assert (found.planted, found.stated) == (2, 2)
    # ab and cd were planted, ac and bc were not.
    assert (found.pairs, found.right) == (4, 2)
    assert found.by_kind == {"co-occurrence": [0, 0], "implication": [1, 1], "chain": [0, 0], "exclusion": [1, 1]}


def test_chain_is_found_if_both_links_are_stated_and_its_ends_are_no_error() -> None:
    chain = DependentLabels(X, np.zeros((4, 4), dtype=np.int8), (Dependency("chain", 0, 1, None, 2),))

    def counted(text: str) -> tuple[int, int, int]:
        found = count_found(statements(RuleList.from_text(text, ["x0", "x1"], LABELS), X), chain)
        return found.stated, found.pairs, found.right

    assert counted("b <- a\nc <- b") == (1, 2, 2)
    assert counted("b <- a\nc <- a") == (0, 2, 2)
    assert counted("a, b, c <- x0 > 0.5") == (1, 3, 3)
    assert counted("b <- a\nc <- ¬b") == (0, 2, 1)


def test_local_dependencies_are_found_where_they_hold_only() -> None:
    local = planted(RangeCondition("x0", 0, above=0.5))
    inside = RuleList.from_text("a, b <- x0 > 0.5", ["x0", "x1"], LABELS)
    everywhere = RuleList.from_text("a, b <-", ["x0", "x1"], LABELS)
    assert count_found(statements(inside, X), local).stated == 1
    assert count_found(statements(everywhere, X), local).stated == 0


def test_constraints_are_statements_about_all_instances() -> None:
    pairs = [("implies", 0, 1), ("excludes", 2, 3)]
    assert count_found(list(statements_of_constraints(pairs, 4)), planted()).stated == 2


def test_constraints_are_counted_without_the_rules_of_the_wrapped_learner() -> None:
    random = np.random.default_rng(0)
    inputs = random.random((80, 2))
    labels = np.column_stack([inputs[:, 0] > 0.5, inputs[:, 0] > 0.5]).astype(int)
    model = LabelConstraints(min_confidence=0.8).fit(inputs, labels)
    mined = {(frozenset((first, second)), kind == "implies") for kind, first, second in model.constraints_.pairs()}
    assert {(statement.labels, statement.together) for statement in statements(model, inputs)} == mined


@pytest.mark.parametrize("option", ["--rows=0", "--rows=99", "--seeds=0"])
def test_too_few_rows_and_seeds_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main([option])
    assert "must be a whole number of at least" in capsys.readouterr().err


def test_command_that_is_stopped_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", stop)
    with pytest.raises(SystemExit, match="the same command goes on where it was"):
        command.main(["--output", str(tmp_path)])


def test_study_writes_tables_and_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: make for name, make in study.learners().items() if name in ("normal pruning", "relaxed pruning")}
    monkeypatch.setattr(command, "learners", lambda: few)
    monkeypatch.setattr(command, "with_lifts", lambda: dict.fromkeys(study.with_lifts(), few["normal pruning"]))
    command.main(["--seeds", "1", "--rows", "150", "--settings", "global", "--output", str(tmp_path)])
    assert (tmp_path / command.FIGURE).stat().st_size > 1000
    numbers = json.loads((tmp_path / "dependencies.json").read_text(encoding="utf-8"))
    assert [row["learner"] for row in numbers["learners"]] == ["normal pruning", "relaxed pruning"]
    assert all(row["planted"] == 8 for row in numbers["learners"])


def test_page_counts_the_data_sets_on_which_relaxed_pruning_states_more() -> None:
    def row(learner: str, seed: int, stated: int) -> study.Row:
        by_kind = {"co-occurrence": [stated, 2], "implication": [0, 2], "chain": [0, 2], "exclusion": [0, 2]}
        return study.Row("global", learner, seed, 8, stated, by_kind, stated, stated, 0.5)

    rows = [row("normal pruning", seed, 1) for seed in range(6)]
    rows += [row("relaxed pruning", seed, stated) for seed, stated in enumerate([2, 2, 2, 2, 1, 0])]
    text = command.page(rows, [], 6, 100)
    # 4 of 5 that differ: 2 * (5 + 1) / 32.
    expected = (
        "Relaxed pruning states more than normal pruning on 4 of 6 data sets and fewer on 1 (sign test: p = 0.38)."
    )
    assert expected in text


def test_help_lists_the_settings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--help"])
    assert ended.value.code == 0
    assert "noise 20 %" in " ".join(capsys.readouterr().out.split())
