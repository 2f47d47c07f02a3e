"""Rules as a LaTeX table: what it shows can be read back, whatever the names."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from helpers.requirements import lacking
from helpers.rule_lists import HOSTILE_NAMES, random_rule_list, without_counts
from plurule.export.text import LATEX_SPECIAL, to_latex
from plurule.model.text import parse


def plain(latex: str) -> str:
    """The text that a piece of LaTeX shows."""
    for shown, written in (
        ("¬", r"$\neg$"),
        (" ← ", " & "),
        ("∧", r"$\wedge$"),
        ("<=", r"$\leq$"),
        (">=", r"$\geq$"),
        (">", "$>$"),
        ("<", "$<$"),
        ("≠", r"$\neq$"),
        ("not in", r"$\notin$"),
        ("in", r"$\in$"),
    ):
        latex = latex.replace(written, shown)
    latex = latex.replace("-{}-", "--").replace("-{}-", "--")
    back = {written: character for character, written in LATEX_SPECIAL.items()}
    return re.sub("|".join(map(re.escape, sorted(back, key=len, reverse=True))), lambda m: back[m.group()], latex)


@pytest.mark.parametrize("seed", range(10))
def test_the_rules_of_a_latex_table_are_read_back(seed: int) -> None:
    rule_list, _ = random_rule_list(seed, HOSTILE_NAMES)
    lines = to_latex(rule_list).split("\n")
    rows = lines[lines.index(r"\endhead") + 1 : -2]
    for line, rule in zip(rows, rule_list, strict=True):
        cells = re.split(r"(?<!\\)&", line)
        text = plain(f"{cells[1].strip()} & {cells[2].strip()}")
        assert parse(text, rule_list.attributes, rule_list.labels) == without_counts(rule)


def test_a_latex_table_with_hostile_names_is_typeset(tmp_path: Path) -> None:
    if shutil.which("pdflatex") is None:
        lacking("latex", "no LaTeX is installed")
    # pdfLaTeX knows Latin letters only; other scripts are for XeLaTeX.
    names = [name for name in HOSTILE_NAMES if "日" not in name]
    rule_list, _ = random_rule_list(1, names, n_rules=60)
    table = to_latex(rule_list, caption="100% of the rules & more", label="tab:rules")
    document = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,longtable,textcomp}"
    (tmp_path / "rules.tex").write_text(
        f"{document}\n\\begin{{document}}\n{table}\n\\end{{document}}\n", encoding="utf-8"
    )
    subprocess.run(
        ["pdflatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "rules.tex"],
        cwd=tmp_path, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    assert (tmp_path / "rules.pdf").stat().st_size > 10_000
