"""The report: one HTML page that holds everything, with the published tables beside ours.

It is made in two steps: `page_data` puts the results into plain data, and a Jinja2 template (an extra) lays them out.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from plurule.files import write_text
from plurule.model import Rule
from plurule.model.condition import NumericCondition
from plurule.paper import analysis, figures, published
from plurule.paper.analysis import SIZES, Pair
from plurule.paper.experiment import Results
from plurule.paper.figures import Drawing
from plurule.paper.protocol import PAPER_SETS
from plurule.paper.reference import comparison_rows
from plurule.paper.selected_rules import Selection, selections, shown
from plurule.paper.statements import Statement, check_statements
from plurule.paper.statistics import Tally
from plurule.paper.tables import all_tables, write_tables
from plurule.selection.objectives import find_objective
from plurule.titles import SHORT_MEASURES

PAGE = "report.html"
Data = dict[str, Any]


def write_report(results: Results, folder: Path) -> list[Statement]:
    """Write the report, its figures and its tables to a folder; gives the statements that were checked."""
    environment = _environment()
    rules = selections(results)
    statements = check_statements(results, rules)
    write_tables(all_tables(results, rules, statements), folder / "tables")
    drawings = draw(results)
    (folder / "figures").mkdir(exist_ok=True)
    for drawing in drawings:
        drawing.write(folder / "figures")
    data = page_data(results, rules, statements)
    data["figures"] = {drawing.name: _data_uri(drawing.svg) for drawing in drawings}
    for drawing in drawings:
        drawing.close()
    write_text(folder / PAGE, environment.get_template("page.html").render(data))
    return statements


def draw(results: Results) -> list[Drawing]:
    """All figures of the results."""
    rows = analysis.sensitivity_rows(results)
    ranks = analysis.rank_table(results, analysis.compared_sets(results))
    drawings: list[Drawing | None] = [
        figures.lift_functions(),
        figures.sensitivity(rows, "kln"),
        figures.sensitivity(rows, "peak"),
        figures.training_times(analysis.times(results)),
        figures.changes(analysis.pairs(results)),
        figures.critical_differences(ranks) if results.sets else None,
    ]
    if analysis.has_discretised(results):
        ranks = analysis.rank_table(results, analysis.compared_sets(results, discretised=True))
        drawings.append(figures.critical_differences(ranks, "ranks-discretised"))
    return [drawing for drawing in drawings if drawing is not None]


def check_libraries() -> None:
    """Raise an error now if the report could not be written after a long experiment."""
    _environment()
    figures.check_library()


def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("the report needs Jinja2: pip install 'plurule[report]'") from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"title": lambda name: find_objective(name).title, "clock": clock, "number": number}
    return environment


def _data_uri(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8")).decode("ascii")


def clock(seconds: float) -> str:
    """A duration in words.

    >>> clock(4.2), clock(75), clock(5000)
    ('4.2 s', '1 min 15 s', '1 h 23 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table: counts without a point, nothing as a dash. With three digits, 0 and 1 are scores.

    >>> number(12.0), number(0.5), number(None)
    ('12', '0.500', '–')
    >>> number(1.0, digits=2), number(1.0)
    ('1', '1.000')
    """
    if value is None:
        return "–"
    is_count = float(value).is_integer() and (digits < 3 or abs(value) > 1)
    return f"{value:.0f}" if is_count else f"{value:.{digits}f}"


def page_data(results: Results, rules: Sequence[Selection], statements: Sequence[Statement]) -> Data:
    """Everything the page shows, as plain data."""
    compared = analysis.compared_sets(results)
    data: Data = {
        "run": _run(results),
        "citation": published.CITATION,
        "objectives": list(results.plan.objectives),
        "measures": SHORT_MEASURES,
        "sensitivity_set": results.sensitivity_set,
        "sets": [{"name": name} | found.facts for name, found in results.sets.items()],
        "effort": analysis.effort(results),
        "failures": results.failures,
        "missing": results.missing,
        "times": [_time(one) for one in analysis.times(results)],
        "published_models": _published_models(results),
        "models": [_models(name, analysis.pairs(results, [name])) for name in results.sets],
        "wins": _wins(analysis.win_table(results, compared), published_too=bool(set(compared) & set(PAPER_SETS))),
        "compared": compared,
        "is_the_papers": analysis.is_the_papers(results),
        "discretised": None,
        "ranks": _ranks(results, compared),
        "choices": _choices(results),
        "lift_counts": analysis.lift_counts(results, compared),
        "scores": [_scores(results, measure) for measure in SHORT_MEASURES],
        "selections": [_selection(one) for one in rules],
        "statements": _by_section(statements),
        "verdicts": {
            word: sum(s.word == word for s in statements) for word in ("holds", "does not hold", "not judged")
        },
        "reference": _reference(results),
    }
    if analysis.has_discretised(results):
        other = analysis.compared_sets(results, discretised=True)
        data["discretised"] = {"sets": other, "wins": _wins(analysis.win_table(results, other), published_too=True)}
    return data


def _run(results: Results) -> Data:
    effort = analysis.effort(results)
    starts = [datetime.fromtimestamp(session["at"], UTC) for session in results.sessions]
    last = results.sessions[-1] if results.sessions else {}
    return {
        "date": starts[0].strftime("%Y-%m-%d") if starts else "",
        "version": last.get("plurule", ""),
        "code": last.get("code", ""),
        "python": last.get("python", ""),
        "machines": list(dict.fromkeys(session["machine"] for session in results.sessions)),
        "folds": results.plan.folds,
        "lifts": len(results.plan.lifts),
        "repeats": results.plan.repeats,
        "models": sum(row["models"] for row in effort),
        "cpu": sum(row["cpu_s"] for row in effort),
        "clock": sum(row["clock_s"] for row in effort),
    }


def _time(one: analysis.Times) -> Data:
    return {
        "set": one.dataset,
        "objective": one.objective,
        "lift": one.lift,
        "normal": one.normal_seconds,
        "relaxed": one.relaxed_seconds,
        "change": one.ratio - 1,
        "low": min(one.ratios) - 1,
        "high": max(one.ratios) - 1,
    }


def _models(name: str, pairs: Sequence[Pair]) -> Data:
    rows = [
        {"title": title, "cells": [[_size(pair, key, relaxed) for relaxed in (0, 1)] for pair in pairs]}
        for key, title in SIZES.items()
    ]
    return {"set": name, "lifts": [pair.lift for pair in pairs], "rows": rows}


def _size(pair: Pair, key: str, relaxed: int) -> float | None:
    value = pair.size(key)[relaxed]
    return None if key == "labels_per_multi_label_head" and not pair.size("multi_label_heads")[relaxed] else value


def _published_models(results: Results) -> Data | None:
    """Our models of birds beside the published ones."""
    name = published.CHARACTERISTICS_SET
    objectives = [o for o in results.plan.objectives if o in published.CHARACTERISTICS]
    if name not in results.sets or not objectives:
        return None
    pairs = [pair for pair in analysis.pairs(results, [name]) if pair.objective in objectives]
    rows = []
    for key, title in SIZES.items():
        cells = [
            {
                "ours": [_size(pair, key, 0), _size(pair, key, 1)],
                "theirs": published.CHARACTERISTICS[pair.objective][key],
            }
            for pair in pairs
        ]
        rows.append({"title": title, "cells": cells})
    lifts = [
        {
            "objective": pair.objective,
            "ours": pair.lift,
            "theirs": " or ".join(published.BIRDS_LIFTS[pair.objective]),
            "same": pair.lift in published.BIRDS_LIFTS[pair.objective],
        }
        for pair in pairs
    ]
    return {"set": name, "objectives": objectives, "rows": rows, "lifts": lifts}


def _wins(table: Mapping[str, Mapping[str, Tally]], published_too: bool) -> list[Data]:
    rows = []
    for objective, row in table.items():
        printed = published.WINS.get(objective) if published_too else None
        cells = [
            {"ours": _tally(tally), "theirs": _tally(printed[i]) if printed else None}
            for i, tally in enumerate(row.values())
        ]
        rows.append({"objective": objective, "cells": cells})
    return rows


def _tally(tally: Tally) -> Data:
    lead = "wins" if tally.wins > tally.losses else "losses" if tally.losses > tally.wins else ""
    return {"wins": tally.wins, "losses": tally.losses, "ties": tally.ties, "lead": lead}


def _ranks(results: Results, sets: Sequence[str]) -> Data:
    tables = analysis.rank_table(results, sets)
    names = next(iter(tables.values())).names if tables else ()
    ranks = {measure: dict(zip(c.names, c.ranks, strict=True)) for measure, c in tables.items()}
    rows = [{"name": name, "ranks": [ranks[m][name] for m in tables]} for name in names]
    return {
        "rows": rows,
        "best": [min(ranks[m].values(), default=0) for m in tables],
        "p_values": [c.p_value for c in tables.values()],
        "difference": next((c.critical_difference for c in tables.values()), None),
    }


def _choices(results: Results) -> list[Data]:
    rows = analysis.choices(results)
    return [{"set": name, "cells": [row for row in rows if row["set"] == name]} for name in results.sets]


def _scores(results: Results, measure: str) -> Data:
    rows = []
    for name in results.sets:
        cells = []
        for pair in analysis.pairs(results, [name]):
            normal, relaxed = pair.score(measure)
            lead = "normal" if normal > relaxed + 1e-12 else "relaxed" if relaxed > normal + 1e-12 else ""
            cells.append({"normal": normal, "relaxed": relaxed, "lead": lead})
        rows.append({"set": name, "cells": cells})
    return {"measure": measure, "title": SHORT_MEASURES[measure], "rows": rows}


def _selection(one: Selection) -> Data:
    return {
        "set": one.dataset,
        "objective": one.objective,
        "lift": one.lift,
        "label": one.label,
        "reason": one.reason,
        "normal": [_rule(rule) for rule in shown(one.normal)],
        "relaxed": [_rule(rule) for rule in shown(one.relaxed)],
        "more": [len(one.normal) - len(shown(one.normal)), len(one.relaxed) - len(shown(one.relaxed))],
        "published": one.published,
    }


def _rule(rule: Rule) -> Data:
    return {
        "head": [{"name": a.name, "present": a.present} for a in rule.head],
        "body": [_condition(condition) for condition in rule.body],
        "tp": rule.tp,
        "fp": rule.fp,
    }


def _condition(condition: Any) -> str:
    if isinstance(condition, NumericCondition):
        return f"{condition.name} {'≤' if condition.operator == '<=' else '>'} {condition.threshold:.4g}"
    return str(condition)


def _by_section(statements: Sequence[Statement]) -> list[Data]:
    sections: dict[str, list[Statement]] = {}
    for statement in statements:
        sections.setdefault(statement.section, []).append(statement)
    return [{"title": title, "statements": own} for title, own in sections.items()]


def _reference(results: Results) -> list[Data]:
    """Per data set: how far the models are from those of the paper's own program."""
    summary = []
    rows = comparison_rows(results.reference, dict(results.records))
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        rules = [abs(row["rules"] - row["rules_reference"]) for row in own]
        heads = [abs(row["multi_label_heads"] - row["multi_label_heads_reference"]) for row in own]
        scores = [abs(row["micro_f1"] - row["micro_f1_reference"]) for row in own]
        summary.append(
            {
                "set": name,
                "models": len(own),
                "same_rules": sum(gap == 0 for gap in rules),
                "mean_rules": sum(row["rules_reference"] for row in own) / len(own),
                "mean_gap": sum(rules) / len(own),
                "largest_gap": max(rules),
                "mean_heads_gap": sum(heads) / len(own),
                "mean_score_gap": sum(scores) / len(own),
            }
        )
    return summary
