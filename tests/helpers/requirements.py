"""Programs and data that some tests need and not every machine has.

A test that lacks one is skipped, and the run ends with what was skipped and how to switch it on. Where the environment
variable `PLURULE_TEST_REQUIRE` names it (`browser,databases`), the test fails instead.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import pytest

REQUIREMENTS = {
    "browser": "install Chromium and its driver (Debian: apt-get install chromium chromium-driver)",
    "databases": "install a PostgreSQL server (Debian: apt-get install postgresql)",
    "data": "put folders of Mulan data sets at ../shared/data beside the checkout, or set PLURULE_DATA",
    "node": "install Node.js (Debian: apt-get install nodejs)",
    "latex": "install LaTeX (Debian: apt-get install texlive-latex-base)",
}


def lacking(requirement: str, why: str) -> NoReturn:
    """Skip the test at hand, or fail where the requirement must be there."""
    if requirement not in REQUIREMENTS:
        raise KeyError(f"unknown requirement {requirement!r}")
    if requirement in os.environ.get("PLURULE_TEST_REQUIRE", "").split(","):
        pytest.fail(f"{why}, and PLURULE_TEST_REQUIRE names {requirement}", pytrace=False)
    pytest.skip(f"{requirement}: {why}")


def shared_data_folder() -> Path | None:
    """The folder of Mulan data sets: `PLURULE_DATA`, or `../shared/data` beside the checkout."""
    places = [os.environ.get("PLURULE_DATA"), Path(__file__).parents[3] / "shared" / "data"]
    return next((Path(p) for p in places if p and Path(p).is_dir()), None)


def data_set(folder: Path, name: str, part: str = "train") -> Path:
    """The file of a part of a data set of the folder; of a data set that has no parts, its file."""
    files = sorted((folder / name).glob("*.arff*"))
    if not files:
        lacking("data", f"there is no folder {name} among the data sets")
    return next((path for path in files if f"-{part}." in path.name), files[0])


def summary(reasons: Iterable[str]) -> list[str]:
    """What was skipped, one line per requirement (with the way to switch it on) and per other reason."""
    skipped: Counter[str] = Counter()
    for reason in reasons:
        reason = reason.removeprefix("Skipped: ")
        requirement = reason.partition(":")[0]
        skipped[requirement if requirement in REQUIREMENTS else reason] += 1
    return [
        f"{count:4} for want of {reason}: {REQUIREMENTS[reason]}" if reason in REQUIREMENTS else f"{count:4} {reason}"
        for reason, count in sorted(skipped.items())
    ]
