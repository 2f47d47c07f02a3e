"""The embedded dishes: what the program that made them makes, as their description says."""

from __future__ import annotations

import gzip
import re
from importlib import resources

import numpy as np
import pytest

from plurule import RuleListClassifier
from plurule.datasets import load_canteen_dishes
from plurule.metrics import micro_f1
from tools import canteen_dishes as maker

DISHES = load_canteen_dishes()
LABEL = {name: DISHES.Y[:, index].astype(bool) for index, name in enumerate(DISHES.label_names)}


def test_the_file_is_what_the_program_makes() -> None:
    kept = resources.files("plurule.datasets").joinpath("canteen_dishes.csv.gz").read_bytes()
    assert gzip.decompress(kept) == gzip.decompress(maker.make())
    assert len(kept) < 100_000


def test_labels_are_those_of_the_program_and_none_is_empty() -> None:
    assert DISHES.label_names == maker.LABELS
    assert DISHES.Y.sum(axis=0).min() >= 50


def test_labels_depend_on_each_other_but_for_what_kitchens_get_wrong() -> None:
    assert LABEL["vegetarian"][LABEL["vegan"]].mean() > 0.95
    assert LABEL["sulphites"][LABEL["alcohol"]].mean() > 0.7 > 2 * LABEL["sulphites"].mean()
    for animal in ("milk", "egg", "fish", "molluscs", "pork"):
        assert (LABEL["vegan"] & LABEL[animal]).mean() < 0.01


def test_the_description_says_how_many_values_and_dishes_there_are() -> None:
    sizes = {each.name: len(each.categories) for each in DISHES.X.attributes if each.categories is not None}
    described = dict(re.findall(r"^\| `(\w+)` \| (\d+) values", DISHES.description, re.MULTILINE))
    assert {name: int(count) for name, count in described.items()} == {name: sizes[name] for name in described}
    assert "17, 25 and 11 values" in DISHES.description
    assert [sizes[name] for name in ("starch", "sauce", "topping")] == [17, 25, 11]
    assert f"`lupin` is rare ({LABEL['lupin'].sum()} dishes)" in DISHES.description
    assert f"from {len(maker.DISHES)} kinds of dishes" in DISHES.description


def test_some_fats_and_times_are_not_written_down() -> None:
    X, _ = load_canteen_dishes(as_frame=True)
    assert X["fat"].isna().mean() == pytest.approx(0.08, abs=0.02)
    assert X["minutes"].isna().mean() == pytest.approx(0.05, abs=0.02)
    assert X.drop(columns=["fat", "minutes"]).notna().all().all()


def test_rules_say_most_of_it() -> None:
    X, Y = load_canteen_dishes(return_X_y=True)
    classifier = RuleListClassifier(max_rules=60).fit(X, Y)
    assert micro_f1(Y, classifier.predict(X)) > 0.7 > micro_f1(Y, np.ones_like(Y))
