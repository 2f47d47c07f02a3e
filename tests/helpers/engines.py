"""Exported rule lists, run where they would be deployed: the labels that come out."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from plurule.data.dataset import Table
from plurule.export.jdm import to_jdm
from plurule.export.onnx import to_onnx
from plurule.export.python import to_python
from plurule.model import RuleList
from plurule.report.payload import payload
from plurule.report.summary import summarise

Engine = Callable[[RuleList, Table], Any]

NO_CATEGORY = "\x00 no category"
"""A text that stands for a missing value where there is no null."""


def as_text(seconds: float) -> str:
    """A time as databases and JSON have it."""
    return (datetime(1970, 1, 1) + timedelta(seconds=seconds)).isoformat(" ")


def columns(rule_list: RuleList, table: Table) -> dict[str, list[Any]]:
    """The tested columns as plain values, None where missing."""
    plain = {}
    for index in rule_list.tested_attributes():
        attribute = rule_list.attributes[index]
        values = table.column(index).tolist()
        if attribute.categories is not None:
            plain[attribute.name] = [None if code < 0 else attribute.categories[code] for code in values]
        elif attribute.is_date:
            plain[attribute.name] = [None if value != value else as_text(value) for value in values]
        else:
            plain[attribute.name] = [None if value != value else float(value) for value in values]
    return plain


def rows(rule_list: RuleList, table: Table) -> list[dict[str, Any]]:
    plain = columns(rule_list, table)
    return [{name: values[row] for name, values in plain.items()} for row in range(len(table))]


def run_python(rule_list: RuleList, table: Table) -> Any:
    scope: dict[str, Any] = {}
    exec(to_python(rule_list), scope)
    return np.array([list(scope["predict"](row).values()) for row in rows(rule_list, table)], dtype=np.int8)


def evaluate_jdm(rule_list: RuleList, table: Table, **options: Any) -> list[Any]:
    """What the engine answers to each row, given as JSON."""
    import zen

    decision = zen.ZenEngine().create_decision(to_jdm(rule_list))
    decision.validate()
    return [decision.evaluate(json.dumps(row), options) for row in rows(rule_list, table)]


def run_jdm(rule_list: RuleList, table: Table) -> Any:
    answers = [answer["result"]["labels"] for answer in evaluate_jdm(rule_list, table)]
    return np.array([[int(answer[label]) for label in rule_list.labels] for answer in answers], dtype=np.int8)


def feeds(rule_list: RuleList, table: Table) -> dict[str, Any]:
    """The inputs of an ONNX model."""
    arrays = {}
    for index in rule_list.tested_attributes() or [0]:
        attribute = rule_list.attributes[index]
        if attribute.categories is None:
            arrays[attribute.name] = table.column(index).astype(np.float64)[:, None]
        else:
            texts = [*attribute.categories, NO_CATEGORY]
            arrays[attribute.name] = np.array([[texts[code]] for code in table.column(index)], dtype=object)
    return arrays


def evaluate_onnx(rule_list: RuleList, table: Table) -> list[Any]:
    """Labels, probabilities and numbers of rules."""
    import onnxruntime

    session = onnxruntime.InferenceSession(to_onnx(rule_list), providers=["CPUExecutionProvider"])
    return session.run(None, feeds(rule_list, table))


def run_onnx(rule_list: RuleList, table: Table) -> Any:
    return evaluate_onnx(rule_list, table)[0]


RUNNER = """
const content = require("fs").readFileSync(0, "utf-8");
globalThis.window = {};
globalThis.document = { getElementById: () => ({ textContent: content }) };
const source = require("fs").readFileSync(process.argv[1], "utf-8");
const plurule = new Function(`${source}; return plurule;`)();
const rows = plurule.model.instances.map(({ values }) => plurule.decide(values).predicted.map((p) => Number(p === 1)));
process.stdout.write(JSON.stringify(rows));
"""


def has_node() -> bool:
    return shutil.which("node") is not None


def run_javascript(rule_list: RuleList, table: Table) -> Any:
    """The program of a report, in Node.js."""
    data = payload(rule_list, summarise(rule_list, table, None, None), table, None, len(table), list(range(len(table))))
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "decide.js"
        program.write_text(files("plurule.report").joinpath("static", "decide.js").read_text(encoding="utf-8"))
        ended = subprocess.run(["node", "-e", RUNNER, program], input=data.encode(), capture_output=True, check=True)
    return np.array(json.loads(ended.stdout), dtype=np.int8)


ENGINES: dict[str, Engine] = {
    "python": run_python,
    "javascript": run_javascript,
    "jdm": run_jdm,
    "onnx": run_onnx,
}
