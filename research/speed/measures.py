"""Measures. Each function returns plain numbers; `report` writes them.

CPU seconds are compared where one thread works, since others may be at work on the machine; wall-clock seconds where
threads are compared.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from plurule.lifts import KLN
from research.machine import ROOT
from research.processes import Result, cpu_of_children
from research.speed.fits import Settings, least, median, ours, ours_on, peer_on

AGAINST_PEER = ("emotions", "birds", "medical", "scene", "yeast", "CAL500")
LARGE = ("enron", "bibtex", "corel5k", "tmc2007-500", "delicious", "rcv1sub1")
BINS = 255


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# Lists as users learn them -------------------------------------------------------------------------------------

DEFAULT_LISTS = ("emotions", "birds", "medical", "scene", "yeast", "enron", "CAL500", "tmc2007-500", "bibtex")
DEFAULT_STYLE = {"averaging": "micro", "max_bins": 32, "max_conditions": 5, "max_rules": 40}


def default_lists(settings: Settings) -> Result:
    """Lists of the kind that the default learner takes its bodies from: 32 bins, at most five conditions, 40 rules."""
    rows = {}
    for name in settings.names(*DEFAULT_LISTS, quick=2):
        one = [ours_on(settings, name, **DEFAULT_STYLE) for _ in range(settings.repeats)]
        two_wide = [ours_on(settings, name, **DEFAULT_STYLE, beam_width=2) for _ in range(settings.repeats)]
        rows[name] = {"cpu": least(one, "cpu"), "beam_of_two": least(two_wide, "cpu") / least(one, "cpu")}
        _say(f"  {name}: {rows[name]}")
    return {"sets": rows, "widest": max(row["beam_of_two"] for row in rows.values())}


# Beside the peer ---------------------------------------------------------------------------------------------


def paper_like(settings: Settings) -> Result:
    """Fits beside mlrl-seco set up like the paper: no sampling, no pruning, no limit to the rules."""
    lift = KLN.at(labels=3, lift=1.08)
    return _beside_peer(
        settings,
        {
            "heuristic": "f-measure{beta=0.5}",
            "head_type": "partial",
            "lift_function": f"kln{{k={lift.k}}}",
            "instance_sampling": "none",
            "rule_pruning": "none",
            "max_rules": 0,
            "parallel_rule_refinement": "false",
            "parallel_statistic_update": "false",
        },
    )


def peer_defaults(settings: Settings) -> Result:
    """Fits beside mlrl-seco as it comes: single-label heads, two thirds of the rows, pruned, at most 500 rules."""
    return _beside_peer(settings, {"parallel_rule_refinement": "false", "parallel_statistic_update": "false"})


def _beside_peer(settings: Settings, parameters: dict[str, Any]) -> Result:
    if settings.peer_python is None:
        return {"skipped": "no Python with mlrl-seco was given (--peer-python)"}
    sets = settings.names(*AGAINST_PEER, quick=2)
    ours_found: dict[str, list[Result]] = {name: [] for name in sets}
    peers_found: dict[str, list[Result]] = {name: [] for name in sets}
    for repeat in range(settings.repeats):
        for name in sets:
            ours_found[name].append(ours_on(settings, name))
            given_up = any(result.get("gave_up") for result in peers_found[name])
            if not given_up:  # once is enough for what does not end
                peers_found[name].append(peer_on(settings, name, parameters))
            _say(f"  {repeat + 1}/{settings.repeats} {name}: {ours_found[name][-1]} | {peers_found[name][-1]}")
    rows = {}
    for name in sets:
        our_cpu, peer_cpu = median(ours_found[name], "cpu"), median(peers_found[name], "cpu")
        rows[name] = {
            "ours": our_cpu,
            "peer": peer_cpu,
            "ours_wall": median(ours_found[name], "wall"),
            "peer_wall": median(peers_found[name], "wall"),
            "ours_rules": ours_found[name][0]["rules"],
            "peer_rules": peers_found[name][0].get("rules"),
            "ratio": peer_cpu / our_cpu,
            "peer_gave_up": any(result.get("gave_up", False) for result in peers_found[name]),
        }
    ratios = [row["ratio"] for row in rows.values()]
    version = next((r["version"] for results in peers_found.values() for r in results if "version" in r), None)
    return {"peer_version": version, "sets": rows, "geometric_mean": math.prod(ratios) ** (1 / len(ratios))}


# Threads -----------------------------------------------------------------------------------------------------


def threads(settings: Settings) -> Result:
    """Two threads against one, in turn; and what the machine gives two fits of one thread each at the same time."""
    rows = {}
    for name in settings.names("scene", "yeast", "CAL500", quick=1):
        one, two, at_once = [], [], []
        for _ in range(settings.repeats + 2):
            one.append(ours_on(settings, name, n_jobs=1))
            two.append(ours_on(settings, name, n_jobs=2))
            with ThreadPoolExecutor(2) as pool:
                both = list(pool.map(lambda _, name=name: ours_on(settings, name, n_jobs=1), range(2)))
            at_once.append({"wall": max(result["wall"] for result in both)})
        rows[name] = {
            "one": least(one, "wall"),
            "two": least(two, "wall"),
            "speedup": least(one, "wall") / least(two, "wall"),
            "machine": 2 * least(one, "wall") / least(at_once, "wall"),
            "cpu_overhead": median(two, "cpu") / median(one, "cpu"),
        }
        _say(f"  {name}: {rows[name]}")
    return {"sets": rows}


# Growth ------------------------------------------------------------------------------------------------------


def labels_growth(settings: Settings) -> Result:
    """CPU time per rule as labels are added: 2,000 rows, 20 attributes."""
    sizes = (10, 20, 50, 100) if settings.quick else (10, 20, 50, 100, 200, 500)
    return _growth(settings, "labels", sizes, {"rows": 2000, "attributes": 20}, {"max_rules": 20})


def rows_growth(settings: Settings) -> Result:
    """CPU time per rule as rows are added: 20 attributes, 10 labels, binned."""
    sizes = (2000, 5000, 20_000) if settings.quick else (2000, 5000, 20_000, 50_000, 200_000)
    parameters = {"max_rules": 20, "max_bins": BINS}
    return _growth(settings, "rows", sizes, {"attributes": 20, "labels": 10}, parameters)


def many_labels(settings: Settings) -> Result:
    """The same for very many labels."""
    sizes = (50, 100) if settings.quick else (500, 2000)
    return _growth(settings, "labels", sizes, {"rows": 2000, "attributes": 20}, {"max_rules": 20})


def many_rows(settings: Settings) -> Result:
    """The same for very many rows."""
    sizes = (20_000, 60_000) if settings.quick else (1_000_000, 3_000_000)
    parameters = {"max_rules": 20, "max_bins": BINS}
    return _growth(settings, "rows", sizes, {"attributes": 20, "labels": 10}, parameters)


def many_words(settings: Settings) -> Result:
    """CPU time per rule as sparse attributes are added: 2,000 rows of fifty words, 20 labels."""
    sizes = (1000, 10_000) if settings.quick else (10_000, 100_000)
    return _growth(settings, "attributes", sizes, {"rows": 2000, "labels": 20}, {"max_rules": 50}, kind="words")


def default_labels(settings: Settings) -> Result:
    """CPU time of the default fit as labels are added: 2,000 rows, 20 attributes."""
    sizes = (50, 100) if settings.quick else (500, 2000)
    return _growth(settings, "labels", sizes, {"rows": 2000, "attributes": 20}, {"default": True})


def default_classes(settings: Settings) -> Result:
    """CPU time of the default fit as the classes of one column are added: 4,000 rows, 20 attributes."""
    sizes = (20, 40) if settings.quick else (250, 1000)
    return _growth(settings, "classes", sizes, {"rows": 4000, "attributes": 20}, {"default": True}, kind="classes")


def _growth(
    settings: Settings,
    what: str,
    sizes: tuple[int, ...],
    fixed: dict[str, int],
    parameters: dict[str, Any],
    kind: str = "generated",
) -> Result:
    found: dict[int, list[Result]] = {size: [] for size in sizes}
    for _ in range(settings.repeats):
        for size in sizes:
            found[size].append(ours({kind: fixed | {what: size}, "parameters": parameters}))
    # The default fit learns many lists, so that its time is that of a whole fit.
    rules = {size: 1 if parameters.get("default") else results[0]["rules"] for size, results in found.items()}
    per_rule = {size: median(results, "cpu") / rules[size] for size, results in found.items()}
    _say(f"  {per_rule}")
    return {
        "sizes": list(sizes),
        "smallest": sizes[0],
        "largest": sizes[-1],
        "seconds_per_rule": list(per_rule.values()),
        "rules": [results[0]["rules"] for results in found.values()],
        "factor": per_rule[sizes[-1]] / per_rule[sizes[0]],
    }


# Large data --------------------------------------------------------------------------------------------------


def memory(settings: Settings) -> Result:
    """A million rows: does it finish, and what does the whole process take at most?"""
    rows = 100_000 if settings.quick else 1_000_000
    size = {"rows": rows, "attributes": 50, "labels": 20}
    result = ours({"generated": size, "parameters": {"max_rules": 50, "max_bins": BINS, "n_jobs": 2}})
    data = rows * 50 * 4
    own = (result["memory"] - result["memory_of_imports"]) / data
    return result | {"rows": rows, "data": data, "factor": result["memory"] / data, "without_imports": own}


def large_sets(settings: Settings) -> Result:
    """The large data sets of Mulan, 200 rules, two threads."""
    rows = {}
    for name in settings.names(*LARGE, quick=1):
        rows[name] = ours_on(settings, name, max_rules=20 if settings.quick else 200, n_jobs=2)
        _say(f"  {name}: {rows[name]}")
    return {"sets": rows, "slowest": max(row["wall"] for row in rows.values())}


# Using it ----------------------------------------------------------------------------------------------------


def prediction(settings: Settings) -> Result:
    """Rows times rules per CPU second of `predict`, called for the second time."""
    rows = 100_000 if settings.quick else 1_000_000
    specification = {
        "generated": {"rows": 5000, "attributes": 20, "labels": 20},
        "parameters": {"max_rules": 100, "remaining": 0},
        "predict": {"rows": rows, "attributes": 20, "labels": 20, "seed": 1},
    }
    results = [ours(specification) for _ in range(settings.repeats)]
    rules = results[0]["rules"]
    return {"rows": rows, "rules": rules, "rate": rows * rules / median(results, "cpu"), "cpu": median(results, "cpu")}


START = """
import plurule
from plurule.datasets import load_world_flags
X, Y = load_world_flags(return_X_y=True)
plurule.RuleListClassifier().fit(X, Y)
"""


def start(settings: Settings) -> Result:
    """A new process that imports the library and learns the flags, after one that warmed the disk up."""
    times = []
    for _ in range(settings.repeats + 3):
        before, wall = cpu_of_children(), time.perf_counter()
        subprocess.run([sys.executable, "-c", START], cwd=ROOT, check=True)
        times.append({"wall": time.perf_counter() - wall, "cpu": cpu_of_children() - before})
    return {"wall": median(times[1:], "wall"), "cpu": median(times[1:], "cpu")}


MEASURES = {
    "default_lists": default_lists,
    "paper_like": paper_like,
    "peer_defaults": peer_defaults,
    "threads": threads,
    "labels_growth": labels_growth,
    "rows_growth": rows_growth,
    "many_labels": many_labels,
    "many_rows": many_rows,
    "many_words": many_words,
    "default_labels": default_labels,
    "default_classes": default_classes,
    "memory": memory,
    "large_sets": large_sets,
    "prediction": prediction,
    "start": start,
}
