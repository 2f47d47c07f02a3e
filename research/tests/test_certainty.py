"""Draws of lifts that are not told apart, and the published table cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from research.paper.beside import read_beside
from research.paper.certainty import Certainty, distance, draw, equal_ties, published_cells
from research.paper.published import MEASURES, WINS
from research.paper.statistics import Tally


def test_draws_take_one_lift_for_each_set():
    # One set wins or loses in all measures, the other always ties.
    sets = [np.array([[0.1] * 4, [-0.1] * 4]), np.zeros((3, 4))]
    drawn = draw(sets, n_draws=200)
    assert {tuple(cell) for cell in drawn[:, 0].tolist()} == {(1, 0, 1), (0, 1, 1)}
    assert 60 < drawn[:, 0, 0].sum() < 140
    assert (drawn.sum(axis=2) == 2).all()


def test_measures_of_a_draw_are_about_the_same_lifts():
    drawn = draw([np.array([[0.1, 0.1], [-0.1, -0.1]])], n_draws=100)
    assert (drawn[:, 0] == drawn[:, 1]).all()


def with_draws(objective: str, *lifts: list[float]) -> Certainty:
    """One set, with these differences per lift."""
    here = {objective: dict.fromkeys(MEASURES, Tally(1, 0, 0))}
    return Certainty({objective: draw([np.array(lifts)])}, {objective: [len(lifts)]}, here)


def test_leads_are_summed_over_the_measures():
    certainty = with_draws("ha+", [0.1, 0.1, 0.1, -0.1], [0.0, 0.0, 0.0, -0.1])
    assert set(certainty.leads("ha+").tolist()) == {2, -1}
    (row,) = certainty.by_objective().to_dict("records")
    assert (row["lead"], row["low"], row["high"]) == (4, -1, 2)
    # Published for HA+: 5 wins, 17 losses, 6 ties.
    assert (row["published"], row["published_lead"]) == ("5/17/6", -12)
    assert not certainty.within("ha+", None, -12)


def test_the_published_table_is_at_no_distance_from_itself():
    assert equal_ties(WINS) == 24
    assert distance(WINS) == 0
    other = {**WINS, "ha+": {**WINS["ha+"], "micro_f1": Tally(2, 5, 0)}}
    assert equal_ties(other) == 23
    assert distance(other) == 2


def test_each_cell_that_differs_has_a_reason():
    objective = "ha+-"
    published = WINS[objective]
    here = {
        objective: {**published, "micro_f1": Tally(3, 3, 1), "macro_f1": Tally(0, 7, 0), "subset_accuracy": Tally(7)}
    }
    mulan = {objective: {**here[objective], "macro_f1": published["macro_f1"]}}
    drawn = np.zeros((10, 4, 3), dtype=np.int64)
    drawn[:, MEASURES.index("micro_f1")] = [(4, 2, 1)] * 3 + [(3, 3, 1)] * 7
    certainty = Certainty({objective: drawn}, {objective: [2]}, here)
    table = published_cells(here, mulan, None, certainty, {}).set_index("measure")
    assert table["reason"].to_dict() == {
        "hamming_accuracy": "equal",
        "micro_f1": "choice: 30 % of the draws give this cell",
        "macro_f1": "0/0: equal with the F1 of Mulan",
        "subset_accuracy": "not explained",
    }
    assert table.at["micro_f1", "distance"] == 2


def test_tables_of_an_earlier_run_are_read(tmp_path):
    lines = [f"numeric,ha+,{measure},3,4,0,2/4/1" for measure in MEASURES]
    (tmp_path / "wins.csv").write_text("sets,objective,measure,wins,losses,ties,published\n" + "\n".join(lines))
    (tmp_path / "statements.csv").write_text("section,statement,verdict,numbers\nS,It is so.,holds,3 of 4\n")
    beside = read_beside(tmp_path)
    assert beside.wins == {"ha+": dict.fromkeys(MEASURES, Tally(3, 4, 0))}
    assert beside.judged == {"It is so.": ("holds", "3 of 4")}


def test_incomplete_tables_of_an_earlier_run_are_refused(tmp_path):
    with pytest.raises(ValueError, match="its tables cannot be read"):
        read_beside(tmp_path)
    (tmp_path / "statements.csv").write_text("section,statement,verdict,numbers\n")
    (tmp_path / "wins.csv").write_text("sets,objective,measure,wins,losses,ties\nnumeric,ha+,micro_f1,3,4,0\n")
    with pytest.raises(ValueError, match="no complete table"):
        read_beside(tmp_path)
