"""Titles: everything that is measured and counted has one, and no two are the same."""

from __future__ import annotations

from plurule.metrics import CHARACTERISTICS, MEASURE_TITLES, METRICS, SHORT_MEASURES
from plurule.model import RuleList


def test_every_measure_and_characteristic_has_a_title_of_its_own() -> None:
    assert list(MEASURE_TITLES) == list(METRICS)
    assert set(SHORT_MEASURES) < set(MEASURE_TITLES)
    assert set(CHARACTERISTICS) == set(RuleList((), (), ()).characteristics())
    for titles in (MEASURE_TITLES, SHORT_MEASURES, CHARACTERISTICS):
        assert len(set(titles.values())) == len(titles)
