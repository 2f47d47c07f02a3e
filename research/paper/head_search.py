"""How good is the search for heads with micro-averaged measures, which is an approximation? Against all heads.

    python -m research.paper.head_search [SET …] [--data DIR] [--out DIR] [--pages]

The search adds labels in the order of their own values. With micro-averaging, another head of the same length can be
better. Here the best head of each length is found among all heads, for all bodies of at most one condition, at four
moments of the list that normal pruning learns from the training part, and all lifts of the paper. The micro-averaged
F-measure of a head is a ratio of sums over its labels, so that the best head of k labels is found without listing all:
Dinkelbach's method, which takes the k labels with the largest a - t·d for the ratio t of the head before, until the
ratio does not rise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plurule import Dataset, PluruleError
from plurule.model import Rule
from research.data import find_or_build, read_parts
from research.machine import ROOT, describe, in_words
from research.matrices import label_matrix
from research.pages import RESULTS, markdown_table, put_into
from research.paper.candidates import UNDECIDED, Replay
from research.paper.lifts import NONE, PAPER_LIFTS, LiftName
from research.paper.objectives import find_objective

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]

SETS = ("flags", "emotions", "birds", "medical", "sceneD", "yeastD", "CAL500D", "enron", "bibtex", "corel5k")
OBJECTIVES = ("micro-f+", "micro-f+-")
BETA = 0.5
MOMENTS = (0.0, 0.25, 0.5, 0.75)
"""Shares of the rules of the list after which heads are searched."""
THRESHOLDS = 9
"""Thresholds per numeric attribute, which hold equally many instances between them."""
MOST_BODIES = 1000
"""Bodies that are tried at one moment; of more, some are drawn."""
CLOSE = 1e-9
"""Values that differ by a smaller share are equal."""
PAGE = ROOT / "docs" / "paper" / "README.md"


@dataclass(frozen=True, eq=False)
class Counts:
    """True positives of each label in a head, and what the F-measure has in its numerator and denominator.

    Arrays are bodies × labels × values, where the values are presence and, if it may be predicted, absence.
    """

    tp: Values
    numerator: Values
    denominator: Values

    @classmethod
    def of(cls, covers: Mask, Y: Mask, is_open: Mask, left: Mask, absence: bool, beta: float = BETA) -> Counts:
        """Count for bodies × instances, and instances × labels; `left` are the instances of the training set."""
        covered = (covers & left).astype(np.float64)
        uncovered = (~covers & left).astype(np.float64)
        right = covered @ (Y & is_open)
        wrong = covered @ (~Y & is_open)
        missed = uncovered @ Y
        tp, fp = (
            np.stack(pair, axis=2) if absence else pair[0][:, :, None] for pair in ((right, wrong), (wrong, right))
        )
        numerator = (1 + beta**2) * tp
        return cls(tp, numerator, numerator + beta**2 * missed[:, :, None] + fp)


def ratio(numerator: Values, denominator: Values) -> Values:
    """Return quotients, 0 for 0/0."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)


def prefix_values(counts: Counts) -> Values:
    """Return the values of the heads that the search tries, by body and length; -inf where labels run out.

    Labels are in the order of their own values, then of their true positives; each is present or absent, whichever is
    better alone.
    """
    own = np.where(counts.tp >= 1, ratio(counts.numerator, counts.denominator), -np.inf)
    better = own.argmax(axis=2)
    tp, numerator, denominator, own = (
        np.take_along_axis(array, better[:, :, None], axis=2)[:, :, 0]
        for array in (counts.tp, counts.numerator, counts.denominator, own)
    )
    order = np.lexsort((-tp, -own), axis=1)
    tp, numerator, denominator = (np.take_along_axis(array, order, axis=1) for array in (tp, numerator, denominator))
    values = ratio(numerator.cumsum(axis=1), denominator.cumsum(axis=1))
    return np.where(tp >= 1, values, -np.inf)


def best_values(counts: Counts) -> Values:
    """Return the value of the best head of each length among all heads, by body; -inf where labels run out."""
    n_bodies, n_labels, _ = counts.tp.shape
    usable = counts.tp >= 1
    n_usable = usable.any(axis=2).sum(axis=1)
    best = prefix_values(counts)
    bodies = np.arange(n_bodies)
    for length in range(1, min(n_labels, int(n_usable.max(initial=0))) + 1):
        rows = bodies[n_usable >= length]
        value = best[rows, length - 1]
        while len(rows):
            margin = counts.numerator[rows] - value[:, None, None] * counts.denominator[rows]
            margin = np.where(usable[rows], margin, -np.inf)
            sign = margin.argmax(axis=2)
            margin = np.take_along_axis(margin, sign[:, :, None], axis=2)[:, :, 0]
            top = np.argpartition(-margin, length - 1, axis=1)[:, :length] if length < n_labels else _all(margin)
            chosen = np.take_along_axis(sign, top, axis=1)
            places = rows[:, None], top, chosen
            found = ratio(counts.numerator[places].sum(axis=1), counts.denominator[places].sum(axis=1))
            rises = found > value + CLOSE * np.abs(value)
            best[rows[rises], length - 1] = found[rises]
            rows, value = rows[rises], found[rises]
    return best


def _all(margin: Values) -> NDArray[np.intp]:
    return np.broadcast_to(np.arange(margin.shape[1]), margin.shape)


def lifted(values: Values, factors: Values) -> Values:
    """Return the highest lifted value of each body."""
    return np.asarray((values * factors).max(axis=1))


def lifted_by_search(values: Values, factors: Values) -> Values:
    """Return the lifted value of the head that the search returns: it stops where no longer head can be better."""
    heads = values * factors
    later = np.append(np.maximum.accumulate(factors[::-1])[::-1][1:], 0.0)
    running = np.maximum.accumulate(heads, axis=1)
    has_head = values > -np.inf
    stops = (np.where(has_head, values, 0) * later < running) | ~has_head
    last = np.where(stops.any(axis=1), stops.argmax(axis=1), values.shape[1] - 1)
    return np.take_along_axis(running, last[:, None], axis=1)[:, 0]


# Bodies and moments ---------------------------------------------------------------------------------------------------


def bodies(replay: Replay, random: np.random.Generator) -> Mask:
    """Return which instances each body of at most one condition covers; some of them if they are many."""
    masks = [np.ones(len(replay.left), dtype=bool)]
    for column, attribute in zip(replay.columns, replay.attributes, strict=True):
        if attribute.is_nominal:
            masks += [column == value for value in range(len(attribute.categories or ()))]
            continue
        inside = np.sort(column[replay.left & ~np.isnan(column)])
        places = np.linspace(0, len(inside) - 1, THRESHOLDS + 2).round().astype(int)[1:-1]
        for threshold in np.unique(inside[places]):
            masks += [column <= threshold, column > threshold]
    for label in np.flatnonzero((replay.predicted != UNDECIDED).any(axis=0)):
        masks += [replay.predicted[:, label] == value for value in (0, 1)]
    covering = [mask for mask in masks if (mask & replay.left).any()]
    if len(covering) > MOST_BODIES:
        drawn = np.sort(random.choice(len(covering) - 1, MOST_BODIES - 1, replace=False)) + 1
        covering = [covering[0], *(covering[i] for i in drawn)]
    return np.array(covering)


def moments(rules: Sequence[Rule], train: Dataset) -> Iterator[Replay]:
    """Return the training set at some moments of a list; nothing is left to learn when the list is done."""
    replay = Replay(train)
    n_done = 0
    for share in MOMENTS:
        for rule in rules[n_done : int(share * len(rules))]:
            replay.follow(rule)
        n_done = int(share * len(rules))
        yield replay


def compare(name: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """Return for a data set, each objective, moment and lift how far the heads of the search are from the best."""
    train, _ = read_parts(find_or_build(name, folder))
    Y = label_matrix(train).astype(bool)
    rows: list[dict[str, Any]] = []
    for objective in map(find_objective, OBJECTIVES):
        rules = list(objective.learner(NONE).fit(train).rule_list_)
        random = np.random.default_rng(0)
        for moment, replay in zip(MOMENTS, moments(rules, train), strict=True):
            is_open = replay.predicted == UNDECIDED
            counts = Counts.of(bodies(replay, random), Y, is_open, replay.left, objective.predict_absence)
            has_head = (counts.tp >= 1).any(axis=(1, 2))
            counts = Counts(counts.tp[has_head], counts.numerator[has_head], counts.denominator[has_head])
            tried, best = prefix_values(counts), best_values(counts)
            for lift in PAPER_LIFTS:
                if LiftName.parse(lift).fits(Y.shape[1]):
                    row = {"set": name, "objective": objective.name, "moment": moment, "lift": lift}
                    rows.append(row | losses(tried, best, factors_of(lift, Y.shape[1])))
    return rows


def factors_of(lift: str, n_labels: int) -> Values:
    """Return the factor of each length of a head."""
    function = LiftName.parse(lift).lift()
    return np.array([function.at_length(length, n_labels) for length in range(1, n_labels + 1)])


def losses(tried: Values, best: Values, factors: Values) -> dict[str, float]:
    """Return how many bodies have a better head than the search finds, and by which share it is better."""
    searched, highest = lifted_by_search(tried, factors), lifted(best, factors)
    loss = 1 - searched / highest
    rule_loss = 1 - searched.max() / highest.max()
    return {
        "bodies": len(loss),
        "worse": int((loss > CLOSE).sum()),
        "loss_sum": float(np.where(loss > CLOSE, loss, 0).sum()),
        "largest_loss": float(loss.max()),
        "rule_loss": float(rule_loss) if rule_loss > CLOSE else 0.0,
    }


# Pages ----------------------------------------------------------------------------------------------------------------


def summarise(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return sums over moments and lifts."""
    groups = rows.groupby(list(by), sort=False)
    table = groups.agg(
        searches=("bodies", "sum"),
        worse=("worse", "sum"),
        loss_sum=("loss_sum", "sum"),
        largest=("largest_loss", "max"),
        steps=("rule_loss", "size"),
        worse_steps=("rule_loss", lambda values: int((values > 0).sum())),
        largest_of_steps=("rule_loss", "max"),
    )
    table["share"] = table["worse"] / table["searches"]
    table["mean_loss"] = table["loss_sum"] / table["worse"].clip(lower=1)
    return table.reset_index()


def page(rows: pd.DataFrame, command: str) -> str:
    """Return the tables in Markdown."""
    head = (
        "set",
        "searches",
        "not the best head",
        "mean loss then",
        "largest loss",
        "steps",
        "other best rule",
        "loss",
    )
    parts = [f"`{command}`. {in_words(describe())}"]
    for objective in OBJECTIVES:
        own = rows[rows["objective"] == objective]
        sums = pd.concat([summarise(own, ["set"]), summarise(own.assign(set="all"), ["set"])])
        cells = []
        for row in sums.itertuples():
            of_bodies = (f"{row.searches:,}", f"{row.share:.1%}", f"{row.mean_loss:.2%}", f"{row.largest:.1%}")
            cells.append((row.set, *of_bodies, str(row.steps), str(row.worse_steps), f"{row.largest_of_steps:.2%}"))
        parts += [f"**{find_objective(objective).title}**", markdown_table(head, cells)]
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare on some data sets, and write tables."""
    parser = argparse.ArgumentParser(prog="python -m research.paper.head_search", description=__doc__.split("\n\n")[0])
    parser.add_argument("sets", nargs="*", default=SETS, help=f"data sets ({' '.join(SETS)})")
    parser.add_argument("--data", type=Path, help="folder of data sets, a folder each (PLURULE_DATA, the cache)")
    parser.add_argument("--out", type=Path, default=RESULTS / "head-search", help="folder to write to")
    parser.add_argument("--pages", action="store_true", help="put the tables into docs/paper")
    given = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    try:
        for name in given.sets:
            print(f"{name} …", file=sys.stderr, flush=True)
            rows += compare(name, given.data)
    except PluruleError as error:
        parser.error(str(error))
    table = pd.DataFrame(rows)
    given.out.mkdir(parents=True, exist_ok=True)
    summarise(table, ["set", "objective", "lift"]).round(6).to_csv(given.out / "head-search.csv", index=False)
    some = "" if tuple(given.sets) == SETS else " " + " ".join(given.sets)
    text = page(table, f"python -m research.paper.head_search{some}")
    (given.out / "head-search.md").write_text(text, encoding="utf-8")
    if given.pages:
        put_into(PAGE, "head-search", text)
        (PAGE.parent / "tables" / "head-search.csv").write_text((given.out / "head-search.csv").read_text())
    print(text)


if __name__ == "__main__":
    main()
