"""What the page's own program reads: the model and some instances, to the last digit."""

from __future__ import annotations

import json
import re

from helpers.rule_lists import labels_for, random_rule_list
from plurule.model import RangeCondition
from plurule.model.condition import split_intervals
from plurule.report import to_html
from plurule.report.payload import for_script


def test_nothing_ends_the_script_element_that_holds_the_model() -> None:
    text = for_script({"</script>": ["<!--", "]]>", "\u2028", "&lt;", "\ud800"]})
    assert not re.search("[<>&\u2028\u2029\ud800-\udfff]", text)
    assert json.loads(text) == {"</script>": ["<!--", "]]>", "\u2028", "&lt;", "\ud800"]}


def test_the_page_holds_the_model_and_the_instances_exactly() -> None:
    rule_list, table = random_rule_list(1)
    html = to_html(rule_list, table, labels_for(table, rule_list), examples=10)
    model = json.loads(html.split('id="model">', 1)[1].split("</script>", 1)[0])
    numeric = [c for r in rule_list for c in split_intervals(r.body) if isinstance(c, RangeCondition)]
    said = [[c[key] for key in ("above", "atMost") if key in c] for r in model["rules"] for c in r["body"]]
    assert [threshold for bounds in said for threshold in bounds] == [c.threshold for c in numeric]
    assert len(model["instances"]) == 10
    assert model["instances"][0]["name"] == "instance 0"
    assert model["instances"][-1]["name"] == f"instance {len(table) - 1}"
