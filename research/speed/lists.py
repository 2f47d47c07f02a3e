"""Learn a sample of the paper's lists: how long they take, and whether they are those of another state of the engine.

    python -m research.speed.lists scene yeast --record before.json
    python -m research.speed.lists scene yeast --beside before.json

One fold of each data set, six objectives, lifts of every kind; CPU seconds of one thread. A recording has a digest of
every list, with all counts and values. Beside a recording, lists that differ are named and make the exit code 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from dataclasses import astuple
from pathlib import Path
from typing import Any

from research.data import require_data_set
from research.pages import markdown_table
from research.paper.experiment import load_material
from research.paper.objectives import PAPER_OBJECTIVES, find_objective
from research.paper.protocol import Plan

LIFTS = ("none", "peak 2: 1.16", "peak 3: 1.04", "peak 5: 1.08", "peak 5: 1.24", "kln at 3: 1.04", "kln at 3: 1.24")


def learn_lists(name: str) -> dict[str, dict[str, Any]]:
    """Return seconds, number of rules and digest of every list, by data set, objective and lift."""
    material = load_material(require_data_set(name), Plan())
    rows, _ = material.folds[0]
    train = material.train[rows]
    lists = {}
    for objective in PAPER_OBJECTIVES:
        for lift in LIFTS:
            learner = find_objective(objective).learner(lift)
            start = time.process_time()
            rules = learner.fit(train).rule_list_.rules
            seconds = time.process_time() - start
            digest = hashlib.sha256(repr([astuple(rule) for rule in rules]).encode()).hexdigest()
            lists[f"{name}/{objective}/{lift}"] = {"seconds": seconds, "rules": len(rules), "digest": digest}
    return lists


def main() -> None:
    """Learn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--record", type=Path, help="file to write a recording to")
    parser.add_argument("--beside", type=Path, help="recording to compare with")
    arguments = parser.parse_args()
    before = json.loads(arguments.beside.read_text()) if arguments.beside else {}
    lists: dict[str, dict[str, Any]] = {}
    for name in arguments.sets:
        lists |= learn_lists(name)
    rows = []
    for group in dict.fromkeys(key.rpartition("/")[0] for key in lists):
        keys = [key for key in lists if key.startswith(f"{group}/")]
        recorded = sum(before[key]["seconds"] for key in keys if key in before)
        seconds = sum(lists[key]["seconds"] for key in keys)
        rules = sum(lists[key]["rules"] for key in keys)
        rows.append((group, f"{recorded:.2f}" if before else "–", f"{seconds:.2f}", f"{rules:,}"))
    print(markdown_table(("", "CPU s before", "CPU s", "rules"), rows))
    if arguments.record:
        arguments.record.write_text(json.dumps(lists))
    different = [key for key in lists if key in before and lists[key]["digest"] != before[key]["digest"]]
    if different:
        sys.exit(f"{len(different)} of {len(lists)} lists differ: {', '.join(different)}")


if __name__ == "__main__":
    main()
