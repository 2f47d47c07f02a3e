"""The Python export, run in an interpreter that has nothing but Python."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.rule_lists import DATA_SETS, HOSTILE_NAMES, learned, learned_classes, make_rules, random_rule_list
from plurule._prediction.apply import decide
from plurule.data.dataset import Table
from plurule.data.inputs import encode
from plurule.export.python import to_python
from plurule.model import RuleList

RUNNER = """\
import json, sys
scope = {}
exec(compile(open(sys.argv[1], encoding="utf-8").read(), "exported", "exec"), scope)
assert "numpy" not in sys.modules and "plurule" not in sys.modules
with open(sys.argv[2], encoding="utf-8") as lines:
    print(json.dumps([list(scope["predict"](json.loads(line)).values()) for line in lines]))
"""


def run(rule_list: RuleList, table: Table, folder: Path) -> Any:
    """Predictions of the exported function in a bare interpreter."""
    (folder / "exported.py").write_text(to_python(rule_list), encoding="utf-8")
    used = sorted({c.index for rule in rule_list for c in rule.body if c.name in table.names})
    columns = {}
    for index in used:
        attribute, values = rule_list.attributes[index], table.column(index).tolist()
        if attribute.categories is not None:
            columns[attribute.name] = [None if v < 0 else attribute.categories[v] for v in values]
        else:
            columns[attribute.name] = [None if v != v else v for v in values]
    with (folder / "instances").open("w", encoding="utf-8") as file:
        for row in range(len(table)):
            file.write(json.dumps({name: values[row] for name, values in columns.items()}) + "\n")
    (folder / "runner.py").write_text(RUNNER)
    result = subprocess.run(
        [sys.executable, "-I", "-S", "runner.py", "exported.py", "instances"],
        cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    return np.array(json.loads(result.stdout), dtype=np.int8)


@pytest.mark.parametrize("seed", range(8))
def test_labels_are_those_predicted_for_random_rule_lists(tmp_path: Path, seed: int) -> None:
    rule_list, table = random_rule_list(seed, HOSTILE_NAMES if seed % 2 else None)
    np.testing.assert_array_equal(run(rule_list, table, tmp_path), decide(rule_list, table).labels())


def test_exactly_one_class_of_each_column_is_predicted(tmp_path: Path) -> None:
    rule_list, table = learned_classes()
    np.testing.assert_array_equal(run(rule_list, table, tmp_path), decide(rule_list, table).labels())


@pytest.mark.parametrize("name", DATA_SETS)
def test_labels_of_real_data_are_those_predicted(tmp_path: Path, shared_data: Path, name: str) -> None:
    rule_list, test = learned(shared_data, name)
    table = encode(test.X, rule_list.attributes)
    np.testing.assert_array_equal(run(rule_list, table, tmp_path), decide(rule_list, table).labels())


def test_values_of_other_types_are_read_as_frames_read_them() -> None:
    rule_list = make_rules(
        "two <- n = 2\nyes <- b = True\nhigh <- x > 1", {"n": ("2",), "b": ("True",), "x": None}, ("two", "yes", "high")
    )
    scope: dict[str, Any] = {}
    exec(to_python(rule_list, "labels_of"), scope)
    assert scope["labels_of"]({"n": 2, "b": True, "x": "1.5"}) == {"two": 1, "yes": 1, "high": 1}
    assert scope["labels_of"]({"n": 2.0, "b": "True", "x": np.float32(2)}) == {"two": 1, "yes": 1, "high": 1}
    assert scope["labels_of"]({"n": float("nan"), "b": None, "x": float("nan")}) == {"two": 0, "yes": 0, "high": 0}


@pytest.mark.parametrize("name", ["f()", "class", "None", "_decide", "LABELS", "float", ""])
def test_a_function_needs_a_python_name_that_is_not_taken(name: str) -> None:
    with pytest.raises(ValueError, match=f"a function cannot be called '{re.escape(name)}'"):
        to_python(RuleList((), (), ("a",)), name)


def test_the_source_holds_nothing_that_hides_what_it_does() -> None:
    rule_list, _ = random_rule_list(3, HOSTILE_NAMES, n_rules=40)
    assert all(c.isprintable() or c == "\n" for c in to_python(rule_list))
