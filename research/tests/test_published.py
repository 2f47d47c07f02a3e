"""What was published is complete, and every statement has its check."""

from __future__ import annotations

from inspect import isfunction

from research.paper import checks, published
from research.paper.lifts import parse_lifts
from research.paper.objectives import PAPER_OBJECTIVES
from research.paper.protocol import PAPER_SETS


def test_wins_losses_and_ties_are_those_of_seven_sets():
    assert set(published.WINS) == set(PAPER_OBJECTIVES)
    for row in published.WINS.values():
        assert all(tally.wins + tally.losses + tally.ties == len(PAPER_SETS) for tally in row.values())


def test_models_are_those_of_six_objectives_with_and_without_a_lift():
    rows = published.table("models")
    expected = [(objective, pruning) for objective in PAPER_OBJECTIVES for pruning in ("normal", "relaxed")]
    assert [(row["objective"], row["pruning"]) for row in rows] == expected
    for row in rows:
        names = row["lift"].split(" or ") if row["lift"] else []
        assert [parse_lifts(name) for name in names] == [(name,) for name in names]
        assert bool(names) == (row["pruning"] == "relaxed")


def test_every_statement_has_a_check_and_every_check_a_statement():
    named = [row["check"] for row in published.table("statements")]
    # Checks are functions, or functions with some arguments given.
    functions = {name: getattr(one, "func", one) for name, one in vars(checks).items() if not name.startswith("_")}
    there = [name for name, one in functions.items() if isfunction(one) and one.__module__ == checks.__name__]
    assert sorted(named) == sorted(there)
