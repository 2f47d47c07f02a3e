"""Writing tables of plain data as CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plurule.files import to_csv, write_text
from plurule.paper import analysis
from plurule.paper.experiment import Results
from plurule.paper.published import WINS
from plurule.paper.reference import comparison_rows
from plurule.paper.selected_rules import Selection
from plurule.paper.statements import Statement
from plurule.selection.objectives import find_objective

Row = dict[str, Any]


def all_tables(
    results: Results, selections: Sequence[Selection], statements: Sequence[Statement]
) -> dict[str, list[Row]]:
    """Every table by name."""
    tables = {
        "data-sets": [{"set": name} | found.facts for name, found in results.sets.items()],
        "effort": analysis.effort(results),
        "chosen-lifts": analysis.choices(results),
        "candidates": analysis.candidate_rows(results),
        "model-characteristics": analysis.characteristic_rows(results),
        "test-scores": analysis.score_rows(results),
        "wins": _wins(results),
        "ranks": _ranks(results),
        "training-times": analysis.time_rows(results),
        "sensitivity": analysis.sensitivity_rows(results),
        "variants": analysis.variant_rows(results),
        "reference-models": comparison_rows(results.reference, dict(results.records)),
        "selected-rules": [row for selection in selections for row in _rules(selection)],
        "statements": [
            {
                "section": s.section,
                "statement": s.text,
                "verdict": s.word,
                "numbers": s.verdict.numbers,
                "criterion": s.criterion,
            }
            for s in statements
        ],
    }
    return {name: rows for name, rows in tables.items() if rows}


def write_tables(tables: dict[str, list[Row]], folder: Path) -> None:
    """Write each table as a CSV file."""
    folder.mkdir(exist_ok=True)
    for name, rows in tables.items():
        write_text(folder / f"{name}.csv", to_csv(rows))


def _wins(results: Results) -> list[Row]:
    rows = []
    for version, discretised in (("numeric", False), ("discretised", True)):
        if discretised and not analysis.has_discretised(results):
            continue
        sets = analysis.compared_sets(results, discretised)
        for objective, row in analysis.win_table(results, sets).items():
            for i, (measure, found) in enumerate(row.items()):
                printed = WINS.get(objective)
                rows.append(
                    {
                        "sets": version,
                        "objective": objective,
                        "measure": measure,
                        "wins": found.wins,
                        "losses": found.losses,
                        "ties": found.ties,
                        "published": str(printed[i]) if printed else None,
                    }
                )
    return rows


def _ranks(results: Results) -> list[Row]:
    rows = []
    for measure, comparison in analysis.rank_table(results, analysis.compared_sets(results)).items():
        for name, rank in comparison.by_rank():
            row: Row = {"measure": measure, "approach": name, "average_rank": rank, "sets": comparison.n_sets}
            rows.append(row | {"friedman_p": comparison.p_value, "critical_difference": comparison.critical_difference})
    return rows


def _rules(selection: Selection) -> list[Row]:
    rows = []
    for pruning, rules in (("normal", selection.normal), ("relaxed", selection.relaxed)):
        for rule in rules:
            row: Row = {"set": selection.dataset, "objective": selection.objective, "label": selection.label}
            row |= {"title": find_objective(selection.objective).title, "pruning": pruning}
            rows.append(row | {"rule": rule.to_text(), "tp": rule.tp, "fp": rule.fp, "stop": rule.stop})
    return rows
