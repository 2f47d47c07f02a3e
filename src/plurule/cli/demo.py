"""`plurule demo`: learn rules for the flags of the world."""

from __future__ import annotations

from rich.text import Text

from plurule.cli import rendering
from plurule.cli.terminal import console
from plurule.titles import CHARACTERISTICS, MEASURES, SHORT_MEASURES

FOLDS = 5
RULES_SHOWN = 10


def demo() -> None:
    """Learn which colours a national flag has, and show the rules."""
    # Imported here, so that `plurule --help` does not wait for them.
    from sklearn.model_selection import KFold, cross_val_predict

    from plurule.classifier import RuleListClassifier
    from plurule.datasets import load_world_flags
    from plurule.heuristics import FMeasure
    from plurule.lifts import KLN, NoLift
    from plurule.metrics import scores

    out = console()
    flags = load_world_flags()
    # Single lists that differ in the lift alone; what aims at a measure would select heads of its own for both.
    relaxed, normal = (RuleListClassifier(heuristic=FMeasure(beta=0.6), lift=lift) for lift in (KLN(k=0.07), NoLift()))
    models = {"relaxed pruning": relaxed, "normal pruning": normal}
    out.print(
        f"The flags of {len(flags.Y)} countries: {len(flags.attribute_names)} attributes (where the country lies, "
        f"what the flag shows), {len(flags.label_names)} labels (its colours)."
    )
    for model in models.values():
        model.fit(flags)

    rule_list = relaxed.rule_list_
    best = sorted(range(len(rule_list)), key=lambda position: -rule_list[position].value)[:RULES_SHOWN]
    out.print()
    out.print(Text(f"The {len(best)} best of {len(rule_list)} rules, in the order they are applied", style="bold"))
    out.print(rendering.rule_table(rule_list, sorted(best)))
    out.print()
    out.print(Text("What was learned", style="bold"))
    characteristics = {name: model.rule_list_.characteristics() for name, model in models.items()}
    out.print(rendering.column_table(CHARACTERISTICS, characteristics, digits=2))
    out.print()
    out.print(Text(f"How well it predicts flags it has not seen ({FOLDS}-fold cross-validation)", style="bold"))
    measured = {}
    for name, model in models.items():
        folds = KFold(FOLDS, shuffle=True, random_state=0)
        predicted = cross_val_predict(model, flags.X, flags.Y, cv=folds)
        measured[name] = scores(flags.Y, predicted)
    shown = {name: MEASURES[name] for name in SHORT_MEASURES}
    out.print(rendering.column_table(shown, measured))
