"""A sample of the paper's lists: how long they take, and whether they are those of another state of the engine.

    python benchmarks/lists.py ../shared/data scene yeast --record before.json
    python benchmarks/lists.py ../shared/data scene yeast --beside before.json

One fold of each data set, six objectives, lifts of every kind; CPU seconds of one thread. What is recorded has a digest
of every list, with all counts and values. Beside a recording, the table has the seconds of both, and lists that differ
are named and make the exit code 1. The last column is the share of rules that would be left if lists of several lifts
shared their beginnings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import defaultdict
from dataclasses import astuple
from pathlib import Path
from typing import Any

from plurule.lifts import NONE
from plurule.model import RuleList
from plurule.paper.materials import load_material, options_of
from plurule.paper.protocol import FOLDS, Task
from plurule.selection.objectives import PAPER_OBJECTIVES

LIFTS = [NONE, *(f"peak {n}: {high}" for n, high in ((2, 1.04), (2, 1.16), (3, 1.04), (3, 1.2), (5, 1.08), (5, 1.24)))]
LIFTS += [f"kln at 3: {high}" for high in (1.04, 1.12, 1.24)]


def learned(place: Path, lifts: list[str]) -> dict[str, dict[str, Any]]:
    """What every list takes and consists of, by objective and lift."""
    material = load_material(str(place), FOLDS, 0)
    found = {}
    for objective in PAPER_OBJECTIVES:
        for lift in lifts:
            options = options_of(Task("fold", place.name, objective, lift), material.n_labels)
            start = time.process_time()
            rule_list = material.folds.learn(0, options)
            seconds = time.process_time() - start
            found[f"{place.name}/{objective}/{lift}"] = {
                "seconds": round(seconds, 4),
                "list": hashlib.sha256(repr([astuple(rule) for rule in rule_list]).encode()).hexdigest(),
                "beginnings": beginnings(rule_list),
            }
    return found


def beginnings(rule_list: RuleList) -> list[str]:
    """Digests of the first rule, the first two, and so on, without their values, which are lifted."""
    digest, found = hashlib.sha256(), []
    for rule in rule_list:
        digest.update(repr((rule.head, rule.body)).encode())
        found.append(digest.hexdigest()[:16])
    return found


def main() -> None:
    """Learn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of Mulan data sets")
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--lifts", default=",".join(LIFTS), help="separated by commas")
    parser.add_argument("--record", type=Path, help="write what was found")
    parser.add_argument("--beside", type=Path, help="what was recorded before")
    arguments = parser.parse_args()
    before = json.loads(arguments.beside.read_text()) if arguments.beside else {}
    found: dict[str, dict[str, Any]] = {}
    columns = ["", *(["CPU s before"] if before else []), "CPU s", "rules", "in no other list"]
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|")
    for name in arguments.sets:
        of_set = learned(arguments.data / name, arguments.lifts.split(","))
        found |= of_set
        groups = defaultdict(list)
        for key, result in of_set.items():
            groups[key.rpartition("/")[0]].append((key, result))
        for group, results in groups.items():
            rules = [rule for _, result in results for rule in result["beginnings"]]
            known = sum(before[key]["seconds"] for key, _ in results if key in before)
            times = [f"{known:.2f}"] if before else []
            times.append(f"{sum(result['seconds'] for _, result in results):.2f}")
            own = len(set(rules)) / max(1, len(rules))
            print(f"| {group} | {' | '.join(times)} | {len(rules):,} | {own:.0%} |", flush=True)
    if arguments.record:
        arguments.record.write_text(json.dumps(found))
    different = [key for key in found if key in before and found[key]["list"] != before[key]["list"]]
    if different:
        sys.exit(f"{len(different)} of {len(found)} lists differ: {', '.join(different)}")


if __name__ == "__main__":
    main()
