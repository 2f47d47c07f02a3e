"""`plurule demo`: learn rules from an included data set, and show what they look like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from plurule.cli.terminal import console, visible
from plurule.progress import progress_bar
from plurule.titles import MEASURE_TITLES, SHORT_MEASURES

if TYPE_CHECKING:
    from plurule.model import RuleList

TRAINING_ROWS = 3000
RULES_SHOWN = 6
DEPENDENCIES_SHOWN = 4
NEXT = """
All dishes, with a report to read in a browser:
  plurule fit canteen-dishes -o model.json
  plurule report model.json --data canteen-dishes -o report.html
Your own data:
  plurule fit data.csv --labels red,blue -o model.json"""


def demo() -> None:
    """Learn rules from an included data set and show them.

    The data are synthetic canteen dishes with allergens and diet labels.
    """
    from plurule import RuleListClassifier
    from plurule.cli import rendering
    from plurule.datasets import load_canteen_dishes
    from plurule.prediction.assessment import assess

    out = console()
    dishes = load_canteen_dishes()
    training = dishes[:TRAINING_ROWS]
    held_out = dishes[TRAINING_ROWS:]
    with progress_bar("learning") as show_progress:
        classifier = RuleListClassifier(n_jobs=-1, verbose=lambda _, share: show_progress(share)).fit(training)
    rules = classifier.rule_list_
    related = labels_related_by(rules)
    out.print(
        f"{len(dishes)} synthetic canteen dishes with {len(dishes.attribute_names)} attributes (ingredients, "
        f"preparation) and {len(dishes.label_names)} labels (allergens, diets).\n{len(rules)} rules learned from "
        f"{len(training)} dishes; {len(related)} of them relate labels, for example:"
    )
    out.print(rendering.rule_table(rules, related[:RULES_SHOWN]))

    out.print(Text("\nLabel dependencies that the rules state", style="bold"))
    dependencies = [one for one in rules.dependencies(held_out) if one.kind == "co-occurrence"]
    for dependency in sorted(dependencies, key=lambda one: -(one.added_value or 0.0))[:DEPENDENCIES_SHOWN]:
        out.print(visible(str(dependency).removeprefix("co-occurrence: ")))

    out.print(Text(f"\nScores on the {len(held_out)} other dishes", style="bold"))
    assessed = assess(held_out.Y, rules.predict(held_out))
    titles = {name: MEASURE_TITLES[name] for name in SHORT_MEASURES}
    columns = {
        "rules": {name: score.score for name, score in assessed.items()},
        "best constant prediction": {name: score.constant for name, score in assessed.items()},
    }
    out.print(rendering.column_table(titles, columns))
    out.print(NEXT)


def labels_related_by(rules: RuleList) -> list[int]:
    """Return the positions of rules that predict several labels as present, or test one label to predict another."""
    return [
        position
        for position, rule in enumerate(rules)
        if rule.body and (rule.label_conditions or sum(a.present for a in rule.head.stated) > 1)
    ]
