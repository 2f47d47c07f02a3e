"""Where the native engine spends its time: shares of the samples of Linux `perf`, by what the functions are for.

    python -m research.speed.where_time_goes

It needs `perf`, and an engine with its symbols:
`pip install . --config-settings=cmake.build-type=RelWithDebInfo --config-settings=install.strip=false`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from research.data import require_data_set

FIT = """
from plurule import RelaxedPruningClassifier, read
from plurule.lifts import KLN, Peak
data = read({file!r})
RelaxedPruningClassifier({parameters}, n_jobs=1).fit(data.X, data.Y)
"""
FITS = {
    "CAL500, macro F": ("CAL500", "averaging='macro', lift=KLN.at(3, 1.04)"),
    "CAL500, accuracy, with absence": (
        "CAL500",
        "heuristic='hamming_accuracy', predict_absence=True, lift=Peak(3, 1.04)",
    ),
    "yeast, macro F": ("yeast", "averaging='macro', lift=KLN.at(3, 1.04)"),
    "yeast, accuracy": ("yeast", "heuristic='hamming_accuracy', lift=KLN.at(3, 1.04)"),
    "scene, accuracy, with absence": (
        "scene",
        "heuristic='hamming_accuracy', predict_absence=True, lift=Peak(3, 1.04)",
    ),
}
PARTS = {
    "refinements": "FixedHead|add_contributions|add_to_slots|cumulate_sums|covered_by",
    "first pass: exact values of promising candidates": "HeadFinder|evaluate|gather|Ranking|Candidate>|insertion_sort",
    "first pass: eight candidates at once": (
        "value_as|value_prefixes|value_sum|load_matrices|relevant|count_imprecise|CandidateSearch"
    ),
    "counting, and upkeep of the histogram": "Histogram|fold|cumulate|add_rows|add_listed|sum_rows|add_states",
}
"""What functions are for, by what is in their names; the first that fits counts."""
REST = "the rest"


def samples(file: Path | None, parameters: str) -> dict[str, float]:
    """Percent of all samples by function of the engine, in one fit."""
    with tempfile.TemporaryDirectory() as scratch:
        kept = f"{scratch}/perf.data"
        fit = [sys.executable, "-c", FIT.format(file=str(file), parameters=parameters)]
        subprocess.run(["perf", "record", "-q", "-F", "999", "-o", kept, *fit], check=True)
        report = ["perf", "report", "-i", kept, "--no-children", "--sort", "dso,symbol", "--stdio"]
        lines = subprocess.run(report, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^\s*([\d.]+)%\s+_core\S*\s+\[.\] (.*)$", lines, re.MULTILINE)
    return {name.strip(): float(percent) for percent, name in found}


def shares(by_function: dict[str, float]) -> dict[str, float]:
    """Shares of the samples inside the engine, by what they are for."""
    total = sum(by_function.values())
    result = dict.fromkeys((*PARTS, REST), 0.0)
    for name, percent in by_function.items():
        part = next((part for part, pattern in PARTS.items() if re.search(pattern, name)), REST)
        result[part] += percent / total
    return result


def main() -> None:
    """Profile every fit and print a table."""
    found = {}
    for title, (name, parameters) in FITS.items():
        print(f"{title} …", file=sys.stderr, flush=True)
        found[title] = shares(samples(require_data_set(name).train, parameters))
    print("| | " + " | ".join(FITS) + " |\n" + "|---" * (len(FITS) + 1) + "|")
    for part in (*PARTS, REST):
        print(f"| {part} | " + " | ".join(f"{found[title][part]:.0%}" for title in FITS) + " |")


if __name__ == "__main__":
    main()
