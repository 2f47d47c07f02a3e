"""`plurule demo`: learn rules for the dishes of canteens, and show what is special about them."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from plurule.cli import rendering
from plurule.cli.terminal import console, visible
from plurule.model import Rule, RuleList
from plurule.titles import CHARACTERISTICS, MEASURES, SHORT_MEASURES

FOLDS = 5
STATEMENTS_SHOWN = 4
SEVERAL_SHOWN = 3


def demo() -> None:
    """Learn what must be said of a dish (allergens, diets), and show what rules tell about labels."""
    # Imported here, so that `plurule --help` does not wait for them.
    from sklearn.model_selection import KFold, cross_val_predict

    from plurule.classifier import RuleListClassifier
    from plurule.datasets import load_canteen_dishes
    from plurule.heuristics import FMeasure
    from plurule.lifts import KLN, NoLift
    from plurule.metrics import scores

    out, dishes = console(), load_canteen_dishes()
    common: dict[str, Any] = {"heuristic": FMeasure(beta=0.3), "n_rules": 40}
    # Single lists that differ in the lift alone; what aims at a measure would select heads of its own for both.
    relaxed, normal = (RuleListClassifier(lift=lift, **common) for lift in (KLN(k=0.1), NoLift()))
    absence = RuleListClassifier(lift=KLN(k=0.2), predict_absence=True, **common).fit(dishes).rule_list_
    models = {"relaxed pruning": relaxed.fit(dishes), "normal pruning": normal.fit(dishes)}
    rules = relaxed.rule_list_
    out.print(
        f"{len(dishes)} made-up dishes of canteens: {len(dishes.attribute_names)} attributes (what is in them, how "
        f"they are made), {len(dishes.label_names)} labels (allergens, diets). Of {len(rules)} rules, some that"
    )
    several = [i for i, rule in enumerate(rules) if len(rule.head) > 1][:SEVERAL_SHOWN]
    _show(out, "predict several labels at once", rules, several)
    _show(out, "predict a label because of another", rules, _first(rules, present=True))
    _show(
        out, "say which label another rules out (if absence is predicted, too)", absence, _first(absence, present=False)
    )

    out.print(Text("\nWhere labels go together", style="bold"))
    together = [said for said in rules.dependencies(dishes) if said.kind == "co-occurrence"]
    for said in sorted(together, key=lambda said: -(said.added_value or 0.0))[:STATEMENTS_SHOWN]:
        out.print(visible(str(said).removeprefix("co-occurrence: ")))

    out.print(Text("\nWhat was learned", style="bold"))
    characteristics = {name: model.rule_list_.characteristics() for name, model in models.items()}
    out.print(rendering.column_table(CHARACTERISTICS, characteristics, digits=2))
    out.print(Text(f"\nHow well it predicts dishes it has not seen ({FOLDS}-fold cross-validation)", style="bold"))
    folds = KFold(FOLDS, shuffle=True, random_state=0)
    predicted = {name: cross_val_predict(model, dishes.X, dishes.Y, cv=folds) for name, model in models.items()}
    shown = {name: MEASURES[name] for name in SHORT_MEASURES}
    out.print(rendering.column_table(shown, {name: scores(dishes.Y, found) for name, found in predicted.items()}))
    out.print("\nYour own data: plurule fit data.csv --labels red,blue -o model.json")


def _show(out: Console, title: str, rules: RuleList, places: list[int]) -> None:
    out.print(Text(f"\n… {title}", style="bold"))
    out.print(rendering.rule_table(rules, places))


def _first(rules: RuleList, present: bool) -> list[int]:
    """The first rule that tests whether a label is present, and whose head says that others are, or are not."""

    def is_wanted(rule: Rule) -> bool:
        said = [assignment.present for assignment in rule.head]
        return any(c.present for c in rule.label_conditions) and (said[0] if present else not any(said))

    return [i for i, rule in enumerate(rules) if is_wanted(rule)][:1]
