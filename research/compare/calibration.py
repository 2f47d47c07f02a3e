"""How often labels are present that `predict_proba` gives a probability, on the test parts of all data sets.

    python -m research.compare.calibration --pages     # half an hour; the picture and the table go into the docs
    python -m research.compare.calibration --sets flags emotions     # those of other sets are kept

Every learner is trained on the training part with its default settings. Pairs of an instance and a label of the test
part are put into ten bins by the probability that the label is present; in a calibrated bin the label is present as
often as the mean probability says. Numbers go to `research/results/calibration.json` and `.md`, the picture to
`calibration.png`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurule import RelaxedPruningClassifier, RuleListClassifier
from research.compare.data import SETS, parts_of
from research.internals import dense
from research.machine import ROOT
from research.pages import RESULTS, markdown_table, put_into, pyplot

ALL_SETS = (*SETS, "corel5k", "rcv1sub1")
LEARNERS = {"RuleListClassifier": RuleListClassifier, "RelaxedPruningClassifier": RelaxedPruningClassifier}
N_BINS = 10
FEWEST = 100
"""Bins with fewer pairs are not drawn."""
PAGE = ROOT / "docs" / "relaxed-pruning.md"
FIGURE = "calibration.png"


class Curve(NamedTuple):
    """Pairs of a test part by the probability of their labels."""

    data_set: str
    learner: str
    n_pairs: list[int]
    """Per bin."""
    probability: list[float]
    """The mean of each bin."""
    present: list[float]
    """The share of the pairs of each bin whose label is present."""

    @property
    def error(self) -> float:
        """The mean distance of both over all pairs: the expected calibration error."""
        distances = np.abs(np.subtract(self.probability, self.present))
        return float(np.average(distances, weights=self.n_pairs))

    def mean(self, values: Sequence[float]) -> float:
        """The mean over all pairs."""
        return float(np.average(values, weights=self.n_pairs))


def curve(data_set: str, learner: str, truth: NDArray[Any], probabilities: NDArray[np.float64]) -> Curve:
    """Return the calibration of probabilities, of bins that hold a pair."""
    truth = np.asarray(truth, dtype=float).ravel()
    probabilities = probabilities.ravel()
    bins = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    n_pairs = np.bincount(bins, minlength=N_BINS)
    filled = n_pairs > 0
    means = [np.bincount(bins, values, N_BINS)[filled] / n_pairs[filled] for values in (probabilities, truth)]
    return Curve(data_set, learner, n_pairs[filled].tolist(), means[0].tolist(), means[1].tolist())


def measure(sets: Sequence[str], known: Path) -> list[Curve]:
    """Return the curves of all learners, with those of other data sets that are known; all are known then."""
    curves = [Curve(**one) for one in json.loads(known.read_text("utf-8"))] if known.exists() else []
    curves = [one for one in curves if one.data_set not in sets]
    for name in sets:
        train, test = parts_of(name)
        for learner, make in LEARNERS.items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                classifier = make(n_jobs=-1).fit(train)
            curves.append(curve(name, learner, dense(test.Y), classifier.rule_list_.predict_proba(test.X)))
            print(f"{name:12} {learner:25} {curves[-1].error:.3f} {time.perf_counter() - start:6.0f} s", flush=True)
        known.write_text(json.dumps([one._asdict() for one in curves], indent=1) + "\n", "utf-8")
    return curves


def table(curves: Sequence[Curve]) -> str:
    """Return the calibration errors as a table: a row per data set."""
    by_set: dict[str, dict[str, Curve]] = {}
    for one in curves:
        by_set.setdefault(one.data_set, {})[one.learner] = one
    rows = []
    for name, of_learner in by_set.items():
        first = next(iter(of_learner.values()))
        rows.append([name, f"{sum(first.n_pairs):,}", f"{first.mean(first.present):.3f}"])
        for learner in LEARNERS:
            rows[-1] += [f"{of_learner[learner].mean(of_learner[learner].probability):.3f}"]
            rows[-1] += [f"{of_learner[learner].error:.3f}"]
    head = ["data set", "pairs", "present"]
    head += [f"`{learner}`: {what}" for learner in LEARNERS for what in ("mean probability", "calibration error")]
    return markdown_table(head, rows) + "\n"


def draw(curves: Sequence[Curve], path: Path) -> None:
    """Draw a panel per learner: a line per data set, and the mean of the data sets in every bin."""
    plt = pyplot()
    figure, panels = plt.subplots(1, len(LEARNERS), figsize=(8, 4.4), sharex=True, sharey=True, layout="constrained")
    for panel, learner in zip(panels, LEARNERS, strict=True):
        panel.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle="--", label="calibrated")
        by_bin: dict[int, list[tuple[float, float]]] = {}
        for number, one in enumerate(filter(lambda one: one.learner == learner, curves)):
            drawn = np.array(one.n_pairs) >= FEWEST
            x = np.array(one.probability)[drawn]
            y = np.array(one.present)[drawn]
            panel.plot(
                x, y, color="#9aa7b4", linewidth=0.8, marker=".", markersize=3, label="" if number else "a data set"
            )
            for point in zip(x, y, strict=True):
                by_bin.setdefault(min(int(point[0] * N_BINS), N_BINS - 1), []).append(point)
        means = np.array([np.mean(by_bin[place], axis=0) for place in sorted(by_bin)])
        panel.plot(*means.T, color="#0b5cad", linewidth=2, marker="o", markersize=4, label="mean of the data sets")
        panel.set(title=learner, xlabel="probability that the label is present", xlim=(0, 1), ylim=(0, 1))
        panel.set_aspect("equal")
    panels[0].set_ylabel("share of pairs whose label is present")
    panels[0].legend(loc="upper left", frameon=False, fontsize=9)
    figure.savefig(path, dpi=80)


def main(given: Sequence[str] | None = None) -> None:
    """Measure, and write the numbers, the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=ALL_SETS, metavar="NAME", help="data sets (default: all)")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    parser.add_argument("--pages", action="store_true", help="also put the table and the picture into the docs")
    arguments = parser.parse_args(given)
    folder = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    curves = measure(arguments.sets, folder / "calibration.json")
    text = table(curves)
    (folder / "calibration.md").write_text(text, encoding="utf-8")
    draw(curves, folder / FIGURE)
    if arguments.pages:
        put_into(PAGE, "calibration", text)
        shutil.copy(folder / FIGURE, ROOT / "docs" / "images" / FIGURE)
    print(text)


if __name__ == "__main__":
    main()
