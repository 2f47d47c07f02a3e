"""Random models, sources, null data and interrupts: campaigns that look for answers that are wrong, not for crashes.

`make fuzz` gives each its share of the time. A campaign tries one seed after another and ends with the cases tried and
the failures found; a failure names the seed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy.stats import binom

from helpers.databases import DATABASES, NoDatabase, fill, labels_by_query
from helpers.engines import ENGINES, has_node
from helpers.rule_lists import EXTREME_VALUES, HOSTILE_NAMES, VALUES, learned_classes, random_rule_list
from plurule import RelaxedPruningClassifier, RuleList, RuleListClassifier, read
from plurule._prediction.apply import decide
from plurule.errors import ModelError
from plurule.export.sql import DIALECTS, to_sql
from plurule.metrics import scores
from plurule.model.file import dumps, loads
from plurule.model.text import parse_rules, write_rules

Try = Callable[[int], None]
LEVEL = 0.05
CERTAIN = 1e-4
"""A rate is too high if chance alone gives one as high with less than this probability."""


class Interrupted(Exception):
    """Raised in the middle of a fit."""


def models(stack: ExitStack) -> Try:
    """A list predicts the same in every form: as it is, from file and text, and wherever it is exported to."""
    engines = {name: run for name, run in ENGINES.items() if name != "javascript" or has_node()}
    connections = {}
    for dialect, connect in DATABASES.items():
        try:
            connections[dialect] = stack.enter_context(connect())
        except NoDatabase as reason:
            print(f"without {dialect}: {reason}")

    def run_sql(dialect: str, rule_list: RuleList, table: Any) -> Any:
        query = to_sql(rule_list, "rows", dialect, keys=["row id"])
        fill(connections[dialect], dialect, "rows", rule_list, table, None)
        try:
            return labels_by_query(connections[dialect], dialect, query, rule_list.labels)
        finally:
            connections[dialect].cursor().execute(f"DROP TABLE {DIALECTS[dialect].identifier('rows')}")

    def try_one(seed: int) -> None:
        random = np.random.default_rng(seed)
        values = [*VALUES, *EXTREME_VALUES] if seed % 4 == 0 else VALUES
        names = HOSTILE_NAMES if seed % 3 == 0 else None
        size = {"n_rules": int(random.integers(1, 40)), "n_labels": int(random.integers(4, 12))}
        given = learned_classes(seed) if seed % 10 == 9 else random_rule_list(seed, names, values=values, **size)
        rule_list, table = given
        expected = decide(rule_list, table).labels()
        assert loads(dumps(rule_list)) == rule_list
        again = parse_rules(write_rules(rule_list), rule_list.attributes, rule_list.labels)
        copy = RuleList(
            again, rule_list.attributes, rule_list.labels, groups=rule_list.groups, hierarchy=rule_list.hierarchy
        )
        np.testing.assert_array_equal(decide(copy, table).labels(), expected)
        np.testing.assert_array_equal(rule_list.predict(table), expected)
        explained = [[decision.present for decision in one.decisions] for one in rule_list.explain(table)]
        np.testing.assert_array_equal(explained, expected)
        forms = {name: lambda name=name: engines[name](rule_list, table) for name in engines}
        forms |= {name: lambda name=name: run_sql(name, rule_list, table) for name in connections}
        for name, run in forms.items():
            if name == "jdm" and seed % 4 == 0:
                continue  # the engine cannot be given such numbers
            try:
                labels = run()
            except ModelError:
                continue
            np.testing.assert_array_equal(labels, expected, err_msg=name)

    return try_one


def sources(stack: ExitStack) -> Try:
    """The same data in another type, frame or file give the same predictions, or are refused."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

    def try_one(seed: int) -> None:
        random = np.random.default_rng(seed)
        n_rows = 60
        truth = random.random(n_rows) < 0.5
        frame = pd.DataFrame(
            {
                "flag": truth,
                "zip": random.choice(["01234", "00777", "12345"], n_rows),
                "area": random.normal(size=n_rows).round(2),
                "when": pd.to_datetime("2024-01-01") + pd.to_timedelta(random.integers(0, 10**6, n_rows), unit="min"),
                "zone": random.choice(["a", "b", "c"], n_rows),
            }
        )
        labels = pd.DataFrame(
            {
                "one": truth ^ (random.random(n_rows) < 0.1),
                "two": (frame["zip"] == "01234") | (frame["area"] > 0.5),
                "three": frame["when"] > frame["when"].median(),
            }
        ).astype(int)
        learner = RelaxedPruningClassifier(max_rules=6) if seed % 2 else RuleListClassifier(cv=3)
        rule_list = learner.fit(frame, labels).rule_list_
        expected = rule_list.predict(frame)
        forms = {
            "flag": [truth.astype(int), truth.astype(float), truth.astype(str), truth.astype(object)],
            "zip": [frame["zip"].astype("category"), frame["zip"].astype(object), frame["zip"].str.encode("utf-8")],
            "area": [frame["area"].astype(str), frame["area"].astype(object), frame["area"].astype("Float64")],
            "when": [
                frame["when"].astype(str),
                frame["when"].dt.tz_localize("UTC"),
                frame["when"].astype("datetime64[s]"),
            ],
            "zone": [frame["zone"].astype("category"), frame["zone"].astype("string")],
        }
        changed = frame.assign(**{name: some[random.integers(len(some))] for name, some in forms.items()})
        np.testing.assert_array_equal(rule_list.predict(changed), expected)
        np.testing.assert_array_equal(rule_list.predict(pl.from_pandas(frame)), expected)
        frame.to_csv(folder / "t.csv", index=False)
        frame.to_parquet(folder / "t.parquet")
        for name in ("t.csv", "t.parquet"):
            np.testing.assert_array_equal(rule_list.predict(read(folder / name, labels=[])), expected)

    return try_one


class Rate:
    """How often something happens that must be rare."""

    def __init__(self, what: str, at_most: float):
        self.what = what
        self.at_most = at_most
        self.tried = self.happened = 0

    def add(self, happened: bool) -> None:
        self.tried += 1
        self.happened += happened
        if binom.sf(self.happened - 1, self.tried, self.at_most) < CERTAIN:
            raise AssertionError(f"{self.what}: {self.happened} of {self.tried}, expected {self.at_most:.0%}")


def null_rules(_: ExitStack) -> Try:
    """Rules without relation to their labels, later rules included, have small p-values as rarely as these say."""
    rates = [Rate(f"p-value of rule {i + 1} at most 5 %", LEVEL) for i in range(5)]
    text = "A, B <- x0 > 0.3\nA <- x1 > 0\nC <- x2 > 0.1\n!B <- x3 > 0\nC, !A <- x3 <= 0"
    rule_list = RuleList.from_text(text, ["x0", "x1", "x2", "x3"], ["A", "B", "C"])

    def try_one(seed: int) -> None:
        random = np.random.default_rng(seed)
        n_rows = int(random.integers(50, 400))
        Y = (random.random((n_rows, 3)) < random.uniform(0.1, 0.9, 3)).astype(int)
        Y[:, 2] ^= Y[:, 0]
        for rate, evidence in zip(rates, rule_list.evidence(random.normal(size=(n_rows, 4)), Y), strict=True):
            rate.add(evidence.p_value <= LEVEL)

    return try_one


def null_fits(_: ExitStack) -> Try:
    """On noise the best constant prediction is returned, and the reported score covers that on new rows."""
    lists = Rate("a list instead of the best constant on noise", LEVEL)
    uncovered = Rate("score on new rows more than 1.96 standard errors off", 0.1)

    def try_one(seed: int) -> None:
        random = np.random.default_rng(seed)
        n_rows = int(random.integers(60, 300))
        shares = random.uniform(0.1, 0.6, 4)
        X = random.normal(size=(n_rows, 6))
        Y = (random.random((n_rows, 4)) < shares).astype(int)
        if seed % 3 == 0:
            X = np.repeat(X, 3, axis=0)
            Y = np.repeat(Y, 3, axis=0)
        classifier = RuleListClassifier().fit(X, Y)
        lists.add(any(rule.body for rule in classifier.rule_list_))
        fresh = (random.random((20_000, 4)) < shares).astype(int)
        score = scores(fresh, classifier.predict(random.normal(size=(20_000, 6))))["micro_f1"]
        error = classifier.chosen_["standard_error"]
        uncovered.add(abs(classifier.chosen_["score"] - score) > 1.96 * error)

    return try_one


def refits(_: ExitStack) -> Try:
    """A fit that is interrupted or refused leaves the model of an earlier one as it was."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    Y = (X + random.normal(size=X.shape) > 0).astype(int)
    other = pd.DataFrame(random.normal(size=(120, 5)), columns=list("abcde"))
    labels = pd.DataFrame((other.to_numpy()[:, :4] > 0).astype(int), columns=list("pqrs"))

    def try_one(seed: int) -> None:
        learner = (RuleListClassifier(), RelaxedPruningClassifier())[seed % 2]
        before = {name: repr(value) for name, value in vars(learner.fit(X, Y)).items()}
        left = seed % 12

        def interrupt(*_: Any) -> None:
            nonlocal left
            left -= 1
            if left < 0:
                raise Interrupted

        learner.set_params(verbose=interrupt)
        try:
            learner.fit(other, labels)
        except Interrupted:
            learner.set_params(verbose=False)
            assert {name: repr(value) for name, value in vars(learner).items()} == before

    return try_one


CAMPAIGNS: dict[str, Callable[[ExitStack], Try]] = {
    "models": models,
    "sources": sources,
    "null-rules": null_rules,
    "null-fits": null_fits,
    "refits": refits,
}


def seeds(first: int, seconds: float) -> Iterator[int]:
    """Yield seeds until the time is over, one at least."""
    end = time.monotonic() + seconds
    yield first
    seed = first + 1
    while time.monotonic() < end:
        yield seed
        seed += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("campaign", choices=CAMPAIGNS)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n_cases = 0
    with ExitStack() as stack:
        try_one = CAMPAIGNS[options.campaign](stack)
        for seed in seeds(options.seed, options.seconds):
            n_cases += 1
            try:
                try_one(seed)
            except Exception:
                traceback.print_exc()
                print(f"{options.campaign:10} {n_cases:>9} cases, 1 failure: seed {seed}", flush=True)
                return 1
    print(f"{options.campaign:10} {n_cases:>9} cases, 0 failures", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
