"""Rule lists and instances for tests: random ones, ones with hostile names, and ones learned from real data."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from helpers.requirements import data_set
from plurule import Constraints, RelaxedPruningClassifier
from plurule._learning.derived import CONDITION_KINDS
from plurule._learning.finish import readable
from plurule._learning.native import learn
from plurule._learning.problem import Options, Problem
from plurule.data import Dataset, read
from plurule.data.dataset import Table
from plurule.data.inputs import encode
from plurule.heuristics import FMeasure, HammingAccuracy
from plurule.lifts import KLN, as_table
from plurule.model import (
    Assignment,
    Attribute,
    Condition,
    Head,
    LabelCondition,
    MissingCondition,
    OneOfCondition,
    RangeCondition,
    Rule,
    RuleList,
)
from plurule.model.text import parse_rules, presence

HOSTILE_NAMES = [
    '"><script>window.hacked = true</script>',
    "'; DROP TABLE instances; --",
    "`rm -rf`",
    "two\nlines",
    "carriage\r\nreturn",
    "\u202eright to left\u202c",
    "\u200f\u2066marks",
    "</script><script>window.hacked = true</script>",
    "<!-- <script>",
    "<img src=x onerror=window.hacked=true>",
    "{{ 7 * 7 }} {% raw %}",
    "\\'; \\\" \\n",
    "100% $x_1$ & #2 ~^ {brace} \\input{x}",
    "a | b || c",
    "*bold* _under_ [link](http://example.org) <b>",
    "red <- blue and x > 2",
    "key_1",
    "rule_1",
    "last_rule",
    "not here",
    "and",
    ' "quoted" ',
    "ü 日本 🏳️‍🌈 ﷽",
    "=1+1",
    "${x} %s {0}",
    "\x1b]0;title\x07\x1b[31mred\x9b",
    "''' \"\"\" # \\",
    "x [stop]",
    "(TP 3, FP 4)",
    "a is missing",
    "days in",
    "≠ {x}",
    "\u2028line separator",
    "&lt;b&gt; &amp;",
    "# no comment",
    "no",
    "Not",
    "12",
    "1-2",
    "007",
    "Mar 5",
    "TRUE",
    "a.b",
    "a[0]",
    "$root",
    "__proto__",
    "'\"",
    "ends in \\",
    "\ufeffmark",
]

DATA_SETS = [
    "CAL500", "CAL500D", "bibtex", "birds", "corel5k", "delicious", "emotions", "enron", "flags", "medical",
    "rcv1sub1", "scene", "tmc2007-500", "yeast", "yeastD",
]  # fmt: skip


def make_rules(text: str, attributes: dict[str, tuple[str, ...] | None], labels: tuple[str, ...]) -> RuleList:
    """A rule list from the text of its rules, one per line."""
    known = tuple(Attribute(name, categories) for name, categories in attributes.items())
    return RuleList(parse_rules(text, known, labels), known, labels)


def without_counts(rule: Rule) -> Rule:
    """What a rule says, without what was counted."""
    return replace(rule, tp=0, fp=0, coverage=0, value=0.0, decided=())


VALUES = [0.1, 0.2, 0.30000000000000004, 1.0, -2.5, 1e-7, 123456.789, 0.1 + 2**-55, 1 / 3]
"""Numbers of which some are neighbours."""
EXTREME_VALUES = [-1e300, 7e-310]
"""Numbers that only a double holds."""
TIMES = [1726704000.0, 1726704001.0, 1726747200.0, -86400.0, 0.0, 951782400.0]
"""Seconds since 1970, of which some are neighbours or midnight."""


def random_rule_list(
    seed: int,
    names: list[str] | None = None,
    n_rules: int = 14,
    n_labels: int = 5,
    values: Sequence[float] = (*VALUES, *EXTREME_VALUES),
) -> tuple[RuleList, Table]:
    """A rule list with everything in it, and instances whose values often equal its thresholds or are missing."""
    random_ = random.Random(seed)
    names = list(names or [])
    random_.shuffle(names)

    def name(default: str) -> str:
        return names.pop() if names else default

    labels = tuple(name(f"label {i}") for i in range(n_labels))
    attributes = tuple(
        Attribute(name(f"a{i}"), tuple(name(f"c{j}") for j in range(3)) if i % 2 else None) for i in range(6)
    )
    attributes += (Attribute(name("has"), only_0_and_1=True), Attribute(name("says"), ("no", "yes")))
    attributes += (Attribute(name("when"), is_date=True),)
    rules = tuple(_random_rule(random_, attributes, labels, values) for _ in range(n_rules))
    n_rows = 60
    columns: list[Any] = []
    for attribute in attributes:
        if attribute.is_nominal:
            codes = [-1, *range(len(attribute.categories or ()))]
            columns.append(np.array([random_.choice(codes) for _ in range(n_rows)], dtype=np.int32))
        elif attribute.is_binary:
            columns.append(np.array([random_.choice([0.0, 1.0, np.nan]) for _ in range(n_rows)]))
        else:
            some = TIMES if attribute.is_date else values
            columns.append(np.array([random_.choice([*some, np.nan]) for _ in range(n_rows)]))
    return RuleList(rules, attributes, labels), Table(attributes, columns)


def _bounds_of_times() -> list[float]:
    """Times, times halfway between others, and the numbers right before times."""
    return [*TIMES, *(time + 0.5 for time in TIMES), *(math.nextafter(time, -math.inf) for time in TIMES[:4])]


def _random_rule(
    random_: random.Random, attributes: tuple[Attribute, ...], labels: tuple[str, ...], values: Sequence[float]
) -> Rule:
    head = random_.sample(range(len(labels)), random_.choice([1, 1, 1, 2, 3]))
    body: list[Condition] = []
    for _ in range(random_.choice([0, 1, 1, 2, 2, 3])):
        index = random_.randrange(len(attributes))
        attribute = attributes[index]
        if random_.random() < 0.3:
            label = random_.choice([l for l in range(len(labels)) if l not in head])
            body.append(LabelCondition(labels[label], label, random_.random() < 0.6))
        elif random_.random() < 0.15:
            body.append(MissingCondition(attribute.name, index, random_.random() < 0.5))
        elif attribute.categories is not None and random_.random() < 0.5:
            some = tuple(random_.sample(attribute.categories, random_.randint(1, len(attribute.categories))))
            negated = random_.random() < 0.5
            body.append(OneOfCondition(attribute.name, index, some, negated, attribute.is_binary))
        elif attribute.categories is not None:
            category = random_.choice(attribute.categories)
            body.append(OneOfCondition(attribute.name, index, (category,), is_binary=attribute.is_binary))
        elif attribute.is_binary:
            body.append(presence(attribute, index, random_.random() < 0.5))
        else:
            bounds = _bounds_of_times() if attribute.is_date else values
            if random_.random() < 0.4:
                above, at_most = sorted(random_.sample(bounds, 2))
            else:
                threshold = random_.choice(bounds)
                above, at_most = random_.choice([(None, threshold), (threshold, None)])
            body.append(RangeCondition(attribute.name, index, above, at_most, is_date=attribute.is_date))
    return Rule(
        Head(tuple(Assignment(labels[l], l, random_.random() < 0.6) for l in head)),
        tuple(body),
        tp=random_.randrange(1, 50),
        fp=random_.randrange(20),
        coverage=random_.randrange(1, 60),
        value=random_.random(),
        stop=random_.random() < 0.3,
    )


@functools.cache
def parts(folder: Path, name: str) -> tuple[Dataset, Dataset]:
    """Some rows to learn from, and some to test on."""
    if name == "rcv1sub1":
        data = read(data_set(folder, name))
        return data[:400], data[len(data) // 2 :][:1000]
    return read(data_set(folder, name))[:400], read(data_set(folder, name, "test"))[:1000]


@functools.cache
def learned(folder: Path, name: str, absences: bool = False) -> tuple[RuleList, Dataset]:
    """A short rule list learned from the training part of a data set, and the part to test it on."""
    train, test = parts(folder, name)
    Y = train.Y if isinstance(train.Y, np.ndarray) else train.Y.toarray()
    problem = Problem(train.X, train.label_names, np.asarray(Y, dtype=np.uint8), np.ones(len(train)))
    options = Options(
        as_table(KLN.at(3, 1.08), len(train.label_names)),
        HammingAccuracy() if absences else FMeasure(),
        predict_absence=absences,
        n_rules=15,
        max_conditions=5,
    )
    return readable(learn(problem.with_conditions(CONDITION_KINDS), options), train.X), test


@functools.cache
def learned_classes(seed: int = 0) -> tuple[RuleList, Table]:
    """A list that predicts two columns of classes, and labels that some of them imply; and instances with gaps."""
    random_ = np.random.default_rng(seed)
    frame = load_iris(as_frame=True).data.round(1)
    frame["place"] = random_.choice(["bank", "field", "wood"], len(frame))
    frame = frame.mask(random_.random(frame.shape) < 0.1)
    kind = load_iris().target_names[load_iris().target]
    wet = np.where(frame["place"].eq("bank"), "wet", random_.choice(["dry", "moist"], len(frame)))
    classes = pd.DataFrame({"species": kind, "soil": wet}, index=frame.index)
    targets = pd.get_dummies(classes, prefix_sep=": ").astype(int)
    groups = [[name for name in targets if name.startswith(column)] for column in classes]
    targets["tall"] = (frame.iloc[:, 0] > 6).astype(int)
    targets["huge"] = (frame.iloc[:, 0] > 6.7).astype(int)
    targets["odd"] = ((kind == "setosa") | (random_.random(len(frame)) < 0.3)).astype(int)
    classifier = RelaxedPruningClassifier(max_rules=16, conditions="all", label_conditions=seed % 2 == 0)
    hierarchy = {"huge": "tall", "species: setosa": "odd"}
    classifier.set_params(constraints=Constraints(exclusive_labels=groups, hierarchy=hierarchy))
    classifier.fit(frame, targets)
    return classifier.rule_list_, encode(frame, classifier.rule_list_.attributes)


def labels_for(table: Any, rule_list: RuleList, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 2, size=(len(table), len(rule_list.labels)))
