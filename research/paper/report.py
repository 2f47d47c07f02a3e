"""The report: one HTML page that holds everything, with the published tables beside ours.

It is made in two steps: `page_data` puts the results into plain data, and a Jinja2 template lays them out.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from research.paper import checks, example, published
from research.paper.analysis import Analysis, Pairs
from research.paper.beside import Beside
from research.paper.certainty import distance, equal_ties
from research.paper.experiment import Results
from research.paper.figures import draw_all
from research.paper.lifts import NONE, LiftName
from research.paper.objectives import find_objective
from research.paper.selected_rules import RULES_SHOWN
from research.paper.sets import PAPER_SETS

PAGE = "report.html"
DRAWS = 60
"""Draws of the lifts by which statements are judged again."""
TEMPLATES = Path(__file__).parent / "templates"
Data = dict[str, Any]


@dataclass(frozen=True)
class Statement:
    """A statement of the paper, judged."""

    section: str
    statement: str
    holds: bool | None
    """Whether it holds here; None if these experiments cannot tell."""
    numbers: str
    criterion: str
    """What is looked at, and when the statement counts as true."""
    drawn: float | None = None
    """Share of draws of lifts that are nearly as good in which it holds; None if it does not depend on the choice."""
    otherwise: str = ""
    """Why it does not hold here, where it does not."""
    numeric: Statement | None = None
    """The same, judged by the numeric versions of data sets; None if there are none."""

    @property
    def verdict(self) -> str:
        return {True: "holds", False: "does not hold", None: "not judged"}[self.holds]


def check_statements(analysis: Analysis, beside: Beside | None = None) -> list[Statement]:
    """Judge every statement, also by numeric versions of data sets: of this run, or else of an earlier one."""
    statements = _judge_statements(analysis)
    if analysis.has_numeric:
        numeric = _judge_statements(Analysis(analysis.results, numeric=True))
        return [replace(statement, numeric=other) for statement, other in zip(statements, numeric, strict=True)]
    if beside is None:
        return statements
    verdicts = {"holds": True, "does not hold": False}
    return [
        replace(one, numeric=replace(one, holds=verdicts.get(judged[0]), numbers=judged[1]))
        if (judged := beside.judged.get(one.statement))
        else one
        for one in statements
    ]


def with_draws(statements: Sequence[Statement], analysis: Analysis, n_draws: int = DRAWS) -> list[Statement]:
    """Return the statements with the share of draws of the lifts in which each holds."""
    if analysis.certainty is None:
        return list(statements)
    held: list[list[Statement]] = [_judge_statements(analysis.redrawn(seed)) for seed in range(n_draws)]
    judged = []
    for place, statement in enumerate(statements):
        draws = [one[place] for one in held]
        depends = any(one.numbers != statement.numbers for one in draws)
        share = sum(one.holds is True for one in draws) / n_draws
        judged.append(replace(statement, drawn=share if depends and statement.holds is not None else None))
    return judged


def _judge_statements(analysis: Analysis) -> list[Statement]:
    judged = []
    for row in published.table("statements"):
        check: checks.Check = getattr(checks, row.pop("check"))
        try:
            holds, numbers = check(analysis)
            judged.append(Statement(**row, holds=bool(holds), numbers=numbers))
        except checks.CannotTellError as reason:
            judged.append(Statement(**row, holds=None, numbers=str(reason)))
    return judged


def write_report(results: Results, folder: Path, beside: Beside | None = None, n_draws: int = DRAWS) -> list[Statement]:
    """Write the report, its figures and its tables to a folder; gives the statements that were checked."""
    analysis = Analysis(results, beside_wins=None if beside is None else beside.wins)
    statements = with_draws(check_statements(analysis, beside), analysis, n_draws)
    write_tables(analysis, statements, folder / "tables")
    figures = draw_all(analysis, folder / "figures")
    (folder / PAGE).write_text(render(page_data(analysis, statements, n_draws), figures), encoding="utf-8")
    return statements


def write_tables(analysis: Analysis, statements: Sequence[Statement], folder: Path) -> None:
    """Write each table as a CSV file; numbers with at most six digits after the point."""
    rules = pd.DataFrame(
        {"set": one.dataset, "objective": one.objective, "label": one.label}
        | {"title": find_objective(one.objective).title, "pruning": pruning}
        | {"rule": rule.to_text(), "tp": rule.tp, "fp": rule.fp, "stop": rule.stop}
        for one in analysis.selections
        for pruning, rules in one.rules.items()
        for rule in rules
    )
    columns = ["section", "statement", "verdict", "numbers", "criterion"]
    judged = pd.DataFrame([[getattr(one, name) for name in columns] for one in statements], columns=columns)
    judged["holds_in_draws"] = [one.drawn for one in statements]
    judged["otherwise"] = ["" if one.holds else one.otherwise for one in statements]
    if any(statement.numeric for statement in statements):
        judged["verdict_numeric"] = [one.numeric.verdict if one.numeric else "" for one in statements]
        judged["numbers_numeric"] = [one.numeric.numbers if one.numeric else "" for one in statements]
    folder.mkdir(exist_ok=True)
    for name, table in (analysis.tables() | {"selected-rules": rules, "statements": judged}).items():
        if not table.empty:
            path = folder / f"{name}.csv"
            table.to_csv(
                path, index=False, lineterminator="\n", float_format=lambda value: repr(round(float(value), 6))
            )


def render(data: Data, figures: Mapping[str, str]) -> str:
    """The page that shows the data, with the figures (SVG) in it."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"title": lambda name: find_objective(name).title, "clock": clock, "number": number}
    images = {name: base64.b64encode(svg.encode("utf-8")).decode("ascii") for name, svg in figures.items()}
    return environment.get_template("paper.html").render(figures=images, **data)


def clock(seconds: float) -> str:
    """A duration in words."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min"


def number(value: float | str | None, digits: int = 3) -> str:
    """A number for a table: counts without a point, nothing as a dash. With three digits, 0 and 1 are scores."""
    if value in ("", None) or pd.isna(value):
        return "–"
    value = float(value or 0)
    is_count = value.is_integer() and (digits < 3 or abs(value) > 1)
    return f"{value:.0f}" if is_count else f"{value:.{digits}f}"


def page_data(analysis: Analysis, statements: Sequence[Statement], n_draws: int = DRAWS) -> Data:
    """Everything the page shows, as plain data."""
    results, compared = analysis.results, analysis.compared_sets()
    sections = dict.fromkeys(one.section for one in statements)
    return {
        "run": _run(analysis),
        "citation": published.CITATION,
        "objectives": analysis.objectives,
        "measures": published.SHORT_MEASURES,
        "sensitivity_set": results.sensitivity_set,
        "sets": analysis.data_sets.merge(analysis.effort, on="set").to_dict("records"),
        "failures": results.failures,
        "times": analysis.speed.to_dict("records"),
        "published_models": _published_models(analysis),
        "models": [_models(analysis.pairs([name]), name) for name in results.sets],
        "wins": _wins(analysis, compared, published_too=bool(set(compared) & set(PAPER_SETS))),
        "is_the_papers": analysis.is_the_papers,
        "numeric": _wins(analysis, analysis.compared_sets(numeric=True)) if analysis.has_numeric else None,
        "cells": _cells(analysis),
        "certainty": None if analysis.certainty is None else analysis.certainty.by_objective().to_dict("records"),
        "ranks": [found.ranks for found in analysis.ranks().values()],
        "choices": {name: own.to_dict("records") for name, own in analysis.chosen.groupby("set", sort=False)},
        "lift_counts": _lift_counts(analysis),
        "scores": [_scores(analysis, measure) for measure in published.SHORT_MEASURES],
        "selections": analysis.selections,
        "rules_shown": RULES_SHOWN,
        "n_draws": n_draws,
        "lifted_table": example.lifted_table(),
        "table_k": example.TABLE_K,
        "hamming": example.hamming_averages(),
        "statements": {title: [one for one in statements if one.section == title] for title in sections},
        "verdicts": _count_verdicts(statements),
        "numeric_verdicts": _count_verdicts([one.numeric for one in statements if one.numeric]),
        "reference": _reference(analysis),
    }


def _count_verdicts(statements: Sequence[Statement]) -> dict[str, int]:
    verdicts = Counter(statement.verdict for statement in statements)
    return {verdict: verdicts[verdict] for verdict in ("holds", "does not hold", "not judged")}


def _run(analysis: Analysis) -> Data:
    plan, sessions, effort = analysis.results.plan, analysis.results.sessions, analysis.effort
    last = sessions[-1] if sessions else {}
    return {
        "date": datetime.fromtimestamp(sessions[0]["at"], UTC).strftime("%Y-%m-%d") if sessions else "",
        **{name: last.get(of, "") for name, of in (("version", "plurule"), ("code", "code"), ("python", "python"))},
        "machines": list(dict.fromkeys(session["machine"] for session in sessions)),
        "folds": plan.folds,
        "lifts": len(plan.lifts),
        "repeats": plan.repeats,
        "models": int(effort["models"].sum()),
        "cpu": effort["cpu_s"].sum(),
        "clock": effort["clock_s"].sum(),
    }


def _models(pairs: Pairs, name: str) -> Data:
    """What the models of a data set consist of: normal and relaxed for each objective."""
    rows = {}
    for key, title in published.CHARACTERISTICS.items():
        cells = [models[key] for models in pairs]
        if key == "labels_per_multi_label_head":
            cells = [models[key].where(models["multi_label_heads"] > 0) for models in pairs]
        rows[title] = list(zip(*cells, strict=True))
    return {"title": name, "heads": list(pairs.relaxed["lift"]), "rows": rows}


def _scores(analysis: Analysis, measure: str) -> Data:
    """A measure on the test parts: normal and relaxed for each data set and objective."""
    rows = {}
    for name in analysis.results.sets:
        normal, relaxed = analysis.pairs([name])
        rows[name] = list(zip(normal[measure], relaxed[measure], strict=True))
    return {"title": published.SHORT_MEASURES[measure], "heads": ["relaxed"] * len(analysis.objectives), "rows": rows}


def _published_models(analysis: Analysis) -> Data | None:
    """Our models of birds beside the published ones."""
    theirs = {(row["objective"], row["pruning"]): row for row in published.table("models")}
    objectives = [objective for objective in analysis.objectives if (objective, "relaxed") in theirs]
    if published.MODELS_SET not in analysis.results.sets or not objectives:
        return None
    pairs = Pairs(*(models.loc[(slice(None), objectives), :] for models in analysis.pairs([published.MODELS_SET])))
    ours = _models(pairs, published.MODELS_SET)
    printed = {
        title: [[theirs[objective, pruning][key] for pruning in ("normal", "relaxed")] for objective in objectives]
        for key, title in published.CHARACTERISTICS.items()
    }
    lifts = [theirs[objective, "relaxed"]["lift"] for objective in objectives]
    return ours | {"objectives": objectives, "printed": printed, "lifts": lifts}


def _wins(analysis: Analysis, sets: Sequence[str], published_too: bool = True) -> Data:
    """Wins, losses and ties here and in the paper, for each objective and measure."""
    rows = {
        objective: [
            (ours, published.WINS.get(objective, {}).get(measure) if published_too else None)
            for measure, ours in row.items()
        ]
        for objective, row in analysis.wins(sets).items()
    }
    return {"sets": list(sets), "rows": rows}


def _cells(analysis: Analysis) -> Data | None:
    """The published table of wins cell by cell, and how far ours is from it."""
    cells = analysis.published_cells
    if cells.empty:
        return None
    numeric = Analysis(analysis.results, numeric=True).wins() if analysis.has_numeric else analysis.beside_wins
    tables = {"on the authors' data": analysis.wins(), "there with the F1 of Mulan": analysis.mulan_wins()}
    tables |= {"on numeric data": numeric} if numeric else {}
    constants = analysis.constants().all(axis=1)
    return {
        "rows": cells.to_dict("records"),
        "totals": {name: (equal_ties(wins), distance(wins)) for name, wins in tables.items()},
        "n_cells": len(cells),
        "constants": constants[constants].groupby(level="objective").size().to_dict(),
        "published_ties": cells["published"]
        .map(lambda text: int(text.split("/")[2]))
        .groupby(cells["objective"])
        .sum()
        .to_dict(),
        "constant_ties": cells.groupby("objective")["ties_of_constants"].sum().to_dict(),
    }


def _lift_counts(analysis: Analysis) -> Data:
    """How often each function was chosen with each height; the same heights for every function."""
    offered = [LiftName.parse(name) for name in analysis.results.plan.lifts if name != NONE]
    chosen = [LiftName.parse(name) for name in analysis.pairs().relaxed["lift"]]
    heights = sorted({one.height for one in [*offered, *chosen]})
    counts = pd.crosstab([one.function for one in chosen], [one.height for one in chosen])
    functions = list(dict.fromkeys(one.function for one in [*offered, *chosen]))
    return {
        "heights": heights,
        "rows": counts.reindex(index=functions, columns=heights, fill_value=0).T.to_dict("list"),
    }


def _reference(analysis: Analysis) -> list[Data]:
    """Per data set: how far the models are from those of the paper's own program."""
    table = analysis.reference
    if table.empty:
        return []
    for name in ("rules", "multi_label_heads", "micro_f1"):
        table = table.assign(**{f"{name}_gap": (table[name] - table[f"{name}_reference"]).abs()})
    columns = {
        "models": ("rules", "size"),
        "same_rules": ("rules_gap", lambda gaps: (gaps == 0).sum()),
        "mean_rules": ("rules_reference", "mean"),
        "mean_gap": ("rules_gap", "mean"),
        "largest_gap": ("rules_gap", "max"),
        "mean_heads_gap": ("multi_label_heads_gap", "mean"),
        "mean_score_gap": ("micro_f1_gap", "mean"),
    }
    return table.groupby("set", sort=False).agg(**columns).reset_index().to_dict("records")
