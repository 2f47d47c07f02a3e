"""The frame that charts over the number of rules share."""

from __future__ import annotations

from plurule.report.charts import Frame

FRAME = Frame(first=1, last=21, low=0.5, span=0.5, marks=((0.5, "half"), (1.0, "all")))


def test_the_first_and_last_rule_and_the_lowest_and_highest_value_lie_on_the_edges() -> None:
    assert FRAME.points([0.5])[0] == (FRAME.left, FRAME.bottom)
    assert (FRAME.x(21), FRAME.y(1.0)) == (FRAME.right, FRAME.top)
    assert 0 < FRAME.left < FRAME.right < FRAME.width
    assert 0 < FRAME.top < FRAME.bottom < FRAME.height


def test_a_value_in_the_middle_lies_in_the_middle() -> None:
    points = FRAME.points([0.75] * 21)
    assert points[10] == ((FRAME.left + FRAME.right) / 2, (FRAME.top + FRAME.bottom) / 2)


def test_ticks_lie_where_their_values_do() -> None:
    assert FRAME.y_ticks == ((FRAME.bottom, "half"), (FRAME.top, "all"))
    assert list(FRAME.x_ticks) == [(FRAME.x(c), str(c)) for c in (1, 5, 10, 15, 20)]


def test_a_list_of_one_length_can_be_framed() -> None:
    frame = Frame(first=0, last=0, low=0.0, span=1.0, marks=())
    assert frame.points([0.25]) == [(frame.left, frame.y(0.25))]
    assert [text for _, text in frame.x_ticks] == ["0"]


def test_every_tick_is_drawn_once() -> None:
    for first, last in ((0, 3), (1, 1), (1, 4), (1, 100)):
        texts = [text for _, text in Frame(first, last, low=0.0, span=1.0, marks=()).x_ticks]
        assert texts[0] == str(first)
        assert len(texts) == len(set(texts))
