"""Does normal pruning as relaxed search without lift learn the lists of the recipe for decomposable measures?

    python -m research.paper.recipe [SET …] [--data DIR]

The recipe (Rapp et al. 2018) combines all single-label heads of a body that reach the best value. As published, it
searches the head again for every body, which changes more: lists are counted with fixed heads and without.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from plurule import Dataset, PluruleError
from research.data import find_or_build, read_parts
from research.paper.lifts import NONE
from research.paper.objectives import PAPER_OBJECTIVES, find_objective
from research.paper.sets import PAPER_SETS


class Same(NamedTuple):
    """Whether the list of the recipe is that of relaxed search without lift."""

    fixed: bool
    """With heads that are fixed while the body grows."""
    free: bool
    """With heads that are searched again for each body."""


def compare(train: Dataset, objective: str) -> Same:
    """Learn the lists of an objective in the three ways."""
    learner = find_objective(objective).learner
    relaxed, fixed, free = (
        str(learner(NONE, **parameters).fit(train).rule_list_)
        for parameters in ({}, {"head_search": "decomposable"}, {"head_search": "decomposable", "fix_head": False})
    )
    return Same(fixed == relaxed, free == relaxed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Count the lists that are the same."""
    parser = argparse.ArgumentParser(prog="python -m research.paper.recipe", description=__doc__.split("\n\n")[0])
    parser.add_argument("sets", nargs="*", default=PAPER_SETS, help=f"data sets ({' '.join(PAPER_SETS)})")
    parser.add_argument("--data", type=Path, help="folder of data sets, a folder each (PLURULE_DATA, the cache)")
    given = parser.parse_args(arguments)
    found: list[Same] = []
    try:
        for name in given.sets:
            train, _ = read_parts(find_or_build(name, given.data))
            own = [compare(train, objective) for objective in PAPER_OBJECTIVES]
            print(f"{name}: {_text(own)}", flush=True)
            found += own
    except PluruleError as error:
        parser.error(str(error))
    print(f"all: {_text(found)}")


def _text(found: Sequence[Same]) -> str:
    fixed, free = (sum(column) for column in zip(*found, strict=True))
    return f"{fixed} of {len(found)} lists are the same with fixed heads, {free} with heads that are searched again"


if __name__ == "__main__":
    main()
