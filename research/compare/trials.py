"""Trials of the comparison: a learner on one training and test part of a data set.

Every trial runs in a process of its own, which is ended after some CPU seconds, and its result goes to a journal at
once. Trials in the journal are not run again.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plurule import DataError, Dataset
from plurule.data import IterativeStratifiedKFold
from plurule.metrics import METRICS
from plurule.model import Rule
from research import related
from research.compare import baselines, learners
from research.compare.data import features_of
from research.compare.learners import learner_version, make_learner, wants_table
from research.data import parse_labels, read_for_folds, read_parts, require_data_set
from research.files import DataSet
from research.matrices import label_matrix
from research.paper.experiment import data_fingerprint
from research.paper.journal import Journal, code_fingerprint
from research.processes import TookTooLongError

SCORES = ("hamming_accuracy", "micro_f1", "macro_f1", "example_f1", "subset_accuracy")
SIZES = ("rules", "conditions", "labels_per_head", "relating")
SECONDS = ("fit", "predict")
RESAMPLES = 100

Result = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How learners are compared."""

    folder: Path
    """Place of the journal and the pages."""
    folds: int | None = None
    """Number of folds of the training part; None for one training and one test part."""
    limit: float = 300
    """CPU seconds after which a trial is ended."""
    seed: int = 0
    labels: str | None = None
    """Label columns of data sets that do not name them."""

    def journal(self) -> Journal:
        """Open the journal; one of other settings or other code is refused."""
        header = {"folds": self.folds, "limit": self.limit, "seed": self.seed, "labels": self.labels}
        header["code"] = code_fingerprint(related, baselines, learners)
        return Journal(self.folder / "journal.jsonl", header)


def run_trials(sets: Sequence[str], names: Sequence[str], settings: Settings) -> dict[str, dict[str, list[Result]]]:
    """Return the results of every learner on every part of every data set, by data set and learner.

    Finished trials are not run again, but those that failed are, unless they took too long.
    """
    for learner in names:
        make_learner(learner)
    versions = {learner: learner_version(learner) for learner in names}
    data_sets = [require_data_set(source) for source in sets]
    repeated = [name for name, count in Counter(data_set.name for data_set in data_sets).items() if count > 1]
    if repeated:
        raise DataError(f"several data sets are called {repeated[0]!r}; name each once, or rename its folder or file")
    journal = settings.journal()
    results: dict[str, dict[str, list[Result]]] = {}
    for data_set in data_sets:
        name = data_set.name
        contents = data_fingerprint(data_set)
        n_parts = settings.folds or 1
        keys = {
            (learner, i): f"{name} {contents}, {learner}{version}, part {i}"
            for learner, version in versions.items()
            for i in range(n_parts)
        }
        missing = {trial: key for trial, key in keys.items() if not _is_finished(journal.results.get(key))}
        parts = list(split(data_set, settings)) if missing else []
        for number, ((learner, i), key) in enumerate(missing.items(), start=1):
            print(
                f"{name}: {learner}, part {i + 1} of {n_parts} ({number}/{len(missing)})", file=sys.stderr, flush=True
            )
            journal.add(key, run_in_process(learner, *parts[i], settings.limit))
        results[name] = {learner: [journal.results[keys[learner, i]] for i in range(n_parts)] for learner in names}
    return results


def _is_finished(result: Result | None) -> bool:
    return result is not None and ("error" not in result or result.get("took_too_long", False))


def split(data_set: DataSet, settings: Settings) -> Iterator[tuple[Dataset, Dataset]]:
    """Return training and test parts: those of the data set, or folds of its training part (or of its only file)."""
    labels = parse_labels(settings.labels)
    if settings.folds is None:
        yield read_parts(data_set, settings.seed, labels)
        return
    data = read_for_folds(data_set, settings.seed, labels)
    folds = IterativeStratifiedKFold(settings.folds, shuffle=True, random_state=settings.seed)
    Y = label_matrix(data)
    for rows, held_out in folds.split(Y, Y):
        yield data[rows], data[held_out]


def run_in_process(learner: str, train: Dataset, test: Dataset, limit: float) -> Result:
    """Run a trial in a copy of this process; what went wrong is the result, if anything did."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_limited, args=(sender, learner, train, test, limit))
    process.start()
    sender.close()
    try:
        result: Result | None = receiver.recv()
    except EOFError:
        result = None
    except KeyboardInterrupt:
        _kill_group(process)
        raise
    finally:
        process.join()
    if result is not None:
        return result
    if process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
        return _ended(limit)
    return {"error": f"its process ended with exit code {process.exitcode}"}


def _kill_group(process: Any) -> None:
    """End a process and the programs that it runs, which may not react to an interrupt."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        # It has not made its group yet, or has ended.
        process.kill()


def _ended(limit: float) -> Result:
    return {"error": f"ended after {limit:g} CPU seconds", "took_too_long": True}


def _limited(sender: Any, learner: str, train: Dataset, test: Dataset, limit: float) -> None:
    # Control-C reaches the group of the parent only, which then ends this one.
    os.setpgid(0, 0)
    used = time.process_time()
    end = int(used + limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (end, end + 5))
    warnings.simplefilter("ignore")
    try:
        result = run_trial(learner, train, test)
    except TookTooLongError:
        result = _ended(limit)
    except Exception as error:  # one learner that fails does not keep the others from going on
        result = {"error": f"{type(error).__name__}: {error}"}
    sender.send(result)


def run_trial(name: str, train: Dataset, test: Dataset) -> Result:
    """Fit and apply a learner; return scores with intervals, sizes and CPU seconds."""
    learner = make_learner(name)
    Y, truth = label_matrix(train), label_matrix(test)
    X, X_test = (train.X, test.X) if wants_table(learner) else features_of(train, test)
    start = time.process_time()
    learner.fit(X, Y)
    fitted = time.process_time()
    predicted = learner.predict(X_test)
    done = time.process_time()
    dense = binary_matrix(name, predicted, len(truth))
    return {
        "scores": {measure: METRICS[measure](truth, dense) for measure in SCORES},
        "intervals": bootstrap(truth, dense),
        "sizes": model_sizes(learner),
        # The adapters of mlrl fit in yet another process.
        "seconds": {"fit": getattr(learner, "fit_seconds_", fitted - start), "predict": done - fitted},
    }


def binary_matrix(name: str, predicted: Any, n_rows: int) -> Any:
    """Return predictions as a dense matrix of 0 and 1; refuse those of anything but a classifier."""
    dense = np.asarray(predicted.toarray() if hasattr(predicted, "toarray") else predicted).reshape(n_rows, -1)
    others = dense[(dense != 0) & (dense != 1)]
    if len(others):
        raise DataError(f"{name} predicts {others[0]}, expected 0 or 1; give a classifier of label matrices")
    return dense.astype(np.uint8)


def bootstrap(truth: Any, predicted: Any) -> dict[str, list[float]]:
    """Return 95 % intervals of the scores over resampled rows."""
    random = np.random.default_rng(0)
    draws = [random.integers(len(truth), size=len(truth)) for _ in range(RESAMPLES)]
    intervals = {}
    for measure in SCORES:
        values = [METRICS[measure](truth[rows], predicted[rows]) for rows in draws]
        intervals[measure] = np.quantile(values, [0.025, 0.975]).tolist()
    return intervals


def relates_labels(rule: Rule) -> bool:
    """Return whether a rule relates labels: by a multi-label head, or by a label condition."""
    return len(rule.head.stated) > 1 or bool(rule.label_conditions)


def model_sizes(learner: Any) -> dict[str, float]:
    """Return the number of rules and conditions, labels per head, and the share of rules that relate labels."""
    if hasattr(learner, "label_rules_"):
        sizes = model_sizes(learner.estimator_)
        inferred = len(learner.label_rules_)
        relating = sizes.get("relating", 0) * sizes.get("rules", 0) + inferred
        sizes["rules"] = sizes.get("rules", 0) + inferred
        sizes["relating"] = relating / max(sizes["rules"], 1)
        return sizes
    if not hasattr(learner, "rule_list_"):
        return {"rules": learner.n_rules_} if hasattr(learner, "n_rules_") else {}
    rules = list(learner.rule_list_)
    heads = [len(rule.head.stated) for rule in rules]
    relating = [relates_labels(rule) for rule in rules]
    return {
        "rules": len(rules),
        "conditions": sum(len(rule.body) for rule in rules),
        "labels_per_head": float(np.mean(heads)) if heads else 0.0,
        "relating": float(np.mean(relating)) if relating else 0.0,
    }
